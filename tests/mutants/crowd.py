"""A stream on which a wrong importance weight costs more than guarantee (4) allows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from boundcheck.adversaries.sequence import Comparator, Sequence, generator_of

CROWDED = "random:density=0.5,seed=4"
"""A graph over four labels: every action observes label 3, one each the others."""


@dataclass(frozen=True)
class Crowd:
    """One constant feature; label 1 in 65 of 100 rounds, label 3 in the others.

    Made for a graph in which every action observes label 3 and only one observes label 1: a learner that
    weighs what it sees by anything but 1/P believes in label 3. The comparator prefers label 1 by a margin
    of 1.
    """

    n_labels: ClassVar[int] = 4
    spec: ClassVar[str] = "crowd"

    def sequence(self, horizon: int, seed: int) -> Sequence:
        K = self.n_labels
        rare = generator_of(seed, self.spec).random(horizon) < 0.65
        return Sequence.from_dense(
            np.ones((horizon, 1)),
            np.where(rare, 1, 3),
            n_labels=K,
            name=self.spec,
            comparator=Comparator.exact([[Fraction(k == 1) - Fraction(1, K)] for k in range(K)]),
        )
