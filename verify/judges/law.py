"""Judge of statements that give the law of the mistakes: each round is a mistake with a known probability, whatever
happened before.

The mistakes of all runs together then are binomial, and an exact two-sided test says how far from their mean they may
be. Every run has a sequence of its own, since the chance lies in the sequence too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy

from ..certificates.make import statistical_certificate
from ..claim import Cell, Judge
from ..games.game import checkpoints
from ..outcome import Curve, Evidence, Kind, Verdict
from .decide import LEVEL

WIDEST = 0.5
"""Share of the mean beyond which a deviation must be refuted for the runs to say anything."""


def allowed(rounds: int, rate: float) -> tuple[int, int]:
    """The fewest and the most mistakes that the test does not refute."""
    return int(scipy.stats.binom.ppf(LEVEL / 2, rounds, rate)), int(
        scipy.stats.binom.isf(LEVEL / 2, rounds, rate)
    )


def p_value(mistakes: int, rounds: int, rate: float) -> float:
    """Twice the smaller tail, at most 1."""
    below = scipy.stats.binom.cdf(mistakes, rounds, rate)
    above = scipy.stats.binom.sf(mistakes - 1, rounds, rate)
    return float(min(1.0, 2 * min(below, above)))


@dataclass(frozen=True)
class Law(Judge):
    """The judge.

    Parameters
    ----------
    rate : the probability of a mistake in each round of a case
    """

    rate: Callable[[Any], float]
    kind: ClassVar[Kind] = Kind.MEAN
    sampled: ClassVar[bool] = True

    def examine(self, cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
        case, rate = cell.case, self.rate(cell.case)
        marks = checkpoints(case.horizon).tolist()
        totals = case.totals_at(marks, range(runs), interpreted=interpreted, fresh=True)
        rounds = runs * case.horizon
        mistakes = int(totals[-1].mistakes.sum())
        mean = rate * rounds
        fewest, most = allowed(rounds, rate)
        deviation = abs(mistakes - mean)
        limit = most - mean if mistakes >= mean else mean - fewest
        chance = p_value(mistakes, rounds, rate)
        words = (
            f"{mistakes} mistakes in {rounds} rounds, {mean:.1f} expected; p-value {chance:.3g}, and"
            f" {LEVEL:g} refutes: fewer than {fewest} or more than {most}"
        )
        enough = max(mean - fewest, most - mean) <= WIDEST * mean
        numbers = {
            "mistakes": [int(count) for count in totals[-1].mistakes],
            "rate": f"{rate:.12g}",
            "p_value": f"{chance:.3g}",
        }
        return Evidence(
            deviation,
            limit,
            ratio=deviation / limit if limit > 0 else None,
            headroom=limit / deviation if deviation > 0 else None,
            refutes=not fewest <= mistakes <= most,
            enough=enough,
            says=words if enough else f"{words}; more rounds are needed",
            more={Verdict.REFUTED: words},
            certify=lambda: statistical_certificate(cell, runs, (deviation, limit), words, numbers),
            runs=runs,
            rounds=rounds,
            sampled=True,
            curve=Curve.joined(
                [
                    Curve.of_runs(each.rounds, each.mistakes, np.full(runs, rate * each.rounds))
                    for each in totals
                ]
            ),
        )
