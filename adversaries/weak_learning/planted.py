"""Data with a planted hypothesis that is right often enough: a stump, or advice in a column of the features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from ...algorithms.spec import Checked
from ...arrays import FloatArray, IntArray
from ..sequence import generator_of
from . import noise as noises
from .stream import WeakStream, check_rounds, even_costs

NOISES = tuple(noises.KINDS)

EDGES = "[0, 0.5]"
"""The range of gamma, as 2 gamma is an edge too."""


@dataclass(frozen=True)
class _Planted(Checked):
    """Parameters
    ----------
    n_labels : k, at least 2
    n_features : d, at least 1
    edge : gamma; the planted hypothesis is said to have edge 2 gamma
    right : in how many of ten rounds it is right, the last ones of the ten being wrong
    noise : how the costs are estimated in the bandit setting, such as ``estimate+rho=0.5``
    """

    n_labels: Annotated[int, "[2, inf)"] = 3
    n_features: Annotated[int, "[1, inf)"] = 4
    edge: Annotated[float, EDGES] = 0.3
    right: Annotated[int, "[0, 10]"] = 9
    noise: str = "estimate"

    def __post_init__(self) -> None:
        super().__post_init__()
        noises.parse(str(self.noise))

    def _features(self, generator: np.random.Generator, horizon: int) -> FloatArray:
        raise NotImplementedError

    def _planted(self, features: FloatArray) -> IntArray:
        raise NotImplementedError

    def stream(self, horizon: int, seed: int) -> WeakStream:
        check_rounds(horizon, self.n_labels, self.n_features)
        generator = generator_of(seed, self.spec)
        features = self._features(generator, horizon)
        planted = self._planted(features)
        away = generator.integers(1, self.n_labels, size=horizon)
        wrong = np.arange(horizon) % 10 >= self.right
        labels = np.where(wrong, (planted + away) % self.n_labels, planted)
        return WeakStream(
            features,
            labels,
            np.ones(horizon),
            even_costs(labels, self.n_labels),
            noises.parse(str(self.noise)),
            planted,
            2 * self.edge,
        )


def stump(features: FloatArray, n_labels: int) -> IntArray:
    """The last label where the first feature is above 0, otherwise the first; shape (T,)."""
    return np.where(features[:, 0] > 0, n_labels - 1, 0)


def coins(generator: np.random.Generator, horizon: int, n_features: int) -> FloatArray:
    """Features that are 0 or 1, shape (T, d)."""
    return generator.integers(2, size=(horizon, n_features)).astype(np.float64)


@dataclass(frozen=True)
class PlantedStump(_Planted):
    """Coins as features, of which the first tells the label in nine of ten rounds; all wrong labels cost the same."""

    def _features(self, generator: np.random.Generator, horizon: int) -> FloatArray:
        return coins(generator, horizon, self.n_features)

    def _planted(self, features: FloatArray) -> IntArray:
        return stump(features, self.n_labels)


@dataclass(frozen=True)
class FollowingCosts(PlantedStump):
    """A planted stump; where it is right all of the cost falls on the wrong label predicted most often so far."""

    def stream(self, horizon: int, seed: int) -> WeakStream:
        found = super().stream(horizon, seed)
        return replace(found, follows=found.labels == found.planted)


@dataclass(frozen=True)
class PlantedAdvice(_Planted):
    """Labels as features, of which the first is right in nine of ten rounds; all wrong labels cost the same."""

    def _features(self, generator: np.random.Generator, horizon: int) -> FloatArray:
        size = (horizon, self.n_features)
        return generator.integers(self.n_labels, size=size).astype(np.float64)

    def _planted(self, features: FloatArray) -> IntArray:
        return features[:, 0].astype(np.int64)


@dataclass(frozen=True)
class TiltedWeights(Checked):
    """Weights that tell when the stump is right: a weak learner that ignores them learns the opposite.

    In heavy rounds, of weight 1, the label is what the stump says; in the others, which are more but lighter, it is
    what the stump says of the opposite feature. All wrong labels cost the same.

    Parameters
    ----------
    n_labels : k, at least 2
    n_features : d, at least 1
    edge : gamma; the stump is said to have edge 2 gamma
    heavy : share of the heavy rounds
    light : weight of the others
    noise : how the costs are estimated in the bandit setting
    """

    n_labels: Annotated[int, "[2, inf)"] = 2
    n_features: Annotated[int, "[1, inf)"] = 2
    edge: Annotated[float, EDGES] = 0.3
    heavy: Annotated[float, "(0, 1]"] = 0.45
    light: Annotated[float, "(0, 1]"] = 0.2
    noise: str = "two-point+size=0.1"
    enough_rounds: ClassVar[int] = 3000
    """In which a weak learner that ignores the weights exceeds the excess loss that is known of Hedge."""

    def __post_init__(self) -> None:
        super().__post_init__()
        noises.parse(str(self.noise))

    def stream(self, horizon: int, seed: int) -> WeakStream:
        check_rounds(horizon, self.n_labels, self.n_features)
        generator = generator_of(seed, self.spec)
        features = coins(generator, horizon, self.n_features)
        planted = stump(features, self.n_labels)
        counts = np.ceil(np.arange(horizon + 1) * self.heavy)
        heavy = np.diff(counts) > 0
        labels = np.where(heavy, planted, self.n_labels - 1 - planted)
        return WeakStream(
            features,
            labels,
            np.where(heavy, 1.0, self.light),
            even_costs(labels, self.n_labels),
            noises.parse(str(self.noise)),
            planted,
            2 * self.edge,
        )
