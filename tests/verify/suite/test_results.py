"""Result folders: whole or as they were, whoever else writes into them and whenever it stops."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from boundcheck.errors import UserError
from boundcheck.reports.terminal.junit import write_junit
from boundcheck.verify.claims.gappletron.settings import gappletron
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import results
from boundcheck.verify.suite import run as suite

PATIENCE = 5.0  # seconds in which workers are gone


def rows_of(*claims: str) -> list[suite.Row]:
    """Rows with a certificate for each claim."""
    learner = gappletron("logistic-K", "printed", "stand-still", "2")
    setting = Setting(learner, "crafted-scores", "full", 400)
    return suite.judge_job(suite.Job(setting, tuple(f"gappletron/{name}" for name in claims)), 0)


@pytest.fixture(scope="module")
def one() -> list[suite.Row]:
    return rows_of("lemma-1")


@pytest.fixture(scope="module")
def two() -> list[suite.Row]:
    return rows_of("condition-2")


def save(rows: list[suite.Row], folder: Path) -> None:
    results.save(rows, results.document_of(rows, 0, 1.0), folder)


def contents(folder: Path) -> dict[str, bytes]:
    """Everything in a folder but the lock, by path."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != results.LOCK)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def check_whole(folder: Path) -> int:
    """The folder has all certificates that its verdicts name, no other, and no left-over; how many."""
    document = json.loads((folder / results.VERDICTS).read_text(encoding="utf-8"))
    named = {row["certificate"] for row in document["results"]} - {None}
    assert contents(folder).keys() == named | {results.VERDICTS, results.CURVES}
    return len(named)


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_earlier_results_as_they_were(
    call: str,
    tmp_path: Path,
    one: list[suite.Row],
    two: list[suite.Row],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for succeeding in range(6):
        folder = tmp_path / str(succeeding)
        save(one, folder)
        before = contents(folder)
        place: Any = os if call == "fsync" else Path
        works, left = getattr(place, call), [succeeding]

        def fail(*arguments: Any, works: Any = works, left: list[int] = left) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return works(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(place, call, fail)
            try:
                save(two, folder)
                break
            except UserError:
                pass
        after = contents(folder)
        assert not any(name.endswith(".new") for name in after)
        if call == "fsync" and succeeding < 3:  # the last two are those of the folders
            assert after == before
        elif call == "replace":
            assert after[results.VERDICTS] == before[results.VERDICTS]
        assert {name for name in before if name not in after} == set()
    else:
        pytest.fail("never succeeded")
    assert succeeding > 2
    assert check_whole(folder) == 1


@pytest.mark.parametrize("write", [results.write_json, write_junit])
def test_a_report_that_cannot_be_written_leaves_the_earlier_one(
    write: Any, tmp_path: Path, one: list[suite.Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report"
    write({} if write is results.write_json else one, path)
    before = path.read_bytes()
    assert before

    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(UserError, match="cannot be written: No space left"):
        write({"a": 1} if write is results.write_json else [], path)
    assert contents(tmp_path) == {"report": before}


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="a device of Unix")
def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/null")
    results.write_json({}, link)
    assert Path("/dev/null").is_char_device()
    assert link.is_symlink()
    target = tmp_path / "target"
    target.write_text("", encoding="utf-8")
    other = tmp_path / "other"
    other.symlink_to(target)
    results.write_json({}, other)
    assert other.is_symlink()
    assert target.read_text(encoding="utf-8") == "{}\n"


def test_what_a_killed_run_left_is_removed_by_the_next(
    tmp_path: Path, one: list[suite.Row]
) -> None:
    folder = tmp_path / "certificates"
    folder.mkdir()
    left = [tmp_path / ".verdicts.json.1.new", tmp_path / ".curves.parquet.1.new"]
    left.append(folder / ".gappletron-lemma-1-printed-0.json.1.new")
    mine = [tmp_path / ".mine.new", folder / "mine.new"]
    for path in (*left, *mine):
        path.touch()
    save(one, tmp_path)
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in mine)


def test_two_runs_into_one_folder_lose_neither_a_run_nor_a_file(
    tmp_path: Path, one: list[suite.Row], two: list[suite.Row]
) -> None:
    def save_often(rows: list[suite.Row]) -> None:
        for _ in range(15):
            save(rows, tmp_path)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(save_often, one), pool.submit(save_often, two)]:
            done.result()
    assert check_whole(tmp_path) == 1


def test_a_folder_that_stays_in_use_is_one_sentence(
    tmp_path: Path, one: list[suite.Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "SECONDS_FOR_ANOTHER", 0)
    with (
        FileLock(tmp_path / results.LOCK),
        pytest.raises(UserError, match=r"in use by another run of boundcheck.* --out"),
    ):
        save(one, tmp_path)
    assert contents(tmp_path) == {}


def session(pid: int) -> list[int]:
    """Ids of the living processes in the session of a process."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, rest = path.read_text(encoding="utf-8").rpartition(")")
        except OSError:
            continue
        state, *fields = rest.split()
        if int(fields[2]) == pid and state != "Z":
            found.append(int(path.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_workers_die_with_their_parent(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "boundcheck", "verify", "gappletron/*"]
    command += ["--jobs", "2", "--out", "out"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        while len(session(process.pid)) < 4 and process.poll() is None:
            time.sleep(0.05)  # this process, its helper and two workers
        workers = session(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL, "it was over before it could be killed"
    assert len(workers) > 3
    end = time.monotonic() + PATIENCE
    while session(process.pid) and time.monotonic() < end:
        time.sleep(0.05)
    left = session(process.pid)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []
    assert contents(tmp_path) == {}
