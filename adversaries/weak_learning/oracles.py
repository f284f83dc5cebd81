"""Predictions that beat guessing by an exact edge, for weak learners to read."""

from __future__ import annotations

import numpy as np

from ...arrays import IntArray
from ...errors import require


def labels_with_edge(
    labels: IntArray, n_learners: int, n_labels: int, edge: float, generator: np.random.Generator
) -> IntArray:
    """Predictions of shape (T, N) drawn independently: the true label with probability ``edge``, otherwise any label.

    Each is the true label with probability (1 - edge)/k + edge and any other with (1 - edge)/k. As columns of the
    features they are what the weak learner ``oracle-noise`` predicts.

    Raises
    ------
    UserError
        for an edge outside [0, 1]
    """
    require(0 <= edge <= 1, f"edge={edge}: expected a number in [0, 1].")
    size = (len(labels), n_learners)
    guesses = generator.integers(n_labels, size=size)
    return np.where(generator.random(size) < edge, labels[:, None], guesses)
