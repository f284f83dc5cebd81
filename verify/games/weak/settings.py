"""What is played of a user's weak learner, or against a user's choice of an adversary of weak learners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....algorithms.boosting.advice import HedgeAdvice
from ....algorithms.boosting.weak import OracleNoise
from ... import catalog
from ..labels.case import Setting
from .case import GRAPHS

STREAMS = {
    "bandit": (
        "planted-stump:edge=0.4",
        "tilted-weights",
        "following-costs:noise=push+size=0.25",
    ),
    "full": ("planted-stump", "tilted-weights", "following-costs"),
}
OTHER_STREAMS = {OracleNoise: "even-costs", HedgeAdvice: "planted-advice:edge=0.4"}
"""For weak learners that read other features."""

ROUNDS = {"tilted-weights": 3000}
MANY = 1000
"""Rounds at the quick scale, for each adversary and for the others: enough for a weak learner that does not learn, or
that ignores the weights, to exceed the excess losses that are known of Hedge."""

LONGER = {"quick": 1, "default": 2, "full": 10}


def is_weak(learner: Any, adversary: str | None) -> bool:
    """Whether a request is about the weak-learning game."""
    if learner is not None:
        return catalog.is_weak(catalog.learner(learner) if isinstance(learner, str) else learner)
    return adversary is not None and hasattr(catalog.adversary(adversary), "stream")


def settings(
    learner: Any, adversary: str | None, graph: str | None, scale: str, replicates: int
) -> Iterator[Setting]:
    """The product of the user's axes and, where one is left open, of a few built-in ones."""
    learners = (learner,) if learner is not None else _learners(adversary)
    graphs = GRAPHS if graph is None else (graph,)
    for each in learners:
        for shown in graphs:
            for against in _streams(each, adversary, shown):
                rounds = ROUNDS.get(against.partition(":")[0], MANY) * LONGER[scale]
                yield Setting(each, against, shown, rounds, None, replicates)


def _learners(adversary: str | None) -> tuple[str, ...]:
    """Built-in weak learners that can read what an adversary shows."""
    if adversary is None:
        return ("hedge-stump", "hedge-advice", "oracle-noise")
    shows = catalog.adversary(adversary).stream(1, 0).n_features > 0
    return ("hedge-stump", "hedge-advice") if shows else ("oracle-noise",)


def _streams(learner: Any, adversary: str | None, graph: str) -> tuple[str, ...]:
    if adversary is not None:
        return (adversary,)
    made = catalog.learner(learner) if isinstance(learner, str) else learner
    if type(made) in OTHER_STREAMS:
        return (OTHER_STREAMS[type(made)],)
    return STREAMS.get(graph, STREAMS["bandit"])
