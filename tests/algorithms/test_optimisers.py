"""Optimisers: guarantee (4) with the stated h, the ball, and a second implementation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from boundcheck.adversaries.crafted import Alternation
from boundcheck.adversaries.one_hot import OneHot
from boundcheck.adversaries.sequence import Sequence
from boundcheck.algorithms import graphs, optimisers
from boundcheck.algorithms.gappletron import Gappletron
from boundcheck.algorithms.learner import SCALE, SQUARED_NORM
from boundcheck.algorithms.losses import SmoothHinge
from boundcheck.errors import UserError
from boundcheck.verify.games.labels.play import Game, Run

BOUNDED = ("projected", "ftrl")


def streams() -> list[Sequence]:
    generator = np.random.default_rng(3)
    noise = Sequence.from_dense(
        generator.normal(size=(400, 5)), generator.integers(3, size=400), 3, "noise"
    )
    growing = Sequence.from_dense(
        1.05 ** np.arange(400)[:, None], np.arange(400) // 20 % 3, 3, "growing features"
    )
    return [noise, growing, OneHot(3, 0.2).sequence(400, 1), Alternation().sequence(400, 0)]


def contrary(optimiser: str, norm: float) -> Sequence:
    """Every label is the one with the lowest score, given the labels before; for full information."""
    features = np.random.default_rng(5).normal(size=(100, 2))
    labels: list[int] = []
    for t in range(100):
        shown = Sequence.from_dense(features[: t + 1], [*labels, 0], 3, "contrary")
        ones = np.ones(t + 1)
        labels.append(int(np.argmin(naive(optimiser, shown, norm, ones)[-1])))
    return Sequence.from_dense(features, labels, 3, "contrary")


def game(optimiser: str, sequence: Sequence, norm: float, graph: str = "full") -> Game:
    learner = Gappletron(SmoothHinge(), "threshold", optimisers.parse(optimiser), 1.0)
    return Game(learner, sequence, graphs.parse(graph, sequence.n_labels), norm, seed=2)


def worst_ratio(optimiser: str, sequence: Sequence, norm: float, graph: str) -> float:
    """Largest left side of (4) over h sqrt(...) among prefixes and comparators of the norm."""
    generator = np.random.default_rng(7)
    shape = (sequence.n_labels, sequence.n_features)
    comparators = [np.zeros(shape)]
    for _ in range(40):
        u = generator.normal(size=shape)
        comparators.append(u * norm / np.linalg.norm(u))
    loss, worst = SmoothHinge(), -math.inf
    (block,) = game(optimiser, sequence, norm, graph).play(0, block=1024)
    squares = np.cumsum(block.weights**2 * block.columns[:, 10])
    for u in comparators:
        own = loss.values(sequence.dense() @ u.T, sequence.labels)
        regret = np.cumsum(block.weights * (block.columns[:, 2] - own))
        factor = optimisers.parse(optimiser).regret_factor(norm, float(np.linalg.norm(u)))
        live = squares > 0
        worst = max(worst, float((regret[live] / (factor * np.sqrt(squares[live]))).max()))
    return worst


@pytest.mark.parametrize("optimiser", BOUNDED)
@pytest.mark.parametrize("graph", ["full", "bandit"])
@pytest.mark.parametrize("norm", [0.3, 2.0])
def test_guarantee_4_with_the_stated_factor(optimiser: str, graph: str, norm: float) -> None:
    sequences = [*streams(), contrary(optimiser, norm)]
    ratios = [worst_ratio(optimiser, sequence, norm, graph) for sequence in sequences]
    assert max(ratios) <= 1
    assert max(ratios) > 0.05, "the guarantee was put to the test"


def test_factors_on_the_sphere() -> None:
    for norm in (0.5, 3.0):
        assert optimisers.parse("projected").regret_factor(norm, norm) == pytest.approx(
            2 * math.sqrt(2) * norm
        )
        assert optimisers.parse("ftrl").regret_factor(norm, norm) == pytest.approx(6 * norm)
    assert optimisers.parse("unprojected").regret_factor(1.0, 1.0) is None


@pytest.mark.parametrize("optimiser", BOUNDED)
def test_the_ball_is_respected(optimiser: str) -> None:
    for sequence in streams():
        run = Run(game(optimiser, sequence, 0.7, "bandit"), 1, interpreted=False)
        while run.position < sequence.horizon:
            run.advance(20)
            norm = float(np.linalg.norm(run.weights * run.state[SCALE]))
            assert norm <= 0.7 * (1 + 1e-12)
        if optimiser == "projected":
            tracked = run.state[SQUARED_NORM] * run.state[SCALE] ** 2
            assert tracked == pytest.approx(norm**2, rel=1e-14)


def naive(optimiser: str, sequence: Sequence, norm: float, weights: np.ndarray) -> np.ndarray:
    """Scores of a dense implementation that sees the same importance weights."""
    W = np.zeros((sequence.n_labels, sequence.n_features))
    total, squares, rows = W.copy(), 0.0, []
    loss = SmoothHinge()
    for t in range(sequence.horizon):
        x = sequence.row(t)
        rows.append(W @ x)
        gradient = weights[t] * np.outer(
            loss.gradients(rows[-1][None], sequence.labels[t : t + 1])[0], x
        )
        squares += (gradient**2).sum()
        total += gradient
        if not gradient.any():
            continue
        if optimiser == "unprojected":
            W = W - gradient / math.sqrt(1e-8 + squares)
        elif optimiser == "projected":
            W = W - math.sqrt(2) * norm / math.sqrt(squares) * gradient
        else:
            W = -total * norm / (2 * math.sqrt(squares))
        if optimiser != "unprojected":
            W *= min(1.0, norm / np.linalg.norm(W))
    return np.array(rows)


@pytest.mark.parametrize("optimiser", ["unprojected", *BOUNDED])
def test_a_naive_implementation_has_the_same_scores(optimiser: str) -> None:
    sequence = streams()[0]
    (block,) = game(optimiser, sequence, 1.3, "bandit").play(0, block=1024, trace=True)
    assert np.abs(block.scores - naive(optimiser, sequence, 1.3, block.weights)).max() < 1e-9


@pytest.mark.parametrize("optimiser", BOUNDED)
@pytest.mark.parametrize(("size", "norm"), [(1e65, 1.0), (1.0, 1e-70)])
def test_large_features_and_small_balls(optimiser: str, size: float, norm: float) -> None:
    noise = streams()[0]
    sequence = Sequence.from_dense(noise.dense()[:60] * size, noise.labels[:60], 3, "scaled")
    (block,) = game(optimiser, sequence, norm).play(0, trace=True)
    difference = block.scores - naive(optimiser, sequence, norm, block.weights)
    assert np.abs(difference).max() < 1e-9 * size * norm


def test_without_projection_the_ratio_doubles_with_the_horizon() -> None:
    ratios = []
    for horizon in (250, 500, 1000, 2000):
        (block,) = game("unprojected", Alternation().sequence(horizon, 0), 1.0).play(0, block=4096)
        regret = (block.columns[:, 2] - 1).sum()
        ratios.append(regret / math.sqrt(block.columns[:, 10].sum()))
    growth = np.diff(np.log2(ratios))
    assert np.abs(growth - 1).max() < 0.1
    assert ratios[-1] > 0.08 * 2000


def test_unknown_names() -> None:
    with pytest.raises(UserError, match="did you mean 'projected'"):
        optimisers.parse("projeted")
