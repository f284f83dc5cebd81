"""Estimates under exploration and the logistic loss: means by enumeration, bounds, derivatives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from boundcheck.algorithms.boosting import estimates, logistic
from boundcheck.algorithms.boosting.estimates import (
    estimate,
    exploration,
    loss_bound,
    loss_estimate,
)
from boundcheck.errors import UserError

RATES = (0.01, 0.1, 0.3, 0.5)


def draws(k: int, rho: float, best: int, label: int) -> list[tuple[float, np.ndarray]]:
    """Probability and loss estimate of each label that may be played."""
    p = exploration(best, rho, k)
    return [(p[a], loss_estimate(best, a, a == label, p)) for a in range(k)]


def printed(k: int, rho: float, best: int, label: int, played: int) -> np.ndarray:
    """Equation (4), word for word, which needs to know the true label."""
    p = exploration(best, rho, k)
    losses = np.array([(played == label) / p[label] * (label != r) for r in range(k)])
    losses[best] = (played == best) / p[best] * (label != best)
    return losses


@pytest.mark.parametrize("k", range(2, 7))
def test_loss_estimates_are_unbiased_and_as_printed(k: int) -> None:
    for rho, best, label in product(RATES, range(k), range(k)):
        found = draws(k, rho, best, label)
        assert sum(p for p, _ in found) == pytest.approx(1, abs=1e-12)
        mean = sum(p * losses for p, losses in found)
        assert mean == pytest.approx(1.0 - (np.arange(k) == label), abs=1e-12)
        for played, (_, losses) in enumerate(found):
            assert losses == pytest.approx(printed(k, rho, best, label, played), rel=1e-15)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_estimates_of_anything_are_unbiased(k: int) -> None:
    """Equation (5) for a matrix of costs and for numbers."""
    generator = np.random.default_rng(k)
    for rho, best, label in product(RATES, range(k), range(k)):
        for rows in (generator.normal(size=(k, k)), generator.normal(size=k)):
            mean = sum(p * estimate(losses, rows) for p, losses in draws(k, rho, best, label))
            assert mean == pytest.approx(rows[label], abs=1e-11)


@pytest.mark.parametrize("k", range(2, 8))
def test_the_bound_of_a_loss_estimate_is_attained(k: int) -> None:
    for rho in (*RATES, k / (k + 1), 0.9):
        largest = max(
            losses.max()
            for best, label in product(range(k), repeat=2)
            for _, losses in draws(k, rho, best, label)
        )
        assert largest == pytest.approx(loss_bound(k, rho), rel=1e-12)


def test_the_printed_bound_of_a_loss_estimate_holds_to_the_limit_and_not_beyond() -> None:
    for k in range(2, 8):
        limit = estimates.largest_rate(k)
        for rho in np.linspace(0.01, limit, 30):
            assert loss_bound(k, rho) <= k / rho * (1 + 1e-12)
            smallest_factor = 1 - loss_bound(k, rho)
            assert abs(smallest_factor) <= k / rho
        assert loss_bound(k, limit * 1.01) > k / (limit * 1.01)


def test_the_printed_bound_of_a_cost_estimate_fails_from_four_labels_on() -> None:
    """Columns that put all the cost where the estimate is most negative: mean within the simplex, entries far out."""
    for k, ratio in ((4, 1.45), (5, 2.34), (10, 7.12)):
        rho, best, label = 0.1, 0, 1
        rows = np.zeros((k, k))
        rows[2:, 0] = 1.0  # c_r puts weight 1 on label 0 for every third label r
        rows[label, 2] = rows[best, 2] = 1.0
        assert rows.sum(axis=1) == pytest.approx(1)
        assert (np.diag(rows) == 0).all()
        largest = max(
            np.abs(estimate(losses, rows)).max() for _, losses in draws(k, rho, best, label)
        )
        assert largest == pytest.approx((k - 2) * ((k - 1) / rho - 1), rel=1e-12)
        assert largest / (k / rho) == pytest.approx(ratio, abs=0.01)


@pytest.mark.parametrize("k", [2, 3, 5, 10])
def test_k_squared_over_rho_bounds_cost_estimates(k: int) -> None:
    """An entry is linear in each row, so the largest is met at rows that are zero or one at it."""
    for rho in RATES:
        for best, label in product(range(2), range(k)):
            for _, losses in draws(k, rho, best, label):
                factors = 1 - losses
                assert max(factors[factors > 0].sum(), -factors[factors < 0].sum()) <= k * k / rho


def test_the_rate_is_checked() -> None:
    for rho in (0.0, -0.1, 1e-320, 9.9e-10, 0.76, 1.0, float("nan")):
        with pytest.raises(UserError) as told:
            estimates.check_rate(rho, 3)
        assert str(told.value) == (
            f"exploration rate rho={rho}: expected a number in [1e-09, 0.75], as the loss estimates of 3 labels are"
            " bounded by k/rho for rho up to k/(k+1) only."
        )
    estimates.check_rate(0.75, 3)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_logistic_costs_are_gradients(k: int) -> None:
    generator, step = np.random.default_rng(k), 1e-5
    for _ in range(40):
        scores = generator.normal(size=k) * 3
        costs = logistic.cost_matrix(scores)
        assert costs.sum(axis=1) == pytest.approx(np.zeros(k), abs=1e-14)
        assert (costs.argmin(axis=1) == np.arange(k)).all()
        assert (-np.diag(costs) <= k - 1).all()
        assert (np.abs(costs) <= k - 1).all()
        for label, along in product(range(k), repeat=2):
            moved = step * np.eye(k)[along]
            rise = logistic.loss(scores + moved, label) - logistic.loss(scores - moved, label)
            assert rise / (2 * step) == pytest.approx(costs[label, along], abs=1e-8)


def test_the_cost_of_the_label_nears_k_minus_1() -> None:
    assert logistic.cost_matrix(np.array([-40.0, 0, 0]))[0] == pytest.approx([-2, 1, 1])
    assert logistic.loss(np.array([-1e4, 0, 0]), 0) == pytest.approx(2e4)


def test_slopes_are_derivatives_in_the_weight() -> None:
    """Of the loss for each true label; with the sign of the margin flipped for the right one they are not."""
    generator, step, k, n = np.random.default_rng(5), 1e-5, 4, 6
    for _ in range(20):
        before = generator.normal(size=(n, k)) * 2
        labels = generator.integers(k, size=n)
        weights = generator.uniform(-2, 2, size=n)
        found = logistic.slopes(before, labels, weights)
        flipped = 0
        for i, label in product(range(n), range(k)):
            along = np.eye(k)[labels[i]]
            at = before[i] + weights[i] * along
            rise = logistic.loss(at + step * along, label) - logistic.loss(at - step * along, label)
            assert found[i, label] == pytest.approx(rise / (2 * step), abs=1e-8)
            assert found[i, label] == pytest.approx(
                logistic.cost_matrix(at)[label, labels[i]], abs=1e-12
            )
            if label == labels[i]:
                others = np.delete(at, label)
                wrong = -(1 / (1 + np.exp(-(at[label] - others)))).sum()
                flipped += abs(wrong - found[i, label]) > 0.05
        assert flipped > 0


@pytest.mark.parametrize("k", [2, 3, 5, 10])
def test_the_estimated_slope_is_unbiased_and_bounded(k: int) -> None:
    """k^2 / rho suffices for rho up to 1/2, half of the printed 2 k^2 / rho."""
    generator = np.random.default_rng(k)
    for rho in RATES:
        for _ in range(20):
            before = generator.normal(size=(1, k)) * generator.choice([0.3, 3.0, 30.0])
            labels, weights = generator.integers(k, size=1), generator.uniform(-2, 2, size=1)
            slopes = logistic.slopes(before, labels, weights)[0]
            for best, label in product(range(2), range(k)):
                found = [(p, estimate(losses, slopes)) for p, losses in draws(k, rho, best, label)]
                assert sum(p * s for p, s in found) == pytest.approx(slopes[label], abs=1e-10)
                assert max(abs(s) for _, s in found) <= k * k / rho


def test_the_printed_bound_of_the_slope_fails_for_two_labels_and_much_exploration() -> None:
    slopes = logistic.slopes(np.array([[0.0, 40.0]]), np.array([0]), np.zeros(1))[0]
    found = [estimate(losses, slopes) for _, losses in draws(2, 0.9, 0, 0)]
    assert max(abs(s) for s in found) == pytest.approx(1)
    found = [
        estimate(losses, logistic.slopes(np.array([[0.0, s]]), np.array([0]), np.zeros(1))[0])
        for s in (-40.0, 40.0)
        for best, label in product(range(2), repeat=2)
        for _, losses in draws(2, 0.9, best, label)
    ]
    assert max(abs(s) for s in found) == pytest.approx(9)
    assert 9 > 2 * 4 / 0.9


def test_the_estimated_loss_is_not_convex_but_the_loss_is() -> None:
    """Negative curvature of the estimate at 0 for some draws: 1 minus the estimate of a loss may be negative."""
    generator, step, k = np.random.default_rng(6), 1e-3, 3
    curved = 0
    for _ in range(100):
        before = generator.normal(size=k)
        along = np.eye(k)[generator.integers(k)]
        values = np.array(
            [[logistic.loss(before + a * along, r) for r in range(k)] for a in (-step, 0, step)]
        )
        curvature = values[0] - 2 * values[1] + values[2]
        assert (curvature > -1e-12).all()
        for best, label in product(range(k), repeat=2):
            curved += sum(
                estimate(losses, curvature) < -1e-9 for _, losses in draws(k, 0.3, best, label)
            )
    assert curved > 0


def test_the_empirical_edge() -> None:
    generator, k, rounds = np.random.default_rng(7), 4, 50
    scores = generator.normal(size=(rounds, k))
    true = generator.integers(k, size=rounds)
    costs = logistic.cost_matrix(scores)[np.arange(rounds), true]
    assert logistic.empirical_edge(costs, true, true) == 1
    worst = costs.argmax(axis=1)
    assert -1 <= logistic.empirical_edge(costs, worst, true) < 0
    for _ in range(50):
        assert -1 <= logistic.empirical_edge(costs, generator.integers(k, size=rounds), true) <= 1


def test_an_expert_that_errs_leaves_a_large_cost() -> None:
    """-C_yy >= 1/2 and a loss of at least ln 2, wherever the label is not the highest alone."""
    generator, k = np.random.default_rng(8), 4
    for _ in range(500):
        scores = generator.normal(size=k).round(1)
        for label in range(k):
            if (np.delete(scores, label) >= scores[label]).any():
                assert -logistic.cost_matrix(scores)[label, label] >= 0.5
                assert logistic.loss(scores, label) >= np.log(2) - 1e-15
