"""Labels that weak learners predict with an exact edge, shown to them as features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .sequence import Sequence, Spelt, generator_of, integer_at_least, zero_comparator
from .weak_learning import labels_with_edge

LAWS = ("uniform", "skewed", "constant")


@dataclass(frozen=True)
class OracleLabels(Spelt):
    """Column i of the features is the label that weak learner i, ``oracle-noise``, predicts with an exact edge.

    Given the true label the predictions are independent of one another and of the past: the true label with
    probability (1 - edge)/k + edge, any other with (1 - edge)/k.

    Parameters
    ----------
    n_labels : k, at least 2
    learners : N, the number of columns
    edge : in [0, 1]
    law : of the true labels: "uniform", "skewed" (each half as likely as the one before) or "constant" (all 0)
    """

    n_labels: Annotated[int, "[2, inf)"] = 3
    learners: Annotated[int, "[1, inf)"] = 20
    edge: Annotated[float, "[0, 1]"] = 0.4
    law: Annotated[str, LAWS] = "uniform"

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Return ``horizon`` rounds; no linear comparator reads such features, so it is zero."""
        integer_at_least("horizon", horizon, 1)
        k, generator = self.n_labels, generator_of(seed, self.spec)
        shares = {"uniform": np.ones(k), "skewed": 2.0 ** -np.arange(k), "constant": np.eye(k)[0]}
        chances = shares[self.law] / shares[self.law].sum()
        labels = generator.choice(k, size=horizon, p=chances)
        shown = labels_with_edge(labels, self.learners, k, self.edge, generator)
        zero = zero_comparator(k, self.learners)
        return Sequence.from_dense(shown, labels, k, self.spec, zero)
