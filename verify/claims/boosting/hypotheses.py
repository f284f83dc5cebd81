"""To whom the claims about boosters apply: hypotheses on the learner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....algorithms.boosting.adaptive import AdaBandit, AdaboostOLM
from ....algorithms.boosting.booster import BanditBooster
from ....algorithms.boosting.majority import BanditBBM, OnlineMBBM
from ...claim import about_others
from ...games.labels.case import Case
from ..baselines.hypotheses import about, number

LARGEST_RHO = 0.5
"""Up to this rate 2k^2/rho bounds the estimates of the derivative."""


def explores(case: Case) -> str | None:
    """The hypothesis that the learner is a booster with bandit feedback."""
    if isinstance(case.learner, BanditBooster):
        return None
    return about_others(BanditBBM, AdaBandit)


def votes(case: Case) -> str | None:
    """The hypothesis that the learner boosts by majority."""
    if isinstance(case.learner, OnlineMBBM | BanditBBM):
        return None
    return about_others(OnlineMBBM, BanditBBM)


def adapts(case: Case) -> str | None:
    """The hypothesis that the learner is an adaptive booster."""
    if isinstance(case.learner, AdaboostOLM | AdaBandit):
        return None
    return about_others(AdaboostOLM, AdaBandit)


def booster(case: Case) -> Any:
    """The learner, once it is known to be a booster."""
    return case.learner


def divides_by_most(case: Case) -> bool:
    """Whether a booster by majority divides its costs by k - 1, the largest weight that there can be."""
    return bool(booster(case).scale == "trivial")


def about_one(claim: str, kind: type) -> Callable[[Case], str | None]:
    """The hypothesis that the booster is of this kind, and explores at a rate for which the constants are right."""
    promised = about(claim)

    def unmet(case: Case) -> str | None:
        if reason := promised(case):
            return reason
        if not isinstance(case.learner, kind):
            return about_others(kind)
        if kind is AdaBandit and number(case, "rho") > LARGEST_RHO:
            return f"rho = {number(case, 'rho'):.6g}: it needs at most {LARGEST_RHO}"
        return None

    return unmet
