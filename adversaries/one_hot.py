"""The one-hot instance, on which the envelopes are small enough to be non-vacuous.

Each feature vector names its class. The comparator I - (1/K) 11^T separates the noiseless rounds
with margin exactly 1 and has the smallest norm that does, sqrt(K - 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np

from .sequence import Comparator, Sequence, Spelt, generator_of, integer_at_least, noisy_classes


@dataclass(frozen=True)
class OneHot(Spelt):
    """x_t is the unit vector of a uniform class c.

    The label is c, except that with probability ``noise`` it is drawn again, uniformly. A shorter
    horizon gives a prefix of the longer one.
    """

    n_labels: Annotated[int, "[2, inf)"] = 3
    noise: Annotated[float, "[0, 1]"] = 0.0

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Return ``horizon`` rounds with the planted comparator."""
        integer_at_least("horizon", horizon, 1)
        uniforms = generator_of(seed, self.spec).random((horizon, 3))
        classes, labels = noisy_classes(uniforms, self.n_labels, self.noise)
        return Sequence(
            name=self.spec,
            indptr=np.arange(horizon + 1),
            indices=classes,
            values=np.ones(horizon),
            labels=labels,
            n_features=self.n_labels,
            n_labels=self.n_labels,
            comparator=self.comparator(),
        )

    def comparator(self) -> Comparator:
        """Return I - (1/K) 11^T, exactly."""
        K = self.n_labels
        own, other = 1 - Fraction(1, K), -Fraction(1, K)
        return Comparator.exact([[own if i == j else other for j in range(K)] for i in range(K)])
