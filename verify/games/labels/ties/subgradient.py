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

from .....algorithms.losses import Hinge, Loss, SmoothHinge
from .....arrays import BoolArray, FloatArray
from ..record import GRADIENT, MARGIN, OBSERVED, Block

ROUNDING = 1e-15
"""Residuals and changes of shares so small are those of rounding."""

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
    columns, rivals, at = block.columns.copy(), steps.rivals.copy(), np.arange(len(block))
    others = block.scores.copy()
    others[at, block.labels] = -np.inf
    tied = others >= (others.max(axis=1) - steps.rounding)[:, None]
    slopes = -first[at, block.labels]
    estimated = block.weights[:, None] * first
    squares = np.square(estimated).sum(axis=1) * block.squared_norms
    along = (estimated * block.scores).sum(axis=1)
    for i in np.flatnonzero((block.column(OBSERVED) > 0) & (squares > 0)).tolist():
        norm = float(steps.norms[i])
        if np.count_nonzero(tied[i]) == 1:
            account.take(norm, float(squares[i]), float(along[i]))
            continue
        step = _Step(
            block.scores[i],
            steps.after[i],
            int(block.labels[i]),
            int(np.argmax(others[i])),
            tied[i],
            float(block.weights[i] * slopes[i]),
            float(block.squared_norms[i]),
            norm,
        )
        shares = account.shares(step)
        account.take(norm, *step.size(shares))
        if shares[step.rival] != 1.0:
            rivals[i] = shares
            spread = 1 + float(shares @ shares)
            columns[i, GRADIENT] = slopes[i] ** 2 * spread * block.squared_norms[i]
    return replace(block, columns=columns, steps=steps._replace(rivals=rivals))


@dataclass(frozen=True)
class _Step:
    """A round whose label was revealed, and in which runners-up tie.

    Attributes
    ----------
    before, after : scores of x_t at W_t and W_{t+1}, shape (K,)
    label, rival : y_t, and the first runner-up
    tied : mask of the tied runners-up, shape (K,)
    slope : v_t times the slope of the loss in the margin
    squared, norm : |x_t|^2 and |W_t|
    """

    before: FloatArray
    after: FloatArray
    label: int
    rival: int
    tied: BoolArray
    slope: float
    squared: float
    norm: float

    def direction(self, shares: FloatArray) -> FloatArray:
        """The estimated subgradient in the scores, shape (K,)."""
        found = self.slope * shares
        found[self.label] -= self.slope
        return found

    def size(self, shares: FloatArray) -> tuple[float, float]:
        """The squared norm of the estimated subgradient in the weights, and its inner product with W_t."""
        direction = self.direction(shares)
        return self.squared * float(direction @ direction), float(direction @ self.before)


class _Account:
    """What the declared optimiser remembers, apart from weights."""

    def __init__(self, optimiser: str, bound: float) -> None:
        self.optimiser, self.bound = optimiser, bound
        self.squares = 0.0
        self.scale = 0.0  # of the leader: W is minus this times the sum of the gradients

    def _moved(self, norm: float, squared: float, along: float) -> tuple[float, float, float]:
        """S after a step, and numbers a and b with W_{t+1} = b (P - a v_t g_t x_t^T), where P is W_t or, for the
        leader, minus the sum of the gradients before."""
        squares = self.squares + squared
        if self.optimiser == "unprojected":
            return squares, 1 / math.sqrt(1e-8 + squares), 1.0
        if self.optimiser == "projected":
            rate = math.sqrt(2) * self.bound / math.sqrt(squares)
            moved = norm**2 - 2 * rate * along + rate**2 * squared
            return squares, rate, min(1.0, self.bound / math.sqrt(max(moved, 1e-300)))
        total = squared
        if self.scale > 0:
            total += (norm / self.scale) ** 2 - 2 * along / self.scale
        limit = self.bound / math.sqrt(max(total, 1e-300))
        return squares, 1.0, min(self.bound / (2 * math.sqrt(squares)), limit)

    def take(self, norm: float, squared: float, along: float) -> None:
        """Remember a step from weights of this norm, by an estimated subgradient of this squared norm and inner product
        with the weights."""
        self.squares, _, scale = self._moved(norm, squared, along)
        if self.optimiser == "ftrl":
            self.scale = scale

    def shares(self, step: _Step) -> FloatArray:
        """The shares of the tied runners-up that explain the step, or come near to it."""
        first = np.zeros_like(step.before)
        first[step.rival] = 1.0
        if self._residual(step, first) <= ROUNDING:
            return first
        shares, base = step.tied / np.count_nonzero(step.tied), self._base(step)
        for _ in range(SUBSTITUTIONS):
            scale = self._moved(step.norm, *step.size(shares))[2]
            found = np.where(step.tied, np.maximum(0.0, base - step.after / scale), 0.0)
            if not found.sum() > 0:
                return first
            found /= found.sum()
            change, shares = float(np.abs(found - shares).max()), found
            if change <= ROUNDING:
                break
        return min((shares, first), key=lambda each: self._residual(step, each))

    def _base(self, step: _Step) -> FloatArray:
        """P x_t."""
        if self.optimiser != "ftrl":
            return step.before
        return step.before / self.scale if self.scale > 0 else np.zeros_like(step.before)

    def _residual(self, step: _Step, shares: FloatArray) -> float:
        """How far the scores after a step with these shares are from those seen, as a share of the largest of them and
        of the step."""
        _, rate, scale = self._moved(step.norm, *step.size(shares))
        change = rate * step.squared * step.direction(shares)
        stated = scale * (self._base(step) - change)
        size = float(np.abs(step.after).max() + scale * np.abs(change).max())
        return float(np.abs(stated - step.after).max()) / size if size > 0 else 0.0
