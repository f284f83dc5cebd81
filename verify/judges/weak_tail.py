"""Judge of statements about weak learners: "with probability at least 1 - delta", over runs of the weak-learning game.

A run violates where what is observed of it exceeds a number that is known before play. The bets are those of tail.py.
Of a user's weak learner, which is slow, a few runs are played at first, then twice as many, and no more once they
refute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import FloatArray
from ..certificates.make import statistical_certificate
from ..claim import Claim, Form, Verdict
from ..games.labels.run_sums import checkpoints
from ..games.weak.case import WeakCase
from .evidence import refutes
from .pathwise import Curve, Outcome
from .tail import decide

A_FEW = 8
"""Runs in which a weak learner that always fails is refuted, at delta = 0.05."""


@dataclass(frozen=True)
class WeakBound:
    """What must not be exceeded with probability more than delta.

    Attributes
    ----------
    delta : in (0, 1)
    envelope : after each round, shape (T,)
    most : what any weak learner can reach there
    guess : what one that guesses reaches in the mean at the end
    words : the numbers behind the envelope
    """

    delta: float
    envelope: FloatArray
    most: float
    guess: float
    words: str


Observe = Callable[[WeakCase, int, int], FloatArray]
"""Of a number of runs, and the first of them: what is observed after each round, shape (R, T)."""

BoundOf = Callable[[WeakCase], WeakBound]


def in_parts(case: WeakCase, replicates: int) -> Iterator[range]:
    """The runs in the parts in which they are played."""
    first = 0
    while first < replicates:
        size = max(A_FEW, first) if case.is_own else replicates
        yield range(first, min(first + size, replicates))
        first += size


def examine_weak(
    observe: Observe,
    bound_of: BoundOf,
    claim: Claim,
    form: Form,
    case: WeakCase,
    replicates: int,
    *,
    interpreted: bool = False,
) -> Outcome:
    """Play the runs and judge how often the bound was exceeded at the last round."""
    bound = bound_of(case)
    envelope = float(bound.envelope[-1])
    if envelope >= bound.most:
        return Outcome(
            Verdict.VACUOUS,
            envelope=envelope,
            evidence=f"no weak learner can exceed {bound.words} in {case.horizon} rounds",
        )
    parts: list[FloatArray] = []
    ends = np.zeros(0)
    at = checkpoints(case.horizon) - 1
    for runs in in_parts(case, replicates):
        found = observe(case, len(runs), runs.start)
        parts.append(found[:, at])
        ends = np.concatenate([ends, found[:, -1]])
        violations = (ends > envelope).astype(np.float64)
        if refutes((violations - bound.delta) / bound.delta):
            break
    observed = float(ends.max())
    outcome = Outcome(
        Verdict.UNDECIDED,
        observed=observed,
        envelope=envelope,
        ratio=observed / envelope if envelope > 0 else None,
        headroom=envelope / observed if observed > 0 else None,
        runs=len(ends),
        rounds=len(ends) * case.horizon,
        flags=("weak",) if envelope >= bound.guess else (),
        sampled=True,
        curve=Curve.of_paths(at + 1, np.concatenate(parts), bound.envelope[at], bound.delta),
    )
    wealth = decide(outcome, {bound.delta: ends > envelope})
    outcome.evidence += f"; {bound.words}"
    if outcome.verdict == Verdict.REFUTED:
        numbers = {
            "observed": [repr(x) for x in ends.tolist()],
            "log_e_value": f"{wealth:.9g}",
        }
        outcome.certificate = statistical_certificate(
            claim, form, case, len(ends), (observed, envelope), outcome.evidence, numbers
        )
    return outcome
