"""``boundcheck list`` with globs and as JSON, and the completion of shells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from boundcheck.reports.cli import main
from boundcheck.verify import catalog


def listed(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["boundcheck", "list", *arguments])
    return main()


@pytest.mark.parametrize(
    ("what", "globs", "names"),
    [
        ("claims", ["gappletron/lemma-1"], {"gappletron/lemma-1"}),
        ("claims", ["game/*"], {name for name in catalog.claims() if name.startswith("game/")}),
        ("learners", ["banditron", "unif*"], {"banditron", "uniform"}),
        ("graphs", ["band*"], {"bandit"}),
        ("studies", ["smoke"], {"smoke"}),
        ("adversaries", ["FILE.py:Class"], {"FILE.py:Class"}),
    ],
)
def test_globs_choose_what_is_listed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    what: str,
    globs: list[str],
    names: set[str],
) -> None:
    assert listed(monkeypatch, what, *globs, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {next(iter(entry.values())) for entry in found} == names
    assert all(entry["words"] and "[dim]" not in entry["words"] for entry in found)
    assert listed(monkeypatch, what, *globs) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in names)


def test_a_glob_that_names_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert listed(monkeypatch, "claims", "gappletron/lema-1") == 2
    assert "(did you mean 'gappletron/lemma-1'?)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("boundcheck verify gappletron/lem", {"gappletron/lemma-1", "gappletron/lemma-2"}),
        ("boundcheck verify --learner banditr", {"banditron"}),
        ("boundcheck verify --adversary one-", {"one-hot"}),
        ("boundcheck verify --graph lab", {"label-efficient"}),
        ("boundcheck study smo", {"smoke"}),
        ("boundcheck rep", {"replay", "report"}),
    ],
)
def test_a_shell_completes_names(words: str, expected: set[str], tmp_path: Path) -> None:
    environment = os.environ | {
        "_BOUNDCHECK_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    command = [sys.executable, "-m", "boundcheck"]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.stderr == ""
    assert done.returncode == 0
    found = {line.partition(",")[2] for line in done.stdout.splitlines()}
    assert expected <= found
