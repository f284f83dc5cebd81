"""The environment behind Theorem 7: full information, fresh coordinates, labels drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from ..errors import require
from .sequence import Comparator, Sequence, Spelt, generator_of


@dataclass(frozen=True)
class RandomLabels(Spelt):
    """M = (B^2 - 1) K^2 rounds with a coordinate each, then one coordinate for ever.

    Labels are uniform in the first M + 1 rounds and stay the same from then on.

    Parameters
    ----------
    n_labels : K, at least 2
    comparator_norm : B, an integer of at least 2; the comparator has exactly this norm
    """

    n_labels: Annotated[int, "[2, inf)"] = 2
    comparator_norm: Annotated[int, "[2, inf)"] = 2

    @property
    def fresh_rounds(self) -> int:
        """The number of rounds with a fresh coordinate, M."""
        return (self.comparator_norm**2 - 1) * self.n_labels**2

    @property
    def rounds(self) -> int:
        """The number of rounds by default, the smallest with which the theorem holds: M + 1."""
        return self.fresh_rounds + 1

    def sequence(self, horizon: int | None = None, seed: int = 0) -> Sequence:
        """Return ``horizon`` rounds, M + 1 by default."""
        T = self.rounds if horizon is None else horizon
        require(T >= 1, f"horizon T={T}: expected at least 1.")
        # the parameter's old name, so that a seed still gives the labels it always gave
        seeded = f"random-labels:n_labels={self.n_labels},radius={self.comparator_norm}"
        labels = generator_of(seed, seeded).integers(
            self.n_labels, size=max(T, self.fresh_rounds + 1)
        )
        return self.with_labels(labels[:T])

    def with_labels(self, labels: ArrayLike) -> Sequence:
        """Return the environment with the given labels; from round M + 1 on the last one is kept."""
        K, M = self.n_labels, self.fresh_rounds
        given = np.array(labels, dtype=np.int64)
        given[M + 1 :] = given[M] if len(given) > M else 0
        coordinate = np.minimum(np.arange(len(given)), M)
        return Sequence(
            self.spec,
            np.arange(len(given) + 1, dtype=np.int64),
            coordinate.astype(np.int64),
            np.ones(len(given)),
            given,
            M + 1,
            K,
            self.comparator(given),
        )

    def comparator(self, labels: ArrayLike) -> Comparator:
        """1/K for the label of each fresh coordinate, 1 for the last label; norm B."""
        K, M = self.n_labels, self.fresh_rounds
        given = np.asarray(labels)
        rows = [[Fraction(0)] * (M + 1) for _ in range(K)]
        for t in range(M):
            rows[int(given[t]) if t < len(given) else 0][t] = Fraction(1, K)
        rows[int(given[M]) if len(given) > M else 0][M] = Fraction(1)
        return Comparator.exact(rows)
