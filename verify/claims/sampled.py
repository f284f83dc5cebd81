"""Sampled claims: their runs, their confidence parameters, and the horizon from which a bound says something."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..games.labels.case import Case

SAMPLED_RUNS = 128
"""Runs of a sampled cell: enough to refute 1.18 times an envelope on steady data."""

DELTAS = (0.5, 0.2, 0.05, 0.01)
"""Confidence parameters that are judged on the same runs, as one cell."""


def deltas_for(runs: int) -> tuple[float, ...]:
    """Those of ``DELTAS`` that so many runs can hold at all (0.95^n <= 0.05 and the like)."""
    return tuple(d for d in DELTAS if (1 - d) ** runs <= 0.05) or DELTAS[:1]


def guesser(case: Case, rounds: int) -> float:
    """The expected mistakes of the uniform guesser."""
    return (case.n_labels - 1) / case.n_labels * rounds


def non_vacuous_from(
    envelope: Callable[[float], float], start: float = 2.0, given: str = ""
) -> str:
    """The horizon from which an envelope is below it, in a few words.

    Parameters
    ----------
    envelope : of a horizon
    start : the first horizon that is tried
    given : what is assumed, in front of the words
    """
    low, high = 1.0, max(2.0, start)
    while envelope(high) >= high and high < 1e15:
        low, high = high, 2 * high
    if high >= 1e15:
        return "it is non-vacuous at no horizon"
    while high - low > 0.5 and high / low > 1 + 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if envelope(middle) >= middle else (low, middle)
    return f"{given}it is non-vacuous from T = {math.ceil(high):,}"
