"""Equations (6) and (8): potentials of boost-by-majority, the costs made of them, and how large these are.

=====================  ==========================================================================
symbol                 name here
=====================  ==========================================================================
k, N, gamma            ``n_labels``, ``learners``, ``edge``
phi^y_i(s), eq. (6)    potential of y with i votes to come
c^i_t, eq. (8)         ``costs``, after votes of which ``remaining`` = N - i are to come
w^i                    ``weight``: the sum of what the costs exceed that of the label by
p_y                    (1 - gamma)/k + gamma, the chance of a vote for the label
=====================  ==========================================================================

The edge is taken as the decimal that is written for it. The votes that can be reached are, up to the names of labels,
the ways to write a number below N as an ordered sum of k numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from gmpy2 import mpq

from ....algorithms.boosting.potentials import TIES, partitions
from ....errors import require
from ...author import Check, Claim, Exact, Form, Instance, Interval, Proof, Setting
from ...certificates.instances import Json
from ...exact import boosting as exact
from ...exact.boosting import Fractions, decimal, texts
from ...games.labels.case import Case
from ..papers import BOOSTING
from .enumerated import ROUNDING, most_remaining
from .estimates_in_play import told_checks
from .hypotheses import booster, votes

MOST_STATES = 250
"""Votes of a case that are looked at; where there are more, those of fewer weak learners."""


@dataclass(frozen=True)
class VotesInstance(Instance):
    """The votes of some weak learners, before the next one.

    Attributes
    ----------
    edge, ties : what the potentials are made with
    votes : cast so far, for each label
    label : the true label
    remaining : how many votes are to come after the next one
    """

    edge: mpq
    ties: str
    votes: tuple[int, ...]
    label: int
    remaining: int
    kind: ClassVar[str] = "votes"

    def __post_init__(self) -> None:
        k = len(self.votes)
        require(k >= 2, f"{k} labels: expected at least 2.")
        require(0 <= self.edge < 1, f"edge {self.edge}: expected a number in [0, 1).")
        require(self.ties in TIES, f"tie rule '{self.ties}': expected one of {', '.join(TIES)}.")
        require(min(self.votes) >= 0, f"votes {self.votes}: expected at least 0.")
        require(0 <= self.label < k, f"label {self.label}: expected one of 0 to {k - 1}.")
        require(
            0 <= self.remaining <= 100 and sum(self.votes) <= 100 and k <= 100,
            f"{sum(self.votes)} votes of {k} labels and {self.remaining} to come: expected at most 100.",
        )

    @cached_property
    def costs(self) -> Fractions:
        """Equation (8)."""
        return exact.costs(self.votes, self.label, self.remaining, self.edge, self.ties)

    @property
    def weight(self) -> mpq:
        """The sum of what the costs exceed that of the label by."""
        return sum((cost - self.costs[self.label] for cost in self.costs), mpq(0))

    @property
    def own_chance(self) -> mpq:
        """p_y."""
        return (1 - self.edge) / len(self.votes) + self.edge

    @property
    def derived(self) -> Json:
        return {
            "learners": sum(self.votes) + 1 + self.remaining,
            "is_label": [int(r == self.label) for r in range(len(self.votes))],
            "own_chance": str(self.own_chance),
            "costs": texts(self.costs),
            "weight": str(self.weight),
        }


def _learners(case: Case) -> int:
    """N, or fewer where there are too many votes to look at."""
    k, most = case.n_labels, min(booster(case).learners, most_remaining(case.n_labels) + 1)
    while most > 1 and _states(k, most) > MOST_STATES:
        most -= 1
    return int(most)


def _states(k: int, learners: int) -> int:
    return sum(1 for cast in range(learners) for _ in partitions(cast, k))


def _reachable(case: Case, form: Form) -> Iterator[VotesInstance]:
    """All votes before each weak learner."""
    k, most = case.n_labels, _learners(case)
    made = booster(case).potentials(k)
    for cast in range(most):
        for counts in partitions(cast, k):
            for label in (j for j in range(k) if j == 0 or counts[j] != counts[j - 1]):
                remaining = most - 1 - cast
                yield VotesInstance(decimal(made.edge), made.ties, counts, label, remaining)


def _least(instance: VotesInstance, form: Form) -> tuple[Interval, Interval]:
    return Interval.of(instance.costs[instance.label]), Interval.of(min(instance.costs))


def _says(case: Case) -> str:
    most, whole = _learners(case), booster(case).learners
    cut = "" if most == whole else f" (of {whole})"
    return f"all votes of up to {most} weak learners{cut} and every label"


def _cost_checks(case: Case) -> Iterator[Check]:
    """The costs that are computed in floats at all reachable votes, and those that the weak learners are told."""
    k = case.n_labels
    made, most = booster(case).potentials(k), _learners(case)
    for cast in range(most):
        remaining = most - 1 - cast
        for counts in partitions(cast, k):
            found = made.cost_matrix(np.array(counts, dtype=np.int64), remaining)
            for label in range(k):
                stated = exact.costs(counts, label, remaining, decimal(made.edge), made.ties)
                what = f"the cost vector of label {label} after votes {counts} with {remaining} to come"
                yield Check(what, found[label].tolist(), stated, ROUNDING)
    yield from told_checks(case)


def majority_settings() -> list[Setting]:
    """Boosting by majority with and without full information, two to five labels, both tie rules."""
    return [
        majority_setting(name, k, learners, gamma, ties)
        for name, k, learners, gamma, ties in (
            ("online-mbbm", 2, 9, 0.05, "lowest"),
            ("online-mbbm", 2, 9, 0.0, "random"),
            ("online-mbbm", 3, 7, 0.2, "lowest"),
            ("bandit-bbm", 3, 7, 0.5, "random"),
            ("online-mbbm", 4, 6, 0.0, "lowest"),
            ("bandit-bbm", 4, 6, 0.05, "random"),
            ("bandit-bbm", 5, 5, 0.1, "lowest"),
            ("online-mbbm", 5, 5, 0.2, "random"),
        )
    ]


def many_label_settings() -> list[Setting]:
    """More labels, where the largest weights fall more slowly."""
    return [
        majority_setting("online-mbbm", 8, 5, 0.0, "random"),
        majority_setting("online-mbbm", 8, 5, 0.3, "lowest"),
    ]


def majority_setting(name: str, k: int, learners: int, gamma: float, ties: str) -> Setting:
    """A booster by majority on the vectors of a basis, for four rounds."""
    rho = ",rho=0.3" if name == "bandit-bbm" else ""
    learner = f"{name}:learners={learners},gamma={gamma},ties={ties}{rho}"
    graph = "full" if name == "online-mbbm" else "bandit"
    return Setting(learner, f"one-hot:n_labels={k}", graph, 4, runs=1)


POTENTIAL_COST = Claim(
    id="boosting/potential-cost",
    title="the true label has the least cost",
    source=BOOSTING.at("equation (8)"),
    forms=(
        Form(
            "reconstructed",
            r"c^i_{t,l} = \phi^{y_t}_{N-i}(s^{i-1}_t + e_l), \quad c^i_{t,y_t} \le c^i_{t,l}",
            Proof.PROVED,
            "a vote for the label instead of another one can only help it, whatever the others vote",
            votes,
        ),
    ),
    judge=Exact(_reachable, _least, _says, _cost_checks, instances=(VotesInstance,)),
    cases=lambda: [*majority_settings(), *many_label_settings()],
)


def _weights(instance: VotesInstance, form: Form) -> tuple[Interval, Interval]:
    k, n = len(instance.votes), instance.remaining
    envelope = (k - 1) * exact.two_likeliest(n, instance.own_chance)
    return Interval.of(instance.weight), Interval.of(envelope)


LARGEST_WEIGHT = Claim(
    id="boosting/largest-weight",
    title="how large the weight of a cost vector can be",
    source=BOOSTING.at("equation (8); derived here"),
    forms=(
        Form(
            "derived",
            r"w^i = \sum_l (c^i_l - c^i_y) \le (k-1) \max_m P(B \in \{m, m+1\}), \quad B \sim \mathrm{Bin}(N-i, p_y),\;"
            r" p_y = \tfrac{1-\gamma}{k}+\gamma",
            Proof.PROVED,
            "the vote matters only where the label's lead ends up in a window of two values; each is met on"
            " an antichain of who votes for it, which has at most the largest binomial probability; it is not at most"
            " (k-1)/sqrt(N-i+1) for many labels and small edges",
            votes,
        ),
    ),
    judge=Exact(_reachable, _weights, _says, instances=(VotesInstance,)),
    cases=lambda: [*majority_settings(), *many_label_settings()],
)
