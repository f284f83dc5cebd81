"""Mutants: broken learners, each with its declared fate on what ``verify --learner`` plays at the quick scale.

Nothing is played that was made for a mutant. Fates are strict both ways: a claim that catches more or less than is
declared fails the tests. Those that run every time ask the claims that must catch it, those marked ``nightly`` ask all
that it promises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from boundcheck.verify import catalog
from boundcheck.verify.outcome import Verdict
from boundcheck.verify.suite import run as suite
from boundcheck.verify.suite.request import Request, jobs_for

KINDS = {
    "caught": "a claim refutes it",
    "refused": "the game names the round and stops",
    "below": "below the resolution of the quick scale; a claim refutes it at the default one",
    "better": "better than promised: every upper bound is true of it",
    "slack": "inside the slack: all that is stated is true of it",
    "equivalent": "plays like the right learner",
}


@dataclass(frozen=True)
class Mutant:
    """A broken learner and the claims that must refute it, no more and no fewer.

    Attributes
    ----------
    name : what is wrong with it
    family : what it should be
    learner : the learner, as ``verify`` takes it
    caught_by : ids of the claims; at the default scale for one of the kind "below"
    why : the reason, above all why the other claims do not refute it
    kind : one of ``KINDS``
    """

    name: str
    family: str
    learner: Any = field(repr=False)
    caught_by: frozenset[str]
    why: str
    kind: str

    def __post_init__(self) -> None:
        assert self.kind in KINDS
        assert bool(self.caught_by) == (self.kind in ("caught", "below"))

    @property
    def id(self) -> str:
        return f"{self.family}: {self.name}"


def jobs(learner: Any, claims: Sequence[str] = (), scale: str = "quick") -> list[suite.Job]:
    """What ``verify --learner`` plays, for the claims that the learner promises or for some of them."""
    made = catalog.learner(learner) if isinstance(learner, str) else learner
    return jobs_for(Request(tuple(claims or made.promises), learner, scale=scale))


def refuting(rows: list[suite.Row]) -> set[str]:
    """The claims that the learner promises and that are refuted."""
    return {row.claim for row in rows if row.surprising and row.verdict == Verdict.REFUTED}


def fails(rows: list[suite.Row]) -> bool:
    """Whether the game stopped, or a claim could not be judged."""
    return any(row.verdict == Verdict.ERROR for row in rows)


def caught(mutant: Mutant, scale: str = "quick") -> bool:
    """Whether all claims that must catch it do. It is played until they have."""
    left = set(mutant.caught_by)
    for rows in played(mutant, sorted(left), scale):
        if fails(rows):
            return mutant.kind == "refused"
        left -= refuting(rows)
        if not left:
            return True
    return False


def fate(mutant: Mutant) -> frozenset[str] | None:
    """All claims that catch it at the quick scale; None where the game stops."""
    found: set[str] = set()
    for rows in played(mutant):
        if fails(rows):
            return None
        found |= refuting(rows)
    return frozenset(found)


def as_declared(mutant: Mutant, found: frozenset[str] | None) -> bool:
    """Whether the fate is the declared one."""
    if mutant.kind == "refused":
        return found is None
    return found == (frozenset() if mutant.kind == "below" else mutant.caught_by)


def played(
    mutant: Mutant, claims: Sequence[str] = (), scale: str = "quick"
) -> Iterator[list[suite.Row]]:
    """Rows of each game."""
    return suite.run(jobs(mutant.learner, claims, scale), 0)
