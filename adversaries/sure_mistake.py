"""Mistakes that a learner is sure of: they go on until it asks for the label.

In each of several orthogonal planes one example of label 1 comes first, then another one of label 0, repeated, at an
angle of cosine 7/25. A Perceptron that has learnt the first predicts label 1 for the second with a clear margin. One
that asks the less the clearer its margin makes nearly as many mistakes as its bound allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np

from .sequence import Comparator, Sequence, Spelt, integer_at_least

REPEATED = 24
"""The rounds in which the second example of a plane is shown."""

COSINE, SINE = Fraction(7, 25), Fraction(24, 25)


@dataclass(frozen=True)
class SureMistake(Spelt):
    """One plane after another, then the last example over and over; the comparator has margin one.

    A shorter horizon gives a prefix of the longer one; the seed plays no part.
    """

    n_planes: Annotated[int, "[1, inf)"] = 16
    n_labels: ClassVar[int] = 2

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Return ``horizon`` rounds with the planted comparator."""
        integer_at_least("horizon", horizon, 1)
        block = 1 + REPEATED
        rounds = np.minimum(np.arange(horizon), self.n_planes * block - 1)
        planes, labels = rounds // block, (rounds % block == 0).astype(np.int64)
        features = np.zeros((horizon, 2 * self.n_planes))
        features[np.arange(horizon), 2 * planes] = np.where(labels == 1, 1.0, float(COSINE))
        features[np.arange(horizon), 2 * planes + 1] = np.where(labels == 1, 0.0, float(SINE))
        # in its plane the difference of its rows is (1, -(1 + cosine) / sine): margin one on both examples
        half = [Fraction(1, 2), -(1 + COSINE) / (2 * SINE)] * self.n_planes
        comparator = Comparator.exact([[-u for u in half], half])
        return Sequence.from_dense(features, labels, 2, self.spec, comparator)
