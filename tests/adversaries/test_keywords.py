from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from boundcheck.adversaries.keywords import BLOCK, Keywords, planted, subsets
from boundcheck.errors import UserError


@pytest.mark.parametrize("scale", [1, 2, 4])
def test_documents_follow_appendix_f(scale: int) -> None:
    sequence = Keywords(scale, 6, 0.0).sequence(800, 3)
    X = sequence.dense()
    assert X.shape == (800, 40 * scale)
    assert set(np.unique(X)) == {0.0, 1.0}
    assert (X[:, 10 * scale :].sum(axis=1) == 5 * scale).all()
    for label in range(6):
        keywords = np.unique(X[sequence.labels == label, : 10 * scale], axis=0)
        assert len(keywords) == 1
        assert scale <= keywords.sum() <= 5 * scale


def test_the_number_of_keywords_is_uniform() -> None:
    X = Keywords(2, 4000, 0.0)._keywords(np.random.default_rng(0))
    counts = np.bincount(X.sum(axis=1), minlength=11)
    assert counts[:2].sum() == 0
    assert len(counts) == 11
    assert np.abs(counts[2:] - 4000 / 9).max() < 6 * math.sqrt(4000 * 8 / 81)
    chance = 6 / 20  # mean number of keywords over the number of bits
    assert np.abs(X.mean(axis=0) - chance).max() < 6 * math.sqrt(chance * (1 - chance) / 4000)


def test_subsets_are_uniform() -> None:
    chosen = subsets(np.random.default_rng(0).random((20_000, 2)), 4)
    assert (chosen.sum(axis=1) == 2).all()
    for pair in combinations(range(4), 2):
        frequency = chosen[:, pair].all(axis=1).mean()
        assert abs(frequency - 1 / 6) < 6 * math.sqrt(5 / 36 / 20_000)


def test_noise_changes_labels_at_its_rate() -> None:
    sequence = Keywords(2, 6, 0.1).sequence(20_000, 0)
    assert sequence.comparator is not None
    best = sequence.comparator.scores(sequence).argmax(axis=1)
    rate = 0.1 * 5 / 6
    assert abs((best != sequence.labels).mean() - rate) < 6 * math.sqrt(rate / 20_000)


def test_same_seed_same_rounds_and_prefixes() -> None:
    adversary = Keywords(2, 6, 0.05)
    whole = adversary.sequence(BLOCK + 50, 7)
    assert whole.digest() == adversary.sequence(BLOCK + 50, 7).digest()
    assert whole.digest() != adversary.sequence(BLOCK + 50, 8).digest()
    for horizon in (1, BLOCK, BLOCK + 1):
        assert whole.prefix(horizon).digest() == adversary.sequence(horizon, 7).digest()


@pytest.mark.parametrize(("scale", "n_labels"), [(1, 2), (2, 6), (3, 9), (4, 12)])
def test_the_planted_comparator_has_margin_one_exactly(scale: int, n_labels: int) -> None:
    sequence = Keywords(scale, n_labels, 0.0).sequence(60, 1)
    assert sequence.comparator is not None
    exact = sequence.comparator.fractions
    assert exact is not None
    assert all(sum(column) == 0 for column in zip(*exact, strict=True))
    margins = []
    for t, label in enumerate(sequence.labels):
        columns = sequence.indices[sequence.indptr[t] : sequence.indptr[t + 1]]
        scores = [sum((row[c] for c in columns), Fraction(0)) for row in exact]
        own = scores.pop(label)
        margins.append(own - max(scores))
    assert min(margins) == 1


def test_no_comparator_when_two_classes_share_their_keywords() -> None:
    keywords = np.array([[1, 0, 1], [0, 1, 1], [1, 0, 1]], dtype=bool)
    assert planted(keywords, 1) is None
    assert planted(keywords[:2], 1) is not None


def test_a_hundred_thousand_documents_are_quick() -> None:
    start = perf_counter()
    Keywords(4, 12, 0.1).sequence(100_000, 0)
    assert perf_counter() - start < 5  # about 0.2 s; a loop over rounds needs far more


def test_spec_names_every_parameter() -> None:
    assert Keywords(3, 9, 0).spec == "keywords:keyword_scale=3,n_labels=9,noise=0.0"
    assert Keywords(noise=1 / 3).spec.endswith(f"noise={1 / 3}")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"keyword_scale": 0}, "keyword_scale=0"),
        ({"n_labels": 1}, "n_labels=1"),
        ({"noise": -0.5}, "noise=-0.5"),
        ({"noise": float("nan")}, "noise=nan"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        Keywords(**parameters)


@pytest.mark.parametrize(("horizon", "seed", "words"), [(0, 1, "horizon is 0"), (1, -1, "seed")])
def test_bad_horizon_and_seed(horizon: int, seed: int, words: str) -> None:
    with pytest.raises(UserError, match=words):
        Keywords().sequence(horizon, seed)
