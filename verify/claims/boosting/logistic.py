"""Gradients of the logistic loss, the costs of the adaptive boosters.

=====================  ===========================================================================
symbol                 name here
=====================  ===========================================================================
exp(s_r)               ``weights[r]``, so that all derivatives are fractions
C                      ``costs``; row r is the gradient if r is the true label
=====================  ===========================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from gmpy2 import mpq

from ....algorithms.boosting import logistic
from ....errors import require
from ...author import Check, Claim, Exact, Form, Instance, Interval, Proof
from ...certificates.instances import Json
from ...exact import boosting as exact
from ...exact.boosting import Fractions, Rows, texts
from ...games.labels.case import Case
from ...judges.exact import worst
from ..papers import BOOSTING
from .enumerated import adaptive_settings, full_settings, grid
from .estimates_in_play import told_checks
from .hypotheses import adapts

WEIGHTS = (mpq(1), mpq(2), mpq(1, 64), mpq(10**6))
"""Exponentials of scores from which gradients are made."""

EXACTLY = 1e-12
"""Largest difference between a derivative in floats and in fractions, as a share of k."""


@dataclass(frozen=True)
class GradientInstance(Instance):
    """Scores, by their exponentials.

    Attributes
    ----------
    weights : exponentials of the scores of the labels, above 0
    """

    weights: Fractions
    kind: ClassVar[str] = "gradient"

    def __post_init__(self) -> None:
        require(len(self.weights) >= 2, f"{len(self.weights)} labels: expected at least 2.")
        require(min(self.weights) > 0, "exponentials of scores: expected numbers above 0.")

    @cached_property
    def costs(self) -> Rows:
        return exact.logistic_costs(self.weights)

    @property
    def derived(self) -> Json:
        return {"total": str(sum(self.weights)), "costs": [texts(row) for row in self.costs]}


def _scores(case: Case, form: Form) -> Iterator[GradientInstance]:
    for weights in grid(WEIGHTS, case.n_labels - 1):  # a common factor changes nothing
        yield GradientInstance((mpq(1), *weights))


def _gradient(instance: GradientInstance, form: Form) -> tuple[Interval, Interval]:
    k, sides = len(instance.weights), list[tuple[Any, Any]]()
    for r, row in enumerate(instance.costs):
        sides += [(abs(sum(row)), 0), (row[r], min(row)), (max(map(abs, row)), k)]
    return worst(*sides)


def _gradient_checks(case: Case) -> Iterator[Check]:
    k = case.n_labels
    for instance in _scores(case, LOGISTIC_COST.forms[0]):
        found = logistic.cost_matrix(np.log([float(w) for w in instance.weights]))
        what = f"the cost matrix at exponentials {', '.join(texts(instance.weights))}"
        stated = [cost for row in instance.costs for cost in row]
        yield Check(what, found.ravel().tolist(), stated, EXACTLY * k)
    yield from told_checks(case)


LOGISTIC_COST = Claim(
    id="boosting/logistic-cost",
    title="gradients of the logistic loss: sum, least entry and size",
    source=BOOSTING.at("AdaBandit (Algorithm 3), cost matrix"),
    forms=(
        Form(
            "reconstructed",
            r"\sum_l C_{r,l} = 0, \quad C_{r,r} \le C_{r,l}, \quad |C_{r,l}| \le k",
            Proof.PROVED,
            "entry r is less the sum of k - 1 numbers between 0 and 1",
            adapts,
        ),
    ),
    judge=Exact(
        _scores,
        _gradient,
        lambda case: "scores from a grid",
        _gradient_checks,
        instances=(GradientInstance,),
    ),
    cases=lambda: [*full_settings(), *adaptive_settings()],
)


def _entries(instance: GradientInstance, form: Form) -> tuple[Interval, Interval]:
    largest = max(abs(cost) for row in instance.costs for cost in row)
    return Interval.of(largest), Interval.of(len(instance.weights) - 1)


GRADIENT_BOUNDED = Claim(
    id="boosting/gradient-bounded",
    title="the best bound on entries of gradients of the logistic loss",
    source=BOOSTING.at("AdaBandit (Algorithm 3), cost matrix; bound k - 1 derived here"),
    forms=(
        Form(
            "derived",
            r"|C_{r,l}| \le k - 1",
            Proof.PROVED,
            "k - 1 numbers between 0 and 1 are added up; nearly attained where the label's score is far below",
            adapts,
        ),
    ),
    judge=Exact(
        _scores, _entries, lambda case: "scores from a grid", instances=(GradientInstance,)
    ),
    cases=full_settings,
)
