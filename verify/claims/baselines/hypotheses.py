"""What the claims about the baseline learners share: to whom they apply, and envelopes of the Perceptron's kind.

A claim about one learner is about every learner that promises it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ....arrays import FloatArray
from ...author import Sides
from ...claim import is_named
from ...games.labels.case import Case

Missing = Callable[[Case], str | None]

ROUNDING = 1e-9
"""Share of an envelope of sums granted to the rounding of the updates, as for guarantee (4)."""


def about(claim: str, *numbers: str) -> Missing:
    """The hypothesis that the learner promises the claim and declares the named numbers."""

    family = claim.partition("/")[0]

    def unmet(case: Case) -> str | None:
        if not is_named(claim, case.learner.promises):
            return f"the learner does not promise {claim}"
        for name in numbers:
            if f"{family}.{name}" not in case.declaration:
                return f"the learner declares no number '{family}.{name}'"
        return None

    return unmet


def enumerable(claim: str, *numbers: str) -> Missing:
    """The same, and that a round can be played from any position."""
    known = about(claim, *numbers)

    def unmet(case: Case) -> str | None:
        if case.reads_features:
            return "a learner that reads the features itself does not show the state that it would start from"
        return known(case)

    return unmet


def with_option(known: Missing, name: str, value: str) -> Missing:
    """The same for learners with an option of this value."""

    def unmet(case: Case) -> str | None:
        if reason := known(case):
            return reason
        found = getattr(case.learner, name, None)
        return (
            None
            if found == value
            else f"it is about {name}={value}, the learner has {name}={found}"
        )

    return unmet


def number(case: Case, name: str) -> float:
    """A number that the learner declares: ``FAMILY.name``, or the first of that name in whatever family."""
    return float(case.declaration[name]) if "." in name else case.declaration.number(name)


def largest_step(case: Case) -> float:
    """2 X^2 |U|^2: squared norm of a Perceptron step times that of the comparator."""
    return 2 * (case.sequence.feature_norm * case.comparator.norm) ** 2


def sums(
    observed: FloatArray,
    envelope: FloatArray,
    idle: FloatArray | NDArray[np.int64],
    base: FloatArray | None = None,
) -> Sides:
    """Both sides as sums; the bound could fail where a learner that is always wrong, or stands still, would
    reach it with ``idle``."""
    return Sides(
        observed,
        envelope,
        ROUNDING * (1 + envelope),
        live=np.asarray(envelope < idle),
        base=base,
        cumulative=True,
    )


def solved(base: FloatArray, slope: float, constant: float = 0.0) -> FloatArray:
    """The largest M with M - base <= sqrt(slope M + constant)."""
    half = slope / 2
    return np.asarray(base + half + np.sqrt(half * half + slope * base + constant))


def non_vacuous_from(envelope: Callable[[float], float], floor: float) -> str:
    """The horizon from which an envelope without loss is below it, in a few words."""
    low, high = 1.0, max(2.0, floor)
    while envelope(high) >= high and high < 1e15:
        high *= 2
    if high >= 1e15:
        return "it is non-vacuous at no horizon"
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (middle, high) if envelope(middle) >= middle else (low, middle)
    return f"without loss of the comparator it is non-vacuous from T = {math.ceil(high)}"
