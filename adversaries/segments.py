"""The environments behind Theorem 6: filtering with two labels, one of them blind.

All labels are 0 (blind) but those of one segment, or of none. A learner that never plays 1 in that segment
cannot know; one that plays 1 pays for it everywhere else. With segments of lengths n, n-1, ..., 1
every learner's mistakes, added up over the n + 1 environments, are at least T = n(n+1)/2; the paper's proof
has equal segments.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np

from ..arrays import IntArray
from ..errors import require
from .sequence import Comparator, Sequence, Spelt

DESIGNS = ("decreasing", "equal")


@dataclass(frozen=True)
class Segments(Spelt):
    """Theorem 6's environments, one at a time: label 0, but in one segment of the rounds label 1 (0: in none).

    Features have two ones: in component 0, and in the component of the segment.

    Parameters
    ----------
    n : number of segments, at least 1
    environment : the segment with label 1, in 1..n; 0 for none
    design : "decreasing" (lengths n, ..., 1) or "equal" (all of length n)
    """

    n: Annotated[int, "[1, inf)"] = 20
    environment: int = 0
    design: Annotated[str, DESIGNS] = "decreasing"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            0 <= self.environment <= self.n,
            f"environment={self.environment}: expected one of 0 to {self.n}.",
        )

    @property
    def n_labels(self) -> int:
        """The number of labels, 2."""
        return 2

    @property
    def lengths(self) -> IntArray:
        """Length of each segment, shape (n,)."""
        equal = self.design == "equal"
        return np.full(self.n, self.n) if equal else np.arange(self.n, 0, -1)

    @property
    def rounds(self) -> int:
        """The number of rounds, which cannot be chosen."""
        n = self.n
        return n * n if self.design == "equal" else n * (n + 1) // 2

    def sequence(self, horizon: int | None = None, seed: int = 0) -> Sequence:
        """Return the whole environment; the seed has no effect.

        Raises
        ------
        UserError
            for a horizon other than the sum of the lengths
        """
        total = self.rounds
        require(
            horizon in (None, total),
            f"horizon T={horizon}: expected {total}, the sum of the lengths of the segments.",
        )
        segment = np.repeat(np.arange(1, self.n + 1), self.lengths)
        features = np.zeros((total, self.n + 1))
        features[:, 0] = 1
        features[np.arange(total), segment] = 1
        return Sequence.from_dense(
            features,
            (segment == self.environment).astype(np.int64),
            n_labels=2,
            name=self.spec,
            comparator=self.comparator(),
        )

    def comparator(self) -> Comparator:
        """Loss zero under the smooth hinge; norm 1 without a label 1, sqrt(5) with one."""
        rows = [[Fraction(0)] * (self.n + 1) for _ in range(2)]
        rows[0][0] = Fraction(1)
        if self.environment:
            rows[1][self.environment] = Fraction(2)
        return Comparator.exact(rows)
