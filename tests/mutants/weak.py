"""A weak learner as a user would write it, and some that learn wrongly and declare the same."""

from __future__ import annotations

import math
import random
from typing import Any


class Stumps:
    """Hedge over the stumps, in plain Python."""

    delta = 0.05
    anytime = True

    def __init__(self, problem: Any) -> None:
        k, d, B = problem.n_labels, problem.n_features, problem.cost_range
        self.edge = problem.edge
        drift = 4 * self.edge * problem.least_weight / k
        self.rate = drift / B**2
        self.excess_loss = (
            math.log(d * k * k) * B**2 + (1 + 2 * B) ** 2 * math.log(1 / self.delta)
        ) / drift
        self.costs = [[[0.0] * k for _ in range(2)] for _ in range(d)]
        self.draw = random.Random(problem.seed)

    def predict(self, x: Any) -> int:
        logs = []
        for sides in self.costs:
            logs.append(sum(math.log(self._sum(side)) - self.rate * min(side) for side in sides))
        most = max(logs)
        (stump,) = self.draw.choices(range(len(logs)), [math.exp(log - most) for log in logs])
        side = self.costs[stump][int(x[stump] > 0)]
        (label,) = self.draw.choices(range(len(side)), self._shares(side))
        return label

    def _shares(self, side: list[float]) -> list[float]:
        least = min(side)
        return [math.exp(-self.rate * (cost - least)) for cost in side]

    def _sum(self, side: list[float]) -> float:
        return sum(self._shares(side))

    def update(self, x: Any, cost: Any, weight: float) -> None:
        for sides, value in zip(self.costs, x.tolist(), strict=True):
            side = sides[int(value > 0)]
            for label, entry in enumerate(cost.tolist()):
                side[label] += weight * entry


class Reversed(Stumps):
    """Reads the cost vector from the other end."""

    caught_by = "bandit-wlc bandit-wlc-anytime frontier online-wlc online-wlc-anytime"

    def update(self, x: Any, cost: Any, weight: float) -> None:
        super().update(x, cost[::-1], weight)


class Weightless(Stumps):
    """Lets all rounds count alike."""

    caught_by = "bandit-wlc bandit-wlc-anytime frontier online-wlc online-wlc-anytime"

    def update(self, x: Any, cost: Any, weight: float) -> None:
        super().update(x, cost, 1.0)


class Misplaced(Stumps):
    """Credits each estimate to the label after the right one."""

    caught_by = "bandit-wlc bandit-wlc-anytime frontier online-wlc online-wlc-anytime"

    def update(self, x: Any, cost: Any, weight: float) -> None:
        super().update(x, cost[[-1, *range(len(cost) - 1)]], weight)


class Climbs(Stumps):
    """Prefers what costs most."""

    caught_by = "bandit-wlc bandit-wlc-anytime frontier online-wlc online-wlc-anytime"

    def update(self, x: Any, cost: Any, weight: float) -> None:
        super().update(x, -cost, weight)


class Clips(Stumps):
    """Takes costs below 0 for 0, which estimates may be: all labels look dearer, but in the right order."""

    caught_by = ""
    kind = "slack"

    def update(self, x: Any, cost: Any, weight: float) -> None:
        super().update(x, cost.clip(0), weight)
