"""Diagonal Newtron: worked examples, the exact projection beside a root finder of scipy, traps, sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from worked_examples import examples, run_of

from boundcheck.adversaries.keywords import Keywords
from boundcheck.adversaries.sequence import Sequence
from boundcheck.algorithms import graphs
from boundcheck.algorithms.learner import Problem
from boundcheck.algorithms.newton import (
    CHANCES,
    DIAGONAL,
    LINEAR,
    PASSES,
    SHIFT,
    Newtron,
    project_exactly,
)
from boundcheck.compiled import kernel
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.games.labels.play import Game, Run

EXAMPLES = {"PNewtron(g=.3,alpha=10,D=1,beta=.01,exact)": "exact", "PNewtron(euclid)": "euclid"}


def random_sequence(horizon: int = 300, n_labels: int = 4, scale: float = 1.0) -> Sequence:
    generator = np.random.default_rng(8)
    features = generator.normal(size=(horizon, 6)) * (generator.random((horizon, 6)) < 0.6)
    return Sequence.from_dense(
        scale * features, generator.integers(n_labels, size=horizon), n_labels, "random"
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_examples(name: str) -> None:
    run = run_of(Newtron(gamma=0.3, projection=EXAMPLES[name]), "bandit")
    for expected in examples("baseline_examples.json")[name]:
        block = run.advance(1, trace=True)
        assert run.state[CHANCES:] == pytest.approx(expected["softmax"], abs=1e-9)
        assert block.probabilities[0] == pytest.approx(expected["p"], abs=1e-9)
        assert (block.columns[0, 9], block.columns[0, 1]) == (
            expected["play"],
            1 - expected["correct"],
        )
        assert pytest.approx(np.array(expected["W"]), abs=1e-9) == run.weights.T


def by_brentq(b: np.ndarray, a: np.ndarray, radius: float) -> np.ndarray:
    """The minimiser over the ball, its multiplier found by Brent's method."""
    if np.linalg.norm(b / a) <= radius:
        return -b / a
    highest = 2 * np.linalg.norm(b) / radius
    shift = brentq(
        lambda s: np.linalg.norm(b / (a + s)) / radius - 1,
        0,
        highest,
        xtol=1e-300,
        rtol=1e-15,
        maxiter=1000,
    )
    return -b / (a + shift)


@kernel("void(float64[:, :, ::1], float64[:, ::1], float64, float64[::1])")
def _project(memory: Any, weights: Any, radius: float, state: Any) -> None:
    project_exactly(memory, weights, radius, state)


@pytest.mark.parametrize("project", [_project.python, _project.native])
@pytest.mark.parametrize("spread", [0.0, 1.0, 6.0, 20.0])
def test_the_projection_is_that_of_brentq_from_any_start(
    project: Callable[..., None], spread: float
) -> None:
    """Random b and A over ``spread`` powers of ten either way, inside and outside the ball."""
    generator = np.random.default_rng(5)
    inside = 0
    for _ in range(60):
        b = generator.normal(size=(5, 3)) * 10 ** generator.uniform(-spread, spread, (5, 3))
        a = 10 ** generator.uniform(-spread, spread, (5, 3))
        radius = 10 ** generator.uniform(-spread - 1, spread + 1)
        expected = by_brentq(b, a, radius)
        inside += np.array_equal(expected, -b / a)
        for start in (0.0, 1.0, 1e-9, 1e9, 1e200):
            state, weights = np.zeros(CHANCES), np.zeros((5, 3))
            state[SHIFT] = start
            project(np.stack([b, a]), weights, radius, state)
            assert np.linalg.norm(weights - expected) <= 1e-11 * np.linalg.norm(expected)
            assert np.linalg.norm(weights) <= radius * (1 + 2e-12)
    assert 0 < inside < 60


@pytest.mark.parametrize("project", [_project.python, _project.native])
@pytest.mark.parametrize(
    ("b", "a", "radius", "expected"),
    [
        ([[0.0, 0.0]], [[1.0, 2.0]], 1.0, [[0, 0]]),  # nothing to do
        ([[3.0, -4.0]], [[1.0, 1.0]], 5.0, [[-3, 4]]),  # on the sphere already
        ([[3.0, -4.0]], [[1.0, 1.0]], 1.0, [[-0.6, 0.8]]),
        ([[3.0, -4.0]], [[1.0, 1.0]], 1e-200, [[-0.6e-200, 0.8e-200]]),
        ([[3e302, -4e302]], [[1.0, 1.0]], 1.0, [[-0.6, 0.8]]),  # squares overflow
        ([[3e302, -4e302]], [[1e302, 1e302]], 10.0, [[-3, 4]]),
        ([[1.0, 1.0]], [[math.inf, 1.0]], 10.0, [[0, -1]]),  # an entry of A overflowed
    ],
)  # fmt: skip
def test_the_projection_at_the_ends_of_its_range(
    project: Callable[..., None], b: Any, a: Any, radius: float, expected: Any
) -> None:
    for start in (0.0, 1.0, 1e303):
        state, weights = np.zeros(CHANCES), np.zeros((1, 2))
        state[SHIFT] = start
        with np.errstate(over="ignore", invalid="ignore"):
            project(np.stack([np.array(b), np.array(a)]), weights, radius, state)
        assert weights == pytest.approx(np.array(expected), rel=1e-11, abs=0)


def test_a_whole_game_projects_exactly_in_few_passes() -> None:
    """The multiplier of the last round is a good start: two passes where halving from zero takes 38."""
    sequence = Keywords(2, 6, 0.05).sequence(400, 1)
    for tuning in ("default", "theory"):
        run = Run(Game(Newtron(tuning=tuning), sequence, graphs.bandit(6)), 0)
        outside = 0
        for _ in range(400):
            run.advance(1)
            b, a = run.memory[LINEAR], run.memory[DIAGONAL]
            expected = by_brentq(b, a, 1.0)
            assert np.linalg.norm(run.weights - expected) <= 1e-11
            outside += run.state[SHIFT] > 0
        assert outside > 300
        assert run.state[PASSES] < 3.5 * 400


def one_round(
    learner: Newtron, weights: np.ndarray, x: list[float], label: int
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Play every action of one round from the given weights: q, p, and what each adds to b and A."""
    n_labels = len(weights)
    played, linear, diagonal = set(), [], []
    probe = run_of(learner, "bandit", [x], [label], [0.0], n_labels)
    probe.weights[:] = weights.T
    p = probe.advance(1, trace=True).probabilities[0]
    for draw in np.cumsum(p) - p / 2:
        run = run_of(learner, "bandit", [x], [label], [draw], n_labels)
        run.weights[:] = weights.T
        start = run.memory.copy()
        played.add(int(run.advance(1).columns[0, 9]))
        linear.append((run.memory - start)[LINEAR].T)
        diagonal.append((run.memory - start)[DIAGONAL].T)
    assert played == set(range(n_labels))
    return probe.state[CHANCES:].copy(), p, linear, diagonal


@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_the_estimated_gradient_is_unbiased(n_labels: int) -> None:
    """Traps: entry y of c that is -1/K in place of -(K-1)/K; with two labels, the importance weight of the game,
    which is one because the label is always revealed."""
    weights = np.random.default_rng(3).normal(size=(n_labels, 2)) / 4
    x, e = [0.7, -0.4], np.eye(n_labels)
    for label in range(n_labels):
        q, p, linear, _ = one_round(Newtron(beta=1e-13, gamma=0.3), weights, x, label)
        scores = 10 * (weights @ x)
        assert q == pytest.approx(np.exp(scores) / np.exp(scores).sum(), rel=1e-12)
        assert p == pytest.approx(0.7 * q + 0.3 / n_labels, rel=1e-12)
        assert q.max() > 0.4
        mean = sum(chance * added for chance, added in zip(p, linear, strict=True))
        assert mean == pytest.approx(np.outer(q - e[label], x), abs=1e-10)


def test_every_round_adds_its_quadratic_bound() -> None:
    """Trap: rounds of exploration without the term in <G, W>, or with another kappa than p(y)."""
    weights, x, label, beta = np.array([[0.3, 0.1], [-0.2, 0.2], [0.1, -0.5]]), [1.0, -2.0], 1, 0.5
    q, p, linear, diagonal = one_round(Newtron(1.0, beta, gamma=0.3), weights, x, label)
    for action in range(3):
        c = np.eye(3)[action] - 1 / 3
        if action == label:
            trust, c = p[label], -(1 - q[label]) / p[label] * c
        else:
            trust, c = 1.0, q[action] / p[action] * c
        G = np.outer(c, x)
        along = np.sum(G * weights)
        assert abs(beta * trust * along) > 1e-3
        assert linear[action] == pytest.approx((1 - trust * beta * along) * G, abs=1e-12)
        assert diagonal[action] == pytest.approx(trust * beta * G * G, abs=1e-12)


def test_only_the_projection_onto_the_sphere_moves_weights_inside_the_ball() -> None:
    for projection, inside in {"exact": True, "euclid": True, "sphere": False}.items():
        run = run_of(Newtron(gamma=0.3, radius=50.0, projection=projection), "bandit")
        run.advance(1)
        assert (np.linalg.norm(run.weights) < 49) == inside
        if not inside:
            assert np.linalg.norm(run.weights) == pytest.approx(50)
            direction = -run.memory[LINEAR] / run.memory[DIAGONAL]
            assert run.weights == pytest.approx(50 * direction / np.linalg.norm(direction))


def test_the_sphere_leaves_zero_alone() -> None:
    run = run_of(Newtron(gamma=0.3, projection="sphere"), "bandit", np.zeros((2, 2)), [0, 1])
    run.advance(2)
    assert not run.weights.any()


def test_tunings() -> None:
    def gamma(problem: Problem, **given: Any) -> float:
        declared = Newtron(**given).player(problem).declaration
        assert (declared.number("alpha"), declared.number("radius")) == (10, 1)
        return declared.number("gamma")

    problem = Problem(graphs.bandit(6), 80, 10_000)
    for tuning, expected in {"default": 0.01, "ones": 0.01, "theory": 0.5}.items():
        assert gamma(problem, tuning=tuning) == pytest.approx(expected)
        assert gamma(problem, tuning=tuning, gamma=0.2) == 0.2
    long = Problem(graphs.bandit(3), 2, 10**6)
    assert gamma(long, tuning="ones") == pytest.approx(1e-3)
    theory = 3 * math.sqrt(2 * math.log(1e6) / (2 * 0.01 * 1e6))
    assert gamma(long, tuning="theory") == pytest.approx(theory)
    assert gamma(long, tuning="theory", beta=1.0) == pytest.approx(theory / 10)
    shortest = Problem(graphs.bandit(3), 2, 1)
    assert {gamma(shortest, tuning=tuning) for tuning in ("ones", "theory")} == {0.5}


@pytest.mark.parametrize("projection", ["exact", "euclid", "sphere"])
def test_compiled_equals_interpreted_bit_for_bit(projection: str) -> None:
    game = Game(Newtron(gamma=0.2, projection=projection), random_sequence(), graphs.bandit(4))
    native, python = (Run(game, 1, interpreted=form) for form in (False, True))
    for run in (native, python):
        run.advance(300)
    assert native.totals.tobytes() == python.totals.tobytes()
    assert native.memory.tobytes() == python.memory.tobytes()
    assert native.weights.tobytes() == python.weights.tobytes()
    assert native.state.tobytes() == python.state.tobytes()


@pytest.mark.parametrize("projection", ["exact", "euclid", "sphere"])
@pytest.mark.parametrize("tuning", ["ones", "theory"])
@pytest.mark.parametrize("scale", [1e-160, 1e-150, 1e150, 1e153, "mixed"])
def test_features_of_any_size_give_numbers(projection: str, tuning: str, scale: Any) -> None:
    sequence = random_sequence()
    if scale == "mixed":  # sizes that differ between features and between rounds
        sizes = 10.0 ** np.random.default_rng(2).choice([-150, 0, 150], size=(300, 6))
        sequence = Sequence.from_dense(sequence.dense() * sizes, sequence.labels, 4, "mixed")
    else:
        sequence = random_sequence(scale=scale)
    run = Run(Game(Newtron(tuning=tuning, projection=projection), sequence, graphs.bandit(4)), 0)
    block = run.advance(300, trace=True)
    block.check("newtron")
    assert np.isfinite(run.weights).all()
    assert 0 < np.linalg.norm(run.weights) <= 1 + 2e-12
    assert run.state[PASSES] < 60 * 300


def test_it_plays_where_it_sees_whether_it_was_right() -> None:
    for spec in ("filtering", "label-efficient"):
        with pytest.raises(UserError, match=r"cannot play graph .*: expected bandit"):
            Game(Newtron(), random_sequence(), graphs.parse(spec, 4)).player()
    Game(Newtron(), random_sequence(n_labels=2), graphs.bandit(2)).player()


@pytest.mark.parametrize("given", [
    "alpha=0", "beta=-1", "radius=inf", "gamma=0", "gamma=1.5", "gamma=nan", "projection=nearest", "tuning=best",
])  # fmt: skip
def test_illegal_parameters(given: str) -> None:
    with pytest.raises(UserError, match="expected"):
        catalog.learner(f"newtron:{given}")


def test_spec() -> None:
    made = Newtron(alpha=5.0, gamma=0.1, projection="sphere", tuning="theory")
    assert catalog.learner(made.spec) == made
    assert catalog.learner("newtron") == Newtron()
