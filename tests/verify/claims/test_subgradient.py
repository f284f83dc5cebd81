"""Ties of runners-up: any subgradient is right, and the one that was taken enters the sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from right_learners import (
    LastIndex,
    Leader,
    Right,
)

from boundcheck import RefutedPromise, check_learner
from boundcheck.verify.games.labels.record import GRADIENT, Block
from boundcheck.verify.games.labels.user_learner import UserLearner
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting

KEYWORDS = "keywords:keyword_scale=1,n_labels=5,noise=0.05"


def case_of(learner: Any, adversary: Any = KEYWORDS, graph: str = "filtering", horizon: int = 60):
    return resolve(Setting(UserLearner(learner, "own"), adversary, graph, horizon, 1.0, 1), 0)


class Drawn(LastIndex):
    """Shares of the tied runners-up that are drawn anew in each round."""

    def __init__(self, problem: Any) -> None:
        super().__init__(problem)
        self.dice = np.random.default_rng(3)
        self.sizes: list[float] = []

    def rivals_of(self, others: Any) -> Any:
        tied = others == others.max()
        shares = self.dice.random(len(others)) * tied
        return shares / shares.sum()

    def step(self, gradient: Any) -> None:
        self.sizes.append(float((gradient**2).sum()))
        super().step(gradient)


class DrawnLeader(Leader, Drawn):
    def step(self, gradient: Any) -> None:
        self.sizes.append(float((gradient**2).sum()))
        Leader.step(self, gradient)


class DrawnUnprojected(Drawn):
    optimiser = "unprojected"

    def step(self, gradient: Any) -> None:
        self.sizes.append(float((gradient**2).sum()))
        self.weights -= gradient / np.sqrt(1e-8 + self.squares)


class DrawnHinge(Drawn):
    loss = "hinge"


@pytest.mark.parametrize("learner", [Drawn, DrawnLeader, DrawnUnprojected, DrawnHinge])
@pytest.mark.parametrize("graph", ["full", "bandit"])
def test_the_subgradient_that_was_taken_enters_the_sums(learner, graph: str) -> None:
    made: list[Any] = []

    class Watched(learner):
        def __init__(self, problem: Any) -> None:
            super().__init__(problem)
            made.append(self)

    case = case_of(Watched, "one-hot:n_labels=6,noise=0.1", graph, 200)
    block: Block = next(case.play(0)).block
    found = (block.weights**2 * block.column(GRADIENT))[block.weights > 0]
    stated = made[-1].sizes
    assert np.allclose(found[found > 0], [size for size in stated if size > 0], rtol=1e-9)
    first = next(case.game.play(0, trace=True)).column(GRADIENT)
    assert (block.column(GRADIENT) < first).any()


def wrong(change: Any) -> type[Right]:
    class Wrong(Right):
        def rivals_of(self, others: Any) -> Any:
            return change(others)

    return Wrong


def too_much_of_one(others: Any) -> Any:
    tied = np.flatnonzero(others == others.max())
    shares = np.eye(len(others))[tied[0]]
    return shares if len(tied) == 1 else 1.5 * shares - 0.5 * np.eye(len(others))[tied[1]]


def shares_that_sum_to_less(others: Any) -> Any:
    tied = others == others.max()
    return tied / (tied.sum() + (tied.sum() > 1))


def not_a_runner_up(others: Any) -> Any:
    finite = np.where(np.isfinite(others), others, np.inf)
    return np.eye(len(others))[len(others) - 1 - np.argmin(finite[::-1])]


@pytest.mark.parametrize("change", [too_much_of_one, shares_that_sum_to_less, not_a_runner_up])
def test_a_step_along_no_subgradient_is_refuted(change) -> None:
    with pytest.raises(RefutedPromise, match="updates"):
        check_learner(
            wrong(change), claims=["gappletron/updates"], graph="full", adversary=KEYWORDS
        )


def test_weights_that_stay_at_zero_are_no_step_at_all() -> None:
    class Never(Right):
        def step(self, gradient: Any) -> None:
            pass

    with pytest.raises(RefutedPromise, match=r"updates.*round [1-9]"):
        check_learner(Never, claims=["gappletron/updates"], graph="full", adversary=KEYWORDS)


# Every round is followed


class FreezesLate(Right):
    labels = 0

    def step(self, gradient: Any) -> None:
        self.labels += 1
        if self.labels <= 450:
            super().step(gradient)


@pytest.mark.parametrize("scale", ["quick", "default"])
def test_what_goes_wrong_after_450_labels_is_found_in_games_that_are_that_long(scale: str) -> None:
    found = {"graph": "full", "adversary": "one-hot:n_labels=3,noise=0.05", "scale": scale}
    if scale == "quick":
        rows = check_learner(FreezesLate, claims=["gappletron/updates"], **found)
        assert {row.verdict for row in rows} == {"holds"}
        assert all("in 600 rounds of 2 runs followed" in row.outcome.evidence for row in rows)
    else:
        with pytest.raises(RefutedPromise, match=r"updates.*round 4[5-9]\d"):
            check_learner(FreezesLate, claims=["gappletron/updates"], **found)
