"""Gappletron in plain Python, broken in what it plays: the learner of the README with one of its choices wrong.

A docstring says what is wrong, and why no other claims than those of ``caught_by`` see it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from right_learners import Array, Right


class NeitherExploresNorHedges(Right):
    """As sure of a small margin as of a large one."""

    caught_by = "algorithm-1 bound-9 lemma-1"

    def mix(self, best: int, gap: float, rate: float) -> Array:
        return np.eye(self.graph.n_actions)[best]


class HalvedGap(Right):
    """Too sure of the best label; the threshold guards (9) whatever the gap is."""

    caught_by = "algorithm-1 lemma-1 lemma-2"

    def gap(self, margin: float) -> float:
        return super().gap(margin) / 2


class CubedGap(Right):
    """(1 - margin)^3 for the square: the same at margins of 0 and 1."""

    caught_by = "algorithm-1 lemma-1"

    def gap(self, margin: float) -> float:
        return super().gap(margin) ** 1.5


class DoubledGap(Right):
    """Less sure than it may be."""

    caught_by = "algorithm-1 lemma-1"

    def gap(self, margin: float) -> float:
        return min(1.0, 2 * super().gap(margin))


class HingeGap(Right):
    """0 for margins from 1/2 on, where the smooth hinge still costs something."""

    caught_by = "algorithm-1 lemma-1"

    def gap(self, margin: float) -> float:
        return 1 - margin if margin < 0.5 else 0.0


class GapNeverZero(Right):
    """Always hedges a little."""

    caught_by = "algorithm-1 lemma-1"

    def gap(self, margin: float) -> float:
        return max(1e-3, super().gap(margin))


class GapToZero(Right):
    """Compares the best label with label 0, not with the runner-up."""

    caught_by = "algorithm-1 lemma-1"

    def predict(self, x: Array) -> Array:
        scores = self.scores(x)
        self.best = best = self.best_of(scores)
        rival = 0 if best else 1
        self.p = self.mix(best, self.gap(scores[best] - scores[rival]), self.rate(best))
        return self.p


class GapOfScore(Right):
    """Takes the best score itself for the margin."""

    caught_by = "algorithm-1 lemma-1"

    def predict(self, x: Array) -> Array:
        scores = self.scores(x)
        self.best = best = self.best_of(scores)
        self.p = self.mix(best, self.gap(scores[best]), self.rate(best))
        return self.p


class ZetaInverted(Right):
    """Explores when it should spread the gap, and the other way round."""

    caught_by = "algorithm-1 bound-9 lemma-1"

    def mix(self, best: int, gap: float, rate: float) -> Array:
        n, rho = self.graph.n_actions, self.graph.domination_number
        p = np.zeros(n)
        if n / rho * rate > gap:
            p += gap / n
            p[best] += 1 - gap
        else:
            p[list(self.graph.dominating)] += rate / rho
            p[best] += 1 - rate
        return p


class ZetaAsPrinted(Right):
    """The paper's line 9 in place of the declared repair, and its gap in (9); where labels tie, its count is off."""

    caught_by = "algorithm-1 bound-9 lemma-1"

    def mix(self, best: int, gap: float, rate: float) -> Array:
        n, rho = self.graph.n_actions, self.graph.domination_number
        p = np.zeros(n)
        if rate <= gap:
            p += gap / n
            p[best] += 1 - gap
        else:
            p[list(self.graph.dominating)] += rate / rho
            p[best] += 1 - rate
        return p


class LabelsForActions(Right):
    """Takes K for the number of actions: they differ where an action only asks."""

    caught_by = "algorithm-1 bound-9"

    def mix(self, best: int, gap: float, rate: float) -> Array:
        K, rho = len(self.weights), self.graph.domination_number
        p = np.zeros(self.graph.n_actions)
        if K / rho * rate <= gap:
            p[:K] += gap / K
            p[best] += 1 - gap
        else:
            p[list(self.graph.dominating)] += rate / rho
            p[best] += 1 - rate
        return p


class LabelsInThreshold(Right):
    """Takes K for the number of actions in the threshold only."""

    caught_by = "algorithm-1 bound-9"

    def mix(self, best: int, gap: float, rate: float) -> Array:
        n, K, rho = self.graph.n_actions, len(self.weights), self.graph.domination_number
        p = np.zeros(n)
        if K / rho * rate <= gap:
            p += gap / n
            p[best] += 1 - gap
        else:
            p[list(self.graph.dominating)] += rate / rho
            p[best] += 1 - rate
        return p


class SpreadsOverS(Right):
    """The gap over the dominating set: labels outside S get too little when the gap is large."""

    caught_by = "algorithm-1 lemma-1"

    def mix(self, best: int, gap: float, rate: float) -> Array:
        n, rho = self.graph.n_actions, self.graph.domination_number
        mixed = gap if n / rho * rate <= gap else rate
        p = np.zeros(n)
        p[list(self.graph.dominating)] += mixed / rho
        p[best] += 1 - mixed
        return p


class SpreadsOverOthers(Right):
    """The gap over the other actions only, not over all."""

    caught_by = "algorithm-1 bound-9 lemma-1 lemma-2"

    def mix(self, best: int, gap: float, rate: float) -> Array:
        n, rho = self.graph.n_actions, self.graph.domination_number
        if n / rho * rate > gap:
            return super().mix(best, gap, rate)
        p = np.full(n, gap / (n - 1))
        p[best] = 1 - gap
        return p


class PlaysTheRunnerUp(Right):
    """The mixture leans to the wrong label."""

    caught_by = "algorithm-1 bound-9 lemma-1 lemma-2 theorem-3a"

    def predict(self, x: Array) -> Array:
        scores = self.scores(x)
        self.best = best = self.best_of(scores)
        others = scores.copy()
        others[best] = -np.inf
        gap = self.gap(scores[best] - others.max())
        self.p = self.mix(int(np.argmax(others)), gap, self.rate(best))
        return self.p


class PlaysTheLastRound(Right):
    """Plays the distribution of the round before."""

    caught_by = "algorithm-1 lemma-1 lemma-2"
    before: ClassVar[Any] = None

    def predict(self, x: Array) -> Array:
        now = super().predict(x)
        self.p, self.before = (now if self.before is None else self.before), now
        return self.p


class NormalisedFeatures(Right):
    """Plays by x / |x|, and learns from x: the same where all features have norm 1."""

    caught_by = "algorithm-1 lemma-1"

    def predict(self, x: Array) -> Array:
        return super().predict(x / max(np.linalg.norm(x), 1e-300))


class SumOff(Right):
    """No distribution: the game names the round and stops."""

    caught_by = ""
    kind = "refused"

    def mix(self, best: int, gap: float, rate: float) -> Array:
        p = super().mix(best, gap, rate)
        p[best] += 1e-4
        return p


class Peeker:
    """Reads the label of the round out of the game's own frame, and promises no more than not to."""

    promises = ("game/*",)
    caught_by = "game/no-peeking"

    def __init__(self, problem: Any) -> None:
        self.n_actions = problem.graph.n_actions

    def predict(self, x: Array) -> Array:
        frame = sys._getframe()
        while "label" not in frame.f_locals:
            frame = frame.f_back
        p = np.full(self.n_actions, 0.5 / self.n_actions)
        p[int(frame.f_locals["label"])] += 0.5
        return p

    def update(self, x: Array, action: int, label: int | None) -> None:
        pass
