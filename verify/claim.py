"""A claim: statement, source, forms and the judge of both sides, in one object.

A claim has a form or two, named by where the statement comes from: "printed" in the paper that the claim cites, in
words and formulas that were read there; "reconstructed" as it must have been printed, from the text around a display
that our copy of the paper lacks; "derived" here for the learner, in a form that nobody printed; "transferred" as
printed to a setting that it was not printed for; or "repaired", the true form of a claim that is false otherwise. A
form is data: to which cases it applies, which verdict is expected there, in one sentence why, and the state of its
proof.

The judge (``judges/``) says how the statement is put to the test; it holds the functions that compute both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, Protocol, runtime_checkable

from ..algorithms.spec import command_name
from .exact.numbers import Interval
from .outcome import Evidence, Kind, Verdict
from .setting import Setting

OTHER_LEARNERS = "it is about other learners"


def about_others(*learners: type) -> str:
    """The reason why a claim about these learners does not apply to another one, even one that promises the whole
    family of claims."""
    return f"{OTHER_LEARNERS}: {', '.join(command_name(learner) for learner in learners)}"


def is_named(claim: str, globs: Iterable[str]) -> bool:
    """True if one of the globs, such as those that a learner promises, matches the id of a claim."""
    return any(fnmatchcase(claim, glob) for glob in globs)


class Proof(StrEnum):
    """The state of the proof of a form, apart from any run."""

    PROVED = "proved"
    BROKEN = "broken"
    FALSE = "false"
    ASSUMED = "assumed"


@dataclass(frozen=True)
class Source:
    """The place of a statement in the literature."""

    authors: str
    title: str
    year: int
    number: str = ""

    def at(self, number: str) -> Source:
        """The same work at ``number``, e.g. "Lemma 1"."""
        return Source(self.authors, self.title, self.year, number)

    def __str__(self) -> str:
        return f"{self.authors} ({self.year}), {self.title}, {self.number}"


@dataclass(frozen=True)
class Form:
    """A claim as printed, reconstructed, derived, transferred or repaired.

    Attributes
    ----------
    name : "printed", "reconstructed", "derived", "transferred" or "repaired" (see the module)
    statement : the inequality in LaTeX
    proof : the state of its proof
    why : one sentence: why it is true, or what is wrong with it
    unmet : the hypothesis that a case does not meet, as a phrase, or None
    expected : the verdict expected of a case; None where either would do
    names : what the two sides are, where "observed" and "envelope" do not say it
    every_horizon : whether it is stated for every T with numbers that do not depend on T, such as gamma, h and eta:
        prefixes of runs are judged too then, where the learner does not use T
    adaptive : whether it is about adaptive adversaries too, which see what was played; otherwise about oblivious ones
    vacuous : for a case in which the form is right to say nothing: the horizon from which it does, and its derivation,
        as a sentence; None for other cases. A form that is expected to hold and is vacuous without is a surprise.
    unmet_by : the hypothesis that an exact instance does not meet, as a phrase, or None: what meets it not, refutes
        nothing, whoever wrote the certificate
    """

    name: str
    statement: str
    proof: Proof
    why: str
    unmet: Callable[[Any], str | None] = lambda case: None
    expected: Callable[[Any], Verdict | None] = lambda case: Verdict.HOLDS
    names: tuple[str, str] | None = None
    every_horizon: bool = False
    adaptive: bool = False
    vacuous: Callable[[Any], str | None] = lambda case: None
    unmet_by: Callable[[Any], str | None] = lambda instance: None

    def does_not_apply(self, case: Any) -> str | None:
        """The hypothesis that a case does not meet, that on the adversary included; None where it applies."""
        if case.is_adaptive and not self.adaptive:
            return "it is about oblivious adversaries, and this one sees what was played"
        return self.unmet(case)

    def expects(self, case: Any) -> Verdict | None:
        """The verdict expected of a case of the built-in suite."""
        expected = self.expected(case)
        if expected == Verdict.HOLDS and self.vacuous(case) is not None:
            return Verdict.VACUOUS
        return expected


@dataclass(frozen=True)
class Cell:
    """A form of a claim on a case: what gets a verdict."""

    claim: Claim
    form: Form
    case: Any


class Judge(Protocol):
    """The protocol of judges, which turn runs into evidence. One that derives from it has "<=", does not sample, and
    has no exact instances unless it says so.

    Attributes
    ----------
    kind : the word for it in results
    relation : "<=", or ">=" for a lower bound
    sampled : whether independent runs are judged, so that their number may be another one
    instances : kinds of instances of the claim's own that its certificates may hold
    """

    @property
    def kind(self) -> Kind: ...

    @property
    def relation(self) -> str:
        return "<="

    @property
    def sampled(self) -> bool:
        return False

    @property
    def instances(self) -> tuple[type[Any], ...]:
        return ()

    def examine(self, cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
        """Play so many runs of the case, or look at what takes the place of runs, and return both sides and the
        evidence."""

    def exact_sides(self, instance: Any, form: Form) -> tuple[Interval, Interval] | None:
        """Both sides of an exact instance, without rounding; None for a judge without such instances."""
        return None


class Watcher(Protocol):
    """A watcher of the rounds of a game, which others may watch as well."""

    def see(self, run: int, rounds: Any) -> None:
        """Look at the next block of a run."""

    def evidence(self) -> Evidence:
        """Both sides and the evidence, once every run has been seen."""


@runtime_checkable
class RoundByRound(Judge, Protocol):
    """A judge that looks at every round, so that one play of a game serves all such judges."""

    def watch(self, cell: Cell) -> Watcher:
        """A watcher for a cell."""


@dataclass(frozen=True)
class Claim:
    """A theorem, lemma or condition that can be put to the test.

    Attributes
    ----------
    id : "family/name"
    title : a few words
    source : where it stands
    forms : one, or a false one and its repair
    judge : how it is put to the test, with the functions of both sides
    cases : the settings in which the built-in suite plays it; none by default
    game : name of the game that it is about; None for the one that classes of the user's play unless another
        recognises them
    """

    id: str
    title: str
    source: Source
    forms: tuple[Form, ...]
    judge: Judge
    cases: Callable[[], Iterable[Setting]] = tuple
    game: str | None = None

    @property
    def kind(self) -> Kind:
        """The kind of its judge."""
        return self.judge.kind

    def form(self, name: str) -> Form:
        """The form called ``name``."""
        return next(form for form in self.forms if form.name == name)
