from __future__ import annotations

import math

import numpy as np
import pytest

from boundcheck.adversaries.crafted import DEPTHS, MARGINS, Alternation, CraftedScores
from boundcheck.errors import UserError


@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_the_grid_covers_every_combination(n_labels: int) -> None:
    scores, labels = CraftedScores(n_labels).grid()
    assert MARGINS == (0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1, 1.125, 2)
    assert DEPTHS == (0, 0.25, 8, 32)
    seen = set()
    for row, label in zip(scores, labels, strict=True):
        ordered = np.sort(row)[::-1]
        others = ordered[1] - ordered[2] if n_labels > 2 else 0.0
        tops = np.flatnonzero(row == 0.0)
        for top in tops:
            role = min((label - top) % n_labels, 2)
            seen.add((ordered[0] - ordered[1], others, int(top), int(role)))
    expected = {
        (margin, depth, top, role)
        for margin in MARGINS
        for depth in (DEPTHS if n_labels > 2 else (0.0,))
        for top in range(n_labels)
        for role in range(min(n_labels, 3))
    }
    assert expected <= seen


def test_scores_are_short_binary_fractions_and_the_identity_reads_them() -> None:
    sequence = CraftedScores(4).sequence(3000, 0)
    X = sequence.dense()
    assert np.array_equal(X * 4096, np.round(X * 4096))
    assert np.abs(X).max() <= 34
    assert sequence.comparator is not None
    assert np.array_equal(sequence.comparator.scores(sequence), X)
    assert set(sequence.labels) == {0, 1, 2, 3}


def test_ladder_meets_gap_maps_of_any_size_from_just_above() -> None:
    scores, labels = CraftedScores(4).ladder()
    top, runner = np.sort(scores, axis=1)[:, :-3:-1].T
    gaps = np.unique((1 - (top - runner)) ** 2)
    assert gaps[0] < 0.005
    assert gaps[-1] == 1
    assert (gaps[1:] / gaps[:-1]).max() < 1.15
    assert (labels != np.argmax(scores, axis=1))[4:].all()  # the first rung is a tie
    assert set(np.argmax(scores, axis=1)) == {0, 1, 2, 3}


def test_fixed_rows_first_then_the_seed() -> None:
    adversary = CraftedScores(3)
    size = len(adversary.grid()[1]) + len(adversary.ladder()[1])
    one, two = adversary.sequence(size + 200, 1), adversary.sequence(size + 200, 2)
    assert one.digest() == adversary.sequence(size + 200, 1).digest()
    assert one.digest() != two.digest()
    assert one.prefix(size).digest() == two.prefix(size).digest()
    for horizon in (1, size, size + 10):
        assert one.prefix(horizon).digest() == adversary.sequence(horizon, 1).digest()


def test_alternation() -> None:
    sequence = Alternation().sequence(1000, 0)
    assert sequence.n_features == 1
    assert sequence.labels.tolist() == [0] * 500 + [1] * 500
    assert len(np.unique(sequence.values)) == 1
    assert Alternation().feature(1000) == sequence.values[0]  # a Fraction, so exactly
    assert sequence.values[0] == pytest.approx(0.1 / 32, rel=1e-6)
    assert sequence.comparator is not None
    assert sequence.comparator.how == "zero"
    assert Alternation().sequence(1, 0).labels.tolist() == [0]


def test_unprojected_descent_has_no_constant_on_the_alternation() -> None:
    """Regret over the root of the summed squared gradient norms is about 0.0897 T."""

    def ratio(horizon: int) -> float:
        sequence = Alternation().sequence(horizon, 0)
        weights, squares, regret = np.zeros(2), 0.0, 0.0
        for x, y in zip(sequence.values, sequence.labels, strict=True):
            margin = (weights[y] - weights[1 - y]) * x
            loss = 1 - 2 * margin if margin <= 0 else max(0.0, 1 - margin) ** 2
            slope = -2 * min(1.0, max(0.0, 1 - margin)) * x
            regret += loss - 1  # the comparator 0 loses 1 in every round
            squares += 2 * slope * slope
            step = slope / math.sqrt(squares) if squares else 0.0
            weights[y] -= step
            weights[1 - y] += step
        return regret / math.sqrt(squares)

    for horizon in (400, 1600, 6400):
        assert 0.08 * horizon < ratio(horizon) < 0.1 * horizon


@pytest.mark.parametrize("adversary", [CraftedScores(3), Alternation()])
def test_no_rounds(adversary: CraftedScores | Alternation) -> None:
    with pytest.raises(UserError, match="horizon is 0, expected an integer >= 1"):
        adversary.sequence(0, 0)


def test_specs_and_bad_input() -> None:
    assert CraftedScores(5).spec == "crafted-scores:n_labels=5"
    assert Alternation().spec == "alternation"
    assert Alternation().n_labels == 2
    with pytest.raises(UserError, match="n_labels=0"):
        CraftedScores(0)
