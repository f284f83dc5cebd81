"""Judge of statements "with probability at least 1 - delta": violations are counted on realised mistakes.

The null is P(violation) <= delta. A run bets X = 1[violation] against Y = F = delta; several delta judged on the
same runs make one cell, whose e-value is the average of theirs. ``holds`` needs the exact binomial 95 % upper limit to
be at most delta as well; that limit is descriptive and outside the alarm budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from .case import Case
from .certificate import statistical_certificate
from .claim import Claim, Form, Verdict
from .evidence import LEVEL, binomial_upper_limit, log_wealths, runs_to_hold
from .judge import Curve, Outcome
from .ledger import Ledger, play_ledgers, play_runs

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class TailSides:
    """Both sides of a high-probability statement.

    Attributes
    ----------
    observed : realised mistakes, one entry a run
    envelopes : for each delta the right side, one entry a run
    base : the comparator's loss, one entry a run
    bites : the horizon from which the envelope bites, in a few words
    """

    observed: FloatArray
    envelopes: dict[float, FloatArray]
    base: FloatArray
    bites: str


SidesOf = Callable[[Case, Form, Ledger], TailSides]


def examine_tail(
    sides_of: SidesOf,
    claim: Claim,
    form: Form,
    case: Case,
    replicates: int,
    *,
    interpreted: bool = False,
) -> Outcome:
    """Play the runs and judge how often the envelope was exceeded."""
    horizon = case.sequence.horizon
    probe = sides_of(case, form, play_runs(case, range(1), interpreted=interpreted))
    if all(float(bound[0] - probe.base[0]) >= horizon for bound in probe.envelopes.values()):
        replicates = 1  # vacuous whatever the runs do, so one is enough
    ledgers = play_ledgers(case, range(replicates), interpreted=interpreted)
    sides = sides_of(case, form, ledgers[-1])
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
                Curve.of_runs(ledger.rounds, prefix.observed, bound, delta)
                for ledger in ledgers
                for prefix in [sides_of(case, form, ledger)]
                for delta, bound in prefix.envelopes.items()
            ]
        ),
    )
    if all((envelopes >= horizon).all() for envelopes in sides.envelopes.values()):
        found.verdict = Verdict.VACUOUS
        found.headroom = None
        found.evidence = f"the envelope is at least T = {horizon} in every run; {sides.bites}"
        return found
    K = case.n_labels
    flags = []
    if envelope >= (K - 1) / K * horizon:
        flags.append("weak")
    if base > 0 and sides.observed.max() <= base:
        flags.append("comparator-dominated")
    found.flags = tuple(flags)
    violated = {d: sides.observed > bound for d, bound in sides.envelopes.items()}
    paths = np.stack([log_wealths((v.astype(np.float64) - d) / d) for d, v in violated.items()])
    wealth = float((logsumexp(paths, axis=0) - math.log(len(paths))).max())
    limits = {d: binomial_upper_limit(int(v.sum()), replicates) for d, v in violated.items()}
    found.evidence = "; ".join(
        f"delta {d:g}: {int(v.sum())} of {replicates} violate, P <= {limits[d]:.3g} (95 %)"
        for d, v in violated.items()
    )
    if wealth >= -math.log(LEVEL):
        found.verdict, found.headroom = Verdict.REFUTED, None
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
    open_deltas = [d for d in violated if limits[d] > d]
    if not open_deltas:
        found.verdict = Verdict.HOLDS
        return found
    needed = max(runs_to_hold(d, int(violated[d].sum())) for d in open_deltas)
    found.evidence += f"; {needed} runs would settle it"
    return found
