"""What a weak learner is told before the first round, and what it declares."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ....errors import require


@dataclass(frozen=True)
class WeakProblem:
    """What a weak learner is told before the first round.

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


SMALLEST_DELTA = 1e-9
"""The smallest delta that a weak learner may declare; for a smaller one nobody could play enough runs."""


@dataclass(frozen=True)
class WeakDeclaration:
    """A weak learner's word: BanditWLC(gamma, delta, S).

    Attributes
    ----------
    edge : gamma, in [0, 1)
    delta : the probability that it may fail with, in [1e-9, 1)
    excess_loss : S, at least 0
    anytime : whether S is for all rounds at once
    who : whose word it is, for errors

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
