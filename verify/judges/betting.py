"""Evidence from independent runs: e-values by betting, and exact binomial limits.

For the null E[X] <= E[Y] with one number D = X - Y a run and a sure floor D >= -F, the wealth of a gambler
who stakes the fraction lambda of it on each Z = D / F grows by 1 + lambda Z >= 0, and by nothing in
expectation. A mixture over fixed fractions is an e-value after every run (Ville), so one may stop looking
at any run. Bets go between runs only: the theorems bound a sum in expectation, not its rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy

from ...arrays import BoolArray, FloatArray
from .decide import LEVEL, exceeds_level

STAKES = 2.0 ** -np.arange(11)
STAKE_WEIGHTS = np.array([0.5] + [0.05] * 10)
"""Constant bets and their shares of the initial wealth."""

LARGEST_HEADROOM = 1e6

HALVINGS = 24
"""Bisections of a factor by which an envelope may shrink: its logarithm is found to 14 / 2^24."""

SLACK = 8 * 2.0**-52
"""The share of its sure floor by which a run may lie below it, by rounding: sums such as 0.1 + 0.1 + 0.1 exceed the
ceiling 0.3 that a formula gives."""

MOST_RUNS = 10**6
"""The most runs that are suggested; a larger number would be a matter of the last digits of what these runs show."""

NOISE = 0.05
"""Level of the limits that say what is noise. They are no part of a refutation and outside the alarm budget."""

STEADY = 1e-9
"""A mean of Z below this is rounding, also where the runs are all alike."""


def log_wealths(z: FloatArray) -> FloatArray:
    """Logarithm of the e-value after each run, of the same shape as ``z``.

    Parameters
    ----------
    z : observed minus envelope over the sure floor, one number a run, each at least -1; shape (n,), or (..., n) for
        several sequences of bets

    Raises
    ------
    ValueError
        for a number below -1 by more than rounding: the claim's floor is not sure
    """
    z = np.asarray(z, dtype=np.float64)
    if not (z >= -1.0 - SLACK).all():  # false for NaN
        raise ValueError(f"a run lies below its sure floor: {float(z.min())!r} < -1")
    z = np.maximum(z, -1.0)
    with np.errstate(divide="ignore"):
        growth = np.log1p(np.multiply.outer(STAKES, z))
    return _mixed(np.cumsum(growth, axis=-1))


def log_wealths_of_violations(violated: BoolArray, delta: FloatArray) -> FloatArray:
    """The same for Z = (1[violated] - delta) / delta, which takes two values only.

    Parameters
    ----------
    violated : shape (..., n)
    delta : what each sequence is judged by, of shape (...,)
    """
    lost = np.cumsum(violated, axis=-1)
    kept = np.arange(1, violated.shape[-1] + 1) - lost
    odds = np.multiply.outer(STAKES, (1 - delta) / delta)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        staked = np.log1p(-STAKES).reshape(-1, *(1,) * lost.ndim)
        paths = lost * np.log1p(odds) + np.where(kept > 0, kept * staked, 0.0)
    return _mixed(paths)


def _mixed(paths: FloatArray) -> FloatArray:
    """The wealth of all stakes together, from that of each, shape (stakes, ..., n)."""
    weights = np.log(STAKE_WEIGHTS).reshape(-1, *(1,) * (paths.ndim - 1))
    return log_sum(paths + weights)


def log_sum(terms: FloatArray) -> FloatArray:
    """Logarithm of the sum of exp(terms) along the first axis; terms may be -inf."""
    top = np.maximum(terms.max(axis=0), np.finfo(np.float64).min)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(terms - top).sum(axis=0)) + top)


def refutes(z: FloatArray, level: float = LEVEL) -> bool:
    """True if the e-value reached 1/level after some run, in the order of the runs."""
    return len(z) > 0 and exceeds_level(float(log_wealths(z).max()), level)


def runs_to_refute(z: FloatArray, level: float = LEVEL) -> int | None:
    """The number of runs like these that would refute, by the stake that gets there first; None if none ever does."""
    with np.errstate(divide="ignore"):
        growth = np.log1p(np.multiply.outer(STAKES, np.asarray(z))).mean(axis=1)
    wins = growth > 0
    if not wins.any():
        return None
    # each stake starts with its share of the wealth
    needed = (-math.log(level) - np.log(STAKE_WEIGHTS[wins])) / growth[wins]
    return math.ceil(float(needed.min()))


def exceeds_noise(z: FloatArray, level: float = NOISE) -> bool:
    """True if the mean of ``z`` is above 0 by more than its noise: its lower t limit at this level is."""
    n = len(z)
    if n < 2:
        return False
    limit = float(scipy.stats.t.isf(level, n - 1)) * float(z.std(ddof=1)) / math.sqrt(n)
    return float(z.mean()) > limit + STEADY


def refuting(needed: int | None, within_noise: bool = False) -> str:
    """The number that :func:`runs_to_refute` found, as evidence says it.

    None is said of a mean within noise of the envelope: it would be a matter of chance on which side the next runs
    are. The limits of :func:`exceeds_noise` and :func:`binomial_lower_limit` decide, at the level ``NOISE``.
    """
    if within_noise:
        return "within the noise of the envelope, so that no number of runs suggests itself"
    if needed is None:
        return "no number of runs suggests itself"
    if needed > MOST_RUNS:
        return "it would take more than a million runs like these to refute"
    return f"{needed} runs like these would refute"


def headroom_of(log_e_value: Callable[[float], float], level: float = LEVEL) -> float | None:
    """1/s for the largest s such that the statement is refuted with s times the envelope, without the comparator's
    loss where that stands on both sides.

    s is a lower confidence limit at level 1 - ``level`` on the ratio of observed side and envelope: an envelope
    smaller by the factor 1/s would have been refuted.

    Parameters
    ----------
    log_e_value : from s to the logarithm of the e-value, which falls with s

    Returns
    -------
    1/s; None where no s above 1e-6 is refuted
    """

    def refuted(s: float) -> bool:
        return exceeds_level(log_e_value(s), level)

    low, high = 1 / LARGEST_HEADROOM, 1.0
    if not refuted(low):
        return None
    while refuted(high) and high < LARGEST_HEADROOM:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return 1 / low


def binomial_upper_limit(violations: int, runs: int, confidence: float = 0.95) -> float:
    """Clopper-Pearson upper limit on a probability after ``violations`` in ``runs``."""
    if violations >= runs:
        return 1.0
    return float(scipy.stats.beta.ppf(confidence, violations + 1, runs - violations))


def binomial_lower_limit(violations: int, runs: int, confidence: float = 0.95) -> float:
    """Clopper-Pearson lower limit on a probability after ``violations`` in ``runs``."""
    if violations == 0:
        return 0.0
    return float(scipy.stats.beta.ppf(1 - confidence, violations, runs - violations + 1))


def runs_to_hold(delta: float, violations: int = 0, confidence: float = 0.95) -> int:
    """Fewest runs after which ``violations`` still leave the upper limit at most ``delta``."""
    runs = violations + 1
    while binomial_upper_limit(violations, runs, confidence) > delta:
        runs += max(1, runs // 64)
    while runs > violations + 1 and binomial_upper_limit(violations, runs - 1, confidence) <= delta:
        runs -= 1
    return runs
