"""Comparators fitted to rounds: U whose losses, and whose regret term where it has one, are small.

Any U of norm at most B is a legitimate comparator where the rounds are fixed before play, or the statement holds for
all U along every realisation. A bad fit then costs power and never validity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from .....adversaries.sequence import Comparator, Sequence
from .....arrays import FloatArray, IntArray
from .....errors import require

INSIDE = 1 - 2.0**-40  # rescaling to the bound itself would overshoot it by rounding
BLURS = (0.3, 0.03, 0.003)  # widths of the noise that smooths the kinks
LOOK = 10  # steps between two looks at the progress
STEEPEST = 1e9  # curvature, in units of 1 / bound, beyond which a step is no longer shortened
BLURRED = 300  # kinds of rounds, with their own noise each, that make a mean of kinks nearly smooth

Regret = Callable[[float], float]
"""A convex function of the norm of the comparator that does not fall."""


class Surrogate(Protocol):
    """A surrogate loss as a function of scores, shape (N, K), and labels, shape (N,)."""

    def values(self, scores: FloatArray, labels: IntArray) -> FloatArray:
        """Return the losses, shape (N,)."""

    def gradients(self, scores: FloatArray, labels: IntArray) -> FloatArray:
        """Return the gradients in the scores, shape (N, K)."""


def fit(
    sequence: Sequence,
    loss: Surrogate,
    bound: float,
    *,
    weights: FloatArray | None = None,
    regret: Regret | None = None,
    start: Comparator | None = None,
    blurs: tuple[float, ...] = BLURS,
    steps: int = 150,
    tolerance: float = 1e-4,
) -> Comparator:
    """Return U of Frobenius norm at most ``bound``, exactly, that makes its losses and its regret term small.

    That is the sum of ``weights`` times losses over the rounds, all 1 where None, and of ``regret``, a function of the
    norm of U, 0 where None. The result is no worse than 0 and than ``start``.

    Hinge losses have kinks where two labels tie, and 0 is one. Hence the scores of each round are
    first shifted by small fixed noise: the kinks then lie in different places and their mean is
    nearly smooth. Each noise is smaller than the last and takes at most ``steps`` steps, or until
    ``LOOK`` of them gain less than ``tolerance`` of the loss. Raises ``UserError`` unless
    ``bound`` is positive and finite.
    """
    require(
        math.isfinite(bound) and bound > 0,
        f"comparator norm B={bound}: expected a positive finite number.",
    )
    inner = bound * INSIDE
    best = np.zeros((sequence.n_labels, sequence.n_features))
    mean = _MeanLoss(sequence, loss, weights)
    term = _term(regret, mean.total)
    value = mean.value(best) + term(0.0)
    if start is not None:
        begun = _shrunk(start.weights, inner)
        if (reached := mean.value(begun) + term(_size(begun))) < value:
            value, best = reached, begun
    for blur in blurs:
        if value == 0.0:
            break
        blurred = _MeanLoss(sequence, loss, weights, blur)
        for found in _descend(blurred, term, best, inner, steps, tolerance):
            reached = mean.value(found) + term(_size(found))
            if reached < value:
                value, best = reached, found
    return Comparator(_shrunk(best, inner), "fitted")


class _MeanLoss:
    """The weighted mean of the losses as a function of the weights U.

    Rounds with the same features and label count as one; with ``blur`` there are at least ``BLURRED`` of them, whose
    scores are shifted by noise of that width.
    """

    def __init__(
        self,
        sequence: Sequence,
        loss: Surrogate,
        weights: FloatArray | None = None,
        blur: float = 0.0,
    ) -> None:
        alike = _alike(sequence)
        counts = np.bincount(alike.kind, weights, len(alike.first))
        kinds = np.flatnonzero(counts)
        self.total = float(counts.sum())
        self.shares = counts[kinds] / (self.total or 1.0)
        if blur and 0 < len(kinds) < BLURRED:
            times = -(-BLURRED // len(kinds))
            kinds, self.shares = np.repeat(kinds, times), np.repeat(self.shares / times, times)
        rounds = alike.first[kinds]
        whole = len(rounds) == sequence.horizon
        self.features = alike.features if whole else alike.features[rounds]
        self.transposed = self.features.T.tocsr()
        self.labels = sequence.labels[rounds]
        self.typical_curvature = float(self.shares @ sequence.squared_norms[rounds]) or 1.0
        self.loss = loss
        self.shift: FloatArray | float = 0.0
        if blur:
            noise = np.random.default_rng(0).random((len(rounds), sequence.n_labels)) - 0.5
            self.shift = blur * noise

    def value(self, weights: FloatArray) -> float:
        return float(self.shares @ self.loss.values(self._scores(weights), self.labels))

    def value_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]:
        scores = self._scores(weights)
        slopes = self.loss.gradients(scores, self.labels) * self.shares[:, None]
        gradient = np.ascontiguousarray((self.transposed @ slopes).T, dtype=np.float64)
        return float(self.shares @ self.loss.values(scores, self.labels)), gradient

    def _scores(self, weights: FloatArray) -> FloatArray:
        return np.asarray(self.features @ weights.T + self.shift, dtype=np.float64)


@dataclass(frozen=True)
class _Alike:
    """The rounds of a sequence by their features and label.

    Attributes
    ----------
    features : of all rounds
    first : the first round of each kind
    kind : the kind of each round, shape (T,)
    """

    features: Any
    first: IntArray
    kind: IntArray


@lru_cache(maxsize=4)
def _alike(sequence: Sequence) -> _Alike:
    features, rounds = sequence.matrix(), np.arange(sequence.horizon)
    keys = features @ np.random.default_rng(0).random(sequence.n_features) + 1j * sequence.labels
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    if 2 * len(first) > len(rounds) or (features != features[first[kind]]).nnz:
        first = kind = rounds
    return _Alike(features, first.astype(np.int64), kind.astype(np.int64))


def NOTHING(norm: float) -> float:
    return 0.0


def _term(regret: Regret | None, total: float) -> Regret:
    """The regret term on the scale of the mean loss."""
    if regret is None or total == 0:
        return NOTHING
    return lambda norm: regret(norm) / total


def _descend(
    mean: _MeanLoss, term: Regret, start: FloatArray, norm: float, steps: int, tolerance: float
) -> list[FloatArray]:
    """Return the iterates, every ``LOOK`` steps, of accelerated proximal gradient descent.

    With backtracking (Beck and Teboulle, 2009) and restarts (O'Donoghue and Candes, 2015).
    """
    seen = []
    point = ahead = start
    value = looked = math.inf
    momentum, curvature = 1.0, mean.typical_curvature
    for step in range(1, steps + 1):
        base, gradient = mean.value_and_gradient(ahead)
        curvature /= 2
        while True:
            candidate = _nearest(ahead - gradient / curvature, norm, curvature, term)
            smooth, move = mean.value(candidate), candidate - ahead
            bound = base + np.vdot(gradient, move) + curvature / 2 * np.vdot(move, move)
            if smooth <= bound + 1e-12 * abs(base) or curvature * norm > STEEPEST:
                break
            curvature *= 2
        reached = smooth + term(_size(candidate))
        if reached > value and momentum > 1:
            ahead, momentum = point, 1.0
            continue
        following = (1 + math.sqrt(1 + 4 * momentum * momentum)) / 2
        ahead = candidate + (momentum - 1) / following * (candidate - point)
        point, value, momentum = candidate, reached, following
        if step % LOOK == 0:
            seen.append(point)
            if looked - value <= tolerance * value:
                break
            looked = value
    return [*seen, point]


def _size(weights: FloatArray) -> float:
    return float(np.linalg.norm(weights))


def _nearest(weights: FloatArray, bound: float, curvature: float, term: Regret) -> FloatArray:
    """The point of the ball with the least term plus curvature / 2 times its squared distance."""
    norm = _size(weights)
    if norm == 0:
        return weights
    if term is NOTHING:
        return weights if norm <= bound else weights * (bound / norm)
    best = least(lambda size: term(size) + curvature / 2 * (size - norm) ** 2, min(norm, bound))
    return weights if best == norm else weights * (best / norm)


def least(function: Regret, end: float) -> float:
    """Where a convex function on [0, end] is small: at an end, or where the parabola through three of its points is
    least. That is the minimum of a quadratic function, as h is, and near it for others."""
    best = 0.0 if function(0.0) <= function(end) else end
    left, middle, step = 0.0, end / 2, end / 2
    for _ in range(2):
        below, at, above = function(left), function(middle), function(middle + step)
        bend = below - 2 * at + above
        if bend <= 0:
            break
        vertex = middle + step * (below - above) / (2 * bend)
        if not 0 < vertex < end:
            break
        if function(vertex) < function(best):
            best = vertex
        step = min(vertex, end - vertex) / 2
        left, middle = vertex - step, vertex
    return best


def _shrunk(weights: FloatArray, bound: float) -> FloatArray:
    """The weights, scaled where their norm is above the bound."""
    norm = Comparator(weights, "fitted").norm
    return weights * (bound / norm) if norm > bound else weights
