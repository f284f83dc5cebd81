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
eta_t           ``step`` / sqrt(t); where it is not given 2 sqrt(2) / ((k - 1) sqrt(t)), or rho / (k^2 sqrt(t))
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

The paper's step with estimates fits slopes of up to 2 k^2/rho. For two labels and rho up to 1/2 no estimated slope
exceeds 1, and the bound on the regret is least for ``step`` = 2 sqrt(2): see the claims
``boosting/slope-estimate-bounded`` and ``boosting/sgd-regret-bandit``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from ...arrays import FloatArray, IntArray
from ...compiled import helper, kernel, workspace
from ..learner import Player, Problem
from .booster import BanditBooster, Booster, ready
from .boosting import (
    ALPHA,
    ASSESS,
    BEST,
    EXPERT_LOSS,
    EXPERTS,
    FOLLOWED,
    HEDGE,
    LEARNS,
    RANDOM,
    REVEALED,
    RHO,
    ROUND,
    SCALE,
    STEP,
    VOTE,
    Boosting,
    Generator,
    assess_losses,
    highest,
    share_out,
)
from .estimates import explore
from .logistic import slopes
from .weak import drawn

LIMIT = 2.0
"""The weights are kept in [-2, 2]."""


@dataclass(frozen=True)
class _Adaptive(Booster):
    hedge: Annotated[float | None, "(0, inf)"] = None
    step: Annotated[float | None, "(0, inf)"] = None

    def declared(self, numbers: Mapping[str, float]) -> dict[str, float]:
        """The numbers with the first step, where it is given."""
        given = {} if self.step is None else {"step": self.step}
        return super().declared({**numbers, **given})

    def first_step(self, n_labels: int, rho: float | None) -> float:
        """The step of the first round, that of round t times sqrt(t); ``rho`` is None with full information."""
        if self.step is not None:
            return self.step
        return 2 * math.sqrt(2) / (n_labels - 1) if rho is None else rho / n_labels**2

    def begin(
        self, problem: Problem, generator: Generator, *, interpreted: bool = False
    ) -> Following:
        return Following(self, problem, generator, interpreted)


@kernel(VOTE)
def _vote(
    dice: FloatArray,
    parameters: FloatArray,
    labels: IntArray,
    scores: Any,
    learners: Any,
    counts: IntArray,
    p: FloatArray,
) -> None:
    n, k = labels.shape[0], p.shape[0]
    at_random = parameters[RANDOM] > 0.0
    shares = workspace(n)
    counts[ROUND] += 1
    least = math.inf
    for i in range(n):
        for label in range(k):
            scores[i + 1, label] = scores[i, label]
        scores[i + 1, labels[i]] += learners[ALPHA, i]
        die = dice[i] if at_random else 0.0
        counts[EXPERTS + i] = highest(scores[i + 1], die, at_random)
        loss = learners[EXPERT_LOSS, i]
        least = loss if loss < least else least
    for i in range(n):
        shares[i] = math.exp(-parameters[HEDGE] * (learners[EXPERT_LOSS, i] - least))
    counts[FOLLOWED] = drawn(shares, dice[dice.shape[0] - 1])
    counts[BEST] = counts[EXPERTS + counts[FOLLOWED]]
    explore(counts[BEST], parameters[RHO], p)


@helper
def _move(label: int, scores: FloatArray, sigmoids: FloatArray) -> None:
    """Bring 1/(1 + exp(s_r - s_l)), at r k + l, up to date after the score of ``label`` has changed."""
    k = scores.shape[0]
    for r in range(k):
        if r != label:
            lead = scores[label] - scores[r]
            shrunk = math.exp(-lead if lead > 0.0 else lead)
            larger = 1.0 / (1.0 + shrunk)
            smaller = shrunk * larger
            sigmoids[r * k + label] = larger if lead > 0.0 else smaller
            sigmoids[label * k + r] = smaller if lead > 0.0 else larger


@helper
def _add_costs(label: int, share: float, sigmoids: FloatArray, costs: FloatArray) -> None:
    """Add a share of the gradient of the loss if ``label`` is the true one."""
    k, total = costs.shape[0], 0.0
    for r in range(k):
        if r != label:
            total += sigmoids[label * k + r]
            costs[r] += share * sigmoids[label * k + r]
    costs[label] -= share * total


@kernel(ASSESS)
def _assess(
    action: int,
    label: int,
    parameters: FloatArray,
    labels: IntArray,
    scores: Any,
    learners: Any,
    counts: IntArray,
    losses: FloatArray,
    p: FloatArray,
    costs: Any,
    weights: FloatArray,
) -> None:
    n, k, revealed = labels.shape[0], p.shape[0], parameters[REVEALED] > 0.0
    sigmoids, shares = workspace(k * k), workspace(k)
    assess_losses(action, label, counts[BEST], revealed, p, losses)
    for r in range(k):
        shares[r] = 1.0 - losses[r]
    for r in range(k * k):  # at the scores before the first vote, all 0
        sigmoids[r] = 0.5
    if parameters[STEP] != 0.0:
        step = parameters[STEP] / math.sqrt(counts[ROUND])
    elif revealed:
        step = 2.0 * math.sqrt(2.0) / ((k - 1) * math.sqrt(counts[ROUND]))
    else:
        step = parameters[RHO] / (k * k * math.sqrt(counts[ROUND]))
    for i in range(n):
        if parameters[LEARNS] > 0.0:
            for r in range(k):
                costs[i, r] = 0.0
            for r in range(k):
                if shares[r] != 0.0:
                    _add_costs(r, shares[r], sigmoids, costs[i])
            if revealed:
                weights[i] = share_out(label, learners[SCALE, i], costs[i])
            else:
                weights[i] = 1.0
                for r in range(k):
                    costs[i, r] /= learners[SCALE, i]
        voted = labels[i]
        _move(voted, scores[i + 1], sigmoids)
        slope = 0.0
        for r in range(k):
            if r != voted:
                slope += shares[r] * sigmoids[r * k + voted]
                slope -= shares[voted] * sigmoids[voted * k + r]
        alpha = learners[ALPHA, i] - step * slope
        alpha = LIMIT if alpha > LIMIT else alpha
        learners[ALPHA, i] = -LIMIT if alpha < -LIMIT else alpha
        learners[EXPERT_LOSS, i] += losses[counts[EXPERTS + i]]


class Following(Boosting):
    """An adaptive booster in play."""

    vote, assess = _vote, _assess

    def __init__(
        self, booster: _Adaptive, problem: Problem, generator: Generator, interpreted: bool
    ) -> None:
        super().__init__(booster, problem, generator, interpreted)
        self.memory.learners[SCALE] = self.n_labels * (self.n_labels - 1)
        self.memory.parameters[STEP] = booster.step or 0.0

    @property
    def own_dice(self) -> int:
        return 1 + (self.n_learners if self.random_ties else 0)

    @property
    def alphas(self) -> FloatArray:
        """Weights of the votes, shape (N,)."""
        alphas: FloatArray = self.memory.learners[ALPHA]
        return alphas.copy()

    @alphas.setter
    def alphas(self, alphas: FloatArray) -> None:
        self.memory.learners[ALPHA] = alphas

    @property
    def experts(self) -> IntArray:
        """Labels of the experts, shape (N,)."""
        return self.memory.counts[EXPERTS:].copy()

    @property
    def followed(self) -> int:
        """The expert that was drawn."""
        return int(self.memory.counts[FOLLOWED])

    @property
    def losses_of_experts(self) -> FloatArray:
        """Loss of each expert so far, or its estimate, shape (N,)."""
        losses: FloatArray = self.memory.learners[EXPERT_LOSS]
        return losses.copy()

    @property
    def shares(self) -> FloatArray:
        """Probability that Hedge follows each expert."""
        losses = self.memory.learners[EXPERT_LOSS]
        weights: FloatArray = np.exp(-self.memory.parameters[HEDGE] * (losses - losses.min()))
        return np.asarray(weights / weights.sum())

    def slopes(self) -> FloatArray:
        """Derivative of the loss in each weight for each true label, shape (N, k)."""
        return slopes(self.before, self.labels, self.alphas)


@dataclass(frozen=True)
class AdaboostOLM(_Adaptive):
    """Adaboost.OLM: adaptive boosting with full information.

    Parameters
    ----------
    hedge : rate of Hedge, above 0; set by the tuning where None
    step : first step of the weights of the votes, above 0; that of round t is 1/sqrt(t) of it. That of the paper where
        None

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
        if self.tuning != "theory":
            return {"hedge": 1.0}
        return {"hedge": math.sqrt(8 * math.log(self.learners) / problem.horizon)}

    def player(self, problem: Problem) -> Player:
        return ready(self, problem)


@dataclass(frozen=True)
class AdaBandit(BanditBooster, _Adaptive):
    """AdaBandit: adaptive boosting with bandit feedback.

    Parameters
    ----------
    hedge : rate of Hedge, above 0; set by the tuning where None
    step : first step of the weights of the votes, above 0; that of round t is 1/sqrt(t) of it. That of the paper where
        None
    gamma : the edge that the tuning of rho takes every weak learner to have, in (0, 1]

    Raises
    ------
    UserError
        for a parameter out of range
    """

    gamma: Annotated[float, "(0, 1]"] = 0.1
    tunings: ClassVar[Mapping[str, str]] = {
        "default": "rho = min{1/2, k N^(2/3) / (T N gamma^2)^(1/3)}, hedge = 1",
        "ones": "rho = min{1/2, T^(-1/3)}, hedge = 1",
        "theory": "rho of default, hedge = sqrt(2 rho ln N / ((k - 1) T))",
    }

    def numbers(self, problem: Problem) -> dict[str, float]:
        k, n = problem.n_labels, self.learners
        rho, hedge = self.rho, self.hedge
        if rho is None:
            ones = self.tuning == "ones"
            factor = 1.0 if ones else k * math.pow(n * self.gamma * self.gamma, -1 / 3)
            size = 1.0 if ones else math.pow(n, 2 / 3)
            rho = min(0.5, factor * size * math.pow(problem.horizon, -1 / 3))
        if hedge is None:
            hedge = 1.0
            if self.tuning == "theory":
                hedge = math.sqrt(2 * rho * math.log(n) / ((k - 1) * problem.horizon))
        return {"rho": rho, "hedge": hedge}

    def player(self, problem: Problem) -> Player:
        return ready(self, problem)
