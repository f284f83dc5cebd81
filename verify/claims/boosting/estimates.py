"""Equations (4) and (5): unbiased estimates of losses and costs under exploration, and how large they can be.

=================  ==================================================================================
symbol             name here
=================  ==================================================================================
k, rho             ``n_labels``, ``rho``
yhat, y, ytilde    ``best``, ``label``, ``played``
l-hat, c-hat       loss estimate, cost estimate
C                  ``rows``; row r is the cost vector if the true label is r
=================  ==================================================================================

An expectation over the label played is a sum of k terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import Any, ClassVar

import numpy as np
from gmpy2 import mpq

from ....algorithms.boosting import estimates
from ....errors import require
from ...author import Check, Claim, Exact, Form, Interval, Proof
from ...certificates.instances import Json
from ...exact import boosting as exact
from ...exact.boosting import Fractions, Rows, texts
from ...games.labels.case import Case
from ..papers import BOOSTING
from .enumerated import (
    ROUNDING,
    Exploration,
    deviation,
    exploring_settings,
    few,
    losses_of,
    rates,
    rho_of,
)
from .estimates_in_play import branches, told_checks
from .hypotheses import explores
from .used_costs import used_costs


@dataclass(frozen=True)
class DrawInstance(Exploration):
    """A round of exploration, and costs.

    Attributes
    ----------
    rows : costs, row r if r is the true label; k of them
    """

    rows: Rows
    kind: ClassVar[str] = "draw"

    def __post_init__(self) -> None:
        super().__post_init__()
        k = self.n_labels
        require(
            all(len(row) == k for row in self.rows), f"costs: expected {k} rows of {k} numbers."
        )

    @property
    def n_labels(self) -> int:
        return len(self.rows)

    @cached_property
    def estimate(self) -> Fractions:
        """The cost estimate."""
        return exact.estimate(self.losses, self.rows)

    @cached_property
    def mean_loss(self) -> Fractions:
        """Expectation of the loss estimate."""
        return exact.mean(self.probabilities, map(self.losses_if, range(self.n_labels)))

    @cached_property
    def mean_estimate(self) -> Fractions:
        """Expectation of the cost estimate."""
        return exact.mean(
            self.probabilities,
            (exact.estimate(self.losses_if(a), self.rows) for a in range(self.n_labels)),
        )

    @property
    def derived(self) -> Json:
        return super().derived | {
            "estimate": texts(self.estimate),
            "mean_estimate": texts(self.mean_estimate),
        }


@lru_cache(maxsize=64)
def unit_rows(k: int) -> tuple[Rows, ...]:
    """Every matrix with one entry 1 and the others 0: what is linear in the costs is known from these."""
    return tuple(
        tuple(tuple(mpq((r, i) == at) for i in range(k)) for r in range(k))
        for at in product(range(k), repeat=2)
    )


def zero_one(k: int) -> Rows:
    """The zero-one losses."""
    return tuple(tuple(mpq(r != i) for i in range(k)) for r in range(k))


def is_zero_one(instance: DrawInstance) -> str | None:
    """The hypothesis that the costs are the zero-one losses."""
    same = instance.rows == zero_one(instance.n_labels)
    return None if same else "it is about zero-one losses"


def _rounds(case: Case, form: Form) -> Iterator[DrawInstance]:
    """Every best label and true label at every rate."""
    k = case.n_labels
    for rho, best, label in product(rates(case), few(k), few(k)):
        yield DrawInstance(rho, best, label, best, zero_one(k))


def _mean_loss(instance: DrawInstance, form: Form) -> tuple[Interval, Interval]:
    stated = instance.rows[instance.label]
    return Interval.of(deviation(instance.mean_loss, stated)), Interval.of(0)


def _seen(case: Case) -> Iterator[tuple[mpq, int, int, int, Any, Any]]:
    """Rounds with the probabilities and loss estimates that the learners' code makes of fractions."""
    k = case.n_labels
    for rho, best in product((rho_of(case), mpq(1, 3)), few(k)):
        p = estimates.exploration(best, rho, k)
        for label, played in product(few(k), range(k)):
            yield (
                rho,
                best,
                label,
                played,
                p,
                estimates.loss_estimate(best, played, played == label, p),
            )


def _loss_checks(case: Case) -> Iterator[Check]:
    k = case.n_labels
    for rho, best, label, played, p, losses in _seen(case):
        where = f"for best label {best}, label {label} and label {played} played at rho = {rho}"
        yield Check(f"the exploration {where}", p.tolist(), exact.exploration(best, rho, k))
        stated = losses_of(best, label, played, rho, k)
        yield Check(f"the loss estimate {where}", losses.tolist(), stated)
    for branch in branches(case):
        best, rho = branch.boosting.best, rho_of(case)
        stated = losses_of(best, branch.label, branch.action, rho, k)
        what = (
            f"the loss estimate in play for label {branch.label} and label {branch.action} played"
        )
        found = branch.boosting.losses.tolist()
        yield Check(what, found, stated, ROUNDING * float(k / rho))


LOSS_UNBIASED = Claim(
    id="boosting/loss-estimate-unbiased",
    title="the estimated zero-one loss is right on average",
    source=BOOSTING.at("equation (4)"),
    forms=(
        Form(
            "reconstructed",
            r"E_{\tilde y}\,\hat\ell^{0-1}_r = 1[y \ne r] \quad\text{for every } \hat y, y, r",
            Proof.PROVED,
            "a label is played with a probability above 0, by which its loss is divided",
            explores,
            unmet_by=is_zero_one,
        ),
    ),
    judge=Exact(
        _rounds,
        _mean_loss,
        lambda case: f"every best label and label at {len(rates(case))} exploration rates",
        _loss_checks,
        instances=(DrawInstance,),
    ),
    cases=exploring_settings,
)


def used_rows(case: Case) -> Iterator[Rows]:
    """Cost matrices that the booster uses."""
    return (costs.rows for costs in used_costs(case))


def _matrices(case: Case, form: Form) -> Iterator[DrawInstance]:
    k, rho = case.n_labels, rho_of(case)
    labels = few(k) if k <= 4 else (0, 1)  # the names of labels change nothing
    for rows in (*unit_rows(k), *islice(used_rows(case), 12)):
        for best, label in product(labels[:2], labels):
            yield DrawInstance(rho, best, label, best, rows)


def _mean_cost(instance: DrawInstance, form: Form) -> tuple[Interval, Interval]:
    stated = instance.rows[instance.label]
    return Interval.of(deviation(instance.mean_estimate, stated)), Interval.of(0)


def _cost_checks(case: Case) -> Iterator[Check]:
    k = case.n_labels
    rows = tuple(tuple(mpq(3 * r - i * i, 1 + r + i) for i in range(k)) for r in range(k))
    array = np.array(rows, dtype=object)
    for rho, best, label, played, _, losses in _seen(case):
        what = f"the cost estimate for best label {best}, label {label} and label {played} played"
        stated = exact.estimate(losses_of(best, label, played, rho, k), rows)
        yield Check(what, estimates.estimate(losses, array).tolist(), stated)
    yield from told_checks(case)


COST_UNBIASED = Claim(
    id="boosting/cost-estimate-unbiased",
    title="the estimated cost vector is right on average",
    source=BOOSTING.at("equation (5)"),
    forms=(
        Form(
            "reconstructed",
            r"E_{\tilde y}\,\hat c = C_y, \quad \hat c = \sum_r (1-\hat\ell^{0-1}_r)\,C_r"
            r" \quad\text{for every matrix } C",
            Proof.PROVED,
            "1 minus the loss estimate of r has mean 1[r = y]; linear in C, so the matrices with one entry 1 tell"
            " all",
            explores,
        ),
    ),
    judge=Exact(
        _matrices,
        _mean_cost,
        lambda case: "every matrix with one entry 1, and matrices that the booster uses",
        _cost_checks,
        instances=(DrawInstance,),
    ),
    cases=exploring_settings,
)
