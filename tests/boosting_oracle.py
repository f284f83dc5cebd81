"""The four boosters as a plain NumPy loop, one weak learner after the other, with vectors over the labels.

They are written from the pseudocode, not from the kernels, and share with them only the exact potentials, which tests
of their own compare with brute force. They draw the same numbers in the same order, so that both must predict the same
labels, and have the same attributes. The benchmark measures the kernels against them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from boundcheck.algorithms.boosting.potentials import Potentials


def draw(p: np.ndarray, die: float) -> int:
    cumulative = p.cumsum()
    return min(int((cumulative <= die * cumulative[-1]).sum()), len(p) - 1)


class Stump:
    """Hedge over the stumps."""

    draws = True

    def __init__(self, rate: float, d: int, k: int) -> None:
        self.rate, self.features = rate, np.arange(d)
        self.costs = np.zeros((d, 2, k))

    def probabilities(self, x: np.ndarray) -> np.ndarray:
        sides = (x > 0).astype(int)
        least = self.costs.min(axis=2)
        shares = np.exp(-self.rate * (self.costs - least[:, :, None]))
        sums = shares.sum(axis=2)
        logarithms = (np.log(sums) - self.rate * least).sum(axis=1)
        stumps = np.exp(logarithms - logarithms.max())
        here = shares[self.features, sides] / sums[self.features, sides, None]
        found: np.ndarray = (stumps / stumps.sum()) @ here
        return found

    def predict(self, x: np.ndarray, die: float) -> int:
        return draw(self.probabilities(x), die)

    def update(self, x: np.ndarray, cost: np.ndarray, weight: float) -> None:
        self.costs[self.features, (x > 0).astype(int)] += weight * cost


class Adviser:
    """Hedge over the features, each of which is a label."""

    draws = True

    def __init__(self, rate: float, d: int, k: int) -> None:
        self.rate, self.labels, self.costs = rate, np.arange(k), np.zeros(d)

    def predict(self, x: np.ndarray, die: float) -> int:
        shares = np.exp(-self.rate * (self.costs - self.costs.min()))
        return draw((x == self.labels[:, None]) @ shares / shares.sum(), die)

    def update(self, x: np.ndarray, cost: np.ndarray, weight: float) -> None:
        self.costs += weight * cost[x.astype(int)]


class Regressor:
    """The cost Perceptron; features are added up one after the other, which decides between equal costs."""

    draws = False

    def __init__(self, rate: float, d: int, k: int) -> None:
        self.rate, self.rounds, self.weights = rate, 0, np.zeros((k, d))

    def predict(self, x: np.ndarray, die: float) -> int:
        return int((self.weights * x).cumsum(axis=1)[:, -1].argmin())

    def update(self, x: np.ndarray, cost: np.ndarray, weight: float) -> None:
        self.rounds += 1
        squared = float((x * x).cumsum()[-1])
        if squared > 0:
            step = self.rate / (squared * math.sqrt(self.rounds)) * weight
            predicted = (self.weights * x).cumsum(axis=1)[:, -1]
            self.weights -= np.outer(step * (predicted - cost), x)


class Reader:
    """Predicts what a column of the features says."""

    draws = False

    def __init__(self, column: int) -> None:
        self.column = column

    def predict(self, x: np.ndarray, die: float) -> int:
        return int(x[self.column])

    def update(self, x: np.ndarray, cost: np.ndarray, weight: float) -> None:
        return None


class Oracle:
    """What both kinds of boosters do; ``rho`` is None with full information."""

    def __init__(
        self, weak: Sequence[Any], k: int, ties: str, generator: Any, rho: float | None
    ) -> None:
        self.weak, self.n, self.k = weak, len(weak), k
        self.random_ties, self.generator, self.rho = ties == "random", generator, rho
        self.round, self.best = 0, 0
        self.scores = np.zeros((self.n + 1, k))
        self.labels: list[int] = []
        self.told = np.zeros((self.n, k)), np.zeros(self.n)
        self.losses = np.zeros(k)

    @property
    def informed(self) -> bool:
        return self.rho is None

    @property
    def before(self) -> np.ndarray:
        return self.scores[:-1]

    @property
    def after(self) -> np.ndarray:
        return self.scores[1:]

    def ask(self, x: np.ndarray) -> None:
        self.round += 1
        dice = self.generator.random(self.n) if self.weak[0].draws else np.zeros(self.n)
        self.labels = [weak.predict(x, die) for weak, die in zip(self.weak, dice, strict=True)]

    def tell(self, x: np.ndarray, told: list[tuple[np.ndarray, float]]) -> None:
        self.told = np.array([cost for cost, _ in told]), np.array([weight for _, weight in told])
        for weak, (cost, weight) in zip(self.weak, told, strict=True):
            weak.update(x, cost, weight)

    def highest(self, scores: np.ndarray) -> int:
        if not self.random_ties:
            return int(scores.argmax())
        return draw((scores == scores.max()).astype(float), float(self.generator.random(1)[0]))

    def probabilities(self) -> np.ndarray:
        p = np.full(self.k, 0.0 if self.rho is None else self.rho / (self.k - 1))
        p[self.best] = 1.0 if self.rho is None else 1 - self.rho
        return p

    def estimate_losses(self, action: int, label: int | None) -> None:
        if self.rho is None:
            self.losses = 1.0 - np.eye(self.k)[label]
            return
        p, self.losses = self.probabilities(), np.zeros(self.k)
        if label == action:
            self.losses[:] = 1 / p[action]
            self.losses[[self.best, action]] = 0
        elif action == self.best:
            self.losses[action] = 1 / p[action]

    def shown(self, costs: np.ndarray, label: int | None, scale: float) -> tuple[np.ndarray, float]:
        """A cost vector with its weight, from the costs for each true label."""
        if self.rho is not None:
            return (1 - self.losses) @ costs / scale, 1.0
        excess = np.maximum(costs[label] - costs[label, label], 0)
        weight = float(excess.sum())
        return (excess / weight if weight > 0 else excess), min(weight / scale, 1.0)


class Majority(Oracle):
    """OnlineMBBM and BanditBBM."""

    def __init__(
        self,
        weak: Sequence[Any],
        potentials: Any,
        ties: str,
        generator: Any,
        rho: float | None,
        scales: Sequence[float] | None = None,
    ) -> None:
        super().__init__(weak, potentials.n_labels, ties, generator, rho)
        self.potentials = potentials
        self.scales = [self.k - 1.0] * self.n if scales is None else scales

    def predict(self, x: np.ndarray) -> np.ndarray:
        self.ask(x)
        for i, label in enumerate(self.labels):
            self.scores[i + 1] = self.scores[i]
            self.scores[i + 1, label] += 1
        self.best = self.highest(self.scores[-1])
        return self.probabilities()

    def update(self, x: np.ndarray, action: int, label: int | None) -> None:
        self.estimate_losses(action, label)
        shown = zip(self.cost_matrices(), self.scales, strict=True)
        self.tell(x, [self.shown(costs, label, scale) for costs, scale in shown])

    def cost_matrices(self) -> list[np.ndarray]:
        votes = self.before.astype(np.int64)
        return [self.potentials.cost_matrix(votes[i], self.n - 1 - i) for i in range(self.n)]


class Adaptive(Oracle):
    """Adaboost.OLM and AdaBandit."""

    def __init__(
        self,
        weak: Sequence[Any],
        k: int,
        ties: str,
        generator: Any,
        rho: float | None,
        hedge: float,
        step: float | None = None,
    ) -> None:
        super().__init__(weak, k, ties, generator, rho)
        self.step = step
        self.hedge, self.alphas, self.experts = hedge, np.zeros(self.n), np.zeros(self.n, int)
        self.losses_of_experts, self.followed = np.zeros(self.n), 0

    def predict(self, x: np.ndarray) -> np.ndarray:
        self.ask(x)
        for i, label in enumerate(self.labels):
            self.scores[i + 1] = self.scores[i]
            self.scores[i + 1, label] += self.alphas[i]
            self.experts[i] = self.highest(self.scores[i + 1])
        self.followed = draw(self.shares, float(self.generator.random(1)[0]))
        self.best = int(self.experts[self.followed])
        return self.probabilities()

    @property
    def shares(self) -> np.ndarray:
        lead = self.losses_of_experts - self.losses_of_experts.min()
        shares: np.ndarray = np.exp(-self.hedge * lead)
        return shares / shares.sum()

    def update(self, x: np.ndarray, action: int, label: int | None) -> None:
        self.estimate_losses(action, label)
        k, alphas = self.k, []
        step = 2 * math.sqrt(2) / (k - 1) if self.rho is None else self.rho / k**2
        step = step if self.step is None else self.step
        told = []
        for i, voted in enumerate(self.labels):
            told.append(self.shown(gradients(self.scores[i]), label, k * (k - 1)))
            slope = (1 - self.losses) @ gradients(self.scores[i + 1])[:, voted]
            moved = self.alphas[i] - step / math.sqrt(self.round) * slope
            alphas.append(min(max(moved, -2.0), 2.0))
        self.alphas = np.array(alphas)
        self.losses_of_experts = self.losses_of_experts + self.losses[self.experts]
        self.tell(x, told)


def gradients(scores: np.ndarray) -> np.ndarray:
    """Row r is the gradient of the logistic loss if r is the true label."""
    found: np.ndarray = 1 / (1 + np.exp(scores[:, None] - scores))
    np.fill_diagonal(found, 0)
    np.fill_diagonal(found, -found.sum(axis=1))
    return found


def oracle(made: Any, weak: Sequence[Any], problem: Any, generator: Any) -> Any:
    """The oracle of a booster of the package, with weak learners of one's own."""
    k, numbers = problem.n_labels, made.numbers(problem)
    common = (made.ties, generator, numbers.get("rho"))
    if "hedge" in numbers:
        return Adaptive(weak, k, *common, numbers["hedge"], made.step)
    rule = "random" if made.ties == "random" else "error"
    return Majority(weak, Potentials(k, made.gamma, rule), *common, made.scales(k).tolist())
