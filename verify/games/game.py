"""The protocol of games: what a game offers to the program, and what a judge may ask of one of its cases.

A game is a folder beside this module, or a file of the user's, that defines an instance of :class:`Game`. The program
finds it there and knows no game by name: the catalogue asks each of them which learners and adversaries it has, the
request which settings stand in for an axis that was left open, and the judges ask its cases for rounds and totals.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Protocol

import numpy as np

from ...arrays import FloatArray, IntArray
from ...errors import require
from ..setting import Setting

CHECKPOINTS = 60
"""Number of prefixes of a run that are kept for the report."""


OPEN_ROUNDS = {"quick": 300, "default": 2000, "full": 20_000}
OPEN_RUNS = {"quick": 2, "default": 8, "full": 32}
"""Rounds and runs, by scale, where the user replaced an axis of a game that says no other."""


def checkpoints(horizon: int) -> IntArray:
    """Numbers of rounds, log-spaced up to the horizon, after which the two sides are kept."""
    return np.unique(np.geomspace(1, horizon, min(horizon, CHECKPOINTS)).astype(np.int64))


class Rounds(Protocol):
    """Consecutive rounds of one run, in named columns.

    Attributes
    ----------
    case : the case that the run belongs to; against an adaptive adversary one a run
    start : index of the first of them, from 0
    """

    @property
    def case(self) -> Any: ...

    @property
    def start(self) -> int: ...

    def __len__(self) -> int: ...

    def column(self, name: str) -> FloatArray:
        """One number a round, shape (rounds,)."""

    def at(self, i: int) -> Any:
        """All that an exact instance may be made of: round ``i`` of these, which the game may forget afterwards."""

    def written(self, i: int) -> Mapping[str, Any]:
        """Round ``i`` of these as a certificate holds it."""

    def sums(self) -> list[float]:
        """Sums of all recorded numbers, by which a certificate knows the rounds before."""


class Totals(Protocol):
    """Sums of some runs after a number of rounds; a game has more columns, each of shape (runs,)."""

    @property
    def rounds(self) -> int: ...

    @property
    def runs(self) -> int: ...


class Case(Protocol):
    """A game made ready: everything that its setting names is there."""

    @property
    def game_name(self) -> str:
        """The name of its game."""

    @property
    def setting(self) -> Setting:
        """The setting that was resolved."""

    @property
    def learner(self) -> Any:
        """The learner that plays."""

    @property
    def adversary(self) -> Any:
        """The adversary that it plays against."""

    @property
    def seed(self) -> int:
        """The root of all randomness."""

    @property
    def kept(self) -> dict[Any, Any]:
        """Results about this case that claims keep for one another."""

    @property
    def horizon(self) -> int:
        """T."""

    @property
    def is_tuned_to_horizon(self) -> bool:
        """True unless it is certain that the learner does not read T before the first round."""

    @property
    def has_read_horizon(self) -> bool:
        """True unless it is certain that the learner has not read T in the runs that were played."""

    @property
    def is_adaptive(self) -> bool:
        """True for an adversary that sees the actions played."""

    @property
    def loss_spec(self) -> str | None:
        """Spec of the learner's surrogate loss, where it has one."""

    @property
    def declaration(self) -> Any:
        """The learner's declaration: a mapping of named numbers and words, from which envelopes are computed."""

    @property
    def resolved(self) -> dict[str, Any]:
        """Numbers that follow from the setting before any round, for certificates."""

    def digest(self) -> str:
        """SHA-256 of the adversary's data."""

    def draws(self, run: int) -> list[float]:
        """The first draws of a run."""

    def play(
        self, run: int, *, interpreted: bool = False, stop: int | None = None, trace: bool = True
    ) -> Iterator[Any]:
        """Play one run, up to round ``stop`` if given, and yield its rounds in blocks (:class:`Rounds`).

        ``interpreted`` plays in plain Python, bit for bit the same; without ``trace`` a game may leave out what only
        certificates and single rounds need.
        """

    def totals_at(
        self, marks: Sequence[int], runs: range, *, interpreted: bool = False, fresh: bool = False
    ) -> list[Any]:
        """The :class:`Totals` of some runs after each of some numbers of rounds; with ``fresh`` every run has data of
        its own."""

    def parts(self, runs: int) -> Iterator[range]:
        """The runs in the parts in which they are played, so that a slow learner may be refuted by the first."""


@dataclass(frozen=True)
class Measured:
    """Something a theorem supposes of the data, and what was measured.

    Attributes
    ----------
    name, meaning : in a few words
    measured : the number
    """

    name: str
    measured: float
    meaning: str


def refuse_data(request: Any, instead: str) -> None:
    """Raise :class:`UserError` for a request with data or a comparator norm, which only some games have."""
    for option, value in (("data", request.data), ("radius", request.comparator_norm)):
        require(value is None, f"--{option} is given for {instead}.")


class Game(ABC):
    """A kind of game.

    Attributes
    ----------
    name : one word, for errors
    learner_method, adversary_method : the methods that make a class a learner or an adversary of this game
    learner_words : what a class of the user's must be to be a learner, for errors
    learners_are : its learners in a few words, for the reason why a claim about them does not apply to others
    learner_noun, adversary_noun : what they are called in lists
    learner_help, adversary_help : what is said of classes of the user's there
    plays_the_rest : whether a class of the user's that no game recognises is taken for one of this game's
    """

    name: ClassVar[str]
    learner_method: ClassVar[str]
    adversary_method: ClassVar[str]
    learner_words: ClassVar[str] = "learner of the game"
    learners_are: ClassVar[str] = "those of another game"
    learner_noun: ClassVar[str] = "learner"
    adversary_noun: ClassVar[str] = "adversary"
    learner_help: ClassVar[str] = "your class"
    adversary_help: ClassVar[str] = "your class"
    plays_the_rest: ClassVar[bool] = False

    @abstractmethod
    def learners(self) -> Mapping[str, type[Any]]:
        """The learners that come with the game, by name."""

    @abstractmethod
    def adversaries(self) -> Mapping[str, type[Any]]:
        """The adversaries that come with the game, by name."""

    @abstractmethod
    def resolve(self, setting: Setting, learner: Any, adversary: Any, seed: int) -> Case:
        """Make a case.

        Raises
        ------
        UserError
            for parts that do not fit together
        """

    def plays(self, learner: Any) -> bool:
        """True for a learner of this game."""
        return hasattr(learner, self.learner_method)

    def opposes(self, adversary: Any) -> bool:
        """True for an adversary of this game."""
        return hasattr(adversary, self.adversary_method)

    def recognises(self, made: Any, spec: str) -> bool:
        """True for a class of the user's that is a learner of this game, in plain Python.

        Raises
        ------
        UserError
            for one that nearly is
        """
        return False

    def user_learner(self, made: Any, spec: str) -> Any:
        """A class of the user's, made to fit."""
        return made()

    def user_adversary(self, made: Any, spec: str) -> Any | None:
        """A class of the user's as an adversary of this game, or None if it is none."""
        return made() if hasattr(made, self.adversary_method) else None

    def opened(self, spec: str) -> Any | None:
        """The adversary of a spec that only this game understands, such as a file of data; None for others."""
        return None

    def settings(self, request: Any) -> Iterator[tuple[Setting, bool]]:
        """Settings for a request that replaces an axis, each with True if the claims that are judged by sampling do
        not look at it; by default the product of the axes that are given and of all that the game has for the others.

        Raises
        ------
        UserError
            for an axis that the game does not have
        """
        refuse_data(request, f"the game {self.name}: expected --learner, --adversary or --graph")
        learners = self.learners() if request.learner is None else (request.learner,)
        adversaries = self.adversaries() if request.adversary is None else (request.adversary,)
        rounds, runs = request.rounds or OPEN_ROUNDS[request.scale], OPEN_RUNS[request.scale]
        for learner, adversary in product(learners, adversaries):
            yield Setting(learner, adversary, request.graph or "full", rounds, runs=runs), False

    def measured(self, case: Any) -> list[Measured]:
        """Measurements of the data of a case, a row for each hypothesis of the theorems."""
        return []

    def warning(self, case: Any) -> str | None:
        """A warning about the data of a case, or None."""
        return None

    def check(self, request: Any, case: Any) -> None:
        """Refuse a case that the user's axes make senseless.

        Raises
        ------
        UserError
            naming what does not fit
        """
        return
