"""Gappletron in plain Python, broken in its weights and gradients: the README's learner with one of its choices wrong.

A docstring says what is wrong, and why no other claims than those of ``caught_by`` see it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from right_learners import Array, Right


class WeightDropped(Right):
    """Believes in the label that is seen more often; no mistake of one round."""

    caught_by = "updates"

    def weight(self, action: int, label: int) -> float:
        return 1.0


class WeightOfTheAction(Right):
    """1/p(action) counts a label once for each action that sees it."""

    caught_by = "updates"

    def weight(self, action: int, label: int) -> float:
        return 1 / self.p[action]


class WeightOfTheLabel(Right):
    """1/p(label), as for bandits, on every graph."""

    caught_by = "guarantee-4 updates"

    def weight(self, action: int, label: int) -> float:
        return 1 / max(self.p[label], 1e-9)


class WeightOfTheBest(Right):
    """1/p(y*) is about 1, like no weight at all."""

    caught_by = "updates"

    def weight(self, action: int, label: int) -> float:
        return 1 / self.p[self.best]


class WeightClipped(Right):
    """At most 4: a common remedy against large steps, for which (4) has room."""

    caught_by = "updates"

    def weight(self, action: int, label: int) -> float:
        return min(4.0, super().weight(action, label))


class WeightSquared(Right):
    """1/P^2."""

    caught_by = "updates"

    def weight(self, action: int, label: int) -> float:
        return super().weight(action, label) ** 2


class Climbs(Right):
    """The wrong sign."""

    caught_by = "guarantee-4 lemma-2 theorem-3a updates"

    def direction(self, scores: Array, label: int) -> Array:
        return -super().direction(scores, label)


class RunnerUpFrozen(Right):
    """No row ever falls."""

    caught_by = "updates"

    def direction(self, scores: Array, label: int) -> Array:
        return np.minimum(0.0, super().direction(scores, label))


class LabelFrozen(Right):
    """No row ever rises."""

    caught_by = "updates"

    def direction(self, scores: Array, label: int) -> Array:
        return np.maximum(0.0, super().direction(scores, label))


class OnlyMistakes(Right):
    """A perceptron: its margins stay small, and their losses add up."""

    caught_by = "guarantee-4 lemma-2 updates"

    def direction(self, scores: Array, label: int) -> Array:
        return super().direction(scores, label) * (label != self.best)


class SlopeNotCapped(Right):
    """2 (1 - margin), also below a margin of 0, where the smooth hinge is linear."""

    caught_by = "updates"

    def slope(self, margin: float, best: int, label: int) -> float:
        return 2 * max(0.0, 1 - margin)


class SlopeOfTheHinge(Right):
    """1 up to margin 1."""

    caught_by = "updates"

    def slope(self, margin: float, best: int, label: int) -> float:
        return float(margin < 1)


class SlopeHalved(Right):
    """The derivative of the square without its 2: with steps by the squares of the gradients it is the same."""

    caught_by = ""
    kind = "equivalent"

    def slope(self, margin: float, best: int, label: int) -> float:
        return super().slope(margin, best, label) / 2


class BlamesEverybody(Right):
    """Lowers all other rows alike."""

    caught_by = "updates"

    def rivals_of(self, others: Array) -> Array:
        return np.isfinite(others) / (len(others) - 1)


class BlamesThePrediction(Right):
    """Lowers the best label's row, also where it is the true one: then nothing moves."""

    caught_by = "guarantee-4 lemma-2 updates"

    def rivals_of(self, others: Array) -> Array:
        return np.eye(len(others))[self.best]


class BlamesTheAction(Right):
    """Lowers the row of what was played."""

    caught_by = "updates"

    def update(self, x: Array, action: int, label: int | None) -> None:
        self.action = action
        super().update(x, action, label)

    def rivals_of(self, others: Array) -> Array:
        if self.action < len(others) and np.isfinite(others[self.action]):
            return np.eye(len(others))[self.action]
        return super().rivals_of(others)


class BelievesItsGuess(Right):
    """Unseen labels are taken to be the best one."""

    caught_by = "updates"

    def update(self, x: Array, action: int, label: int | None) -> None:
        super().update(x, action, self.best if label is None else label)


class BelievesTheAction(Right):
    """Unseen labels are taken to be what was played."""

    caught_by = "guarantee-4 updates"

    def update(self, x: Array, action: int, label: int | None) -> None:
        guess = min(action, len(self.weights) - 1)
        super().update(x, action, guess if label is None else label)


class DropsTheWeight(Right):
    """Drops the importance weight after 450 labels."""

    caught_by = "updates"
    kind = "below"
    labels = 0

    def weight(self, action: int, label: int) -> float:
        self.labels += 1
        return super().weight(action, label) if self.labels <= 450 else 1.0


class Unteachable(Right):
    """Takes a label for noise where its margin for another one is above a half: never unlearns."""

    caught_by = "guarantee-4 updates"

    def slope(self, margin: float, best: int, label: int) -> float:
        return 0.0 if margin < -0.5 else super().slope(margin, best, label)


class RoundsFeatures(Right):
    """Reads features to three decimals."""

    caught_by = "algorithm-1 lemma-1 updates"

    def predict(self, x: Array) -> Array:
        return super().predict(np.round(x, 3))

    def update(self, x: Array, action: int, label: int | None) -> None:
        super().update(np.round(x, 3), action, label)


class IgnoresSmallFeatures(Right):
    """Takes features below 0.02 for zero."""

    caught_by = "updates"

    def update(self, x: Array, action: int, label: int | None) -> None:
        super().update(np.where(np.abs(x) < 0.02, 0.0, x), action, label)
