"""Potentials and costs: two computations agree with recursion, brute force, exact fractions and Monte Carlo."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from boundcheck.algorithms.boosting import elections, potentials
from boundcheck.algorithms.boosting.potentials import Potentials, partitions
from boundcheck.errors import UserError

RULES = ("error", "random")


def lost(votes: tuple[int, ...], label: int, ties: str) -> Fraction:
    """The loss of ``label`` after the last vote."""
    level = [v for j, v in enumerate(votes) if j != label and v >= votes[label]]
    if any(v > votes[label] for v in level):
        return Fraction(1)
    if ties == "error":
        return Fraction(bool(level))
    return 1 - Fraction(1, 1 + len(level))


def raised(votes: tuple[int, ...], label: int) -> tuple[int, ...]:
    return tuple(v + (j == label) for j, v in enumerate(votes))


@cache
def recursion(
    votes: tuple[int, ...], label: int, remaining: int, edge: Fraction, ties: str
) -> Fraction:
    """Equation (6), word for word."""
    if remaining == 0:
        return lost(votes, label, ties)
    k = len(votes)
    return sum(
        (
            ((1 - edge) / k + edge * (vote == label))
            * recursion(raised(votes, vote), label, remaining - 1, edge, ties)
            for vote in range(k)
        ),
        Fraction(0),
    )


def brute_force(
    votes: tuple[int, ...], label: int, remaining: int, edge: Fraction, ties: str
) -> Fraction:
    """The mean over all k^n ways to vote."""
    k, mean = len(votes), Fraction(0)
    for ballot in product(range(k), repeat=remaining):
        chance = math.prod(
            ((1 - edge) / k + edge * (vote == label) for vote in ballot), start=Fraction(1)
        )
        counts = Counter(ballot)
        final = tuple(v + counts[j] for j, v in enumerate(votes))
        mean += chance * lost(final, label, ties)
    return mean


def some_votes(k: int, cast: int) -> list[tuple[int, ...]]:
    generator = np.random.default_rng(k)
    drawn = {tuple(generator.multinomial(cast, np.ones(k) / k).tolist()) for _ in range(4)}
    return [*sorted(drawn), (cast, *[0] * (k - 1)), (0,) * k, (-2, *[1] * (k - 1))]


def both(
    votes: tuple[int, ...], label: int, remaining: int, edge: Fraction, ties: str
) -> list[float]:
    """The potential by the series, and by the costs of votes that lead to these."""
    made = Potentials(len(votes), float(edge), ties)
    found = [made.potential(votes, label, remaining)]
    for vote in range(len(votes)):
        before = np.array(votes) - (np.arange(len(votes)) == vote)
        found.append(float(made.costs(before, label, remaining)[vote]))
    return found


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize(
    ("k", "remaining"), [(2, 0), (2, 9), (3, 1), (3, 6), (4, 5), (5, 4), (6, 2)]
)
def test_both_computations_are_the_recursion_in_fractions(
    k: int, remaining: int, ties: str
) -> None:
    for votes in some_votes(k, 5):
        for edge in (Fraction(0), Fraction(1, 7), Fraction(4, 5)):
            for label in range(k):
                exact = float(recursion(votes, label, remaining, edge, ties))
                values = both(votes, label, remaining, edge, ties)
                assert values[0] == pytest.approx(exact, rel=1e-12, abs=0)
                assert values[1:] == pytest.approx([exact] * k, abs=1e-13)


@pytest.mark.parametrize("ties", RULES)
def test_the_recursion_is_the_mean_over_all_ballots(ties: str) -> None:
    for votes, remaining in (((1, 0, 1), 5), ((0, 0), 7), ((2, 0, 0, 1), 4), ((0, 1, 1, 0, 0), 3)):
        for label in range(len(votes)):
            edge = Fraction(2, 7)
            exact = brute_force(votes, label, remaining, edge, ties)
            assert exact == recursion(votes, label, remaining, edge, ties)
            assert both(votes, label, remaining, edge, ties) == pytest.approx(
                [float(exact)] * (len(votes) + 1), abs=1e-13
            )


@pytest.mark.parametrize("ties", RULES)
def test_potentials_are_the_frequency_of_losing(ties: str) -> None:
    """An exact two-sided binomial test at 1e-9 on 200,000 elections per setting, ten settings in all."""
    generator = np.random.default_rng(11)
    for k, remaining, edge in (
        (2, 31, 0.1),
        (3, 20, 0.05),
        (5, 20, 0.1),
        (10, 100, 0.1),
        (10, 50, 0.0),
    ):
        votes = generator.multinomial(6, np.ones(k) / k)
        label = int(generator.integers(k))
        chances = np.full(k, (1 - edge) / k)
        chances[label] += edge
        final = votes + generator.multinomial(remaining, chances, size=200_000)
        others = np.delete(final, label, axis=1)
        level = (others == final[:, [label]]).sum(axis=1)
        lose = (others > final[:, [label]]).any(axis=1)
        lose |= generator.random(len(final)) >= (level == 0 if ties == "error" else 1 / (1 + level))
        for potential in both(tuple(votes.tolist()), label, remaining, Fraction(edge), ties):
            assert stats.binomtest(int(lose.sum()), len(final), potential).pvalue > 1e-9


@pytest.mark.parametrize("ties", RULES)
def test_both_computations_agree_for_many_labels_and_learners(ties: str) -> None:
    generator = np.random.default_rng(3)
    for k, cast, remaining in ((10, 1, 98), (10, 40, 59), (7, 80, 19), (10, 97, 2)):
        votes = generator.multinomial(cast, np.ones(k) / k)
        made = Potentials(k, 0.07, ties)
        matrix = made.cost_matrix(votes, remaining)
        for r, vote in [*generator.integers(k, size=(5, 2)).tolist(), (2, 2)]:
            series = made.potential(raised(tuple(votes.tolist()), vote), r, remaining)
            assert matrix[r, vote] == pytest.approx(series, abs=1e-13)


def test_a_tiny_potential_has_a_small_relative_error() -> None:
    edge = Fraction(4, 5)
    exact = recursion((8, 0, 0), 0, 24, edge, "error")
    assert exact < Fraction(1, 10**9)
    assert Potentials(3, 0.8).potential((8, 0, 0), 0, 24) == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize(("k", "learners"), [(2, 9), (3, 7), (4, 6), (5, 5)])
def test_the_label_has_the_least_cost_at_every_state(k: int, learners: int, ties: str) -> None:
    """Equation (8) puts the minimal cost on the correct label."""
    for edge in (0.0, 0.05, 0.2, 0.5):
        made = Potentials(k, edge, ties)
        for i in range(learners):
            for votes in partitions(i, k):
                costs = made.cost_matrix(np.array(votes), learners - 1 - i)
                assert (costs >= np.diag(costs)[:, None] - 1e-13).all()


@pytest.mark.parametrize("ties", RULES)
def test_costs_average_to_the_potential_before(ties: str) -> None:
    """The recursion (6) across one step, where no other oracle reaches: N = 100, k = 10."""
    votes, edge = np.array([3, 1, 4, 1, 5, 2, 6, 0, 2, 0]), 0.1
    made = Potentials(10, edge, ties)
    chances = np.full((10, 10), (1 - edge) / 10) + edge * np.eye(10)
    means = (chances * made.cost_matrix(votes, 75)).sum(axis=1)
    before = [made.potential(votes, label, 76) for label in range(10)]
    assert means == pytest.approx(before, abs=1e-13)


@pytest.mark.parametrize("ties", RULES)
def test_the_start_is_below_the_exponential_bound(ties: str) -> None:
    """(k-1) exp(-gamma^2 N / 2), at most 2.5 times too large somewhere."""
    ratios = []
    for k, learners, edge in product((2, 3, 5, 10), (1, 2, 5, 20, 100), (0.0, 0.05, 0.2, 0.5, 0.9)):
        made = Potentials(k, edge, ties)
        start = made.potential((0,) * k, 0, learners)
        ratios.append(start / made.bound(learners))
        assert start == pytest.approx(made.potential((0,) * k, k - 1, learners), rel=1e-11)
    assert max(ratios) <= 1
    assert max(ratios) > 0.4


@pytest.mark.parametrize(
    ("ties", "k", "learners"),
    [("random", 2, 14), ("random", 3, 10), ("random", 5, 8), ("error", 2, 14), ("error", 3, 10)],
)
def test_the_largest_weight_decays_as_a_root(ties: str, k: int, learners: int) -> None:
    """(k-1) / sqrt(N-i+1), which was observed and not proved."""
    for edge in (0.0, 0.1, 0.2):
        for i in range(learners):
            largest = Potentials(k, edge, ties).largest_weight(i, learners - 1 - i)
            assert largest <= (k - 1) / math.sqrt(learners - i) + 1e-12


def test_the_root_is_exceeded_where_a_tie_is_an_error() -> None:
    """With the label one ahead of all others and one vote to come, each other label has a cost of (k-1)/k."""
    votes = (1, 0, 0, 0)
    costs = [recursion(raised(votes, vote), 0, 1, Fraction(0), "error") for vote in range(4)]
    assert sum(costs) - 4 * costs[0] == Fraction(9, 4) > 3 / math.sqrt(2)
    assert Potentials(4, 0.0).largest_weight(1, 1) == pytest.approx(9 / 4)


def test_the_largest_weight_is_at_most_that_of_the_last_vote() -> None:
    for k, learners, edge in ((4, 8, 0.0), (5, 8, 0.5)):
        made = Potentials(k, edge)
        weights = [made.largest_weight(i, learners - 1 - i) for i in range(learners)]
        assert max(weights) == pytest.approx(k - 1, abs=1e-12)
        assert made.largest_weight(learners, 0) == pytest.approx(k - 1, abs=1e-12)


def test_partitions_are_all_votes_in_descending_order() -> None:
    for total, parts in ((0, 3), (5, 1), (7, 3), (6, 6)):
        votes = {
            tuple(sorted(v, reverse=True))
            for v in product(range(total + 1), repeat=parts)
            if sum(v) == total
        }
        listed = list(partitions(total, parts))
        assert set(listed) == votes
        assert len(listed) == len(votes)


def test_kernels_agree_bit_for_bit_in_both_forms() -> None:
    for ties in RULES:
        tables = potentials._tables(4, 0.15, ties, 9)
        nodes, table = tables.circle
        votes = np.array([0, 1, 1, 3])
        costs, losses = [], []
        for form in ("python", "native"):
            filled, work = np.empty((4, 4)), np.empty((2, 7, nodes))
            getattr(elections.costs_of, form)(
                votes, 9, nodes, table, tables.tie_nodes[1], work, filled
            )
            costs.append(filled.tobytes())
            losses.append(
                getattr(elections.loses, form)(
                    votes, 1, tables.own, tables.other, *tables.tie_nodes, np.empty((4, 10))
                )
            )
        assert costs[0] == costs[1]
        assert losses[0] == losses[1]


def test_costs_do_not_depend_on_a_common_number_of_votes_nor_on_the_names() -> None:
    made, votes = Potentials(4, 0.2, "random"), np.array([2, 0, 1, 2])
    matrix = made.cost_matrix(votes, 5)
    assert np.array_equal(matrix, made.cost_matrix(votes + 3, 5))
    names = np.array([3, 1, 0, 2])
    assert np.array_equal(matrix[np.ix_(names, names)], made.cost_matrix(votes[names], 5))
    for r, vote in product(range(4), repeat=2):
        series = made.potential(raised(tuple(votes.tolist()), vote), r, 5)
        assert matrix[r, vote] == pytest.approx(series, abs=1e-13)


def test_the_worked_example() -> None:
    path = Path(__file__).parent / "examples.json"
    rounds = json.loads(path.read_text(encoding="utf-8"))["OnlineMBBM(N=2,g=.2,tie=error)"]
    made = Potentials(3, 0.2)
    for worked in rounds:
        votes = np.zeros(3, dtype=np.int64)
        for i, label in enumerate(worked["wl"]):
            assert made.cost_matrix(votes, 1 - i) == pytest.approx(
                np.array(worked["C"][i]), abs=1e-9
            )
            votes[label] += 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((1, 0.1), "n_labels=1 of potentials: expected an integer of at least 2."),
        ((3, 1.0), "edge=1.0 of potentials: expected a number in [0, 1)."),
        ((3, -0.1), "edge=-0.1 of potentials: expected a number in [0, 1)."),
        ((3, math.nan), "edge=nan of potentials: expected a number in [0, 1)."),
        ((3, 0.1, "eror"), "unknown ties of potentials 'eror' (did you mean 'error'?): expected one of error, random."),
    ],
)  # fmt: skip
def test_bad_numbers_are_named(arguments: tuple[object, ...], sentence: str) -> None:
    with pytest.raises(UserError) as told:
        Potentials(*arguments)  # type: ignore[arg-type]
    assert str(told.value) == sentence
