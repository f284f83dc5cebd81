"""A base for small games: a case whose runs are a few columns of numbers, played in plain Python.

A game needs a class with ``columns(run)``, the numbers of every round of a run by name. Blocks of rounds, totals and
the content of certificates follow from these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np

from ...arrays import FloatArray
from ..setting import Setting

BLOCK = 4096
"""Rounds in a block."""


@dataclass(frozen=True)
class SimpleRounds:
    """Consecutive rounds of one run.

    Attributes
    ----------
    case : the case
    start : index of the first of them, from 0
    columns : a number a round by name, each of shape (rounds,)
    history : the same of all rounds of the run
    """

    case: Any
    start: int
    columns: Mapping[str, FloatArray]
    history: Mapping[str, FloatArray]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def column(self, name: str) -> FloatArray:
        """One column, shape (rounds,)."""
        return self.columns[name]

    def at(self, i: int) -> Mapping[str, FloatArray]:
        """All rounds up to and including round ``i`` of these, by column."""
        return {name: column[: self.start + i + 1] for name, column in self.history.items()}

    def written(self, i: int) -> dict[str, float]:
        """Round ``i`` of these."""
        return {name: float(column[i]) for name, column in self.columns.items()}

    def sums(self) -> list[float]:
        """The sum of each column."""
        return [float(column.sum()) for column in self.columns.values()]


@dataclass(frozen=True)
class SimpleTotals:
    """Sums of the columns over the first rounds of some runs.

    Attributes
    ----------
    rounds : how many are added up
    columns : each of shape (runs,)
    """

    rounds: int
    columns: Mapping[str, FloatArray]

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True)
class SimpleCase(ABC):
    """A case whose runs are columns of numbers.

    Attributes
    ----------
    setting : where it came from
    learner, adversary : who plays
    seed : root of all randomness
    kept : what claims keep of this case for one another
    """

    setting: Setting
    learner: Any
    adversary: Any
    seed: int
    kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    game_name: ClassVar[str]

    @abstractmethod
    def columns(self, run: int) -> Mapping[str, FloatArray]:
        """Play one run: a number for each round by name, the same ones for the same run."""

    @property
    def horizon(self) -> int:
        """T."""
        assert self.setting.horizon is not None
        return self.setting.horizon

    @property
    def is_tuned_to_horizon(self) -> bool:
        """True, since nobody watches what the learner reads; override it for learners that do not use T."""
        return True

    @property
    def has_read_horizon(self) -> bool:
        """The same after play."""
        return self.is_tuned_to_horizon

    @property
    def is_adaptive(self) -> bool:
        """True for an adversary that sees the actions played."""
        return False

    @property
    def loss_spec(self) -> str | None:
        """None: the game has one loss."""
        return None

    @property
    def declaration(self) -> Mapping[str, Any]:
        """The declarations of the learner."""
        found: Mapping[str, Any] = getattr(self.learner, "declares", {})
        return found

    @property
    def resolved(self) -> dict[str, Any]:
        """Numbers that follow from the setting before any round, for certificates."""
        return {"declared": {name: str(value) for name, value in self.declaration.items()}}

    def digest(self) -> str:
        """SHA-256 of the first run."""
        columns = self._played(0)
        return sha256(b"".join(column.tobytes() for column in columns.values())).hexdigest()

    def generator(self, run: int) -> np.random.Generator:
        """The generator of a run."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(4, run)))

    def draws(self, run: int) -> list[float]:
        """The first of what is drawn in a run."""
        found: list[float] = self.generator(run).random(3).tolist()
        return found

    def _played(self, run: int) -> Mapping[str, FloatArray]:
        if ("columns", run) not in self.kept:
            self.kept["columns", run] = self.columns(run)
        found: Mapping[str, FloatArray] = self.kept["columns", run]
        return found

    def play(
        self, run: int, *, interpreted: bool = False, stop: int | None = None, trace: bool = True
    ) -> Iterator[SimpleRounds]:
        """The rounds of one run in blocks, up to round ``stop`` if given."""
        history = self._played(run)
        end = self.horizon if stop is None else min(stop, self.horizon)
        for start in range(0, end, BLOCK):
            part = slice(start, min(start + BLOCK, end))
            yield SimpleRounds(self, start, {n: c[part] for n, c in history.items()}, history)

    def totals_at(
        self, marks: Sequence[int], runs: range, *, interpreted: bool = False, fresh: bool = False
    ) -> list[SimpleTotals]:
        """Sums of the columns over the first rounds of some runs."""
        played = [self._played(run) for run in runs]
        return [
            SimpleTotals(
                mark, {n: np.array([run[n][:mark].sum() for run in played]) for n in played[0]}
            )
            for mark in marks
        ]

    def parts(self, runs: int) -> Iterator[range]:
        """All runs at once."""
        yield range(runs)
