"""Data sets that come with scikit-learn: what is handed over, and the sentences for what is not."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from boundcheck.adversaries import bundled
from boundcheck.adversaries.bundled import NAMES, Bundled
from boundcheck.errors import UserError
from boundcheck.verify import catalog

SIZES = {
    "breast-cancer": (569, 30, 2),
    "digits": (1797, 64, 10),
    "iris": (150, 4, 3),
    "wine": (178, 13, 3),
}


@pytest.mark.parametrize("name", NAMES)
def test_each_pass_shows_every_row_once(name: str) -> None:
    rows, features, n_labels = SIZES[name]
    made = Bundled(name)
    assert made.n_labels == n_labels
    twice = made.sequence(2 * rows + 1, 3)
    assert (twice.n_features, twice.n_labels) == (features, n_labels)
    whole = np.column_stack([twice.dense(), twice.labels])
    first, second = whole[:rows], whole[rows : 2 * rows]
    for one_pass in (first, second):
        assert np.array_equal(
            np.sort(one_pass.view([("", float)] * (features + 1)), axis=0),
            np.sort(
                np.column_stack(bundled._rows(name)).view([("", float)] * (features + 1)), axis=0
            ),
        )
    assert not np.array_equal(first, second)


def test_the_seed_orders_the_rows_and_a_shorter_horizon_is_a_prefix() -> None:
    wine = catalog.adversary("bundled:name=wine,form=binary")
    long = wine.sequence(400, 0)
    assert wine.sequence().horizon == 178
    assert np.array_equal(wine.sequence(200, 0).dense(), long.dense()[:200])
    assert not np.array_equal(wine.sequence(400, 1).labels, long.labels)


def test_binary_features_are_above_their_median_or_not() -> None:
    recorded = Bundled("wine").sequence().dense()
    binary = Bundled("wine", "binary").sequence().dense()
    assert {*binary.ravel()} == {0.0, 1.0}
    above = recorded > np.median(recorded, axis=0)
    assert np.array_equal(above.sum(axis=0), binary.sum(axis=0))


def test_without_scikit_learn_the_way_to_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    bundled._rows.cache_clear()
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(UserError, match=r"'wine' needs scikit-learn.*pip install scikit-learn"):
        Bundled("wine").sequence(5, 0)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("bundled:name=digit", "unknown name of bundled 'digit'.*did you mean 'digits'"),
        (
            "bundled:form=median",
            "unknown form of bundled 'median': expected one of binary, recorded",
        ),
        ("bundled:rows=3", "unknown parameter of 'bundled' 'rows'"),
    ],
)
def test_bad_input_is_one_sentence(spec: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        catalog.adversary(spec)
