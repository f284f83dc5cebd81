"""Equation (5) for what weak learners are told: how large an entry of the estimates of a booster's own costs can be.

=========  ==================================================================================
symbol     name here
=========  ==================================================================================
k, rho     ``n_labels``, ``rho``
c-hat      cost estimate
C          ``costs.rows`` over ``scale``; row r is the cost vector if the true label is r
=========  ==================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import ClassVar

from gmpy2 import mpq

from ....errors import require
from ...author import Claim, Exact, Form, Interval, Proof, Verdict
from ...certificates.instances import Json
from ...exact import boosting as exact
from ...exact.boosting import Fractions, texts
from ...games.labels.case import Case
from ...judges.exact import worst
from ..papers import BOOSTING
from .enumerated import Exploration, exploring_settings, few, rho_of
from .estimates_bounded import cost_limit, slope_limit
from .estimates_in_play import told_checks
from .hypotheses import adapts, divides_by_most, explores
from .used_costs import CostsInstance, used_costs


@dataclass(frozen=True)
class ToldInstance(Exploration):
    """A round of exploration, and costs that a booster makes.

    Attributes
    ----------
    costs : the costs
    scale : the number that they are divided by, at least 1
    """

    costs: CostsInstance
    scale: int
    kind: ClassVar[str] = "told"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.scale >= 1, f"scale {self.scale}: expected at least 1.")

    @property
    def n_labels(self) -> int:
        return self.costs.n_labels

    @cached_property
    def estimate(self) -> Fractions:
        """The cost estimate."""
        rows = tuple(tuple(cost / self.scale for cost in row) for row in self.costs.rows)
        return exact.estimate(self.losses, rows)

    @property
    def derived(self) -> Json:
        return super().derived | {
            "rows": [texts(row) for row in self.costs.rows],
            "estimate": texts(self.estimate),
        }


def largest_cost(k: int, gradients: bool) -> int:
    """The number that a booster divides its costs by: k - 1 for potentials, k (k - 1) for gradients."""
    return k * (k - 1) if gradients else k - 1


def _told(case: Case, form: Form) -> Iterator[ToldInstance]:
    k, rho = case.n_labels, rho_of(case)
    scale = 1 if form.name == "transferred" else largest_cost(k, adapts(case) is None)
    matrices = sorted(islice(used_costs(case), 60), key=lambda costs: len(str(costs.rows)))
    for costs in matrices[:30]:
        for best, label, played in product(range(2), few(k), range(k)):
            yield ToldInstance(rho, best, label, played, costs, scale)


def _bounded_told(instance: ToldInstance, form: Form) -> tuple[Interval, Interval]:
    bound = instance.n_labels / instance.rho
    return worst(*((abs(cost), bound) for cost in instance.estimate))


def _as_they_are(instance: ToldInstance) -> str | None:
    return None if instance.scale == 1 else "it is about the cost matrices as they are, undivided"


def _as_divided(instance: ToldInstance) -> str | None:
    k, rho = instance.n_labels, instance.rho
    if rho > mpq(k, k + 1):
        return f"it needs rho of at most k/(k+1), and rho is {rho}"
    scale = largest_cost(k, bool(instance.costs.weights))
    return None if instance.scale == scale else f"it is about costs that are divided by {scale}"


def _divided(case: Case) -> str | None:
    if (reason := explores(case)) is not None:
        return reason
    if adapts(case) is not None and not divides_by_most(case):
        return "the booster divides by smaller weights than k - 1 (scale=exact)"
    return None


def _told_expected(case: Case) -> Verdict | None:
    k, rho = case.n_labels, rho_of(case)
    largest = slope_limit(k, rho) if adapts(case) is None else max(cost_limit(k, rho), mpq(k))
    if largest <= k / rho:
        return Verdict.HOLDS
    return Verdict.REFUTED if k >= 4 else None


TOLD_BOUNDED = Claim(
    id="boosting/told-cost-bounded",
    title="how large an entry of what the weak learners are told can be",
    source=BOOSTING.at("equation (5)"),
    forms=(
        Form(
            "transferred",
            r"\|\hat c^i_t\|_\infty \le \frac{k}{\rho} \quad\text{for the cost matrices as they are}",
            Proof.FALSE,
            "potentials lie in [0, 1] but do not add up to 1; from about four labels on their estimates are too"
            " large",
            explores,
            _told_expected,
            unmet_by=_as_they_are,
        ),
        Form(
            "repaired",
            r"\|\hat c^i_t\|_\infty \le \frac{k}{\rho}, \; \rho \le \frac{k}{k+1}"
            r" \quad\text{for potentials over } k-1 \text{, gradients over } k(k-1)",
            Proof.PROVED,
            "the maximum over all matrices with such entries is at most k/rho",
            _divided,
            unmet_by=_as_divided,
        ),
    ),
    judge=Exact(
        _told,
        _bounded_told,
        lambda case: f"matrices of the booster at rho = {rho_of(case)}, every label played",
        told_checks,
        instances=(ToldInstance,),
    ),
    cases=exploring_settings,
)
