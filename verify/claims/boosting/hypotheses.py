"""Hypotheses of the claims about boosters, on the learner."""

from __future__ import annotations

import math
from typing import Any

from ....algorithms.boosting.adaptive import AdaBandit, AdaboostOLM
from ....algorithms.boosting.booster import BanditBooster
from ....algorithms.boosting.majority import BanditBBM, OnlineMBBM
from ...claim import about_others
from ...games.labels.case import Case
from ..baselines.hypotheses import Unmet, about, number

LARGEST_RHO = 0.5
"""The largest rate at which 2k^2/rho bounds the estimates of the derivative."""


def explores(case: Case) -> str | None:
    """The hypothesis that the learner is a booster with bandit feedback."""
    found = isinstance(case.learner, BanditBooster)
    return None if found else about_others(BanditBBM, AdaBandit)


def votes(case: Case) -> str | None:
    """The hypothesis that the learner boosts by majority."""
    return _is_one_of(case, OnlineMBBM, BanditBBM)


def adapts(case: Case) -> str | None:
    """The hypothesis that the learner is an adaptive booster."""
    return _is_one_of(case, AdaboostOLM, AdaBandit)


def _is_one_of(case: Case, *kinds: type) -> str | None:
    return None if isinstance(case.learner, kinds) else about_others(*kinds)


def booster(case: Case) -> Any:
    """The learner, once it is known to be a booster."""
    return case.learner


def divides_by_most(case: Case) -> bool:
    """True if a booster by majority divides its costs by k - 1, the largest weight that there can be."""
    return bool(booster(case).scale == "trivial")


def of_booster(claim: str, *kinds: type) -> Unmet:
    """The hypothesis that the booster promises the claim and is of one of these kinds."""
    promised = about(claim)
    return lambda case: promised(case) or _is_one_of(case, *kinds)


def of_adaptive(claim: str, kind: type) -> Unmet:
    """The same for an adaptive booster, and that it explores at a rate for which the constants are right."""
    played = of_booster(claim, kind)

    def unmet(case: Case) -> str | None:
        if reason := played(case):
            return reason
        if kind is AdaBandit and number(case, "rho") > LARGEST_RHO:
            return f"rho = {number(case, 'rho'):.6g}: it needs at most {LARGEST_RHO}"
        return None

    return unmet


def explores_at(case: Case, rho: float) -> str | None:
    """The hypothesis that the booster explores at this rate."""
    if math.isclose(rho, number(case, "rho"), rel_tol=1e-9):
        return None
    return f"it prescribes rho = {rho:.6g}, the learner declares {number(case, 'rho'):.6g}"
