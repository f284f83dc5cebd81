"""Sweeps: the same numbers whoever plays, failures that stay with their case, workers that die with their parent."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from small_study import small

from boundcheck.errors import UserError
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.studies import run as sweep
from boundcheck.verify.studies import store
from boundcheck.verify.studies import study as studies
from boundcheck.verify.studies.study import StudyCase

PATIENCE = 5.0  # seconds in which workers are gone

RAISES = """
class Late:
    def __init__(self, problem):
        self.n, self.rounds = problem.n_labels, 0

    def predict(self, x):
        self.rounds += 1
        if self.rounds == 30 and len(x) == 80:
            raise RuntimeError("thirty")
        return [1 / self.n] * self.n

    def update(self, x, action, label):
        pass
"""


def files(folder: Path, cases: list[StudyCase], outcomes: sweep.Outcomes) -> dict[str, bytes]:
    """The files of a run, by name."""
    by_key = {case.key: case for case in cases}
    folder.mkdir()
    for outcome in outcomes:
        assert outcome.error == "", outcome.traceback
        store.write(folder, by_key[outcome.case.key], outcome.columns)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_one_process_two_processes_and_a_cluster_write_the_same_bytes(tmp_path: Path) -> None:
    distributed: Any = pytest.importorskip("distributed")
    cases = small(seeds=3).cases()
    alone = files(tmp_path / "alone", cases, sweep.run_here(cases, 1))
    assert len(alone) == 6
    two = files(tmp_path / "two", cases[::-1], sweep.run_here(cases[::-1], 2))
    assert two == alone
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, dashboard_address=None, silence_logs=50
    ) as cluster:
        outcomes = sweep.run_on_dask(cases, cluster.scheduler_address)
        assert files(tmp_path / "cluster", cases, outcomes) == alone


def test_a_scheduler_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(sweep, "SECONDS_FOR_SCHEDULER", 1)
    cases = small().cases()
    with pytest.raises(
        UserError, match=r"'tcp://127\.0\.0\.1:1' does not answer within 1 s \(\w+\): expected"
    ):
        list(sweep.run_on_dask(cases, "tcp://127.0.0.1:1"))
    with pytest.raises(UserError, match="scheduler 'nonsense' is no address"):
        list(sweep.run_on_dask(cases, "nonsense"))


def test_a_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed: Any = pytest.importorskip("distributed")
    monkeypatch.setattr(sweep, "SECONDS_FOR_SCHEDULER", 1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as cluster,
        pytest.raises(UserError, match="has no workers: expected at least one"),
    ):
        list(sweep.run_on_dask(small().cases(), cluster.scheduler_address))


def test_workers_with_other_sources_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed: Any = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        theirs = {**store.provenance(), "sources": "1" * 64}
        monkeypatch.setattr(store, "provenance", lambda: theirs)  # here, and not in the worker
        with pytest.raises(
            UserError, match=r"worker on '.+' has sources \w+, here 1111111111111111"
        ):
            list(sweep.run_on_dask(small().cases()[:1], cluster.scheduler_address))


def test_without_distributed_the_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError, match=r"pip install 'boundcheck\[cluster\]'"):
        list(sweep.run_on_dask(small().cases(), "tcp://127.0.0.1:8786"))


def test_the_envelope_of_the_regret_is_theorem_4s_where_it_applies() -> None:
    grid = {"adversary": "one-hot", "graph": "bandit", "horizon": 4000, "radius": 2.5}
    learners = {"Gap": {"theory": "gappletron:gamma=theorem-4a", "ones": "gappletron:gamma=ones"}}
    (case, *_) = small(grid=grid, learners=learners).cases()
    columns = sweep.play(case)
    setting = Setting("gappletron:gamma=theorem-4a", "one-hot", "bandit", 4000, comparator_norm=2.5)
    resolved = resolve(setting, 0)
    u = resolved.smoothness * resolved.declaration.get("regret_factor") ** 2
    K = resolved.n_labels
    assert K * K * u < 4000  # else the root never counts
    for tuning, rounds, envelope in zip(
        columns["tuning"], columns["rounds"], columns["regret_envelope"], strict=True
    ):
        if tuning == "theory":
            assert envelope == pytest.approx(max(2 * K * K * u, 2 * K * math.sqrt(u * rounds)))
        else:
            assert envelope is None


def test_a_failure_stays_with_its_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("late.py").write_text(RAISES)
    cases = small(learners={"Late": "late.py:Late"}).cases()
    outcomes = {str(o.case): o for o in sweep.run_here(cases, 1)}
    assert len(outcomes) == len(cases)
    for name, outcome in outcomes.items():
        if "keyword_scale=2" in name:
            assert "thirty" in outcome.error
            assert 'raise RuntimeError("thirty")' in outcome.traceback
            assert outcome.columns == {}
        else:
            assert outcome.error == ""
            assert len(outcome.columns["rounds"]) == 11


def test_a_file_that_changes_while_the_study_runs_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("late.py").write_text(RAISES)
    cases = small(learners={"Late": "late.py:Late"}).cases()
    Path("late.py").write_text(RAISES.replace("30", "31"))
    assert "has changed since the study started" in next(iter(sweep.run_here(cases, 1))).error


STUDY = """
seeds = 30
[grid]
adversary = "keywords"
graph = "bandit"
horizon = 10000
[learners]
Gap = "gappletron:gamma=ones"
"""


def descendants(pid: int) -> set[int]:
    """Ids of the living processes that descend from a process."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue
        children.setdefault(int(rest.split()[1]), []).append(int(path.parent.name))
    found: set[int] = set()
    queue = [pid]
    while queue:
        new = children.get(queue.pop(), [])
        found |= {*new}
        queue += new
    return found


def alive(pid: int) -> bool:
    try:
        _, _, rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    except OSError:
        return False
    return rest.split()[0] != "Z"


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "boundcheck", "study", "long.toml", "--quiet", *arguments]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_killed_and_resumed_it_is_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(STUDY)
    folder = tmp_path / "results" / "long"
    wanted = 3
    for kill in range(2):
        with running(tmp_path, "--jobs", "2", "--resume") as process:
            while len([*folder.glob("*.parquet")]) < wanted and process.poll() is None:
                time.sleep(0.02 + 0.013 * kill)
            workers = descendants(process.pid)
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert process.returncode == -signal.SIGKILL, "it was over before it could be killed"
        assert workers
        end = time.monotonic() + PATIENCE
        while any(map(alive, workers)) and time.monotonic() < end:
            time.sleep(0.05)
        assert not {pid for pid in workers if alive(pid)}
        wanted = len([*folder.glob("*.parquet")]) + 3
    kept = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}
    (folder / "0.parquet").touch()
    with running(tmp_path, "--jobs", "2", "--resume") as process:
        assert process.wait() == 0
    found = {
        path.name: path.read_bytes() for path in folder.glob("*.parquet") if len(path.stem) == 64
    }
    assert {name: (folder / name).stat().st_mtime_ns for name in kept} == kept
    cases = studies.load(str(tmp_path / "long.toml")).cases()
    assert found == files(tmp_path / "again", cases, sweep.run_here(cases, 1))
    played = [line for line in (folder / store.LOG).read_text().splitlines() if "finished" in line]
    assert len(played) == len({*played}) <= 30


@pytest.mark.skipif(os.name != "posix", reason="kills a worker")
def test_a_worker_that_is_killed_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kill = RAISES.replace(
        'raise RuntimeError("thirty")', "__import__('os').kill(__import__('os').getpid(), 9)"
    )
    Path("late.py").write_text(kill)
    cases = small(learners={"Late": "late.py:Late"}).cases()
    with pytest.raises(UserError, match="a worker process was killed"):
        list(sweep.run_here(cases, 2))


def test_an_adaptive_adversary_of_the_users_meets_each_learner_anew(tmp_path: Path) -> None:
    """Each learner meets rounds of its own, which follow what it played; no comparator is known before play."""
    file = tmp_path / "spiteful.py"
    file.write_text(
        "import numpy as np\n\n\n"
        "class Spiteful:\n"
        "    n_labels, n_features = 2, 2\n\n"
        "    def __init__(self, horizon, seed):\n"
        "        pass\n\n"
        "    def next(self, action, seen):\n"
        "        return np.eye(2)[0], 0 if action is None else 1 - action\n"
    )
    grid = {"adversary": f"{file}:Spiteful", "graph": "full", "horizon": 64}
    learners = {"Guesser": "uniform", "Gap": "gappletron"}
    document = {"seeds": 1, "grid": grid, "learners": learners}
    (case,) = studies.parse("spiteful", document).cases()
    columns = sweep.play(case)
    ends = [i for i, rounds in enumerate(columns["rounds"]) if rounds == 64]
    guesser, gap = (columns["mistakes"][i] for i in ends)
    assert 0 < guesser < 64
    assert guesser != gap
    assert set(columns["comparator_loss"]) == set(columns["regret_envelope"]) == {None}
    assert sweep.play(case) == columns
