"""Tests of the dominating sets: exact against brute force, greedy against its two bounds."""

from __future__ import annotations

from itertools import combinations, product
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from boundcheck.algorithms.domination import (
    dominating_set,
    greedy_dominating_set,
    minimum_dominating_set,
)
from boundcheck.errors import UserError

Relation = NDArray[np.bool_]


def dominates(observes: Relation, actions: tuple[int, ...]) -> bool:
    return bool(observes[list(actions)].any(axis=0).all())


def brute_force(observes: Relation) -> tuple[int, ...]:
    """Return the first smallest dominating set by trying every set."""
    n_actions, _ = observes.shape
    return next(
        actions
        for size in range(1, n_actions + 1)
        for actions in combinations(range(n_actions), size)
        if dominates(observes, actions)
    )


def set_cover_trap(blocks: int) -> Relation:
    """Return a relation that two actions dominate, of which greedy takes ``blocks`` others.

    Labels form blocks of 2, 4, 8, ... labels. One action observes each whole block, and two observe
    half of every block. The biggest remaining block always beats what is left of the halves.
    """
    block = np.repeat(np.arange(blocks), 2 ** np.arange(1, blocks + 1))
    observes = np.zeros((block.size, block.size), dtype=np.bool_)
    observes[:blocks] = np.arange(blocks)[:, None] == block
    place = np.concatenate([np.arange(2**b) for b in range(1, blocks + 1)])
    observes[blocks] = place % 2 == 0
    observes[blocks + 1] = place % 2 == 1
    return observes


def uneven(n: int) -> Relation:
    """Return a relation in which action 0 observes the last n of 2n labels, others one each."""
    observes = np.eye(2 * n, k=-1, dtype=np.bool_)
    observes[n + 1 :] = False
    observes[0, n:] = True
    return observes


def test_every_digraph_on_three_vertices() -> None:
    seen = 0
    for entries in product((False, True), repeat=9):
        observes = np.array(entries).reshape(3, 3)
        if observes.any(axis=0).all():
            seen += 1
            assert minimum_dominating_set(observes) == brute_force(observes)
            assert dominating_set(observes) == (brute_force(observes), True)
    assert seen == 343


@pytest.mark.parametrize("density", [0.15, 0.3, 0.5])
def test_random_digraphs_on_six_vertices(density: float) -> None:
    rng = np.random.default_rng(6)
    for _ in range(60):
        observes = rng.random((7, 6)) < density
        observes |= np.eye(7, 6, dtype=np.bool_) & ~observes.any(axis=0)
        expected = brute_force(observes)
        assert minimum_dominating_set(observes) == expected
        assert dominating_set(observes) == (expected, True)


def test_the_first_of_the_smallest_sets_is_chosen() -> None:
    # One of the first two actions and one of the last two dominate.
    observes = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]], dtype=np.bool_)
    assert minimum_dominating_set(observes) == (0, 2)
    assert minimum_dominating_set(observes[::-1]) == (0, 2)
    assert minimum_dominating_set(observes[[3, 2, 0, 1]]) == (0, 2)
    assert minimum_dominating_set(observes[[0, 1, 3, 2]]) == (0, 2)


@settings(derandomize=True, deadline=None, max_examples=80)
@given(arrays.arrays(np.bool_, st.tuples(st.integers(2, 12), st.integers(2, 12))))
def test_greedy_stays_within_the_harmonic_bound(drawn: Relation) -> None:
    n_actions, n_labels = drawn.shape
    observes = drawn.copy()
    observes[np.arange(n_labels) % n_actions, np.arange(n_labels)] |= ~drawn.any(axis=0)
    greedy, smallest = greedy_dominating_set(observes), minimum_dominating_set(observes)
    assert dominates(observes, greedy)
    assert list(greedy) == sorted(set(greedy))
    assert len(smallest) <= len(greedy) <= (log(n_labels) + 1) * len(smallest)


def test_greedy_exceeds_the_bound_printed_in_the_paper() -> None:
    observes = set_cover_trap(6)
    _, n_labels = observes.shape
    assert n_labels == 126
    assert minimum_dominating_set(observes) == (6, 7)
    greedy = greedy_dominating_set(observes)
    assert greedy == (0, 1, 2, 3, 4, 5)
    assert len(greedy) > (log(2) + 2) * 2
    assert len(greedy) <= (log(n_labels) + 1) * 2


def test_a_large_relation_gets_the_greedy_set_and_says_so() -> None:
    assert dominating_set(set_cover_trap(6)) == ((0, 1, 2, 3, 4, 5), False)


@pytest.mark.parametrize(
    ("observes", "expected"),
    [
        (np.eye(100, dtype=np.bool_), tuple(range(100))),
        (uneven(50), tuple(range(51))),
        (np.vstack([np.eye(100), np.ones((2, 100))]).astype(np.bool_), (100,)),
        (np.repeat(np.eye(2), 50, axis=1).repeat(50, axis=0).astype(np.bool_), (0, 50)),
    ],
    ids=["each its own", "by need", "one sees all", "halves"],
)
def test_a_large_relation_can_still_be_known_exactly(
    observes: Relation, expected: tuple[int, ...]
) -> None:
    assert dominating_set(observes) == (expected, True)


def test_greedy_names_a_label_nobody_observes() -> None:
    with pytest.raises(UserError, match="no action observes label 1: expected"):
        greedy_dominating_set(np.array([[True, False], [True, False]]))
