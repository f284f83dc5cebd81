"""Judge of statements "with probability at least 1 - delta": violations are counted on realised mistakes.

The null is P(violation) <= delta. A run bets X = 1[violation] against Y = F = delta; several delta judged on the
same runs make one cell, whose e-value is the average of theirs. ``holds`` needs the exact binomial 95 % upper limit to
be at most delta as well; that limit is descriptive and outside the alarm budget, as is the lower limit that a refuted
row shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ...arrays import FloatArray
from ..certificates.make import statistical_certificate
from ..claim import Claim, Form, Verdict
from ..games.labels.case import Case
from ..games.labels.run_sums import Ledger, play_ledgers
from .evidence import (
    LEVEL,
    binomial_lower_limit,
    binomial_upper_limit,
    log_wealths,
    refuting,
    runs_to_hold,
    runs_to_refute,
)
from .pathwise import Curve, Outcome


@dataclass(frozen=True)
class TailSides:
    """Both sides of a high-probability statement.

    Attributes
    ----------
    observed : realised mistakes, one entry a run
    envelopes : for each delta the right side, one entry a run
    base : the comparator's loss, one entry a run
    bites : the horizon from which the envelope bites, in a few words
    most : the largest value that the observed side can have, one entry a run; the rounds where None
    """

    observed: FloatArray
    envelopes: dict[float, FloatArray]
    base: FloatArray
    bites: str
    most: FloatArray | None = None


SidesOf = Callable[[Case, Form, Ledger], TailSides]
Play = Callable[[int], Iterator[tuple[int, TailSides]]]
"""From a number of runs to both sides after the whole of them, then after prefixes, with the numbers of rounds."""


def examine_tail(
    sides_of: SidesOf,
    claim: Claim,
    form: Form,
    case: Case,
    replicates: int,
    *,
    interpreted: bool = False,
    fresh: bool = False,
) -> Outcome:
    """Play the runs, with ``fresh`` each on a sequence of its own, and judge how often the envelope was
    exceeded."""

    def play(runs: int) -> Iterator[tuple[int, TailSides]]:
        ledgers = play_ledgers(case, range(runs), interpreted=interpreted, fresh=fresh)
        return ((ledger.rounds, sides_of(case, form, ledger)) for ledger in reversed(ledgers))

    return judge_tail(play, claim, form, case, replicates)


def judge_tail(play: Play, claim: Claim, form: Form, case: Case, replicates: int) -> Outcome:
    """Judge how often the envelope was exceeded in so many runs."""
    horizon = case.sequence.horizon
    _, probe = next(play(1))
    most = horizon if probe.most is None else float(probe.most[0])
    if all(float(bound[0] - probe.base[0]) >= most for bound in probe.envelopes.values()):
        replicates = 1  # vacuous whatever the runs do, so one is enough
    played = list(play(replicates))
    _, sides = played[0]
    tightest = max(sides.envelopes)
    worst = int(np.argmax(sides.observed / sides.envelopes[tightest]))
    observed = float(sides.observed[worst])
    envelope = float(sides.envelopes[tightest][worst])
    base = float(sides.base[worst])
    found = Outcome(
        Verdict.UNDECIDED,
        observed=observed,
        envelope=envelope,
        ratio=observed / envelope,
        regret_ratio=(observed - base) / (envelope - base) if envelope > base else None,
        headroom=envelope / observed if observed > 0 else None,
        runs=replicates,
        rounds=replicates * horizon,
        sampled=True,
        curve=Curve.joined(
            [
                Curve.of_runs(rounds, prefix.observed, bound, delta)
                for rounds, prefix in reversed(played)
                for delta, bound in prefix.envelopes.items()
            ]
        ),
    )
    highest = np.full(replicates, float(horizon)) if sides.most is None else sides.most
    if all((envelopes >= highest).all() for envelopes in sides.envelopes.values()):
        found.verdict = Verdict.VACUOUS
        found.headroom = None
        least = (
            f"T = {horizon}" if sides.most is None else f"{highest.min():.6g}, what no run exceeds,"
        )
        found.evidence = f"the envelope is at least {least} in every run; {sides.bites}"
        return found
    K = case.n_labels
    flags = []
    if sides.most is None and envelope >= (K - 1) / K * horizon:
        flags.append("weak")
    if base > 0 and sides.observed.max() <= base:
        flags.append("comparator-dominated")
    found.flags = tuple(flags)
    violated = {d: sides.observed > bound for d, bound in sides.envelopes.items()}
    wealth = decide(found, violated)
    if found.verdict == Verdict.REFUTED:
        numbers = {
            "observed": [repr(x) for x in sides.observed.tolist()],
            "envelopes": {
                str(d): [repr(y) for y in bound.tolist()] for d, bound in sides.envelopes.items()
            },
            "log_e_value": f"{wealth:.9g}",
        }
        found.certificate = statistical_certificate(
            claim, form, case, replicates, (observed, envelope), found.evidence, numbers
        )
    return found


def decide(found: Outcome, violated: Mapping[float, NDArray[np.bool_]]) -> float:
    """Write into ``found`` what the violations say, given for each delta one entry a run.

    Returns
    -------
    the logarithm of the e-value, at its largest over the runs
    """
    bets = {d: (v.astype(np.float64) - d) / d for d, v in violated.items()}
    paths = np.stack([log_wealths(z) for z in bets.values()])
    wealth = float((logsumexp(paths, axis=0) - math.log(len(paths))).max())
    refuted = wealth >= -math.log(LEVEL)
    runs = len(paths[0])
    counts = {d: int(v.sum()) for d, v in violated.items()}
    limits = {d: binomial_upper_limit(n, runs) for d, n in counts.items()}
    shown = {
        d: f"P >= {binomial_lower_limit(n, runs):.3g}" if refuted else f"P <= {limits[d]:.3g}"
        for d, n in counts.items()
    }
    found.evidence = "; ".join(
        f"delta {d:g}: {n} of {runs} violate, {shown[d]} (95 %)" for d, n in counts.items()
    )
    open_deltas = [d for d in violated if limits[d] > d]
    often = [d for d, n in counts.items() if n > d * runs]
    if refuted:
        found.verdict, found.headroom = Verdict.REFUTED, None
    elif not open_deltas:
        found.verdict = Verdict.HOLDS
    elif often:
        # the e-values of all delta are averaged, so that one alone has to be as much larger
        known = [runs_to_refute(bets[d], LEVEL / len(bets)) for d in often]
        needed = min((n for n in known if n is not None), default=None)
        found.evidence += f"; {refuting(needed)}"
    else:
        needed = max(runs_to_hold(d, counts[d]) for d in open_deltas)
        found.evidence += f"; {needed} runs would settle it"
    return wealth
