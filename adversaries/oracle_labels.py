"""Labels that weak learners predict with an exact edge, shown to them as features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import unknown
from .sequence import Sequence, checked_rate, integer_at_least, stream, zero_comparator
from .weak_learning import labels_with_edge

LAWS = ("uniform", "skewed", "constant")


@dataclass(frozen=True)
class OracleLabels:
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

    n_labels: int = 3
    learners: int = 20
    edge: float = 0.4
    law: str = "uniform"

    def __post_init__(self) -> None:
        integer_at_least("n_labels", self.n_labels, 2)
        integer_at_least("learners", self.learners, 1)
        object.__setattr__(self, "edge", checked_rate("edge", self.edge))
        if self.law not in LAWS:
            raise unknown("law of the labels", self.law, LAWS)

    @property
    def spec(self) -> str:
        """``oracle-labels`` with its parameters."""
        return f"oracle-labels:n_labels={self.n_labels},learners={self.learners},edge={self.edge!r},law={self.law}"

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Return ``horizon`` rounds; no linear comparator reads such features, so it is zero."""
        integer_at_least("horizon", horizon, 1)
        k, generator = self.n_labels, stream(seed, self.spec)
        shares = {"uniform": np.ones(k), "skewed": 2.0 ** -np.arange(k), "constant": np.eye(k)[0]}
        chances = shares[self.law] / shares[self.law].sum()
        labels = generator.choice(k, size=horizon, p=chances)
        shown = labels_with_edge(labels, self.learners, k, self.edge, generator)
        zero = zero_comparator(k, self.learners)
        return Sequence.from_dense(shown, labels, k, self.spec, zero)
