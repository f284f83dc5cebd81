"""Binary features, one of which tells the label but for noise: something for stumps to learn."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np

from .sequence import Comparator, Sequence, Spelt, generator_of, integer_at_least


@dataclass(frozen=True)
class StumpLabels(Spelt):
    """Features are fair signs, and the label is 1 where the first is 1 and 0 where it is -1.

    With probability ``noise`` the label is drawn again, uniformly over all k. A shorter horizon gives a prefix of the
    longer one.

    Parameters
    ----------
    n_labels : k, at least 2
    features : d, at least 1
    noise : in [0, 1]
    """

    n_labels: Annotated[int, "[2, inf)"] = 3
    features: Annotated[int, "[1, inf)"] = 4
    noise: Annotated[float, "[0, 1]"] = 0.1

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Return ``horizon`` rounds with the comparator that reads the first feature."""
        integer_at_least("horizon", horizon, 1)
        uniforms = generator_of(seed, self.spec).random((horizon, self.features + 2))
        signs = np.where(uniforms[:, : self.features] < 0.5, -1.0, 1.0)
        drawn = (uniforms[:, -1] * self.n_labels).astype(np.int64)
        labels = np.where(uniforms[:, -2] < self.noise, drawn, signs[:, 0] > 0)
        return Sequence.from_dense(signs, labels, self.n_labels, self.spec, self.comparator())

    def comparator(self) -> Comparator:
        """Return the smallest weights of the first feature with margin 1 without noise, exactly."""
        size = Fraction(1, 2 if self.n_labels == 2 else 1)
        rows = [[Fraction(0)] * self.features for _ in range(self.n_labels)]
        rows[0][0], rows[1][0] = -size, size
        return Comparator.exact(rows)
