"""Gappletron in plain Python, right in every way in which the paper leaves it open: all promises must be kept.

The paper says argmax, and subgradient; it names no index among ties. Nor does it say in which order a product is
added up, or how weights are stored. :class:`Right` is the learner of the README with these choices as methods, and each
of ``RIGHT`` makes one of them in another way.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Right:
    """The learner of the README: the first of tied labels, the first of tied runners-up."""

    promises: ClassVar[tuple[str, ...]] = ("gappletron/*", "game/*")
    loss, rule, optimiser = "smooth-hinge", "threshold", "projected"

    def __init__(self, problem: Any) -> None:
        K, graph = problem.n_labels, problem.graph
        self.graph, self.bound = graph, problem.comparator_norm
        self.regret_factor = self.factor(problem.comparator_norm)
        smoothness = {"smooth-hinge": 4.0, "hinge": 2.0}[self.loss] * problem.feature_norm**2
        self.gamma = self.regret_factor * np.sqrt(K * graph.domination_number * smoothness) / 2
        self.explored, self.squares = 0, 0.0
        self.start(K, problem.n_features)

    def factor(self, bound: float) -> float:
        """h of guarantee (4)."""
        return 2 * np.sqrt(2) * bound

    def start(self, n_labels: int, n_features: int) -> None:
        self.weights = np.zeros((n_labels, n_features))

    # what the paper leaves open

    def scores(self, x: Array) -> Array:
        return self.weights @ x

    def best_of(self, scores: Array) -> int:
        return int(np.argmax(scores))

    def rivals_of(self, others: Array) -> Array:
        """A point of the simplex over the tied runners-up; ``others`` is -inf at the true label."""
        return np.eye(len(others))[np.argmax(others)]

    def step(self, gradient: Array) -> None:
        self.weights -= np.sqrt(2) * self.bound / np.sqrt(self.squares) * gradient
        self.weights *= min(1.0, self.bound / max(np.linalg.norm(self.weights), 1e-300))

    # what it says

    def gap(self, margin: float) -> float:
        if self.loss == "hinge":
            return 1 - margin if margin < 0.5 else 0.0
        return max(0.0, 1 - margin) ** 2

    def slope(self, margin: float, best: int, label: int) -> float:
        if self.loss == "hinge":
            return 0.0 if margin >= 1 or (best == label and margin >= 0.5) else 1.0
        return 2 * min(1.0, max(0.0, 1 - margin))

    def rate(self, best: int) -> float:
        if best in self.graph.revealing:
            return 0.0
        self.explored += 1
        return min(0.5, self.gamma / np.sqrt(self.explored))

    def mix(self, best: int, gap: float, rate: float) -> Array:
        n, rho = self.graph.n_actions, self.graph.domination_number
        p = np.zeros(n)
        if (rate if self.rule == "printed" else n / rho * rate) <= gap:
            p += gap / n
            p[best] += 1 - gap
        else:
            p[list(self.graph.dominating)] += rate / rho
            p[best] += 1 - rate
        return p

    def predict(self, x: Array) -> Array:
        scores = self.scores(x)
        self.best = best = self.best_of(scores)
        gap = self.gap(scores[best] - np.delete(scores, best).max())
        self.p = self.mix(best, gap, self.rate(best))
        return self.p

    def weight(self, action: int, label: int) -> float:
        return 1 / self.p[self.graph.observes[:, label]].sum()

    def direction(self, scores: Array, label: int) -> Array:
        """The gradient of the loss in the scores."""
        others = np.where(np.arange(len(scores)) == label, -np.inf, scores)
        slope = self.slope(scores[label] - others.max(), self.best, label)
        return slope * (self.rivals_of(others) - np.eye(len(scores))[label])

    def update(self, x: Array, action: int, label: int | None) -> None:
        if label is None:  # not revealed
            return
        gradient = self.weight(action, label) * np.outer(self.direction(self.scores(x), label), x)
        self.squares += (gradient**2).sum()
        if self.squares > 0:
            self.step(gradient)


class LastIndex(Right):
    """The last of tied labels."""

    def best_of(self, scores: Array) -> int:
        return int(np.argsort(scores, kind="stable")[-1])


class LastIndexHinge(LastIndex):
    """The same for the hinge loss."""

    loss = "hinge"


class AnyTied(Right):
    """One of the tied labels, drawn anew in every round; the runner-up as well."""

    def __init__(self, problem: Any) -> None:
        super().__init__(problem)
        self.dice = np.random.default_rng(7)

    def best_of(self, scores: Array) -> int:
        return int(self.dice.choice(np.flatnonzero(scores == scores.max())))

    def rivals_of(self, others: Array) -> Array:
        tied = np.flatnonzero(others == others.max())
        return np.eye(len(others))[self.dice.choice(tied)]


class AnyTiedAsPrinted(AnyTied):
    """The same with line 9 of the paper: at a tie p is uniform, and only its later play shows which label was best."""

    rule = "printed"


class LastRunnerUp(Right):
    """The subgradient of the last of tied runners-up."""

    def rivals_of(self, others: Array) -> Array:
        return np.eye(len(others))[np.flatnonzero(others == others.max())[-1]]


class AveragedRunnersUp(Right):
    """The mean of the subgradients of all tied runners-up."""

    def rivals_of(self, others: Array) -> Array:
        tied = others == others.max()
        return tied / tied.sum()


class Backwards(Right):
    """Adds up its products from the last feature to the first."""

    def scores(self, x: Array) -> Array:
        total = np.zeros(len(self.weights))
        for j in reversed(range(len(x))):
            total += self.weights[:, j] * x[j]
        return total


class Sparse(Right):
    """Keeps a column of weights for each feature that it has seen."""

    def start(self, n_labels: int, n_features: int) -> None:
        self.shape = (n_labels, n_features)
        self.columns: dict[int, Array] = {}

    @property
    def weights(self) -> Array:  # type: ignore[override]
        dense = np.zeros(self.shape)
        for j, column in self.columns.items():
            dense[:, j] = column
        return dense

    def scores(self, x: Array) -> Array:
        total = np.zeros(self.shape[0])
        for j in np.flatnonzero(x):
            if j in self.columns:
                total += self.columns[j] * x[j]
        return total

    def step(self, gradient: Array) -> None:
        for j in np.flatnonzero(np.abs(gradient).sum(axis=0)):
            column = self.columns.setdefault(int(j), np.zeros(self.shape[0]))
            column -= np.sqrt(2) * self.bound / np.sqrt(self.squares) * gradient[:, j]
        norm = np.sqrt(sum((column**2).sum() for column in self.columns.values()))
        for column in self.columns.values():
            column *= min(1.0, self.bound / max(norm, 1e-300))


class LazilyScaled(Right):
    """Keeps weights as a number times a matrix, so that a projection changes the number only."""

    def start(self, n_labels: int, n_features: int) -> None:
        self.scale, self.matrix = 1.0, np.zeros((n_labels, n_features))

    @property
    def weights(self) -> Array:  # type: ignore[override]
        return self.scale * self.matrix

    def scores(self, x: Array) -> Array:
        return self.scale * (self.matrix @ x)

    def step(self, gradient: Array) -> None:
        rate = np.sqrt(2) * self.bound / np.sqrt(self.squares)
        self.matrix -= rate / self.scale * gradient
        norm = self.scale * np.linalg.norm(self.matrix)
        self.scale *= min(1.0, self.bound / max(norm, 1e-300))


class Leader(LastIndex):
    """Follows the regularised leader, whose weights are a number times the sum of the gradients."""

    optimiser = "ftrl"

    def factor(self, bound: float) -> float:
        return 6 * bound

    def start(self, n_labels: int, n_features: int) -> None:
        super().start(n_labels, n_features)
        self.total = np.zeros((n_labels, n_features))

    def step(self, gradient: Array) -> None:
        self.total += gradient
        moved = -self.bound / (2 * np.sqrt(self.squares)) * self.total
        self.weights = moved * min(1.0, self.bound / max(np.linalg.norm(moved), 1e-300))


RIGHT: tuple[type[Right], ...] = (
    Right,
    LastIndex,
    LastIndexHinge,
    AnyTied,
    AnyTiedAsPrinted,
    LastRunnerUp,
    AveragedRunnersUp,
    Backwards,
    Sparse,
    LazilyScaled,
    Leader,
)
"""All of them; each promises everything that is said of Gappletron."""
