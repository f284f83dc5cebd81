"""Judges of pathwise claims: every round of every run is looked at, and what looks bad is checked again.

A residual (observed minus envelope) above minus its rounding bound is only a screen. The worst such rounds
are rebuilt as exact instances and evaluated without rounding; only a certified gap refutes. Where the
learner's own probabilities are not those of the rule it declares, or a statement speaks of the whole
past, the certificate is the game itself, which can be played again bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from ...arrays import FloatArray, IntArray
from ..certificates.instances import Instance
from ..certificates.make import (
    AnyCase,
    Certificate,
    exact_certificate,
    length,
    played_certificate,
    violates,
    violation,
)
from ..claim import Claim, Form, Kind, Sides, Suspect, Verdict
from ..games.labels.case import Case, Rounds
from ..games.labels.run_sums import checkpoints
from .frontier import Frontiers

RECHECKED = 12
"""How many rounds of a cell, those with the largest residuals, are evaluated exactly at most."""

RECHECKED_AT_EQUALITY = 2
"""The same for a block in which no residual exceeds its rounding bound."""


@dataclass(frozen=True)
class Curve:
    """Both sides of runs after some numbers of rounds, for the report; each array has shape (points,).

    Attributes
    ----------
    replicate, rounds : of which run, after how many rounds
    observed, envelope : the two sides
    delta : the probability that the envelope may be exceeded; NaN where the statement names none
    """

    replicate: IntArray
    rounds: IntArray
    observed: FloatArray
    envelope: FloatArray
    delta: FloatArray

    @classmethod
    def of(cls, points: Sequence[CurvePoint]) -> Curve:
        """The curve through single points."""
        columns = np.array(points, dtype=np.float64).reshape(len(points), 5).T
        return cls(columns[0].astype(np.int64), columns[1].astype(np.int64), *columns[2:])

    @classmethod
    def of_runs(
        cls, rounds: int, observed: FloatArray, envelope: FloatArray, delta: float = np.nan
    ) -> Curve:
        """One point of each run: all after the same number of rounds."""
        n = len(observed)
        return cls(np.arange(n), np.full(n, rounds), observed, envelope, np.full(n, delta))

    @classmethod
    def of_paths(
        cls, rounds: IntArray, observed: FloatArray, envelope: FloatArray, delta: float = np.nan
    ) -> Curve:
        """Runs under one envelope, shape (n,), after the same numbers of rounds; ``observed`` has shape (R, n)."""
        runs, n = observed.shape
        return cls(
            np.repeat(np.arange(runs), n),
            np.tile(rounds, runs),
            observed.ravel(),
            np.tile(envelope, runs),
            np.full(observed.size, delta),
        )

    @classmethod
    def joined(cls, curves: Sequence[Curve]) -> Curve:
        """Several curves as one."""
        return cls(
            *(np.concatenate([getattr(curve, f.name) for curve in curves]) for f in fields(cls))
        )


CurvePoint = tuple[int, int, float, float, float]
"""Replicate, number of rounds, observed side, envelope, delta."""


@dataclass
class Outcome:
    """What a judge found in one cell; the fields are those of the JSON results."""

    verdict: Verdict
    observed: float | None = None
    envelope: float | None = None
    ratio: float | None = None
    regret_ratio: float | None = None
    headroom: float | None = None
    evidence: str = ""
    runs: int = 0
    rounds: int = 0
    flags: tuple[str, ...] = ()
    certificate: Certificate | None = None
    sampled: bool = False
    """Whether a false alarm is possible, at the level of one sampled cell."""
    curve: Curve | None = field(default=None, repr=False)
    """Both sides over the rounds, for the report."""
    frontiers: Frontiers | None = field(default=None, repr=False)
    """What a claim about a frontier found, for the report."""


@dataclass
class Watch:
    """What one form of one claim has seen of a case."""

    claim: Claim
    form: Form
    case: Case
    rounds: int = 0
    live: int = 0
    runs: int = 0
    ratio: float = -np.inf
    highest: float = -np.inf
    regret_ratio: float | None = None
    worst: tuple[float, float] = (np.nan, np.nan)
    missing: bool = False
    cumulative: bool = False
    first_bad: Suspect | None = None
    suspects: list[Suspect] = field(default_factory=list)
    curve: list[CurvePoint] = field(default_factory=list)

    def see(self, replicate: int, rounds: Rounds) -> None:
        """Look at the next block of a replicate."""
        if rounds.block.start == 0:
            self.runs += 1
        assert self.claim.sides is not None
        sides = self.claim.sides(self.case, self.form, rounds)
        observed, envelope = sides.observed, sides.envelope
        self.rounds += len(rounds)
        self.cumulative = sides.cumulative
        live = np.ones(len(rounds), dtype=bool) if sides.live is None else sides.live
        self.live += int(np.count_nonzero(live))
        self._suspect(replicate, rounds, sides)
        if np.isnan(observed).any() or np.isnan(envelope).any():
            self.missing = True
            return
        horizon = self.case.sequence.horizon
        self._rank(sides, live, ends=rounds.block.start + len(rounds) == horizon)
        for i in _checkpoints(rounds, horizon) if sides.cumulative else ():
            at = rounds.block.start + i + 1
            self.curve.append((replicate, at, float(observed[i]), float(envelope[i]), np.nan))

    def _rank(self, sides: Sides, live: NDArray[np.bool_], ends: bool) -> None:
        """Keep the largest ratios; at rounding size they would say nothing."""
        readable = live & (sides.envelope > 1e3 * sides.tolerance)
        if not readable.any():
            return
        ratios = np.full(len(live), -np.inf)
        np.divide(sides.observed, sides.envelope, out=ratios, where=readable)
        self.highest = max(self.highest, float(ratios.max()))
        at = len(live) - 1 if sides.cumulative else int(np.argmax(ratios))
        if (ends or not sides.cumulative) and ratios[at] > self.ratio:
            self.ratio = float(ratios[at])
            self.worst = (float(sides.observed[at]), float(sides.envelope[at]))
            if sides.base is not None:
                room = sides.envelope[at] - sides.base[at]
                regret = sides.observed[at] - sides.base[at]
                self.regret_ratio = float(regret / room) if room > 0 else None

    def _suspect(self, replicate: int, rounds: Rounds, sides: Sides) -> None:
        residual = sides.observed - sides.envelope
        positions = np.flatnonzero(residual > -sides.tolerance)
        if not positions.size:
            return
        beyond = residual > sides.tolerance
        most = RECHECKED if beyond.any() else RECHECKED_AT_EQUALITY
        chosen = positions[np.argsort(-residual[positions], kind="stable")[:most]].tolist()
        if self.first_bad is None and beyond.any():
            first = int(np.argmax(beyond))
            self.first_bad = self._describe(replicate, rounds, sides, first, True)
        found = [self._describe(replicate, rounds, sides, i, bool(beyond[i])) for i in chosen]
        merged = sorted(self.suspects + found, key=lambda suspect: -suspect.residual)
        self.suspects = merged[: RECHECKED if self.first_bad else RECHECKED_AT_EQUALITY]

    def _describe(
        self, replicate: int, rounds: Rounds, sides: Sides, i: int, beyond: bool
    ) -> Suspect:
        block = rounds.block
        gamma = self.case.declaration.gamma
        return Suspect(
            residual=float(sides.observed[i] - sides.envelope[i]),
            replicate=replicate,
            round=block.start + i,
            label=int(block.labels[i] if sides.label is None else sides.label[i]),
            counter=1 if gamma is None else int(rounds.counters[i]),
            scores=tuple(block.scores[i].tolist()),
            probabilities=tuple(block.probabilities[i].tolist()),
            beyond_rounding=beyond,
        )

    def outcome(self) -> Outcome:
        """Decide, once every replicate has been seen."""
        found = Outcome(Verdict.HOLDS, runs=self.runs, rounds=self.rounds)
        found.curve = Curve.of(self.curve) if self.curve else None
        if self.missing and self.first_bad is None:
            found.verdict = Verdict.NOT_APPLICABLE
            found.evidence = "the learner does not provide the numbers that the claim needs"
            return found
        if self.live == 0:
            found.verdict = Verdict.VACUOUS
            found.evidence = f"in none of {self.rounds} rounds could it fail"
            return found
        if np.isfinite(self.ratio):
            found.observed, found.envelope = self.worst
            found.ratio = self.ratio
            found.headroom = 1 / self.highest if self.highest > 0 else None
            found.regret_ratio = self.regret_ratio
        checked, certificate = self._certify()
        found.certificate = certificate
        share = self.live / self.rounds
        if share < 1:
            found.flags = (f"live in {percentage(share)} of rounds",)
        if certificate is not None:
            found.verdict = Verdict.REFUTED
            if found.ratio is None or found.ratio <= 1:  # sums may recover after the violation
                found.observed, found.envelope = certificate.values
                found.ratio = found.observed / found.envelope if found.envelope > 0 else None
                found.regret_ratio = None
            found.headroom = None
            found.evidence = f"certified: {certificate.where}"
            if self.first_bad is not None:
                first = f"replicate {self.first_bad.replicate}, round {self.first_bad.round}"
                if first not in found.evidence:
                    found.evidence += f"; first bad: {first}"
        elif self.first_bad is not None:
            found.verdict = Verdict.ERROR
            found.evidence = (
                f"the violation in replicate {self.first_bad.replicate}, round {self.first_bad.round} is not"
                " there when the game is played again: expected a deterministic learner, with randomness"
                " from a seed and no state shared between instances"
            )
        else:
            found.evidence = (
                f"{self.live} rounds in {self.runs} runs, {checked} of them checked exactly"
            )
        return found

    def _certify(self) -> tuple[int, Certificate | None]:
        """Evaluate the worst suspects exactly; return how many, and a certificate if one refutes."""
        checked: list[Instance] = []
        # sums are refuted by the shortest prefix that does it, rounds by any round
        suspects = self.suspects
        if self.cumulative:
            suspects = [] if self.first_bad is None else [self.first_bad]
        for suspect in suspects if self.claim.certify else ():
            instance = self.claim.instance_of(self.case, suspect)
            if instance is not None:
                checked.append(instance)
        refuting = [each for each in checked if violation(self.claim, self.form, each)]
        if (proof := shrink(self.claim, self.form, refuting)) is not None:
            return len(checked), proof
        if self.first_bad is not None:
            bad = self.first_bad
            played = played_certificate(self.claim, self.form, self.case, bad.replicate, bad.round)
            return len(checked), played if violates(played) else None
        return len(checked), None


def percentage(share: float) -> str:
    """A share strictly between 0 and 1 in per cent, in as many digits as tell it from 0 and from 100."""
    digits = 0
    while float(f"{100 * share:.{digits}f}") in (0, 100):
        digits += 1
    return f"{100 * share:.{digits}f}%"


def shrink(claim: Claim, form: Form, refuting: Iterable[Instance]) -> Certificate | None:
    """The certificate of the shortest of some instances that refute, after its numbers were made simpler, one at a
    time, while it still refutes."""
    found = sorted(refuting, key=length, reverse=True)
    while found:
        shortest = found[-1]
        shorter = (each for each in shortest.simpler() if length(each) < length(shortest))
        better = next((each for each in shorter if violation(claim, form, each)), None)
        if better is None:
            break
        found.append(better)
    proofs = (exact_certificate(claim, form, each) for each in reversed(found))
    return next((proof for proof in proofs if proof is not None), None)


def _checkpoints(rounds: Rounds, horizon: int) -> list[int]:
    """Positions in the block at which a curve is kept."""
    positions = checkpoints(horizon) - 1 - rounds.block.start
    return [int(i) for i in positions if 0 <= i < len(rounds)]


def judge_case(
    case: AnyCase,
    forms: Sequence[tuple[Claim, Form]],
    replicates: int,
    sampled_runs: int | None = None,
) -> list[tuple[Claim, Form, Outcome]]:
    """Play a case, let every form look at every round, and decide; replicates are taken in order.

    Claims about means, tails and frontiers play ``sampled_runs`` of them, if given.
    """
    watches: dict[tuple[str, str], Watch] = {}
    if isinstance(case, Case):  # what weak learners do is examined by their claims alone
        watches = {
            (claim.id, form.name): Watch(claim, form, case)
            for claim, form in forms
            if claim.examine is None
        }
        for replicate in range(replicates if watches else 0):
            for rounds in case.replicate(replicate):
                for watch in watches.values():
                    watch.see(replicate, rounds)
    judged: list[tuple[Claim, Form, Outcome]] = []
    for claim, form in forms:
        if claim.examine is not None:
            sampled = claim.kind in (Kind.MEAN, Kind.TAIL, Kind.FRONTIER)
            runs = sampled_runs if sampled and sampled_runs else replicates
            judged.append((claim, form, claim.examine(claim, form, case, runs)))
        else:
            judged.append((claim, form, watches[claim.id, form.name].outcome()))
    return judged
