"""The potential of boost-by-majority before the first vote, which bounds the share of mistakes.

=====================  ==========================================================================
symbol                 name here
=====================  ==========================================================================
k, N, gamma            ``n_labels``, ``learners``, ``edge``
phi^y_N(0), eq. (6)    ``potential``
=====================  ==========================================================================
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from gmpy2 import mpq

from ....algorithms.boosting.potentials import TIES
from ....errors import require
from ...author import Check, Claim, Exact, Form, Instance, Interval, Proof, Setting
from ...certificates.instances import Json
from ...exact import boosting as exact
from ...exact.boosting import decimal
from ...games.labels.case import Case
from ..papers import BOOSTING
from .enumerated import ROUNDING
from .hypotheses import booster, votes
from .potentials import majority_setting

MOST_LEARNERS = 40
"""Weak learners up to which the potential at the start is computed."""


@dataclass(frozen=True)
class StartInstance(Instance):
    """Weak learners before the first vote.

    Attributes
    ----------
    n_labels, learners : k >= 2 and N >= 1
    edge, ties : what the potential is made with
    """

    n_labels: int
    learners: int
    edge: mpq
    ties: str
    kind: ClassVar[str] = "start"

    def __post_init__(self) -> None:
        require(2 <= self.n_labels <= 100, f"{self.n_labels} labels: expected 2 to 100.")
        require(
            1 <= self.learners <= 2 * MOST_LEARNERS,
            f"{self.learners} weak learners: expected 1 to {2 * MOST_LEARNERS}.",
        )
        require(0 <= self.edge < 1, f"edge {self.edge}: expected a number in [0, 1).")
        require(self.ties in TIES, f"tie rule '{self.ties}': expected one of {', '.join(TIES)}.")

    @cached_property
    def potential(self) -> mpq:
        return exact.potential_at_start(self.n_labels, self.learners, self.edge, self.ties)

    @cached_property
    def bound(self) -> Interval:
        """(k - 1) exp(-gamma^2 N / 2)."""
        exponent = -self.edge * self.edge * self.learners / 2
        return (self.n_labels - 1) * Interval.of(exponent).exp()

    @property
    def live(self) -> bool:
        """True if the bound is below 1, which every probability is at most."""
        return self.bound.certainly_less(1)

    @property
    def derived(self) -> Json:
        return {"potential": str(self.potential), "bound": self.bound.to_json()}


def start_settings() -> list[Setting]:
    """Many numbers of labels and learners, and edges, for the potential at the start."""
    return [
        majority_setting("online-mbbm", k, learners, gamma, ties)
        for ties in ("lowest", "random")
        for k, learners, gamma in (
            (2, 40, 0.05),
            (2, 40, 0.3),
            (3, 40, 0.2),
            (3, 20, 0.8),
            (5, 40, 0.1),
            (5, 30, 0.4),
            (10, 20, 0.5),
        )
    ]


def _starts(case: Case, form: Form) -> Iterator[StartInstance]:
    made = booster(case).potentials(case.n_labels)
    for learners in range(1, min(booster(case).learners, MOST_LEARNERS) + 1):
        if learners % 5 == 0 or learners < 5:
            yield StartInstance(case.n_labels, learners, decimal(made.edge), made.ties)


def _start_checks(case: Case) -> Iterator[Check]:
    k = case.n_labels
    made = booster(case).potentials(k)
    for instance in _starts(case, POTENTIAL_AT_START.forms[0]):
        n, exactly = instance.learners, float(instance.potential)
        found = [made.potential((0,) * k, 0, n), made.bound(n)]
        stated = [exactly, float(instance.bound)]
        yield Check(f"the potential before {n} votes, or its bound", found, stated, ROUNDING)


def _vacuous(case: Case) -> str | None:
    """The words for a bound of at least 1 at all numbers of weak learners that are looked at."""
    k, edge = case.n_labels, booster(case).potentials(case.n_labels).edge
    most = min(booster(case).learners, MOST_LEARNERS)
    if edge > 0 and most > (last := 2 * math.log(k - 1) / edge**2):
        return None
    where = f"it is non-vacuous from N = {math.floor(last) + 1}" if edge > 0 else "it always is"
    return f"(k - 1) exp(-gamma^2 N / 2) is at least 1 for N up to 2 ln(k - 1) / gamma^2: {where}"


def _start_sides(instance: StartInstance, form: Form) -> tuple[Interval, Interval]:
    return Interval.of(instance.potential), instance.bound


POTENTIAL_AT_START = Claim(
    id="boosting/potential-at-start",
    title="the potential before the first vote falls exponentially",
    source=BOOSTING.at("BanditBBM (Algorithm 2), mistake bound; its first term derived here"),
    forms=(
        Form(
            "derived",
            r"\phi^y_N(0) \le (k-1)\,e^{-\gamma^2 N/2}",
            Proof.PROVED,
            "Hoeffding for 1[l = r] - 1[l = y], of mean -gamma and range 2, and a union over the k - 1 others",
            votes,
            vacuous=_vacuous,
        ),
    ),
    judge=Exact(
        _starts,
        _start_sides,
        lambda case: f"up to {min(booster(case).learners, MOST_LEARNERS)} weak learners",
        _start_checks,
        instances=(StartInstance,),
    ),
    cases=start_settings,
)
