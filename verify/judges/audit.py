"""Judge of facts about a game that are shown by playing it again, and of lower bounds: the claim examines for itself.

The certificate of a violation is the game and the round, which are looked at once more when it is replayed, unless the
claim has exact instances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from ...arrays import FloatArray
from ..certificates.make import audit_certificate
from ..claim import Cell, Form, Judge
from ..exact.numbers import Interval
from ..outcome import Evidence, Kind
from .pathwise import percentage


class Examine(Protocol):
    """A claim's own look at so many runs of a case."""

    def __call__(self, cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence: ...


@dataclass(frozen=True)
class Audit(Judge):
    """The judge.

    Parameters
    ----------
    look : both sides and the evidence, from a cell and a number of runs
    exact : both sides of an exact instance, where the claim has some
    instances : kinds of instances of the claim's own
    kind : the word for it in results
    """

    look: Examine
    exact: Callable[[Any, Form], tuple[Interval, Interval]] | None = None
    instances: tuple[type[Any], ...] = ()
    kind: Kind = Kind.EXACT

    def examine(self, cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
        return self.look(cell, runs, interpreted=interpreted)

    def exact_sides(self, instance: Any, form: Form) -> tuple[Interval, Interval] | None:
        return None if self.exact is None else self.exact(instance, form)


@dataclass(frozen=True)
class LowerBound(Audit):
    """The judge of statements "for every learner there is an environment": the observed side must not be smaller."""

    kind: Kind = Kind.LOWER_BOUND
    relation: ClassVar[str] = ">="


def violated_in(
    cell: Cell,
    found: Evidence,
    place: tuple[int, int],
    says: str,
    values: tuple[float, float],
    content: dict[str, Any],
) -> Evidence:
    """The evidence with a violation in a round of a run, both from 0, which its certificate asks to be looked at again.

    Parameters
    ----------
    says, content : what was found, in words and as the certificate has it
    values : both sides
    """
    run, at = place
    found.refutes = True
    found.says = words = f"certified: run {run}, round {at}: {says}"
    found.certify = lambda: audit_certificate(cell, run, at, content, values, words)
    return found


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


@dataclass(frozen=True)
class PerRun(Judge):
    """The judge of pathwise statements about whole runs: both sides in each, and the first that violates ends it.

    Parameters
    ----------
    sides : of a case, a run and whether it is interpreted
    """

    sides: Callable[[Any, int, bool], RunSides]
    kind: ClassVar[Kind] = Kind.PATHWISE

    def examine(self, cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
        found = Evidence(live=0)
        highest, compared, what = -np.inf, 0, ""
        for run in range(runs):
            sides = self.sides(cell.case, run, interpreted)
            found.runs += 1
            found.rounds += cell.case.horizon
            excess = sides.observed - sides.envelope
            tolerance = ROUNDING * (1 + np.abs(sides.envelope) + np.abs(sides.observed))
            if not (excess <= tolerance).all():
                return _violated(cell, found, run, sides, int(np.argmax(excess)))
            lives = sides.envelope < sides.most
            compared, what = compared + len(lives), sides.what
            found.live += int(lives.sum())
            if not lives.any():
                continue
            ratios = np.where(lives, sides.observed / np.where(lives, sides.envelope, 1), -np.inf)
            at = int(np.argmax(ratios))
            if ratios[at] > highest:
                highest = float(ratios[at])
                found.observed = float(sides.observed[at])
                found.envelope = float(sides.envelope[at])
        if not found.live:
            found.says = (
                f"no {what} of {compared} could exceed the envelope, whatever the learner did"
            )
            return found
        found.ratio = highest
        found.headroom = 1 / highest if highest > 0 else None
        if found.live < compared:
            found.flags = (f"live in {percentage(found.live / compared)} of {what}s",)
        found.says = f"{found.live} {what}s in {found.runs} run{'s'[: found.runs > 1]}"
        return found


def _violated(cell: Cell, found: Evidence, run: int, sides: RunSides, worst: int) -> Evidence:
    observed, envelope = float(sides.observed[worst]), float(sides.envelope[worst])
    found.live, found.refutes = 1, True
    found.observed, found.envelope = observed, envelope
    found.ratio = observed / envelope if envelope > 0 else None
    found.says = (
        f"certified: run {run}, {sides.what} {worst}: {observed:.6g} is above {envelope:.6g}"
    )
    content = {
        "what": f"{sides.what} {worst}",
        # nine digits of sums: the order in which they are added is the processor's
        "before": f"{envelope:.9g}",
        "after": f"{observed:.9g}",
    }
    words = found.says
    found.certify = lambda: audit_certificate(
        cell, run, cell.case.horizon - 1, content, (observed, envelope), words
    )
    return found
