"""The command line: what it prints, writes and returns."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from command_line import BROKEN, boundcheck

from boundcheck import __version__
from boundcheck.verify import catalog
from boundcheck.verify.certificates.replay import replay

KEYS = {
    "claim",
    "form",
    "learner",
    "loss",
    "adversary",
    "graph",
    "case",
    "kind",
    "verdict",
    "expected",
    "observed",
    "envelope",
    "ratio",
    "regret_ratio",
    "headroom",
    "evidence",
    "runs",
    "rounds",
    "flags",
    "certificate",
    "surprising",
    "tested_from",
}


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which two claims were verified, and what was printed."""
    folder = tmp_path_factory.mktemp("verified")
    command = (
        "verify gappletron/condition-2 gappletron/theorem-7 --json all.json --junit all.xml -v"
    )
    done = subprocess.run(
        [sys.executable, "-m", "boundcheck", *command.split()],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_table_has_a_line_for_each_form(verified: tuple[Path, str]) -> None:
    _, printed = verified
    summary = printed[printed.rindex("claim  ") :]
    lines = [line.split()[:3] for line in summary.splitlines() if line.startswith("gappletron/")]
    assert lines == [
        ["gappletron/condition-2", "printed", "refuted"],
        ["gappletron/condition-2", "repaired", "holds"],
        ["gappletron/theorem-7", "printed", "refuted"],
        ["gappletron/theorem-7", "repaired", "holds"],
    ]
    assert " 0 surprises" in summary
    assert "\x1b[" not in printed, "no colour codes in a pipe"
    assert all(len(line) <= 120 for line in summary.splitlines() if "cells" not in line)


def test_table_names_the_worst_case(verified: tuple[Path, str]) -> None:
    folder, printed = verified
    summary = " ".join(printed[printed.rindex("claim  ") :].split())
    spec = "gappletron:loss=logistic-K,rule=printed,optimiser=stand-still,gamma=2"
    assert f"{spec} | crafted-scores:n_labels=12 | full | T=" in summary
    assert "refuted as printed: gappletron/condition-2, gappletron/theorem-7" in summary
    assert "of these, hold as repaired: gappletron/condition-2, gappletron/theorem-7" in summary
    document = json.loads((folder / "all.json").read_text(encoding="utf-8"))
    rows = [row for row in document["results"] if row["claim"] == "gappletron/condition-2"]
    worst = max((r for r in rows if r["verdict"] == "refuted"), key=lambda row: row["ratio"])
    assert "loss=logistic-K" in worst["learner"]
    assert worst["adversary"] == "crafted-scores:n_labels=12"


def test_json_has_the_documented_keys(verified: tuple[Path, str]) -> None:
    folder, _ = verified
    document = json.loads((folder / "all.json").read_text(encoding="utf-8"))
    assert document == json.loads(
        (folder / "boundcheck-report" / "verdicts.json").read_text("utf-8")
    )
    assert document["schema"] == 1
    assert {"versions", "cpu", "libm", "seed", "level", "seconds"} <= document["suite"].keys()
    assert all(row.keys() == KEYS for row in document["results"])
    assert {row["verdict"] for row in document["results"]} == {"holds", "refuted"}
    for row in document["results"]:
        assert (row["certificate"] is not None) == (row["verdict"] == "refuted")


def test_junit_counts_every_cell(verified: tuple[Path, str]) -> None:
    folder, _ = verified
    root = ET.parse(folder / "all.xml").getroot()
    document = json.loads((folder / "all.json").read_text(encoding="utf-8"))
    assert int(root.attrib["tests"]) == len(root) == len(document["results"])
    assert root.attrib["failures"] == root.attrib["errors"] == "0"


def test_certificates_of_a_run_replay(
    verified: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = verified
    certificates = sorted((folder / "boundcheck-report" / "certificates").glob("*.json"))
    assert len(certificates) >= 10
    for certificate in certificates:
        replay(certificate)
    smallest = min(certificates, key=lambda path: path.stat().st_size)
    assert boundcheck("replay", str(smallest), monkeypatch=monkeypatch, folder=folder) == 0
    assert "accepted" in capsys.readouterr().out


def test_a_refuted_promise_names_claim_run_and_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(BROKEN, encoding="utf-8")
    command = ("verify", "gappletron/lemma-1", "--learner", "mine.py:Flipped", "--quick")
    assert boundcheck(*command, monkeypatch=monkeypatch, folder=tmp_path) == 1
    printed = capsys.readouterr().out
    assert "SURPRISE" in printed
    line = next(line for line in printed.splitlines() if line.startswith("surprise"))
    for words in ("gappletron/lemma-1 (repaired) is refuted", "run 0, round "):
        assert words in line
    path = next(line.split()[-1] for line in printed.splitlines() if "boundcheck replay" in line)
    assert boundcheck("replay", "--trust", path, monkeypatch=monkeypatch, folder=tmp_path) == 0
    shown = capsys.readouterr().out
    assert "accepted" in shown
    assert len([line for line in shown.splitlines() if line[:1].isdigit()]) <= 10


OWN_CLAIM = """
from boundcheck import Claim, Form, Pathwise, Proof, Sides, Source

def sides(case, form, rounds):
    errors = rounds.column("error")
    return Sides(errors, 0 * errors, 0 * errors)

CLAIM = Claim(
    "mine/never-wrong", "no mistakes", Source("Nobody", "Jokes", 2000),
    (Form("printed", "M_T = 0", Proof.FALSE, "a joke"),), Pathwise(sides),
)
"""


def test_a_claim_of_ones_own_is_refuted_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(OWN_CLAIM, encoding="utf-8")

    def run(*arguments: str) -> tuple[int, str]:
        catalog.claims.cache_clear()  # as in a process of its own
        status = boundcheck(*arguments, monkeypatch=monkeypatch, folder=tmp_path)
        catalog.claims.cache_clear()
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    own = ("verify", "mine/*", "--claims", "mine.py", "--quick")
    status, printed = run(*own)
    assert status == 2
    assert "mine/never-wrong: no settings are built in" in printed
    status, printed = run(*own, "--adversary", "one-hot:noise=0.1", "--graph", "bandit")
    assert status == 0
    assert "refuted" in printed
    path = min((tmp_path / "boundcheck-report" / "certificates").glob("mine-*.json"))
    status, printed = run("replay", "--claims", "mine.py", str(path))
    assert status == 0
    assert "accepted" in printed
    status, printed = run("replay", str(path))
    assert status == 2
    assert "--claims FILE" in printed


def test_an_error_in_a_claim_names_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = OWN_CLAIM.replace('rounds.column("error")', "rounds.block.nope")
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    line = 1 + text.splitlines().index("    errors = rounds.block.nope")
    catalog.claims.cache_clear()
    options = ("--claims", "mine.py", "--adversary", "one-hot", "--graph", "bandit", "--quick")
    status = boundcheck("verify", "mine/*", *options, monkeypatch=monkeypatch, folder=tmp_path)
    catalog.claims.cache_clear()
    assert status == 2
    printed = " ".join(capsys.readouterr().out.split())
    assert f"has no attribute 'nope' (mine.py, line {line})" in printed


def test_without_a_command_the_help_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert boundcheck(monkeypatch=monkeypatch, folder=tmp_path) == 0
    assert "\n  boundcheck verify --quick" in capsys.readouterr().out


def test_only_what_is_promised_can_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = BROKEN.replace('("gappletron/lemma-1",)', "()")
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    command = (
        "verify",
        "gappletron/lemma-1",
        "--learner",
        "mine.py:Flipped",
        "--quick",
        "--jobs=1",
    )
    assert boundcheck(*command, monkeypatch=monkeypatch, folder=tmp_path) == 0
    assert "refuted" in capsys.readouterr().out


@pytest.mark.parametrize("what", ["claims", "learners", "adversaries", "graphs"])
def test_lists(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert boundcheck("list", what, monkeypatch=monkeypatch, folder=tmp_path) == 0
    expected = {
        "claims": "gappletron/bound-9",
        "learners": "gappletron",
        "adversaries": "crafted-scores",
        "graphs": "label-efficient",
    }
    printed = capsys.readouterr().out
    assert expected[what] in printed
    assert ": [, " not in printed, "an interval is no list of words"


def test_learners_are_listed_with_parameters_tunings_graphs_and_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert boundcheck("list", "learners", monkeypatch=monkeypatch, folder=tmp_path) == 0
    printed = capsys.readouterr().out
    of_labels = catalog.games()["labels"].learners()
    for name, made in catalog.learners().items():
        (found,) = re.findall(rf"^{name}\n(?:  .*\n)*", printed, re.MULTILINE)
        entry = " ".join(found.split())  # however the lines are broken
        if name in of_labels:
            assert made.source in entry
            assert made.graphs in entry
        for field in dataclasses.fields(made):
            assert f"{field.name}=" in entry
        for numbers in getattr(made, "tunings", {}).values():
            assert numbers in entry


def test_only_what_applies_or_is_promised_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = BROKEN.replace(
        '("gappletron/lemma-1",)', '("gappletron/updates", "gappletron/theorem-5a")'
    )
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    options = ("--learner", "mine.py:Flipped", "--graph", "full", "--quick", "--jobs=1")
    assert boundcheck("verify", *options, monkeypatch=monkeypatch, folder=tmp_path) == 0
    printed = capsys.readouterr().out
    shown = set(re.findall(r"^([\w-]+/[\w-]+) .*", printed, re.MULTILINE))
    assert {"gappletron/lemma-1", "gappletron/updates", "gappletron/theorem-5a"} <= shown
    assert "perceptron/step" not in shown
    counted = re.search(r"not promised and not applicable: (\d+) claims, shown by -v", printed)
    assert counted is not None
    assert int(counted[1]) + len(shown) == len(catalog.claims())


def test_quiet_prints_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("verify", "gappletron/theorem-7", "--quiet", "--jobs", "1")
    assert boundcheck(*command, monkeypatch=monkeypatch, folder=tmp_path) == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_data_begin_with_a_row_for_each_hypothesis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data.csv").write_text("a,b,kind\n3,4,x\n0,1,y\n", encoding="utf-8")
    options = "--data data.csv --label kind --radius 2 --quick --jobs 1 --json all.json"
    command = ("verify", "gappletron/lemma-1", *options.split())
    assert boundcheck(*command, monkeypatch=monkeypatch, folder=tmp_path) == 0
    table = capsys.readouterr().out.split("\n\n")[0]
    shown = {line[:16].strip(): line[16:].split()[0] for line in table.splitlines()[1:]}
    measured = {"labels": "2", "rounds": "2", "feature norm": "5", "comparator norm": "2"}
    assert shown.items() >= measured.items()
    assert {"norm of U", "comparator loss", "margin"} <= shown.keys()
    saved = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))["hypotheses"]
    assert [row["name"] for row in saved] == list(shown)


def test_a_reader_that_goes_away_changes_no_status(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "boundcheck", "list"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.stderr is not None
        errors = running.stderr.read()
    assert running.returncode == 0, errors
    assert "Traceback" not in errors


def test_version_help_list_and_replay_work_without_numba(verified: tuple[Path, str]) -> None:
    folder, _ = verified
    certificates = sorted((folder / "boundcheck-report" / "certificates").glob("*.json"))
    for arguments, word in (
        (["--version"], __version__),
        (["--help"], "verify"),
        (["verify", "--help"], "--learner"),
        (["list"], "gappletron/lemma-1"),
        (["replay", str(certificates[0])], "accepted"),
    ):
        code = (
            "import sys; sys.modules['numba'] = None\n"
            "from boundcheck.reports.cli import main\n"
            f"sys.argv = ['boundcheck', *{arguments!r}]\nsys.exit(main())"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert word in done.stdout
