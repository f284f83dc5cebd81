"""Adaptive boosting: Adaboost.OLM with full information and AdaBandit with bandit feedback.

The votes of the weak learners are weighted, and expert i is the label with the highest score after the first i of
them. Hedge draws the expert that is followed. Each weight takes a step down the logistic loss, and learner i is told
the gradient of that loss at the scores before its own vote, under the weights of the round; AdaBandit does both with
estimates.

==============  =====================================================================
symbol          name here
==============  =====================================================================
alpha^i_t       ``alphas``, shape (N,), each in [-2, 2]
v^i_t           ``shares``, shape (N,)
i_t             ``followed``
eta_t           ``step``: 2 sqrt(2) / ((k - 1) sqrt(t)), or rho / (k^2 sqrt(t))
eta_H           ``hedge``, the rate of Hedge
f'              ``slopes`` of logistic.py
==============  =====================================================================

tuning     rho                                            hedge
=========  =============================================  ==================================
default    min{1/2, k N^(2/3) / (T N gamma^2)^(1/3)}      1, as in the authors' code
ones       min{1/2, T^(-1/3)}                             1
theory     that of ``default``                            sqrt(2 rho ln N / ((k - 1) T))
=========  =============================================  ==================================

The paper's rate has the sum of the squared edges, which nobody knows before play; ``gamma`` stands for each of them.
With full information there is no rho, and the last rate is sqrt(8 ln N / T).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import softmax

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
from .hedge import draw
from .logistic import cost_matrix, slopes
from .weak import FloatArray, IntArray

LIMIT = 2.0
"""The weights are kept in [-2, 2]."""


@dataclass(frozen=True)
class _Adaptive(Booster):
    hedge: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_number("hedge", self.hedge)


class _Following(Boosting):
    def __init__(self, booster: Booster, problem: Problem, generator: Generator) -> None:
        super().__init__(booster, problem, generator)
        n, k = self.n_learners, self.n_labels
        self.hedge = booster.numbers(problem)["hedge"]
        self.alphas = np.zeros(n)
        self.losses_of_experts = np.zeros(n)
        self.labels: IntArray = np.zeros(n, dtype=np.int64)
        self.experts: IntArray = np.zeros(n, dtype=np.int64)
        self.before, self.after = np.zeros((n, k)), np.zeros((n, k))
        self.followed = 0

    @property
    def shares(self) -> FloatArray:
        """Probability that Hedge follows each expert."""
        found: FloatArray = softmax(-self.hedge * self.losses_of_experts)
        return found

    def follow(self, x: FloatArray) -> int:
        """The label of the expert that was drawn."""
        self.round += 1
        self.labels = self.ask(x)
        self.after = one_hot(self.labels, self.alphas, self.n_labels).cumsum(axis=0)
        self.before = np.concatenate([np.zeros((1, self.n_labels)), self.after[:-1]])
        self.experts = self.highest(self.after)
        self.followed = int(draw(self.shares[None], self.generator.random(1))[0])
        self.best = int(self.experts[self.followed])
        return self.best

    def slopes(self) -> FloatArray:
        """Derivative of the loss in each weight for each true label, shape (N, k)."""
        return slopes(self.before, self.labels, self.alphas)

    def descend(self, gradient: FloatArray, step: float, losses: FloatArray) -> None:
        """Move the weights against ``gradient``, shape (N,), and let Hedge see the losses of the experts."""
        self.alphas = np.clip(self.alphas - step * gradient, -LIMIT, LIMIT)
        self.losses_of_experts = self.losses_of_experts + losses


@dataclass(frozen=True)
class AdaboostOLM(_Adaptive):
    """Adaboost.OLM: adaptive boosting with full information.

    Parameters
    ----------
    hedge : rate of Hedge, above 0; set by the tuning where None

    Raises
    ------
    UserError
        for a parameter out of range
    """

    tunings: ClassVar[Mapping[str, str]] = {
        "default": "hedge = 1",
        "ones": "hedge = 1",
        "theory": "hedge = sqrt(8 ln N / T)",
    }

    def numbers(self, problem: Problem) -> dict[str, float]:
        if self.hedge is not None:
            return {"hedge": self.hedge}
        known = math.sqrt(8 * math.log(self.learners) / problem.horizon)
        return {"hedge": known if self.tuning == "theory" else 1.0}

    def begin(self, problem: Problem, generator: Generator) -> Boosting:
        return _OnlineFollowing(self, problem, generator)

    def player(self, problem: Problem) -> Player:
        return ready(self, problem)


class _OnlineFollowing(_Following):
    def predict(self, x: FloatArray) -> FloatArray:
        return certain(self.follow(x), self.n_labels)

    def update(self, x: FloatArray, action: int, label: int | None) -> None:
        y, k = revealed(label), self.n_labels
        gradient = self.slopes()[:, y]
        costs, weights = normalised(cost_matrix(self.before)[:, y], y)
        self.tell(x, costs, np.minimum(weights / (k * (k - 1)), 1))
        step = 2 * math.sqrt(2) / ((k - 1) * math.sqrt(self.round))
        self.descend(gradient, step, (self.experts != y).astype(np.float64))


@dataclass(frozen=True)
class AdaBandit(BanditBooster, _Adaptive):
    """AdaBandit: adaptive boosting with bandit feedback.

    Parameters
    ----------
    hedge : rate of Hedge, above 0; set by the tuning where None
    gamma : the edge that the tuning of rho takes every weak learner to have, in (0, 1]

    Raises
    ------
    UserError
        for a parameter out of range
    """

    gamma: float = 0.1
    tunings: ClassVar[Mapping[str, str]] = {
        "default": "rho = min{1/2, k N^(2/3) / (T N gamma^2)^(1/3)}, hedge = 1",
        "ones": "rho = min{1/2, T^(-1/3)}, hedge = 1",
        "theory": "rho of default, hedge = sqrt(2 rho ln N / ((k - 1) T))",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_number("gamma", self.gamma, 1.0)

    def numbers(self, problem: Problem) -> dict[str, float]:
        k, n, horizon = problem.n_labels, self.learners, problem.horizon
        rho, hedge = self.rho, self.hedge
        if rho is None:
            ones = self.tuning == "ones"
            factor = 1.0 if ones else k * math.pow(n * self.gamma * self.gamma, -1 / 3)
            size = 1.0 if ones else math.pow(n, 2 / 3)
            rho = min(0.5, factor * size * math.pow(horizon, -1 / 3))
        if hedge is None:
            known = math.sqrt(2 * rho * math.log(n) / ((k - 1) * horizon))
            hedge = known if self.tuning == "theory" else 1.0
        return {"rho": rho, "hedge": hedge}

    def begin(self, problem: Problem, generator: Generator) -> Boosting:
        return _BanditFollowing(self, problem, generator)

    def player(self, problem: Problem) -> Player:
        return ready(self, problem)


class _BanditFollowing(_Following):
    def __init__(self, booster: AdaBandit, problem: Problem, generator: Generator) -> None:
        super().__init__(booster, problem, generator)
        self.rho = booster.numbers(problem)["rho"]
        check_rate(self.rho, self.n_labels)
        self.losses = np.zeros(self.n_labels)
        self.p = np.zeros(self.n_labels)

    def predict(self, x: FloatArray) -> FloatArray:
        self.p = exploration(self.follow(x), self.rho, self.n_labels)
        return self.p

    def update(self, x: FloatArray, action: int, label: int | None) -> None:
        k = self.n_labels
        self.losses = loss_estimate(self.best, action, label == action, self.p)
        gradient = estimate(self.losses, self.slopes().T)
        costs = estimate(self.losses, cost_matrix(self.before).swapaxes(0, 1))
        self.tell(x, costs / (k * (k - 1)), np.ones(self.n_learners))
        step = self.rho / (k * k * math.sqrt(self.round))
        self.descend(gradient, step, self.losses[self.experts])
