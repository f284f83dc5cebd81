"""The Perceptron moves after mistakes only, by the features, and needs to be shown every label."""

from __future__ import annotations

import numpy as np
import pytest
from worked_examples import steps

from boundcheck.algorithms import graphs
from boundcheck.algorithms.learner import Problem
from boundcheck.algorithms.perceptron import Perceptron
from boundcheck.errors import UserError

WEIGHTS = np.array([[1.0, 0], [3, 1], [2, 5]])


@pytest.mark.parametrize("label", range(3))
def test_the_step_goes_from_the_predicted_label_to_the_true_one(label: int) -> None:
    x = np.array([2.0, -1])  # scores 2, 5, -1
    ((p, step),) = steps(Perceptron(), "full", x, label, WEIGHTS)
    assert p == 1
    assert np.array_equal(step, np.outer(np.eye(3)[label] - np.eye(3)[1], x))


def test_two_labels_with_bandit_feedback_are_full_information() -> None:
    assert Perceptron().player(Problem(graphs.bandit(2), 2, 10)).rewrite is None
    with pytest.raises(
        UserError, match="perceptron cannot play graph 'bandit' with 3 labels: expected full"
    ):
        Perceptron().player(Problem(graphs.bandit(3), 2, 10))
