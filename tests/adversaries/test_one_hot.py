from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.adversaries.one_hot import OneHot
from boundcheck.errors import UserError


@pytest.mark.parametrize("n_labels", [2, 3, 7])
def test_features_name_the_class(n_labels: int) -> None:
    sequence = OneHot(n_labels).sequence(300, 2)
    assert np.array_equal(sequence.dense(), np.eye(n_labels)[sequence.labels])
    assert sequence.feature_norm == 1.0
    assert set(sequence.labels) == set(range(n_labels))


@pytest.mark.parametrize("n_labels", [2, 3, 7])
def test_the_comparator_has_margin_one_exactly(n_labels: int) -> None:
    comparator = OneHot(n_labels).comparator()
    exact = comparator.fractions
    assert exact is not None
    assert sum(entry**2 for row in exact for entry in row) == n_labels - 1
    assert comparator.norm == math.sqrt(n_labels - 1)
    for c in range(n_labels):
        scores = [row[c] for row in exact]
        assert scores.pop(c) - max(scores) == Fraction(1)


def test_noise_and_prefix() -> None:
    adversary = OneHot(3, 0.3)
    whole = adversary.sequence(30_000, 4)
    assert whole.prefix(1000).digest() == adversary.sequence(1000, 4).digest()
    wrong = (whole.dense().argmax(axis=1) != whole.labels).mean()
    assert abs(wrong - 0.2) < 6 * math.sqrt(0.16 / 30_000)


def test_spec_and_bad_input() -> None:
    assert OneHot().spec == "one-hot:n_labels=3,noise=0.0"
    with pytest.raises(UserError, match="n_labels=1 of one-hot: expected an integer of at least 2"):
        OneHot(1)
    with pytest.raises(UserError, match=r"noise=2 of one-hot"):
        OneHot(3, 2)
    with pytest.raises(UserError, match="horizon is 0"):
        OneHot().sequence(0, 0)
