"""A case of the weak-learning game: a weak learner, a stream of costs, and how the costs are shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..adversaries.weak_learning.stream import WeakStream
from ..algorithms.boosting.weak import Crowd
from ..algorithms.boosting.weak import Setting as CrowdSetting
from .case import Setting

GRAPHS = ("bandit", "full")
"""What a weak learner may be shown: unbiased estimates of the costs, or the costs."""


@dataclass(frozen=True)
class WeakProblem:
    """What a weak learner is told before the first round.

    Attributes
    ----------
    n_labels, n_features, horizon : k, d and T
    edge : gamma; some hypothesis has edge 2 gamma (0 where none is known to)
    least_weight : m, the smallest weight
    cost_range : B, the largest difference between entries of a weighted cost vector that is shown
    seed : for what it draws itself, another one in each run
    """

    n_labels: int
    n_features: int
    horizon: int
    edge: float
    least_weight: float
    cost_range: float
    seed: int = 0


@dataclass(frozen=True)
class WeakCase:
    """A resolved case.

    Attributes
    ----------
    setting : where it came from
    learner, adversary, stream : what is played
    graph : ``bandit`` or ``full``
    seed : root of all randomness
    played : runs that were played already (weak_game.py)
    """

    setting: Setting
    learner: Any
    adversary: Any
    graph: str
    stream: WeakStream
    seed: int
    played: dict[tuple[int, int], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

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

    def problem(self, seed: int = 0) -> WeakProblem:
        """What a weak learner is told."""
        stream = self.stream
        return WeakProblem(
            stream.n_labels,
            stream.n_features,
            stream.horizon,
            stream.richness / 2,
            stream.least_weight,
            stream.cost_range(self.graph),
            seed,
        )

    def crowd(self, seeds: list[int]) -> Crowd:
        """One weak learner for each run; one of a user's draws from its own seed."""
        if hasattr(self.learner, "crowd_for"):
            crowd: Crowd = self.learner.crowd_for([self.problem(seed) for seed in seeds])
            return crowd
        columns = len(seeds) if self.stream.oracle_edge is not None else 0
        n_features = self.stream.n_features + columns
        made: Crowd = self.learner.crowd(
            CrowdSetting(len(seeds), self.n_labels, n_features, self.horizon)
        )
        return made
