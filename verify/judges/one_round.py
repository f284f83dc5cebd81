"""Judge of statements about one round from a given position: every action that could be drawn is tried.

An expectation over the draw is then a finite sum, and nothing is sampled. The game enumerates the rounds at some
positions of each run (``branches`` of a case); the statement says what must come out.

Rounding: a comparison allows ``ROUNDING`` times the size of the numbers that were added up. One entry of an
expectation is a sum over A actions of products of a probability with a difference of two weights, so its error is
below (A + 16) 2^-53 times that size, and ``ROUNDING`` covers A up to some thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import FloatArray
from ..certificates.make import audit_certificate
from ..claim import Cell, Form, Judge
from ..outcome import Evidence, Kind

ROUNDING = 1e-12
"""Allowed difference as a share of the size of the numbers added up."""


@dataclass(frozen=True)
class Comparison:
    """A quantity by enumeration, beside the one that is stated.

    Attributes
    ----------
    what : of which quantity, in a few words
    found, stated : arrays of the same shape
    size : of the numbers that were added up
    """

    what: str
    found: FloatArray
    stated: FloatArray
    size: float

    @property
    def share(self) -> float:
        """The largest difference as a share of the size."""
        difference = np.abs(self.found - self.stated)
        if not np.isfinite(difference).all():
            return float(np.inf)
        size = self.size + float(np.abs(self.stated).max(initial=0.0))
        return float(difference.max(initial=0.0)) / size if size > 0 else 0.0


@dataclass(frozen=True)
class OneRound(Judge):
    """The judge.

    Parameters
    ----------
    says : what a statement says of a round; nothing where it does not speak of it
    """

    says: Callable[[Any, Form, Any], Iterator[Comparison]]
    kind: ClassVar[Kind] = Kind.EXACT

    def examine(self, cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
        """Play, enumerate the rounds at some positions, and compare; stop at the first that differs."""
        found = Evidence(observed=0.0, envelope=ROUNDING, live=0)
        worst = 0.0
        for run in range(runs):
            found.runs += 1
            for mark, each in cell.case.branches(run, interpreted=interpreted):
                found.rounds += 1
                for comparison in self.says(cell.case, cell.form, each):
                    found.live += 1
                    if not comparison.share <= ROUNDING:
                        return _differs(cell, found, (run, mark), each, comparison)
                    worst = max(worst, comparison.share)
        found.observed, found.ratio = worst, worst / ROUNDING
        found.says = (
            f"all actions of {found.rounds} rounds enumerated, {found.live} comparisons agree to"
            f" {worst:.1e}"
        )
        if not found.live:
            found.says = "it speaks of none of the rounds"
        return found


def _differs(
    cell: Cell, found: Evidence, place: tuple[int, int], each: Any, comparison: Comparison
) -> Evidence:
    share, (run, mark) = comparison.share, place
    found.refutes, found.observed, found.ratio = True, share, share / ROUNDING
    found.says = words = (
        f"certified: run {run}, round {mark}, {each.where}: {comparison.what} is not what is stated"
    )
    content = dict(each.written()) | {
        "what": comparison.what,
        # nine digits of sums: the order in which they are added is the processor's
        "before": [f"{value:.9g}" for value in comparison.stated.ravel().tolist()],
        "after": [f"{value:.9g}" for value in comparison.found.ravel().tolist()],
        "share": f"{share:.6g}",
    }
    found.certify = lambda: audit_certificate(cell, run, mark, content, (share, ROUNDING), words)
    return found
