"""Hypotheses of the claims about the baseline learners, and envelopes of the Perceptron's kind.

A claim about one learner is about every learner that promises it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ....arrays import FloatArray
from ...author import Bound, MeanSides, Sides
from ...claim import is_named
from ...games.labels.case import Case
from ...games.labels.run_sums import RunSums
from ..sampled import guesser, non_vacuous_from

Unmet = Callable[[Case], str | None]
"""A hypothesis: the reason why a case does not meet it, or None."""

ROUNDING = 1e-9
"""Share of an envelope of sums granted to the rounding of the updates, as for guarantee (4)."""

WITHOUT_LOSS = "without loss of the comparator "


def about(claim: str, *numbers: str) -> Unmet:
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


def enumerable(claim: str, *numbers: str) -> Unmet:
    """The same, and that a round can be played from any position."""
    known = about(claim, *numbers)

    def unmet(case: Case) -> str | None:
        if case.reads_features:
            return "a learner that reads the features itself does not show the state that it would start from"
        return known(case)

    return unmet


def with_option(known: Unmet, name: str, value: str) -> Unmet:
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


def expected_mistakes(
    case: Case,
    totals: RunSums,
    observed: FloatArray,
    envelope: float,
    base: float,
    without_loss: Callable[[float], float],
) -> MeanSides:
    """Both sides where mistakes are below a number in the mean.

    Parameters
    ----------
    observed : mistakes, one entry a run
    envelope, base : the number, and the part of it that is the comparator's loss
    without_loss : the envelope of a horizon without that part
    """
    T = totals.rounds
    return MeanSides(
        observed,
        (Bound(np.full(totals.runs, envelope), envelope),),
        np.full(totals.runs, base),
        least=envelope,
        most=T,
        guess=guesser(case, T),
        non_vacuous=non_vacuous_from(without_loss, T, WITHOUT_LOSS),
        most_base=base,
    )
