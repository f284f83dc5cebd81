"""The settings in which a weak learner of the user's is played, or against an adversary of the user's choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...setting import Setting
from ..game import refuse_data
from .case import GRAPHS

STREAMS = {
    "bandit": (
        "planted-stump:edge=0.4",
        "tilted-weights",
        "following-costs:noise=push+size=0.25",
    ),
    "full": ("planted-stump", "tilted-weights", "following-costs"),
}
"""For weak learners that read features and name no streams."""

ENOUGH = 1000
"""Rounds at the quick scale, where the adversary names no other number: enough for a weak learner that does not learn
to exceed the excess losses that are known of Hedge."""

LONGER = {"quick": 1, "default": 2, "full": 10}
RUNS = {"quick": 2, "default": 8, "full": 32}

Made = Mapping[str, type[Any]]


def settings(request: Any, learners: Made, adversaries: Made) -> Iterator[Setting]:
    """The product of the user's axes and, where one is left open, of a few built-in ones.

    Raises
    ------
    UserError
        for an axis that the game does not have
    """
    refuse_data(request, "a weak learner: expected --adversary or --graph")
    graphs = GRAPHS if request.graph is None else (request.graph,)
    for learner in _learners(request, learners):
        made = request.made_learner or learners[learner]
        for graph in graphs:
            for adversary in _streams(request, made, graph):
                rounds = _rounds(request, adversary, adversaries)
                yield Setting(learner, adversary, graph, rounds, None, RUNS[request.scale])


def _learners(request: Any, learners: Made) -> tuple[Any, ...]:
    """The user's weak learner, or those of the library that declare something and can read what is shown."""
    if request.learner is not None:
        return (request.learner,)
    known = {name: made for name, made in learners.items() if hasattr(made, "declare")}
    if request.made_adversary is None:
        return tuple(known)
    rounds = _rounds(request, request.adversary, {})
    stream = request.made_adversary.stream(rounds, 0)
    return tuple(name for name, made in known.items() if _reads(made, stream))


def _reads(made: Any, stream: Any) -> bool:
    """True for a weak learner that can read the features of a stream."""
    if getattr(made, "reads_oracles", False):
        return bool(stream.n_features == 0)
    reads = getattr(made, "reads", lambda features, n_labels: True)
    return stream.n_features > 0 and bool(reads(stream.features, stream.n_labels))


def _streams(request: Any, made: Any, graph: str) -> tuple[str, ...]:
    if request.adversary is not None:
        return (request.adversary,)
    of_its_own: tuple[str, ...] | None = getattr(made, "streams", None)
    return of_its_own or STREAMS.get(graph, STREAMS["bandit"])


def _rounds(request: Any, adversary: str, adversaries: Made) -> int:
    """As many as the user asked for, or as the adversary needs at the scale."""
    if request.rounds is not None:
        return int(request.rounds)
    made = request.made_adversary or adversaries.get(adversary.partition(":")[0])
    enough: int = getattr(made, "enough_rounds", ENOUGH)
    return enough * LONGER[request.scale]
