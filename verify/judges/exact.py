"""Judge of claims that are looked at in many small instances, all of them in exact arithmetic.

Beside the statement itself, what the case's learner computes is compared with what the statement says it computes. A
statement that is false has a certificate with the smallest instance that was found; where the learner computes
something else, the certificate is the game, which is looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..certificates.make import audit_certificate, shrink
from ..claim import Cell, Form, Judge
from ..exact.numbers import Interval, Undecided, rational
from ..outcome import Evidence, Kind, Verdict

CERTIFIED = 40
"""The most violations among which the smallest certificate is chosen."""


@dataclass(frozen=True)
class Check:
    """Numbers that the learner computes, beside those that it should.

    Attributes
    ----------
    what : of which quantity, in a few words
    found, stated : numbers, as many of each
    tolerance : their largest difference by rounding; 0 where both are fractions
    """

    what: str
    found: Sequence[Any]
    stated: Sequence[Any]
    tolerance: float = 0.0

    @property
    def deviation(self) -> float:
        """The largest difference; infinite where a number is not finite or missing."""
        if len(self.found) != len(self.stated):
            return float("inf")
        try:
            pairs = zip(self.found, self.stated, strict=True)
            return float(max(abs(rational(a) - rational(b)) for a, b in pairs))
        except (ValueError, OverflowError):
            return float("inf")


def worst(*sides: tuple[Any, Any]) -> tuple[Interval, Interval]:
    """The one of several inequalities that fails, or is open; where all hold the one with the largest ratio."""
    pairs = [(Interval.of(observed), Interval.of(envelope)) for observed, envelope in sides]
    failing = [pair for pair in pairs if not pair[0].certainly_at_most(pair[1])]
    if failing:
        return max(failing, key=lambda pair: (pair[0] - pair[1]).hi)
    positive = [pair for pair in pairs if pair[1].lo > 0]
    return max(positive, key=lambda pair: pair[0].hi / pair[1].lo) if positive else pairs[0]


@dataclass(frozen=True)
class Exact(Judge):
    """The judge.

    Parameters
    ----------
    instances_of : of a case and a form, the simplest first; one whose ``live`` is False cannot fail
    exact : both sides of an instance, without rounding
    says : what they are, for the evidence
    checks : what the learner computes in the case
    instances : kinds of instances of the claim's own
    """

    instances_of: Callable[[Any, Form], Iterable[Any]]
    exact: Callable[[Any, Form], tuple[Interval, Interval]]
    says: Callable[[Any], str]
    checks: Callable[[Any], Iterable[Check]] = lambda case: ()
    instances: tuple[type[Any], ...] = ()
    kind: ClassVar[Kind] = Kind.EXACT

    def exact_sides(self, instance: Any, form: Form) -> tuple[Interval, Interval]:
        return self.exact(instance, form)

    def examine(self, cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
        compared = 0
        for check in self.checks(cell.case):
            compared += 1
            if not check.deviation <= check.tolerance:
                return _differs(cell, check)
        found = self._enumerate(cell)
        if compared:
            found.says += f"; what the learner computes agrees in {compared} comparisons"
        return found

    def _enumerate(self, cell: Cell) -> Evidence:
        case, form = cell.case, cell.form
        refuting: list[Any] = []
        looked = live = open_ = 0
        highest, sides = Interval.of(-1).lo, (Interval.of(0), Interval.of(0))
        for instance in self.instances_of(case, form):
            looked += 1
            if not getattr(instance, "live", True):
                continue
            live += 1
            try:
                observed, envelope = self.exact(instance, form)
            except Undecided:
                open_ += 1
                continue
            if envelope.certainly_less(observed):
                refuting.append(instance)
                if len(refuting) == CERTIFIED:
                    break
            elif not observed.certainly_at_most(envelope):
                open_ += 1
            if envelope.lo > 0 and observed.hi / envelope.lo > highest:
                highest, sides = observed.hi / envelope.lo, (observed, envelope)
        found = Evidence(live=live, says=f"{live} exact instances: {self.says(case)}")
        if (proof := shrink(cell.claim, form, refuting)) is not None:
            found.refutes, found.certify = True, lambda: proof
            found.observed, found.envelope = proof.values
            found.ratio = found.observed / found.envelope if found.envelope > 0 else None
            found.more[Verdict.REFUTED] = f"certified: {_words(proof.content['instance'])}"
            return found
        open_ += len(refuting)
        found.enough = not open_
        if not live:
            found.says = f"in none of {looked} instances could it fail: {self.says(case)}"
        elif open_:
            found.says = f"{open_} of {live} instances are too close to call"
        else:
            found.observed, found.envelope = float(sides[0]), float(sides[1])
            if highest > 0:
                found.ratio, found.headroom = float(highest), float(1 / highest)
        return found


def _words(instance: dict[str, Any]) -> str:
    """An instance in one line."""
    return ", ".join(f"{name}={value}" for name, value in instance.items()).replace("'", "")


def _differs(cell: Cell, check: Check) -> Evidence:
    where = f"certified: {check.what} is not what is stated"
    # nine digits: sums of floats depend on the processor in the last ones
    found = {
        "what": check.what,
        "before": [f"{float(value):.9g}" for value in check.stated],
        "after": [f"{float(value):.9g}" for value in check.found],
    }
    values = (check.deviation, check.tolerance)
    return Evidence(
        *values,
        refutes=True,
        says=where,
        certify=lambda: audit_certificate(cell, 0, cell.case.horizon - 1, found, values, where),
    )
