"""Closed streams, a folder that is gone, names that are no text, and classes that change the folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LEARNER = """
import os
import tempfile

class Plain:
    promises = ("game/*",)

    def __init__(self, problem):
        self.n = problem.graph.n_actions

    def predict(self, x):
        return [1 / self.n] * self.n

    def update(self, x, action, label):
        pass

class Leaver(Plain):
    def __init__(self, problem):
        super().__init__(problem)
        os.chdir(tempfile.gettempdir())

class Walker(Plain):
    def update(self, x, action, label):
        os.chdir("/")
"""
CLAIM = """
import os
from boundcheck import Claim, Form, Pathwise, Proof, Setting, Sides, Source

os.chdir("/")

def sides(case, form, rounds):
    os.chdir("/")
    return Sides(rounds.column("error"), 0 * rounds.column("error") + 1.5, 0 * rounds.column("error") + 1e-9)

CLAIM = Claim(
    "own/error", "own", Source("Nobody", "Jokes", 2000),
    (Form("printed", "error <= 3/2", Proof.PROVED, "clear"),), Pathwise(sides),
    lambda: [Setting("uniform", "one-hot", "bandit", 5)],
)
"""
STUDY = """
seeds = 2
[grid]
adversary = "one-hot"
graph = "bandit"
horizon = 5
[learners]
Own = "mine.py:{}"
"""
SMALL = ("--graph", "bandit", "--adversary", "one-hot", "--quick", "--out", "out")
OWN = ("verify", "game/*", "--learner", "mine.py:{}", *SMALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(LEARNER, encoding="utf-8")
    (tmp_path / "claims.py").write_text(CLAIM, encoding="utf-8")
    (tmp_path / "leaver.toml").write_text(STUDY.format("Leaver"), encoding="utf-8")
    (tmp_path / "walker.toml").write_text(STUDY.format("Walker"), encoding="utf-8")
    return tmp_path


def run(
    folder: Path, *arguments: str | bytes, shell: str = ""
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "boundcheck", *arguments]
    if shell:  # with what a shell does to the streams or to the folder
        command = ["sh", "-c", shell, "sh", *command]
    return subprocess.run(command, cwd=folder, capture_output=True)


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs a shell")
@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-"])
def test_streams_may_be_closed(closed: str, folder: Path) -> None:
    shell = f'"$@" {closed}'
    own = [word.format("Plain") for word in OWN]
    assert run(folder, *own, shell=shell).returncode == 0
    assert run(folder, "verify", "nothing", shell=shell).returncode == 2
    assert run(folder, "report", "--results", "out", shell=shell).returncode == 0
    found = {path.name for path in (folder / "out").iterdir()} - {".lock"}
    assert found == {"verdicts.json", "curves.parquet", "index.html", "tables"}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the folder of a process stays")
@pytest.mark.parametrize("command", [("list", "claims"), ("verify", "--quick"), ("study", "smoke")])
def test_a_folder_that_was_removed(command: tuple[str, ...], folder: Path) -> None:
    shell = 'mkdir gone && cd gone && rmdir ../gone && "$@"'
    done = run(folder, *command, shell=shell)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == (
        "boundcheck: error: the working folder does not exist any more: expected a command in a folder that does.\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
@pytest.mark.parametrize(
    "command",
    [
        ("verify", "--data", b"caf\xe9.csv", "--graph", "bandit"),
        ("verify", "game/*", "--learner", b"caf\xe9.py:Plain", *SMALL),
        ("study", b"caf\xe9.toml"),
        ("report", "--results", b"caf\xe9"),
    ],
)
def test_names_that_are_no_text(command: tuple[str | bytes, ...], folder: Path) -> None:
    done = run(folder, *command)
    assert (done.returncode, done.stdout) == (2, b"")
    line = done.stderr.decode()
    assert "argument 'caf\\udce9" in line
    assert "is not UTF-8: expected a file with another name" in line


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_a_folder_whose_name_is_no_text(folder: Path) -> None:
    inside = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9"))
    try:
        inside.mkdir()
    except OSError:
        pytest.skip("this file system takes text only")
    (inside / "mine.py").write_text(LEARNER, encoding="utf-8")
    done = run(inside, *(word.format("Plain") for word in OWN))
    assert done.returncode == 0, done.stderr
    assert (inside / "out" / "verdicts.json").exists()


@pytest.mark.parametrize("name", ["Leaver", "Walker"])
def test_a_learner_that_changes_the_folder_moves_no_results(name: str, folder: Path) -> None:
    done = run(folder, *(word.format(name) for word in OWN), "--json", "copy.json")
    assert done.returncode == 0, done.stderr
    assert (folder / "out" / "verdicts.json").read_bytes() == (folder / "copy.json").read_bytes()
    done = run(folder, "study", f"{name.lower()}.toml", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert len([*(folder / "results" / name.lower()).glob("*.parquet")]) == 2


def test_a_claim_that_changes_the_folder_moves_no_results(folder: Path) -> None:
    done = run(folder, "verify", "own/*", "--claims", "claims.py", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert (folder / "out" / "verdicts.json").exists()
