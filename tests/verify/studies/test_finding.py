"""Findings: the ratio, its interval and the word, on numbers made for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from boundcheck.verify.studies.finding import LEVEL, Finding

GRID = {"noise": (0.0, 0.1), "n_labels": (6, 12)}


def finding(**changes: Any) -> Finding:
    given = {"says": "x", "left": "A", "right": "B", "relation": "at most", "tuning": "ones"}
    return Finding.parse(
        "study 's'", {**given, **changes}, ["A", "B"], {"ones"}, GRID, {"mistakes"}
    )


def results(ratio: Callable[[float, int], float], seeds: int = 10) -> pd.DataFrame:
    """B makes about 1000 mistakes in every setting, A ``ratio`` times as many."""
    rng = np.random.default_rng(3)
    rows = []
    for seed in range(seeds):
        for noise in GRID["noise"]:
            for n_labels in GRID["n_labels"]:
                base = 1000 + rng.integers(-50, 50)
                for learner, mistakes in (("A", base * ratio(noise, n_labels)), ("B", base)):
                    mistakes = round(mistakes * (1 + 0.01 * rng.standard_normal()))
                    rows.append((learner, "ones", noise, n_labels, seed, mistakes))
    return pd.DataFrame(
        rows, columns=["learner", "tuning", "noise", "n_labels", "seed", "mistakes"]
    )


def test_the_interval_is_students_for_the_logarithms() -> None:
    frame = results(lambda noise, n_labels: 0.8)
    (found,) = finding().compare(frame, GRID)
    sums = frame.groupby(["learner", "seed"])["mistakes"].sum()
    logs = np.log(sums["A"] / sums["B"])
    low, high = stats.t.interval(LEVEL, 9, logs.mean(), stats.sem(logs))
    assert found.ratio == pytest.approx(math.exp(logs.mean()))
    assert (found.low, found.high) == pytest.approx((math.exp(low), math.exp(high)))
    assert found.seeds == 10


@pytest.mark.parametrize(
    ("relation", "ratio", "word"),
    [
        ("at most", 0.8, "agrees"),
        ("at most", 1.2, "disagrees"),
        ("at most", 1.0, "undecided"),
        ("above", 1.2, "agrees"),
        ("above", 0.8, "disagrees"),
        ("level", 1.02, "agrees"),
        ("level", 1.3, "disagrees"),
        ("level", 0.7, "disagrees"),
        ("level", 1.1, "undecided"),
    ],
)
def test_words(relation: str, ratio: float, word: str) -> None:
    (found,) = finding(relation=relation).compare(results(lambda noise, n_labels: ratio), GRID)
    assert found.word == word


def test_where_leaves_the_other_settings_out() -> None:
    frame = results(lambda noise, n_labels: 0.5 if noise else 2.0)
    words = [finding(where={"noise": noise}).compare(frame, GRID)[0].word for noise in (0.0, 0.1)]
    assert words == ["disagrees", "agrees"]


def test_rises_compares_the_ends_of_an_axis() -> None:
    rising = finding(relation="rises", along="n_labels")
    (found,) = rising.compare(results(lambda noise, n_labels: n_labels / 6), GRID)
    assert found.ratio == pytest.approx(2, rel=0.02)
    assert found.word == "agrees"
    falling = results(lambda noise, n_labels: 6 / n_labels)
    (found,) = rising.compare(falling, GRID)
    assert found.word == "disagrees"
    (found,) = finding(relation="falls", along="n_labels", factor=0.6).compare(falling, GRID)
    assert (found.word, found.legal) == ("agrees", (0.0, 0.6))
    (found,) = finding(relation="falls", along="n_labels", factor=0.4).compare(falling, GRID)
    assert found.word == "disagrees"


def test_seeds_that_are_not_finished_do_not_count() -> None:
    frame = results(lambda noise, n_labels: 0.8)
    part = frame.drop(frame.index[-1])
    assert finding().compare(part, GRID)[0].seeds == 9
    (found,) = finding().compare(frame[frame["seed"] == 0], GRID)
    assert found.word == "undecided"
    assert math.isnan(found.high)
    (found,) = finding().compare(frame[frame["seed"] > 10], GRID)
    assert (found.seeds, found.word) == (0, "undecided")
