"""Kernels of Hedge over the stumps.

A cell is one side of zero of one feature; it has a share exp(-rate * cost so far) for each label. A stump is a feature
with a label for either of its cells, so that the weights of all stumps of a feature sum to the product of the sums of
its two cells, and a label has the chance

    sum over features of (share of the label in the cell that x is in) * (sum of the other cell).

All cells that x is in take the same factors exp(-rate * weight * cost), so an update needs k exponentials however many
features there are. A cell keeps its shares relative to exp(-rate * ``bases``): the least of each cost vector told is
left out, which is the same for all features, and before the shares of a cell underflow they are computed afresh from
its costs. A feature then has a ``factors`` of its own, which makes up for the bases of its cells.

=============  ======================================================================================
slots          of the state of a learner, cell c = 2 j + [x_j > 0] of d features
=============  ======================================================================================
``costs``      2 d k from 0: cost so far of label l in cell c, at c k + l
``shares``     2 d k after them, in the same order
``sums``       2 d: of the shares of each cell
``bases``      2 d: what is left out of the costs of each cell
``factors``    d: exp(-rate * (sum of the bases of its cells - the least such sum))
=============  ======================================================================================
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ...arrays import FloatArray, IntArray
from ...compiled import helper, kernel, workspace
from ...errors import check_size
from .weak import ASK, TELL, Compiled, Setting, drawn

TINY = 1e-100
"""A sum of shares below which they are computed afresh."""


@helper
def _chances(x: FloatArray, n_labels: int, row: FloatArray, chances: FloatArray) -> None:
    """Fill numbers in proportion to the probabilities of the labels."""
    d = x.shape[0]
    shares, sums, factors = 2 * d * n_labels, 4 * d * n_labels, 4 * d * n_labels + 4 * d
    for label in range(n_labels):
        chances[label] = 0.0
    for j in range(d):
        side = 1 if x[j] > 0.0 else 0
        size = row[sums + 2 * j + 1 - side] * row[factors + j]
        first = shares + (2 * j + side) * n_labels
        for label in range(n_labels):
            chances[label] += size * row[first + label]


@kernel(ASK)
def _ask(
    x: FloatArray, dice: FloatArray, n_labels: int, state: FloatArray, labels: IntArray
) -> None:
    chances = workspace(n_labels)
    for i in range(labels.shape[0]):
        _chances(x, n_labels, state[i], chances)
        labels[i] = drawn(chances, dice[i])


@kernel("void(Array(float64, 1, 'C', True), float64[:, ::1], float64[:, ::1])")
def _probabilities(x: FloatArray, state: FloatArray, p: FloatArray) -> None:
    n_labels = p.shape[1]
    for i in range(p.shape[0]):
        _chances(x, n_labels, state[i], p[i])
        total = 0.0
        for label in range(n_labels):
            total += p[i, label]
        for label in range(n_labels):
            p[i, label] /= total


@helper
def _renew(rate: float, d: int, n_labels: int, row: FloatArray) -> None:
    """Compute the shares of the cells that are about to underflow from their costs, and all factors."""
    shares, sums = 2 * d * n_labels, 4 * d * n_labels
    bases, factors = sums + 2 * d, sums + 4 * d
    for cell in range(2 * d):
        if row[sums + cell] < TINY:
            first = cell * n_labels
            base = row[first]
            for label in range(n_labels):
                base = row[first + label] if row[first + label] < base else base
            row[bases + cell] = base
            row[sums + cell] = 0.0
            for label in range(n_labels):
                row[shares + first + label] = math.exp(-rate * (row[first + label] - base))
                row[sums + cell] += row[shares + first + label]
    least = math.inf
    for j in range(d):
        base = row[bases + 2 * j] + row[bases + 2 * j + 1]
        least = base if base < least else least
    for j in range(d):
        base = row[bases + 2 * j] + row[bases + 2 * j + 1]
        row[factors + j] = math.exp(-rate * (base - least))


@kernel(TELL)
def _tell(
    x: FloatArray, costs: FloatArray, weights: FloatArray, parameters: FloatArray, state: FloatArray
) -> None:
    d, n_labels, rate = x.shape[0], costs.shape[1], parameters[0]
    shares, sums = 2 * d * n_labels, 4 * d * n_labels
    bases = sums + 2 * d
    shown, shrink = workspace(n_labels), workspace(n_labels)
    for i in range(costs.shape[0]):
        weight, row = weights[i], state[i]
        if weight == 0.0:
            continue
        least = weight * costs[i, 0]
        for label in range(n_labels):
            shown[label] = weight * costs[i, label]
            least = shown[label] if shown[label] < least else least
        for label in range(n_labels):
            shrink[label] = math.exp(-rate * (shown[label] - least))
        underflows = False
        for j in range(d):
            cell = 2 * j + 1 if x[j] > 0.0 else 2 * j
            first = cell * n_labels
            total = 0.0
            for label in range(n_labels):
                row[first + label] += shown[label]
                share = row[shares + first + label] * shrink[label]
                row[shares + first + label] = share
                total += share
            row[sums + cell] = total
            row[bases + cell] += least
            underflows = underflows or total < TINY
        if underflows:
            _renew(rate, d, n_labels, row)


class Stumps(Compiled):
    """Hedge over the stumps in progress."""

    draws: ClassVar[bool] = True
    ask_kernel, tell_kernel = _ask, _tell

    def __init__(self, rate: float, setting: Setting) -> None:
        n, k, d = setting.n_learners, setting.n_labels, setting.n_features
        check_size("state of hedge-stump", n, 4 * d * k + 5 * d)
        start = np.concatenate(
            [
                np.zeros(2 * d * k),
                np.ones(2 * d * k),
                np.full(2 * d, float(k)),
                np.zeros(2 * d),
                np.ones(d),
            ]
        )
        super().__init__(setting, np.array([rate]), np.tile(start, (n, 1)))
        self._shape = (n, d, 2, k)

    @property
    def costs(self) -> FloatArray:
        """Cost so far of each label for each value of each feature, shape (N, d, 2, k)."""
        return self.state[:, : math.prod(self._shape[1:])].reshape(self._shape)

    def probabilities(self, x: FloatArray) -> FloatArray:
        """Probabilities of the labels that each learner draws from, shape (N, k)."""
        found = np.empty((self.n_learners, self.n_labels))
        _probabilities.native(np.ascontiguousarray(x, dtype=np.float64), self.state, found)
        return found
