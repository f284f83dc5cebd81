"""Comparators fitted to a sequence that is fixed before play.

Any U of norm at most B is a legitimate comparator, so a bad fit costs power and never validity.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from collections.abc import Sequence as Items
from fractions import Fraction
from typing import Protocol

import numpy as np

from ....adversaries.sequence import Comparator, Sequence
from ....arrays import FloatArray, IntArray
from ....errors import require

INSIDE = 1 - 2.0**-40  # rescaling to the bound itself would overshoot it by rounding
BLURS = (0.3, 0.03, 0.003)  # widths of the noise that smooths the kinks
LOOK = 10  # steps between two looks at the progress
EXACT = 2.0**52  # whole numbers below it are floats, and so are their sums and differences
STEEPEST = 1e9  # curvature, in units of 1 / bound, beyond which a step is no longer shortened


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
    steps: int = 150,
    tolerance: float = 1e-4,
) -> Comparator:
    """Return weights of Frobenius norm at most ``bound``, exactly, with a small mean loss.

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
    mean = _MeanLoss(sequence, loss)
    value = mean.value(best)
    noise = np.random.default_rng(0).random((sequence.horizon, sequence.n_labels)) - 0.5
    for blur in BLURS:
        if value == 0.0:
            break
        blurred = _MeanLoss(sequence, loss, blur * noise)
        for weights in _descend(blurred, best, inner, steps, tolerance):
            reached = mean.value(weights)
            if reached < value:
                value, best = reached, weights
    norm = _norm(best)
    return Comparator(best * (inner / norm) if norm > inner else best, "fitted")


def margin(sequence: Sequence, comparator: Comparator) -> float:
    """Return the smallest margin, the label's score minus the highest other one, in any round."""
    scores = comparator.scores(sequence)
    rounds = np.arange(sequence.horizon)
    own = scores[rounds, sequence.labels]
    scores[rounds, sequence.labels] = -np.inf
    return float((own - scores.max(axis=1)).min())


def whole_numbers(rows: Iterable[Items[Fraction]]) -> tuple[int, list[list[int]]]:
    """The least common denominator of fractions, and the fractions in units of one over it."""
    given = [tuple(row) for row in rows]
    unit = math.lcm(*(u.denominator for row in given for u in row))
    return unit, [[u.numerator * (unit // u.denominator) for u in row] for row in given]


def separates(sequence: Sequence, rows: Items[Items[Fraction]]) -> bool:
    """True if the weights ``rows``, one row per label, have margin at least 1 in every round, exactly.

    Floats with a bound on their rounding decide first; only rounds within it are added up, in whole numbers.
    """
    kinds = {row: i for i, row in enumerate(dict.fromkeys(tuple(row) for row in rows))}
    kind_of = np.array([kinds[tuple(row)] for row in rows])
    unit, whole = whole_numbers(kinds)
    # in units of 1 / unit the weights are whole numbers, and floats where they are not too large
    are_floats = max((abs(u) for row in whole for u in row), default=0) < EXACT
    weights = np.array(whole if are_floats else list(kinds), dtype=np.float64)
    least = float(unit if are_floats else 1)
    matrix, labels = sequence.matrix(), sequence.labels
    scores = np.asarray(matrix @ weights.T)
    sizes = np.asarray(abs(matrix) @ np.abs(weights).T)
    most = np.diff(sequence.indptr).max(initial=0)
    rounding = sizes * (int(most) + 4) * 2.0**-52
    if are_floats and sizes.max(initial=0.0) < EXACT and (sequence.values % 1 == 0).all():
        rounding = np.zeros_like(sizes)  # sums of whole numbers that are all floats
    at, own = np.arange(sequence.horizon), kind_of[labels]
    lone = np.bincount(kind_of)[own] == 1  # no other label has the same weights
    margins = []
    for rivals in (scores + rounding, scores - rounding):
        rivals[at[lone], own[lone]] = -np.inf
        margins.append(scores[at, own] - rivals.max(axis=1))
    room = rounding[at, own]
    if (margins[1] + room < least).any():
        return False
    seen = set()
    for t in np.flatnonzero(margins[0] - room < least):
        window = slice(int(sequence.indptr[t]), int(sequence.indptr[t + 1]))
        indices, values = sequence.indices[window].tolist(), sequence.values[window].tolist()
        key = (*indices, *values, int(own[t]))
        if key in seen:
            continue
        seen.add(key)
        ratios = [value.as_integer_ratio() for value in values]
        part = max((below for _, below in ratios), default=1)  # all are powers of two
        x = [above * (part // below) for above, below in ratios]
        exact = [sum(row[i] * v for i, v in zip(indices, x, strict=True)) for row in whole]
        others = [score for i, score in enumerate(exact) if i != own[t] or not lone[t]]
        if exact[own[t]] - max(others) < unit * part:
            return False
    return True


class _MeanLoss:
    """The mean loss as a function of the weights, each round's scores shifted by ``shift``."""

    def __init__(
        self, sequence: Sequence, loss: Surrogate, shift: FloatArray | float = 0.0
    ) -> None:
        self.features = sequence.matrix()
        self.transposed = self.features.T.tocsr()
        self.labels = sequence.labels
        self.typical_curvature = float(sequence.squared_norms.mean()) or 1.0
        self.loss = loss
        self.shift = shift

    def value(self, weights: FloatArray) -> float:
        return float(self.loss.values(self._scores(weights), self.labels).mean())

    def value_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]:
        scores = self._scores(weights)
        slopes = self.loss.gradients(scores, self.labels) / len(self.labels)
        gradient = np.ascontiguousarray((self.transposed @ slopes).T, dtype=np.float64)
        return float(self.loss.values(scores, self.labels).mean()), gradient

    def _scores(self, weights: FloatArray) -> FloatArray:
        return np.asarray(self.features @ weights.T + self.shift, dtype=np.float64)


def _descend(
    mean: _MeanLoss, start: FloatArray, norm: float, steps: int, tolerance: float
) -> list[FloatArray]:
    """Return the iterates, every ``LOOK`` steps, of accelerated projected gradient descent.

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
            candidate = _project(ahead - gradient / curvature, norm)
            reached, move = mean.value(candidate), candidate - ahead
            bound = base + np.vdot(gradient, move) + curvature / 2 * np.vdot(move, move)
            if reached <= bound + 1e-12 * abs(base) or curvature * norm > STEEPEST:
                break
            curvature *= 2
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


def _norm(weights: FloatArray) -> float:
    return Comparator(weights, "fitted").norm


def _project(weights: FloatArray, bound: float) -> FloatArray:
    norm = float(np.linalg.norm(weights))
    return weights if norm <= bound else weights * (bound / norm)
