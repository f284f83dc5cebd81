"""Judge of statements "with probability at least 1 - delta": the runs that violate are counted.

The null is P(violation) <= delta. A run bets X = 1[violation] against Y = F = delta; several delta judged on the
same runs make one cell, whose e-value is the average of theirs. ``holds`` needs the exact binomial 95 % upper limit to
be at most delta as well; that limit is descriptive and outside the alarm budget, as is the lower limit that a refuted
row shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from ...arrays import BoolArray, FloatArray
from ..certificates.make import statistical_certificate
from ..claim import Cell, Form, Judge
from ..outcome import Curve, Evidence, Kind, Verdict
from .betting import (
    binomial_lower_limit,
    binomial_upper_limit,
    log_wealths,
    refuting,
    runs_to_hold,
    runs_to_refute,
)
from .decide import LEVEL, exceeds_level
from .mean import Play, play_totals


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
    """

    observed: FloatArray
    envelopes: Mapping[float, FloatArray]
    base: FloatArray | None = None
    non_vacuous: str = ""
    most: FloatArray | None = None
    guess: float | None = None


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
        if self.known is None and self._is_vacuous(cell, play, interpreted):
            runs = 1
        parts = []
        for part in cell.case.parts(runs):
            parts.append(list(play(cell, part, interpreted)))
            if _refuted(parts):
                break
        found = self._compare(cell, parts)
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

    def _is_vacuous(self, cell: Cell, play: Play, interpreted: bool) -> bool:
        """True if one run shows that the envelope is vacuous whatever the runs do."""
        _, probe = next(play(cell, range(1), interpreted))
        most = cell.case.horizon if probe.most is None else float(probe.most[0])
        base = 0.0 if probe.base is None else probe.base[0]
        return all(float(bound[0] - base) >= most for bound in probe.envelopes.values())

    def _compare(self, cell: Cell, parts: list[list[tuple[int, TailSides]]]) -> Evidence:
        horizon = cell.case.horizon
        played = [_joined(prefixes) for prefixes in zip(*parts, strict=True)]
        _, sides = played[0]
        runs, base = len(sides.observed), sides.base
        tightest = max(sides.envelopes)
        bound = sides.envelopes[tightest]
        with np.errstate(divide="ignore", invalid="ignore"):
            worst = int(np.argmax(sides.observed / bound if bound.min() > 0 else sides.observed))
        observed, envelope = float(sides.observed[worst]), float(bound[worst])
        lost = 0.0 if base is None else float(base[worst])
        regret = None
        if base is not None and envelope > lost:
            regret = (observed - lost) / (envelope - lost)
        found = Evidence(
            observed,
            envelope,
            ratio=observed / envelope if envelope > 0 else None,
            regret_ratio=regret,
            headroom=envelope / observed if observed > 0 else None,
            runs=runs,
            rounds=runs * horizon,
            sampled=True,
            curve=Curve.joined(
                [
                    Curve.of_runs(rounds, prefix.observed, values, delta)
                    for rounds, prefix in reversed(played)
                    for delta, values in prefix.envelopes.items()
                ]
            ),
        )
        highest = np.full(runs, float(horizon)) if sides.most is None else sides.most
        if all((envelopes >= highest).all() for envelopes in sides.envelopes.values()):
            least = f"T = {horizon}"
            if sides.most is not None:
                least = f"{highest.min():.6g}, what no run exceeds,"
            found.live = 0
            found.says = f"the envelope is at least {least} in every run; {sides.non_vacuous}"
            return found
        found.flags = tuple(
            flag
            for flag, flagged in (
                ("weak", sides.guess is not None and envelope >= sides.guess),
                (
                    "comparator-dominated",
                    base is not None and lost > 0 and sides.observed.max() <= lost,
                ),
            )
            if flagged
        )
        wealth = count_violations(
            found, {d: sides.observed > values for d, values in sides.envelopes.items()}
        )
        numbers: dict[str, Any] = {"observed": [repr(x) for x in sides.observed.tolist()]}
        if self.known is None:
            numbers["envelopes"] = {
                str(d): [repr(y) for y in values.tolist()] for d, values in sides.envelopes.items()
            }
        numbers["log_e_value"] = f"{wealth:.9g}"
        found.certify = lambda: statistical_certificate(
            cell, runs, (observed, envelope), found.more[Verdict.REFUTED], numbers
        )
        return found


def _joined(prefixes: tuple[tuple[int, TailSides], ...]) -> tuple[int, TailSides]:
    """The same prefix of the runs of several parts, as one."""
    (rounds, first), *others = prefixes
    if not others:
        return rounds, first
    sides = [first, *(each for _, each in others)]

    def all_of(column: str) -> FloatArray | None:
        columns = [getattr(each, column) for each in sides]
        return None if columns[0] is None else np.concatenate(columns)

    envelopes = {d: np.concatenate([each.envelopes[d] for each in sides]) for d in first.envelopes}
    observed = np.concatenate([each.observed for each in sides])
    return rounds, TailSides(
        observed, envelopes, all_of("base"), first.non_vacuous, all_of("most"), first.guess
    )


def _log_wealth(violated: Mapping[float, BoolArray]) -> float:
    """The logarithm of the e-value, averaged over the deltas, at its largest over the runs."""
    paths = np.stack([log_wealths((v.astype(np.float64) - d) / d) for d, v in violated.items()])
    return float((logsumexp(paths, axis=0) - math.log(len(paths))).max())


def _refuted(parts: list[list[tuple[int, TailSides]]]) -> bool:
    """True if the runs so far refute, so that no more are needed."""
    _, sides = _joined(tuple(prefixes[0] for prefixes in parts))
    violated = {d: sides.observed > values for d, values in sides.envelopes.items()}
    return exceeds_level(_log_wealth(violated))


def count_violations(found: Evidence, violated: Mapping[float, BoolArray]) -> float:
    """Write into ``found`` what the violations say, given for each delta one entry a run.

    Returns
    -------
    the logarithm of the e-value, at its largest over the runs
    """
    wealth = _log_wealth(violated)
    runs = len(next(iter(violated.values())))
    counts = {d: int(v.sum()) for d, v in violated.items()}
    limits = {d: binomial_upper_limit(n, runs) for d, n in counts.items()}
    found.refutes = exceeds_level(wealth)

    def words(limit: Callable[[float, int], str]) -> str:
        return "; ".join(
            f"delta {d:g}: {n} of {runs} violate, {limit(d, n)} (95 %)" for d, n in counts.items()
        )

    if found.refutes:
        found.more[Verdict.REFUTED] = words(
            lambda d, n: f"P >= {binomial_lower_limit(n, runs):.3g}"
        )
    found.says = words(lambda d, n: f"P <= {limits[d]:.3g}")
    open_deltas = [d for d in violated if limits[d] > d]
    often = [d for d, n in counts.items() if n > d * runs]
    found.enough = not open_deltas
    if often:
        # the e-values of all delta are averaged, so that one alone has to be as much larger
        known = [
            runs_to_refute((violated[d].astype(np.float64) - d) / d, LEVEL / len(violated))
            for d in often
        ]
        needed = min((n for n in known if n is not None), default=None)
        found.says += f"; {refuting(needed)}"
    elif open_deltas:
        needed = max(runs_to_hold(d, counts[d]) for d in open_deltas)
        found.says += f"; {needed} runs would settle it"
    return wealth
