"""``boundcheck study``: what it prints, keeps, refuses and returns."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from small_study import SMALL

from boundcheck.reports.cli import main
from boundcheck.verify.studies import store
from boundcheck.verify.studies import study as studies


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a study in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path


@pytest.fixture
def boundcheck(monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["boundcheck", *arguments])
        return main()

    return run


def finished(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in (folder / "results" / "small").glob("*.parquet")}


def test_a_study_is_played_once(
    folder: Path, boundcheck: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert boundcheck("study", "small.toml", "--jobs", "1") == 0
    shown = capsys.readouterr()
    assert "study small: 4 of 4 cases finished, 4 now in" in shown.out
    assert "boundcheck report --study results/small" in shown.out
    assert "\x1b" not in shown.err
    first = finished(folder)
    assert {name.removesuffix(".parquet") for name in first} == {
        case.key for case in studies.load("small.toml").cases()
    }
    log = (folder / "results/small/log.jsonl").read_text()
    assert boundcheck("study", "small.toml", "--jobs", "1") == 0
    assert "4 of 4 cases are finished already." in capsys.readouterr().out
    assert finished(folder) == first
    assert (folder / "results/small/log.jsonl").read_text() == log


def test_bad_files_are_named_and_replaced(
    folder: Path, boundcheck: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert boundcheck("study", "small.toml", "--jobs", "1", "--quiet") == 0
    whole = finished(folder)
    names = sorted(whole)
    place = folder / "results" / "small"
    (place / names[0]).write_bytes(whole[names[0]][:-100])
    (place / names[1]).write_bytes(b"")
    (place / names[2]).write_bytes(whole[names[3]])
    capsys.readouterr()
    assert boundcheck("study", "small.toml", "--jobs", "1", "--resume") == 0
    shown = capsys.readouterr().out
    for name, words in zip(names, ("is damaged", "is empty", "holds another case"), strict=False):
        assert f"note results/small/{name} {words}" in shown
    assert "1 of 4 cases are finished already." in shown
    assert finished(folder) == whole


def test_progress_in_a_pipe_is_plain_lines(
    folder: Path,
    boundcheck: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("boundcheck.reports.terminal.progress.SECONDS_BETWEEN_LINES", 0.0)
    (folder / "small.toml").write_text(SMALL.replace("seeds = 2", "seeds = 4"))
    assert boundcheck("study", "small.toml", "--jobs", "1") == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "1 of 8 cases, compiling first"
    assert lines[5].startswith("6 of 8 cases, ")
    assert "/s, about 0 s left" in lines[5]
    assert len(lines) == 7


def test_a_case_that_fails_is_kept_beside_those_that_do_not(
    folder: Path, boundcheck: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SMALL.replace('Guesser = "uniform"', 'Late = "late.py:Late"')
    (folder / "small.toml").write_text(text)
    learner = (
        "class Late:\n"
        "    def __init__(self, problem): self.n = problem.n_labels\n"
        "    def predict(self, x): return [1 / self.n] * self.n\n"
        "    def update(self, x, action, label):\n"
        "        if len(x) == 80: raise ValueError('eighty [features]')\n"
    )
    (folder / "late.py").write_text(learner)
    for again in range(2):
        assert boundcheck("study", "small.toml", "--jobs", "1") == 2
        shown = capsys.readouterr().out
        assert (
            shown.count("\nfailed " if again else "failed adversary=keywords, keyword_scale=2") == 2
        )
        assert "eighty [features]" in shown
        assert "study small: 2 of 4 cases finished, " in shown
        assert "2 failed, with tracebacks in results/small/*.failed.json" in shown
        assert len(finished(folder)) == 2
        failures = [
            json.loads(p.read_text()) for p in (folder / "results/small").glob("*.failed.json")
        ]
        assert len(failures) == 2
        assert all("Traceback (most recent call last)" in found["traceback"] for found in failures)


def test_a_disk_that_fills_up_on_the_way(
    folder: Path,
    boundcheck: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, calls = os.fsync, []

    def fills(handle: int) -> None:
        calls.append(handle)
        if len(calls) > 7:  # the plan, two cases and half of the third: two calls each
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fills)
        assert boundcheck("study", "small.toml", "--jobs", "2") == 2
    *_, error = capsys.readouterr().err.splitlines()
    assert error.startswith("boundcheck: error: ")
    assert "results folder 'results/small' cannot be written: No space left on device" in error
    kept = finished(folder)
    assert len(kept) in (2, 3)
    assert not list((folder / "results/small").glob("*.new"))
    assert boundcheck("study", "small.toml", "--jobs", "1") == 0
    assert f"{len(kept)} of 4 cases are finished already." in capsys.readouterr().out
    assert kept.items() <= finished(folder).items()


WRONG = {
    "no name": ([], "no study is named: expected FILE.toml or one of "),
    "unknown": (
        ["smok"],
        "unknown study 'smok' (did you mean 'smoke'?): expected FILE.toml or one of",
    ),
    "missing": (["none.toml"], "study 'none.toml' cannot be read: No such file"),
    "keys": (
        ["keys.toml"],
        "unknown key of study 'keys' 'seed' (did you mean 'seeds'?): expected one of",
    ),
    "zero seeds": (["zero.toml"], "has seeds = 0: expected how many"),
    "cell": (
        ["cell.toml"],
        "noise=1.5, graph=bandit, horizon=50 of study 'cell' is impossible: noise=1.5 of keywords",
    ),
    "graph": (["graph.toml"], "learner 'Guesser' of study 'graph' cannot play cell"),
    "scheduler": (["small.toml", "--backend", "dask"], "--backend dask has no scheduler"),
    "backend": (
        ["small.toml", "--scheduler", "tcp://h:1"],
        "--scheduler tcp://h:1 is given for backend loky",
    ),
    "other backend": (["small.toml", "--backend", "ray"], "'ray' is not one of 'loky', 'dask'"),
    "no folder": (
        ["small.toml", "--results", "small.toml"],
        "results folder 'small.toml/small' cannot be written",
    ),
    "newer": (
        ["small.toml", "--results", "newer"],
        "was written by a newer version of boundcheck, as schema 99",
    ),
    "other": (
        ["small.toml", "--results", "other"],
        "holds another study called 'small', with 0 of the 4 cases",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_is_one_sentence(
    name: str, folder: Path, boundcheck: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, sentence = WRONG[name]
    (folder / "keys.toml").write_text(SMALL.replace("seeds", "seed"))
    (folder / "zero.toml").write_text(SMALL.replace("seeds = 2", "seeds = 0"))
    (folder / "cell.toml").write_text(SMALL.replace("noise = 0.1", "noise = [0.1, 1.5]"))
    (folder / "graph.toml").write_text(SMALL.replace('"uniform"', '"segment-probe"'))
    for place, plan in (
        ("newer", {"schema": 99}),
        ("other", {"schema": 1, "name": "small", "study": {}, "cases": []}),
    ):
        (folder / place / "small").mkdir(parents=True)
        (folder / place / "small" / store.PLAN).write_text(json.dumps(plan))
    assert boundcheck("study", *arguments) == 2
    shown = capsys.readouterr()
    assert sentence in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert not list(folder.rglob("*.parquet"))


def test_the_template_is_printed_and_can_be_played(
    folder: Path, boundcheck: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert boundcheck("study", "--template") == 0
    text = capsys.readouterr().out
    (folder / "mine.toml").write_text(text)
    assert len(studies.load("mine.toml").cases()) == 20


def test_studies_are_listed(boundcheck: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert boundcheck("list", "studies") == 0
    shown = capsys.readouterr().out
    for name in studies.names():
        assert name in shown
