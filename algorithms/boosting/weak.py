"""Weak learners: they predict a label, and are told a cost vector with a weight.

All N weak learners of a booster move together, as a :class:`Crowd`: a round costs a few array operations however many
they are, and their states are arrays over N. A class of the user's needs less, ``predict(x)`` and ``update(x, cost,
weight)``, and is made into a crowd by :class:`~.each.Each`, which checks what it returns.

A weak learner must be able to predict before it is told anything, and may draw one number in [0, 1) a round. A crowd
that is :class:`Compiled` has two kernels, and is played at full speed; any other is asked in plain Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol

import numpy as np

from ...arrays import FloatArray, IntArray
from ...compiled import (
    INT,
    INT_VECTOR,
    MATRIX,
    READ_ONLY_MATRIX,
    READ_ONLY_VECTOR,
    VECTOR,
    Kernel,
    Signature,
    helper,
    kernel,
    workspace,
)
from ...errors import LearnerError, UserError, check_size, require
from ..spec import Checked, nested
from .problem import DELTA, WEIGHTLESS, Stream, WeakDeclaration, WeakProblem

_NUMBERS = {"parameters": VECTOR, "state": MATRIX}
_X = {"x": READ_ONLY_VECTOR}

ASK = Signature("void", **_X, dice=READ_ONLY_VECTOR, n_labels=INT, **_NUMBERS, labels=INT_VECTOR)
"""Fill the ``labels`` that are predicted for the features ``x``, one below 0 if they cannot be read; ``dice`` has a
number from [0, 1) for each learner that draws, ``state`` a row for each learner."""

TELL = Signature("void", **_X, costs=READ_ONLY_MATRIX, weights=READ_ONLY_VECTOR, **_NUMBERS)
"""Learn ``costs`` of shape (N, k) that count by ``weights`` of shape (N,)."""


@dataclass(frozen=True)
class Setting:
    """The size of a crowd and its problem: N learners on k labels and d features, over T rounds.

    Entries of weight times cost differ by at most ``cost_range``, and weights are at least ``least_weight``. Learners
    that are ``seeded`` have an integer each to draw from.
    """

    n_learners: int
    n_labels: int
    n_features: int
    horizon: int
    cost_range: float = 1.0
    least_weight: float = 0.0
    seeds: tuple[int, ...] = ()


class Crowd(Protocol):
    """N weak learners in progress.

    One that ignores what it is told may say so by an attribute ``learns`` that is False: it is told nothing then. One
    with an attribute ``right`` has it set before it is told: the label that the round has shown to be right, or None.

    Attributes
    ----------
    draws : whether each needs a number drawn from [0, 1) to predict
    """

    draws: ClassVar[bool]

    def predict(self, x: FloatArray, dice: FloatArray) -> IntArray:
        """Labels predicted for the features ``x``, shape (N,); ``dice`` has shape (N,), or (0,) without draws."""

    def update(self, x: FloatArray, costs: FloatArray, weights: FloatArray) -> None:
        """Learn cost vectors of shape (N, k), which count by ``weights`` in [0, 1], shape (N,)."""


class WeakLearner(Protocol):
    """Parameters of a weak learner; a frozen dataclass. One that needs seeds has an attribute ``seeded``, True.

    What else it may say of itself is told in :mod:`.problem`.
    """

    def crowd(self, setting: Setting) -> Crowd:
        """Make N of them, at their start."""


class Compiled:
    """A crowd of two kernels.

    Parameters
    ----------
    setting : what it is made for
    parameters : numbers that do not change
    state : of each learner at its start, shape (N, size)

    Attributes
    ----------
    ask_kernel, tell_kernel : kernels with the signatures ``ASK`` and ``TELL``
    interpreted : whether the kernels run as plain Python, bit for bit the same
    """

    draws: ClassVar[bool] = False
    learns: ClassVar[bool] = True
    ask_kernel: ClassVar[Kernel]
    tell_kernel: ClassVar[Kernel]
    interpreted = False

    def __init__(self, setting: Setting, parameters: FloatArray, state: FloatArray) -> None:
        self.n_learners, self.n_labels = setting.n_learners, setting.n_labels
        self.n_features = setting.n_features
        self.parameters, self.state = parameters, state

    def predict(self, x: FloatArray, dice: FloatArray) -> IntArray:
        labels = np.empty(self.n_learners, dtype=np.int64)
        shown = _array("features", x, self.n_features)
        used = dice if self.draws else dice[:0]
        drawn = _array("numbers drawn", used, self.n_learners if self.draws else 0)
        kernel = self._form(self.ask_kernel)
        kernel(shown, drawn, self.n_labels, self.parameters, self.state, labels)
        return labels

    def update(self, x: FloatArray, costs: FloatArray, weights: FloatArray) -> None:
        shown = _array("features", x, self.n_features)
        told = _array("costs", costs, self.n_learners, self.n_labels)
        count = _array("weights", weights, self.n_learners)
        kernel = self._form(self.tell_kernel)
        kernel(shown, told, count, self.parameters, self.state)

    def _form(self, kernel: Kernel) -> Callable[..., Any]:
        form: Callable[..., Any] = kernel.python if self.interpreted else kernel.native
        return form


def _array(name: str, given: FloatArray, *shape: int) -> FloatArray:
    """The numbers as kernels take them, which look at no shape."""
    array = np.ascontiguousarray(given, dtype=np.float64)
    if array.shape != shape:
        raise UserError(f"{name} of shape {array.shape} for weak learners: expected {shape}.")
    return array


@helper
def drawn(chances: FloatArray, die: float) -> int:
    """An index drawn by inverse cdf with one number in [0, 1); the chances may have any sum."""
    n: int = chances.shape[0]
    total = 0.0
    for i in range(n):
        total += chances[i]
    threshold, cumulative = die * total, 0.0
    for i in range(n):
        cumulative += chances[i]
        if threshold < cumulative:
            return i
    return n - 1


class Spelt(Checked):
    """Written as on the command line: ``hedge-stump:rate=0.1``, and with + inside the parameters of a booster."""

    def __str__(self) -> str:
        return nested(self.spec)


def oracle_excess_loss(edge: float, least_weight: float, n_labels: int, delta: float) -> float:
    """S of OracleNoise with edge 2 gamma, k ln(1/delta) / (8 gamma m), for all T at once and any estimates."""
    return n_labels * math.log(1 / delta) / (8 * edge * least_weight)


@dataclass(frozen=True)
class OracleNoise(Spelt):
    """Labels that someone who knows the true one drew: the edge is exact, and no cost changes anything.

    Column ``first + i`` of the features holds what learner i predicts.

    Parameters
    ----------
    first : the first of the N columns
    """

    first: Annotated[int, "[0, inf)"] = 0
    streams: ClassVar[tuple[str, ...]] = ("even-costs",)
    reads_oracles: ClassVar[bool] = True

    def label_streams(self, learners: int) -> tuple[str, ...]:
        """Adversaries of learners of labels whose features have the columns of so many."""
        columns = self.first + learners
        return (
            f"oracle-labels:n_labels=3,learners={columns},edge=0.4,law=constant",
            f"oracle-labels:n_labels=2,learners={columns},edge=0.8",
        )

    def declare(self, problem: WeakProblem, stream: Stream) -> WeakDeclaration | str:
        """Half of the edge of the predictions, and the excess loss that the other half leaves."""
        if stream.least_weight == 0:
            return WEIGHTLESS
        if not stream.oracle_edge:
            return "the stream has no predictions for oracles with an edge"
        edge = stream.oracle_edge / 2
        loss = oracle_excess_loss(edge, stream.least_weight, stream.n_labels, DELTA)
        return WeakDeclaration(edge, DELTA, loss, True, self.spec)

    def known_excess_loss(
        self, edge: float, delta: float, problem: WeakProblem, stream: Stream
    ) -> float | None:
        """S for any edge below that of the predictions: a martingale whose increments have the range of the weighted
        costs, and the drift that ``edge`` leaves."""
        left = (stream.oracle_edge or 0) - edge
        if left <= 0:
            return None
        unit = oracle_excess_loss(left, stream.least_weight, stream.n_labels, delta)
        return stream.cost_range("full") ** 2 * unit

    def crowd(self, setting: Setting) -> Crowd:
        last = self.first + setting.n_learners
        require(
            last <= setting.n_features,
            f"{setting.n_features} features: oracle-noise expects its {setting.n_learners} labels in the columns"
            f" {self.first} to {last - 1}.",
        )
        return _Oracle(self.first, setting)


@kernel(ASK)
def _read(x: FloatArray, n_labels: int, parameters: FloatArray, labels: IntArray) -> None:
    first = int(parameters[0])
    for i in range(labels.shape[0]):
        labels[i] = -1
        for label in range(n_labels):
            if x[first + i] == label:
                labels[i] = label


@kernel(TELL)
def _ignore() -> None:
    return None


class _Oracle(Compiled):
    learns: ClassVar[bool] = False
    ask_kernel, tell_kernel = _read, _ignore

    def __init__(self, first: int, setting: Setting) -> None:
        super().__init__(setting, np.array([float(first)]), np.zeros((setting.n_learners, 0)))
        self.columns = slice(first, first + setting.n_learners)

    def predict(self, x: FloatArray, dice: FloatArray) -> IntArray:
        labels = super().predict(x, dice)
        if labels.min() < 0:
            raise LearnerError(
                f"oracle-noise was shown {x[self.columns].tolist()}: expected labels from 0 to {self.n_labels - 1}."
            )
        return labels


@dataclass(frozen=True)
class CostPerceptron(Spelt):
    """Predicts the label with the least predicted cost, linear in the features, fitted by weighted squared error.

    The step of round t is ``rate / (|x|^2 sqrt(t))`` times the weight. It has an edge where it has one: nothing is
    promised.

    Parameters
    ----------
    rate : size of the first step, in (0, 1]
    """

    rate: Annotated[float, "(0, 1]"] = 1.0

    def crowd(self, setting: Setting) -> Crowd:
        return _Perceptrons(self.rate, setting)


@helper
def _predicted(x: FloatArray, n_labels: int, row: FloatArray, costs: FloatArray) -> None:
    """Fill the costs that the weights of a learner, features by labels, predict."""
    for label in range(n_labels):
        costs[label] = 0.0
    for j in range(x.shape[0]):
        for label in range(n_labels):
            costs[label] += row[j * n_labels + label] * x[j]


@kernel(ASK)
def _cheapest(x: FloatArray, n_labels: int, state: FloatArray, labels: IntArray) -> None:
    predicted = workspace(n_labels)
    for i in range(labels.shape[0]):
        _predicted(x, n_labels, state[i], predicted)
        labels[i] = 0
        for label in range(n_labels):
            if predicted[label] < predicted[labels[i]]:
                labels[i] = label


@kernel(TELL)
def _regress(
    x: FloatArray, costs: FloatArray, weights: FloatArray, parameters: FloatArray, state: FloatArray
) -> None:
    n_labels, d = costs.shape[1], x.shape[0]
    predicted = workspace(n_labels)
    squared = 0.0
    for j in range(d):
        squared += x[j] * x[j]
    for i in range(costs.shape[0]):
        row = state[i]
        row[d * n_labels] += 1.0  # rounds
        if squared > 0.0:
            step = parameters[0] / (squared * math.sqrt(row[d * n_labels])) * weights[i]
            _predicted(x, n_labels, row, predicted)
            for label in range(n_labels):
                predicted[label] = step * (predicted[label] - costs[i, label])
            for j in range(d):
                for label in range(n_labels):
                    row[j * n_labels + label] -= predicted[label] * x[j]


class _Perceptrons(Compiled):
    ask_kernel, tell_kernel = _cheapest, _regress

    def __init__(self, rate: float, setting: Setting) -> None:
        size = setting.n_features * setting.n_labels
        check_size("weights of cost-perceptron", setting.n_learners, size + 1)
        super().__init__(setting, np.array([rate]), np.zeros((setting.n_learners, size + 1)))

    @property
    def weights(self) -> FloatArray:
        """Shape (N, k, d)."""
        shape = (self.n_learners, -1, self.n_labels)
        return self.state[:, :-1].reshape(shape).transpose(0, 2, 1)


def check_costs(costs: FloatArray, weights: FloatArray) -> None:
    """Raise :class:`UserError` for a cost that is not finite or a weight outside [0, 1]."""
    if not np.isfinite(costs).all():
        i, label = np.argwhere(~np.isfinite(costs))[0].tolist()
        raise UserError(
            f"cost {costs[i, label]} of label {label} for weak learner {i}: expected a finite number."
        )
    legal = (weights >= 0) & (weights <= 1)
    if not legal.all():
        i = int(np.argmin(legal))
        raise UserError(f"weight {weights[i]} for weak learner {i}: expected a number in [0, 1].")
