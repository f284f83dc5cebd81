"""An adversary of weak learners of the user's: a plain Python class that makes rounds of features, labels and costs.

It has ``stream(horizon, seed)``, which returns a :class:`~....adversaries.weak_learning.stream.WeakStream` or features
of shape (T, d), labels, weights of shape (T,) and costs of shape (T, k). With a method ``costs(t, predicted)`` it is
adaptive: the method is told how often a weak learner predicted each label so far, and returns the cost vector of the
round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....adversaries.weak_learning.noise import parse
from ....adversaries.weak_learning.stream import WeakStream
from ....arrays import FloatArray, IntArray, real
from ....errors import LearnerError, UserError, attribute, call, require, shown


@dataclass(frozen=True, eq=False)
class ChosenCosts(WeakStream):
    """A stream whose costs are chosen by the user's ``costs(t, predicted)``, in every round.

    Attributes
    ----------
    chosen : from a round and how often each label was predicted, shape (k,), to its cost vector
    who : whose method that is, for errors
    """

    chosen: Callable[[int, IntArray], Any] = field(kw_only=True)
    who: str = field(kw_only=True)

    @classmethod
    def of(
        cls, stream: WeakStream, chosen: Callable[[int, IntArray], Any], who: str
    ) -> ChosenCosts:
        """A stream with other costs; of no hypothesis it is known what these are."""
        parts = (stream.features, stream.labels, stream.weights, stream.costs, stream.noise)
        follows = np.ones(stream.horizon, dtype=bool)
        edge = stream.oracle_edge
        return cls(*parts, oracle_edge=edge, follows=follows, chosen=chosen, who=who)

    def costs_at(self, t: int, predicted_before: IntArray) -> FloatArray:
        return np.stack([self._chosen(t, counts) for counts in predicted_before])

    def _chosen(self, t: int, counts: IntArray) -> FloatArray:
        given = call(self.chosen, self.who, f"costs of round {t}", t, counts.copy())
        try:
            costs = real(given)
            legal = costs.shape == counts.shape and bool((costs >= 0).all())
            legal = legal and costs[self.labels[t]] == 0 and abs(float(costs.sum()) - 1) <= 1e-12
        except (TypeError, ValueError, OverflowError):
            legal = False
        if not legal:
            raise LearnerError(
                f"{self.who} chose the costs {shown(given)} in round {t}: expected {len(counts)} numbers of at least"
                f" 0 that sum to 1, with 0 at the label {self.labels[t]}."
            )
        return costs


@dataclass(frozen=True, eq=False)
class UserWeakAdversary:
    """A class of the user's, made to fit.

    Parameters
    ----------
    factory : called without arguments
    spec : its name, ``path/to/file.py:Class``
    """

    factory: Any
    spec: str

    def stream(self, horizon: int, seed: int) -> WeakStream:
        """Its rounds.

        Raises
        ------
        UserError
            for what are no features, labels, weights and costs
        """
        who = f"adversary {self.spec}"
        made = call(self.factory, who, "__init__")
        given = call(made.stream, who, "stream", horizon, seed)
        try:
            found = given if isinstance(given, WeakStream) else _stream_of(given)
        except UserError as error:
            raise UserError(f"{who}: {error}") from None
        except (TypeError, ValueError, OverflowError) as error:
            raise UserError(
                f"{who} returned {shown(given)}: expected features, labels, weights and costs ({error})."
            ) from None
        require(
            found.horizon == horizon, f"{who} returned {found.horizon} rounds: expected {horizon}."
        )
        chosen = attribute(made, "costs", who)
        return found if chosen is None else ChosenCosts.of(found, chosen, who)


def _stream_of(given: Any) -> WeakStream:
    """Features, labels, weights and costs as a stream, with the estimates of a booster in the bandit setting."""
    features, labels, weights, costs = given
    numbers = real(labels)
    whole = numbers.astype(np.int64)
    if not (whole == numbers).all():
        raise ValueError("labels that are no integers")
    return WeakStream(
        real(features),
        whole,
        real(weights),
        real(costs),
        parse("estimate"),
    )


def user_adversary(made: Any, spec: str) -> Any | None:
    """A class of the user's as an adversary of this game, or None if it is none."""
    if not hasattr(made, "stream"):
        return None
    if isinstance(getattr(made, "spec", None), property):  # in the library's own form
        return made()
    return UserWeakAdversary(made, spec) if callable(made.stream) else None
