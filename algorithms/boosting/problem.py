"""The problem that a weak learner is told before the first round, and what it declares of itself.

A weak learner of the library says what it knows by methods of its own, all of them optional:

``declare(problem, stream)``
    its edge, delta and excess loss on a stream (:class:`WeakDeclaration`), or why nothing is known, as a phrase;
``known_excess_loss(edge, delta, problem, stream)``
    the excess loss that is known for another edge and delta, None where none is. Without the method what is declared
    serves smaller edges and larger deltas, and no others;
``hedges(problem)``
    the number of hypotheses that it hedges over and its rate.

Three attributes of the class say whom it meets: ``streams``, the adversaries that it is played against by default;
``reads_oracles``, whether it reads the predictions that are drawn for oracles and needs no other features; and
``reads(features, n_labels)``, whether it can read these features, as all can that have no such method.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from ...arrays import FloatArray, IntArray
from ...errors import require

DELTA = 0.05
"""Confidence parameter of the weak learners of the library, none of which depends on it."""

WEIGHTLESS = "a weight is 0, and excess losses grow with 1/m"
"""The reason why nothing is known of a stream whose weights have no lower bound."""


@dataclass(frozen=True)
class WeakProblem:
    """All that a weak learner is told before the first round.

    Attributes
    ----------
    n_labels, n_features, horizon : k, d and T
    edge : gamma; some hypothesis has edge 2 gamma (0 where none is known to)
    least_weight : m, the smallest weight
    cost_range : B, the largest difference between entries of a weighted cost vector that is shown
    seed : for what it draws itself, another one in each run
    """

    n_labels: int
    n_features: int
    horizon: int
    edge: float
    least_weight: float
    cost_range: float
    seed: int = 0


class Stream(Protocol):
    """A stream as a weak learner sees it that says what is known of it there."""

    @property
    def n_labels(self) -> int:
        """k."""

    @property
    def features(self) -> FloatArray:
        """Shape (T, d), without the predictions that are drawn for oracles."""

    @property
    def planted(self) -> IntArray | None:
        """The labels of the best hypothesis, shape (T,), or None without one."""

    @property
    def richness(self) -> float:
        """The edge that it is said to have, 2 gamma."""

    @property
    def oracle_edge(self) -> float | None:
        """The edge of the predictions that are drawn for oracles, or None where there are none."""

    @property
    def least_weight(self) -> float:
        """m."""

    def cost_range(self, graph: str) -> float:
        """B of what is shown in the setting ``full`` or ``bandit``."""

    def first_violation(self) -> int | None:
        """The first round after which the best hypothesis costs more than its edge allows, or None."""


SMALLEST_DELTA = 1e-9
"""The smallest delta that a weak learner may declare; for a smaller one nobody could play enough runs."""


@dataclass(frozen=True)
class WeakDeclaration:
    """The numbers that a weak learner declares: BanditWLC(gamma, delta, S).

    Attributes
    ----------
    edge : gamma, in [0, 1)
    delta : the probability that it may fail with, in [1e-9, 1)
    excess_loss : S, at least 0
    anytime : whether S is for all rounds at once
    who : who declares it, for errors

    Raises
    ------
    UserError
        for a number out of range
    """

    edge: float
    delta: float
    excess_loss: float
    anytime: bool = False
    who: str = "the weak learner"

    def __post_init__(self) -> None:
        require(0 <= self.edge < 1, f"edge={self.edge} of {self.who}: expected a number in [0, 1).")
        require(
            SMALLEST_DELTA <= self.delta < 1,
            f"delta={self.delta} of {self.who}: expected a number in [{SMALLEST_DELTA:g}, 1).",
        )
        require(
            0 <= self.excess_loss < math.inf,
            f"excess_loss={self.excess_loss} of {self.who}: expected a finite number of at least 0.",
        )
