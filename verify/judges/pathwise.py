"""Judge of pathwise statements: every round of every run is looked at, and what looks bad is checked again.

A residual (observed minus envelope) above minus its rounding bound is only a screen. The worst such rounds
are rebuilt as exact instances and evaluated without rounding; only a certified gap refutes. Where the
learner's own probabilities are not those of the rule it declares, or a statement speaks of the whole
past, the certificate is the game itself, which can be played again bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ..certificates.make import played_certificate, shrink, violates, violation
from ..claim import Cell, Form, Judge
from ..exact.numbers import Interval
from ..games.game import checkpoints
from ..outcome import Certificate, Curve, CurvePoint, Evidence, Kind, Verdict

RECHECKED = 12
"""The most rounds of a cell that are evaluated exactly: those with the largest residuals."""

RECHECKED_AT_EQUALITY = 2
"""The same for a block in which no residual exceeds its rounding bound."""


@dataclass(frozen=True)
class Sides:
    """Both sides of an inequality in each of some rounds; all arrays of one shape (n,).

    Attributes
    ----------
    observed : the side that must not be larger
    envelope : the side that must not be smaller
    tolerance : bound on the rounding error of their difference
    live : where the inequality could fail at all; everywhere when None
    base : part of both sides that the second ratio leaves out (the comparator's loss), or None
    label : what each row speaks of, where it is not what the game shows in that round
    cumulative : whether both sides are sums from the first round on; then the ratio is read at the end
    comparators : by row, the comparator that stands for all others there, where it is not the one of the case
    """

    observed: FloatArray
    envelope: FloatArray
    tolerance: FloatArray
    live: BoolArray | None = None
    base: FloatArray | None = None
    label: IntArray | None = None
    cumulative: bool = False
    comparators: Mapping[int, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Suspect:
    """A round of a run that is to be looked at again, without rounding.

    Attributes
    ----------
    residual : observed minus envelope
    run, round : where, both from 0
    row : the round as the game keeps it, :meth:`~..games.game.Rounds.at`
    label : what the inequality speaks of there, where it is not what the game shows
    beyond_rounding : whether the residual exceeds its rounding bound
    comparator : whom the learner is compared with, where it is not the comparator of the case
    """

    residual: float
    run: int
    round: int
    row: Any
    label: int | None
    beyond_rounding: bool
    comparator: Any = None


SidesOf = Callable[[Any, Form, Any], Sides]
"""From a case, a form and a block of rounds to both sides."""


@dataclass(frozen=True)
class Pathwise(Judge):
    """The judge.

    Parameters
    ----------
    sides : both sides in the rounds of a block
    instance_of : the exact instance behind a suspect round, or None where there is none
    exact : both sides of such an instance in exact arithmetic; without these two a violation is certified by playing
        the game again
    kind : the word for it in results
    """

    sides: SidesOf
    instance_of: Callable[[Any, Suspect], Any] = lambda case, suspect: None
    exact: Callable[[Any, Form], tuple[Interval, Interval]] | None = None
    kind: Kind = Kind.PATHWISE
    instances: tuple[type[Any], ...] = ()

    def examine(self, cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
        watch = self.watch(cell)
        for run in range(runs):
            for rounds in cell.case.play(run, interpreted=interpreted):
                watch.see(run, rounds)
        return watch.evidence()

    def watch(self, cell: Cell) -> Watch:
        """A watcher for a cell."""
        return Watch(self, cell)

    def exact_sides(self, instance: Any, form: Form) -> tuple[Interval, Interval] | None:
        return None if self.exact is None else self.exact(instance, form)


@dataclass
class Watch:
    """A watcher for one form of one claim on a case: the rounds so far, by what the evidence needs of them."""

    judge: Pathwise
    cell: Cell
    rounds: int = 0
    live: int = 0
    runs: int = 0
    ratio: float = -np.inf
    highest: float = -np.inf
    regret_ratio: float | None = None
    worst: tuple[float, float] = (np.nan, np.nan)
    lacking: bool = False
    cumulative: bool = False
    first_bad: Suspect | None = None
    suspects: list[Suspect] = field(default_factory=list)
    curve: list[CurvePoint] = field(default_factory=list)

    def see(self, run: int, rounds: Any) -> None:
        """Look at the next block of a run."""
        if rounds.start == 0:
            self.runs += 1
        sides = self.judge.sides(rounds.case, self.cell.form, rounds)
        observed, envelope = sides.observed, sides.envelope
        self.rounds += len(rounds)
        self.cumulative = sides.cumulative
        live = np.ones(len(rounds), dtype=bool) if sides.live is None else sides.live
        self.live += int(np.count_nonzero(live))
        self._suspect(run, rounds, sides)
        if np.isnan(observed).any() or np.isnan(envelope).any():
            self.lacking = True
            return
        horizon = self.cell.case.horizon
        self._rank(sides, live, ends=rounds.start + len(rounds) == horizon)
        for i in _checkpoints(rounds, horizon) if sides.cumulative else ():
            at = rounds.start + i + 1
            self.curve.append((run, at, float(observed[i]), float(envelope[i]), np.nan))

    def _rank(self, sides: Sides, live: BoolArray, ends: bool) -> None:
        """Keep the largest ratios; at rounding size they would say nothing."""
        readable = live & (sides.envelope > 1e3 * sides.tolerance)
        if not readable.any():
            return
        ratios = np.full(len(live), -np.inf)
        np.divide(sides.observed, sides.envelope, out=ratios, where=readable)
        base = np.zeros(len(live)) if sides.base is None else sides.base
        room = (
            sides.envelope - base
        )  # the comparator's loss stands on both sides, and no constant could shrink it
        tight = readable & (room > 1e3 * sides.tolerance)
        if tight.any():
            regrets = (sides.observed - base)[tight] / room[tight]
            self.highest = max(self.highest, float(regrets.max()))
        at = len(live) - 1 if sides.cumulative else int(np.argmax(ratios))
        if (ends or not sides.cumulative) and ratios[at] > self.ratio:
            self.ratio = float(ratios[at])
            self.worst = (float(sides.observed[at]), float(sides.envelope[at]))
            if sides.base is not None:
                room = sides.envelope[at] - sides.base[at]
                regret = sides.observed[at] - sides.base[at]
                self.regret_ratio = float(regret / room) if room > 0 else None

    def _suspect(self, run: int, rounds: Any, sides: Sides) -> None:
        residual = sides.observed - sides.envelope
        positions = np.flatnonzero(residual > -sides.tolerance)
        if not positions.size:
            return
        beyond = residual > sides.tolerance
        most = RECHECKED if beyond.any() else RECHECKED_AT_EQUALITY
        chosen = positions[np.argsort(-residual[positions], kind="stable")[:most]].tolist()

        def describe(i: int) -> Suspect:
            return Suspect(
                float(sides.observed[i] - sides.envelope[i]),
                run,
                rounds.start + i,
                rounds.at(i),
                None if sides.label is None else int(sides.label[i]),
                bool(beyond[i]),
                sides.comparators.get(i),
            )

        if self.first_bad is None and beyond.any():
            self.first_bad = describe(int(np.argmax(beyond)))
        merged = sorted(self.suspects + [describe(i) for i in chosen], key=lambda s: -s.residual)
        self.suspects = merged[: RECHECKED if self.first_bad else RECHECKED_AT_EQUALITY]

    def evidence(self) -> Evidence:
        """All that was seen, once every run has been."""
        found = Evidence(live=self.live, runs=self.runs, rounds=self.rounds)
        found.curve = Curve.of(self.curve) if self.curve else None
        if self.lacking and self.first_bad is None:
            found.unmet = "the learner does not provide the numbers that the claim needs"
            return found
        if self.live == 0:
            found.says = f"in none of {self.rounds} rounds could it fail"
            return found
        if np.isfinite(self.ratio):
            found.observed, found.envelope = self.worst
            found.ratio = self.ratio
            found.headroom = 1 / self.highest if self.highest > 0 else None
            found.regret_ratio = self.regret_ratio
        checked, certificate = self._certify()
        found.says = f"{self.live} rounds in {self.runs} runs, {checked} of them checked exactly"
        share = self.live / self.rounds
        if share < 1:
            found.flags = (f"live in {percentage(share)} of rounds",)
        if certificate is not None:
            self._refuted(found, certificate)
        elif self.first_bad is not None:
            who = "learner and adversary" if self.cell.case.is_adaptive else "learner"
            found.trouble = (
                f"the violation in run {self.first_bad.run}, round {self.first_bad.round} is not"
                f" there when the game is played again: expected a deterministic {who}, with randomness"
                " from a seed and no state shared between instances"
            )
        return found

    def _refuted(self, found: Evidence, certificate: Certificate) -> None:
        found.refutes, found.certify = True, lambda: certificate
        if found.ratio is None or found.ratio <= 1:  # sums may recover after the violation
            found.observed, found.envelope = certificate.values
            found.ratio = found.observed / found.envelope if found.envelope > 0 else None
            found.regret_ratio = None
        words = f"certified: {certificate.where}"
        if self.first_bad is not None:
            first = f"run {self.first_bad.run}, round {self.first_bad.round}"
            if first not in words:
                words += f"; first bad: {first}"
        found.more[Verdict.REFUTED] = words

    def _certify(self) -> tuple[int, Certificate | None]:
        """Evaluate the worst suspects exactly; return how many, and a certificate if one refutes."""
        claim, form, case = self.cell.claim, self.cell.form, self.cell.case
        checked: list[Any] = []
        # sums are refuted by the shortest prefix that does it, rounds by any round
        suspects = self.suspects
        if self.cumulative:
            suspects = [] if self.first_bad is None else [self.first_bad]
        for suspect in suspects if self.judge.exact else ():
            instance = self.judge.instance_of(case, suspect)
            if instance is not None:
                checked.append(instance)
        refuting = [each for each in checked if violation(claim, form, each)]
        if (proof := shrink(claim, form, refuting)) is not None:
            return len(checked), proof
        if self.first_bad is not None:
            bad = self.first_bad
            played = played_certificate(
                self.cell, self.judge.sides, bad.run, bad.round, bad.comparator
            )
            return len(checked), played if violates(played) else None
        return len(checked), None


def percentage(share: float) -> str:
    """A share strictly between 0 and 1 in per cent, in as many digits as tell it from 0 and from 100."""
    digits = 0
    while float(f"{100 * share:.{digits}f}") in (0, 100):
        digits += 1
    return f"{100 * share:.{digits}f}%"


def _checkpoints(rounds: Any, horizon: int) -> list[int]:
    """Positions in the block at which a curve is kept."""
    positions = checkpoints(horizon) - 1 - rounds.start
    return [int(i) for i in positions if 0 <= i < len(rounds)]
