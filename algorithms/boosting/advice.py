"""A weak learner that follows advice: every feature is a label, and it hedges over whom to believe.

The state of a learner is the cost so far of each column. What the columns say is known before the draw, so that it is
the label that is drawn, with the chances of all columns that name it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import FloatArray, IntArray
from ...compiled import helper, kernel, workspace
from ...errors import LearnerError, check_size
from .hedge import Hedging, rate_of
from .weak import ASK, TELL, Compiled, Crowd, Setting, drawn


@helper
def _named(n_labels: int, said: float) -> int:
    """The label that a feature names, -1 where it names none."""
    for label in range(n_labels):
        if said == label:
            return label
    return -1


@helper
def _chances(
    x: FloatArray, n_labels: int, rate: float, costs: FloatArray, chances: FloatArray
) -> bool:
    """Fill numbers in proportion to the probabilities of the labels; False where a feature is no label."""
    least = costs[0]
    for column in range(x.shape[0]):
        least = costs[column] if costs[column] < least else least
    for label in range(n_labels):
        chances[label] = 0.0
    for column in range(x.shape[0]):
        label = _named(n_labels, x[column])
        if label < 0:
            return False
        chances[label] += math.exp(-rate * (costs[column] - least))
    return True


@kernel(ASK)
def _ask(
    x: FloatArray,
    dice: FloatArray,
    n_labels: int,
    parameters: FloatArray,
    state: FloatArray,
    labels: IntArray,
) -> None:
    chances = workspace(n_labels)
    for i in range(labels.shape[0]):
        readable = _chances(x, n_labels, parameters[0], state[i], chances)
        labels[i] = drawn(chances, dice[i]) if readable else -1


@kernel("void(Array(float64, 1, 'C', True), float64, float64[:, ::1], float64[:, ::1])")
def _probabilities(x: FloatArray, rate: float, state: FloatArray, p: FloatArray) -> None:
    n_labels = p.shape[1]
    for i in range(p.shape[0]):
        _chances(x, n_labels, rate, state[i], p[i])
        total = 0.0
        for label in range(n_labels):
            total += p[i, label]
        for label in range(n_labels):
            p[i, label] /= total


@kernel(TELL)
def _tell(x: FloatArray, costs: FloatArray, weights: FloatArray, state: FloatArray) -> None:
    for column in range(x.shape[0]):
        label = int(x[column])
        for i in range(costs.shape[0]):
            state[i, column] += weights[i] * costs[i, label]


@dataclass(frozen=True)
class HedgeAdvice(Hedging):
    """Hedge over the columns of the features, each of which names a label.

    Parameters
    ----------
    rate : Hedge rate; that of :func:`hedge_rate` for the horizon and costs of range 1 where None
    """

    streams: ClassVar[tuple[str, ...]] = ("planted-advice:edge=0.4",)

    @staticmethod
    def label_streams(learners: int) -> tuple[str, ...]:
        """Adversaries of learners of labels whose features are advice."""
        return (
            "advice-labels:n_labels=2,panel=5,false=2,hard=0.15",
            "advice-labels:n_labels=3,panel=20,false=5,hard=0.02",
        )

    @staticmethod
    def reads(features: FloatArray, n_labels: int) -> bool:
        """True if every feature is a label."""
        return bool(np.isin(features, np.arange(n_labels)).all())

    @staticmethod
    def n_hypotheses(n_features: int, n_labels: int) -> int:
        """d."""
        return n_features

    def contains(self, planted: IntArray, features: FloatArray) -> bool:
        return bool((features == planted[:, None]).all(axis=0).any())

    def least_costs(self, crowd: Any) -> FloatArray:
        found: FloatArray = crowd.state.min(axis=1)
        return found

    def mean_costs(self, crowd: Any, x: FloatArray, costs: FloatArray) -> FloatArray:
        found: FloatArray = (crowd.probabilities(x) * costs).sum(axis=1)
        return found

    def crowd(self, setting: Setting) -> Crowd:
        return _Advised(rate_of(self.rate, setting.n_features, setting), setting)


class _Advised(Compiled):
    draws: ClassVar[bool] = True
    ask_kernel, tell_kernel = _ask, _tell

    def __init__(self, rate: float, setting: Setting) -> None:
        n, d = setting.n_learners, setting.n_features
        check_size("costs of hedge-advice", n, d)
        super().__init__(setting, np.array([rate]), np.zeros((n, d)))

    def predict(self, x: FloatArray, dice: FloatArray) -> IntArray:
        labels = super().predict(x, dice)
        if labels.min() < 0:
            raise LearnerError(
                f"hedge-advice was shown {x.tolist()}: expected labels from 0 to {self.n_labels - 1}."
            )
        return labels

    def probabilities(self, x: FloatArray) -> FloatArray:
        """Probabilities of the labels that each learner draws from, shape (N, k)."""
        found = np.empty((self.n_learners, self.n_labels))
        rate = float(self.parameters[0])
        _probabilities.native(np.ascontiguousarray(x, dtype=np.float64), rate, self.state, found)
        return found
