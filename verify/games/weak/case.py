"""A case of the weak-learning game: a weak learner, a stream of costs, and how the costs are shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ....adversaries.weak_learning.stream import WeakStream
from ....algorithms.boosting.weak import Crowd
from ....algorithms.boosting.weak import Setting as CrowdSetting
from ..labels.case import Setting, digits
from .known import known_declaration
from .problem import WeakDeclaration, WeakProblem

GRAPHS = ("bandit", "full")
"""What a weak learner may be shown: unbiased estimates of the costs, or the costs."""

WEAK_STREAM = 3
"""First word of the spawn key; the streams of the other game have 0, 1 and 2."""


def weak_stream(seed: int, replicate: int, purpose: int = 0) -> np.random.Generator:
    """What one run draws: ``purpose`` 0 for the weak learner's own dice, 1 for estimates, 2 for oracles."""
    key = np.random.SeedSequence(seed, spawn_key=(WEAK_STREAM, replicate, purpose))
    return np.random.default_rng(key)


@dataclass(frozen=True)
class WeakCase:
    """A resolved case.

    Attributes
    ----------
    setting : where it came from
    learner, adversary, stream : what is played
    graph : ``bandit`` or ``full``
    seed : root of all randomness
    played : what was played already, under a name for it and its runs
    """

    setting: Setting
    learner: Any
    adversary: Any
    graph: str
    stream: WeakStream
    seed: int
    played: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def n_labels(self) -> int:
        """k."""
        return self.stream.n_labels

    @property
    def horizon(self) -> int:
        """T."""
        return self.stream.horizon

    @property
    def loss(self) -> None:
        """Weak learners have no surrogate loss."""
        return None

    @cached_property
    def problem(self) -> WeakProblem:
        """What a weak learner is told, but for its seed."""
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
    def is_own(self) -> bool:
        """Whether the weak learner is a class of the user's."""
        return hasattr(self.learner, "crowd_for")

    @cached_property
    def declaration(self) -> WeakDeclaration | str:
        """What the weak learner declares, or what is known of it; or why there is nothing, as a phrase."""
        if self.is_own:
            declared: WeakDeclaration | str = self.learner.declared(self.problem)
            return declared
        return known_declaration(self.learner, self.stream, self.problem)

    @property
    def word(self) -> WeakDeclaration:
        """The declaration of a case that has one."""
        assert isinstance(self.declaration, WeakDeclaration)
        return self.declaration

    def crowd(self, replicates: range) -> Crowd:
        """One weak learner for each run; one of a user's draws from its own seed."""
        if self.is_own:
            seeds = [int(weak_stream(self.seed, r).integers(2**63)) for r in replicates]
            own: Crowd = self.learner.crowd_for(self.problem, seeds)
            return own
        columns = len(replicates) if self.stream.oracle_edge is not None else 0
        n_features = self.stream.n_features + columns
        made: Crowd = self.learner.crowd(
            CrowdSetting(len(replicates), self.n_labels, n_features, self.horizon)
        )
        return made

    def digest(self) -> str:
        """SHA-256 of the stream."""
        return self.stream.digest()

    def draws(self, replicate: int) -> list[float]:
        """The first of what is drawn in a replicate."""
        found: list[float] = weak_stream(self.seed, replicate, 1).random(3).tolist()
        return found

    @property
    def resolved(self) -> dict[str, Any]:
        """What follows from the setting before any round, for certificates."""
        word, problem = self.declaration, self.problem
        found = {
            "first_draws": self.draws(0),
            "n_labels": problem.n_labels,
            "n_features": problem.n_features,
            "least_weight": digits(problem.least_weight),
            "cost_range": digits(problem.cost_range),
        }
        if isinstance(word, WeakDeclaration):
            numbers = {"edge": word.edge, "delta": word.delta, "excess_loss": word.excess_loss}
            found |= {name: digits(number) for name, number in numbers.items()}
        return found
