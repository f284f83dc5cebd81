"""A case of the weak-learning game: a weak learner, a stream of costs, and how the costs are shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from ....adversaries.weak_learning.stream import WeakStream
from ....algorithms.boosting.problem import WeakDeclaration, WeakProblem
from ....algorithms.boosting.weak import Compiled, Crowd
from ....algorithms.boosting.weak import Setting as CrowdSetting
from ....algorithms.horizon import Reading, watched
from ...setting import Setting
from . import rounds
from .play import DATA, ESTIMATES, RunTotals, generator, play_runs

GRAPHS = ("bandit", "full")
"""The two ways of showing costs: unbiased estimates of the costs, or the costs."""

A_FEW = 8
"""Runs in which a weak learner of the user's that always fails is refuted, at delta = 0.05."""


@dataclass(frozen=True)
class Case:
    """A resolved case.

    Attributes
    ----------
    setting : where it came from
    learner, adversary, stream : what is played
    graph : ``bandit`` or ``full``
    seed : root of all randomness
    reading : whether the weak learner has read the horizon in any run
    kept : what claims keep of this case for one another
    """

    setting: Setting
    learner: Any
    adversary: Any
    graph: str
    stream: WeakStream
    seed: int
    reading: Reading = field(default_factory=Reading, repr=False, compare=False)
    kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    game_name: ClassVar[str] = "weak-learning"

    @property
    def n_labels(self) -> int:
        """k."""
        return self.stream.n_labels

    @property
    def horizon(self) -> int:
        """T."""
        return self.stream.horizon

    @property
    def is_adaptive(self) -> bool:
        """True if costs depend on earlier predictions."""
        return self.stream.is_adaptive

    @property
    def loss_spec(self) -> None:
        """Weak learners have no surrogate loss."""
        return None

    @cached_property
    def problem(self) -> WeakProblem:
        """All that a weak learner is told, but for its seed."""
        stream = self.stream
        return WeakProblem(
            stream.n_labels,
            stream.n_features,
            stream.horizon,
            stream.richness / 2,
            stream.least_weight,
            stream.cost_range(self.graph),
        )

    @property
    def _told(self) -> WeakProblem:
        return watched(self.problem, self.reading)

    @cached_property
    def is_tuned_to_horizon(self) -> bool:
        """True for a weak learner that reads T before the first round, or for what it declares."""
        asked = replace(self, reading=Reading())
        asked.crowd(range(1), interpreted=True)
        _ = asked.declaration
        return asked.reading.happened

    @property
    def has_read_horizon(self) -> bool:
        """True if the weak learner has read T in any of the runs so far."""
        return self.reading.happened

    @property
    def is_users(self) -> bool:
        """True for a weak learner that is a class of the user's."""
        return hasattr(self.learner, "crowd_for")

    @property
    def has_oracles(self) -> bool:
        """True for a weak learner that reads predictions drawn for it."""
        reads = getattr(self.learner, "reads_oracles", False)
        return bool(reads) and self.stream.oracle_edge is not None

    @cached_property
    def declaration(self) -> WeakDeclaration | str:
        """The numbers that the weak learner declares on the stream, or why there are none, as a phrase."""
        if not hasattr(self.learner, "declare"):
            return f"no excess loss is known of {self.learner.spec}"
        declared: WeakDeclaration | str = self.learner.declare(self._told, self.stream)
        return declared

    @property
    def word(self) -> WeakDeclaration:
        """The declaration of a case that has one."""
        assert isinstance(self.declaration, WeakDeclaration)
        return self.declaration

    def crowd(self, runs: range, *, interpreted: bool = False) -> Crowd:
        """One weak learner for each run; one of a user's draws from its own seed."""
        if self.is_users:
            seeds = [int(generator(self.seed, run).integers(2**63)) for run in runs]
            theirs: Crowd = self.learner.crowd_for(self._told, seeds)
            return theirs
        n_features = self.stream.n_features + (len(runs) if self.has_oracles else 0)
        setting = CrowdSetting(len(runs), self.n_labels, n_features, self.horizon)
        made: Crowd = self.learner.crowd(watched(setting, self.reading))
        if isinstance(made, Compiled):
            made.interpreted = interpreted
        return made

    def digest(self) -> str:
        """SHA-256 of the stream."""
        return self.stream.digest()

    def draws(self, run: int) -> list[float]:
        """The first of what is drawn in a run."""
        found: list[float] = generator(self.seed, run, ESTIMATES).random(3).tolist()
        return found

    @property
    def resolved(self) -> dict[str, Any]:
        """All that follows from the setting before any round, for certificates."""
        declared, problem = self.declaration, self.problem
        found: dict[str, Any] = {
            "first_draws": self.draws(0),
            "n_labels": problem.n_labels,
            "n_features": problem.n_features,
            "least_weight": _digits(problem.least_weight),
            "cost_range": _digits(problem.cost_range),
        }
        if isinstance(declared, WeakDeclaration):
            names = ("edge", "delta", "excess_loss")
            found["declared"] = {name: _digits(getattr(declared, name)) for name in names}
        return found

    def with_fresh_stream(self, run: int) -> Case:
        """The same case on a stream of the run's own, for statements whose probability is over the stream too; that
        of run 0 is the case's."""
        if run == 0:
            return self
        seed = int(generator(self.seed, run, DATA).integers(2**63))
        return replace(self, stream=self.adversary.stream(self.horizon, seed))

    def play(
        self, run: int, *, interpreted: bool = False, stop: int | None = None, trace: bool = True
    ) -> Iterator[rounds.Rounds]:
        """Play one run, up to round ``stop`` if given, and yield its rounds in blocks, always whole."""
        return rounds.play(self, run, interpreted=interpreted, stop=stop)

    def totals_at(
        self, marks: Sequence[int], runs: range, *, interpreted: bool = False, fresh: bool = False
    ) -> list[RunTotals]:
        """The sums of some runs after each of some numbers of rounds; with ``fresh`` every run has a stream of its own.
        Claims about a case share its runs."""
        if not fresh:
            paths = play_runs(self, runs, interpreted=interpreted)
            return [paths.totals(mark) for mark in marks]
        each = []
        for run in runs:
            key = ("totals", run, tuple(marks))
            if key not in self.kept:
                case, alone = self.with_fresh_stream(run), range(run, run + 1)
                self.kept[key] = case.totals_at(marks, alone, interpreted=interpreted)
            each.append(self.kept[key])
        return [RunTotals.joined(parts) for parts in zip(*each, strict=True)]

    def parts(self, runs: int) -> Iterator[range]:
        """The runs in the parts in which they are played: of a user's weak learner, which is slow, a few at first, then
        as many again as were played."""
        first = 0
        while first < runs:
            size = max(A_FEW, first) if self.is_users else runs
            yield range(first, min(first + size, runs))
            first += size


def _digits(value: float) -> str:
    """Twelve digits: what is computed with logarithms may differ in the last one elsewhere."""
    return f"{value:.12g}"
