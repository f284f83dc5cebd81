"""Predictions with an exact edge."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from boundcheck.adversaries.weak_learning.oracles import labels_with_edge
from boundcheck.errors import UserError


def test_each_learner_has_the_edge_and_they_are_independent() -> None:
    """Exact binomial tests at 1e-9: every label of every learner, and two learners right together."""
    generator, k, rounds, edge = np.random.default_rng(1), 4, 50_000, 0.15
    labels = generator.integers(k, size=rounds)
    drawn = labels_with_edge(labels, 2, k, edge, generator)
    away = (drawn - labels[:, None]) % k
    right = (1 - edge) / k + edge
    for learner in range(2):
        for distance in range(k):
            count = int((away[:, learner] == distance).sum())
            chance = right if distance == 0 else (1 - edge) / k
            assert stats.binomtest(count, rounds, chance).pvalue > 1e-9
    together = int((away == 0).all(axis=1).sum())
    assert stats.binomtest(together, rounds, right * right).pvalue > 1e-9
    assert stats.binomtest(together, rounds, right).pvalue < 1e-9, "the test has power"


def test_a_full_edge_is_the_label_and_a_bad_one_is_named() -> None:
    generator, labels = np.random.default_rng(2), np.array([2, 0, 1])
    assert (labels_with_edge(labels, 3, 3, 1.0, generator) == labels[:, None]).all()
    with pytest.raises(UserError) as told:
        labels_with_edge(labels, 3, 3, 1.5, generator)
    assert str(told.value) == "edge=1.5: expected a number in [0, 1]."
