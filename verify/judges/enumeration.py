"""Judge of claims that are looked at in many small instances, all of them in exact arithmetic.

Beside the statement itself, what the case's learner computes is compared with what the statement says it computes. A
statement that is false has a certificate with the smallest instance that was found; where the learner computes
something else, the certificate is the game, which is looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..certificates.make import Certificate, audit_of
from ..claim import Claim, Form, Verdict
from ..exact.numbers import Interval, Undecided
from ..games.labels.case import Case
from .pathwise import Outcome, shrink

CERTIFIED = 40
"""How many violations are looked at to choose the smallest certificate."""


@dataclass(frozen=True)
class Check:
    """What the learner computes, and what it should.

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
            return float(max(abs(Fraction(a) - Fraction(b)) for a, b in pairs))
        except (ValueError, OverflowError):
            return float("inf")


def worst(*sides: tuple[Any, Any]) -> tuple[Interval, Interval]:
    """Of several inequalities one that fails, or is open; where all hold the one with the largest ratio."""
    pairs = [(Interval.of(observed), Interval.of(envelope)) for observed, envelope in sides]
    failing = [pair for pair in pairs if not pair[0].certainly_at_most(pair[1])]
    if failing:
        return max(failing, key=lambda pair: (pair[0] - pair[1]).hi)
    positive = [pair for pair in pairs if pair[1].lo > 0]
    return max(positive, key=lambda pair: pair[0].hi / pair[1].lo) if positive else pairs[0]


@dataclass(frozen=True)
class Enumeration:
    """The judge.

    Attributes
    ----------
    instances : of a case and a form, the simplest first; one whose ``live`` is False cannot fail
    says : what they are, for the evidence
    checks : what the learner computes in the case
    """

    instances: Callable[[Case, Form], Iterable[Any]]
    says: Callable[[Case], str]
    checks: Callable[[Case], Iterable[Check]] = lambda case: ()

    def __call__(
        self,
        claim: Claim,
        form: Form,
        case: Case,
        replicates: int,
        *,
        interpreted: bool = False,
    ) -> Outcome:
        compared = 0
        for check in self.checks(case):
            compared += 1
            if not check.deviation <= check.tolerance:
                return _differs(claim, form, case, check)
        found = self._enumerate(claim, form, case)
        if compared and found.verdict != Verdict.REFUTED:
            found.evidence += f"; what the learner computes agrees in {compared} comparisons"
        return found

    def _enumerate(self, claim: Claim, form: Form, case: Case) -> Outcome:
        assert claim.certify is not None
        refuting: list[Any] = []
        looked = live = open_ = 0
        highest, sides = Fraction(-1), (Interval.of(0), Interval.of(0))
        for instance in self.instances(case, form):
            looked += 1
            if not getattr(instance, "live", True):
                continue
            live += 1
            try:
                observed, envelope = claim.certify(instance, form)
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
        found = Outcome(Verdict.HOLDS, evidence=f"{live} exact instances: {self.says(case)}")
        if (proof := shrink(claim, form, refuting)) is not None:
            found.verdict, found.certificate = Verdict.REFUTED, proof
            found.observed, found.envelope = proof.values
            found.ratio = found.observed / found.envelope if found.envelope > 0 else None
            found.evidence = f"certified: {_words(proof.content['instance'])}"
            return found
        if not live:
            found.verdict = Verdict.VACUOUS
            found.evidence = f"in none of {looked} instances could it fail: {self.says(case)}"
        elif open_ := open_ + len(refuting):
            found.verdict = Verdict.UNDECIDED
            found.evidence = f"{open_} of {live} instances are too close to call"
        else:
            found.observed, found.envelope = float(sides[0]), float(sides[1])
            if highest > 0:
                found.ratio, found.headroom = float(highest), float(1 / highest)
        return found


def _words(instance: dict[str, Any]) -> str:
    """An instance in one line."""
    return ", ".join(f"{name}={value}" for name, value in instance.items()).replace("'", "")


def _differs(claim: Claim, form: Form, case: Case, check: Check) -> Outcome:
    where = f"certified: {check.what} is not what is stated"
    content = audit_of(claim, form, case, 0, case.sequence.horizon - 1) | {
        "what": check.what,
        # nine digits: sums of floats depend on the processor in the last ones
        "before": [f"{float(value):.9g}" for value in check.stated],
        "after": [f"{float(value):.9g}" for value in check.found],
    }
    proof = Certificate(content, (check.deviation, check.tolerance), where)
    return Outcome(
        Verdict.REFUTED,
        check.deviation,
        check.tolerance,
        evidence=where,
        certificate=proof,
    )
