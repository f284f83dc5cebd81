"""Data with a planted hypothesis that is right often enough: a stump, or advice in a column of the features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...algorithms.spec import spec_of
from ...arrays import FloatArray, IntArray
from ...errors import require
from ..sequence import integer_at_least
from ..sequence import stream as random_stream
from . import noise as noises
from .stream import WeakStream, check_rounds, even_costs

NOISES = tuple(noises.KINDS)


@dataclass(frozen=True)
class _Planted:
    """Parameters
    ----------
    n_labels : k, at least 2
    n_features : d, at least 1
    edge : gamma; the planted hypothesis is said to have edge 2 gamma
    right : in how many of ten rounds it is right, the last ones of the ten being wrong
    noise : how the costs are estimated in the bandit setting, such as ``estimate+rho=0.5``
    """

    n_labels: int = 3
    n_features: int = 4
    edge: float = 0.3
    right: int = 9
    noise: str = "estimate"

    def __post_init__(self) -> None:
        integer_at_least("n_labels", self.n_labels, 2)
        integer_at_least("n_features", self.n_features, 1)
        check_edge(self.edge)
        require(0 <= self.right <= 10, f"right={self.right}: expected an integer from 0 to 10.")
        noises.parse(str(self.noise))

    @property
    def spec(self) -> str:
        return spec_of(self)

    def _features(self, generator: np.random.Generator, horizon: int) -> FloatArray:
        raise NotImplementedError

    def _planted(self, features: FloatArray) -> IntArray:
        raise NotImplementedError

    def stream(self, horizon: int, seed: int) -> WeakStream:
        check_rounds(horizon, self.n_labels, self.n_features)
        generator = random_stream(seed, self.spec)
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


def check_edge(edge: float) -> None:
    """Raise :class:`UserError` unless ``edge`` and twice as much are edges."""
    require(
        0 <= edge <= 0.5, f"edge={edge}: expected gamma in [0, 0.5], as 2 gamma is an edge too."
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
class TiltedWeights:
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

    n_labels: int = 2
    n_features: int = 2
    edge: float = 0.3
    heavy: float = 0.45
    light: float = 0.2
    noise: str = "two-point+size=0.1"
    enough_rounds: ClassVar[int] = 3000
    """In which a weak learner that ignores the weights exceeds the excess loss that is known of Hedge."""

    def __post_init__(self) -> None:
        integer_at_least("n_labels", self.n_labels, 2)
        integer_at_least("n_features", self.n_features, 1)
        check_edge(self.edge)
        for name, value in (("heavy", self.heavy), ("light", self.light)):
            require(0 < value <= 1, f"{name}={value}: expected a number in (0, 1].")
        noises.parse(str(self.noise))

    @property
    def spec(self) -> str:
        return spec_of(self)

    def stream(self, horizon: int, seed: int) -> WeakStream:
        check_rounds(horizon, self.n_labels, self.n_features)
        generator = random_stream(seed, self.spec)
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
