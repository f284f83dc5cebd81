"""Labels that change half way: what was learnt in the first half is wrong in the second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .sequence import Sequence, Spelt, generator_of, integer_at_least, zero_comparator


@dataclass(frozen=True)
class Turning(Spelt):
    """Each feature vector names its class; the label is the class in the first half, the one after it in the second.

    A vector has a single nonzero entry, ``norm``, in the column of a uniform class. The horizon shapes the rounds, so
    that a shorter one is no prefix of a longer one. The comparator is 0: with weights for every class, no fixed ones
    are right in both halves.
    """

    n_labels: Annotated[int, "[2, inf)"] = 3
    norm: Annotated[float, "(0, inf)"] = 1.0

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Return ``horizon`` rounds."""
        integer_at_least("horizon", horizon, 1)
        classes = generator_of(seed, self.spec).integers(self.n_labels, size=horizon)
        turned = np.arange(horizon) >= (horizon + 1) // 2
        return Sequence(
            name=self.spec,
            indptr=np.arange(horizon + 1),
            indices=classes,
            values=np.full(horizon, self.norm),
            labels=(classes + turned) % self.n_labels,
            n_features=self.n_labels,
            n_labels=self.n_labels,
            comparator=zero_comparator(self.n_labels, self.n_labels),
        )
