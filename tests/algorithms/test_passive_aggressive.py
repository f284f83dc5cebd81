"""The passive-aggressive step: its rival, its length, and what it does where it would overflow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from worked_examples import steps

from boundcheck.algorithms.passive_aggressive import VARIANTS, PassiveAggressive
from boundcheck.errors import UserError

X = np.array([2.0, 1, -1])


def step_of(learner: PassiveAggressive, x: Any, label: int, weights: Any) -> np.ndarray:
    ((_, step),) = steps(learner, "full", x, label, weights)
    return step


@pytest.mark.parametrize(
    ("label", "rival", "loss"), [(0, 1, 0.75), (1, 0, 1.25), (2, 0, 2), (3, 0, 3)]
)
def test_the_rival_is_the_best_other_label(label: int, rival: int, loss: float) -> None:
    """Scores 1, 3/4, 0, -1: after a right guess of small margin too, where yhat would be no rival."""
    weights = np.zeros((4, 3))
    weights[:, 0] = [0.5, 0.375, 0, -0.5]
    step = step_of(PassiveAggressive("pa"), X, label, weights)
    assert step == pytest.approx(np.outer(np.eye(4)[label] - np.eye(4)[rival], X) * loss / 12)


def test_after_the_step_of_pa_the_margin_is_one_while_the_rival_stays() -> None:
    generator = np.random.default_rng(2)
    same = 0
    for _ in range(200):
        weights, x, label = generator.normal(size=(4, 3)), generator.normal(size=3), 1
        before = weights @ x
        after = (weights + step_of(PassiveAggressive("pa"), x, label, weights)) @ x
        others = [0, 2, 3]
        rivals = [others[int(np.argmax(scores[others]))] for scores in (before, after)]
        margin = before[label] - before[rivals[0]]
        if margin < 1 and rivals[0] == rivals[1]:
            same += 1
            assert after[label] - after[rivals[1]] == pytest.approx(1, abs=1e-9)
        if margin >= 1:
            assert np.array_equal(before, after)
    assert same > 50


@pytest.mark.parametrize(
    ("learner", "size"),
    [
        # at zero weights the loss is 1, and |x|^2 = 6
        (PassiveAggressive("pa"), 1 / 12),
        (PassiveAggressive(), 1 / 12),
        (PassiveAggressive("pa-1", 0.05), 0.05),
        (PassiveAggressive("pa-2"), 1 / 12.5),
        (PassiveAggressive("pa-2", 0.05), 1 / 22),
        (PassiveAggressive("pa-2", tuning="theory"), 1 / 12.5),
        (PassiveAggressive("pa-1", 0.05, tuning="ones"), 0.05),
    ],
)
def test_lengths_of_the_variants(learner: PassiveAggressive, size: float) -> None:
    step = step_of(learner, X, 2, np.zeros((3, 3)))
    assert step == pytest.approx(np.outer([-size, 0, size], X))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", [0.0, 1e-170, 1e-155])
def test_no_step_is_infinite(variant: str, size: float) -> None:
    step = step_of(PassiveAggressive(variant), [size, 0, 0], 1, np.zeros((3, 3)))
    assert np.isfinite(step).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"variant": "pa-3"}, "variant of passive-aggressive 'pa-3' .*: expected one of pa, pa-1"),
        ({"aggressiveness": 0.0}, "aggressiveness=0.0 of passive-aggressive: expected a finite"),
        ({"aggressiveness": float("inf")}, "expected a finite number above 0"),
        ({"variant": "pa", "aggressiveness": 2.0}, "expected no aggressiveness"),
        (
            {"tuning": "best"},
            "tuning of passive-aggressive 'best' .*: expected one of default, ones",
        ),
    ],
)
def test_illegal_parameters(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        PassiveAggressive(**given)
