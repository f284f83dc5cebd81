"""Judge of frontiers: the smallest excess loss for each edge, with confidence, against the one that is known.

Two levels are at work. The band is drawn at 95 %, for all edges at once. What refutes is its lower limit at the level
of every sampled cell, for all edges at once as well: a known excess loss below it. One between these two limits is
undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import FloatArray
from ..certificates.make import statistical_certificate
from ..claim import Cell, Judge
from ..outcome import Evidence, Kind, Verdict
from .bands import CONFIDENCE, Band, Frontiers, lower_limits
from .decide import LEVEL


@dataclass(frozen=True)
class Reached:
    """The excess that some runs reached at m edges, beside the excess loss that is known.

    Attributes
    ----------
    edges : increasing, shape (m,)
    delta : the probability that the excess loss may be exceeded with
    any_time, at_end : the largest excess after any round, and the one after the last, at least 0; shape (R, m)
    known : the excess loss that is known at each edge, NaN where none is, shape (m,)
    most : the largest excess that any learner can reach, shape (m,)
    anytime : whether what is known is for all rounds at once
    whose : "known" or "declared"
    nothing : why nothing is known, where nothing is
    edge : the edge at which the band is told
    """

    edges: FloatArray
    delta: float
    any_time: FloatArray
    at_end: FloatArray
    known: FloatArray
    most: FloatArray
    anytime: bool
    whose: str
    nothing: str
    edge: float

    def frontiers(self, rounds: int) -> Frontiers:
        """The bands."""
        return Frontiers(
            Band.of(self.any_time, self.edges, self.delta),
            Band.of(self.at_end, self.edges, self.delta),
            self.known,
            self.anytime,
            rounds,
        )


@dataclass(frozen=True)
class Frontier(Judge):
    """The judge.

    Parameters
    ----------
    reached : of a case and a number of runs
    """

    reached: Callable[[Any, int], Reached]
    kind: ClassVar[Kind] = Kind.FRONTIER
    sampled: ClassVar[bool] = True

    def examine(self, cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
        horizon = cell.case.horizon
        reached = self.reached(cell.case, runs)
        frontiers = reached.frontiers(horizon)
        found = Evidence(runs=runs, rounds=runs * horizon, frontiers=frontiers, enough=False)
        band, known, where = frontiers.judged, reached.known, _where(frontiers, reached)
        if np.isnan(known).all():
            found.says = f"no S to compare it with: {reached.nothing}; {where}"
            return found
        # where no learner could exceed the known S, nothing is judged
        live = known < reached.most
        found.live = int(live.sum())
        if not found.live:
            found.envelope = float(np.nanmin(known))
            found.says = (
                f"no weak learner can exceed the {reached.whose} S in {horizon} rounds; {where}"
            )
            return found
        paths = (reached.any_time if frontiers.anytime else reached.at_end)[:, live]
        limits, shown, bound = (
            lower_limits(paths, reached.delta, LEVEL),
            band.low[live],
            known[live],
        )
        found.sampled = True
        found.refutes = bool((limits > bound).any())
        at = int(_ratio(limits if found.refutes else shown, bound).argmax())
        edge, found.envelope = float(reached.edges[live][at]), float(bound[at])
        found.observed = float(limits[at] if found.refutes else shown[at])
        found.ratio = found.observed / found.envelope if found.envelope > 0 else None
        largest = float(_ratio(limits, bound).max())
        found.headroom = 1 / largest if largest > 0 else None
        found.says = f"{_place(frontiers, reached)}; {where}"
        if not np.isfinite(band.high).all():
            found.says += f"; upper limits need {band.runs_needed} runs"
        else:
            found.enough = not (shown > bound).any()
        violations = int((paths[:, at] > bound[at]).sum())
        words = found.more[Verdict.REFUTED] = (
            f"at gamma {edge:.4g} {violations} of {runs} runs exceed the {reached.whose} S ="
            f" {bound[at]:.4g}: with probability 1 - {LEVEL:g}, for all gamma at once, the smallest S is at"
            f" least {limits[at]:.4g} (delta {reached.delta:g})"
        )
        numbers = {
            "delta": repr(reached.delta),
            "edge": repr(edge),
            "violations": violations,
            "reached": [repr(x) for x in paths[:, at].tolist()],
        }
        values = (found.observed, found.envelope)
        found.certify = lambda: statistical_certificate(cell, runs, values, words, numbers)
        return found


def _ratio(limits: FloatArray, known: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(limits / known, nan=0.0, posinf=np.inf)


def _place(found: Frontiers, reached: Reached) -> str:
    """The place of the known excess loss, above, inside or below the band."""
    band, known = found.judged, found.known
    below, above = int((known < band.low).sum()), int((known > band.high).sum())
    inside = int(np.isfinite(known).sum()) - below - above
    places = {"below": below, "inside": inside, "above": above}
    words = ", ".join(f"{name} the band at {n}" for name, n in places.items() if n)
    where = "nowhere below the band" if not below else "below the band, but not refuted"
    return f"the {reached.whose} S is {where}: of {below + inside + above} gamma {words}"


def _where(found: Frontiers, reached: Reached) -> str:
    """The band at one edge."""
    band = found.judged
    at = int(np.abs(found.edges - reached.edge).argmin())
    known = found.known[at]
    there = "" if math.isnan(known) else f", the {reached.whose} one {known:.4g}"
    speaks = f"up to T = {found.rounds}" if found.anytime else f"at T = {found.rounds}"
    return (
        f"at gamma {found.edges[at]:.4g} the smallest S on this stream {speaks} lies in"
        f" [{band.low[at]:.4g}, {band.high[at]:.4g}]{there} (delta {band.delta:g}; {CONFIDENCE:.0%}, all gamma"
        " at once)"
    )
