"""What is played twice must come out the same before a learner is accused of anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from boundcheck.algorithms.gappletron import Gappletron
from boundcheck.algorithms.learner import Declaration, Player, Problem
from boundcheck.algorithms.losses import SmoothHinge
from boundcheck.algorithms.uniform import Uniform
from boundcheck.verify.claim import Cell, Claim, Form, Proof
from boundcheck.verify.claims.papers import GAPPLETRON
from boundcheck.verify.games.labels.case import Case
from boundcheck.verify.games.labels.rounds import Rounds
from boundcheck.verify.games.labels.user_learner import UserLearner
from boundcheck.verify.judges.decide import decide
from boundcheck.verify.judges.pathwise import Pathwise, Sides
from boundcheck.verify.outcome import Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite
from boundcheck.verify.suite.judging import judge_cells


class Fair:
    """Plays every action alike."""

    promises = ("game/*", "gappletron/lemma-1")
    loss, gamma = "smooth-hinge", 1.0

    def __init__(self, problem: Problem) -> None:
        self.p = np.full(problem.graph.n_actions, 1 / problem.graph.n_actions)
        self.weights = np.zeros((problem.n_labels, problem.n_features))

    def predict(self, x: np.ndarray) -> np.ndarray:
        return self.p

    def update(self, x: np.ndarray, action: int, label: int | None) -> None:
        pass


class Moody(Fair):
    """Draws without a seed."""

    def predict(self, x: np.ndarray) -> np.ndarray:
        tilt = np.random.default_rng().uniform(0, 1e-11)
        return self.p * (1 - tilt) + tilt * np.eye(len(self.p))[0]


class Shared(Fair):
    """What one instance learns, all know."""

    seen: ClassVar[list[int]] = []

    def predict(self, x: np.ndarray) -> np.ndarray:
        tilt = 1 - 0.9 ** len(self.seen)
        return self.p * (1 - tilt) + tilt * np.eye(len(self.p))[0]

    def update(self, x: np.ndarray, action: int, label: int | None) -> None:
        if label is not None:
            self.seen.append(label)


class Reformed(Fair):
    """Is sure of the first label without any reason, until it is looked at again."""

    played: ClassVar[int] = 0

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.weights[0] = 1.0
        self.run = 0

    def predict(self, x: np.ndarray) -> np.ndarray:
        if not self.run:  # one that is only asked what it declares never plays
            type(self).played += 1
            self.run = self.played
        return np.eye(len(self.p))[0] if self.run == 1 else self.p


def setting(learner: Any, horizon: int = 60) -> Setting:
    return Setting(learner, "one-hot:n_labels=3,noise=0.05", "bandit", horizon, None, 1)


def verdict(learner: type, claim: str) -> suite.Row:
    played = setting(UserLearner(learner, learner.__name__))
    return suite.judge_job(suite.Job(played, (claim,), users=True), 0)[-1]


@pytest.mark.parametrize("learner", [Moody, Shared])
def test_a_learner_that_does_not_repeat_itself_is_not_called_a_peeker(learner: type) -> None:
    Shared.seen.clear()
    row = verdict(learner, "game/no-peeking")
    assert row.verdict == Verdict.ERROR
    assert row.outcome.certificate is None
    assert f"learner {learner.__name__} played run 0 twice and gave" in row.outcome.evidence
    assert "expected it to be deterministic" in row.outcome.evidence
    assert verdict(Fair, "game/no-peeking").verdict == Verdict.HOLDS


def test_a_violation_that_is_not_there_when_played_again_is_an_error() -> None:
    case = resolve(setting(UserLearner(Reformed, "Reformed")), 0)
    Reformed.played = 0
    always = Form("printed", "", Proof.PROVED, "a mistake is never sure")
    ((_, outcome),) = judge_cells(case, [Cell(SURE, always, case)], 1)
    assert Reformed.played == 2, "it was played again"
    assert outcome.verdict == Verdict.ERROR
    assert outcome.certificate is None
    assert "round 0 is not there when the game is played again" in outcome.evidence


def _sure(case: Case, form: Form, rounds: Rounds) -> Sides:
    errors, one = 1 - rounds.block.probabilities.max(axis=1), np.zeros(len(rounds))
    return Sides(np.where(errors == 0, 1.0, 0.0), one, one)


SURE = Claim("test/sure", "", GAPPLETRON, (), Pathwise(_sure))


def _missing_from_round_5(bad: int) -> Claim:
    """A claim whose numbers are missing from round 5 on, violated in round ``bad``."""

    def sides(case: Case, form: Form, rounds: Rounds) -> Sides:
        observed = np.zeros(len(rounds))
        observed[bad] = 2.0
        observed[5:] = np.nan
        return Sides(observed, np.ones(len(rounds)), np.zeros(len(rounds)))

    return Claim("test/missing", "", GAPPLETRON, (), Pathwise(sides))


@pytest.mark.parametrize(("bad", "verdict"), [(3, Verdict.REFUTED), (20, Verdict.NOT_APPLICABLE)])
def test_a_violation_already_seen_outlives_numbers_that_go_missing(
    bad: int, verdict: Verdict
) -> None:
    case = resolve(setting(Gappletron()), 0)
    claim = _missing_from_round_5(bad)
    watch = claim.judge.watch(Cell(claim, Form("printed", "", Proof.PROVED, ""), case))
    for rounds in case.play(0):
        watch.see(0, rounds)
    outcome = decide(watch.evidence())
    assert outcome.verdict == verdict
    if verdict == Verdict.REFUTED:
        assert outcome.evidence.startswith("certified: run 0, round 3")


class Unknown(Uniform):
    """A learner in the library's form whose weights are no numbers."""

    spec = "unknown"

    def player(self, problem: Problem) -> Player:
        nothing = np.full((problem.n_features, problem.n_labels), np.nan)
        declared = Declaration(SmoothHinge(), {"gamma": 1.0, "rule": "threshold"})
        return replace(super().player(problem), weights=nothing, declaration=declared)


@pytest.mark.parametrize("claim", ["gappletron/algorithm-1", "gappletron/bound-9"])
def test_scores_that_are_no_numbers_refute_nothing(claim: str) -> None:
    rows = suite.judge_job(suite.Job(setting(Unknown()), (claim,)), 0)
    assert {row.verdict for row in rows} == {Verdict.NOT_APPLICABLE}
