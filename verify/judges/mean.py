"""Judge of statements about expectations: E[X] <= E[Y], both sides from the same run.

X collects the terms that may be large, Y those with a sure ceiling F, so X - Y >= -F surely and the bets of
betting.py apply. F comes from the formula before play. Where the statement says E[X] <= max of two
expectations, both nulls must fall: the smaller of the two e-values counts, at each checkpoint and after each run.

A statement for every T is judged at prefixes of the runs too, see prefixes.py. ``holds`` asks for at least
``FEWEST_RUNS`` runs, a mean of X at T that is at most that of Y, and no prefix at which it is above by more than noise.
"""

from __future__ import annotations

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
from .betting import exceeds_noise, headroom_of, log_wealths, refuting, runs_to_refute
from .decide import exceeds_level
from .prefixes import Checkpoints, Found

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
    bounds : envelopes Y, as many at each T; the statement bounds E[X] by the largest of their means
    base : the part of the envelopes that is the comparator's loss, one entry a run
    least : the smallest value that the envelope can take, for any learner, by the formula alone and not by the runs
    most : the largest value that X can take, in the same way
    guess : mean of X for the uniform guesser
    non_vacuous : the horizon from which the envelope is below that, in a few words
    most_base : the largest value that ``base`` can take; the ceiling of the envelope where None, 0 where it is 0 in all
        runs
    """

    observed: FloatArray
    bounds: tuple[Bound, ...]
    base: FloatArray
    least: float
    most: float
    guess: float
    non_vacuous: str
    most_base: float | None = None


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
        probe = list(play(cell, range(1), interpreted))
        if probe[0][1].least >= probe[0][1].most:  # whatever the runs do, so one is enough
            runs = 1
        chosen = Checkpoints.before_play(
            cell, {rounds: each.least < each.most for rounds, each in probe}
        )
        played = list(play(cell, range(runs), interpreted))
        curve = Curve.joined([_point(rounds, prefix) for rounds, prefix in reversed(played)])
        _, sides = played[0]
        found = _compared(sides, runs, runs * cell.case.horizon, curve)
        lowest = max(float(bound.values.min()) for bound in sides.bounds)
        if max(sides.least, lowest) >= sides.most:
            found.live = 0
            found.says = (
                f"the envelope is at least {sides.most:g} in every run; {sides.non_vacuous}"
            )
            return found
        chosen = chosen.after_play(cell.case)
        judged = [dict(played)[rounds] for rounds in chosen.rounds]
        bets = chosen.found(_log_e_values(judged))
        found.tested_from = chosen.rounds[0]
        found.refutes = exceeds_level(bets.log_e_value)
        if found.refutes:
            return _refuted(cell, found, judged[bets.decisive], bets)
        found.says = f"{bets.says}; {chosen.says}"
        found.headroom = headroom_of(
            lambda s: float(chosen.average(_log_e_values(judged, s)).max())
        )
        _settle(found, judged, bets)
        return found


def _compared(sides: MeanSides, runs: int, rounds: int, curve: Curve | None) -> Evidence:
    """Both sides in the mean."""
    means = [float(bound.values.mean()) for bound in sides.bounds]
    observed, envelope = float(sides.observed.mean()), max(means)
    base = float(sides.base.mean())
    flags = (
        ("weak", envelope >= sides.guess),
        ("comparator-dominated", base > 0 and observed <= base),
    )
    return Evidence(
        observed,
        envelope,
        ratio=observed / envelope if envelope > 0 else None,
        regret_ratio=(observed - base) / (envelope - base) if envelope > base else None,
        runs=runs,
        rounds=rounds,
        flags=tuple(flag for flag, flagged in flags if flagged),
        sampled=True,
        curve=curve,
    )


def _bets(sides: MeanSides, s: float = 1.0) -> FloatArray:
    """Z against each envelope, shape (bounds, n), of which ``s`` times what it leaves for the regret is taken.

    With B the comparator's loss, X - B - s (Y - B) is at least -(s F + (1 - s) max B) for s <= 1, and -s F for larger
    s, as B <= Y.
    """
    found = []
    for bound in sides.bounds:
        base, room = np.minimum(sides.base, bound.values), bound.room
        most = room if sides.most_base is None and base.any() else min(room, sides.most_base or 0.0)
        shrunk = base + s * (bound.values - base)
        found.append((sides.observed - shrunk) / (s * room + max(0.0, 1 - s) * most))
    return np.stack(found)


def _log_e_values(judged: list[MeanSides], s: float = 1.0) -> FloatArray:
    """Logarithm of the e-value of each checkpoint after each run, shape (m, n): the smaller one of those against each
    of the envelopes, shrunk by ``s`` but for the comparator's loss."""
    return np.asarray(log_wealths(np.stack([_bets(each, s) for each in judged])).min(axis=1))


def _refuted(cell: Cell, found: Evidence, sides: MeanSides, bets: Found) -> Evidence:
    """The evidence of a refutation, with both sides where it comes from."""
    at = _compared(sides, found.runs, found.rounds, found.curve)
    found.observed, found.envelope = at.observed, at.envelope
    found.ratio, found.regret_ratio = at.ratio, at.regret_ratio
    found.says = found.more[Verdict.REFUTED] = bets.says
    numbers = {
        "observed": [repr(x) for x in sides.observed.tolist()],
        "envelopes": [[repr(y) for y in b.values.tolist()] for b in sides.bounds],
        "ceilings": [repr(float(bound.ceiling)) for bound in sides.bounds],
    }
    assert found.observed is not None
    assert found.envelope is not None
    values = (found.observed, found.envelope)
    found.certify = lambda: statistical_certificate(
        cell, found.runs, values, bets.says, numbers | bets.numbers
    )
    return found


def _settle(found: Evidence, judged: list[MeanSides], bets: Found) -> None:
    """Whether the evidence is enough for ``holds``, and what is said where it is not."""
    chosen, last = bets.checkpoints, len(judged) - 1
    above = [
        j
        for j, sides in enumerate(judged[:-1])
        if all(exceeds_noise(z, chosen.noise) for z in _bets(sides))
    ]
    assert found.observed is not None
    assert found.envelope is not None
    found.enough = found.runs >= FEWEST_RUNS and found.observed <= found.envelope and not above
    if found.observed > found.envelope:
        within = not all(exceeds_noise(z) for z in _bets(judged[-1]))
        found.says += f"; {refuting(_needed(judged, chosen, last), within)}"
    elif found.runs < FEWEST_RUNS:
        found.says += f"; {FEWEST_RUNS} runs are needed"
    elif above:
        worst = max(above, key=lambda j: bets.each[j])
        sides = judged[worst]
        envelope = max(float(bound.values.mean()) for bound in sides.bounds)
        found.says += (
            f"; at T = {chosen.rounds[worst]} the mean {sides.observed.mean():.6g} is above the envelope"
            f" {envelope:.6g} by more than noise; {refuting(_needed(judged, chosen, worst))}"
        )


def _needed(judged: list[MeanSides], chosen: Checkpoints, j: int) -> int | None:
    """The number of runs like these that would refute at one checkpoint."""
    known = [runs_to_refute(z, chosen.level_at(j)) for z in _bets(judged[j])]
    # it takes all of the bounds
    return None if None in known else max(n for n in known if n is not None)


def _point(rounds: int, sides: MeanSides) -> Curve:
    """The runs after so many rounds, with the envelope whose mean is the largest there."""
    binding = max(sides.bounds, key=lambda bound: float(bound.values.mean()))
    return Curve.of_runs(rounds, sides.observed, binding.values)
