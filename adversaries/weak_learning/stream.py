"""The stream that a weak learner meets: features, labels, weights and costs, and how the costs are shown.

=====================  =======================================================================
symbol                 name here (paper: Online Multiclass Boosting with Bandit Feedback)
=====================  =======================================================================
x_t, y_t, w_t, c_t     ``features``, ``labels``, ``weights``, ``costs``; w_t in [0, 1]
C_1^eor                cost vectors that are 0 at the label, at least 0 elsewhere, and sum to 1
h*                     ``planted``, the labels that the best hypothesis gives
2 gamma                ``richness``: sum w c_h* <= (1 - 2 gamma)/k sum w after every round
m                      ``least_weight``
B                      ``cost_range``: the largest difference between entries of w_t c-hat_t
=====================  =======================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Protocol

import numpy as np
from gmpy2 import mpq
from numpy.typing import NDArray

from ...arrays import FloatArray, IntArray
from ...errors import UserError, check_size, require
from ..sequence import integer_at_least
from .noise import Noise

MOST_LABELS = 1000
"""Of a stream: the cost vectors that can happen are told apart entry by entry."""

ROUNDING = 1e-12
"""By how much the entries of a cost vector may miss 1 together."""


class WeakAdversary(Protocol):
    """A source of streams for weak learners; a frozen dataclass."""

    @property
    def spec(self) -> str:
        """Its name and every parameter, as the command line writes them."""

    def stream(self, horizon: int, seed: int) -> WeakStream:
        """``horizon`` rounds, the same ones for the same ``seed``."""


@dataclass(frozen=True, eq=False)
class WeakStream:
    """T rounds for weak learners on k labels.

    Attributes
    ----------
    features : shape (T, d)
    labels : shape (T,), in 0..k-1
    weights : shape (T,), in [0, 1]
    costs : true costs, rows of C_1^eor, shape (T, k)
    noise : how the costs are estimated in the bandit setting
    planted : what the best hypothesis says, shape (T,), or None without one
    richness : the edge, 2 gamma, that it has after every round, 0 without one
    oracle_edge : edge of the predictions that are drawn for oracles, or None where there are none
    follows : rounds in which the cost falls on one wrong label instead, the one predicted most often, shape (T,);
        the planted hypothesis is right there

    Raises
    ------
    UserError
        for shapes that do not fit, labels, weights or costs out of range, or numbers that are not finite
    """

    features: FloatArray
    labels: IntArray
    weights: FloatArray
    costs: FloatArray
    noise: Noise
    planted: IntArray | None = None
    richness: float = 0.0
    oracle_edge: float | None = None
    follows: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        T, k = self.costs.shape if self.costs.ndim == 2 else (0, 0)
        require(T >= 1, f"costs of shape {self.costs.shape}: expected (rounds, labels).")
        require(k >= 2, f"{k} labels: expected at least 2.")
        require(
            (self.features.ndim, self.labels.ndim, self.weights.ndim) == (2, 1, 1)
            and {len(a) for a in (self.features, self.labels, self.weights)} == {T},
            f"features, labels and weights of shapes {self.features.shape}, {self.labels.shape} and"
            f" {self.weights.shape}: expected {T} rounds of each.",
        )
        finite = np.isfinite(self.features).all(axis=1)
        _check("features", self.features, finite, "finite numbers")
        _check("label", self.labels, (self.labels >= 0) & (self.labels < k), f"one of 0 to {k - 1}")
        legal = (self.weights >= 0) & (self.weights <= 1)
        _check("weight", self.weights, legal, "a number in [0, 1]")
        finite = np.isfinite(self.costs).all(axis=1)
        _check("costs", self.costs, finite, "finite numbers")
        sums = np.abs(self.costs.sum(axis=1) - 1) <= ROUNDING
        zero = self.costs[np.arange(T), self.labels] == 0
        legal = (self.costs >= 0).all(axis=1) & zero & sums
        _check("costs", self.costs, legal, "0 at the label, at least 0 elsewhere, sum 1")
        if self.planted is not None and self.follows is not None:
            sure = ~self.follows | (self.planted == self.labels)
            _check("planted label", self.planted, sure, "the true one where costs follow")
        for array in (self.features, self.labels, self.weights, self.costs):
            array.setflags(write=False)

    @property
    def horizon(self) -> int:
        """The number of rounds, T."""
        return len(self.labels)

    @property
    def n_labels(self) -> int:
        """The number of labels, k."""
        return int(self.costs.shape[1])

    @property
    def n_features(self) -> int:
        """d, without the predictions that are drawn for oracles."""
        return int(self.features.shape[1])

    @property
    def least_weight(self) -> float:
        """The least weight, m."""
        return float(self.weights.min())

    @property
    def is_adaptive(self) -> bool:
        """True if costs depend on what was predicted."""
        return self.follows is not None

    @property
    def planted_edge(self) -> mpq:
        """gamma of the planted hypothesis: the decimal number that the adversary was given."""
        return mpq(repr(float(self.richness / 2)))

    def planted_costs(self) -> list[tuple[mpq, mpq]]:
        """Weight and cost of the planted hypothesis in each round, exactly."""
        assert self.planted is not None
        costs = self.costs[np.arange(self.horizon), self.planted].tolist()
        return [(mpq(w), mpq(c)) for w, c in zip(self.weights.tolist(), costs, strict=True)]

    def first_violation(self) -> int | None:
        """The first round (from 0) after which the planted hypothesis costs more than its edge allows, in fractions;
        None where there is none."""
        share = (1 - 2 * self.planted_edge) / self.n_labels
        room = mpq(0)
        for t, (weight, cost) in enumerate(self.planted_costs()):
            room += weight * (share - cost)
            if room < 0:
                return t
        return None

    def costs_at(self, t: int, predicted_before: IntArray) -> FloatArray:
        """True costs of round ``t`` for runs that predicted the labels so often, both of shape (R, k)."""
        if self.follows is None or not self.follows[t]:
            return np.tile(self.costs[t], (len(predicted_before), 1))
        rows = np.arange(len(predicted_before))
        often = predicted_before.copy()
        often[:, self.labels[t]] = -1
        found = np.zeros(often.shape)
        found[rows, often.argmax(axis=1)] = 1
        return found

    @cached_property
    def _possible(self) -> list[tuple[float, int, FloatArray]]:
        """Weight, label and cost vector of what can happen, without repetition."""
        columns = np.column_stack([self.weights, self.labels, self.costs])
        found = [(row[0], int(row[1]), row[2:]) for row in np.unique(columns, axis=0)]
        if self.follows is not None and self.follows.any():
            k, heaviest = self.n_labels, float(self.weights[self.follows].max())
            units = np.eye(k)
            found += [(heaviest, y, units[j]) for y in range(k) for j in range(k) if j != y]
        return found

    def cost_range(self, graph: str) -> float:
        """B of what is shown in the setting ``full`` or ``bandit``."""
        if graph == "full":
            return max(w * float(np.ptp(c)) for w, _, c in self._possible)
        return max(w * self.noise.spread(c, y) for w, y, c in self._possible)

    def most_excess(self, edge: float) -> float:
        """The largest excess over (1 - edge)/k of the weights that a weak learner could reach after any round."""
        return float(self.most_excesses(edge)[-1])

    def most_excesses(self, edge: float) -> FloatArray:
        """The largest that it could have reached until each round, shape (T,)."""
        dearest = self.weights * self.costs.max(axis=1)
        if self.follows is not None:
            dearest = np.where(self.follows, self.weights, dearest)
        paths = (dearest - (1 - edge) / self.n_labels * self.weights).cumsum()
        return np.asarray(np.maximum.accumulate(paths))

    def bound(self, graph: str) -> float:
        """b in the setting ``full`` or ``bandit``."""
        if graph == "full":
            return 0.0
        return max(self.noise.bound(c, y) for _, y, c in self._possible)

    def digest(self) -> str:
        """SHA-256 of all rounds."""
        found = sha256(repr((self.noise, self.richness, self.oracle_edge)).encode())
        for array in (
            self.features,
            self.labels,
            self.weights,
            self.costs,
            self.follows,
            self.planted,
        ):
            found.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
        return found.hexdigest()


def _check(what: str, values: NDArray[Any], legal: Any, expected: str) -> None:
    if not legal.all():
        t = int(np.argmin(legal))
        raise UserError(f"{what} {values[t].tolist()} of round {t}: expected {expected}.")


def check_rounds(horizon: int, n_labels: int, n_features: int = 0) -> None:
    """Raise :class:`UserError` unless so many rounds can be made and their costs and features kept."""
    integer_at_least("horizon", horizon, 1)
    require(n_labels <= MOST_LABELS, f"n_labels={n_labels}: expected at most {MOST_LABELS} labels.")
    check_size(f"costs of {n_labels} labels", horizon, n_labels)
    check_size(f"{n_features} features", horizon, n_features)


def even_costs(labels: IntArray, n_labels: int) -> FloatArray:
    """1/(k - 1) for every wrong label, shape (T, k)."""
    costs = np.full((len(labels), n_labels), 1 / (n_labels - 1))
    costs[np.arange(len(labels)), labels] = 0
    return costs
