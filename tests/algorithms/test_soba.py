"""Diagonal SOBA: worked examples, its algebra round by round, traps, and numbers at the ends of their range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from worked_examples import examples, run_of

from boundcheck.adversaries.sequence import Sequence
from boundcheck.algorithms import graphs
from boundcheck.algorithms.learner import Problem
from boundcheck.algorithms.second_order import DIAGONAL, THETA
from boundcheck.algorithms.soba import BUDGET, CURVATURE, Soba
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.games.labels.play import Game, Run
from boundcheck.verify.games.labels.record import ACTION

EXAMPLES = {
    "SOBAdiag(g=.3,a=1)": Soba(gamma=0.3),
    "SOBAdiag(adaptive,a=1)": Soba("adaptive"),
}


def random_sequence(horizon: int = 300, n_labels: int = 4, scale: float = 1.0) -> Sequence:
    generator = np.random.default_rng(8)
    features = generator.normal(size=(horizon, 6)) * (generator.random((horizon, 6)) < 0.6)
    return Sequence.from_dense(
        scale * features, generator.integers(n_labels, size=horizon), n_labels, "random"
    )


def separable_sequence(n_labels: int, noise: float) -> Sequence:
    """Normal features, whose scores do not tie, and the labels of a linear rule, some drawn again."""
    generator = np.random.default_rng(4)
    features = generator.normal(size=(600, 6))
    labels = np.argmax(features @ generator.normal(size=(6, n_labels)), axis=1)
    again = generator.integers(n_labels, size=600)
    labels = np.where(generator.random(600) < noise, again, labels)
    return Sequence.from_dense(features, labels, n_labels, "separable")


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_examples(name: str) -> None:
    run = run_of(EXAMPLES[name], "bandit")
    budget, curvature = 0.0, 0.0
    for expected in examples("baseline_examples.json")[name]:
        block = run.advance(1, trace=True)
        assert block.scores[0] == pytest.approx(expected["scores"], abs=1e-9)
        assert block.probabilities[0] == pytest.approx(expected["p"], abs=1e-9)
        assert (block.best[0], block.columns[0, ACTION]) == (expected["yhat"], expected["play"])
        if expected["update"]:
            budget += expected["m"]
            curvature += expected["q"] / (1 + expected["q"])
        assert run.state[BUDGET] == pytest.approx(budget, abs=1e-9)
        assert run.state[CURVATURE] == pytest.approx(curvature, abs=1e-9)
        assert np.abs(run.weights.T - np.array(expected["W"])).max() <= 1e-9


REGULARISER = 5.0
"""Large enough for the margins to stay small, so that the budget is spent."""


class Reference:
    """SOBA as its definition says, with dense matrices of shape (labels, features)."""

    def __init__(self, n_features: int, n_labels: int, regulariser: float, budget: str) -> None:
        self.theta = np.zeros((n_labels, n_features))
        self.a = np.full((n_labels, n_features), regulariser)
        self.q_sum, self.m_sum, self.margin_only = 0.0, 0.0, budget == "margin"
        self.steps = {"mistake": 0, "margin": 0, "left": 0}

    @property
    def weights(self) -> np.ndarray:
        return self.theta / self.a

    def update(self, x: np.ndarray, scores: np.ndarray, label: int, chance: float) -> None:
        best = int(np.argmax(scores))
        others = np.where(np.arange(len(scores)) == label, -np.inf, scores)
        e = np.eye(len(scores))
        G = np.outer(e[np.argmax(others)] - e[label], x) / chance
        q = chance * np.sum(G * G / self.a)
        g = np.sum(G * self.weights)
        m = (chance * g * g + 2 * g) / (1 + q)
        if best == label and self.m_sum + m < 0:
            self.steps["left"] += 1
            return
        self.steps["mistake" if best != label else "margin"] += 1
        if best != label:
            assert m >= -1e-9
        self.theta -= G
        self.a += chance * G * G
        self.q_sum += q / (1 + q)
        self.m_sum += m if best == label or not self.margin_only else 0.0


@pytest.mark.parametrize("budget", ["all", "margin"])
@pytest.mark.parametrize("exploration", ["fixed", "adaptive"])
@pytest.mark.parametrize("n_labels", [2, 4])
def test_every_round_follows_the_definition(budget: str, exploration: str, n_labels: int) -> None:
    """Traps: the square root of p(y) in q, a Q that is added twice, a budget of other rounds, the rival, and with two
    labels the importance weight of the game, which is one."""
    sequence = separable_sequence(n_labels, 0.05)
    gamma = 0.4 if exploration == "fixed" else None
    learner = Soba(exploration, gamma, REGULARISER, budget)
    run = Run(Game(learner, sequence, graphs.bandit(n_labels), seed=6), 0)
    reference = Reference(sequence.n_features, n_labels, REGULARISER, budget)
    for t, (x, label) in enumerate(zip(sequence.dense(), sequence.labels, strict=True)):
        rate = gamma or min(1.0, math.sqrt(n_labels * (1 + reference.q_sum) / (t + 1)))
        block = run.advance(1, trace=True)
        expected = np.full(n_labels, rate / n_labels)
        expected[block.best[0]] += 1 - rate
        assert block.probabilities[0] == pytest.approx(expected, abs=1e-12)
        assert block.scores[0] == pytest.approx(reference.weights @ x, abs=1e-9)
        if block.columns[0, ACTION] == label:
            reference.update(x, block.scores[0], label, expected[label])
        assert run.state[[BUDGET, CURVATURE]] == pytest.approx(
            [reference.m_sum, reference.q_sum], rel=1e-9, abs=1e-9
        )
    assert pytest.approx(reference.weights, abs=1e-9) == run.weights.T
    assert pytest.approx(reference.a, rel=1e-9) == run.memory[DIAGONAL].T
    assert min(reference.steps.values()) > 3


def test_wrong_guesses_change_nothing() -> None:
    """Not even where they reveal the label, as with two labels."""
    features, labels = np.array([[1.0, 2.0]] * 8), [1] * 8
    run = run_of(Soba(gamma=0.4), "bandit", features, labels, [0.1] * 8, 2)  # always plays label 0
    block = run.advance(8)
    assert block.columns[:, ACTION].tolist() == [0] * 8
    assert block.weights.tolist() == [1] * 8
    assert not run.memory[THETA].any()
    assert not run.weights.any()
    assert run.state[BUDGET] == run.state[CURVATURE] == 0


def test_after_a_mistake_the_budget_does_not_matter() -> None:
    run = run_of(Soba(gamma=0.4), "bandit", [[1.0, 0.0]], [2], [0.99])
    run.state[BUDGET] = -100.0
    run.advance(1)
    assert pytest.approx(np.array([[-30 / 17, 0], [0, 0], [30 / 17, 0]]) * 0.5) == run.weights.T


def test_tunings() -> None:
    def numbers(**given: Any) -> dict[str, float]:
        problem = Problem(graphs.bandit(3), 2, 10_000, feature_norm=3.0)
        player = Soba(**given).player(problem)
        found = {name.removeprefix("soba."): value for name, value in player.declaration.items()}
        assert (player.memory[DIAGONAL] == found["regulariser"]).all()
        assert player.parameters[0] == found.get("gamma", 0.0)
        return found

    assert numbers() == {"gamma": 0.01, "regulariser": 1}
    assert numbers(tuning="ones") == {"gamma": pytest.approx(0.01), "regulariser": 1}
    assert numbers(tuning="theory") == {"regulariser": 9}
    assert numbers(tuning="theory", gamma=0.2) == {"gamma": 0.2, "regulariser": 9}
    assert numbers(tuning="theory", exploration="fixed", regulariser=2.0) == {
        "gamma": pytest.approx(0.01),
        "regulariser": 2,
    }
    assert numbers(exploration="adaptive") == {"regulariser": 1}
    short = Soba(tuning="ones").numbers(Problem(graphs.bandit(3), 2, 3))
    assert short["gamma"] == 0.5


@pytest.mark.parametrize("exploration", ["fixed", "adaptive"])
@pytest.mark.parametrize("budget", ["all", "margin"])
def test_compiled_equals_interpreted_bit_for_bit(exploration: str, budget: str) -> None:
    game = Game(Soba(exploration, budget=budget), random_sequence(), graphs.bandit(4))
    native, python = (Run(game, 1, interpreted=form) for form in (False, True))
    for run in (native, python):
        run.advance(300)
    for name in ("totals", "memory", "weights", "state"):
        assert getattr(native, name).tobytes() == getattr(python, name).tobytes()
    assert native.weights.any()


def test_with_the_tuning_of_theory_the_unit_of_the_features_does_not_matter() -> None:
    def actions(learner: Soba, scale: float) -> np.ndarray:
        run = Run(Game(learner, random_sequence(scale=scale), graphs.bandit(4)), 0)
        return run.advance(300).columns[:, ACTION]

    theory, other = Soba(tuning="theory"), Soba("adaptive")
    assert np.array_equal(actions(theory, 1.0), actions(theory, 1024.0))
    assert not np.array_equal(actions(other, 1.0), actions(other, 1024.0))


@pytest.mark.parametrize("tuning", ["ones", "theory"])
@pytest.mark.parametrize("budget", ["all", "margin"])
@pytest.mark.parametrize("scale", [1e-160, 1e-150, 1e150, 1e153, "mixed"])
def test_features_of_any_size_give_numbers(tuning: str, budget: str, scale: Any) -> None:
    sequence = random_sequence()
    if scale == "mixed":  # sizes that differ between features and between rounds
        sizes = 10.0 ** np.random.default_rng(2).choice([-150, 0, 150], size=(300, 6))
        sequence = Sequence.from_dense(sequence.dense() * sizes, sequence.labels, 4, "mixed")
    else:
        sequence = random_sequence(scale=scale)
    run = Run(Game(Soba(tuning=tuning, budget=budget), sequence, graphs.bandit(4)), 0)
    run.advance(300, trace=True).check("soba")
    assert np.isfinite(run.weights).all()
    assert np.isfinite(run.state).all()
    assert run.weights.any()
    if scale != 1e-160:
        assert run.state[CURVATURE] > 0


def test_a_curvature_beyond_the_largest_float_counts_as_one() -> None:
    """q = 3e308, while A = 7.5e307 and the scores are numbers."""
    x = 5e153
    run = run_of(Soba(gamma=1.0), "bandit", [[x, x]], [2], [0.99])
    run.advance(1)
    assert run.state[[CURVATURE, BUDGET]].tolist() == [1, 0]
    assert pytest.approx(np.array([[-1 / x] * 2, [0, 0], [1 / x] * 2]), rel=1e-12) == run.weights.T


def test_it_plays_where_it_sees_whether_it_was_right() -> None:
    for spec in ("filtering", "label-efficient"):
        with pytest.raises(UserError, match=r"cannot play graph .*: expected bandit"):
            Game(Soba(), random_sequence(), graphs.parse(spec, 4)).player()


@pytest.mark.parametrize("given", [
    "exploration=both", "gamma=0", "gamma=1.5", "gamma=nan", "regulariser=0", "regulariser=inf", "budget=none",
    "exploration=adaptive,gamma=0.1", "tuning=best",
])  # fmt: skip
def test_illegal_parameters(given: str) -> None:
    with pytest.raises(UserError, match="expected"):
        catalog.learner(f"soba:{given}")


def test_spec() -> None:
    made = Soba("fixed", 0.1, 2.0, "margin", tuning="theory")
    assert catalog.learner(made.spec) == made
    assert catalog.learner("soba") == Soba()
