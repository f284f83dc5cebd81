"""Judge of statements about expectations: E[X] <= E[Y], both sides from the same run.

X collects the terms that may be large, Y those with a sure ceiling F, so X - Y >= -F surely and the bets of
evidence.py apply. F comes from the formula before play. Where the statement says E[X] <= max of two
expectations, both nulls must fall: the smaller of the two e-values counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import FloatArray
from ..certificates.make import statistical_certificate
from ..claim import Claim, Form, Verdict
from ..games.labels.case import Case
from ..games.labels.run_sums import Ledger, play_ledgers
from .evidence import LEVEL, headroom_of_mean, log_wealths, refuting, runs_to_refute
from .pathwise import Curve, Outcome

FEWEST_RUNS = 32
"""Fewer runs than this do not make a ``holds``."""


@dataclass(frozen=True)
class Bound:
    """One envelope: ``values`` with one entry a run, and their sure ceiling."""

    values: FloatArray
    ceiling: float

    @property
    def room(self) -> float:
        """The ceiling, or a little for a ceiling of 0: a larger one is as sure, and can be divided by."""
        return max(self.ceiling, 1e-9)


@dataclass(frozen=True)
class MeanSides:
    """Both sides of a statement about expectations.

    Attributes
    ----------
    observed : X, at least 0, one entry a run
    bounds : envelopes Y; the statement bounds E[X] by the largest of their means
    base : the part of the envelopes that is the comparator's loss, one entry a run
    least : the smallest value that the envelope can take, for any learner
    most : the largest value that X can take, for any learner
    guess : mean of X for the uniform guesser
    bites : the horizon from which the envelope bites, in a few words
    """

    observed: FloatArray
    bounds: tuple[Bound, ...]
    base: FloatArray
    least: float
    most: float
    guess: float
    bites: str


SidesOf = Callable[[Case, Form, Ledger], MeanSides]
Play = Callable[[int], Iterator[tuple[int, MeanSides]]]
"""From a number of runs to both sides after the whole of them, then after prefixes, with the numbers of rounds."""


def examine_mean(
    sides_of: SidesOf,
    claim: Claim,
    form: Form,
    case: Case,
    replicates: int,
    *,
    interpreted: bool = False,
) -> Outcome:
    """Play the runs and judge the means of the two sides."""

    def play(runs: int) -> Iterator[tuple[int, MeanSides]]:
        ledgers = play_ledgers(case, range(runs), interpreted=interpreted)
        return ((ledger.rounds, sides_of(case, form, ledger)) for ledger in reversed(ledgers))

    return judge_mean(play, claim, form, case, replicates)


def judge_mean(play: Play, claim: Claim, form: Form, case: Case, replicates: int) -> Outcome:
    """Judge the means of the two sides in so many runs."""
    _, probe = next(play(1))
    if probe.least >= probe.most:  # whatever the runs do, so one is enough
        replicates = 1
    played = list(play(replicates))
    _, sides = played[0]
    means = [float(bound.values.mean()) for bound in sides.bounds]
    binding = int(np.argmax(means))
    observed, envelope = float(sides.observed.mean()), means[binding]
    base = float(sides.base.mean())
    found = Outcome(
        Verdict.UNDECIDED,
        observed=observed,
        envelope=envelope,
        ratio=observed / envelope if envelope > 0 else None,
        regret_ratio=(observed - base) / (envelope - base) if envelope > base else None,
        runs=replicates,
        rounds=replicates * case.sequence.horizon,
        sampled=True,
        curve=Curve.joined([_point(rounds, prefix) for rounds, prefix in reversed(played)]),
    )
    lowest = max(float(bound.values.min()) for bound in sides.bounds)
    if max(sides.least, lowest) >= sides.most:
        found.verdict = Verdict.VACUOUS
        found.evidence = f"the envelope is at least {sides.most:g} in every run; {sides.bites}"
        return found
    flags = []
    if envelope >= sides.guess:
        flags.append("weak")
    if base > 0 and observed <= base:
        flags.append("comparator-dominated")
    found.flags = tuple(flags)
    scaled = [(sides.observed - bound.values) / bound.room for bound in sides.bounds]
    wealth = min(float(log_wealths(z).max()) for z in scaled)
    found.evidence = f"log10 e-value {wealth / math.log(10):.2f} of {-math.log10(LEVEL):.0f} needed"
    if wealth >= -math.log(LEVEL):
        found.verdict = Verdict.REFUTED
        numbers = {
            "observed": [repr(x) for x in sides.observed.tolist()],
            "envelopes": [[repr(y) for y in b.values.tolist()] for b in sides.bounds],
            "ceilings": [repr(float(bound.ceiling)) for bound in sides.bounds],
            "log_e_value": f"{wealth:.9g}",
        }
        found.certificate = statistical_certificate(
            claim, form, case, replicates, (observed, envelope), found.evidence, numbers
        )
        return found
    bound = sides.bounds[binding]
    found.headroom = headroom_of_mean(sides.observed, bound.values, bound.room)
    if replicates >= FEWEST_RUNS and observed <= envelope:
        found.verdict = Verdict.HOLDS
        return found
    if observed <= envelope:
        found.evidence += f"; {FEWEST_RUNS} runs are needed"
    else:
        known = [n for z in scaled if (n := runs_to_refute(z)) is not None]
        every = len(known) == len(scaled)  # it takes all of the bounds
        found.evidence += f"; {refuting(max(known) if every else None)}"
    return found


def _point(rounds: int, sides: MeanSides) -> Curve:
    """The runs after so many rounds, with the envelope whose mean is the largest there."""
    binding = max(sides.bounds, key=lambda bound: float(bound.values.mean()))
    return Curve.of_runs(rounds, sides.observed, binding.values)
