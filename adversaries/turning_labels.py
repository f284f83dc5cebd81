"""Weak learners that are right and then turn: what the weights of their votes are slowest to follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .sequence import Sequence, Spelt, generator_of, integer_at_least, zero_comparator


@dataclass(frozen=True)
class TurningLabels(Spelt):
    """Column i of the features is the label that weak learner i, ``oracle-noise``, predicts.

    All are right until the last ``late`` rounds. There the last learner errs, and so does a majority of the others,
    drawn anew in each round. A small one leaves a booster sure of a wrong label, and the weights of the others where
    they are, as each of them is right nearly as often as not. So the loss of the last learner is linear in its
    weight, which crosses its range and pays for it all the way.

    Parameters
    ----------
    n_labels : k, at least 2; who errs predicts the label after the true one
    learners : N, the number of columns
    majority : by how many those of the others who err outnumber the rest, at most N - 1, or one more if need be
    late : how many rounds at the end learners err in, at most all
    """

    n_labels: Annotated[int, "[2, inf)"] = 2
    learners: Annotated[int, "[2, inf)"] = 42
    majority: Annotated[int, "[0, inf)"] = 3
    late: Annotated[int, "[0, inf)"] = 120

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Return ``horizon`` rounds; no linear comparator reads such features, so it is zero."""
        integer_at_least("horizon", horizon, 1)
        generator = generator_of(seed, self.spec)
        labels = generator.integers(self.n_labels, size=horizon)
        panel, late = self.learners - 1, min(self.late, horizon)
        order = generator.random((late, panel)).argsort(axis=1).argsort(axis=1)
        errs = np.zeros((horizon, self.learners), dtype=np.int64)
        errs[horizon - late :, :panel] = 2 * order < panel + self.majority
        errs[horizon - late :, panel] = 1
        shown = (labels[:, None] + errs) % self.n_labels
        zero = zero_comparator(self.n_labels, self.learners)
        return Sequence.from_dense(shown, labels, self.n_labels, self.spec, zero)
