"""What the claims about the baseline learners share: to whom they apply, and envelopes of the Perceptron's kind.

A claim about one learner is about every learner that promises it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ....arrays import FloatArray
from ...claim import Sides, is_named
from ...games.labels.case import Case

Missing = Callable[[Case], str | None]

ROUNDING = 1e-9
"""Share of an envelope of sums granted to the rounding of the updates, as for guarantee (4)."""


def about(claim: str, *numbers: str) -> Missing:
    """The hypothesis that the learner promises the claim and declares the named numbers."""

    def missing(case: Case) -> str | None:
        if not is_named(claim, case.learner.promises):
            return f"the learner does not promise {claim}"
        for name in numbers:
            if name not in case.declaration.numbers:
                return f"the learner declares no number '{name}'"
        return None

    return missing


def enumerable(claim: str, *numbers: str) -> Missing:
    """The same, and that a round can be played from any position."""
    known = about(claim, *numbers)

    def missing(case: Case) -> str | None:
        if case.reads_features:
            return "a learner that reads the features itself does not show the state that it would start from"
        return known(case)

    return missing


def with_option(known: Missing, name: str, value: str) -> Missing:
    """The same for learners with an option of this value."""

    def missing(case: Case) -> str | None:
        if reason := known(case):
            return reason
        found = getattr(case.learner, name, None)
        return (
            None
            if found == value
            else f"it is about {name}={value}, the learner has {name}={found}"
        )

    return missing


def number(case: Case, name: str) -> float:
    """A number that the learner declares."""
    return case.declaration.numbers[name]


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


def first_bite(envelope: Callable[[float], float], floor: float) -> str:
    """From which horizon on an envelope without loss is below it, in a few words."""
    low, high = 1.0, max(2.0, floor)
    while envelope(high) >= high and high < 1e15:
        high *= 2
    if high >= 1e15:
        return "it does not bite at any horizon"
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (middle, high) if envelope(middle) >= middle else (low, middle)
    return f"without loss of the comparator it bites from T = {math.ceil(high)}"
