"""Judge of pathwise statements about adaptive boosters: both sides in every run, looked at from inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ....arrays import FloatArray
from ...certificates.make import Certificate, audit_of
from ...claim import Claim, Form, Verdict
from ...games.labels.case import Case
from ...judges.pathwise import Outcome, percentage
from .runs import Inside, look_inside

ROUNDING = 1e-9
"""Share of the sums granted to their rounding and to that of the best weights."""


@dataclass(frozen=True)
class RunSides:
    """Both sides of some inequalities about one run; all arrays of one shape (n,).

    Attributes
    ----------
    observed, envelope : the side that must not be larger, and the other
    most : the largest value that the observed side could have
    what : what the inequalities are counted by, in the singular
    """

    observed: FloatArray
    envelope: FloatArray
    most: FloatArray
    what: str


SidesOf = Callable[[Case, Inside], RunSides]


def examine_inside(
    sides_of: SidesOf,
    claim: Claim,
    form: Form,
    case: Case,
    replicates: int,
    *,
    interpreted: bool = False,
) -> Outcome:
    """Play the runs and compare both sides in each; stop at the first that violates."""
    found = Outcome(Verdict.HOLDS)
    highest, live, compared, what = -np.inf, 0, 0, ""
    for replicate in range(replicates):
        run = look_inside(case, replicate, interpreted=interpreted)
        sides = sides_of(case, run)
        found.runs += 1
        found.rounds += run.rounds
        excess = sides.observed - sides.envelope
        tolerance = ROUNDING * (1 + np.abs(sides.envelope) + np.abs(sides.observed))
        if not (excess <= tolerance).all():
            worst = int(np.argmax(excess))
            return _refuted(claim, form, case, found, replicate, sides, worst)
        lives = sides.envelope < sides.most
        compared, live, what = compared + len(lives), live + int(lives.sum()), sides.what
        if not lives.any():
            continue
        ratios = np.where(lives, sides.observed / np.where(lives, sides.envelope, 1), -np.inf)
        at = int(np.argmax(ratios))
        if ratios[at] > highest:
            highest = float(ratios[at])
            found.observed, found.envelope = float(sides.observed[at]), float(sides.envelope[at])
    if not live:
        found.verdict = Verdict.VACUOUS
        found.evidence = (
            f"no {what} of {compared} could exceed the envelope, whatever the booster did"
        )
        return found
    found.ratio = highest
    found.headroom = 1 / highest if highest > 0 else None
    if live < compared:
        found.flags = (f"live in {percentage(live / compared)} of {what}s",)
    found.evidence = f"{live} {what}s in {found.runs} run{'s'[: found.runs > 1]}"
    return found


def _refuted(
    claim: Claim,
    form: Form,
    case: Case,
    found: Outcome,
    replicate: int,
    sides: RunSides,
    worst: int,
) -> Outcome:
    observed, envelope = float(sides.observed[worst]), float(sides.envelope[worst])
    found.verdict, found.observed, found.envelope = Verdict.REFUTED, observed, envelope
    found.ratio = observed / envelope if envelope > 0 else None
    found.evidence = f"certified: replicate {replicate}, {sides.what} {worst}: {observed:.6g} is above {envelope:.6g}"
    content = audit_of(claim, form, case, replicate, case.sequence.horizon - 1) | {
        "what": f"{sides.what} {worst}",
        # nine digits of sums: the order in which they are added is the processor's
        "before": f"{envelope:.9g}",
        "after": f"{observed:.9g}",
    }
    found.certificate = Certificate(content, (observed, envelope), found.evidence)
    return found
