"""The label-efficient Perceptron: how often it asks, and that it learns from answers alone."""

from __future__ import annotations

import numpy as np
import pytest
from worked_examples import mean_step, run_of, steps

from boundcheck.algorithms import graphs
from boundcheck.algorithms.label_efficient import LabelEfficientPerceptron
from boundcheck.algorithms.learner import Problem
from boundcheck.errors import UserError
from boundcheck.verify.games.labels.record import BEST, MISTAKE

X = np.array([1.0, 0])


def weights(margin: float) -> np.ndarray:
    return np.array([[0.0, 1], [margin + 2, 0], [2, 7]])


@pytest.mark.parametrize(
    ("smoothing", "margin", "query"),
    [(1, 0, 1), (1, 1, 0.5), (1, 3, 0.25), (2, 1, 2 / 3), (0.25, 1, 0.2)],
)
def test_it_asks_with_probability_b_over_b_plus_margin(
    smoothing: float, margin: float, query: float
) -> None:
    run = run_of(LabelEfficientPerceptron(smoothing), "label-efficient", [X], [0], [0.1])
    run.weights[:] = weights(margin).T
    assert run.advance(1, trace=True).probabilities[0] == pytest.approx([0, 1 - query, 0, query])


@pytest.mark.parametrize("label", range(3))
def test_it_learns_from_answers_that_show_a_mistake(label: int) -> None:
    (predicted, silent), (asked, step) = steps(
        LabelEfficientPerceptron(), "label-efficient", X, label, weights(3)
    )
    assert (predicted, asked) == (0.75, 0.25)
    assert not silent.any()
    assert np.array_equal(step, np.outer(np.eye(3)[label] - np.eye(3)[1], X))
    assert mean_step([(predicted, silent), (asked, step)]) == pytest.approx(step / 4)


def test_asking_is_a_mistake_in_one_column_and_free_in_another() -> None:
    run = run_of(LabelEfficientPerceptron(), "label-efficient", [X], [1], [0.9])
    run.weights[:] = weights(3).T
    row = run.advance(1).columns[0]
    assert (row[MISTAKE], row[BEST]) == (1, 1)


def test_large_scores_are_no_trouble() -> None:
    run = run_of(LabelEfficientPerceptron(), "label-efficient", [[1e150, 0]], [1], [0.9])
    run.weights[:] = weights(1e150).T
    assert run.advance(1, trace=True).probabilities[0] == pytest.approx([0, 1, 0, 0])


@pytest.mark.parametrize(
    ("learner", "radius", "smoothing"),
    [
        (LabelEfficientPerceptron(), 3.0, 1),
        (LabelEfficientPerceptron(tuning="ones"), 3.0, 1),
        (
            LabelEfficientPerceptron(tuning="theory"),
            3.0,
            9,
        ),  # X^2, for two labels it would be X^2 / 2
        (LabelEfficientPerceptron(tuning="theory"), 0.0, 1),
        (LabelEfficientPerceptron(0.5, tuning="theory"), 3.0, 0.5),
    ],
)
def test_tunings(learner: LabelEfficientPerceptron, radius: float, smoothing: float) -> None:
    player = learner.player(Problem(graphs.label_efficient(3), 2, 100, radius))
    assert player.declaration.numbers == {"label-efficient-perceptron.smoothing": smoothing}
    assert player.parameters == [smoothing]


def test_theory_is_the_best_smoothing_without_loss() -> None:
    """|u|^2 (2 b + 2 X^2)^2 / (8 b) is least at b = X^2."""
    squared = 9.0
    tuned = LabelEfficientPerceptron(tuning="theory").numbers(
        Problem(graphs.label_efficient(3), 2, 100, 3.0)
    )["smoothing"]
    bounds = [(2 * b + 2 * squared) ** 2 / (8 * b) for b in (tuned, tuned * 0.99, tuned * 1.01)]
    assert min(bounds) == bounds[0]


@pytest.mark.parametrize("smoothing", [0.0, -1.0, float("nan"), float("inf")])
def test_illegal_smoothing(smoothing: float) -> None:
    with pytest.raises(UserError, match="of label-efficient-perceptron: expected a finite number"):
        LabelEfficientPerceptron(smoothing)


@pytest.mark.parametrize("graph", ["full", "bandit", "filtering"])
def test_it_needs_a_query(graph: str) -> None:
    with pytest.raises(UserError, match="expected label-efficient: a single action beyond"):
        LabelEfficientPerceptron().player(Problem(graphs.parse(graph, 3), 2, 10))
