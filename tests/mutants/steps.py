"""Gappletron in plain Python, broken in its steps: the learner of the README with one of its choices wrong.

A docstring says what is wrong, and why no other claims than those of ``caught_by`` see it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from right_learners import Array, Right


class HalfSteps(Right):
    """Half as far as declared."""

    caught_by = "updates"

    def step(self, gradient: Array) -> None:
        super().step(gradient / 2)


class DoubleSteps(Right):
    """Another constant, inside the room of (4)."""

    caught_by = "updates"

    def step(self, gradient: Array) -> None:
        super().step(gradient * 2)


class StepWithoutRoot(Right):
    """B / sqrt(squares), without the root of 2."""

    caught_by = "updates"

    def step(self, gradient: Array) -> None:
        super().step(gradient / np.sqrt(2))


class RateNotScaleFree(Right):
    """1 more under the root: hardly any step where features are small."""

    caught_by = "updates"

    def step(self, gradient: Array) -> None:
        super().step(gradient * np.sqrt(self.squares / (1 + self.squares)))


class StepFloored(Right):
    """1e-6 more under the root, a common remedy against a division by zero."""

    caught_by = "updates"

    def step(self, gradient: Array) -> None:
        super().step(gradient * np.sqrt(self.squares / (1e-6 + self.squares)))


class RateOfRounds(Right):
    """B / (X sqrt(n)) in place of the squared norms of the gradients."""

    caught_by = "updates"
    steps = 0

    def __init__(self, problem: Any) -> None:
        super().__init__(problem)
        self.norm = problem.feature_norm

    def step(self, gradient: Array) -> None:
        self.steps += 1
        super().step(gradient * np.sqrt(self.squares / (2 * self.steps)) / self.norm)


class SquaresBefore(Right):
    """The squares of the rounds before, without the present one."""

    caught_by = "updates"

    def step(self, gradient: Array) -> None:
        before = self.squares - (gradient**2).sum()
        super().step(gradient * np.sqrt(self.squares / before) if before > 0 else gradient)


class SquaresUnweighted(Right):
    """Squares of the gradients without their importance weights."""

    caught_by = "updates"
    plain = 0.0

    def update(self, x: Array, action: int, label: int | None) -> None:
        if label is not None:
            self.plain += (np.outer(self.direction(self.scores(x), label), x) ** 2).sum()
        super().update(x, action, label)

    def step(self, gradient: Array) -> None:
        if self.plain > 0:
            super().step(gradient * np.sqrt(self.squares / self.plain))


class NoProjection(Right):
    """Leaves the declared ball."""

    caught_by = "guarantee-4 updates"

    def step(self, gradient: Array) -> None:
        self.weights -= np.sqrt(2) * self.bound / np.sqrt(self.squares) * gradient


class BallTwiceAsLarge(Right):
    """Projects to a ball of twice the radius."""

    caught_by = "updates"

    def step(self, gradient: Array) -> None:
        self.weights -= np.sqrt(2) * self.bound / np.sqrt(self.squares) * gradient
        self.weights *= min(1.0, 2 * self.bound / max(np.linalg.norm(self.weights), 1e-300))


class BallOfRadiusOne(Right):
    """Projects to the unit ball, whatever B is."""

    caught_by = "updates"

    def step(self, gradient: Array) -> None:
        self.weights -= np.sqrt(2) * self.bound / np.sqrt(self.squares) * gradient
        self.weights *= min(1.0, 1 / max(np.linalg.norm(self.weights), 1e-300))


class RowsProjected(Right):
    """Projects every row to the ball, not all of them together."""

    caught_by = "updates"

    def step(self, gradient: Array) -> None:
        self.weights -= np.sqrt(2) * self.bound / np.sqrt(self.squares) * gradient
        for row in self.weights:
            row *= min(1.0, self.bound / max(np.linalg.norm(row), 1e-300))


class ProjectedFirst(Right):
    """Projects before the step, not after it."""

    caught_by = "updates"

    def step(self, gradient: Array) -> None:
        self.weights *= min(1.0, self.bound / max(np.linalg.norm(self.weights), 1e-300))
        self.weights -= np.sqrt(2) * self.bound / np.sqrt(self.squares) * gradient


class OnTheSphere(Right):
    """Weights that lie inside the ball are blown up to its surface."""

    caught_by = "updates"

    def step(self, gradient: Array) -> None:
        self.weights -= np.sqrt(2) * self.bound / np.sqrt(self.squares) * gradient
        self.weights *= self.bound / max(np.linalg.norm(self.weights), 1e-300)


class AnotherOptimiser(Right):
    """Follows the regularised leader; its own h is 6 B, and it keeps to the declared one as well."""

    caught_by = "updates"

    def start(self, n_labels: int, n_features: int) -> None:
        super().start(n_labels, n_features)
        self.total = np.zeros((n_labels, n_features))

    def step(self, gradient: Array) -> None:
        self.total += gradient
        moved = -self.bound / (2 * np.sqrt(self.squares)) * self.total
        self.weights = moved * min(1.0, self.bound / max(np.linalg.norm(moved), 1e-300))


class Averaged(Right):
    """Plays by the mean of its weights so far, and says so."""

    caught_by = "updates"

    def start(self, n_labels: int, n_features: int) -> None:
        super().start(n_labels, n_features)
        self.last, self.steps = np.zeros((n_labels, n_features)), 1

    def step(self, gradient: Array) -> None:
        self.weights, mean = self.last, self.weights
        super().step(gradient)
        self.last, self.steps = self.weights, self.steps + 1
        self.weights = mean + (self.last - mean) / self.steps


class Momentum(Right):
    """Half of the last step again."""

    caught_by = "updates"
    moved: Any = 0.0

    def step(self, gradient: Array) -> None:
        before = self.weights.copy()
        super().step(gradient)
        self.weights = self.weights + 0.5 * self.moved
        self.moved = self.weights - before


class NeverLearns(Right):
    """Plays by weights of zero."""

    caught_by = "guarantee-4 lemma-2 updates"

    def step(self, gradient: Array) -> None:
        pass


class Freezes(Right):
    """Learns nothing more after 450 labels."""

    caught_by = "updates"
    kind = "below"
    labels = 0

    def step(self, gradient: Array) -> None:
        self.labels += 1
        if self.labels <= 450:
            super().step(gradient)


class StopsProjecting(Right):
    """Stops projecting after 450 labels."""

    caught_by = "updates"
    kind = "below"
    labels = 0

    def step(self, gradient: Array) -> None:
        self.labels += 1
        if self.labels <= 450:
            super().step(gradient)
        else:
            self.weights -= np.sqrt(2) * self.bound / np.sqrt(self.squares) * gradient


class Restarts(Right):
    """Forgets everything half way."""

    caught_by = "updates"

    def __init__(self, problem: Any) -> None:
        super().__init__(problem)
        self.left = problem.horizon // 2

    def update(self, x: Array, action: int, label: int | None) -> None:
        self.left -= 1
        if self.left == 0:
            self.weights, self.squares = np.zeros_like(self.weights), 0.0
        super().update(x, action, label)
