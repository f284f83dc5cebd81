"""Instances made to stress a statement rather than to look like data.

:class:`CraftedScores` shows the per-round lemmas every kind of score vector: with the identity as
weights the scores equal the features. :class:`Alternation` shows that online gradient descent
without projection keeps no regret guarantee with a constant: at U = 0 its regret divided by the
root of the summed squared gradient norms grows linearly with the horizon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Annotated

import numpy as np

from ..arrays import FloatArray, IntArray
from .sequence import Comparator, Sequence, Spelt, generator_of, integer_at_least, zero_comparator

MARGINS = (*(eighths / 8 for eighths in range(10)), 2.0)
RUNGS = 64
DEPTHS = (0.0, 0.25, 8.0, 32.0)  # how far the other labels lie below the runner-up


@dataclass(frozen=True)
class CraftedScores(Spelt):
    """Features that are score vectors with short binary fractions, so d = K and sums are exact.

    Rows of :meth:`grid` in a fixed shuffled order, between them rows of :meth:`ladder`, then random
    vectors until the horizon is reached; a shorter horizon gives a prefix of the longer one. The
    comparator is the identity.
    """

    n_labels: Annotated[int, "[2, inf)"] = 3

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Return grid and ladder, cut or continued to ``horizon`` rounds."""
        integer_at_least("horizon", horizon, 1)
        scores, labels = self._fixed()
        more, more_labels = self._random(max(0, horizon - len(labels)), seed)
        K = self.n_labels
        return Sequence.from_dense(
            np.vstack((scores, more))[:horizon],
            np.concatenate((labels, more_labels))[:horizon],
            n_labels=K,
            name=self.spec,
            comparator=Comparator.exact([[Fraction(i == j) for j in range(K)] for i in range(K)]),
        )

    def grid(self) -> tuple[FloatArray, IntArray]:
        """Return score vectors, shape (n, K), and labels, shape (n,).

        Every label is on top once, its runner-up follows it in cyclic order, at 0 minus each of
        ``MARGINS`` (0 is a tie), all others lie each of ``DEPTHS`` below the runner-up (0 is a tie
        of all but the top), and the label is the top, the runner-up or another.
        """
        K = self.n_labels
        depths = DEPTHS if K > 2 else DEPTHS[:1]
        scores, labels = [], []
        for margin, depth, top, step in product(MARGINS, depths, range(K), range(min(K, 3))):
            row = np.full(K, -margin - depth)
            row[(top + 1) % K] = -margin
            row[top] = 0.0
            scores.append(row)
            labels.append((top + step) % K)
        return np.array(scores), np.array(labels, dtype=np.int64)

    def ladder(self) -> tuple[FloatArray, IntArray]:
        """Return score vectors, shape (n, K), and labels, shape (n,).

        Margins close in on 1: 1 minus 2^(-j/16) for j up to ``RUNGS``, to twelve binary places, with
        every label on top and the others tied far below the runner-up. Gap maps of hinge type fall
        geometrically along it, so that exploration rates of any size are met from just above.
        """
        K = self.n_labels
        scores, labels = [], []
        for rung, top in product(range(RUNGS), range(K)):
            margin = 1 - math.floor(2 ** (12 - rung / 16)) / 2**12
            row = np.full(K, -margin - (0.0 if K == 2 else 8.0))
            row[(top + 1) % K] = -margin
            row[top] = 0.0
            scores.append(row)
            labels.append((top + 1) % K)
        return np.array(scores), np.array(labels, dtype=np.int64)

    def _fixed(self) -> tuple[FloatArray, IntArray]:
        """Return the rows of grid and ladder in an order that depends on their number alone."""
        (grid, grid_labels), (ladder, ladder_labels) = self.grid(), self.ladder()
        scores = np.vstack((grid, ladder))
        labels = np.concatenate((grid_labels, ladder_labels))
        order = generator_of(0, f"order of {len(labels)} rows").permutation(len(labels))
        return scores[order], labels[order]

    def _random(self, n_rows: int, seed: int) -> tuple[FloatArray, IntArray]:
        """Draw multiples of 1/8 in [-4, 4], scaled by 1, 1/2, ..., 1/16, and uniform labels."""
        K = self.n_labels
        uniforms = generator_of(seed, self.spec).random((n_rows, K + 2))
        eighths = np.floor(uniforms[:, :K] * 65) - 32
        scale = np.ldexp(1 / 8, -(uniforms[:, K : K + 1] * 5).astype(np.int64))
        return eighths * scale, (uniforms[:, K + 1] * K).astype(np.int64)


@dataclass(frozen=True)
class Alternation(Spelt):
    """Two labels, one constant feature: label 0 for half of the horizon, then label 1.

    The feature is about 0.1 / sqrt(T), so the horizon shapes every round and a shorter horizon is
    no prefix of a longer one. The comparator is 0. The seed has no effect.
    """

    @property
    def n_labels(self) -> int:
        """The number of labels, 2."""
        return 2

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Return ``horizon`` rounds."""
        x = float(self.feature(horizon))
        return Sequence.from_dense(
            np.full((horizon, 1), x),
            np.arange(horizon) >= (horizon + 1) // 2,
            n_labels=self.n_labels,
            name=self.spec,
            comparator=zero_comparator(2, 1),
        )

    @staticmethod
    def feature(horizon: int) -> Fraction:
        """Return the feature, exactly: 0.1 / ceil(sqrt(T)) cut to 32 binary places."""
        integer_at_least("horizon", horizon, 1)
        root = math.isqrt(horizon - 1) + 1
        return Fraction(2**32 // (10 * root), 2**32)
