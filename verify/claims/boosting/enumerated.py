"""Enumerated claims about boosters: settings, rounds of exploration, and how much of all that there is is tried."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
from gmpy2 import mpq

from ....errors import require
from ...author import Instance, Setting
from ...certificates.instances import Json
from ...exact import boosting as exact
from ...exact.boosting import Fractions, decimal, texts
from ...games.labels.case import Case

RATES = tuple(
    mpq(n, d) for n, d in ((1, 2), (9, 10), (1, 10), (3, 10), (2, 3), (99, 100), (1, 100))
)
"""Exploration rates at which statements about every rate are looked at, beside that of the learner."""

MOST_REMAINING = 12
"""Votes to come up to which potentials of up to five labels are computed by recursion; half of it for more labels."""

MOST_POINTS = 150
"""Points of a grid that are looked at."""

ROUNDING = 1e-9
"""Largest difference of what is computed in floats, as a share of the numbers added up."""


def _setting(learner: str, n_labels: int, graph: str = "bandit") -> Setting:
    return Setting(learner, f"one-hot:n_labels={n_labels}", graph, 6, runs=1)


def bandit_settings() -> list[Setting]:
    """BanditBBM for two to five labels, both tie rules and several exploration rates."""
    return [
        _setting(f"bandit-bbm:learners={learners},gamma={gamma},ties={ties},rho={rho}", k)
        for k, learners, gamma, ties, rho in (
            (2, 5, 0.2, "lowest", 0.1),
            (3, 5, 0.1, "random", 0.7),
            (3, 4, 0.1, "lowest", 0.5),
            (4, 4, 0.2, "lowest", 0.1),
            (5, 6, 0.2, "random", 0.1),
        )
    ]


def adaptive_settings() -> list[Setting]:
    """AdaBandit for two to five labels."""
    options = ((2, "lowest", 0.6), (3, "random", 0.3), (4, "lowest", 0.02), (5, "random", 0.5))
    return [_setting(f"ada-bandit:learners=4,ties={ties},rho={rho}", k) for k, ties, rho in options]


def exploring_settings() -> list[Setting]:
    """The boosters with bandit feedback."""
    return [*bandit_settings(), *adaptive_settings()]


def full_settings() -> list[Setting]:
    """Adaboost.OLM for two to five labels."""
    options = ((2, "random"), (3, "lowest"), (4, "random"), (5, "lowest"))
    return [_setting(f"adaboost-olm:learners=4,ties={ties}", k, "full") for k, ties in options]


def rho_of(case: Case) -> mpq:
    """The exploration rate that the learner plays with."""
    return decimal(case.declaration.number("rho"))


def rates(case: Case) -> tuple[mpq, ...]:
    """That of the learner, the largest one at which k / rho bounds loss estimates, and ``RATES``."""
    k = case.n_labels
    return tuple(dict.fromkeys((rho_of(case), mpq(k, k + 1), *RATES)))


@lru_cache(maxsize=1 << 14)
def losses_of(best: int, label: int, played: int, rho: mpq, k: int) -> Fractions:
    """The loss estimate in a round of exploration."""
    return exact.loss_estimate(best, label, played, exact.exploration(best, rho, k))


@dataclass(frozen=True)
class Exploration(Instance):
    """A round of exploration.

    Attributes
    ----------
    rho : exploration rate, above 0 and below 1
    best, label, played : the booster's best label, the true one and the one that was played
    """

    rho: mpq
    best: int
    label: int
    played: int

    def __post_init__(self) -> None:
        k = self.n_labels
        require(k >= 2, f"{k} labels: expected at least 2.")
        require(0 < self.rho < 1, f"rho {self.rho}: expected a number above 0 and below 1.")
        for label in self.labels:
            require(0 <= label < k, f"label {label}: expected one of 0 to {k - 1}.")

    @property
    @abstractmethod
    def n_labels(self) -> int:
        """k."""

    @property
    def labels(self) -> tuple[int, ...]:
        """All labels that it names."""
        return self.best, self.label, self.played

    @cached_property
    def probabilities(self) -> Fractions:
        """The probability of each label to be played."""
        return exact.exploration(self.best, self.rho, self.n_labels)

    def losses_if(self, played: int) -> Fractions:
        """The loss estimate had another label been played."""
        return losses_of(self.best, self.label, played, self.rho, self.n_labels)

    @property
    def losses(self) -> Fractions:
        """The loss estimate."""
        return self.losses_if(self.played)

    @property
    def derived(self) -> Json:
        return {
            "is_label": [int(r == self.label) for r in range(self.n_labels)],
            "probabilities": texts(self.probabilities),
            "losses": texts(self.losses),
        }


def few(n_labels: int) -> tuple[int, ...]:
    """All labels; of more than six the first two and the last, as the names of labels change nothing."""
    return tuple(range(n_labels)) if n_labels <= 6 else (0, 1, n_labels - 1)


def grid(values: Sequence[mpq], size: int) -> list[tuple[mpq, ...]]:
    """All points of a grid with these values on each axis, or a fixed sample of them where they are many."""
    if len(values) ** size <= MOST_POINTS:
        return list(product(values, repeat=size))
    chosen = np.random.default_rng(size).integers(len(values), size=(MOST_POINTS, size))
    return [tuple(values[i] for i in row) for row in chosen.tolist()]


def most_remaining(n_labels: int) -> int:
    """Votes to come up to which potentials are computed by recursion."""
    return MOST_REMAINING if n_labels <= 5 else MOST_REMAINING // 2


def deviation(found: Fractions, stated: Fractions) -> mpq:
    """The largest difference."""
    return max(abs(a - b) for a, b in zip(found, stated, strict=True))
