"""Gappletron in plain Python, broken in how it explores: the learner of the README with one of its choices wrong.

A docstring says what is wrong, and why no other claims than those of ``caught_by`` see it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from right_learners import Array, Right


class ExplorationOff(Right):
    """With a small gap a label may hardly be seen; mistakes only become fewer."""

    caught_by = "algorithm-1 bound-9"

    def mix(self, best: int, gap: float, rate: float) -> Array:
        return super().mix(best, gap, 0.0)


class GammaForFewer(Right):
    """gamma / sqrt(rho): explores less than declared, which costs no mistakes in a round."""

    caught_by = "algorithm-1 bound-9"

    def rate(self, best: int) -> float:
        gamma = self.gamma
        self.gamma = gamma / np.sqrt(self.graph.domination_number)
        found = super().rate(best)
        self.gamma = gamma
        return found


class GammaForMore(Right):
    """gamma sqrt(rho): explores more than declared, which is judged by the nominal gamma_t."""

    caught_by = "algorithm-1"

    def rate(self, best: int) -> float:
        gamma = self.gamma
        self.gamma = gamma * np.sqrt(self.graph.domination_number)
        found = super().rate(best)
        self.gamma = gamma
        return found


class CountsLate(Right):
    """gamma / sqrt(n - 1): Lemma 1 is tight where the loss is 0 but for gamma_t."""

    caught_by = "algorithm-1"

    def rate(self, best: int) -> float:
        if best in self.graph.revealing:
            return 0.0
        self.explored += 1
        return min(0.5, self.gamma / np.sqrt(max(1, self.explored - 1)))


class CountsEarly(Right):
    """gamma / sqrt(n + 1): (9) is tight for a label that one action observes."""

    caught_by = "algorithm-1 bound-9"

    def rate(self, best: int) -> float:
        if best in self.graph.revealing:
            return 0.0
        self.explored += 1
        return min(0.5, self.gamma / np.sqrt(self.explored + 1))


class CounterStopped(Right):
    """The rate never falls."""

    caught_by = "algorithm-1 lemma-1"

    def rate(self, best: int) -> float:
        self.explored = 0
        return super().rate(best)


class CountsEveryRound(Right):
    """Rounds with a revealing best label lower the rate too."""

    caught_by = "algorithm-1 bound-9"

    def rate(self, best: int) -> float:
        if best in self.graph.revealing:
            self.explored += 1
        return super().rate(best)


class CountsExploringRounds(Right):
    """Rounds in which the gap was spread do not lower the rate."""

    caught_by = "algorithm-1"

    def mix(self, best: int, gap: float, rate: float) -> Array:
        n, rho = self.graph.n_actions, self.graph.domination_number
        if rate > 0 and n / rho * rate <= gap:
            self.explored -= 1
        return super().mix(best, gap, rate)


class RateNotCapped(Right):
    """More than half of a round explores, at the start only."""

    caught_by = "algorithm-1 lemma-1"

    def rate(self, best: int) -> float:
        if best in self.graph.revealing:
            return 0.0
        self.explored += 1
        return min(1.0, self.gamma / np.sqrt(self.explored))


class RateCappedAtAQuarter(Right):
    """The rate is at most 1/4."""

    caught_by = "algorithm-1 bound-9"

    def rate(self, best: int) -> float:
        return min(0.25, super().rate(best))


class RateNeverSmall(Right):
    """The rate is at least 0.17, which rates of a large gamma are anyway."""

    caught_by = "algorithm-1"

    def rate(self, best: int) -> float:
        found = super().rate(best)
        return max(0.17, found) if found else 0.0


class RateOfCubeRoot(Right):
    """gamma / n^(1/3)."""

    caught_by = "algorithm-1"

    def rate(self, best: int) -> float:
        if best in self.graph.revealing:
            return 0.0
        self.explored += 1
        return float(min(0.5, self.gamma / np.cbrt(self.explored)))


class RateOfHarmonic(Right):
    """gamma / n."""

    caught_by = "algorithm-1 bound-9"

    def rate(self, best: int) -> float:
        if best in self.graph.revealing:
            return 0.0
        self.explored += 1
        return float(min(0.5, self.gamma / self.explored))


class RateOfHorizon(Right):
    """gamma / sqrt(T) from the first round on, as if the horizon were to be used."""

    caught_by = "algorithm-1 bound-9"

    def __init__(self, problem: Any) -> None:
        super().__init__(problem)
        self.horizon = problem.horizon

    def rate(self, best: int) -> float:
        if best in self.graph.revealing:
            return 0.0
        return float(min(0.5, self.gamma / np.sqrt(self.horizon)))


class StopsExploring(Right):
    """Explores in the first 450 counted rounds only: below the resolution of the quick scale."""

    caught_by = "algorithm-1 bound-9"
    kind = "below"

    def rate(self, best: int) -> float:
        found = super().rate(best)
        return found if self.explored <= 450 else 0.0


class ExploresEveryOtherRound(Right):
    """Twice the rate in every other round, which is right on average."""

    caught_by = "algorithm-1 bound-9 lemma-1"
    odd = False

    def mix(self, best: int, gap: float, rate: float) -> Array:
        self.odd = not self.odd
        return super().mix(best, gap, min(1.0, 2 * rate) if self.odd else 0.0)


class ExploresWhenRevealing(Right):
    """Wasted where gamma_t is 0, and it counts these rounds."""

    caught_by = "algorithm-1 bound-9 lemma-1 lemma-2"

    def rate(self, best: int) -> float:
        self.explored += 1
        return min(0.5, self.gamma / np.sqrt(self.explored))


class VertexMissing(Right):
    """A dominating set without its last action: a label is then observed by the best one or by chance only."""

    caught_by = "algorithm-1 bound-9"

    def mix(self, best: int, gap: float, rate: float) -> Array:
        n, rho = self.graph.n_actions, self.graph.domination_number
        if n / rho * rate <= gap or rho == 1:
            return super().mix(best, gap, rate)
        p = np.zeros(n)
        p[list(self.graph.dominating)[:-1]] += rate / (rho - 1)
        p[best] += 1 - rate
        return p


class ExploresEverywhere(Right):
    """The rate is spread over all actions, not over a smallest dominating set."""

    caught_by = "algorithm-1 bound-9"

    def mix(self, best: int, gap: float, rate: float) -> Array:
        n, rho = self.graph.n_actions, self.graph.domination_number
        if n / rho * rate <= gap:
            return super().mix(best, gap, rate)
        p = np.full(n, rate / n)
        p[best] += 1 - rate
        return p


class ExploresFirst(Right):
    """All of the rate goes to the first action of the dominating set."""

    caught_by = "algorithm-1 bound-9"

    def mix(self, best: int, gap: float, rate: float) -> Array:
        n, rho = self.graph.n_actions, self.graph.domination_number
        if n / rho * rate <= gap:
            return super().mix(best, gap, rate)
        p = np.zeros(n)
        p[self.graph.dominating[0]] += rate
        p[best] += 1 - rate
        return p


class UnitFeatures(Right):
    """gamma for features of norm 1, whatever their norm is, and declares that of Theorem 4."""

    caught_by = "algorithm-1 lemma-1"

    def rate(self, best: int) -> float:
        if best in self.graph.revealing:
            return 0.0
        self.explored += 1
        K, rho = len(self.weights), self.graph.domination_number
        gamma = self.regret_factor * np.sqrt(K * rho * 4.0) / 2
        return float(min(0.5, gamma / np.sqrt(self.explored)))


class UnitBall(Right):
    """gamma for comparators of norm 1, whatever the bound on their norm is."""

    caught_by = "algorithm-1 bound-9"

    def rate(self, best: int) -> float:
        if best in self.graph.revealing:
            return 0.0
        self.explored += 1
        return float(min(0.5, self.gamma / self.bound / np.sqrt(self.explored)))
