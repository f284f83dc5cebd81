"""Judge of statements that give the law of the mistakes: each round is a mistake with a known probability, whatever
happened before.

The mistakes of all runs together then are binomial, and an exact two-sided test says how far from their mean they may
be. Every run has a sequence of its own, since the chance lies in the sequence too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from ..certificates.make import statistical_certificate
from ..claim import Claim, Form, Verdict
from ..games.labels.case import Case
from ..games.labels.run_sums import play_ledgers
from .evidence import LEVEL
from .pathwise import Curve, Outcome

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


def examine_rate(
    rate_of: Callable[[Case], float],
    claim: Claim,
    form: Form,
    case: Case,
    replicates: int,
    *,
    interpreted: bool = False,
) -> Outcome:
    """Play the runs, count their mistakes, and compare the total with the binomial law."""
    rate = rate_of(case)
    ledgers = play_ledgers(case, range(replicates), interpreted=interpreted, fresh=True)
    rounds = replicates * case.sequence.horizon
    mistakes = int(ledgers[-1].mistakes.sum())
    mean = rate * rounds
    fewest, most = allowed(rounds, rate)
    deviation = abs(mistakes - mean)
    limit = most - mean if mistakes >= mean else mean - fewest
    found = Outcome(
        Verdict.UNDECIDED,
        observed=deviation,
        envelope=limit,
        ratio=deviation / limit if limit > 0 else None,
        runs=replicates,
        rounds=rounds,
        sampled=True,
        curve=Curve.joined(
            [
                Curve.of_runs(
                    ledger.rounds, ledger.mistakes, np.full(replicates, rate * ledger.rounds)
                )
                for ledger in ledgers
            ]
        ),
    )
    chance = p_value(mistakes, rounds, rate)
    found.evidence = (
        f"{mistakes} mistakes in {rounds} rounds, {mean:.1f} expected; p-value {chance:.3g}, and {LEVEL:g} refutes:"
        f" fewer than {fewest} or more than {most}"
    )
    if not fewest <= mistakes <= most:
        found.verdict = Verdict.REFUTED
        numbers = {
            "mistakes": [int(count) for count in ledgers[-1].mistakes],
            "rate": f"{rate:.12g}",
            "p_value": f"{chance:.3g}",
        }
        found.certificate = statistical_certificate(
            claim, form, case, replicates, (deviation, limit), found.evidence, numbers
        )
        return found
    found.headroom = limit / deviation if deviation > 0 else None
    if max(mean - fewest, most - mean) <= WIDEST * mean:
        found.verdict = Verdict.HOLDS
    else:
        found.evidence += "; more rounds are needed"
    return found
