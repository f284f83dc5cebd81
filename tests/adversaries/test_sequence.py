from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from boundcheck.adversaries.sequence import (
    Comparator,
    Sequence,
    generator_of,
    integer_at_least,
    noisy_classes,
    zero_comparator,
)
from boundcheck.errors import UserError

X = np.array([[0.0, 3.0, 4.0], [0.0, 0.0, 0.0], [1.0, 0.0, -2.0]])
Y = np.array([0, 2, 1])


@pytest.fixture
def small() -> Sequence:
    return Sequence.from_dense(X, Y, 3, "small")


def test_dense_round_trip(small: Sequence) -> None:
    assert small.horizon == 3
    assert small.indptr.tolist() == [0, 2, 2, 4]
    assert small.indices.tolist() == [1, 2, 0, 2]
    assert np.array_equal(small.dense(), X)
    assert [small.row(t).tolist() for t in range(3)] == X.tolist()
    assert small.squared_norms.tolist() == [25.0, 0.0, 5.0]
    assert small.feature_norm == 5.0


@settings(derandomize=True, max_examples=40, deadline=None)
@given(arrays(np.float64, (4, 3), elements=st.sampled_from([0.0, -0.0, 1.5, -2.0, 1e-3])))
def test_sparse_and_dense_agree(features: Any) -> None:
    sequence = Sequence.from_dense(features, [0, 1, 0, 1], 2, "any")
    assert np.array_equal(sequence.dense(), features)
    assert np.allclose(sequence.squared_norms, (features**2).sum(axis=1), rtol=1e-15)
    assert np.array_equal(sequence.prefix(2).dense(), features[:2])


def test_arrays_are_read_only_contiguous_and_our_own() -> None:
    labels = Y.copy()
    features = X.copy()
    sequence = Sequence.from_dense(features, labels, 3, "small", zero_comparator(3, 3))
    labels[0], features[0] = 1, 7.0
    assert sequence.labels[0] == 0
    assert sequence.row(0)[1] == 3.0
    assert sequence.comparator is not None
    for array, dtype in (
        (sequence.indptr, np.int64),
        (sequence.indices, np.int64),
        (sequence.values, np.float64),
        (sequence.labels, np.int64),
        (sequence.squared_norms, np.float64),
        (sequence.comparator.weights, np.float64),
        (sequence.prefix(2).values, np.float64),
    ):
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert not array.flags.writeable


def test_derived_sequences(small: Sequence) -> None:
    comparator = Comparator(np.ones((3, 3)), "fitted")
    assert small.with_comparator(comparator).comparator is comparator
    other = small.with_comparator(comparator).relabelled([2, 2, 2])
    assert other.labels.tolist() == [2, 2, 2]
    assert other.comparator is comparator
    assert small.prefix(3).digest() == small.digest()


def test_digest_tells_every_part_apart_but_not_the_name(small: Sequence) -> None:
    changed = X.copy()
    changed[0, 1] = np.nextafter(3.0, 4.0)
    others = [
        small.prefix(2),
        small.relabelled([0, 2, 2]),
        replace(small, n_labels=4),
        replace(small, n_features=4),
        replace(small, indices=[0, 2, 0, 2]),
        replace(small, indptr=[0, 2, 3, 4], indices=[1, 2, 0, 2]),
        Sequence.from_dense(changed, Y, 3, "small"),
    ]
    assert len({small.digest(), *(other.digest() for other in others)}) == len(others) + 1
    assert replace(small, name="other").digest() == small.digest()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"labels": [0, 3, 1]}, "label of row 2 is 3, expected an integer from 0 to 2"),
        ({"labels": [-1, 2, 1]}, "label of row 1 is -1"),
        ({"labels": [0.0, 1.0, np.nan]}, "label of row 3 is nan"),
        ({"labels": [0.0, 0.5, 1.0]}, "label of row 2 is 0.5"),
        ({"labels": ["a", "b", "c"]}, "expected integers"),
        ({"labels": [[0, 1, 2]]}, "expected one label per round"),
        ({"values": [1.0, 2.0, np.inf, 1.0]}, "row 3, column 0 of 'small' is inf"),
        ({"values": [1.0, np.nan, 0.0, 1.0]}, "row 1, column 2 of 'small' is nan"),
        ({"values": [1.0, 2.0, 3.0, 1e200]}, "row 3 of 'small' has a squared norm that overflows"),
        ({"n_labels": 1}, "n_labels is 1, expected an integer >= 2"),
        ({"n_labels": 2.5}, "n_labels is 2.5"),
        ({"n_features": 0}, "n_features is 0"),
        ({"n_features": 2}, "row 1 of 'small' has column 2, expected 0 to 1"),
        ({"indices": [1, 2, 2, 0]}, "row 3 of 'small' has columns that repeat or are not sorted"),
        ({"indices": [1, 1, 0, 2]}, "row 1 of 'small' has columns that repeat"),
        ({"indptr": [0, 2, 1, 4]}, "row offsets"),
        ({"indptr": [0, 2, 4]}, "row offsets"),
        ({"comparator": zero_comparator(3, 2)}, r"comparator has shape \(3, 2\)"),
    ],
)
def test_bad_parts_are_named(small: Sequence, change: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        replace(small, **change)


def test_empty_sequences_and_prefixes(small: Sequence) -> None:
    with pytest.raises(UserError, match="0 rounds"):
        Sequence.from_dense(np.empty((0, 2)), [], 2, "empty")
    with pytest.raises(UserError, match="horizon is 0, expected an integer >= 1"):
        small.prefix(0)
    with pytest.raises(UserError, match="horizon 4 exceeds the 3 rounds of 'small'"):
        small.prefix(4)
    with pytest.raises(UserError, match="expected \\(rounds, features\\)"):
        Sequence.from_dense(np.ones(3), Y, 3, "flat")


def test_comparator_scores_norm_and_fractions(small: Sequence) -> None:
    third = Fraction(1, 3)
    comparator = Comparator.exact([[(i == j) - third for j in range(3)] for i in range(3)])
    assert comparator.how == "planted"
    assert comparator.norm == np.sqrt(2.0)
    assert np.array_equal(comparator.scores(small), X @ comparator.weights.T)
    assert Comparator(np.array([[3.0, 0.0], [0.0, 4.0]]), "fitted").norm == 5.0
    zero = zero_comparator(3, 3)
    assert (zero.how, zero.norm) == ("zero", 0.0)


def test_bad_comparators(small: Sequence) -> None:
    with pytest.raises(UserError, match="label 1, feature 0 is nan"):
        Comparator(np.array([[0.0], [np.nan]]), "fitted")
    with pytest.raises(UserError, match="expected \\(K, d\\)"):
        Comparator(np.zeros(3), "fitted")
    with pytest.raises(UserError, match="do not round"):
        Comparator(np.array([[0.3]]), "planted", ((Fraction(1, 3),),))
    with pytest.raises(UserError, match="expected \\(3, 3\\)"):
        zero_comparator(3, 4).scores(small)


def test_streams_depend_on_seed_and_spec_only() -> None:
    first = generator_of(5, "a").random(4)
    assert np.array_equal(first, generator_of(5, "a").random(4))
    assert not np.array_equal(first, generator_of(6, "a").random(4))
    assert not np.array_equal(first, generator_of(5, "b").random(4))
    with pytest.raises(UserError, match="seed is -1"):
        generator_of(-1, "a")


def test_noise_is_drawn_over_all_classes() -> None:
    uniforms = np.random.default_rng(1).random((60_000, 3))
    classes, labels = noisy_classes(uniforms, 3, 0.3)
    assert np.array_equal(noisy_classes(uniforms, 3, 0.0)[1], classes)
    # Six standard deviations: 0.3 * 2/3 of the labels differ from the class.
    assert abs((classes != labels).mean() - 0.2) < 6 * np.sqrt(0.16 / 60_000)
    assert np.abs(np.bincount(labels) / 60_000 - 1 / 3).max() < 6 * np.sqrt(2 / 9 / 60_000)
    top = np.array([[np.nextafter(1.0, 0.0)] * 3])
    assert all(noisy_classes(top, k, 1.0)[0][0] == k - 1 for k in range(2, 200))


@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan"), "much"])
def test_integers_are_checked(value: Any) -> None:
    with pytest.raises(UserError, match="horizon is"):
        integer_at_least("horizon", value, 1)
