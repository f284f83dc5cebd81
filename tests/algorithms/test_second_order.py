"""The diagonal second-order Perceptron: worked examples, traps, and numbers at the ends of their range."""

from __future__ import annotations

import math

import numpy as np
import pytest
from worked_examples import FEATURES, examples, run_of

from boundcheck.adversaries.sequence import Sequence
from boundcheck.algorithms import graphs
from boundcheck.algorithms.learner import Problem
from boundcheck.algorithms.second_order import (
    DIAGONAL,
    THETA,
    SecondOrderPerceptron,
    squared_feature_norm,
)
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.games.labels.play import Game, Run


def random_sequence(horizon: int = 200, n_labels: int = 4, scale: float = 1.0) -> Sequence:
    generator = np.random.default_rng(8)
    features = generator.normal(size=(horizon, 6)) * (generator.random((horizon, 6)) < 0.6)
    return Sequence.from_dense(
        scale * features, generator.integers(n_labels, size=horizon), n_labels, "random"
    )


def plays(learner: SecondOrderPerceptron, sequence: Sequence) -> tuple[np.ndarray, Run]:
    run = Run(Game(learner, sequence, graphs.full_information(sequence.n_labels)), 0)
    return run.advance(sequence.horizon, trace=True).best, run


def test_worked_example() -> None:
    run = run_of(SecondOrderPerceptron(), "full")
    for expected in examples("baseline_examples.json")["SOPdiag(a=1)"]:
        block = run.advance(1, trace=True)
        assert block.scores[0] == pytest.approx(expected["scores"], abs=1e-9)
        assert block.best[0] == block.columns[0, 9] == expected["pred"]
        assert pytest.approx(np.array(expected["W"]), abs=1e-9) == run.weights.T


def test_the_matrices_hold_the_mistakes_alone_and_the_weights_are_their_quotient() -> None:
    """Dense NumPy on the same rounds; a correct round leaves everything as it was."""
    sequence = random_sequence()
    features = sequence.dense()
    theta, diagonal = np.zeros((6, 4)), np.full((6, 4), 0.5)
    mistakes = 0
    best, run = plays(SecondOrderPerceptron(0.5), sequence)
    for x, label, played in zip(features, sequence.labels, best, strict=True):
        assert played == np.argmax(x @ (theta / diagonal))
        if played != label:
            mistakes += 1
            theta[:, label] += x
            theta[:, played] -= x
            diagonal[:, [label, played]] += (x * x)[:, None]
    assert 20 < mistakes < 180
    assert run.memory[THETA] == pytest.approx(theta, abs=1e-12)
    assert run.memory[DIAGONAL] == pytest.approx(diagonal, rel=1e-12)
    assert run.weights == pytest.approx(theta / diagonal, rel=1e-12)


def test_the_current_features_are_not_part_of_the_matrix_of_the_round() -> None:
    """Trap: with A + x * x in the third round the scores would be -1/3, 1/3, 0 and not -1/2, 1/2, 0."""
    run = run_of(SecondOrderPerceptron(), "full")
    block = run.advance(3, trace=True)
    assert block.scores[2] == pytest.approx([-0.5, 0.5, 0.0])


def test_every_label_has_a_matrix_of_its_own() -> None:
    """Trap: a matrix shared by the labels would count the third label's features in the second round."""
    run = run_of(SecondOrderPerceptron(), "full", FEATURES[1:2], [1], [0.5])
    run.advance(1)
    assert run.memory[DIAGONAL].T.tolist() == [[1, 2], [1, 2], [1, 1]]


def test_tunings() -> None:
    problem = Problem(graphs.full_information(3), 2, 100, feature_norm=3.0)
    for tuning, a in {"default": 1.0, "ones": 1.0, "theory": 9.0}.items():
        assert np.all(SecondOrderPerceptron(tuning=tuning).player(problem).memory[DIAGONAL] == a)
        given = SecondOrderPerceptron(0.25, tuning=tuning).player(problem)
        assert np.all(given.memory[DIAGONAL] == 0.25)


def test_with_the_tuning_of_theory_the_unit_of_the_features_does_not_matter() -> None:
    one, other = (
        plays(SecondOrderPerceptron(tuning="theory"), random_sequence(scale=scale))[0]
        for scale in (1.0, 1024.0)
    )
    assert np.array_equal(one, other)
    fixed = plays(SecondOrderPerceptron(), random_sequence(scale=1024.0))[0]
    assert not np.array_equal(one, fixed)


@pytest.mark.parametrize("radius", [0.0, 1e-300, 1e-160, 1.0, 1e150, 1.3e154])
def test_the_squared_feature_norm_stays_a_positive_float(radius: float) -> None:
    square = squared_feature_norm(Problem(graphs.full_information(3), 2, 100, radius))
    assert 0 < 1 / square < math.inf
    assert square >= 1 if radius == 0 or radius >= 1 else square <= 1e-300


@pytest.mark.parametrize("tuning", ["ones", "theory"])
@pytest.mark.parametrize("scale", [1e-160, 1e-150, 1.0, 1e150, 1e153])
def test_features_of_any_size_give_numbers(tuning: str, scale: float) -> None:
    best, run = plays(SecondOrderPerceptron(tuning=tuning), random_sequence(scale=scale))
    assert np.isfinite(run.weights).all()
    assert np.any(run.weights != 0)
    assert len(set(best.tolist())) == 4


def test_it_plays_full_information_only() -> None:
    for spec in ("bandit", "filtering", "label-efficient"):
        with pytest.raises(UserError, match=r"cannot play graph .*: expected full information"):
            Game(SecondOrderPerceptron(), random_sequence(), graphs.parse(spec, 4)).player()


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf"])
def test_illegal_regularisers(value: str) -> None:
    with pytest.raises(UserError, match="expected"):
        catalog.learner(f"second-order-perceptron:regulariser={value}")


def test_spec() -> None:
    spec = "second-order-perceptron:tuning=theory,regulariser=0.5"
    assert catalog.learner(spec).spec == spec
    assert catalog.learner("second-order-perceptron") == SecondOrderPerceptron()
