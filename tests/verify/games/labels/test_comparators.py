from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from boundcheck.adversaries.keywords import Keywords
from boundcheck.adversaries.one_hot import OneHot
from boundcheck.adversaries.sequence import Comparator, Sequence
from boundcheck.algorithms.losses import Hinge, Logistic, Loss, SmoothHinge
from boundcheck.errors import UserError
from boundcheck.verify.games.labels.compared.exact import margin, separates
from boundcheck.verify.games.labels.compared.fit import fit

LOSSES = [SmoothHinge(), Hinge(), Logistic(2)]


def mean_loss(loss: Loss, sequence: Sequence, comparator: Comparator) -> float:
    return float(loss.values(comparator.scores(sequence), sequence.labels).mean())


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.spec)
@pytest.mark.parametrize("radius", [1e-3, 0.1, 1.0, 7.3])
def test_the_norm_is_at_most_the_radius_exactly(loss: Loss, radius: float) -> None:
    sequence = Keywords(1, 3, 0.2).sequence(100, 0)
    comparator = fit(sequence, loss, radius, steps=20)
    squares = sum(Fraction(entry) ** 2 for entry in comparator.weights.ravel().tolist())
    assert 0 < squares <= Fraction(radius) ** 2
    assert comparator.how == "fitted"


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.spec)
@pytest.mark.parametrize("radius", [0.7, 2.0])
def test_one_hot_has_the_best_symmetric_comparator(loss: Loss, radius: float) -> None:
    """By symmetry and convexity a multiple of I - 11^T/K is optimal when all classes are equal."""
    K = 4
    sequence = Sequence.from_dense(np.eye(K), range(K), K, "eye")
    base = np.eye(K) - 1 / K
    multiples = np.linspace(0, radius / np.linalg.norm(base), 2001)
    best = min(mean_loss(loss, sequence, Comparator(c * base, "fitted")) for c in multiples)
    assert mean_loss(loss, sequence, fit(sequence, loss, radius)) <= best + 0.01


@pytest.mark.parametrize("radius", [1.0, 3.0])
def test_logistic_fit_agrees_with_scipy(radius: float) -> None:
    loss = Logistic(2)
    sequence = Keywords(1, 3, 0.2).sequence(80, 0)
    X, shape = sequence.dense(), (3, 40)

    def objective(flat: Any) -> float:
        return float(loss.values(X @ flat.reshape(shape).T, sequence.labels).mean())

    def gradient(flat: Any) -> Any:
        slopes = loss.gradients(X @ flat.reshape(shape).T, sequence.labels)
        return (slopes.T @ X / len(X)).ravel()

    ball = {
        "type": "ineq",
        "fun": lambda flat: radius**2 - flat @ flat,
        "jac": lambda flat: -2 * flat,
    }
    found = minimize(objective, np.zeros(120), jac=gradient, method="SLSQP", constraints=[ball])
    assert found.success
    ours = mean_loss(loss, sequence, fit(sequence, loss, radius))
    assert ours == pytest.approx(found.fun, rel=1e-3)


def test_separable_rounds_reach_loss_zero_with_room_to_spare() -> None:
    sequence = Keywords(2, 6, 0.0).sequence(600, 0)
    for loss in (SmoothHinge(), Hinge()):
        comparator = fit(sequence, loss, 5.0)
        assert mean_loss(loss, sequence, comparator) == 0.0
        assert margin(sequence, comparator) >= 1.0


def test_a_fit_beats_the_planted_comparator_of_noisy_rounds() -> None:
    sequence = OneHot(3, 0.3).sequence(2000, 0)
    loss, planted = SmoothHinge(), sequence.comparator
    assert planted is not None
    fitted = fit(sequence, loss, planted.norm)
    assert mean_loss(loss, sequence, fitted) < mean_loss(loss, sequence, planted)


def test_fits_are_repeatable_and_larger_balls_fit_no_worse() -> None:
    sequence, loss = Keywords(1, 4, 0.1).sequence(300, 2), SmoothHinge()
    assert np.array_equal(fit(sequence, loss, 1.0).weights, fit(sequence, loss, 1.0).weights)
    values = [mean_loss(loss, sequence, fit(sequence, loss, radius)) for radius in (0.1, 0.5, 1, 2)]
    assert values == sorted(values, reverse=True)
    assert values[0] < 1


def test_features_that_are_all_zero() -> None:
    sequence = Sequence.from_dense(np.zeros((4, 2)), [0, 1, 0, 1], 2, "blank")
    for loss in LOSSES:
        comparator = fit(sequence, loss, 10.0)
        assert comparator.norm <= 10.0
        assert mean_loss(loss, sequence, comparator) == 1.0


def test_margin() -> None:
    sequence = Sequence.from_dense([[1.0, 0.0], [0.0, 2.0]], [0, 1], 2, "two")
    comparator = Comparator(np.array([[1.0, 0.5], [0.0, 1.0]]), "fitted")
    assert margin(sequence, comparator) == 1.0
    assert margin(sequence.relabelled([0, 0]), comparator) == -1.0
    one_hot = OneHot(3).sequence(50, 0)
    assert one_hot.comparator is not None
    assert margin(one_hot, one_hot.comparator) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("bound", [0.0, -1.0, float("nan"), float("inf")])
def test_a_bad_norm(bound: float) -> None:
    with pytest.raises(UserError, match="expected a positive finite number"):
        fit(OneHot().sequence(5, 0), SmoothHinge(), bound)


def _separates_slowly(sequence: Sequence, rows: list[list[Fraction]]) -> bool:
    for x, label in zip(sequence.dense().tolist(), sequence.labels.tolist(), strict=True):
        scores = [sum(u * Fraction(v) for u, v in zip(row, x, strict=True)) for row in rows]
        if scores[label] - max(s for k, s in enumerate(scores) if k != label) < 1:
            return False
    return True


def test_separation_is_decided_exactly() -> None:
    """Margins of exactly 1, of a hair less, and labels with equal weights, against a plain sum of fractions."""
    random = np.random.default_rng(5)
    seen = []
    for _ in range(300):
        K, d, T = (int(n) for n in random.integers((2, 1, 1), (5, 4, 6)))
        rows = [[Fraction(int(v), 3) for v in random.integers(-1, 3, d)] for _ in range(K)]
        X = random.integers(0, 4, (T, d)) * random.choice([1.0, 0.75, 1.0 + 2**-52])
        scores = X @ np.array(rows, dtype=np.float64).T
        sequence = Sequence.from_dense(X, np.argmax(scores, axis=1), K, "any")
        nudged = [
            [value + random.choice([0, 0, 10**9]) * Fraction(1, 10**26) for value in row]
            for row in rows
        ]
        for weights in (rows, nudged):
            found = separates(sequence, weights)
            assert found == _separates_slowly(sequence, weights)
            seen.append(found)
    assert 50 < sum(seen) < 550


@pytest.mark.parametrize(("x", "weight"), [(1.0, Fraction(1)), (0.75, Fraction(4, 3))])
def test_separation_is_exact_where_floats_cannot_tell(x: float, weight: Fraction) -> None:
    sequence = Sequence.from_dense([[x]], [1], 2, "one round")
    hair = Fraction(1, 10**20)
    assert separates(sequence, [[Fraction(0)], [weight]])
    assert not separates(sequence, [[Fraction(0)], [weight - hair]])
