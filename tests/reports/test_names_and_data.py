"""Files of the user's on the command line: what they are called, where they lie, what warns of their content."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import BROKEN, boundcheck

NEIGHBOURS = """
import numpy as np
from helping import uniform

class Guesser:
    promises = ("game/*",)

    def __init__(self, problem):
        self.n = problem.graph.n_actions

    def predict(self, x):
        return uniform(self.n)

    def update(self, x, action, label):
        pass
"""


def test_a_learner_file_may_import_its_neighbour(tmp_path: Path) -> None:
    """By the script as well, whose own folder is where Python looks first; and with more than one process."""
    folder = tmp_path / "learners"
    folder.mkdir()
    (folder / "mine.py").write_text(NEIGHBOURS, encoding="utf-8")
    helping = "import numpy as np\ndef uniform(n):\n    return np.full(n, 1 / n)\n"
    (folder / "helping.py").write_text(helping, encoding="utf-8")
    script = Path(sys.executable).with_name("boundcheck")
    command = [
        script,
        "verify",
        "game/no-peeking",
        "--learner",
        "learners/mine.py:Guesser",
        "--quick",
    ]
    done = subprocess.run([*command, "--jobs", "2"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_files_are_called_is_no_markup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    learner = ("--learner", "mine.py:Flipped", "--quick", "--jobs", "1")
    (tmp_path / "mine.py").write_text(BROKEN, encoding="utf-8")
    command = ("verify", "gappletron/lemma-1", *learner, "--out", "a[/b]/[bold]c")
    assert boundcheck(*command, monkeypatch=monkeypatch, folder=tmp_path) == 1
    printed = capsys.readouterr().out
    assert "boundcheck replay" in printed
    assert "a[/b]/[bold]c/certificates/gappletron-lemma-1-repaired-" in printed
    told = "in a[/b]/[bold]c/; a page of them: boundcheck report --results 'a[/b]/[bold]c'"
    assert told in printed.splitlines()[-1]
    certificates = [*(tmp_path / "a[/b]/[bold]c/certificates").iterdir()]
    names = []
    for certificate in certificates[:2]:
        names.append(str(certificate.with_name(f"[x]{certificate.name}")))
        certificate.rename(names[-1])
    assert (
        boundcheck("replay", "--trust", *names * 2, monkeypatch=monkeypatch, folder=tmp_path) == 0
    )
    assert f"[x]{certificates[0].name}" in capsys.readouterr().out


def test_data_in_a_folder_with_an_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "me@here"
    folder.mkdir()
    (folder / "a@b.csv").write_text("x,k@d,z\n1,5,0\n2,6,1\n1,5,1\n", encoding="utf-8")
    command = (
        "verify",
        "gappletron/lemma-1",
        "--data",
        "me@here/a@b.csv",
        "--quick",
        "--jobs",
        "1",
    )
    assert boundcheck(*command, monkeypatch=monkeypatch, folder=tmp_path) == 0
    label = ("--label", "k@d")
    assert boundcheck(*command, *label, monkeypatch=monkeypatch, folder=tmp_path) == 0
    document = json.loads(
        (tmp_path / "boundcheck-report/verdicts.json").read_text(encoding="utf-8")
    )
    assert {row["adversary"] for row in document["results"]} == {"data:me@here/a@b.csv@k@d"}


def test_features_so_large_that_bounds_are_vacuous(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{i % 3},{i % 5},{i % 2}\n" for i in range(40)]
    (tmp_path / "small.csv").write_text("a,b,l\n" + "".join(rows), encoding="utf-8")
    large = [f"{i % 3}e3,{i % 5},{i % 2}\n" for i in range(40)]
    (tmp_path / "large.csv").write_text("a,b,l\n" + "".join(large), encoding="utf-8")
    for data, radius, warns in (("small", 0.5, False), ("small", 5, True), ("large", 0.5, True)):
        command = (
            "verify",
            "gappletron/lemma-1",
            "--data",
            f"{data}.csv",
            "--quick",
            "--jobs",
            "1",
        )
        status = boundcheck(
            *command, "--radius", str(radius), monkeypatch=monkeypatch, folder=tmp_path
        )
        assert status == 0
        printed = capsys.readouterr().out
        assert ("warning features have norms up to" in printed) == warns
    assert "norms up to 2000; with the comparator norm B=0.5" in printed
    assert "L B^2 = 4e+06 and are vacuous in 40 rounds" in printed
