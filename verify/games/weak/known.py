"""What is known of the excess loss of weak learners, from declared parameters alone.

=========  =====================================================================
symbol     name here
=========  =====================================================================
H          the class that a weak learner hedges over, ``n_hypotheses`` in number
eta        ``rate``
B          ``cost_range``
S          ``excess_loss``
gamma      ``edge``; some hypothesis of the class has edge 2 gamma
m          ``least_weight``
=========  =====================================================================

Hedge at the rate eta pays ln|H|/eta + eta B^2 T/8 more than the best hypothesis, in expectation over its draws and
whatever the costs are. Against a drift of gamma m/k a round that leaves g = gamma m/k - eta B^2/8, and a martingale
with increments of range 1 + 2B and drift -g exceeds (1 + 2B)^2 ln(1/delta)/(8g) with probability at most delta.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gmpy2 import mpq

from ....adversaries.weak_learning.stream import WeakStream
from ....algorithms.boosting.advice import HedgeAdvice
from ....algorithms.boosting.hedge import HedgeStump, learning_cost, oracle_excess_loss, rate_of
from ....algorithms.boosting.weak import OracleNoise
from ...exact.numbers import rational
from .problem import WeakDeclaration, WeakProblem

DELTA = 0.05
"""Confidence parameter of the built-in weak learners, none of which depends on it."""


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


def hedging(learner: Any, problem: WeakProblem) -> tuple[int, float] | None:
    """Number of hypotheses and rate of a weak learner that hedges; None for others."""
    if not isinstance(learner, HedgeStump | HedgeAdvice):
        return None
    size = learner.n_hypotheses(problem.n_features, problem.n_labels)
    return size, rate_of(learner.rate, size, problem.horizon)


def edge_of(stream: WeakStream) -> mpq:
    """gamma of the planted hypothesis: the decimal number that the adversary was given."""
    return rational(repr(stream.richness / 2))


def first_violation(stream: WeakStream) -> int | None:
    """The first round (from 0) after which the planted hypothesis costs more than its edge allows, in fractions;
    None where there is none."""
    assert stream.planted is not None
    share = (1 - 2 * edge_of(stream)) / stream.n_labels
    room = mpq(0)
    for t, (weight, cost) in enumerate(planted_costs(stream)):
        room += weight * (share - cost)
        if room < 0:
            return t
    return None


def planted_costs(stream: WeakStream) -> list[tuple[mpq, mpq]]:
    """Weight and cost of the planted hypothesis in each round, exactly."""
    assert stream.planted is not None
    costs = stream.costs[np.arange(stream.horizon), stream.planted].tolist()
    return [(mpq(w), mpq(c)) for w, c in zip(stream.weights.tolist(), costs, strict=True)]


def has_planted(learner: Any, stream: WeakStream) -> bool:
    """Whether what is planted is one of the hypotheses that the weak learner hedges over."""
    planted, features = stream.planted, stream.features
    if planted is None:
        return False
    if isinstance(learner, HedgeAdvice):
        return bool((features == planted[:, None]).all(axis=0).any())
    for column in (features > 0).T:
        if all(len(np.unique(planted[column == side])) <= 1 for side in (False, True)):
            return True
    return False


def known_declaration(
    learner: Any, stream: WeakStream, problem: WeakProblem
) -> WeakDeclaration | str:
    """What is known of a built-in weak learner on a stream, or why nothing is, as a phrase."""
    if stream.least_weight == 0:
        return "a weight is 0, and excess losses grow with 1/m"
    if isinstance(learner, OracleNoise):
        if not stream.oracle_edge:
            return "the stream has no predictions for oracles with an edge"
        edge = stream.oracle_edge / 2
        loss = oracle_excess_loss(edge, stream.least_weight, stream.n_labels, DELTA)
        return WeakDeclaration(edge, DELTA, loss, True, learner.spec)
    hedge = hedging(learner, problem)
    if hedge is None:
        return f"no excess loss is known of {learner.spec}"
    if not has_planted(learner, stream):
        return f"no hypothesis of {learner.spec} is known to be good enough on the stream"
    if first_violation(stream) is not None:
        return "the hypothesis of the stream is not good enough: richness fails"
    known = hedge_excess_loss(*hedge, problem, DELTA)
    if known is None:
        return f"the rate of {learner.spec} is too large for the drift gamma m/k"
    return WeakDeclaration(problem.edge, DELTA, known, True, learner.spec)
