"""Hoeffding trees as weak learners: which label they are told, when they split, and what a booster makes of them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from boundcheck.algorithms import graphs
from boundcheck.algorithms.boosting import trees
from boundcheck.algorithms.boosting.booster import parse
from boundcheck.algorithms.boosting.majority import BanditBBM, OnlineMBBM
from boundcheck.algorithms.boosting.weak import OracleNoise, Setting
from boundcheck.algorithms.learner import Problem
from boundcheck.errors import UserError
from boundcheck.verify.games.labels.play import Run
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting as GameSetting

pytest.importorskip("river", reason="River is not installed")

TWO = np.array([[3.0, -150.0, 7.0, -150.0]])
"""Costs that are least at labels 1 and 3."""


class Told:
    """A tree that writes down what it is told."""

    def __init__(self) -> None:
        self.examples: list[tuple[int, float]] = []

    def learn_one(self, x: Any, label: int, *, w: float) -> None:
        self.examples.append((label, w))


def told(made: trees.HoeffdingTree, right: int | None, costs: Any = TWO, n: int = 64) -> set[Any]:
    tree = Told()
    crowd = trees._Trees(made, [tree], (5,))
    crowd.right = right
    for _ in range(n):
        crowd.update(np.zeros(2), costs, np.array([0.5]))
    return set(tree.examples)


def test_of_several_cheapest_labels_the_rule_names_one() -> None:
    weight = 0.5 * (153 + 157)
    assert told(trees.HoeffdingTree(ties="lowest"), 3) == {(1, weight)}
    assert told(trees.HoeffdingTree(ties="random"), 3) == {(1, weight), (3, weight)}
    assert told(trees.HoeffdingTree(), 3) == {(3, weight)}
    assert told(trees.HoeffdingTree(), 2) == {(1, weight), (3, weight)}, "it is not among them"
    assert told(trees.HoeffdingTree(), None) == {(1, weight), (3, weight)}


def test_costs_are_clipped_before_the_cheapest_is_looked_for() -> None:
    costs = np.array([[2.0, -120.0, -150.0]])
    assert told(trees.HoeffdingTree(), None, costs) == {(2, 0.5 * (152 + 30))}
    assert told(trees.HoeffdingTree(clip=100), 1, costs) == {(1, 0.5 * 102)}
    assert told(trees.HoeffdingTree(clip=1, weight=4), 0, costs) == {(1, 4.0), (2, 4.0)}
    assert told(trees.HoeffdingTree(clip=1), 0, costs - 3) == set(), "all are clipped to the same"


@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_crowd_hears_which_label_was_played_and_right(k: int) -> None:
    for kind, graph in (
        (BanditBBM, graphs.bandit(k)),
        (OnlineMBBM, graphs.full_information(k)),
    ):
        bandit = kind is BanditBBM
        made = kind(OracleNoise(), 1, **({"rho": 0.3} if bandit else {}))
        for best, action, label in product(range(k), repeat=3):
            boosting = made.begin(Problem(graph, 1, 9), np.random.default_rng(0))
            boosting.predict(np.array([float(best)]))
            assert boosting.best == best
            if not bandit and action != best:
                continue
            boosting.update(np.zeros(1), action, label if not bandit or action == label else None)
            seen = action == best if k == 2 else action == label
            known = label if seen or not bandit else None
            assert boosting.found == known, (best, action, label)


def test_parameters_are_named_in_a_spec_and_checked() -> None:
    text = "hoeffding-tree+delta=0.01+tie_threshold=0.3+ties=random+weight=10.0"
    assert str(parse(text)) == text
    with pytest.raises(UserError, match=r"unknown ties of hoeffding-tree 'rando' \(did you mean"):
        parse("hoeffding-tree+ties=rando")
    with pytest.raises(
        UserError, match=r"delta=1.0 of hoeffding-tree: expected a number in \(0, 1"
    ):
        parse("hoeffding-tree+delta=1")


def heights(**parameters: Any) -> list[int]:
    """Of a tree on 300 examples whose label is in a feature, each of weight 1."""
    crowd: Any = trees.HoeffdingTree(**parameters).crowd(Setting(1, 2, 2, 300))
    dice = np.random.default_rng(1)
    for _ in range(300):
        x = dice.integers(2, size=2).astype(float)
        crowd.update(x, np.array([[x[0], 1 - x[0]]]), np.array([1.0]))
    return [tree.height for tree in crowd.trees]


def test_a_tree_splits_where_its_parameters_let_it() -> None:
    assert heights() == [2]
    assert heights(weight=0.1) == [1], "its leaf has not seen the weight of a grace period"
    assert heights(weight=0.1, grace_period=20) == [2]
    assert heights(delta=1e-300, tie_threshold=0.0) == [1]
    assert heights(delta=1e-300, tie_threshold=2.0) == [2]


def accuracy(weak: str) -> float:
    """Share of the last 350 of 700 rounds on digits in which the booster's best label is right."""
    learner = f"bandit-bbm:weak={weak},learners=2,rho=0.5"
    case = resolve(GameSetting(learner, "bundled:name=digits", "bandit", 700, None, 1), 0)
    block = Run(case.game, 0).advance(700, trace=True)
    assert block.votes is not None
    best = block.votes.counts[:, 1]
    return float((best == block.labels)[350:].mean())


def test_bandit_bbm_learns_digits_with_trees_that_are_told_the_played_label() -> None:
    assert accuracy("hoeffding-tree") > 0.4
    assert accuracy("hoeffding-tree+ties=lowest") < 0.3
