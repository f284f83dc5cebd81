"""Surrogate losses: three derivations agree, and the constants are what they say."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundcheck.algorithms import losses
from boundcheck.algorithms.losses import LOGISTIC_SMOOTHNESS, Hinge, Logistic, SmoothHinge
from boundcheck.errors import UserError
from boundcheck.verify.exact import gappletron as exact
from boundcheck.verify.exact.numbers import intervals

NAMES = ("smooth-hinge", "hinge", "logistic-2", "logistic-K")
EIGHTHS = st.integers(-24, 24).map(lambda n: n / 8)
SCORES = st.integers(2, 6).flatmap(lambda k: st.lists(EIGHTHS, min_size=k, max_size=k))


def kernel_values(loss, scores: np.ndarray, label: int) -> tuple[float, float, np.ndarray]:
    """Loss, gap and score gradient as the game computes them."""
    order = np.argsort(-scores, kind="stable")
    best, runner = int(order[0]), int(order[1])
    parameters, work, gradient = loss.parameters(len(scores)), np.empty(len(scores) + 1), scores * 0
    gap = loss.gap(scores, best, runner, parameters, work)
    value = loss.surrogate(scores, best, runner, label, parameters, work, gradient)
    return value, gap, gradient


@pytest.mark.parametrize("name", NAMES)
@settings(derandomize=True, deadline=None, max_examples=60)
@given(scores=SCORES, data=st.data())
def test_kernels_arrays_and_exact_arithmetic_agree(name, scores, data) -> None:
    """Multiples of 1/8, so that scores tie."""
    compare(name, np.array(scores), data.draw(st.integers(0, len(scores) - 1)))


@pytest.mark.parametrize("name", NAMES)
def test_they_agree_at_every_kink(name: str) -> None:
    for margin, label, best in product(range(10), range(3), range(2)):
        scores = np.array([-1.0, 0.0, 0.0])
        scores[2 * best] = margin / 8  # over a runner-up at 0
        compare(name, scores, label)


@pytest.mark.parametrize("name", NAMES)
def test_they_agree_on_random_scores(name: str) -> None:
    generator = np.random.default_rng(4)
    for n_labels, scale in product((2, 3, 6), (1e-6, 0.3, 1.0, 5.0, 30.0)):
        for _ in range(3):
            compare(
                name, generator.normal(size=n_labels) * scale, int(generator.integers(n_labels))
            )


def compare(name: str, row: np.ndarray, label: int) -> None:
    loss, scores = losses.parse(name), row.tolist()
    value, gap, gradient = kernel_values(loss, row, label)
    parsed, values = exact.parse(name, len(scores)), intervals(map(Fraction, scores))
    assert value == pytest.approx(float(exact.surrogate(parsed, values, label)), abs=1e-12)
    assert gap == pytest.approx(float(exact.gap(parsed, values)), abs=1e-12)
    squared = float(exact.gradient_squared_norm(parsed, values, label))
    assert float(gradient @ gradient) == pytest.approx(squared, abs=1e-12)
    assert gradient.sum() == pytest.approx(0, abs=1e-12)
    labels = np.array([label])
    margins, _ = losses.margins(row[None], np.array([int(np.argmax(row))]))
    counts = loss.counts_for_comparator(np.array([int(np.argmax(row))]), margins, labels)[0]
    assert value == pytest.approx(counts * loss.values(row[None], labels)[0], abs=1e-12)
    assert gradient == pytest.approx(counts * loss.gradients(row[None], labels)[0], abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_derivatives(name: str) -> None:
    loss, generator, step = losses.parse(name), np.random.default_rng(1), 1e-6
    for _ in range(50):
        scores = generator.normal(size=4)
        label = int(generator.integers(4))
        value, _, gradient = kernel_values(loss, scores, label)
        if name == "hinge" and value == 0:
            continue
        for k in range(4):
            up, down = scores.copy(), scores.copy()
            up[k] += step
            down[k] -= step
            slope = loss.values(up[None], np.array([label])) - loss.values(
                down[None], np.array([label])
            )
            assert slope[0] / (2 * step) == pytest.approx(gradient[k], abs=1e-4)


@pytest.mark.parametrize("name", ["smooth-hinge", "logistic-2", "logistic-K"])
@pytest.mark.parametrize("n_labels", [2, 3, 7])
def test_smoothness_bounds_and_is_tight(name: str, n_labels: int) -> None:
    loss = losses.parse(name)
    ratios = []
    for margin in np.linspace(-3, 6, 2000):
        scores = np.full(n_labels, -40.0)
        scores[0], scores[1] = margin, 0.0
        value, _, gradient = kernel_values(loss, scores, 0)
        if value > 1e-9:
            ratios.append(float(gradient @ gradient) / (2 * loss.smoothness(1.0, n_labels) * value))
    assert max(ratios) <= 1 + 1e-9
    assert max(ratios) >= 0.9999
    assert loss.smoothness(3.0, n_labels) == pytest.approx(9 * loss.smoothness(1.0, n_labels))


def test_the_logistic_constant_is_the_exact_one_rounded_up() -> None:
    sharp = exact.smoothness(exact.parse("logistic-2", 2)) * intervals([2])[0].log()
    assert float(sharp.hi) < LOGISTIC_SMOOTHNESS < float(sharp.hi) + 1e-10


@pytest.mark.parametrize("name", NAMES)
def test_maximum_bounds_the_loss_over_the_ball(name: str) -> None:
    loss, generator = losses.parse(name), np.random.default_rng(2)
    radius, norm, n_labels = 1.7, 2.3, 4
    bound, highest = loss.maximum(radius, norm, n_labels), 0.0
    extreme = np.zeros((n_labels, 3))
    extreme[0, 0], extreme[1, 0] = -norm / math.sqrt(2), norm / math.sqrt(2)
    for weights in [extreme, *generator.normal(size=(200, n_labels, 3))]:
        scaled = weights * norm / np.linalg.norm(weights)
        x = generator.normal(size=3) if weights is not extreme else np.array([1.0, 0, 0])
        scores = scaled @ (x * radius / np.linalg.norm(x))
        highest = max(highest, float(loss.values(scores[None], np.array([0]))[0]))
    assert highest <= bound
    assert highest >= 0.75 * bound


def test_the_hinge_threshold() -> None:
    wide = losses.parse("hinge-0.25")
    assert wide == Hinge(0.25)
    scores = np.array([0.3, 0.0, -1.0])
    assert kernel_values(wide, scores, 0)[:2] == (0.0, 0.0)
    assert kernel_values(Hinge(), scores, 0)[:2] == (0.7, 0.7)
    assert wide.smoothness(1.0, 3) == pytest.approx(4 / 3)


def test_gap_maps_stay_in_the_unit_interval() -> None:
    scores = np.array([1e-9, 0.0, 0.0])
    for name in NAMES:
        assert 0 <= kernel_values(losses.parse(name), scores, 0)[1] <= 1
    assert kernel_values(Logistic(2), np.zeros(5), 0)[1] == 1.0  # -log_2(1/5) clipped
    assert kernel_values(Logistic(None), np.zeros(5), 0)[1] == pytest.approx(1)


@pytest.mark.parametrize("name", NAMES)
def test_names_round_trip(name: str) -> None:
    assert losses.parse(losses.parse(name).spec) == losses.parse(name)
    assert losses.parse("smooth-hinge") == SmoothHinge()


@pytest.mark.parametrize(
    "name", ["hinge-2", "hinge-x", "hinge--1", "logistic-1", "logistic-e", "smooth", "log"]
)
def test_illegal_names(name: str) -> None:
    with pytest.raises(UserError, match="expected"):
        losses.parse(name)
