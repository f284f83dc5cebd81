"""Which subgradient a learner took where runners-up tie: the one that explains its next weights serves every sum.

=========  =================================================================================
symbol     name here
=========  =================================================================================
g_t        subgradient of the loss in the scores: ``slope`` times (shares of the rivals - e_y)
v_t        importance weight, from the game's own probabilities
S          ``squares``, sum of the squared norms of v_s g_s x_s^T
B          ``comparator_norm``
=========  =================================================================================

At a tie of the runners-up a loss of hinge type has the subgradients with shares from the simplex over the tied labels.
The scores of x_t at W_t and at W_{t+1} show the shares, once it is known how far the declared optimiser goes and how
much the projection shrinks. Both depend on the shares through the sum of their squares only, since all tied scores are
the same, so that substitution finds them. If no shares explain W_{t+1}, ``updates`` refutes. The kernels of the library
are given the gradient with the first of tied runners-up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....algorithms.losses import Hinge, Loss, SmoothHinge
from ....arrays import FloatArray, IntArray
from ...games.labels.record import GRADIENT, MARGIN, OBSERVED, Block

AGREEMENT = 1e-7
"""Largest difference of scores, as a share of |x| times the largest norm of the weights so far."""

ROUNDING = 1e-13
"""The same for what rounding explains in one round."""

SUBSTITUTIONS = 60
"""The most substitutions for the shares of one round."""


def gradients(loss: Loss, block: Block) -> FloatArray:
    """Gradients of the loss in the scores, with the shares of tied runners-up that are known, shape (rounds, K)."""
    counts = loss.counts_for_comparator(block.best, block.column(MARGIN), block.labels)
    found = np.where(counts[:, None], loss.gradients(block.scores, block.labels), 0.0)
    if block.steps is not None:
        for i in np.flatnonzero(block.steps.rivals.any(axis=1)):
            label = block.labels[i]
            slope = -found[i, label]
            found[i] = slope * block.steps.rivals[i]
            found[i, label] = -slope
    return np.asarray(found)


def explained(case: Any, blocks: Iterator[Block]) -> Iterator[Block]:
    """The blocks of a run from its beginning, with the subgradients that explain the weights of a learner in plain
    Python."""
    declared = case.declaration
    kinked = isinstance(case.loss, SmoothHinge | Hinge) and declared.weights
    account: _Account | None = None
    if kinked and declared.get("optimiser") in ("projected", "ftrl", "unprojected"):
        account = _Account(declared["optimiser"], case.comparator_norm)
    for block in blocks:
        seen = account is not None and block.steps is not None
        yield _explained(case.loss, account, block) if account and seen else block


def _explained(loss: Loss, account: _Account, block: Block) -> Block:
    steps, first = block.steps, gradients(loss, block)
    assert steps is not None
    columns, rivals = block.columns.copy(), steps.rivals.copy()
    weights, sizes = block.weights, block.squared_norms
    for i in np.flatnonzero(block.column(OBSERVED) > 0):
        label, slope = int(block.labels[i]), -float(first[i, block.labels[i]])
        if slope == 0.0:
            continue
        others = block.scores[i].copy()
        others[label] = -np.inf
        tied = np.flatnonzero(others >= others.max() - steps.rounding[i])
        step = _Step(
            block.scores[i],
            steps.after[i],
            label,
            tied,
            float(weights[i]) * slope,
            float(sizes[i]),
            float(steps.norms[i]),
        )
        shares = account.shares(step)
        account.take(step, shares)
        if shares[tied[0]] != 1.0:
            rivals[i] = shares
            columns[i, GRADIENT] = slope**2 * (1 + float(shares @ shares)) * sizes[i]
    return replace(block, columns=columns, steps=steps._replace(rivals=rivals))


@dataclass(frozen=True)
class _Step:
    """A round whose label was revealed.

    Attributes
    ----------
    before, after : scores of x_t at W_t and W_{t+1}, shape (K,)
    label : y_t
    tied : the tied runners-up, the first one first
    slope : v_t times the slope of the loss in the margin
    squared, norm : |x_t|^2 and |W_t|
    """

    before: FloatArray
    after: FloatArray
    label: int
    tied: IntArray
    slope: float
    squared: float
    norm: float

    def direction(self, shares: FloatArray) -> FloatArray:
        """The estimated subgradient in the scores, shape (K,)."""
        found = self.slope * shares
        found[self.label] -= self.slope
        return found


class _Account:
    """What the declared optimiser remembers, apart from weights."""

    def __init__(self, optimiser: str, bound: float) -> None:
        self.optimiser, self.bound = optimiser, bound
        self.squares = 0.0
        self.scale = 0.0  # of the leader: W is minus this times the sum of the gradients
        self.largest = 0.0  # norm of the weights

    def _moved(self, step: _Step, shares: FloatArray) -> tuple[float, float, float]:
        """S after the step, and numbers a and b with W_{t+1} = b (P - a v_t g_t x_t^T), where P is W_t or, for the
        leader, minus the sum of the gradients before."""
        direction = step.direction(shares)
        squared = step.squared * float(direction @ direction)
        squares = self.squares + squared
        along = float(direction @ step.before)
        if self.optimiser == "unprojected":
            return squares, 1 / math.sqrt(1e-8 + squares), 1.0
        if self.optimiser == "projected":
            rate = math.sqrt(2) * self.bound / math.sqrt(squares)
            norm = step.norm**2 - 2 * rate * along + rate**2 * squared
            return squares, rate, min(1.0, self.bound / math.sqrt(max(norm, 1e-300)))
        norm = squared
        if self.scale > 0:
            norm += (step.norm / self.scale) ** 2 - 2 * along / self.scale
        limit = self.bound / math.sqrt(max(norm, 1e-300))
        return squares, 1.0, min(self.bound / (2 * math.sqrt(squares)), limit)

    def _base(self, step: _Step) -> FloatArray:
        """P x_t."""
        if self.optimiser != "ftrl":
            return step.before
        return step.before / self.scale if self.scale > 0 else np.zeros_like(step.before)

    def shares(self, step: _Step) -> FloatArray:
        """The shares of the tied runners-up that explain the step, or come near to it."""
        first = np.zeros_like(step.before)
        first[step.tied[0]] = 1.0
        if len(step.tied) == 1 or self._residual(step, first) <= ROUNDING:
            return first
        shares, base = np.zeros_like(first), self._base(step)
        shares[step.tied] = 1 / len(step.tied)
        for _ in range(SUBSTITUTIONS):
            scale = self._moved(step, shares)[2]
            found = np.zeros_like(first)
            found[step.tied] = np.maximum(0.0, (base - step.after / scale)[step.tied])
            if not found.sum() > 0:
                return first
            found /= found.sum()
            change, shares = float(np.abs(found - shares).max()), found
            if change <= 1e-15:
                break
        return min((shares, first), key=lambda each: self._residual(step, each))

    def _residual(self, step: _Step, shares: FloatArray) -> float:
        """How far the scores after a step with these shares are from those seen, as a share of |x| times the largest
        norm of the weights."""
        _, rate, scale = self._moved(step, shares)
        stated = scale * (self._base(step) - rate * step.squared * step.direction(shares))
        size = max(
            self.largest, step.norm, float(np.abs(step.after).max()) / math.sqrt(step.squared)
        )
        found, room = float(np.abs(stated - step.after).max()), size * math.sqrt(step.squared)
        if found == 0:
            return 0.0
        return found / room if room > 0 else math.inf  # weights that stay zero are no step

    def take(self, step: _Step, shares: FloatArray) -> None:
        """Remember a step."""
        squares, _, scale = self._moved(step, shares)
        self.squares, self.largest = squares, max(self.largest, step.norm)
        if self.optimiser == "ftrl":
            self.scale = scale
