"""The sequence that refutes Theorem 4 for the printed rule: nothing is learnt until label 0 is played.

With the weights (1, 0) for label 1 and 0 for the others, and features (c_t, sqrt(1 - c_t^2)) with
c_t = 1 - sqrt(gamma_t), label 1 wins by a margin at which the gap map of the smooth hinge loss is gamma_t itself.
The printed rule then spreads gamma_t evenly over all K labels. In a filtering graph whose only revealing
action is label 0 the true label, always 2, is seen with probability gamma_t / K, where gamma_t was meant.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np

from .....adversaries.sequence import Comparator, Sequence, Spelt, integer_at_least

START, TARGET = 1, 2
"""The label that wins before anything is learnt, and the true one."""

ROOM = 1e-10
"""Relative surplus of the gap over gamma_t, which rounding cannot use up."""


@dataclass(frozen=True)
class Concealed(Spelt):
    """Label 2 in every round, features on the unit circle that follow the learner's gamma_t.

    The comparator has the weights (``along``, ``across``) for label 2 and 0 for the others. It separates with
    margin 1 if it does so in the first and in the last round: its score is concave along the circle.

    Parameters
    ----------
    n_labels : K, at least 3
    rate : the learner's gamma, above 0; gamma_t = min{1/2, gamma / sqrt(t)}
    along, across : the comparator
    """

    n_labels: Annotated[int, "[3, inf)"] = 12
    rate: Annotated[float, "(0, inf)"] = 2.2388
    along: float = 0.77377
    across: float = 0.80885

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Return ``horizon`` rounds; the seed has no effect."""
        integer_at_least("horizon", horizon, 1)
        rates = np.minimum(0.5, self.rate / np.sqrt(np.arange(1, horizon + 1)))
        cosines = 1 - np.sqrt(rates * (1 + ROOM))
        rows = [[Fraction(0), Fraction(0)] for _ in range(self.n_labels)]
        rows[TARGET] = [Fraction(repr(self.along)), Fraction(repr(self.across))]
        return Sequence.from_dense(
            np.column_stack((cosines, np.sqrt(1 - cosines * cosines))),
            np.full(horizon, TARGET),
            n_labels=self.n_labels,
            name=self.spec,
            comparator=Comparator.exact(rows),
        )
