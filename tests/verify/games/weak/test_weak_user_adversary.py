"""Adversaries of weak learners of the user's: plain classes, oblivious or with costs that follow what was predicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.adversaries.weak_learning.planted import FollowingCosts, PlantedStump
from boundcheck.adversaries.weak_learning.stream import WeakStream
from boundcheck.errors import LearnerError, UserError
from boundcheck.verify import catalog
from boundcheck.verify.games.weak.case import Case
from boundcheck.verify.games.weak.play import play_runs
from boundcheck.verify.games.weak.user_adversary import ChosenCosts
from boundcheck.verify.outcome import Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite
from boundcheck.verify.suite.request import Request, jobs_for

ALWAYS = FollowingCosts(right=10)
"""The stump is right in every round, so that the costs of every round follow."""


class Plain:
    """The rounds of a planted stump, as four arrays."""

    def stream(self, horizon: int, seed: int) -> Any:
        made = ALWAYS.stream(horizon, seed)
        self.labels = made.labels
        return made.features.tolist(), made.labels.tolist(), made.weights.tolist(), made.costs


class Following(Plain):
    """All of the cost falls on the wrong label predicted most often so far."""

    def costs(self, t: int, predicted: np.ndarray) -> Any:
        often = predicted.tolist()
        often[self.labels[t]] = -1
        return [float(label == often.index(max(often))) for label in range(len(often))]


class Whole(Plain):
    """The same, of a stream with a planted stump and noise of its own."""

    costs = Following.costs

    def stream(self, horizon: int, seed: int) -> WeakStream:
        made = PlantedStump(right=10, noise="push+size=0.25").stream(horizon, seed)
        self.labels = made.labels
        return made


class Stumps:
    """Follows the first feature, and declares that."""

    edge, delta, excess_loss, anytime = 0.3, 0.05, 5.0, True

    def __init__(self, problem: Any) -> None:
        self.last = problem.n_labels - 1

    def predict(self, x: np.ndarray) -> int:
        return self.last if x[0] > 0 else 0

    def update(self, x: np.ndarray, cost: np.ndarray, weight: float) -> None:
        pass


def spec(name: str) -> str:
    return f"{Path(__file__)}:{name}"


def resolved(learner: str, adversary: str, graph: str = "full", horizon: int = 120) -> Case:
    found = resolve(Setting(learner, adversary, graph, horizon), 0)
    assert isinstance(found, Case)
    return found


def test_costs_that_follow_are_those_of_the_library() -> None:
    learner = "hedge-stump:rate=0.3"
    theirs = resolved(learner, spec("Following"))
    ours = resolved(learner, ALWAYS.spec)
    assert isinstance(theirs.stream, ChosenCosts)
    assert theirs.is_adaptive
    assert ours.is_adaptive
    paid = play_runs(theirs, range(6)).costs
    assert (paid == play_runs(ours, range(6)).costs).all()
    assert len(np.unique(paid[:, -1])) > 1, "costs depend on what was predicted"
    assert not resolved(learner, spec("Plain")).is_adaptive


def test_what_is_planted_is_not_known_to_be_good_once_costs_are_chosen() -> None:
    case = resolved("hedge-stump", spec("Whole"))
    assert case.stream.planted is None
    assert case.stream.noise == PlantedStump(noise="push+size=0.25").stream(1, 0).noise
    assert case.problem.edge == 0
    assert "no hypothesis of hedge-stump is known to be good enough" in str(case.declaration)


def test_an_adaptive_adversary_meets_the_forms_about_such_and_no_others() -> None:
    claims = ("boosting/bandit-wlc", "boosting/excess-loss-order", "boosting/wlc-derivation")
    setting = Setting(spec("Stumps"), spec("Following"), "bandit", 60)
    rows = suite.judge_job(suite.Job(setting, claims, True, 64), 0)
    verdicts = {(row.claim, row.form): row.verdict for row in rows}
    assert verdicts.pop((claims[0], "reconstructed")) == Verdict.HOLDS
    assert set(verdicts.values()) == {Verdict.NOT_APPLICABLE}
    others = [row.outcome.evidence for row in rows if row.claim != claims[0]]
    assert len(others) == 4
    assert all(
        "oblivious adversaries, and this one sees what was played" in told for told in others
    )


def test_the_regret_of_hedge_holds_against_an_adaptive_adversary() -> None:
    claims = ("boosting/agnostic-regret", "boosting/agnostic-learnability")
    for graph in ("full", "bandit"):
        setting = Setting("hedge-stump:rate=0.1", spec("Whole"), graph, 200, runs=64)
        rows = suite.judge_job(suite.Job(setting, claims, True), 0)
        assert [row.verdict for row in rows] == [Verdict.HOLDS, Verdict.HOLDS]


def test_it_is_met_by_those_who_can_read_what_it_shows() -> None:
    request = Request(("boosting/*",), adversary=spec("Following"), scale="quick", rounds=50)
    jobs = jobs_for(request)
    assert {job.setting.learner for job in jobs} == {"hedge-stump", "hedge-advice"}
    assert {job.setting.horizon for job in jobs} == {50}


class Measured(Plain):
    """Features that are no labels, which those who follow advice cannot read."""

    def stream(self, horizon: int, seed: int) -> Any:
        features, *rest = super().stream(horizon, seed)
        return [[x - 0.5 for x in row] for row in features], *rest


def test_features_that_are_no_labels_are_not_shown_to_those_who_follow_advice() -> None:
    request = Request(("boosting/*",), adversary=spec("Measured"), scale="quick", rounds=50)
    jobs = jobs_for(request)
    assert {job.setting.learner for job in jobs} == {"hedge-stump"}
    rows = [row for job in jobs for row in suite.judge_job(job, 0)]
    assert Verdict.HOLDS in {row.verdict for row in rows}
    assert Verdict.ERROR not in {row.verdict for row in rows}


def test_one_in_the_form_of_the_library_is_made_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from boundcheck.adversaries.weak_learning.planted import PlantedStump\n"
        "class Mine(PlantedStump):\n    pass\n",
        encoding="utf-8",
    )
    made = catalog.adversary(f"{file}:Mine")
    assert isinstance(made, PlantedStump)
    assert made.stream(5, 0).n_labels == 3


class Wordy(Plain):
    def stream(self, horizon: int, seed: int) -> Any:
        return "four"


class Halves(Plain):
    def stream(self, horizon: int, seed: int) -> Any:
        x, y, w, c = super().stream(horizon, seed)
        return x, [label + 0.5 for label in y], w, c


class Heavy(Plain):
    def stream(self, horizon: int, seed: int) -> Any:
        x, y, w, c = super().stream(horizon, seed)
        return x, y, [2.0 for _ in w], c


class Short(Plain):
    def stream(self, horizon: int, seed: int) -> Any:
        return super().stream(horizon - 1, seed)


class Raising(Plain):
    def stream(self, horizon: int, seed: int) -> Any:
        raise KeyError("lost")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Wordy", r"returned 'four': expected features, labels, weights and costs \("),
        ("Halves", r"expected features, labels, weights and costs \(labels that are no integers\)"),
        ("Heavy", r":Heavy: weight 2\.0 of round 0: expected a number in \[0, 1\]\.$"),
        ("Short", r"returned 119 rounds: expected 120\.$"),
        ("Raising", r":Raising raised KeyError in stream: 'lost'\.$"),
    ],
)
def test_rounds_that_are_none_are_told_in_one_sentence(name: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        resolved("hedge-stump", spec(name))


class Dear(Plain):
    def costs(self, t: int, predicted: np.ndarray) -> Any:
        return [1.0] * len(predicted)


class Costly(Plain):
    def costs(self, t: int, predicted: np.ndarray) -> Any:
        raise RuntimeError("no")


class Meddling(Following):
    def costs(self, t: int, predicted: np.ndarray) -> Any:
        predicted[:] = 7
        return super().costs(t, np.zeros(3))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "Dear",
            r"chose the costs \[1\.0, 1\.0, 1\.0\] in round 0: expected 3 numbers of at least 0",
        ),
        ("Costly", r"raised RuntimeError in costs of round 0: no"),
    ],
)
def test_costs_that_are_none_are_told_in_one_sentence(name: str, told: str) -> None:
    with pytest.raises(LearnerError, match=told):
        play_runs(resolved("hedge-stump", spec(name)), range(1))


def test_counts_that_are_changed_are_not_the_games() -> None:
    case = resolved("hedge-stump", spec("Meddling"))
    counts = np.array([[1, 2, 3]])
    case.stream.costs_at(0, counts)
    assert counts.tolist() == [[1, 2, 3]]
