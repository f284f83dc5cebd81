"""What a claim is: statement, source, both sides, relation and kind, in one object.

A claim has a form or two, named by where the statement comes from: "printed" in the paper that the claim cites;
"derived" here for the learner, in a form that nobody printed; "transferred" as printed to a setting that it was not
printed for; or "repaired", the true form of a claim that is false otherwise. A form is data: to which cases it
applies, which verdict is expected there, in one sentence why, and the state of its proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..algorithms.spec import command_name
from ..arrays import FloatArray

if TYPE_CHECKING:
    from .exact.numbers import Interval
    from .games.labels.case import Case, Rounds, Setting
    from .judges.pathwise import Outcome


class Verdict(StrEnum):
    """The words a verdict may use; none is louder than its evidence."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    VACUOUS = "vacuous"
    NOT_APPLICABLE = "not applicable"
    ERROR = "error"


LOUDEST_FIRST = (
    Verdict.ERROR,
    Verdict.REFUTED,
    Verdict.UNDECIDED,
    Verdict.HOLDS,
    Verdict.VACUOUS,
    Verdict.NOT_APPLICABLE,
)


def is_surprise(expected: str | None, verdict: str) -> bool:
    """Whether a verdict fails the run: something is refuted that should hold, or not refuted that should
    be."""
    if expected is None or verdict == expected:
        return False
    return expected == Verdict.REFUTED or verdict in (Verdict.REFUTED, Verdict.ERROR)


OTHER_LEARNERS = "it is about other learners"


def about_others(*learners: type) -> str:
    """The reason why a claim about these learners does not apply to another one, even one that promises the whole
    family of claims."""
    return f"{OTHER_LEARNERS}: {', '.join(command_name(learner) for learner in learners)}"


def is_named(claim: str, globs: Iterable[str]) -> bool:
    """Whether one of the globs, such as those that a learner promises, matches the id of a claim."""
    return any(fnmatchcase(claim, glob) for glob in globs)


class Kind(StrEnum):
    """How a claim is judged; a law of the mistakes, tested from both sides by ``equality.py``, is a mean."""

    EXACT = "exact"
    PATHWISE = "pathwise"
    MEAN = "mean"
    TAIL = "tail"
    FRONTIER = "frontier"
    LOWER_BOUND = "lower bound"


class Proof(StrEnum):
    """What is known of the proof of a form, apart from any run."""

    PROVED = "proved"
    BROKEN = "broken"
    FALSE = "false"
    ASSUMED = "assumed"


@dataclass(frozen=True)
class Source:
    """Where a statement stands."""

    authors: str
    title: str
    year: int
    number: str = ""

    def at(self, number: str) -> Source:
        """The same work at ``number``, e.g. "Lemma 1"."""
        return Source(self.authors, self.title, self.year, number)

    def __str__(self) -> str:
        return f"{self.authors} ({self.year}), {self.title}, {self.number}"


GAPPLETRON = Source(
    "van der Hoeven, Fusco and Cesa-Bianchi",
    "Beyond Bandit Feedback in Online Multiclass Classification",
    2021,
)

BOOSTING = Source("Zhang, Jung and Tewari", "Online Multiclass Boosting with Bandit Feedback", 2019)


@dataclass(frozen=True)
class Form:
    """A claim as printed, derived, transferred or repaired.

    Attributes
    ----------
    name : "printed", "derived", "transferred" or "repaired" (see the module)
    statement : the inequality in LaTeX
    proof : the state of its proof
    why : one sentence: why it is true, or what is wrong with it
    missing : the hypothesis that a case does not meet, as a phrase, or None
    expected : the verdict expected of a case; None where either would do
    names : what the two sides are, where "observed" and "envelope" do not say it
    """

    name: str
    statement: str
    proof: Proof
    why: str
    missing: Callable[[Any], str | None] = lambda case: None
    expected: Callable[[Any], Verdict | None] = lambda case: Verdict.HOLDS
    names: tuple[str, str] | None = None


@dataclass(frozen=True)
class Sides:
    """Both sides of an inequality in each of some rounds or instances; all arrays of one shape (n,).

    Attributes
    ----------
    observed : the side that must not be larger
    envelope : the side that must not be smaller
    tolerance : bound on the rounding error of their difference
    live : where the inequality could fail at all; everywhere when None
    base : part of both sides that the second ratio leaves out (the comparator's loss), or None
    label : the label that each row speaks of, where it is not the label that was shown
    cumulative : whether both sides are sums from the first round on; then the ratio is read at the end
    """

    observed: FloatArray
    envelope: FloatArray
    tolerance: FloatArray
    live: NDArray[np.bool_] | None = None
    base: FloatArray | None = None
    label: NDArray[np.int64] | None = None
    cumulative: bool = False


PathwiseSides = Callable[["Case", Form, "Rounds"], Sides]
ExactSides = Callable[[Any, Form], "tuple[Interval, Interval]"]
InstanceOf = Callable[["Case", "Suspect"], Any]


@dataclass(frozen=True)
class Suspect:
    """A round of a run that is to be looked at again, without rounding.

    Attributes
    ----------
    residual : observed minus envelope
    replicate, round : where, both from 0
    label : the label that the inequality speaks of there
    counter : rounds so far whose best label is not revealing
    scores, probabilities : of the labels and of the actions
    beyond_rounding : whether the residual exceeds its rounding bound
    """

    residual: float
    replicate: int
    round: int
    label: int
    counter: int
    scores: tuple[float, ...]
    probabilities: tuple[float, ...]
    beyond_rounding: bool


@dataclass(frozen=True)
class Claim:
    """A theorem, lemma or condition that can be put to the test.

    Attributes
    ----------
    id : "family/name"
    title : a few words
    source : where it stands
    kind : how it is judged
    forms : one, or a false one and its repair
    sides : both sides, from the recorded rounds of a case; None for a claim that is examined otherwise
    cases : the settings in which the built-in suite plays it; none by default
    instance_of : the exact instance behind a suspect round, or None where there is none
    certify : both sides of such an instance in exact arithmetic; without these two a violation is
        certified by playing the game again
    instances : kinds of instances of the claim's own that its certificates may hold, beside those that several
        claims share
    examine : a judge of the claim's own, in place of looking at every round
    about : "learners", or "weak learners", which play another game
    """

    id: str
    title: str
    source: Source
    kind: Kind
    forms: tuple[Form, ...]
    cases: Callable[[], Iterable[Setting]] = tuple
    sides: PathwiseSides | None = None
    instance_of: InstanceOf = lambda case, suspect: None
    certify: ExactSides | None = None
    instances: tuple[type[Any], ...] = ()
    examine: Callable[..., Outcome] | None = None
    relation: str = field(default="<=")
    about: str = "learners"

    def form(self, name: str) -> Form:
        """The form called ``name``."""
        return next(form for form in self.forms if form.name == name)
