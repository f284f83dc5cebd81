"""The rules that every learner keeps, on every graph that it accepts.

Learners are found as the command line finds them; those with tunings or further variants are played in each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from boundcheck.adversaries.sequence import Sequence
from boundcheck.algorithms import graphs
from boundcheck.algorithms.graphs import FeedbackGraph
from boundcheck.algorithms.learner import Player, Problem
from boundcheck.compiled import Kernel
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.games.labels.play import Game, Run
from boundcheck.verify.games.labels.record import ACTION, ERROR, OBSERVED

# beside the defaults and the tunings of every learner that has them
VARIANTS = {
    "banditron": ["estimator=importance", "estimator=importance,tuning=theory"],
    "gappletron": ["loss=logistic-K,rule=mixture,optimiser=unprojected,gamma=ones",
                   "loss=hinge,rule=printed,optimiser=ftrl,gamma=0.3"],
    "gaptron": ["loss=hinge", "loss=logistic-2", "loss=logistic-2,tuning=ones"],
    "newtron": ["projection=euclid", "projection=sphere,tuning=theory"],
    "passive-aggressive": ["variant=pa", "variant=pa-2"],
    "soba": ["exploration=adaptive,budget=margin", "gamma=0.5,budget=margin"],
}  # fmt: skip
GRAPHS = [
    *((graphs.parse(name, 4)) for name in graphs.names()),
    graphs.bandit(2),
    graphs.filtering(4, (1, 3)),
    graphs.filtering(2, (1,)),
]
SMALL = dict.fromkeys(("ada-bandit", "adaboost-olm", "bandit-bbm", "online-mbbm"), "learners=4")
"""Parameters that plain Python can play in a short time."""

ROUNDS = 24
OWN_STREAM = {"leaping"}
"""Learners that play one adversary only, in test_concealed.py."""

LEARNERS = {name: made for name, made in catalog.learners().items() if hasattr(made, "player")}
"""The learners that play labels."""


def specs() -> list[str]:
    found = []
    for name, made in LEARNERS.items():
        if name in OWN_STREAM:
            continue
        fields = {field.name for field in dataclasses.fields(made)}
        tuned = (
            [f"tuning={t}" for t in made.tunings if t != "default"] if "tuning" in fields else []
        )
        small = SMALL.get(name)
        for part in ("", *tuned, *VARIANTS.get(name, [])):
            parts = ",".join(filter(None, (small, part)))
            found.append(f"{name}:{parts}" if parts else name)
    return found


def accepts(learner: Any, graph: FeedbackGraph) -> bool:
    try:
        learner.player(Problem(graph, 3, ROUNDS))
    except UserError:
        return False
    return True


def accepted(spec: str) -> Iterator[tuple[Any, FeedbackGraph]]:
    learner = catalog.learner(spec)
    for graph in GRAPHS:
        if accepts(learner, graph):
            yield learner, graph


@cache
def streams(n_labels: int) -> list[Sequence]:
    """Noise with zero rows, huge features, tiny ones, and both in turn and in one row."""
    generator = np.random.default_rng(n_labels)
    labels = generator.integers(n_labels, size=ROUNDS)
    noise = generator.normal(size=(ROUNDS, 5)) * (generator.random((ROUNDS, 5)) < 0.7)
    noise[3] = noise[9] = 0.0
    turns = np.where(np.arange(ROUNDS) % 2 == 0, 1e150, 1e-150)[:, None]
    sizes = {"noise": 1.0, "huge": 1e150, "tiny": 1e-150, "turns": turns}
    scaled = {name: noise * size for name, size in sizes.items()}
    scaled["mixed"] = noise * 10.0 ** np.array([-150, -75, 0, 75, 150])
    return [Sequence.from_dense(x, labels, n_labels, name) for name, x in scaled.items()]


def play(game: Game, *, interpreted: bool = False) -> tuple[Run, dict[str, np.ndarray]]:
    """A whole run and everything that it left."""
    run = Run(game, 0, interpreted=interpreted)
    block = run.advance(game.sequence.horizon, trace=True)
    left = {
        "columns": block.columns,
        "scores": block.scores,
        "probabilities": block.probabilities,
        "weights": run.weights,
        "state": run.state,
        "memory": run.memory,
    }
    return run, left


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray], *names: str) -> bool:
    return all(one[name].tobytes() == other[name].tobytes() for name in names or one)


def contrary(learner: Any, graph: FeedbackGraph, seed: int) -> Sequence:
    """Every label is the one that the learner finds least likely, given the rounds before."""
    features = np.random.default_rng(seed).normal(size=(ROUNDS, 3))
    features[::4] *= 1e3
    labels: list[int] = []
    for t in range(ROUNDS):
        shown = Sequence.from_dense(features[: t + 1], [*labels, 0], graph.n_labels, "contrary")
        p = play(Game(learner, shown, graph, seed=seed))[1]["probabilities"][t]
        labels.append(int(np.argmin(p[: graph.n_labels])))
    return Sequence.from_dense(features, labels, graph.n_labels, "contrary")


def test_what_learners_promise_are_claims() -> None:
    for name, made in LEARNERS.items():
        for glob in catalog.learner(name).promises:
            assert catalog.select([glob]), f"{made.__name__} promises {glob}"


def test_all_learners_are_played_somewhere_and_say_what_they_play() -> None:
    names = {spec.partition(":")[0] for spec in specs()}
    assert names == set(LEARNERS) - OWN_STREAM
    assert {"gappletron", "perceptron", "banditron", "gaptron", "uniform"} <= names
    for spec in specs():
        learner = catalog.learner(spec)
        assert catalog.learner(learner.spec) == learner
        assert learner.source
        assert list(accepted(spec)), f"{spec} plays none of the graphs"
        for graph in GRAPHS:
            if not accepts(learner, graph):
                with pytest.raises(UserError) as told:
                    learner.player(Problem(graph, 3, ROUNDS))
                assert f"cannot play graph '{graph.name}'" in str(told.value)
                assert f"expected {learner.graphs}" in str(told.value)


@pytest.mark.parametrize("spec", specs())
def test_labels_with_equal_feedback_leave_equal_states(spec: str) -> None:
    compared = 0
    for learner, graph in accepted(spec):
        sequence = streams(graph.n_labels)[0]
        for horizon in range(1, ROUNDS + 1, 2):
            left = {}
            for label in range(graph.n_labels):
                labels = np.array([*sequence.labels[: horizon - 1], label])
                x = sequence.dense()[:horizon]
                shown = Sequence.from_dense(x, labels, graph.n_labels, "last label changed")
                left[label] = play(Game(learner, shown, graph, seed=horizon))[1]
            action = int(left[0]["columns"][-1, ACTION])
            unseen = [label for label in left if not left[label]["columns"][-1, OBSERVED]]
            assert unseen == np.flatnonzero(~graph.observes[action]).tolist()
            for label in unseen[1:]:
                compared += 1
                assert same(left[unseen[0]], left[label], "weights", "state", "memory"), graph.name
    only_shown = all(graph.is_full_information for _, graph in accepted(spec))
    assert compared > 0 or only_shown


@dataclass(frozen=True)
class Guarded:
    """A learner whose kernels are handed what they must not change write-protected."""

    learner: Any
    spec: str = "guarded"
    promises: tuple[str, ...] = ()

    def player(self, problem: Problem) -> Player:
        player = self.learner.player(problem)
        return replace(
            player,
            predict=protected(player.predict, 5, 6),  # state and p
            update=protected(player.update, 10, 11),  # state and coefficient
            rewrite=player.rewrite and protected(player.rewrite, 11, 12, 13),  # and the matrices
        )


def protected(kernel: Kernel, *writable: int) -> Kernel:
    def call(*arguments: Any) -> Any:
        handed = []
        for i, argument in enumerate(arguments):
            if isinstance(argument, np.ndarray) and i not in writable:
                argument = argument.view()
                argument.setflags(write=False)
            handed.append(argument)
        return kernel.python(*handed)

    return Kernel(call, kernel.signature)


@pytest.mark.parametrize("spec", specs())
def test_a_learner_changes_nothing_but_what_is_its_own(spec: str) -> None:
    for learner, graph in accepted(spec):
        sequence = streams(graph.n_labels)[0]
        game = Game(learner, sequence, graph, seed=1)
        arrays = [sequence.indptr, sequence.indices, sequence.values, sequence.labels]
        before = [array.copy() for array in arrays]
        _, guarded = play(replace(game, learner=Guarded(learner)), interpreted=True)
        assert same(guarded, play(game, interpreted=True)[1]), (
            "nor does the guard change the learner"
        )
        assert all(np.array_equal(a, b) for a, b in zip(before, arrays, strict=True))


def test_the_guard_stops_a_learner_that_writes_elsewhere() -> None:
    def greedy(scores: Any, *rest: Any) -> None:
        scores[0] = 1.0

    with pytest.raises(ValueError, match="read-only"):
        protected(Kernel(greedy, ""), 5, 6).python(np.zeros(3))


@pytest.mark.parametrize("spec", specs())
def test_the_same_seed_is_the_same_run(spec: str) -> None:
    for learner, graph in accepted(spec):
        games = [Game(learner, streams(graph.n_labels)[0], graph, seed=seed) for seed in (1, 2)]
        first, again, other = (play(game)[1] for game in (games[0], games[0], games[1]))
        assert same(first, again)
        p = first["probabilities"]
        if (np.sort(p, axis=1)[:, -1] < 0.7).sum() > ROUNDS / 2:  # so that the draws must differ
            assert not same(first, other)


@pytest.mark.parametrize("spec", specs())
def test_probabilities_are_a_distribution_on_adversarial_inputs(spec: str) -> None:
    for learner, graph in accepted(spec):
        adversarial = [contrary(learner, graph, 1), *streams(graph.n_labels)]
        for sequence in adversarial:
            _, left = play(Game(learner, sequence, graph, seed=3))
            p = left["probabilities"]
            assert (p >= 0).all(), (graph.name, sequence.name)
            assert np.abs(p.sum(axis=1) - 1).max() <= 1e-12, (graph.name, sequence.name)


@pytest.mark.parametrize("spec", specs())
def test_no_feature_is_too_large_or_too_small(spec: str) -> None:
    for learner, graph in accepted(spec):
        for sequence in streams(graph.n_labels):
            _, left = play(Game(learner, sequence, graph, seed=4))
            where = (graph.name, sequence.name)
            for name in ("scores", "probabilities", "weights", "memory"):
                assert np.isfinite(left[name]).all(), (name, *where)
            assert not np.isnan(left["state"]).any(), where
            assert not np.isnan(left["columns"][:, ERROR]).any(), where


@pytest.mark.parametrize("spec", specs())
def test_compiled_equals_interpreted_bit_for_bit(spec: str) -> None:
    for learner, graph in accepted(spec):
        for sequence in streams(graph.n_labels):
            game = Game(learner, sequence, graph, seed=5)
            native, plain = (play(game, interpreted=form)[1] for form in (False, True))
            assert same(native, plain), (graph.name, sequence.name)
