"""Weak learners that hedge over a finite class, and the rates that their bounds ask for.

Each draws a hypothesis with probability proportional to exp(-rate * its cost so far). Over the stumps, which look at
one feature and give a label to either side of zero, the weights are products over the sides, so that a round
costs O(d k) for d k^2 hypotheses.

=========  =====================================================================
symbol     name here
=========  =====================================================================
H          the class, ``n_hypotheses`` in number
B          ``cost_range``: the largest difference between entries of a weighted cost vector shown
gamma      ``edge``; the class is rich with edge 2 gamma
m          ``least_weight``
S          ``excess_loss``
=========  =====================================================================

The expected cost of Hedge, over its draws and whatever the costs are, exceeds that of the best hypothesis by at most
ln|H| / rate + rate B^2 T / 8. Richness with edge 2 gamma leaves a drift of gamma m / k a round, of which
g = gamma m / k - rate B^2 / 8 remains. What the estimates and the draws add is a martingale with increments of range
1 + 2 B, and with the drift -g it exceeds (1 + 2 B)^2 ln(1/delta) / (8 g) at some T with probability at most delta. The
rate 4 gamma m / (k B^2) spends half of the drift.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.special import softmax

from ...arrays import FloatArray, IntArray
from ...errors import LearnerError, check_size, require
from ..horizon import changed
from ..spec import check_fields
from .problem import DELTA, WEIGHTLESS, Stream, WeakDeclaration, WeakProblem
from .stumps import Stumps
from .weak import Crowd, Setting, Spelt


def hedge_rate(n_hypotheses: int, cost_range: float, horizon: int) -> float:
    """The rate with the least regret after T rounds, sqrt(8 ln|H| / (B^2 T))."""
    return math.sqrt(8 * math.log(n_hypotheses) / horizon) / cost_range


def rate_of(given: float | None, n_hypotheses: int, told: WeakProblem | Setting) -> float:
    """The rate given, or that of :func:`hedge_rate` for costs of range 1 where it is None."""
    return hedge_rate(n_hypotheses, 1, told.horizon) if given is None else given


def learning_cost(n_hypotheses: int, rate: float) -> float:
    """ln|H| / rate; 0 for one hypothesis, with which there is nothing to learn, at any rate and at 0."""
    return math.log(n_hypotheses) / rate if n_hypotheses > 1 else 0.0


def anytime_rate(edge: float, least_weight: float, cost_range: float, n_labels: int) -> float:
    """4 gamma m / (k B^2), at which the excess loss is bounded for all T at once."""
    return 4 * edge * least_weight / (n_labels * cost_range * cost_range)


def hedge_excess_loss(
    n_hypotheses: int, rate: float, problem: WeakProblem, delta: float
) -> float | None:
    """S of Hedge at any rate, for all rounds at once; None where the rate is too large for the drift."""
    drift = problem.edge * problem.least_weight / problem.n_labels
    left = drift - rate * problem.cost_range**2 / 8
    if left <= 0:
        return None
    luck = (1 + 2 * problem.cost_range) ** 2 * math.log(1 / delta) / (8 * left)
    return learning_cost(n_hypotheses, rate) + luck


def draw(probabilities: FloatArray, dice: FloatArray) -> IntArray:
    """Draw from each row by inverse cdf with one number in [0, 1) per row."""
    cumulative = probabilities.cumsum(axis=1)
    passed: IntArray = (cumulative <= dice[:, None] * cumulative[:, -1:]).sum(axis=1)
    drawn: IntArray = np.minimum(passed, probabilities.shape[1] - 1)
    return drawn


@dataclass(frozen=True)
class Hedging(Spelt):
    """Weak learners that hedge over a finite class, and what is known of them.

    Parameters
    ----------
    rate : Hedge rate; that of :func:`hedge_rate` for the horizon and costs of range 1 where None
    """

    rate: Annotated[float | None, "(0, inf)"] = None

    @staticmethod
    def n_hypotheses(n_features: int, n_labels: int) -> int:
        """The size of the class on d features and k labels."""
        raise NotImplementedError

    def contains(self, planted: IntArray, features: FloatArray) -> bool:
        """True if one of the hypotheses gives these labels, shape (T,), for these features, shape (T, d)."""
        raise NotImplementedError

    def least_costs(self, crowd: Any) -> FloatArray:
        """The cost so far of the best hypothesis of each learner in progress, shape (N,)."""
        raise NotImplementedError

    def mean_costs(self, crowd: Any, x: FloatArray, costs: FloatArray) -> FloatArray:
        """The mean cost of the next draw of each learner, for costs of shape (N, k); shape (N,)."""
        raise NotImplementedError

    def hedges(self, problem: WeakProblem) -> tuple[int, float]:
        """The number of hypotheses and the rate."""
        size = self.n_hypotheses(problem.n_features, problem.n_labels)
        return size, rate_of(self.rate, size, problem)

    def declare(self, problem: WeakProblem, stream: Stream) -> WeakDeclaration | str:
        """The excess loss for the edge of the best hypothesis, where that is one of the class."""
        if stream.least_weight == 0:
            return WEIGHTLESS
        planted = stream.planted
        if planted is None or not self.contains(planted, stream.features):
            return f"no hypothesis of {self.spec} is known to be good enough on the stream"
        if stream.first_violation() is not None:
            return "the hypothesis of the stream is not good enough: richness fails"
        known = self.known_excess_loss(problem.edge, DELTA, problem, stream)
        if known is None:
            return f"the rate of {self.spec} is too large for the drift gamma m/k"
        return WeakDeclaration(problem.edge, DELTA, known, True, self.spec)

    def known_excess_loss(
        self, edge: float, delta: float, problem: WeakProblem, stream: Stream
    ) -> float | None:
        """S for any edge: the class has that of richness, of which ``edge`` leaves the rest as drift."""
        left = changed(problem, edge=stream.richness - edge)
        return hedge_excess_loss(*self.hedges(problem), left, delta)


@dataclass(frozen=True)
class HedgeStump(Hedging):
    """Hedge over the stumps: the label depends on whether one feature is above 0.

    Parameters
    ----------
    rate : Hedge rate; that of :func:`hedge_rate` for the horizon and costs of range 1 where None
    """

    @staticmethod
    def n_hypotheses(n_features: int, n_labels: int) -> int:
        """d k^2."""
        return n_features * n_labels * n_labels

    def contains(self, planted: IntArray, features: FloatArray) -> bool:
        for column in (features > 0).T:
            if all(len(np.unique(planted[column == side])) <= 1 for side in (False, True)):
                return True
        return False

    def least_costs(self, crowd: Any) -> FloatArray:
        found: FloatArray = crowd.costs.min(axis=3).sum(axis=2).min(axis=1)
        return found

    def mean_costs(self, crowd: Any, x: FloatArray, costs: FloatArray) -> FloatArray:
        found: FloatArray = (crowd.probabilities(x) * costs).sum(axis=1)
        return found

    def crowd(self, setting: Setting) -> Crowd:
        size = self.n_hypotheses(setting.n_features, setting.n_labels)
        return Stumps(rate_of(self.rate, size, setting), setting)


@dataclass(frozen=True)
class HedgeFinite:
    """Hedge over a finite list of hypotheses.

    Parameters
    ----------
    hypotheses : functions of the features that give a label
    rate : Hedge rate; that of :func:`hedge_rate` for the horizon and costs of range 1 where None
    """

    hypotheses: Sequence[Callable[[FloatArray], int]]
    rate: Annotated[float | None, "(0, inf)"] = None

    def __post_init__(self) -> None:
        require(len(self.hypotheses) > 0, "hedge-finite has no hypotheses: expected at least one.")
        check_fields(self)

    @property
    def spec(self) -> str:
        return f"hedge-finite({len(self.hypotheses)} hypotheses)"

    def __str__(self) -> str:
        return self.spec

    def crowd(self, setting: Setting) -> Crowd:
        rate = rate_of(self.rate, len(self.hypotheses), setting)
        return _Finite(self.hypotheses, rate, setting)


class _Finite:
    draws: ClassVar[bool] = True

    def __init__(
        self, hypotheses: Sequence[Callable[[FloatArray], int]], rate: float, setting: Setting
    ) -> None:
        self.hypotheses, self.rate, self.n_labels = hypotheses, rate, setting.n_labels
        check_size("costs of hypotheses", setting.n_learners, len(hypotheses))
        self.costs = np.zeros((setting.n_learners, len(hypotheses)))

    def labels(self, x: FloatArray) -> IntArray:
        """The label that each hypothesis gives, shape (|H|,)."""
        said = [hypothesis(x) for hypothesis in self.hypotheses]
        for i, label in enumerate(said):
            if not (isinstance(label, int | np.integer) and 0 <= label < self.n_labels):
                raise LearnerError(
                    f"hypothesis {i} of hedge-finite gave {label!r}: expected a label from 0 to"
                    f" {self.n_labels - 1}."
                )
        return np.array(said)

    def probabilities(self, x: FloatArray) -> FloatArray:
        """Probabilities of the hypotheses that each learner draws from, shape (N, |H|)."""
        found: FloatArray = softmax(-self.rate * self.costs, axis=1)
        return found

    def predict(self, x: FloatArray, dice: FloatArray) -> IntArray:
        return self.labels(x)[draw(self.probabilities(x), dice)]

    def update(self, x: FloatArray, costs: FloatArray, weights: FloatArray) -> None:
        self.costs += weights[:, None] * costs[:, self.labels(x)]
