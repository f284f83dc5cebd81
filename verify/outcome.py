"""Results on a cell: evidence, the verdict that follows from it, curves, and a certificate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import FloatArray, IntArray
from ..atomic import put


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


class Kind(StrEnum):
    """The kinds of judges; a law of the mistakes, tested from both sides, is a mean."""

    EXACT = "exact"
    PATHWISE = "pathwise"
    MEAN = "mean"
    TAIL = "tail"
    FRONTIER = "frontier"
    LOWER_BOUND = "lower bound"


@dataclass(frozen=True)
class Certificate:
    """A refutation that anyone can check.

    Attributes
    ----------
    content : everything in its file but the digest
    values : observed side and envelope, rounded
    where : the place of the violation in a few words
    instance : the instance of an exact certificate
    """

    content: dict[str, Any]
    values: tuple[float, float]
    where: str
    instance: Any = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return digest_of(self.content)

    @property
    def file_name(self) -> str:
        """A name that tells the claim and is the same for the same content."""
        claim = self.content["claim"].replace("/", "-")
        return f"{claim}-{self.content['form']}-{self.digest[:12]}.json"

    @property
    def text(self) -> str:
        """The content of its file."""
        content = self.content | {"digest": self.digest}
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def write(self, folder: Path) -> Path:
        """Write the certificate into ``folder`` and return its path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.file_name
        put({path: self.text.encode()})
        return path


def canonical(content: Mapping[str, Any]) -> str:
    """Plain data as text, in the one way of writing it."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of(content: Mapping[str, Any]) -> str:
    """SHA-256 of a certificate's content, without the digest itself."""
    return hashlib.sha256(canonical(content).encode()).hexdigest()


CurvePoint = tuple[int, int, float, float, float]
"""Run, number of rounds, observed side, envelope, delta."""


@dataclass(frozen=True)
class Curve:
    """Both sides of runs after some numbers of rounds, for the report; each array has shape (points,).

    Attributes
    ----------
    replicate, rounds : number of the run, number of rounds
    observed, envelope : the two sides
    delta : the probability that the envelope may be exceeded; NaN where the statement names none
    """

    replicate: IntArray
    rounds: IntArray
    observed: FloatArray
    envelope: FloatArray
    delta: FloatArray

    @classmethod
    def of(cls, points: Sequence[CurvePoint]) -> Curve:
        """The curve through single points."""
        columns = np.array(points, dtype=np.float64).reshape(len(points), 5).T
        return cls(columns[0].astype(np.int64), columns[1].astype(np.int64), *columns[2:])

    @classmethod
    def of_runs(
        cls, rounds: int, observed: FloatArray, envelope: FloatArray, delta: float = np.nan
    ) -> Curve:
        """One point of each run: all after the same number of rounds."""
        n = len(observed)
        return cls(np.arange(n), np.full(n, rounds), observed, envelope, np.full(n, delta))

    @classmethod
    def of_paths(
        cls, rounds: IntArray, observed: FloatArray, envelope: FloatArray, delta: float = np.nan
    ) -> Curve:
        """Runs under one envelope, shape (n,), after the same numbers of rounds; ``observed`` has shape (R, n)."""
        runs, n = observed.shape
        return cls(
            np.repeat(np.arange(runs), n),
            np.tile(rounds, runs),
            observed.ravel(),
            np.tile(envelope, runs),
            np.full(observed.size, delta),
        )

    @classmethod
    def joined(cls, curves: Sequence[Curve]) -> Curve:
        """Several curves as one."""
        return cls(
            *(np.concatenate([getattr(curve, f.name) for curve in curves]) for f in fields(cls))
        )


@dataclass
class Evidence:
    """A judge's findings on a cell: both sides, and all that ``judges/decide.py`` needs for a verdict.

    Attributes
    ----------
    observed, envelope : both sides where they come nearest, or where the statement is violated
    ratio : observed over envelope
    regret_ratio : the same without the comparator's loss on both sides
    headroom : the factor by which the envelope could shrink before the same runs refute it, without the comparator's
        loss where that stands on both sides
    live : rounds, runs or instances in which the inequality could have failed; 0 makes the verdict vacuous
    refutes : whether the statement is violated beyond doubt, or beyond the level of a sampled cell
    enough : whether the evidence suffices for ``holds`` where nothing refutes
    trouble : why nothing can be said though something looks violated; the verdict is ``error``
    unmet : a hypothesis that showed only in play not to be met; the verdict is ``not applicable``
    says : the evidence in words; ``more`` has the words that only one verdict adds or replaces them by
    certify : makes the certificate of a refutation
    runs, rounds : how many were played
    flags : remarks, such as "weak"
    tested_from : the smallest T at which a statement about T rounds was put to the test; None for other kinds
    sampled : whether a false alarm is possible, at the level of one sampled cell
    curve, frontiers : for the report
    """

    observed: float | None = None
    envelope: float | None = None
    ratio: float | None = None
    regret_ratio: float | None = None
    headroom: float | None = None
    live: int = 1
    refutes: bool = False
    enough: bool = True
    trouble: str | None = None
    unmet: str | None = None
    says: str = ""
    more: dict[Verdict, str] = field(default_factory=dict)
    certify: Callable[[], Certificate | None] = lambda: None
    runs: int = 0
    rounds: int = 0
    flags: tuple[str, ...] = ()
    tested_from: int | None = None
    sampled: bool = False
    curve: Curve | None = field(default=None, repr=False)
    frontiers: Any = field(default=None, repr=False)


@dataclass
class Outcome:
    """The verdict on one cell, with what it stands on; the fields are those of the JSON results."""

    verdict: Verdict
    observed: float | None = None
    envelope: float | None = None
    ratio: float | None = None
    regret_ratio: float | None = None
    headroom: float | None = None
    evidence: str = ""
    runs: int = 0
    rounds: int = 0
    flags: tuple[str, ...] = ()
    certificate: Certificate | None = None
    tested_from: int | None = None
    """The smallest T at which a statement about the first T rounds was put to the test."""
    sampled: bool = False
    """True if a false alarm is possible, at the level of one sampled cell."""
    curve: Curve | None = field(default=None, repr=False)
    """Both sides over the rounds, for the report."""
    frontiers: Any = field(default=None, repr=False)
    """The frontiers of a claim about one, for the report."""
