"""Boosting by majority: OnlineMBBM with full information and BanditBBM with bandit feedback.

The label with most votes of the weak learners wins. Learner i is told the potentials of the votes before its own with
one more for each label, N - i votes being still to come; BanditBBM tells an estimate of it.

==============  =====================================================================
symbol          name here
==============  =====================================================================
gamma           ``gamma``, the edge that the potentials count on
w^{i*}          ``scales``: the largest weight, k - 1 (``trivial``) or by enumeration (``exact``)
rho             ``rho``, the exploration rate
==============  =====================================================================

tuning     rho
=========  =====================================================================
default    min{1/2, k^(7/4) N^(1/4) / sqrt(T)}, the paper's
ones       min{1/2, 1 / sqrt(T)}
theory     that of ``default``
=========  =====================================================================

With ties broken at random the potentials count them so, otherwise as an error, which the lowest index can only
improve on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import require, unknown
from ..baseline import NOTHING
from ..learner import Player, Problem
from .booster import (
    BanditBooster,
    Booster,
    Boosting,
    Generator,
    certain,
    normalised,
    one_hot,
    ready,
    revealed,
)
from .estimates import check_rate, estimate, exploration, loss_estimate
from .potentials import Potentials
from .weak import FloatArray, IntArray

SCALES = ("trivial", "exact")


@dataclass(frozen=True)
class _Majority(Booster):
    gamma: float = 0.1
    scale: str = "trivial"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.gamma < 1, f"gamma={self.gamma}: expected an edge in [0, 1).")
        if self.scale not in SCALES:
            raise unknown("scale", self.scale, SCALES)

    def potentials(self, n_labels: int) -> Potentials:
        """The potentials, with the tie rule that goes with that of the vote."""
        return Potentials(n_labels, self.gamma, "random" if self.ties == "random" else "error")

    def scales(self, n_labels: int) -> FloatArray:
        """What the weights of each weak learner are divided by, shape (N,)."""
        if self.scale == "trivial":
            return np.full(self.learners, n_labels - 1.0)
        made = self.potentials(n_labels)
        return np.array(
            [made.largest_weight(i, self.learners - 1 - i) for i in range(self.learners)]
        )


class _Voting(Boosting):
    def __init__(self, booster: _Majority, problem: Problem, generator: Generator) -> None:
        super().__init__(booster, problem, generator)
        self.potentials = booster.potentials(self.n_labels)
        self.scales = booster.scales(self.n_labels)
        self.labels: IntArray = np.zeros(self.n_learners, dtype=np.int64)
        self.before = np.zeros((self.n_learners, self.n_labels), dtype=np.int64)

    def vote(self, x: FloatArray) -> int:
        """The label with most votes."""
        self.round += 1
        self.labels = self.ask(x)
        cast = one_hot(self.labels, 1, self.n_labels)
        after = cast.cumsum(axis=0)
        self.before = after - cast
        self.best = int(self.highest(after[-1:])[0])
        return self.best

    def remaining(self, i: int) -> int:
        """How many weak learners vote after learner i, from 0."""
        return self.n_learners - 1 - i

    def cost_matrices(self) -> FloatArray:
        """C^i of every weak learner, shape (N, k, k)."""
        return np.array(
            [
                self.potentials.cost_matrix(votes, self.remaining(i))
                for i, votes in enumerate(self.before)
            ]
        )


@dataclass(frozen=True)
class OnlineMBBM(_Majority):
    """OnlineMBBM: boosting by majority with full information.

    Parameters
    ----------
    gamma : edge of the weak learners, in [0, 1)
    scale : "trivial" or "exact", what weights are divided by so that they lie in [0, 1]

    Raises
    ------
    UserError
        for a parameter out of range
    """

    tunings: ClassVar[Mapping[str, str]] = NOTHING

    def begin(self, problem: Problem, generator: Generator) -> Boosting:
        return _OnlineVoting(self, problem, generator)

    def player(self, problem: Problem) -> Player:
        return ready(self, problem)


class _OnlineVoting(_Voting):
    def predict(self, x: FloatArray) -> FloatArray:
        return certain(self.vote(x), self.n_labels)

    def update(self, x: FloatArray, action: int, label: int | None) -> None:
        y = revealed(label)
        raw = np.array(
            [
                self.potentials.costs(votes, y, self.remaining(i))
                for i, votes in enumerate(self.before)
            ]
        )
        costs, weights = normalised(raw, y)
        self.tell(x, costs, np.minimum(weights / self.scales, 1))


@dataclass(frozen=True)
class BanditBBM(BanditBooster, _Majority):
    """BanditBBM: boosting by majority with bandit feedback.

    Parameters
    ----------
    gamma, scale : as those of :class:`OnlineMBBM`

    Raises
    ------
    UserError
        for a parameter out of range
    """

    tunings: ClassVar[Mapping[str, str]] = {
        "default": "rho = min{1/2, k^(7/4) N^(1/4) / sqrt(T)}",
        "ones": "rho = min{1/2, 1/sqrt(T)}",
        "theory": "that of default",
    }

    def numbers(self, problem: Problem) -> dict[str, float]:
        if self.rho is not None:
            return {"rho": self.rho}
        factor = 1.0
        if self.tuning != "ones":
            factor = math.pow(problem.n_labels, 1.75) * math.pow(self.learners, 0.25)
        return {"rho": min(0.5, factor / math.sqrt(problem.horizon))}

    def begin(self, problem: Problem, generator: Generator) -> Boosting:
        return _BanditVoting(self, problem, generator)

    def player(self, problem: Problem) -> Player:
        return ready(self, problem)


class _BanditVoting(_Voting):
    def __init__(self, booster: BanditBBM, problem: Problem, generator: Generator) -> None:
        super().__init__(booster, problem, generator)
        self.rho = booster.numbers(problem)["rho"]
        check_rate(self.rho, self.n_labels)
        self.losses = np.zeros(self.n_labels)
        self.p = np.zeros(self.n_labels)

    def predict(self, x: FloatArray) -> FloatArray:
        self.p = exploration(self.vote(x), self.rho, self.n_labels)
        return self.p

    def update(self, x: FloatArray, action: int, label: int | None) -> None:
        self.losses = loss_estimate(self.best, action, label == action, self.p)
        costs = estimate(self.losses, self.cost_matrices().swapaxes(0, 1))
        self.tell(x, costs / self.scales[:, None], np.ones(self.n_learners))
