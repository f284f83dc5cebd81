"""Limits on the smallest excess loss: exact ranks, coverage at all edges at once, inversion."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.arrays import FloatArray
from boundcheck.errors import UserError
from boundcheck.verify.judges.bands import (
    Band,
    Frontiers,
    lower_limits,
    ranks,
    runs_for_limits,
)


def at_most(count: int, runs: int, chance: Fraction) -> Fraction:
    """P(Bin(runs, chance) <= count), exactly."""
    terms = (math.comb(runs, i) * chance**i * (1 - chance) ** (runs - i) for i in range(count + 1))
    return sum(terms, Fraction(0))


@pytest.mark.parametrize("delta", ["1/20", "1/10", "1/2"])
@pytest.mark.parametrize("level", ["1/40", "1/800", "1/1000000"])
@pytest.mark.parametrize("runs", [12, 60, 131, 140])
def test_the_ranks_are_the_narrowest_that_are_right_often_enough(
    runs: int, level: str, delta: str
) -> None:
    """For a continuous law the number of runs below its quantile is binomial: no rank may be one nearer."""
    most, below = Fraction(level), 1 - Fraction(delta)
    low, high = ranks(runs, float(Fraction(delta)), float(most))
    assert 0 <= low < high <= runs + 1
    assert low == 0 or at_most(low - 1, runs, below) <= most
    assert at_most(low, runs, below) > most
    assert high == runs + 1 or 1 - at_most(high - 1, runs, below) <= most
    assert 1 - at_most(high - 2, runs, below) > most


@pytest.mark.parametrize(("delta", "runs"), [(0.05, 131), (0.01, 666), (0.1, 64)])
def test_so_many_runs_make_the_limits_finite_and_one_less_does_not(delta: float, runs: int) -> None:
    edges = np.linspace(0, 0.5, 20)
    assert runs_for_limits(delta, 20) == runs
    reached = np.add.outer(np.arange(runs, dtype=float), edges)
    assert np.isfinite(Band.of(reached, edges, delta).high).all()
    short = Band.of(reached[1:], edges, delta)
    assert np.isinf(short.high).all()
    assert short.runs_needed == runs


LN20 = math.log(20)

LAWS: dict[str, tuple[Callable[[Any, FloatArray], FloatArray], Callable[[FloatArray], FloatArray]]]
LAWS = {
    # a run is one number, the same for all edges
    "exponential": (
        lambda rng, edges: np.multiply.outer(rng.exponential(size=131), 1 / (1 - edges)),
        lambda edges: LN20 / (1 - edges),
    ),
    # steps as large as those of costs: the 95 % quantile of 0..39 is 37, of which two values lie above
    "steps": (
        lambda rng, edges: np.floor(np.add.outer(rng.integers(40, size=131) / 1.0, 3 * edges)),
        lambda edges: np.floor(37 + 3 * edges),
    ),
    # edges that know as little of one another as edges can: a new number in each tenth
    "tenths": (
        lambda rng, edges: (
            rng.random((131, 10))[:, (10 * edges).astype(int)] + (10 * edges).astype(int)
        ),
        lambda edges: 0.95 + (10 * edges).astype(int),
    ),
}


def limits_at(band: Band, edge: float) -> tuple[float, float]:
    """Limits on S at any edge: those of the edges of the grid on either side of it."""
    below = int(np.searchsorted(band.edges, edge, side="right")) - 1
    above = int(np.searchsorted(band.edges, edge, side="left"))
    low = float(band.low[below]) if below >= 0 else 0.0
    return low, float(band.high[above]) if above < len(band.edges) else math.inf


@pytest.mark.parametrize("law", LAWS)
def test_the_band_holds_at_all_edges_at_once(law: str) -> None:
    """Of 800 bands at 95 % at least 95 % hold everywhere, between the edges of the grid as well."""
    draw, quantile = LAWS[law]
    rng = np.random.default_rng(5)
    grid, between = np.linspace(0, 0.95, 20), np.linspace(0, 0.95, 191)
    true = quantile(between)
    held = 0
    for _ in range(800):
        band = Band.of(draw(rng, grid), grid, 0.05)
        limits = np.array([limits_at(band, edge) for edge in between[::7]])
        held += bool(((limits[:, 0] <= true[::7]) & (true[::7] <= limits[:, 1])).all())
    assert held >= 760


def test_the_limits_are_the_values_of_those_ranks() -> None:
    rng = np.random.default_rng(2)
    reached = np.stack([rng.permutation(np.arange(1.0, 141)) for _ in range(3)], axis=1)
    found = Band.of(reached, np.array([0.1, 0.2, 0.3]), 0.1, 0.9)
    low, high = ranks(140, 0.1, 0.1 / 6)
    assert found.low.tolist() == [low] * 3
    assert found.middle.tolist() == [126] * 3
    assert found.high.tolist() == [high] * 3
    assert lower_limits(reached, 0.1, 0.05).tolist() == [ranks(140, 0.1, 0.05 / 3)[0]] * 3


def test_limits_that_refute_are_wrong_at_their_own_level() -> None:
    """At a level of 1 in 20 some of 2000 lower limits over 8 edges are wrong, and not more than that."""
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(2000):
        limits = lower_limits(rng.exponential(size=(60, 8)), 0.1, 0.05)
        wrong += bool((limits > math.log(10)).any())
    # the level is attained only up to the steps of the binomial: 8 P(Bin(60, .9) <= low - 1) at most
    exact = 8 * at_most(ranks(60, 0.1, 0.05 / 8)[0] - 1, 60, Fraction(9, 10))
    assert 0 < wrong <= 2000 * 0.05
    assert wrong == pytest.approx(2000 * float(exact), abs=5 * math.sqrt(2000 * float(exact)))


def band_of(low: list[float], high: list[float]) -> Band:
    edges = np.linspace(0.1, 0.1 * len(low), len(low))
    return Band(edges, np.array(low), np.array(low), np.array(high), 0.05, 200)


def test_the_largest_edge_for_an_excess_loss() -> None:
    band = band_of([1, 2, 4], [3, 5, 9])
    assert band.edges_at(5) == (pytest.approx(0.2), math.inf)
    assert band.edges_at(3.9) == (pytest.approx(0.1), pytest.approx(0.3))
    assert band.edges_at(2) == (-math.inf, pytest.approx(0.3))
    assert band.edges_at(0.5) == (-math.inf, pytest.approx(0.1))
    assert band_of([1], [math.inf]).edges_at(1e9) == (-math.inf, math.inf)


def test_both_ways_of_reading_agree() -> None:
    """An edge between the limits for S is one between whose limits S lies."""
    rng = np.random.default_rng(3)
    edges = np.linspace(0, 0.9, 12)
    reached = rng.exponential(size=(160, 1)) / (1 - edges)
    band = Band.of(reached, edges, 0.1)
    for loss in (0.5, 2.0, 3.7, 10.0, 50.0):
        least, most = band.edges_at(loss)
        for edge, low, high in zip(edges, band.low, band.high, strict=True):
            assert (high <= loss) == (edge <= least)
            assert (low > loss) == (edge >= most)


@pytest.mark.parametrize(
    ("edges", "delta", "words"),
    [
        ([0.2, 0.1], 0.05, r"edges \[0.2, 0.1\]: expected increasing numbers in \[0, 1\]"),
        ([0.5, 1.5], 0.05, r"edges \[0.5, 1.5\]: expected increasing"),
        ([0.1, math.nan], 0.05, "expected increasing"),
        ([0.1, 0.2], 1.0, r"delta=1.0: expected a number in \(0, 1\)"),
    ],
)
def test_edges_and_deltas_out_of_range(edges: list[float], delta: float, words: str) -> None:
    with pytest.raises(UserError, match=words):
        Band.of(np.zeros((5, 2)), np.array(edges), delta)


def test_the_numbers_of_a_frontier_read_back_as_they_were() -> None:
    any_time, at_end = band_of([1, 2], [3, math.inf]), band_of([0, 1], [2, 2])
    found = Frontiers(any_time, at_end, np.array([4.5, math.nan]), False, 70)
    written = found.to_json()
    assert written["high"] == [3, None]
    assert written["known"] == [4.5, None]
    back = Frontiers.from_json(written)
    assert back.to_json() == written
    assert np.isinf(back.any_time.high[1])
    assert np.isnan(back.known[1])
    assert back.judged.low.tolist() == [0, 1]
    with pytest.raises(ValueError, match="1 low for 2 edges"):
        Frontiers.from_json(written | {"low": [1]})


@pytest.mark.parametrize(
    "damage",
    [
        {"anytime": "x"},
        {"anytime": 1},
        {"rounds": 7.5},
        {"runs": True},
        {"delta": "0.05"},
        {"low": ["1", 2]},
        {"middle": [None, None]},
        {"low": [1, 9]},
        {"middle": [3, 9]},
        {"end_high": [0, 0]},
        {"edges": [0.2, 0.1]},
    ],
)
def test_damaged_numbers_of_a_frontier_are_refused(damage: dict[str, Any]) -> None:
    any_time, at_end = band_of([1, 2], [3, 4]), band_of([0, 1], [2, 2])
    written = Frontiers(any_time, at_end, np.array([4.5, math.nan]), False, 70).to_json()
    Frontiers.from_json(written)
    with pytest.raises((TypeError, ValueError)):
        Frontiers.from_json(written | damage)
