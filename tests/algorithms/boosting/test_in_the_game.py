"""Boosters in the game: found by name, fed by the game, and with dice of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from boundcheck.adversaries.sequence import Sequence
from boundcheck.algorithms import graphs
from boundcheck.algorithms.boosting.booster import parse
from boundcheck.algorithms.boosting.hedge import HedgeStump
from boundcheck.algorithms.boosting.trees import HoeffdingTree
from boundcheck.algorithms.boosting.weak import CostPerceptron, OracleNoise
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.games.labels.play import Game, game_generator, learner_generator
from boundcheck.verify.games.labels.record import ACTION, OBSERVED

NAMES = ("online-mbbm", "bandit-bbm", "adaboost-olm", "ada-bandit")


def sequence(rounds: int = 60) -> Sequence:
    generator = np.random.default_rng(1)
    x = generator.integers(2, size=(rounds, 3)).astype(float)
    return Sequence.from_dense(x, (x[:, 0] * 2).astype(int), 3, "planted stump")


@pytest.mark.parametrize("name", NAMES)
def test_the_game_plays_it_as_it_plays_alone(name: str) -> None:
    """The same probabilities and the same actions, from the same two streams."""
    learner, shown = catalog.learner(f"{name}:learners=5,ties=random"), sequence()
    graph = graphs.bandit(3) if "band" in name else graphs.full_information(3)
    for replicate in (0, 1):
        game = Game(learner, shown, graph, seed=7)
        (block,) = game.play(replicate, trace=True)
        alone = learner.begin(game.problem, learner_generator(7, replicate))
        draws = game_generator(7, replicate).random(shown.horizon)
        for t in range(shown.horizon):
            p = alone.predict(shown.row(t))
            assert np.array_equal(block.probabilities[t], p)
            action = int((p.cumsum() <= draws[t]).sum())
            assert block.columns[t, ACTION] == action
            label = int(shown.labels[t]) if block.columns[t, OBSERVED] else None
            alone.update(shown.row(t), action, label)


def test_replicates_and_seeds_have_dice_of_their_own() -> None:
    numbers = [
        learner_generator(seed, replicate).random() for seed in (0, 1) for replicate in (0, 1)
    ]
    numbers += [game_generator(0, 0).random(), learner_generator(0, 0).random()]
    assert len(set(numbers)) == 5


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("hedge-stump", HedgeStump()),
        ("hedge-stump+rate=0.25", HedgeStump(0.25)),
        ("oracle-noise+first=2", OracleNoise(2)),
        ("cost-perceptron+rate=0.5", CostPerceptron(0.5)),
        ("hoeffding-tree+grace_period=50", HoeffdingTree(50)),
        ("hoeffding-tree+ties=lowest+clip=100.0", HoeffdingTree(ties="lowest", clip=100.0)),
    ],
)
def test_weak_learners_are_named_in_a_spec(text: str, made: Any) -> None:
    assert parse(text) == made
    assert str(made) == text
    learner = catalog.learner(f"bandit-bbm:weak={text},gamma=0.2")
    assert learner.weak == made
    assert catalog.learner(learner.spec) == learner


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hedge-stum", "unknown weak learner 'hedge-stum' (did you mean 'hedge-stump'?): expected one of"
         " cost-perceptron, hedge-advice, hedge-stump, hoeffding-tree, oracle-noise."),
        ("hedge-stump+rat=1", "unknown parameter of 'hedge-stump' 'rat' (did you mean 'rate'?): expected one of rate."),
        ("hedge-stump+rate=fast", "parameter rate=fast is not legal: expected a number in (-inf, inf)"),
        ("oracle-noise+first=1.5", "parameter first=1.5 is not legal: expected an integer in (-inf, inf)"),
    ],
)  # fmt: skip
def test_a_bad_weak_learner_is_named(text: str, sentence: str) -> None:
    with pytest.raises(UserError) as told:
        catalog.learner(f"ada-bandit:weak={text}")
    assert str(told.value) == sentence
