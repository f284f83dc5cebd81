"""Weak learners: they predict a label, and are told a cost vector with a weight.

All N weak learners of a booster move together, as a :class:`Crowd`: a round costs a few array operations however many
they are, and their states are arrays over N. A class of one's own needs less, ``predict(x)`` and ``update(x, cost,
weight)``, and is made into a crowd by :class:`Each`, which checks what it returns.

A weak learner must be able to predict before it is told anything, and may draw one number in [0, 1) a round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import LearnerError, UserError, require
from ..spec import spec_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """What a crowd is made for: N learners on k labels and d features, over T rounds."""

    n_learners: int
    n_labels: int
    n_features: int
    horizon: int


class Crowd(Protocol):
    """N weak learners in progress.

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
    """Parameters of a weak learner; a frozen dataclass."""

    def crowd(self, setting: Setting) -> Crowd:
        """Make N of them, at their start."""


class _Spelt:
    """Found by its name, and written as on the command line: ``hedge-stump+rate=0.1``."""

    @property
    def spec(self) -> str:
        return spec_of(self).replace(":", "+").replace(",", "+")

    def __str__(self) -> str:
        return self.spec


@dataclass(frozen=True)
class OracleNoise(_Spelt):
    """Labels that someone who knows the true one drew: the edge is exact, and no cost changes anything.

    Column ``first + i`` of the features holds what learner i predicts.

    Parameters
    ----------
    first : the first of the N columns
    """

    first: int = 0

    def __post_init__(self) -> None:
        require(self.first >= 0, f"first={self.first} of oracle-noise: expected a column, from 0.")

    def crowd(self, setting: Setting) -> Crowd:
        last = self.first + setting.n_learners
        require(
            last <= setting.n_features,
            f"{setting.n_features} features: oracle-noise expects its {setting.n_learners} labels in the columns"
            f" {self.first} to {last - 1}.",
        )
        return _Oracle(self.first, setting)


class _Oracle:
    draws: ClassVar[bool] = False

    def __init__(self, first: int, setting: Setting) -> None:
        self.columns = slice(first, first + setting.n_learners)
        self.n_labels = setting.n_labels

    def predict(self, x: FloatArray, dice: FloatArray) -> IntArray:
        shown = x[self.columns]
        labels = shown.astype(np.int64)
        if not ((labels == shown) & (labels >= 0) & (labels < self.n_labels)).all():
            raise LearnerError(
                f"oracle-noise was shown {shown.tolist()}: expected labels from 0 to {self.n_labels - 1}."
            )
        return labels

    def update(self, x: FloatArray, costs: FloatArray, weights: FloatArray) -> None:
        return None


@dataclass(frozen=True)
class CostPerceptron(_Spelt):
    """Predicts the label with the least predicted cost, linear in the features, fitted by weighted squared error.

    The step of round t is ``rate / (|x|^2 sqrt(t))`` times the weight. It has an edge where it has one: nothing is
    promised.

    Parameters
    ----------
    rate : size of the first step, in (0, 1]
    """

    rate: float = 1.0

    def __post_init__(self) -> None:
        require(
            0 < self.rate <= 1, f"rate={self.rate} of cost-perceptron: expected a number in (0, 1]."
        )

    def crowd(self, setting: Setting) -> Crowd:
        return _Perceptrons(self.rate, setting)


class _Perceptrons:
    draws: ClassVar[bool] = False

    def __init__(self, rate: float, setting: Setting) -> None:
        self.rate = rate
        self.rounds = 0
        self.weights = np.zeros((setting.n_learners, setting.n_labels, setting.n_features))

    def predict(self, x: FloatArray, dice: FloatArray) -> IntArray:
        labels: IntArray = (self.weights @ x).argmin(axis=1)
        return labels

    def update(self, x: FloatArray, costs: FloatArray, weights: FloatArray) -> None:
        self.rounds += 1
        squared = float(x @ x)
        if squared == 0:
            return
        step = self.rate / (squared * np.sqrt(self.rounds)) * weights
        self.weights -= (step[:, None] * (self.weights @ x - costs))[:, :, None] * x


@dataclass(frozen=True)
class Each:
    """N weak learners of a class of one's own, checked.

    Parameters ---------- make : called with a :class:`Setting` and the number of the learner, returns an object with
    ``predict(x) -> label`` and ``update(x, cost, weight)``
    """

    make: Callable[[Setting, int], Any]

    def __str__(self) -> str:
        return getattr(self.make, "__name__", type(self.make).__name__)

    def crowd(self, setting: Setting) -> Crowd:
        return _Separate(
            str(self), [self.make(setting, i) for i in range(setting.n_learners)], setting
        )


class _Separate:
    draws: ClassVar[bool] = False

    def __init__(self, name: str, learners: list[Any], setting: Setting) -> None:
        self.name, self.learners, self.n_labels = name, learners, setting.n_labels

    def predict(self, x: FloatArray, dice: FloatArray) -> IntArray:
        return np.array(
            [self._label(i, learner.predict(x)) for i, learner in enumerate(self.learners)]
        )

    def _label(self, i: int, label: Any) -> int:
        if isinstance(label, int | np.integer) and 0 <= label < self.n_labels:
            return int(label)
        raise LearnerError(
            f"weak learner {i} of {self.name} predicted {label!r}: expected a label from 0 to"
            f" {self.n_labels - 1}."
        )

    def update(self, x: FloatArray, costs: FloatArray, weights: FloatArray) -> None:
        for i, learner in enumerate(self.learners):
            if weights[i] == 0:
                continue
            given, shown = costs[i].copy(), x.copy()
            learner.update(shown, given, float(weights[i]))
            for what, now, before in (("cost vector", given, costs[i]), ("features", shown, x)):
                if not np.array_equal(now, before):
                    raise LearnerError(
                        f"weak learner {i} of {self.name} changed the {what} it was given from"
                        f" {before.tolist()} to {now.tolist()}: expected it to be left alone."
                    )


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
