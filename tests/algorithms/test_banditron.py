"""Banditron: both estimates have the Perceptron's step as their mean, with the stated second moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from worked_examples import mean_square, mean_step, run_of, steps

from boundcheck.algorithms import graphs
from boundcheck.algorithms.banditron import Banditron
from boundcheck.algorithms.learner import Problem
from boundcheck.errors import UserError

X = np.array([1.0, -2, 0.5])
WEIGHTS = np.diag([0.5, 2.0, 1, -1])[:, :3]  # scores 1/2, -4, 1/2, 0: the best label is 0
GAMMA, K = 0.25, 4

# second moments in units of |x|^2, after a right and after a wrong guess of the best label
MOMENTS = {
    ("original", "bandit"): (1 / (1 - GAMMA + GAMMA / K) - 1, 1 + K / GAMMA),
    ("importance", "bandit"): (0, 2 * K / GAMMA),
    ("importance", "filtering"): (0, 2),  # the best label reveals all, so nothing is estimated
    ("importance", "filtering:revealing=1+3"): (0, 2 / GAMMA),
    ("importance", "label-efficient"): (0, 2 / GAMMA),
}


@pytest.mark.parametrize(("estimator", "graph"), MOMENTS)
@pytest.mark.parametrize("label", range(4))
def test_first_two_moments_of_the_step(estimator: str, graph: str, label: int) -> None:
    found = steps(Banditron(estimator, GAMMA), graph, X, label, WEIGHTS)
    perceptron = np.outer(np.eye(4)[label] - np.eye(4)[0], X)
    assert mean_step(found) == pytest.approx(perceptron, abs=1e-14)
    expected = MOMENTS[estimator, graph][0 if label == 0 else 1]
    assert mean_square(found) == pytest.approx(expected * (X @ X), rel=1e-14)


@pytest.mark.parametrize("label", range(4))
def test_the_mean_is_right_where_several_actions_see_a_label(label: int) -> None:
    graph = "random:density=0.6,seed=1"
    found = steps(Banditron("importance", GAMMA), graph, X, label, WEIGHTS)
    assert graphs.parse(graph, 4).in_degree[label] > 1
    perceptron = np.outer(np.eye(4)[label] - np.eye(4)[0], X)
    assert mean_step(found) == pytest.approx(perceptron, abs=1e-14)


def test_the_original_moves_in_every_round_and_the_other_after_seen_mistakes_only() -> None:
    original = steps(Banditron("original", GAMMA), "bandit", X, 0, WEIGHTS)
    assert all(step[0].any() for _, step in original)
    for label in range(4):
        found = steps(Banditron("importance", GAMMA), "bandit", X, label, WEIGHTS)
        moved = [action for action, (_, step) in enumerate(found) if step.any()]
        assert moved == ([] if label == 0 else [label])


@pytest.mark.parametrize(
    ("estimator", "graph", "p"),
    [
        ("original", "bandit", [0.8125, 0.0625, 0.0625, 0.0625]),
        ("importance", "bandit", [0.8125, 0.0625, 0.0625, 0.0625]),
        ("importance", "filtering", [1, 0, 0, 0]),
        ("importance", "filtering:revealing=1+3", [0.75, 0.125, 0, 0.125]),
        ("importance", "label-efficient", [0.75, 0, 0, 0, 0.25]),
    ],
)
def test_what_is_explored(estimator: str, graph: str, p: list[float]) -> None:
    run = run_of(Banditron(estimator, GAMMA), graph, [X], [0], [0.5], 4)
    assert run.advance(1, trace=True).probabilities[0] == pytest.approx(p, abs=1e-15)


def problem(graph: str, horizon: int) -> Problem:
    return Problem(graphs.parse(graph, 4), 3, horizon, feature_norm=2.0, comparator_norm=0.5)


@pytest.mark.parametrize(
    ("learner", "graph", "horizon", "gamma"),
    [
        (Banditron(), "bandit", 1000, 0.01),
        (Banditron("importance"), "filtering", 1000, 0.01),
        (Banditron(tuning="ones"), "bandit", 1000, 0.1),
        (Banditron("importance", tuning="ones"), "filtering", 1000, 0.1),
        (Banditron("importance", tuning="ones"), "filtering", 2, 0.5),  # capped, not raised to 1/2
        # X B = 1
        (Banditron(tuning="theory"), "bandit", 4000, 0.1),
        (Banditron("importance", tuning="theory"), "bandit", 4000, 0.1),
        (Banditron("importance", tuning="theory"), "filtering", 1000, 0.1),
        (Banditron("importance", tuning="theory"), "filtering:revealing=1+3", 1000, 0.1),
        (Banditron("importance", tuning="theory"), "label-efficient", 1000, 0.1),
        (Banditron(tuning="theory"), "bandit", 5, 0.5),
        (Banditron(gamma=0.3, tuning="theory"), "bandit", 1000, 0.3),
    ],
)
def test_tunings(learner: Banditron, graph: str, horizon: int, gamma: float) -> None:
    player = learner.player(problem(graph, horizon))
    assert player.declaration.numbers == {"banditron.gamma": pytest.approx(gamma, rel=1e-14)}
    assert player.parameters[0] == player.declaration.number("gamma")


def test_theory_uses_the_norms() -> None:
    wide = Problem(graphs.filtering(4), 3, 64_000, feature_norm=2.0, comparator_norm=4.0)
    assert Banditron("importance", tuning="theory").numbers(wide)["gamma"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"estimator": "best"}, "estimator of banditron 'best': expected one of importance"),
        ({"gamma": 0.0}, r"gamma=0.0 of banditron: expected a number in \(0, 1\]"),
        ({"gamma": 1.5}, "gamma=1.5 of banditron"),
        ({"gamma": float("nan")}, "gamma=nan of banditron"),
    ],
)
def test_illegal_parameters(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Banditron(**given)


@pytest.mark.parametrize("graph", ["filtering", "label-efficient", "random:density=0.4,seed=3"])
def test_the_original_needs_to_know_whether_it_was_right(graph: str) -> None:
    with pytest.raises(UserError, match="expected bandit, or any graph with estimator=importance"):
        Banditron().player(problem(graph, 10))
