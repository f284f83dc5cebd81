"""Judge of statements about expectations: E[X] <= E[Y], both sides from the same run.

X collects the terms that may be large, Y those with a sure ceiling F, so X - Y >= -F surely and the bets of
betting.py apply. F comes from the formula before play. Where the statement says E[X] <= max of two
expectations, both nulls must fall: the smaller of the two e-values counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import FloatArray
from ..certificates.make import statistical_certificate
from ..claim import Cell, Form, Judge
from ..exact.numbers import Interval
from ..games.game import checkpoints
from ..outcome import Curve, Evidence, Kind, Verdict
from .betting import headroom_of_mean, log_wealths, refuting, runs_to_refute
from .decide import LEVEL, exceeds_level

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
    non_vacuous : the horizon from which the envelope is below that, in a few words
    """

    observed: FloatArray
    bounds: tuple[Bound, ...]
    base: FloatArray
    least: float
    most: float
    guess: float
    non_vacuous: str


SidesOf = Callable[[Any, Form, Any], MeanSides]
"""From a case, a form and the totals of some runs to both sides."""

Play = Callable[[Cell, range, bool], Iterator[tuple[int, Any]]]
"""From a cell, some runs and whether they are interpreted to both sides after the whole of them, then after prefixes,
with the numbers of rounds."""


def play_totals(sides: Callable[[Any, Form, Any], Any], fresh: bool = False) -> Play:
    """Both sides from the totals of a game at its checkpoints; with ``fresh`` every run has data of its own."""

    def play(cell: Cell, runs: range, interpreted: bool) -> Iterator[tuple[int, Any]]:
        marks = checkpoints(cell.case.horizon).tolist()
        totals = cell.case.totals_at(marks, runs, interpreted=interpreted, fresh=fresh)
        for each in reversed(totals):
            yield each.rounds, sides(cell.case, cell.form, each)

    return play


@dataclass(frozen=True)
class Mean(Judge):
    """The judge.

    Parameters
    ----------
    sides : both sides from the totals of some runs
    play : both sides otherwise, for what a game does not add up
    computed : the evidence without sampling, for cells in which both expectations can be computed; None for others
    exact : both sides of an exact instance, where the claim has some
    instances : kinds of instances of the claim's own
    """

    sides: SidesOf | None = None
    play: Play | None = None
    computed: Callable[[Cell], Evidence | None] = lambda cell: None
    exact: Callable[[Any, Form], tuple[Interval, Interval]] | None = None
    instances: tuple[type[Any], ...] = ()
    kind: ClassVar[Kind] = Kind.MEAN
    sampled: ClassVar[bool] = True

    def exact_sides(self, instance: Any, form: Form) -> tuple[Interval, Interval] | None:
        return None if self.exact is None else self.exact(instance, form)

    def examine(self, cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
        if (computed := self.computed(cell)) is not None:
            return computed
        play = self.play
        if play is None:
            assert self.sides is not None
            play = play_totals(self.sides)
        _, probe = next(play(cell, range(1), interpreted))
        if probe.least >= probe.most:  # whatever the runs do, so one is enough
            runs = 1
        played = list(play(cell, range(runs), interpreted))
        _, sides = played[0]
        means = [float(bound.values.mean()) for bound in sides.bounds]
        binding = int(np.argmax(means))
        observed, envelope = float(sides.observed.mean()), means[binding]
        base = float(sides.base.mean())
        found = Evidence(
            observed,
            envelope,
            ratio=observed / envelope if envelope > 0 else None,
            regret_ratio=(observed - base) / (envelope - base) if envelope > base else None,
            runs=runs,
            rounds=runs * cell.case.horizon,
            sampled=True,
            curve=Curve.joined([_point(rounds, prefix) for rounds, prefix in reversed(played)]),
        )
        lowest = max(float(bound.values.min()) for bound in sides.bounds)
        if max(sides.least, lowest) >= sides.most:
            found.live = 0
            found.says = (
                f"the envelope is at least {sides.most:g} in every run; {sides.non_vacuous}"
            )
            return found
        found.flags = tuple(
            flag
            for flag, flagged in (
                ("weak", envelope >= sides.guess),
                ("comparator-dominated", base > 0 and observed <= base),
            )
            if flagged
        )
        scaled = [(sides.observed - bound.values) / bound.room for bound in sides.bounds]
        wealth = min(float(log_wealths(z).max()) for z in scaled)
        words = f"log10 e-value {wealth / math.log(10):.2f} of {-math.log10(LEVEL):.0f} needed"
        found.says = found.more[Verdict.REFUTED] = words
        found.refutes = exceeds_level(wealth)
        if found.refutes:
            numbers = {
                "observed": [repr(x) for x in sides.observed.tolist()],
                "envelopes": [[repr(y) for y in b.values.tolist()] for b in sides.bounds],
                "ceilings": [repr(float(bound.ceiling)) for bound in sides.bounds],
                "log_e_value": f"{wealth:.9g}",
            }
            values = (observed, envelope)
            found.certify = lambda: statistical_certificate(cell, runs, values, words, numbers)
            return found
        bound = sides.bounds[binding]
        found.headroom = headroom_of_mean(sides.observed, bound.values, bound.room)
        found.enough = runs >= FEWEST_RUNS and observed <= envelope
        if observed > envelope:
            known = [n for z in scaled if (n := runs_to_refute(z)) is not None]
            every = len(known) == len(scaled)  # it takes all of the bounds
            found.says += f"; {refuting(max(known) if every else None)}"
        elif not found.enough:
            found.says += f"; {FEWEST_RUNS} runs are needed"
        return found


def _point(rounds: int, sides: MeanSides) -> Curve:
    """The runs after so many rounds, with the envelope whose mean is the largest there."""
    binding = max(sides.bounds, key=lambda bound: float(bound.values.mean()))
    return Curve.of_runs(rounds, sides.observed, binding.values)
