"""Cost matrices that boosters use, by what they are made of: potentials after some votes, or gradients at some scores.

A certificate holds the votes or the scores, so that no matrix can stand in it which no booster would make.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from gmpy2 import mpq

from ....algorithms.boosting.potentials import TIES
from ....errors import require
from ...author import Instance
from ...certificates.instances import Json
from ...exact import boosting as exact
from ...exact.boosting import Fractions, Rows, decimal
from ...games.labels.case import Case
from .enumerated import grid, most_remaining
from .hypotheses import adapts, booster

MOST_LABELS = 12
"""The most labels of a matrix in a certificate."""


@dataclass(frozen=True)
class CostsInstance(Instance):
    """A cost matrix: potentials of votes, or gradients of the logistic loss.

    Attributes
    ----------
    votes : so many for each label before this weak learner; none for gradients
    remaining : votes to come after it
    edge, ties : edge that the potentials reckon with, in [0, 1), and their tie rule
    weights : the exponentials of the scores, above 0; none for potentials
    """

    votes: tuple[int, ...]
    remaining: int
    edge: mpq
    ties: str
    weights: tuple[mpq, ...]
    kind: ClassVar[str] = "costs"

    def __post_init__(self) -> None:
        k = self.n_labels
        require(bool(self.votes) != bool(self.weights), "costs: expected either votes or weights.")
        require(2 <= k <= MOST_LABELS, f"{k} labels of costs: expected 2 to {MOST_LABELS}.")
        require(self.ties in TIES, f"ties '{self.ties}': expected one of {', '.join(TIES)}.")
        require(0 <= self.edge < 1, f"edge {self.edge}: expected a number in [0, 1).")
        most = most_remaining(k)
        require(
            0 <= self.remaining <= most, f"{self.remaining} votes to come: expected 0 to {most}."
        )
        require(all(0 <= n <= 1000 for n in self.votes), "votes: expected 0 to 1000 each.")
        require(all(weight > 0 for weight in self.weights), "weights: expected numbers above 0.")

    @property
    def n_labels(self) -> int:
        """k."""
        return len(self.votes or self.weights)

    @cached_property
    def rows(self) -> Rows:
        """The matrix, row r if r is the true label."""
        if self.weights:
            return exact.logistic_costs(self.weights)
        return tuple(
            exact.costs(self.votes, r, self.remaining, self.edge, self.ties)
            for r in range(self.n_labels)
        )

    @property
    def derived(self) -> Json:
        return {}


def gradients(weights: Fractions) -> CostsInstance:
    """The gradients at scores with these exponentials."""
    return CostsInstance((), 0, mpq(0), TIES[0], weights)


def used_costs(case: Case) -> Iterator[CostsInstance]:
    """Cost matrices that the booster uses: potentials after some votes, or gradients at some scores."""
    k = case.n_labels
    if adapts(case) is None:
        for weights in grid((mpq(1), mpq(1, 3), mpq(50)), k - 1):
            yield gradients((mpq(1), *weights))
        return
    made, most = booster(case).potentials(k), min(booster(case).learners - 1, most_remaining(k))
    for cast in range(most + 1):
        votes = tuple((cast + k - 1 - j) // k for j in range(k)), (cast, *[0] * (k - 1))
        for each in dict.fromkeys(votes):
            yield CostsInstance(each, most - cast, decimal(made.edge), made.ties, ())
