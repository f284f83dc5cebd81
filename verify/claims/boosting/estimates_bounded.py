"""Largest estimates of bandit boosters: of losses, and of costs.

=================  ==================================================================================
symbol             name here
=================  ==================================================================================
k, rho             ``n_labels``, ``rho``
l-hat, c-hat       loss estimate, cost estimate
C^eor_1            cost vectors with entries of at least 0 that are 0 at the label and add up to 1
=================  ==================================================================================

An entry of a cost estimate is linear in each row of costs, so its extremes over rows from C^eor_1 are met where each
row puts all of its cost on that entry or none.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from gmpy2 import mpq

from ....algorithms.boosting import estimates
from ...author import Check, Claim, Exact, Form, Interval, Proof, Verdict
from ...exact.boosting import Fractions, Rows
from ...games.labels.case import Case
from ..papers import BOOSTING
from .enumerated import exploring_settings, few, losses_of, rates, rho_of
from .estimates import DrawInstance, zero_one
from .hypotheses import explores


def loss_limit(k: int, rho: mpq) -> mpq:
    """The largest loss estimate for three labels or more, and a bound for two."""
    return max((k - 1) / rho, 1 / (1 - rho))


def cost_limit(k: int, rho: mpq) -> mpq:
    """The largest entry of a cost estimate whose rows lie in C^eor_1."""
    return max((k - 2) * ((k - 1) / rho - 1), (k - 1) * rho / (1 - rho), mpq(k - 1))


def slope_limit(k: int, rho: mpq) -> mpq:
    """The supremum of an entry of an estimated gradient of the logistic loss."""
    hit = (k - 1) / rho - 1 if k >= 3 else mpq(0)
    return (k - 1) * max(hit, rho / (1 - rho), mpq(1))


def _draws(case: Case, form: Form) -> Iterator[DrawInstance]:
    k = case.n_labels
    for rho, best, label, played in product(rates(case), few(k), few(k), range(k)):
        yield DrawInstance(rho, best, label, played, zero_one(k))


def _bounded_loss(instance: DrawInstance, form: Form) -> tuple[Interval, Interval]:
    k, rho = instance.n_labels, instance.rho
    largest = max(max(loss, abs(1 - loss)) for loss in instance.losses)
    return Interval.of(largest), Interval.of(
        k / rho if form.name == "reconstructed" else loss_limit(k, rho)
    )


def _limit_checks(case: Case) -> Iterator[Check]:
    k = case.n_labels
    for rho in rates(case):
        stated = max(
            max(losses_of(best, label, played, rho, k))
            for best, label, played in product(range(2), few(k), range(k))
        )
        found = estimates.loss_bound(k, float(rho))
        yield Check(
            f"the largest loss estimate at rho = {rho}", [found], [stated], 1e-12 * float(stated)
        )


def exceeded(case: Case, limit: Any, printed: Any) -> Verdict:
    """Refuted if the attained limit exceeds what is printed at a rate that is looked at."""
    k = case.n_labels
    fails = any(limit(k, rho) > printed(k, rho) for rho in rates(case))
    return Verdict.REFUTED if fails else Verdict.HOLDS


LOSS_BOUNDED = Claim(
    id="boosting/loss-estimate-bounded",
    title="how large the estimated zero-one loss can be",
    source=BOOSTING.at("equation (4)"),
    forms=(
        Form(
            "reconstructed",
            r"\hat\ell^{0-1}_r \le \frac{k}{\rho}, \quad |1-\hat\ell^{0-1}_r| \le \frac{k}{\rho}"
            r" \quad\text{for every exploration rate } \rho",
            Proof.FALSE,
            "true exactly for rho up to k/(k+1); beyond that a booster that stays with its best label"
            " divides by 1 - rho",
            explores,
            lambda case: exceeded(case, loss_limit, lambda k, rho: k / rho),
        ),
        Form(
            "repaired",
            r"\hat\ell^{0-1}_r,\, |1-\hat\ell^{0-1}_r| \le \max\Big\{\frac{k-1}{\rho}, \frac{1}{1-\rho}\Big\}"
            r" \quad\Big(\le \frac{k}{\rho} \text{ for } \rho \le \frac{k}{k+1}\Big)",
            Proof.PROVED,
            "the two probabilities that are divided by; attained for three labels or more",
            explores,
        ),
    ),
    judge=Exact(
        _draws,
        _bounded_loss,
        lambda case: f"every best label, label and label played at {len(rates(case))} rates",
        _limit_checks,
        instances=(DrawInstance,),
    ),
    cases=exploring_settings,
)


def extreme_rows(losses: Fractions, entry: int, sign: int) -> Rows:
    """Rows of C^eor_1 that make an entry of the estimate largest, or least for a negative sign."""
    k = len(losses)
    rows = []
    for r, loss in enumerate(losses):
        wanted = r != entry and (sign * (1 - loss) > 0 or k == 2)
        elsewhere = next((i for i in range(k) if i not in (r, entry)), 1 - r)
        at = entry if wanted else elsewhere
        rows.append(tuple(mpq(i == at) for i in range(k)))
    return tuple(rows)


def _extremes(case: Case, form: Form) -> Iterator[DrawInstance]:
    k, rho = case.n_labels, rho_of(case)
    for best, label, played in product(range(2), few(k), range(k)):
        losses = losses_of(best, label, played, rho, k)
        for entry, sign in product(range(k), (-1, 1)):
            yield DrawInstance(rho, best, label, played, extreme_rows(losses, entry, sign))


def in_simplices(instance: DrawInstance) -> str | None:
    """The hypothesis that each row of costs lies in C^eor_1."""
    rows = enumerate(instance.rows)
    inside = all(row[r] == 0 and sum(row) == 1 and min(row) >= 0 for r, row in rows)
    return None if inside else "it is about rows of costs in C^eor_1"


def _bounded_cost(instance: DrawInstance, form: Form) -> tuple[Interval, Interval]:
    k, rho = instance.n_labels, instance.rho
    if form.name == "reconstructed":
        envelope = k / rho
    else:
        envelope = cost_limit(k, rho)
        if rho <= mpq(k, k + 1):
            envelope = min(envelope, k * k / rho)
    return Interval.of(max(map(abs, instance.estimate))), Interval.of(envelope)


COST_BOUNDED = Claim(
    id="boosting/cost-estimate-bounded",
    title="how large an entry of the estimated cost vector can be",
    source=BOOSTING.at("equation (5)"),
    forms=(
        Form(
            "reconstructed",
            r"\|\hat c\|_\infty \le \frac{k}{\rho} \quad\text{for } C_r \in \mathcal{C}^{eor}_1",
            Proof.FALSE,
            "for k >= 4 false at every rho: the factors 1 - (k-1)/rho of k-2 labels add up when their rows put"
            " all cost on one label",
            explores,
            lambda case: (
                Verdict.REFUTED
                if cost_limit(case.n_labels, rho_of(case)) > case.n_labels / rho_of(case)
                else Verdict.HOLDS
            ),
            unmet_by=in_simplices,
        ),
        Form(
            "repaired",
            r"\|\hat c\|_\infty \le \max\Big\{(k-2)\Big(\frac{k-1}{\rho}-1\Big), \frac{(k-1)\rho}{1-\rho}, k-1\Big\}"
            r" \quad\Big(\le \frac{k^2}{\rho} \text{ for } \rho \le \frac{k}{k+1}\Big)",
            Proof.PROVED,
            "the exact maximum: an entry is linear in each row, and each row meets it at a vertex of C^eor_1",
            explores,
            unmet_by=in_simplices,
        ),
    ),
    judge=Exact(
        _extremes,
        _bounded_cost,
        lambda case: f"the extreme rows of C^eor_1 at rho = {rho_of(case)}",
        instances=(DrawInstance,),
    ),
    cases=exploring_settings,
)
