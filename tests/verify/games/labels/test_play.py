"""The game: the compiled loop and its plain form agree bit for bit, and the game hides what it must."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest

from boundcheck.adversaries.keywords import Keywords
from boundcheck.adversaries.sequence import Sequence
from boundcheck.algorithms import graphs, losses, optimisers
from boundcheck.algorithms.gappletron import RULES, Gappletron
from boundcheck.algorithms.learner import (
    GRADIENT_SUM,
    OWN,
    REWRITE,
    SCALE,
    UNSEEN,
    UPDATE,
    Player,
    Problem,
)
from boundcheck.algorithms.uniform import Uniform
from boundcheck.compiled import kernel
from boundcheck.verify.games.labels.play import Game, Run, game_generator

LOSSES = ("smooth-hinge", "hinge", "logistic-2", "logistic-K")
OPTIMISERS = ("unprojected", "projected", "ftrl")
GRAPHS = ("full", "bandit", "filtering", "label-efficient", "random:density=0.4,seed=3")


def binary(horizon: int = 150) -> Sequence:
    return Keywords(1, 4, 0.1).sequence(horizon, 5)


def real(horizon: int = 150) -> Sequence:
    generator = np.random.default_rng(11)
    features = generator.normal(size=(horizon, 7)) * (generator.random((horizon, 7)) < 0.7)
    return Sequence.from_dense(features, generator.integers(4, size=horizon), 4, "real")


def everything(game: Game, *, interpreted: bool, block: int = 1024) -> list[np.ndarray]:
    """Columns, traces, weights and state of a whole run."""
    run = Run(game, 2, interpreted=interpreted)
    blocks = []
    while run.position < game.sequence.horizon:
        blocks.append(run.advance(block, trace=True))
    parts = [
        np.concatenate([getattr(b, name) for b in blocks])
        for name in ("columns", "scores", "probabilities")
    ]
    return [*parts, run.weights, run.state, run.totals]


def same_bits(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    return all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(("stream", "loss"), list(product((binary, real), LOSSES)))
def test_compiled_equals_interpreted_bit_for_bit(stream, loss) -> None:
    sequence = stream()
    for rule, optimiser, graph in product(RULES, OPTIMISERS, GRAPHS):
        learner = Gappletron(losses.parse(loss), rule, optimisers.parse(optimiser), 0.7)
        game = Game(learner, sequence, graphs.parse(graph, 4), comparator_norm=0.8, seed=3)
        native, plain = (everything(game, interpreted=form) for form in (False, True))
        assert same_bits(native, plain), (rule, optimiser, graph)
        assert native[0].shape[0] == sequence.horizon


def test_bit_equality_would_see_another_order_of_additions() -> None:
    """Sums of real numbers depend on their order, so the test above is not empty."""
    sequence = real()
    order = np.arange(sequence.n_features)[::-1]
    reordered = Sequence.from_dense(sequence.dense()[:, order], sequence.labels, 4, "reordered")
    results = [
        everything(Game(Gappletron(gamma=0.7), s, graphs.bandit(4), seed=3), interpreted=True)[1]
        for s in (sequence, reordered)
    ]
    assert np.allclose(results[0], results[1], rtol=0, atol=1e-9)
    assert results[0].tobytes() != results[1].tobytes()


@pytest.mark.parametrize("block", [1, 7, 64])
def test_the_size_of_blocks_changes_nothing(block: int) -> None:
    game = Game(Gappletron(gamma=0.7), real(), graphs.bandit(4), seed=9)
    assert same_bits(
        everything(game, interpreted=False), everything(game, interpreted=False, block=block)
    )


def test_recording_changes_nothing() -> None:
    game = Game(Gappletron(gamma=0.7), binary(), graphs.filtering(4), seed=9)
    silent, written = Run(game, 0), Run(game, 0)
    silent.advance(150, record=False)
    written.advance(150, record=True, trace=True)
    assert silent.weights.tobytes() == written.weights.tobytes()
    assert silent.totals.tobytes() == written.totals.tobytes()


def test_replicates_and_seeds_are_different_games_and_the_same_ones_again() -> None:
    streams = {
        key: tuple(game_generator(*key).random(4)) for key in ((0, 0), (0, 1), (1, 0), (1, 1))
    }
    assert len(set(streams.values())) == 4
    assert streams[1, 1] == tuple(game_generator(1, 1).random(4))


def test_draws_are_paired_across_learners() -> None:
    """The uniform guesser's action is floor(K u): both learners meet the same uniforms."""
    game = Game(Uniform(), binary(), graphs.bandit(4), seed=4)
    actions = np.concatenate([b.columns for b in game.play(6)])[:, 9]
    assert np.array_equal(actions, np.floor(4 * game_generator(4, 6).random(150)))


@kernel(REWRITE)
def _descend_in_full(label, weight, features, x, gradient, state, memory, weights) -> None:
    if label < 0:
        return
    total = 0.0
    for k in range(gradient.shape[0]):
        total += gradient[k] * gradient[k]
    squared_norm = 0.0
    for j in range(x.shape[0]):
        squared_norm += x[j] * x[j]
    state[GRADIENT_SUM] += weight * weight * total * squared_norm
    if total == 0.0 or squared_norm == 0.0:
        return
    factor = weight / math.sqrt(1e-8 + state[GRADIENT_SUM])
    for j in range(x.shape[0]):
        for k in range(gradient.shape[0]):
            memory[1, features[j], k] += 1.0
            weights[features[j], k] -= x[j] * (factor * gradient[k])


@dataclass(frozen=True)
class InFull:
    """Gappletron with unprojected descent that changes the weights itself."""

    inner: Gappletron
    spec = "in-full"
    promises = ()

    def player(self, problem: Problem) -> Player:
        memory = np.zeros((2, problem.n_features, problem.n_labels))
        return replace(self.inner.player(problem), rewrite=_descend_in_full, memory=memory)


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_learner_may_rewrite_its_weights_from_the_features(graph: str) -> None:
    """Descent written with ``rewrite`` is descent written with ``update``, to the last bit."""
    inner = Gappletron(optimiser=optimisers.parse("unprojected"), gamma=0.7)
    stream = binary()  # of zeros and ones, so that the squared norms are exact
    games = [Game(who, stream, graphs.parse(graph, 4), seed=3) for who in (inner, InFull(inner))]
    plain, native, python = (
        everything(game, interpreted=form)
        for game, form in ((games[0], False), (games[1], False), (games[1], True))
    )
    assert same_bits(plain, native)
    assert same_bits(native, python)
    runs = [Run(games[1], 2, interpreted=form) for form in (False, True)]
    for run in runs:
        run.advance(150)
    assert runs[0].memory[0].max() == 0 < runs[0].memory[1].max()
    assert runs[0].memory.tobytes() == runs[1].memory.tobytes()
    assert games[1].player().memory.max() == 0


@kernel(UPDATE)
def _keep_what_is_told(label, weight, gradient, state):
    state[2] += 1.0
    if label == -1 and weight == 0.0 and gradient[0] != gradient[0]:
        state[1] += 1.0
    return False


class Listener:
    """Counts the rounds in which it is told nothing."""

    spec = "listener"
    promises = ()

    def player(self, problem: Problem) -> Player:
        base = Gappletron(gamma=0.5).player(problem)
        return Player(
            base.predict, _keep_what_is_told, base.parameters, base.state, base.declaration
        )


def test_an_unseen_label_comes_as_unseen_with_a_gradient_of_nan() -> None:
    assert UNSEEN == -1
    game = Game(Listener(), binary(), graphs.bandit(4), seed=1)
    for interpreted in (False, True):
        run = Run(game, 0, interpreted=interpreted)
        block = run.advance(150)
        unseen = np.count_nonzero(block.columns[:, 5] == 0)
        assert 0 < unseen < 150
        assert run.state[1] == unseen
        assert run.state[2] == 150


def test_the_columns_are_the_conditional_quantities() -> None:
    game = Game(Gappletron(gamma=0.7), real(), graphs.filtering(4, (1, 2)), seed=2)
    (block,) = game.play(0, trace=True)
    p, rows = block.probabilities, np.arange(150)
    assert np.allclose(block.columns[:, 0], 1 - p[rows, block.labels], atol=1e-15)
    assert np.allclose(
        block.columns[:, 4], (p @ game.graph.observes)[rows, block.labels], atol=1e-15
    )
    assert np.array_equal(block.best, np.argmax(block.scores, axis=1))
    actions = block.columns[:, 9].astype(int)
    assert np.array_equal(block.columns[:, 1], actions != block.labels)
    assert np.array_equal(block.columns[:, 5], game.graph.observes[actions, block.labels])
    assert np.allclose(block.weights, block.columns[:, 5] / block.columns[:, 4])
    loss = losses.SmoothHinge()
    gradients = loss.gradients(block.scores, block.labels)
    assert np.allclose(block.columns[:, 2], loss.values(block.scores, block.labels), atol=1e-12)
    assert np.allclose(
        block.columns[:, 10], (gradients**2).sum(1) * block.squared_norms, atol=1e-12
    )


def test_the_scale_is_folded_into_the_weights_before_it_underflows() -> None:
    game = Game(Gappletron(gamma=0.7), real(), graphs.full_information(4), comparator_norm=0.3)
    usual, tiny = Run(game, 0, interpreted=True), Run(game, 0, interpreted=True)
    for run in (usual, tiny):
        run.advance(20)
    tiny.weights *= tiny.state[SCALE] / 1e-151
    tiny.state[SCALE] = 1e-151
    blocks = [run.advance(40, trace=True) for run in (usual, tiny)]
    assert tiny.state[SCALE] > 1e-150
    assert np.allclose(blocks[0].scores, blocks[1].scores, rtol=1e-9)


@kernel(UPDATE)
def _note_the_top_two(best, runner, state):
    at = int(state[OWN])
    state[at], state[at + 1] = best, runner
    state[OWN] += 2.0
    return False


class Noter:
    """Writes down the best label and the runner-up; its scores are the first K features."""

    spec = "noter"
    promises = ()

    def player(self, problem: Problem) -> Player:
        base = Gappletron(optimiser=optimisers.StandStill(), gamma=0.5).player(problem)
        state = np.zeros(OWN + 1 + 2 * problem.horizon)
        state[SCALE], state[OWN] = 1.0, OWN + 1
        return Player(
            Uniform().player(problem).predict,
            _note_the_top_two,
            base.parameters,
            state,
            base.declaration,
            base.weights,
        )


@pytest.mark.parametrize("n_labels", [2, 3, 7])
@pytest.mark.parametrize("interpreted", [False, True])
def test_the_top_two_are_the_lowest_labels_among_equals(n_labels: int, interpreted: bool) -> None:
    generator = np.random.default_rng(n_labels)
    scores = generator.integers(-1, 2, size=(300, n_labels)).astype(float)
    sequence = Sequence.from_dense(scores, np.zeros(300, dtype=np.int64), n_labels, "ties")
    run = Run(Game(Noter(), sequence, graphs.bandit(n_labels)), 0, interpreted=interpreted)
    block = run.advance(300, trace=True)
    assert np.array_equal(block.scores, scores)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :2]
    assert np.array_equal(run.state[OWN + 1 :].reshape(300, 2), order)
    assert np.array_equal(block.columns[:, 8], -np.diff(-np.sort(-scores, axis=1)[:, :2])[:, 0])


@pytest.mark.parametrize("interpreted", [False, True])
def test_without_weights_the_top_two_are_the_first_two(interpreted: bool) -> None:
    """A learner that shows no weights has scores of NaN, which are above nothing."""
    run = Run(Game(Noter(), real(), graphs.bandit(4)), 0, interpreted=interpreted)
    run.weights[:] = np.nan
    block = run.advance(150, trace=True)
    assert np.isnan(block.scores).sum() > 400
    assert np.array_equal(run.state[OWN + 1 :].reshape(150, 2), np.tile([0, 1], (150, 1)))
