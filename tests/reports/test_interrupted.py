"""Ctrl-C and SIGTERM, to real processes: what is finished is kept, and nothing is left behind.

The games wait for the signal: after some calls a claim or a learner sleeps for good, so that no run ends before it.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from boundcheck import interruption
from boundcheck.verify.suite import results

PATIENCE = 60.0
SHARED = Path("/dev/shm")
PAUSE = """
import os
import time
from pathlib import Path

def pause():
    after = int(os.environ.get("AFTER", 10**9))
    with Path("calls").open("a") as file:
        file.write(f"{os.getpid()}\\n")
    done = len(Path("calls").read_text().splitlines())
    time.sleep(1e9 if done >= after else 0.1 * (after < 10**9))
"""
CLAIM = (
    PAUSE
    + """
from boundcheck import Claim, Form, Pathwise, Proof, Setting, Sides, Source

def sides(case, form, rounds):
    pause()
    return Sides(rounds.column("error"), 0 * rounds.column("error") + 1.5, 0 * rounds.column("error") + 1e-9)

def cases():
    return [Setting("uniform", f"one-hot:noise={i / 1000}", "bandit", 5, runs=1) for i in range(120)]

CLAIM = Claim(
    "slow/error", "slow", Source("Nobody", "Jokes", 2000),
    (Form("printed", "error <= 3/2", Proof.PROVED, "clear"),), Pathwise(sides), cases,
)
"""
)
LEARNER = (
    PAUSE
    + """
class Slow:
    promises = ()

    def __init__(self, problem):
        self.n, self.fresh = problem.graph.n_actions, True

    def predict(self, x):
        if self.fresh:
            pause()
        self.fresh = False
        return [1 / self.n] * self.n

    def update(self, x, action, label):
        pass
"""
)
STUDY = """
seeds = 60
[grid]
adversary = "one-hot"
graph = "bandit"
horizon = 5
[learners]
Slow = "slow.py:Slow"
"""
VERIFY = ("verify", "slow/*", "--claims", "slow.py", "--out", "out")
LEARNER_OWN = ("verify", "game/*", "--learner", "slow.py:Slow", "--out", "out", "--quick")
PLAY = ("study", "slow.toml", "--results", "out")

#: Command, processes, calls before all sleep, signal, to the whole group as a terminal sends it or to one process.
KILLS = [
    (command, jobs, after, number, group)
    for command, jobs, after in [
        (VERIFY, 1, 3), (VERIFY, 1, 9), (VERIFY, 2, 30), (PLAY, 1, 4), (PLAY, 2, 5),
    ]
    for number in (signal.SIGINT, signal.SIGTERM)
    for group in (False, True)
]  # fmt: skip
IN_EVERY_RUN = (
    (VERIFY, 1, 9, signal.SIGTERM, True),
    (VERIFY, 2, 30, signal.SIGINT, True),
    (PLAY, 2, 5, signal.SIGINT, True),
)


def session(leader: int) -> set[int]:
    """The processes of a session that are not over."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.add(int(path.parent.name))
    return found


def interrupted(
    folder: Path, command: tuple[str, ...], jobs: int, after: int, number: int, group: bool
) -> str:
    """Play until every process sleeps, send a signal, and return what was said about it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "boundcheck", *command, "--jobs", str(jobs)],
        cwd=folder,
        env={**os.environ, "AFTER": str(after)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    calls, seen = folder / "calls", {process.pid}
    try:
        end = time.monotonic() + PATIENCE
        while not calls.exists() or len(calls.read_text().splitlines()) < after:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            seen |= session(process.pid)
            time.sleep(0.02)
        players = {*calls.read_text().split()[-1:]}
        assert (str(process.pid) in players) == (jobs == 1 and command is not LEARNER_OWN)
        (os.killpg if group else os.kill)(process.pid, number)
        out, said = process.communicate(timeout=PATIENCE)
        end = time.monotonic() + PATIENCE
        while session(process.pid) and time.monotonic() < end:
            time.sleep(0.05)
        assert not session(process.pid)
    finally:
        for pid in session(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.communicate()
    assert (process.returncode, out) == (130, "")
    (line,) = [line for line in said.splitlines() if line and " of " not in line[:12]]
    assert line.startswith("boundcheck: interrupted; ")
    if SHARED.exists():
        ours = re.compile(rf"\D({'|'.join(map(str, seen))})(\D|$)")
        assert [path.name for path in SHARED.iterdir() if ours.search(path.name)] == []
    return line


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
@pytest.mark.parametrize(
    ("command", "jobs", "after", "number", "group"),
    [
        pytest.param(*kill, marks=() if kill in IN_EVERY_RUN else pytest.mark.nightly)
        for kill in KILLS
    ],
)
def test_what_is_finished_is_kept(
    command: tuple[str, ...], jobs: int, after: int, number: int, group: bool, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(CLAIM if command is VERIFY else LEARNER, encoding="utf-8")
    (tmp_path / "slow.toml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "verdicts.json").write_text('{"schema": 1, "suite": {}}', encoding="utf-8")
    said = interrupted(tmp_path, command, jobs, after, number, group)
    assert (tmp_path / "out" / "verdicts.json").stat().st_size == 26
    finished = int(re.findall(r"(\d+) of (?:120|60) cases", said)[0])
    if command is VERIFY:
        place = tmp_path / "out" / "interrupted"
        document = results.load(place).document
        assert document["suite"]["interrupted"] == {"finished": finished, "cases": 120}
        assert len(document["results"]) == finished > 0
        again = f"boundcheck report --results {Path('out', 'interrupted')}"
        assert again in said
        done = run(tmp_path, *again.split()[1:])
        assert done.returncode == 0, done.stderr
        page = (place / "index.html").read_text(encoding="utf-8")
        assert f"interrupted: these are the verdicts on {finished} of its 120 cases" in page
    else:
        place = tmp_path / "out" / "slow"
        kept = {path: path.stat().st_mtime_ns for path in place.glob("*.parquet")}
        assert len(kept) == finished > 0
        assert "the same command continues with the others" in said
        done = run(tmp_path, *command)
        assert done.returncode == 0, done.stderr
        assert f"{finished} of 60 cases are finished already" in done.stdout
        assert kept == {path: path.stat().st_mtime_ns for path in kept}
        assert len([*place.glob("*.parquet")]) == 60


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "boundcheck", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_the_process_of_a_class_ends_and_a_whole_run_takes_the_place_of_what_was_kept(
    tmp_path: Path,
) -> None:
    (tmp_path / "slow.py").write_text(LEARNER, encoding="utf-8")
    (tmp_path / "out").mkdir()
    said = interrupted(tmp_path, LEARNER_OWN, 1, 9, signal.SIGINT, True)
    kept = tmp_path / "out" / "interrupted"
    assert f"their verdicts are in {Path('out', 'interrupted')}/" in said
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["interrupted"]
    (kept / "mine.txt").touch()
    assert run(tmp_path, *LEARNER_OWN, "--rounds", "5").returncode == 0
    assert [path.name for path in kept.iterdir()] == ["mine.txt"]
    assert (tmp_path / "out" / "verdicts.json").exists()


def test_a_second_signal_loses_nothing_and_one_that_was_swallowed_is_heeded() -> None:
    with interruption.heard():
        interruption.heed()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)  # at once: not heard
        with pytest.raises(KeyboardInterrupt):
            interruption.heed()
    interruption.heed()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
