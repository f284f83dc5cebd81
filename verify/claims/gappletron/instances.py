"""Instances of the statements about Gappletron: small, complete, and evaluated in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from gmpy2 import mpq

from ....algorithms import losses
from ....algorithms.graphs import FeedbackGraph
from ....algorithms.losses import Loss
from ....errors import UserError, require
from ...author import Instance, Interval
from ...certificates.instances import Json
from ...exact import gappletron as exact
from ...exact.numbers import intervals


@lru_cache(maxsize=64)
def _graph(observes: tuple[tuple[int, ...], ...]) -> FeedbackGraph:
    return FeedbackGraph("instance", np.array(observes, dtype=bool))


def _listed(values: Any) -> list[Any]:
    return [value.to_json() for value in values]


@dataclass(frozen=True)
class ScoreInstance(Instance):
    """A score vector and a label: what conditions (2) and (3) speak of, with a feature of norm one.

    Attributes
    ----------
    loss : spec of the surrogate loss
    scores : scores of the K labels
    label : the true label, in 0..K-1
    """

    loss: str
    scores: tuple[mpq, ...]
    label: int
    kind: ClassVar[str] = "scores"

    def __post_init__(self) -> None:
        require(len(self.scores) >= 2, f"{len(self.scores)} scores: expected at least 2.")
        require(
            0 <= self.label < len(self.scores),
            f"label {self.label}: expected one of 0 to {len(self.scores) - 1}.",
        )

    @property
    def n_labels(self) -> int:
        return len(self.scores)

    @cached_property
    def given_loss(self) -> Loss:
        """The surrogate loss."""
        return losses.parse(self.loss)

    @cached_property
    def exact_loss(self) -> exact.ExactLoss:
        return exact.parse(self.loss, self.n_labels)

    @cached_property
    def exact_scores(self) -> tuple[Interval, ...]:
        return intervals(self.scores)

    @cached_property
    def star(self) -> int:
        """The best label."""
        return exact.star(self.exact_scores)

    @cached_property
    def losses(self) -> tuple[Interval, ...]:
        """The loss of each label."""
        return tuple(
            exact.surrogate(self.exact_loss, self.exact_scores, k) for k in range(self.n_labels)
        )

    @cached_property
    def squared_gradient(self) -> Interval:
        """Squared norm of the gradient for a feature of norm one."""
        return exact.gradient_squared_norm(self.exact_loss, self.exact_scores, self.label)

    def simpler(self) -> Iterator[ScoreInstance]:
        for k, score in enumerate(self.scores):
            for value in (mpq(0), mpq(round(score)), mpq(round(score * 8), 8)):
                if value != score:
                    yield replace(self, scores=(*self.scores[:k], value, *self.scores[k + 1 :]))

    @property
    def derived(self) -> Json:
        return {
            "best_label": self.star,
            "is_label": [int(k == self.label) for k in range(self.n_labels)],
            "margins": _listed(exact.margins(self.exact_scores)),
            "losses": _listed(self.losses),
            "squared_gradient": self.squared_gradient.to_json(),
        }


@dataclass(frozen=True)
class RoundInstance(Instance):
    """One round of Gappletron given its past: scores, label, counter, and the feedback graph.

    Attributes
    ----------
    scores : scores, label and loss, as in :class:`ScoreInstance`
    rule : exploration rule
    gamma : exploration parameter
    counter : number of rounds so far whose best label is not revealing; 0 only if this one's is
    observes : the feedback graph, actions x labels, closed
    best : the best label, where it is not the first of the highest scores; -1 otherwise
    tau : scores that lie no further apart were tied in the game that the round is from. The scores of its learner may
        differ from these by rounding: the best label was given the highest score, which moves a score by at most
        tau, and the game's own scores differ from the learner's by no more
    """

    scores: ScoreInstance
    rule: exact.Rule
    gamma: mpq
    counter: int
    observes: tuple[tuple[int, ...], ...]
    best: int = -1
    tau: mpq = mpq(0)  # noqa: RUF009 - it never changes
    kind: ClassVar[str] = "round"

    def __post_init__(self) -> None:
        require(self.rule in ("printed", "threshold", "mixture"), f"rule '{self.rule}' is unknown.")
        require(
            -1 <= self.best < self.scores.n_labels, f"best label {self.best}: expected a label."
        )
        highest = self.best == -1 or self.scores.scores[self.best] == max(self.scores.scores)
        require(highest, f"best label {self.best}: expected one of the highest score.")
        require(self.tau >= 0, f"tau {self.tau}: expected at least 0.")
        least = 0 if self.star in self.graph.revealing else 1
        require(self.counter >= least, f"counter {self.counter}: expected at least {least}.")
        require(self.gamma >= 0, f"gamma {self.gamma}: expected at least 0.")
        closed = self.graph.observes.astype(int).tolist()
        require(
            closed == [list(row) for row in self.observes],
            "the graph of the round is not closed: an action observes all labels but one.",
        )
        require(
            self.graph.n_labels == self.scores.n_labels,
            f"{self.scores.n_labels} scores for a graph with {self.graph.n_labels} labels.",
        )

    @cached_property
    def graph(self) -> FeedbackGraph:
        """The feedback graph."""
        return _graph(self.observes)

    @property
    def star(self) -> int:
        """The best label."""
        return self.scores.star if self.best == -1 else self.best

    @property
    def explained(self) -> mpq:
        """Bound on what tau changes in the gap map or in a loss: margins, and differences of two scores, change by at
        most 2 tau, and neither has a slope above 2."""
        return 4 * self.tau

    @property
    def uniform_size(self) -> int:
        """Size of the set that the gap map's uniform part covers."""
        return self.graph.n_labels if self.rule == "mixture" else self.graph.n_actions

    @cached_property
    def nominal_rate(self) -> Interval:
        """min{1/2, gamma / sqrt(counter)} for a counter above 0, whatever the best label is."""
        return exact.exploration_rate(self.gamma, self.counter, False)

    @cached_property
    def rate(self) -> Interval:
        """gamma_t."""
        revealing = self.star in self.graph.revealing
        return exact.exploration_rate(self.gamma, max(1, self.counter), revealing)

    @cached_property
    def gap(self) -> Interval:
        """The gap map."""
        return exact.gap(self.scores.exact_loss, self.scores.exact_scores)

    @cached_property
    def probabilities(self) -> tuple[Interval, ...]:
        """p_t by line 10 of Algorithm 1, or by its repair."""
        return tuple(
            exact.action_probabilities(
                self.rule,
                self.gap,
                self.rate,
                self.star,
                self.graph.observes.tolist(),
                self.graph.dominating,
            )
        )

    def observation(self, label: int) -> Interval:
        """Probability that ``label`` is observed."""
        return exact.observation_probability(
            self.probabilities, self.graph.observes.tolist(), label
        )

    def simpler(self) -> Iterator[RoundInstance]:
        found: list[RoundInstance] = []
        for scores in self.scores.simpler():
            with suppress(UserError):  # where the best label has no longer the highest score
                found.append(replace(self, scores=scores))
        for counter in sorted({1, 4, 16, self.counter // 2} - {self.counter}):
            if 0 < counter < self.counter:
                found.append(replace(self, counter=counter))
        return iter(found)

    @property
    def derived(self) -> Json:
        return self.scores.derived | {
            "best_label": self.star,
            "gap": self.gap.to_json(),
            "squared_gamma": str(self.gamma**2),
            "squared_rate_before_cap": str(self.gamma**2 / self.counter)
            if self.counter
            else "none",
            "rate": self.rate.to_json(),
            "revealing": list(self.graph.revealing),
            "dominating": list(self.graph.dominating),
            "in_degree": self.graph.in_degree.tolist(),
            "probabilities": _listed(self.probabilities),
            "observation": [self.observation(y).to_json() for y in range(self.graph.n_labels)],
        }


@dataclass(frozen=True)
class DescentInstance(Instance):
    """Two labels, one feature and full information: the experiments' unprojected descent with the
    smooth hinge plays a sequence from zero, against the comparator U = 0.

    Attributes
    ----------
    regret_factor : the h(0) that is put to the test
    rounds : pairs of feature and label
    """

    regret_factor: mpq
    rounds: tuple[tuple[mpq, int], ...]
    kind: ClassVar[str] = "descent"
    constant: ClassVar[Json] = {"loss": "smooth-hinge", "update": "unprojected"}

    def __post_init__(self) -> None:
        require(len(self.rounds) > 0, "the sequence of the certificate is empty.")
        for _, label in self.rounds:
            require(label in (0, 1), f"label {label} of the sequence: expected 0 or 1.")

    @cached_property
    def path(self) -> tuple[tuple[Interval, Interval], ...]:
        """After each round: the regret against 0, and the sum of squared gradient norms."""
        difference = Interval.of(0)  # of the two labels' weights; their sum stays zero
        regret, squares = Interval.of(0), Interval.of(0)
        steps = []
        for x, label in self.rounds:
            sign = 1 if label == 0 else -1
            margin = difference * x * sign
            short = 1 - margin.max(0).min(1)
            regret += short.square() + 2 * (-margin).max(0) - 1  # the loss at U = 0 is one
            squares += 8 * short.square() * (x * x)
            rate = 1 / (squares + mpq(1, 10**8)).sqrt()
            difference += sign * 4 * rate * short * x
            steps.append((regret, squares))
        return tuple(steps)

    @property
    def derived(self) -> Json:
        return {
            "horizon": len(self.rounds),
            "sum_of_features": str(sum((x for x, _ in self.rounds), mpq(0))),
            "regret": _listed(regret for regret, _ in self.path),
            "squared_gradients": _listed(squares for _, squares in self.path),
        }


@dataclass(frozen=True)
class HorizonInstance(Instance):
    """A horizon that is too short for Theorem 7.

    Attributes
    ----------
    n_labels, radius, horizon : K >= 2, comparator norm B >= 2 and T >= 1
    """

    n_labels: int
    radius: int
    horizon: int
    kind: ClassVar[str] = "horizon"

    def __post_init__(self) -> None:
        require(self.n_labels >= 2, f"{self.n_labels} labels: expected at least 2.")
        require(self.radius >= 2, f"radius {self.radius}: expected at least 2.")
        require(self.horizon >= 1, f"horizon {self.horizon}: expected at least 1.")

    @property
    def fresh_rounds(self) -> int:
        """(B^2 - 1) K^2."""
        return (self.radius**2 - 1) * self.n_labels**2

    @property
    def derived(self) -> Json:
        fresh = self.fresh_rounds
        return {"fresh_rounds": fresh, "enough": fresh + 1, "comparator_norm": self.radius}
