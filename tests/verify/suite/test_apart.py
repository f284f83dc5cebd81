"""User classes in a process of their own: whatever they do to it, the end is a verdict or an error."""

from __future__ import annotations

import functools
import os
import signal
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import pytest

from boundcheck import RefutedPromise, UserError, check_learner, parametrize_with_claims
from boundcheck.adversaries.one_hot import OneHot
from boundcheck.algorithms import graphs
from boundcheck.algorithms.gappletron import Gappletron
from boundcheck.algorithms.learner import Problem
from boundcheck.reports.cli import main
from boundcheck.verify.games.labels.play import Game
from boundcheck.verify.games.labels.record import ACTION, OBSERVED
from boundcheck.verify.games.labels.user_learner import UserLearner
from boundcheck.verify.suite import request as plan
from boundcheck.verify.suite import run as suite
from boundcheck.verify.suite.apart import apart, is_users
from boundcheck.verify.suite.pytest_checks import promised_claims

linux = pytest.mark.skipif(sys.platform != "linux", reason="played in this process elsewhere")

LEARNER = """
import os, signal, sys, tempfile
import numpy as np
{at_import}

class Mine:
    promises = ("game/*",)

    def __init__(self, problem):
        self.n, self.rounds = problem.graph.n_actions, 0
        {at_start}

    def predict(self, x):
        self.rounds += 1
        if self.rounds == 3:
            {in_play}
        return np.full(self.n, 1 / self.n)

    def update(self, x, action, label):
        pass
"""

ENDS = {
    "exits": ("os._exit(0)", r"exit status 0"),
    "kills itself": ("os.kill(os.getpid(), signal.SIGKILL)", r"signal 9"),
    "closes files of others": ("os.closerange(3, 4096)", r"exit status 1"),
}
HARMLESS = {
    "closes standard output": "os.closerange(1, 2)",
    "closes its stream": "sys.stdout.close()",
    "forks": "os.fork()",
    "leaves": "os.chdir(tempfile.gettempdir())",
}
WHERE = {"graph": "bandit", "adversary": "one-hot:n_labels=3"}


def written(folder: Path, **code: str) -> str:
    """A learner's file that runs some code, as FILE.py:Class."""
    file = folder / "mine.py"
    usual = {"at_import": "", "at_start": "pass", "in_play": "pass"}
    file.write_text(LEARNER.format(**usual | code), encoding="utf-8")
    return f"{file}:Mine"


def verified(
    learner: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *more: str
) -> tuple[int, list[str]]:
    """The exit status of the command line in a folder, and the files that it wrote there."""
    monkeypatch.chdir(folder)
    place = ("--graph", WHERE["graph"], "--adversary", WHERE["adversary"], "--out", "out")
    command = ("verify", "game/*", "--learner", learner, "--quick", "--quiet", *place, *more)
    monkeypatch.setattr(sys, "argv", ["boundcheck", *command])
    return main(), sorted(path.name for path in folder.glob("out/*"))


@linux
@pytest.mark.parametrize("way", ENDS)
def test_a_learner_that_ends_its_process_is_an_error(way: str, tmp_path: Path) -> None:
    code, end = ENDS[way]
    with pytest.raises(UserError, match=rf"played learner \S+mine.py:Mine ended without .*{end}"):
        check_learner(written(tmp_path, in_play=code), **WHERE)


@linux
@pytest.mark.parametrize("moment", ["at_import", "at_start", "in_play"])
def test_the_command_line_says_so(
    moment: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    learner = written(tmp_path, **{moment: "os._exit(0)"})
    assert verified(learner, tmp_path, monkeypatch) == (2, [])
    assert "mine.py:Mine ended without a result (exit status 0)" in capsys.readouterr().err


@linux
@pytest.mark.parametrize("way", HARMLESS)
def test_what_a_learner_does_to_its_process_does_not_change_the_result(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a relative path, which means another file where the learner went."""
    written(tmp_path, at_start=HARMLESS[way])
    status, files = verified("mine.py:Mine", tmp_path, monkeypatch)
    assert (status, "verdicts.json" in files) == (0, True)
    assert Path.cwd() == tmp_path


class Uniform:
    """Plays every action alike."""

    promises: tuple[str, ...] = ("game/*",)
    loss = "smooth-hinge"

    def __init__(self, problem: Problem) -> None:
        self.problem, self.n = problem, problem.graph.n_actions
        self.weights = np.zeros((problem.n_labels, problem.n_features))

    def predict(self, x: np.ndarray) -> np.ndarray:
        return np.full(self.n, 1 / self.n)

    def update(self, x: np.ndarray, action: int, label: int | None) -> None:
        pass


@linux
def test_a_class_of_a_function_is_played_apart() -> None:
    class Ends(Uniform):
        def update(self, x: np.ndarray, action: int, label: int | None) -> None:
            os._exit(0)

    with pytest.raises(UserError, match=r"learner Ends ended without a result"):
        check_learner(Ends, **WHERE)
    assert is_users(Ends)
    assert is_users(functools.partial(Uniform))
    assert not is_users(Gappletron)
    assert not is_users(Gappletron())
    assert not is_users("gappletron:gamma=1")


@linux
def test_an_interruption_ends_the_child(tmp_path: Path) -> None:
    note = tmp_path / "child"

    class Sleeps(Uniform):
        def update(self, x: np.ndarray, action: int, label: int | None) -> None:
            note.write_text(str(os.getpid()))
            os.kill(os.getppid(), signal.SIGINT)
            time.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        check_learner(Sleeps, **WHERE)
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


@linux
def test_exceptions_and_a_stop_half_way() -> None:
    def work() -> Iterator[int]:
        yield os.getpid()
        raise LookupError("of no kind that another process must know")

    found = apart(work, "a test")
    child = next(found)
    assert child != os.getpid()
    with pytest.raises(RuntimeError, match="LookupError: of no kind") as caught:
        next(found)
    assert "Traceback" in caught.value.__notes__[0]
    found = apart(work, "a test")
    child = next(found)
    found.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


@linux
def test_a_worker_that_dies_is_an_error_in_one_sentence(tmp_path: Path) -> None:
    learner = written(tmp_path, in_play="os._exit(0)")
    jobs = plan.jobs_for(plan.Request(("game/*",), learner, scale="quick"))
    with pytest.raises(UserError, match="worker process ended without a result") as caught:
        list(suite.run(jobs, 0, processes=2, patience=0.0))
    assert "\n" not in str(caught.value)


def test_a_learner_cannot_change_its_game() -> None:
    class Greedy(Uniform):
        def __init__(self, problem: Problem) -> None:
            super().__init__(problem)
            graph = problem.graph
            for array in (graph.observes, graph.in_degree, *graph.in_neighbours):
                array.flags.writeable = True
                array[:] = 1

        def update(self, x: np.ndarray, action: int, label: int | None) -> None:
            x[:] = 7.0

    sequence = OneHot(3).sequence(50, 0)
    game = Game(UserLearner(Greedy, "Greedy"), sequence, graphs.bandit(3))
    (block,) = game.play(0)
    assert (game.graph.observes == np.eye(3)).all()
    assert game.graph.in_degree.tolist() == [1, 1, 1]
    assert np.array_equal(block.columns[:, OBSERVED], block.columns[:, ACTION] == block.labels)
    assert np.array_equal(sequence.dense(), OneHot(3).sequence(50, 0).dense())


@linux
def test_a_certificate_of_a_learner_that_left_has_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, at_start=f"{HARMLESS['leaves']}; self.weights = np.eye(3)")
    file = tmp_path / "mine.py"
    promise = '("gappletron/lemma-1",)\n    loss, gamma = "smooth-hinge", 0.0'
    file.write_text(file.read_text("utf-8").replace('("game/*",)', promise), "utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RefutedPromise) as caught:
        check_learner("mine.py:Mine", **WHERE)
    assert caught.value.certificate is not None
    played = caught.value.certificate.content["game"]
    assert played["learner"] == "mine.py:Mine"
    assert played["learner_source"] == sha256(file.read_bytes()).hexdigest()


def test_a_test_of_nothing_is_skipped_with_the_reason() -> None:
    """A guesser for whom all games of a theorem are vacuous, and one of which the form that must hold is not judged."""
    guesser = type(
        "Guesser",
        (Uniform,),
        {"promises": ("gappletron/*",), "gamma": 12.0, "rule": "threshold", "regret_factor": 4.0},
    )
    with pytest.raises(SkipTest, match=r"^nothing was tested: gappletron/theorem-4a \(vacuous: "):
        check_learner(guesser, claims=["gappletron/theorem-4a"], **WHERE)
    with pytest.raises(SkipTest, match=r"gappletron/lemma-1 \(it is not promised\)"):
        check_learner(Uniform, claims=["gappletron/lemma-1"], **WHERE)
    undeclared = type("Undeclared", (Uniform,), {"promises": ("gappletron/algorithm-1",)})
    with pytest.raises(SkipTest, match=r"gappletron/algorithm-1 \(.*gamma"):
        check_learner(undeclared, **WHERE)


def test_promises_about_other_learners_only_warn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    both = type("Both", (Uniform,), {"promises": ("game/*", "boosting/*")})
    with pytest.warns(UserWarning, match=r"never tested: boosting/\* \(it is about other learners"):
        check_learner(both, **WHERE)
    learner = written(tmp_path)
    file = Path(learner.removesuffix(":Mine"))
    file.write_text(
        file.read_text("utf-8").replace('("game/*",)', '("game/*", "boosting/*")'), "utf-8"
    )
    monkeypatch.chdir(tmp_path)
    place = ["--graph", WHERE["graph"], "--adversary", WHERE["adversary"], "--quick"]
    monkeypatch.setattr(sys, "argv", ["boundcheck", "verify", "--learner", learner, *place])
    assert main() == 0
    assert "warning promised, but never tested: boosting/*" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (type("Typo", (Uniform,), {"promises": ("gapletron/*",)}), r"unknown claim 'gapletron/\*'"),
        (type("OneTypo", (Uniform,), {"promises": ("game/*", "game/x")}), "unknown claim 'game/x'"),
        (type("Silent", (Uniform,), {"promises": ()}), "promises nothing"),
        (functools.partial(Uniform), "expected promises of a class, not of a function"),
        (lambda problem: Uniform(problem), "expected promises of a class, not of a function"),
    ],
)
def test_a_learner_without_tests_is_an_error_when_they_are_collected(
    learner: Any, words: str
) -> None:
    with pytest.raises(UserError, match=words):
        parametrize_with_claims([Gappletron(), learner])
    assert promised_claims(Uniform) == ["game/no-peeking"]
