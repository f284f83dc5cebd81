"""Judge of statements "with probability at least 1 - delta": the runs that violate are counted.

The null is P(violation) <= delta. A run bets X = 1[violation] against Y = F = delta; several delta judged on the
same runs make one cell, whose e-value is the average of theirs. ``holds`` needs the exact binomial 95 % upper limit to
be at most delta as well; that limit is descriptive and outside the alarm budget, as is the lower limit that a refuted
row shows.

A statement for each T is judged at prefixes of the runs too, see prefixes.py: X is then 1[violation at t_j]. It says
that each T fails with probability at most delta, not that all T together do. ``holds`` needs no upper limit at the
prefixes, and asks that the violations be more than delta at none of them by more than noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...arrays import BoolArray, FloatArray
from ..certificates.make import statistical_certificate
from ..claim import Cell, Form, Judge
from ..outcome import Curve, Evidence, Kind, Verdict
from .betting import (
    NOISE,
    binomial_lower_limit,
    binomial_upper_limit,
    headroom_of,
    log_sum,
    log_wealths_of_violations,
    refuting,
    runs_to_hold,
    runs_to_refute,
)
from .decide import exceeds_level
from .mean import Play, play_totals
from .prefixes import Checkpoints, Found


@dataclass(frozen=True)
class TailSides:
    """Both sides of a high-probability statement.

    Attributes
    ----------
    observed : one entry a run
    envelopes : for each delta the right side, one entry a run
    base : the comparator's loss, one entry a run; None where it plays no part
    non_vacuous : the horizon from which the envelope is below what a run can reach, in a few words
    most : the largest value that the observed side can have, one entry a run; the rounds where None
    guess : mean of the observed side for the uniform guesser; None where it says nothing
    least : the smallest value that the right side of the largest delta can have, by the formula alone and not by the
        runs; 0 where it is not known
    """

    observed: FloatArray
    envelopes: Mapping[float, FloatArray]
    base: FloatArray | None = None
    non_vacuous: str = ""
    most: FloatArray | None = None
    guess: float | None = None
    least: float = 0.0


SidesOf = Callable[[Any, Form, Any], TailSides]
"""From a case, a form and the totals of some runs to both sides."""


@dataclass(frozen=True)
class Known:
    """A right side that is known before any run, at the end of the game.

    Attributes
    ----------
    envelope : for the largest delta
    most : what no run can exceed
    says : the numbers behind the envelope
    """

    envelope: float
    most: float
    says: str


@dataclass(frozen=True)
class Tail(Judge):
    """The judge.

    Parameters
    ----------
    sides : both sides from the totals of some runs
    play : both sides otherwise, for what a game does not add up
    fresh : whether every run has data of its own
    known : for a right side that is known before play; then nothing is played where it is vacuous
    remarks : words to be added to the evidence
    """

    sides: SidesOf | None = None
    play: Play | None = None
    fresh: bool | Callable[[Any], bool] = False
    known: Callable[[Any], Known] | None = None
    remarks: Callable[[Cell, Evidence], str] | None = None
    kind: ClassVar[Kind] = Kind.TAIL
    sampled: ClassVar[bool] = True

    def examine(self, cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
        if self.known is not None and (known := self.known(cell.case)).envelope >= known.most:
            return Evidence(
                envelope=known.envelope,
                live=0,
                says=f"no run can exceed {known.says} in {cell.case.horizon} rounds",
            )
        play = self._play(cell.case)
        probe = list(play(cell, range(1), interpreted))
        if self.known is None and _is_vacuous(*probe[0]):
            runs = 1
        chosen = Checkpoints.before_play(
            cell, {rounds: each.least < _most(rounds, each) for rounds, each in probe}
        )
        parts = []
        for part in cell.case.parts(runs):
            parts.append(list(play(cell, part, interpreted)))
            if exceeds_level(_bets(_joined(parts), chosen.after_play(cell.case)).log_e_value):
                break
        found = self._compare(cell, _joined(parts), chosen.after_play(cell.case))
        if self.remarks is not None and found.live:
            words = self.remarks(cell, found)
            found.says += words
            found.more = {verdict: text + words for verdict, text in found.more.items()}
        return found

    def _play(self, case: Any) -> Play:
        if self.play is not None:
            return self.play
        assert self.sides is not None
        return play_totals(self.sides, self.fresh(case) if callable(self.fresh) else self.fresh)

    def _compare(self, cell: Cell, played: Played, chosen: Checkpoints) -> Evidence:
        horizon = cell.case.horizon
        sides = played[horizon]
        curve = [
            Curve.of_runs(rounds, prefix.observed, values, delta)
            for rounds, prefix in reversed(played.items())
            for delta, values in prefix.envelopes.items()
        ]
        found = _nearest(sides, horizon, Curve.joined(curve))
        highest = np.full(found.runs, float(horizon)) if sides.most is None else sides.most
        if all((envelopes >= highest).all() for envelopes in sides.envelopes.values()):
            least = f"T = {horizon}"
            if sides.most is not None:
                least = f"{highest.min():.6g}, what no run exceeds,"
            found.live = 0
            found.says = f"the envelope is at least {least} in every run; {sides.non_vacuous}"
            return found
        bets = _bets(played, chosen)
        found.tested_from = chosen.rounds[0]
        found.refutes = exceeds_level(bets.log_e_value)
        judged = [played[rounds] for rounds in chosen.rounds]
        count_violations(found, [_violated(each) for each in judged], bets)
        if not found.refutes:
            found.says += f"; {chosen.says}"
            if not exceeds_level(_most_that_could_be(judged, chosen)):
                found.says += f"; {found.runs} runs would not refute it if all violated"
                found.enough = False
            found.headroom = headroom_of(
                lambda s: float(chosen.average(_log_e_values(judged, s)).max())
            )
            return found
        sides = judged[bets.decisive]
        at = _nearest(sides, horizon, None)
        found.observed, found.envelope = at.observed, at.envelope
        found.ratio, found.regret_ratio = at.ratio, at.regret_ratio
        numbers: dict[str, Any] = {"observed": [repr(x) for x in sides.observed.tolist()]}
        if self.known is None:
            numbers["envelopes"] = {
                str(d): [repr(y) for y in values.tolist()] for d, values in sides.envelopes.items()
            }
        assert found.observed is not None
        assert found.envelope is not None
        values = (found.observed, found.envelope)
        found.certify = lambda: statistical_certificate(
            cell, found.runs, values, found.more[Verdict.REFUTED], numbers | bets.numbers
        )
        return found


Played = dict[int, TailSides]
"""Both sides after some numbers of rounds, the horizon first."""


def _most(rounds: int, sides: TailSides) -> float:
    """What no run can exceed after so many rounds."""
    return float(rounds) if sides.most is None else float(sides.most[0])


def _is_vacuous(rounds: int, probe: TailSides) -> bool:
    """True if one run shows that the envelope is vacuous whatever the runs do."""
    base = 0.0 if probe.base is None else probe.base[0]
    most = _most(rounds, probe)
    return all(float(bound[0] - base) >= most for bound in probe.envelopes.values())


def _joined(parts: list[list[tuple[int, TailSides]]]) -> Played:
    """The prefixes of the runs of several parts."""
    return {each[0][0]: _all_of([sides for _, sides in each]) for each in zip(*parts, strict=True)}


def _all_of(parts: list[TailSides]) -> TailSides:
    """The same prefix of the runs of several parts, as one."""
    first, *others = parts
    if not others:
        return first

    def all_of(column: str) -> FloatArray | None:
        columns = [getattr(each, column) for each in parts]
        return None if columns[0] is None else np.concatenate(columns)

    envelopes = {d: np.concatenate([each.envelopes[d] for each in parts]) for d in first.envelopes}
    observed = np.concatenate([each.observed for each in parts])
    return replace(
        first,
        observed=observed,
        envelopes=envelopes,
        base=all_of("base"),
        most=all_of("most"),
    )


def _nearest(sides: TailSides, horizon: int, curve: Curve | None) -> Evidence:
    """Both sides in the run that comes nearest to the envelope of the largest delta."""
    bound = sides.envelopes[max(sides.envelopes)]
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = int(np.argmax(sides.observed / bound if bound.min() > 0 else sides.observed))
    observed, envelope = float(sides.observed[worst]), float(bound[worst])
    base = None if sides.base is None else float(sides.base[worst])
    regret = None
    if base is not None and envelope > base:
        regret = (observed - base) / (envelope - base)
    dominated = base is not None and base > 0 and bool(sides.observed.max() <= base)
    flags = (
        ("weak", sides.guess is not None and envelope >= sides.guess),
        ("comparator-dominated", dominated),
    )
    runs = len(sides.observed)
    return Evidence(
        observed,
        envelope,
        ratio=observed / envelope if envelope > 0 else None,
        regret_ratio=regret,
        runs=runs,
        rounds=runs * horizon,
        flags=tuple(flag for flag, flagged in flags if flagged),
        sampled=True,
        curve=curve,
    )


Violated = Mapping[float, BoolArray]
"""For each delta the runs that violate the statement, one entry a run."""


def _violated(sides: TailSides, s: float = 1.0) -> Violated:
    """The violations, with ``s`` times what the envelopes leave for the regret."""
    if s == 1:
        return {d: sides.observed > values for d, values in sides.envelopes.items()}
    base = np.zeros(len(sides.observed)) if sides.base is None else sides.base
    return {d: sides.observed - base > s * (y - base) for d, y in sides.envelopes.items()}


def log_e_values(checkpoints: Sequence[Violated]) -> FloatArray:
    """Logarithm of the e-value of each checkpoint after each run, averaged over the deltas, shape (m, n)."""
    deltas = list(checkpoints[0])
    violated = np.stack([[each[d] for d in deltas] for each in checkpoints])
    each = log_wealths_of_violations(violated, np.array([deltas] * len(checkpoints)))
    return log_sum(np.moveaxis(each, 1, 0)) - math.log(len(deltas))


def _log_e_values(judged: Sequence[TailSides], s: float = 1.0) -> FloatArray:
    return log_e_values([_violated(each, s) for each in judged])


def _most_that_could_be(judged: Sequence[TailSides], chosen: Checkpoints) -> float:
    """Logarithm of the e-value if every run violated the statement at every checkpoint."""
    all_violated = [{d: np.ones_like(v) for d, v in _violated(each).items()} for each in judged]
    return chosen.found(log_e_values(all_violated)).log_e_value


def _bets(played: Played, chosen: Checkpoints) -> Found:
    return chosen.found(_log_e_values([played[rounds] for rounds in chosen.rounds]))


def count_violations(found: Evidence, checkpoints: Sequence[Violated], bets: Found) -> None:
    """Write into ``found`` what the violations say, in words and as evidence for ``holds``.

    Parameters
    ----------
    checkpoints : the violations at each of them, the horizon last
    bets : the e-values of the same
    """
    chosen = bets.checkpoints
    violated = checkpoints[bets.decisive if found.refutes else -1]
    runs = len(next(iter(violated.values())))
    counts = {d: int(v.sum()) for d, v in violated.items()}
    limits = {d: binomial_upper_limit(n, runs) for d, n in counts.items()}

    def words(limit: Callable[[float, int], str]) -> str:
        return "; ".join(
            f"delta {d:g}: {n} of {runs} violate, {limit(d, n)} (95 %)" for d, n in counts.items()
        )

    found.says = words(lambda d, n: f"P <= {limits[d]:.3g}")
    if found.refutes:
        lower = words(lambda d, n: f"P >= {binomial_lower_limit(n, runs):.3g}")
        found.more[Verdict.REFUTED] = lower + bets.where
        return
    open_deltas = [d for d in violated if limits[d] > d]
    often = {d: v for d, v in violated.items() if counts[d] > d * runs}
    above = [
        j
        for j, each in enumerate(checkpoints[:-1])
        if any(_exceeds_noise(v, d, chosen.noise / len(each)) for d, v in each.items())
    ]
    found.enough = not open_deltas and not above
    if often:
        within = not any(_exceeds_noise(v, d) for d, v in often.items())
        needed = _needed(often, len(violated), chosen.level_at(-1))
        found.says += f"; {refuting(needed, within)}"
    elif above:
        worst = max(above, key=lambda j: bets.each[j])
        each = checkpoints[worst]
        d = max(each, key=lambda d: each[d].mean() / d)
        needed = _needed(each, len(each), chosen.level_at(worst))
        found.says += (
            f"; at T = {chosen.rounds[worst]} {int(each[d].sum())} of {runs} violate delta {d:g}, by more than noise;"
            f" {refuting(needed)}"
        )
    elif open_deltas:
        settled = max(runs_to_hold(d, counts[d]) for d in open_deltas)
        found.says += f"; {settled} runs would settle it"


def _exceeds_noise(violated: BoolArray, delta: float, level: float = NOISE) -> bool:
    """True if there are more violations than a share of delta, by more than noise."""
    return binomial_lower_limit(int(violated.sum()), len(violated), 1 - level) > delta


def _needed(violated: Violated, deltas: int, level: float) -> int | None:
    """The number of runs like these that would refute.

    The e-values of all delta are averaged, so that one alone has to be as much larger.
    """
    each = [
        runs_to_refute((v.astype(np.float64) - d) / d, level / deltas) for d, v in violated.items()
    ]
    return min((n for n in each if n is not None), default=None)
