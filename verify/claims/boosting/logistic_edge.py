"""The empirical edge of a weak learner: its range, and what the logistic loss falls by at the best weight.

=====================  ===========================================================================
symbol                 name here
=====================  ===========================================================================
exp(s_r)               ``weights[r]`` of a round
C_{y,l}                cost of the predicted label l if y is the true one, by the logistic loss
gamma_i                ``edge`` = sum of C_{y,l} / sum of C_{y,y}
W                      ``size`` = sum of -C_{y,y}
exp(alpha)             ``factor``
=====================  ===========================================================================

The sum of f_t(alpha) - f_t(0) is convex in alpha and the logarithm of a fraction in exp(alpha). Its minimum over
[-2, 2] is enclosed by the value at a point that is nearly the best, and the tangent there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import prod
from typing import Any, ClassVar

import numpy as np
from gmpy2 import mpq

from ....algorithms.boosting import logistic
from ....errors import require
from ...author import Check, Claim, Exact, Form, Instance, Interval, Proof, Setting
from ...certificates.instances import Json
from ...exact import boosting as exact
from ...exact.boosting import Fractions, texts
from ...games.labels.case import Case
from ...judges.exact import worst
from ..papers import BOOSTING
from .enumerated import adaptive_settings, full_settings, grid
from .hypotheses import adapts
from .logistic import EXACTLY, WEIGHTS

LIMITS = (mpq(1354, 10_000), mpq(7389, 1000))
"""The ends of the factors that are tried, just inside exp(-2) and exp(2)."""

SEEDED = 40
"""Random instances of three to five rounds."""

Round = tuple[Fractions, int, int]
"""Exponentials of the scores, the true label, the predicted one."""


@dataclass(frozen=True)
class EdgeInstance(Instance):
    """Rounds of a weak learner.

    Attributes
    ----------
    rounds : exponentials of the scores before its vote, the true label and the predicted one
    """

    rounds: tuple[Round, ...]
    kind: ClassVar[str] = "edge"

    def __post_init__(self) -> None:
        require(1 <= len(self.rounds) <= 50, f"{len(self.rounds)} rounds: expected 1 to 50.")
        k = len(self.rounds[0][0])
        require(k >= 2, f"{k} labels: expected at least 2.")
        for weights, *labels in self.rounds:
            require(
                len(weights) == k and min(weights) > 0,
                f"exponentials of scores: expected {k} numbers above 0 in each round.",
            )
            for label in labels:
                require(0 <= label < k, f"label {label}: expected one of 0 to {k - 1}.")

    @cached_property
    def costs(self) -> tuple[Fractions, ...]:
        """The cost vector of the true label in each round."""
        return tuple(exact.logistic_costs(weights)[label] for weights, label, _ in self.rounds)

    @property
    def size(self) -> mpq:
        return -sum((c[y] for c, (_, y, _) in zip(self.costs, self.rounds, strict=True)), mpq(0))

    @property
    def edge(self) -> mpq:
        cost = sum((c[at] for c, (_, _, at) in zip(self.costs, self.rounds, strict=True)), mpq(0))
        return -cost / self.size

    @property
    def large(self) -> mpq:
        """The sum of the costs of at least 1/2."""
        every = (cost for row in self.costs for cost in row)
        return sum((cost for cost in every if 2 * cost >= 1), mpq(0))

    @property
    def always_right(self) -> bool:
        return all(label == predicted for _, label, predicted in self.rounds)

    def rise(self, factor: mpq) -> Interval:
        """The sum of f_t(alpha) - f_t(0)."""
        ratios = []
        for weights, y, at in self.rounds:
            own = weights[y]
            if at == y:
                others = [w for j, w in enumerate(weights) if j != y]
                ratios += [(own + w / factor) / (own + w) for w in others]
            else:
                ratios.append((own + weights[at] * factor) / (own + weights[at]))
        return Interval.of(prod(ratios, start=mpq(1))).log()

    def slope(self, factor: Any) -> Any:
        """Its derivative in alpha, in the arithmetic of ``factor``."""
        total, number = 0 * factor, type(factor)
        for weights, y, at in self.rounds:
            own = number(weights[y])
            if at == y:
                total -= sum(
                    number(w) / (number(w) + own * factor) for j, w in enumerate(weights) if j != y
                )
            else:
                raised = number(weights[at]) * factor
                total += raised / (own + raised)
        return total

    @cached_property
    def best_factor(self) -> mpq:
        """The factor at which the sum is nearly least, by bisection in floats with nothing but + - * /, so that it is
        the same anywhere."""
        low, high = map(float, LIMITS)
        if self.slope(low) >= 0 or self.slope(high) <= 0:
            return LIMITS[0] if self.slope(low) >= 0 else LIMITS[1]
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.slope(middle) < 0 else (low, middle)
        return mpq(low)

    @cached_property
    def minimum(self) -> Interval:
        """Encloses the minimum over alpha in [-2, 2]."""
        at, slope = self.best_factor, self.slope(self.best_factor)
        value, alpha = self.rise(at), Interval.of(at).log()
        below = (value + slope * (2 - alpha)).min(value + slope * (-2 - alpha))
        return Interval(below.lo, min(value.hi, mpq(0)))  # at alpha = 0 it is 0

    @property
    def derived(self) -> Json:
        return {
            "costs": [texts(row) for row in self.costs],
            "sums": [str(sum(weights)) for weights, _, _ in self.rounds],
            "size": str(self.size),
            "edge": str(self.edge),
            "best_factor": str(self.best_factor),
            "minimum": self.minimum.to_json(),
        }


@dataclass(frozen=True)
class ErrorInstance(Instance):
    """Scores of an expert that errs.

    Attributes
    ----------
    weights : their exponentials, above 0
    label : the true label; another one has at least its score
    """

    weights: Fractions
    label: int
    kind: ClassVar[str] = "error"

    def __post_init__(self) -> None:
        k = len(self.weights)
        require(k >= 2, f"{k} labels: expected at least 2.")
        require(min(self.weights) > 0, "exponentials of scores: expected numbers above 0.")
        require(0 <= self.label < k, f"label {self.label}: expected one of 0 to {k - 1}.")
        require(
            any(
                w >= self.weights[self.label] for j, w in enumerate(self.weights) if j != self.label
            ),
            "the expert does not err: expected another label with at least the score of the true one.",
        )

    @property
    def cost(self) -> mpq:
        """-C_{y,y}."""
        return -exact.logistic_costs(self.weights)[self.label][self.label]

    @property
    def loss_exponential(self) -> mpq:
        """The exponential of the logistic loss."""
        own = self.weights[self.label]
        others = [1 + w / own for j, w in enumerate(self.weights) if j != self.label]
        return prod(others, start=mpq(1))

    @property
    def derived(self) -> Json:
        return {
            "is_label": [int(r == self.label) for r in range(len(self.weights))],
            "costs": [texts(row) for row in exact.logistic_costs(self.weights)],
            "loss_exponential": str(self.loss_exponential),
        }


def _learned(case: Case, form: Form) -> Iterator[EdgeInstance]:
    """All games of one and of two rounds over a small grid with true label 0, and some longer ones at random."""
    k = case.n_labels
    grid = (mpq(1), mpq(1, 30), mpq(7)) if k <= 3 else (mpq(1), mpq(7))
    others = list(combinations_with_replacement(grid, k - 1))[:6]
    single: list[Round] = [
        ((mpq(1), *weights), 0, at) for weights in others for at in range(min(k, 3))
    ]
    for rounds in (
        *combinations_with_replacement(single, 1),
        *combinations_with_replacement(single, 2),
    ):
        yield EdgeInstance(rounds)
    scores = (mpq(1), mpq(1, 1000), *[mpq(1, 10**9)] * (k - 2))
    right, wrong = (scores, 0, 0), (scores, 0, 1)
    yield EdgeInstance((right,) * 3 + (wrong,) * 2)  # costs that nearly balance
    dice = np.random.default_rng(k)
    for n in range(SEEDED):
        yield EdgeInstance(tuple(_drawn(dice, k) for _ in range(3 + n % 3)))


def _drawn(dice: np.random.Generator, k: int) -> Round:
    top, bottom = dice.integers(1, 30, k).tolist(), dice.integers(1, 30, k).tolist()
    label, predicted = dice.integers(k, size=2).tolist()
    if dice.random() < 0.4:
        predicted = label
    return tuple(mpq(a, b) for a, b in zip(top, bottom, strict=True)), label, predicted


def _says(case: Case) -> str:
    return f"games of one and two rounds over a grid, {SEEDED} longer ones"


def _range(instance: EdgeInstance, form: Form) -> tuple[Interval, Interval]:
    otherwise = (instance.edge == 1) != instance.always_right
    return worst((abs(instance.edge), 1), (int(otherwise), 0))


def _edge_checks(case: Case) -> Iterator[Check]:
    for instance in _learned(case, EDGE_RANGE.forms[0]):
        rows = np.array([[float(c) for c in row] for row in instance.costs])
        labels, predicted = (np.array([r[i] for r in instance.rounds]) for i in (1, 2))
        found = logistic.empirical_edge(rows, predicted, labels)
        yield Check("the empirical edge of rounds", [found], [instance.edge], EXACTLY)


def _all_settings() -> list[Setting]:
    return [*full_settings(), adaptive_settings()[1]]


EDGE_RANGE = Claim(
    id="boosting/edge-range",
    title="the empirical edge lies in [-1, 1]",
    source=BOOSTING.at("AdaBandit (Algorithm 3), empirical edge"),
    forms=(
        Form(
            "reconstructed",
            r"\gamma_i = \frac{\sum_t C_{y_t,l_t}}{\sum_t C_{y_t,y_t}} \in [-1,1],"
            r" \quad \gamma_i = 1 \Leftrightarrow l_t = y_t \text{ for all } t",
            Proof.PROVED,
            "of each cost vector the entry of the label is less the sum of the others, which are above 0",
            adapts,
        ),
    ),
    judge=Exact(_learned, _range, _says, _edge_checks, instances=(EdgeInstance,)),
    cases=_all_settings,
)


def _key(instance: EdgeInstance, form: Form) -> tuple[Interval, Interval]:
    return Interval.of(instance.edge * instance.edge * instance.size / 2), -instance.minimum


KEY_INEQUALITY = Claim(
    id="boosting/key-inequality",
    title="what the loss falls by at the best weight",
    source=BOOSTING.at("AdaBandit (Algorithm 3), argument of the mistake bound; derived here"),
    forms=(
        Form(
            "derived",
            r"\tfrac12 \gamma_i^2 \sum_t (-C_{y_t,y_t})"
            r" \le -\min_{|\alpha| \le 2} \sum_t \big(f_t(\alpha) - f_t(0)\big)",
            Proof.PROVED,
            "ln(1 + c (e^a - 1)) <= c (e^a - 1), and the best a for the sums of costs of right and of wrong rounds",
            adapts,
        ),
    ),
    judge=Exact(_learned, _key, _says, instances=(EdgeInstance,)),
    cases=_all_settings,
)


def _large(instance: EdgeInstance, form: Form) -> tuple[Interval, Interval]:
    size = abs(instance.edge)
    gain = size * size * (1 + 2 * size) / ((1 + size) * (1 + size))
    return Interval.of(gain * instance.large), -instance.minimum


LARGE_COSTS = Claim(
    id="boosting/large-costs",
    title="what the loss falls by at the best weight, by the costs of at least 1/2",
    source=BOOSTING.at("AdaBandit (Algorithm 3), argument of the mistake bound; sharpened here"),
    forms=(
        Form(
            "derived",
            r"\frac{\gamma_i^2(1 + 2|\gamma_i|)}{(1 + |\gamma_i|)^2}\sum_t\sum_{r \ne y_t}"
            r" C_{y_t,r}1[C_{y_t,r} \ge \tfrac12] \le -\min_{|\alpha| \le 2} \sum_t \big(f_t(\alpha) - f_t(0)\big)",
            Proof.PROVED,
            "at |a| = 2 |gamma| / (1 + |gamma|): ln(1 + c (e^a - 1)) is at most c a + a^2/8 for c >= 1/2, at most"
            " c (e^a - 1) for the others, and e^a <= (2 + a)/(2 - a) = 1 + (1 + |gamma|) a",
            adapts,
        ),
    ),
    judge=Exact(_learned, _large, _says, instances=(EdgeInstance,)),
    cases=_all_settings,
)


def _errors(case: Case, form: Form) -> Iterator[ErrorInstance]:
    k = case.n_labels
    for weights in grid(WEIGHTS, k):
        for label in range(min(k, 3)):
            if any(w >= weights[label] for j, w in enumerate(weights) if j != label):
                yield ErrorInstance(weights, label)


def _floor(instance: ErrorInstance, form: Form) -> tuple[Interval, Interval]:
    return worst((mpq(1, 2), instance.cost), (2, instance.loss_exponential))


def _loss_checks(case: Case) -> Iterator[Check]:
    for instance in _errors(case, LOSS_FLOOR.forms[0]):
        scores = np.log([float(w) for w in instance.weights])
        stated = float(Interval.of(instance.loss_exponential).log())
        found = float(logistic.loss(scores, instance.label))
        yield Check("the logistic loss", [found], [stated], EXACTLY * (1 + stated))


LOSS_FLOOR = Claim(
    id="boosting/loss-floor",
    title="an expert that errs has a large loss and a large cost",
    source=BOOSTING.at("AdaBandit (Algorithm 3), argument of the mistake bound; derived here"),
    forms=(
        Form(
            "derived",
            r"\hat y^i_t \ne y_t \Rightarrow -C^{i+1}_{y_t,y_t} \ge \tfrac12, \quad \ell^{\log}_{y_t}(s^i_t) \ge \ln 2",
            Proof.PROVED,
            "another label has at least the score of the true one; alone it gives 1/2 and ln 2",
            adapts,
        ),
    ),
    judge=Exact(
        _errors, _floor, lambda case: "scores from a grid", _loss_checks, instances=(ErrorInstance,)
    ),
    cases=_all_settings,
)
