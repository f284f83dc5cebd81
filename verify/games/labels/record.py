"""The record of the label game: one row of numbers a round, in blocks of rounds.

A block is what a pathwise claim reads. The columns hold exact conditional quantities (the game knows the
probability vector), so a learner can neither peek nor misstate its own importance weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ....algorithms.boosting.boosting import Memory
from ....arrays import FloatArray, IntArray
from ....errors import LearnerError

ERROR, MISTAKE, LOSS, GAP, OBSERVATION, OBSERVED, TOTAL, BEST, MARGIN, ACTION, GRADIENT = range(11)
"""Columns: 1 - p(y); whether the draw was a mistake; loss at the weights; gap map; probability that the
label is observed; whether it was; sum of p; best label; its margin; action drawn; squared norm of the gradient of
the loss in the weights."""

COLUMNS = (
    "error", "mistake", "loss", "gap", "observation", "observed", "total", "best", "margin", "action",
    "squared_gradient",
)  # fmt: skip
"""Their names."""

N_COLUMNS = len(COLUMNS)

TOTALS = (ERROR, MISTAKE, LOSS, OBSERVED)
"""Columns whose plain sums are kept when no rounds are recorded."""

TOLERANCE = 1e-9
"""Largest distance from one of the sum of a learner's probabilities."""

BLOCK = 4096
"""Rounds in a block: small enough for the cache, large enough that its overhead does not show."""


class Votes(NamedTuple):
    """The memory of a booster in each round, after its vote and before it is told anything.

    Attributes
    ----------
    labels : shape (rounds, N)
    learners : shape (rounds, 3, N)
    counts : shape (rounds, 3 + N)
    """

    labels: IntArray
    learners: FloatArray
    counts: IntArray

    @classmethod
    def room(cls, memory: Memory, rounds: int) -> Votes:
        """Arrays for so many rounds of a booster with this memory."""
        labels, learners, counts = memory.labels, memory.learners, memory.counts
        return cls(
            np.empty((rounds, *labels.shape), dtype=np.int64),
            np.empty((rounds, *learners.shape)),
            np.empty((rounds, *counts.shape), dtype=np.int64),
        )


class Steps(NamedTuple):
    """What the game sees of a learner that computes its scores from the features, in each round.

    Attributes
    ----------
    rounding : tau; scores that lie no further apart are tied. A score is a sum of n products, n the number of features
        that are not zero. In whatever order they are added, it is off by at most n u |W||x| to first order, u = 2^-53;
        the learner may also round its weights and multiply by their scale, (n + 2) u |W||x|. If it takes y for
        the highest of its own scores, the game's score of y is lower than the highest by at most twice both
        errors, hence tau = 4 (n + 2) u |W||x| with the Frobenius norm, which leaves 4 u |W||x| for what is
        of higher order. A learner whose probabilities have single precision is taken to reckon in it: u = 2^-24, and
        its A probabilities are off by some u each, and by A u once divided by their sum, (A + 4) u more;
        shape (rounds,)
    norms : |W|, the Frobenius norm, shape (rounds,)
    after : scores of the round's features at the weights after the round, shape (rounds, K)
    rivals : shares of tied runners-up in the subgradient of a loss of hinge type, which sum to 1; 0 where it is that of
        the first; shape (rounds, K)
    """

    rounding: FloatArray
    norms: FloatArray
    after: FloatArray
    rivals: FloatArray


@dataclass(frozen=True)
class Block:
    """Consecutive rounds of one run.

    Attributes
    ----------
    start : index of the first round, from 0
    columns : recorded numbers, shape (rounds, N_COLUMNS)
    labels : true labels, shape (rounds,)
    squared_norms : squared norms of the feature vectors, shape (rounds,)
    scores : scores of the labels, shape (rounds, K); (0, K) when not traced
    probabilities : probability of each action, shape (rounds, A); (0, A) when not traced
    votes : memory of a booster, when traced by a run; None for other learners
    steps : of a learner in plain Python; None for others, which are given their scores
    """

    start: int
    columns: FloatArray
    labels: IntArray
    squared_norms: FloatArray
    scores: FloatArray
    probabilities: FloatArray
    votes: Votes | None = None
    steps: Steps | None = None

    def __len__(self) -> int:
        return len(self.columns)

    def until(self, end: int) -> Block:
        """These rounds without those from round ``end`` of the run on."""
        n = end - self.start
        if n >= len(self):
            return self
        return Block(
            self.start,
            self.columns[:n],
            self.labels[:n],
            self.squared_norms[:n],
            self.scores[:n],
            self.probabilities[:n],
            None if self.votes is None else Votes._make(array[:n] for array in self.votes),
            None if self.steps is None else Steps._make(array[:n] for array in self.steps),
        )

    def check(self, learner: str) -> None:
        """Raise :class:`LearnerError` for recorded probabilities that are no distribution."""
        sums, p = self.column(TOTAL), self.probabilities
        within = len(sums) == 0 or max(sums.max() - 1.0, 1.0 - sums.min()) <= TOLERANCE
        if within and (len(p) == 0 or p.min() >= 0.0):  # neither is true for NaN
            return
        legal = np.abs(sums - 1.0) <= TOLERANCE  # false for NaN
        if len(p):
            legal &= (p >= 0.0).all(axis=1)
        if not legal.all():
            i = int(np.argmin(legal))
            given = p[i].tolist() if len(p) else f"that sum to {float(sums[i])!r}"
            raise LearnerError(
                f"learner {learner} returned the probabilities {given} in round {self.start + i}:"
                " expected numbers of at least 0 that sum to 1."
            )

    def column(self, index: int) -> FloatArray:
        """One column, shape (rounds,)."""
        return self.columns[:, index]

    @property
    def best(self) -> IntArray:
        """Labels with the highest score, as integers; of tied ones the first, or one that the learner plays."""
        return self.columns[:, BEST].astype(np.int64)

    @property
    def rounding(self) -> FloatArray:
        """tau of :class:`Steps`, shape (rounds,); 0 for learners that are given their scores."""
        return np.zeros(len(self)) if self.steps is None else self.steps.rounding

    @property
    def weights(self) -> FloatArray:
        """Importance weights: 1/P where the label was observed, 0 elsewhere."""
        observed = self.columns[:, OBSERVED] > 0
        weights = np.zeros(len(self))
        np.divide(1.0, self.columns[:, OBSERVATION], out=weights, where=observed)
        return weights
