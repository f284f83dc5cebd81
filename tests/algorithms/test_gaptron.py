"""Gaptron: its gap maps, its rates and why they are no larger, and its tunings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from worked_examples import mean_step, run_of, steps

from boundcheck.algorithms import graphs
from boundcheck.algorithms.gaptron import LOSSES, Gaptron
from boundcheck.algorithms.learner import Problem
from boundcheck.errors import UserError


def score_vectors(n_labels: int) -> np.ndarray:
    """Random scores of all sizes, and the two top ones at a grid of margins with the others far below or level."""
    generator = np.random.default_rng(n_labels)
    scales = 10.0 ** generator.uniform(-3, 1.5, size=(1500, 1))
    random = generator.normal(size=(1500, n_labels)) * scales
    margins = np.concatenate([np.linspace(0, 3, 121), [0.5 - 1e-12, 1 - 1e-12, 10]])
    pairs = [np.full((len(margins), n_labels), low) for low in (-800.0, 0.0)]
    for grid in pairs:
        grid[:, 1] = 0
        grid[:, 0] = margins
    return np.concatenate([random, *pairs])


def rounds(loss: str, n_labels: int) -> Iterator[tuple[int, float, int, float, float]]:
    """Best label, gap, label, loss and squared score gradient for all score vectors and labels."""
    made = LOSSES[loss][0]
    numbers = made.parameters(n_labels)
    work, gradient = np.zeros(n_labels + 1), np.zeros(n_labels)
    for scores in score_vectors(n_labels):
        best = int(np.argmax(scores))
        runner = int(np.argmax(np.where(np.arange(n_labels) == best, -np.inf, scores)))
        a = made.gap.python(scores, best, runner, numbers, work)
        for label in range(n_labels):
            value = made.surrogate.python(scores, best, runner, label, numbers, work, gradient)
            yield best, a, label, value, float(gradient @ gradient)


def worst_excess(loss: str, n_labels: int, factor: float) -> float:
    """Largest left side minus right side of the condition, features of norm one, rate factor c / K."""
    rate = factor * LOSSES[loss][1] / n_labels
    return max(
        (1 - a) * (label != best) + a * (n_labels - 1) / n_labels + rate / 2 * squared - value
        for best, a, label, value, squared in rounds(loss, n_labels)
    )


# by which factor the rate could be larger; for the logistic loss up to c = 2 ln(2)^2, met at q = (1/2, 1/2, 0, ...)
ROOM = {"smooth-hinge": 1.0, "hinge": 1.0, "logistic-2": 4 * math.log(2)}


@pytest.mark.parametrize("n_labels", [2, 3, 6])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_condition_holds_at_the_rate_and_up_to_the_room_there_is(
    loss: str, n_labels: int
) -> None:
    for factor in (1.0, 0.999 * ROOM[loss]):
        assert worst_excess(loss, n_labels, factor) <= 1e-12
    assert worst_excess(loss, n_labels, 1.001 * ROOM[loss]) > 5e-5


def worst_excess_in_expectation(loss: str, gamma: float, rate: float) -> float:
    """The same for K = 4 in the bandit graph, with gamma (K - 1) / K more on the right."""
    n_labels = 4
    worst = -math.inf
    for best, a, label, value, squared in rounds(loss, n_labels):
        chance = max(a, gamma)
        p = chance / n_labels + (1 - chance) * (label == best)
        left = 1 - p + rate / 2 * squared / p
        worst = max(worst, left - value - gamma * (n_labels - 1) / n_labels)
    return worst


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("gamma", [0.01, 0.1, 1.0])
def test_the_bandit_rate_pays_for_the_importance_weights(loss: str, gamma: float) -> None:
    full = LOSSES[loss][1] / 4
    assert worst_excess_in_expectation(loss, gamma, full * gamma / 4) <= 1e-12
    if gamma < 1:
        assert worst_excess_in_expectation(loss, gamma, full) > 1


@pytest.mark.parametrize(
    ("loss", "margin", "gap"),
    [
        ("hinge", 0.4, 0.6),
        ("hinge", 0.5, 0),
        ("smooth-hinge", 0.25, 0.5625),
        ("smooth-hinge", 1.5, 0),
        # the other two labels have the score 0: q = e^m / (e^m + 2)
        ("logistic-2", math.log(6), 0.25),
        ("logistic-2", math.log(2), 0.5),
        ("logistic-2", math.log(1.9), 1),  # not -log2 q = 1.04, nor 1 - q = 0.51
        ("logistic-2", 0.0, 1),
    ],
)
def test_gap_maps(loss: str, margin: float, gap: float) -> None:
    run = run_of(Gaptron(loss), "full", [[1, 0]], [1], [0.1])
    run.weights[0, 2] = margin
    p = run.advance(1, trace=True).probabilities[0]
    assert p == pytest.approx([gap / 3, gap / 3, 1 - 2 * gap / 3], abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("label", range(3))
def test_the_step_estimates_the_gradient(loss: str, label: int) -> None:
    x, weights = np.array([1.0, -2]), np.array([[0.5, 0.25], [0, 0.1], [0.1, 0]])
    learner = Gaptron(loss, gamma=0.25, rate=0.5)
    found = steps(learner, "bandit", x, label, weights)
    best = int(np.argmax(weights @ x))
    value = LOSSES[loss][0].gradients((weights @ x)[None], np.array([label]))[0]
    assert best == 2
    assert mean_step(found) == pytest.approx(-0.5 * np.outer(value, x), abs=1e-14)
    assert min(p for p, _ in found) >= 0.25 / 3


def test_exploration_is_the_larger_of_gap_and_gamma() -> None:
    for margin, chance in ((0.1, 0.81), (0.9, 0.3)):
        run = run_of(Gaptron(gamma=0.3), "bandit", [[1, 0]], [1], [0.1])
        run.weights[0, 0] = margin
        p = run.advance(1, trace=True).probabilities[0]
        assert p == pytest.approx([1 - 2 * chance / 3, chance / 3, chance / 3], abs=1e-12)


C = {"smooth-hinge": 1 / 4, "hinge": 1 / 2, "logistic-2": math.log(2) / 2}


@pytest.mark.parametrize("loss", C)
def test_tunings(loss: str) -> None:
    """K = 5, X = 2, B = 1/2, T = 10 000."""
    c = C[loss]

    def numbers(graph: str, **given: Any) -> dict[str, float]:
        problem = Problem(graphs.parse(graph, 5), 3, 10_000, 2.0, 0.5)
        player = Gaptron(loss, **given).player(problem)
        declared = {name: player.declaration.number(name) for name in ("rate", "gamma")}
        assert list(player.parameters) == list(declared.values())
        return declared

    gamma = 5 / math.sqrt(2 * c * 10_000)
    for tuning in ("default", "theory"):
        assert numbers("full", tuning=tuning) == pytest.approx({"gamma": 0, "rate": c / 20})
        assert numbers("bandit", tuning=tuning) == pytest.approx(
            {"gamma": gamma, "rate": c * gamma / 100}
        )
    assert numbers("full", tuning="ones") == pytest.approx({"gamma": 0, "rate": c / 5})
    assert numbers("bandit", tuning="ones") == pytest.approx({"gamma": 0.01, "rate": c / 100})
    assert numbers("bandit", gamma=0.5) == pytest.approx({"gamma": 0.5, "rate": c / 200})
    assert numbers("bandit", rate=0.5) == pytest.approx({"gamma": gamma, "rate": 0.5})
    assert numbers("full", rate=3.0) == {"gamma": 0, "rate": 3}
    with pytest.raises(UserError, match=r"gamma=0\.5 of gaptron.*full information"):
        numbers("full", gamma=0.5)


@pytest.mark.parametrize("loss", C)
def test_gamma_is_the_best_one(loss: str) -> None:
    """B^2 / (2 rate) + gamma T (K - 1) / K with K - 1 for K: least at the tuned gamma, for its own rate."""
    problem = Problem(graphs.bandit(5), 3, 10_000, 2.0, 0.5)

    def bound(gamma: float) -> float:
        rate = Gaptron(loss, gamma=gamma).numbers(problem)["rate"]
        return 0.25 / (2 * rate) + gamma * problem.horizon

    tuned = Gaptron(loss).numbers(problem)["gamma"]
    assert bound(tuned) < min(bound(0.99 * tuned), bound(1.01 * tuned))


def test_short_games_explore_always_and_zero_features_do_no_harm() -> None:
    short = Problem(graphs.bandit(5), 3, 4, 2.0, 0.5)
    assert Gaptron().numbers(short)["gamma"] == 1
    assert Gaptron().numbers(Problem(graphs.full_information(4), 3, 4, 0.0))["rate"] == 1 / 16


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loss": "logistic-K"}, "loss of gaptron 'logistic-K' .*: expected one of hinge"),
        ({"gamma": 0.0}, r"gamma=0.0 of gaptron: expected a number in \(0, 1\]"),
        ({"rate": -1.0}, "rate=-1.0 of gaptron: expected a finite number above 0"),
    ],
)
def test_illegal_parameters(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Gaptron(**given)


@pytest.mark.parametrize("graph", ["filtering", "label-efficient", "random:density=0.4,seed=3"])
def test_graphs_that_it_cannot_play(graph: str) -> None:
    with pytest.raises(UserError, match="expected full information or bandit"):
        Gaptron().player(Problem(graphs.parse(graph, 4), 3, 10))
