"""The cost of bandit feedback: rounds to reach an error share, by hand, and what the page says of them."""

from __future__ import annotations

import math
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_boosting import boosting

from boundcheck.reports.cli import main
from boundcheck.reports.studies import section as report
from boundcheck.reports.studies import twins
from boundcheck.verify.studies import run as sweep
from boundcheck.verify.studies import store

ROUNDS = np.array([1.0, 10.0, 100.0, 1000.0])


def test_a_share_is_reached_for_good_and_interpolated_in_the_logarithm() -> None:
    shares = np.array([0.8, 0.2, 0.5, 0.1])
    levels = np.array([0.9, 0.5, 0.3, 0.1, 0.05])
    # 0.5 is crossed before round 10 and touched at 100; 0.3 was reached at once but lost; 0.05 never is
    expected = [1.0, 10**0.5, 10**2.5, 1000.0, math.nan]
    found = twins.rounds_to_reach(ROUNDS, shares, levels)
    assert found == pytest.approx(expected, nan_ok=True)


def sums(mistakes: dict[str, list[list[int]]]) -> pd.DataFrame:
    """Rows of learners by seed, at the checkpoints."""
    rows = [
        {
            "N": 1,
            "data": "edge",
            "tuning": "low",
            "learner": learner,
            "seed": seed,
            "rounds": r,
            "mistakes": m,
        }
        for learner, seeds in mistakes.items()
        for seed, made in enumerate(seeds)
        for r, m in zip(ROUNDS, made, strict=True)
    ]
    return pd.DataFrame(rows)


def test_the_ratio_is_of_rounds_and_only_where_all_seeds_reach() -> None:
    full = [[1, 9, 50, 100], [1, 9, 50, 100]]
    bandit = [[1, 10, 90, 500], [1, 10, 90, 400]]
    table = twins.costs(boosting(), sums({"Full": full, "Bandit": bandit}), "mistakes")
    by_share = table.set_index("share")
    # the twin is at 0.5 from round 100 on; one seed falls from 0.9 to 0.5 by round 1000, the other to 0.4
    half = by_share.loc[0.5]
    assert half["twin_rounds"] == pytest.approx(100)
    slow, fast = 1000, 100 * 10 ** (0.4 / 0.5)
    assert half["rounds"] == pytest.approx(math.sqrt(slow * fast))
    assert (half["low"], half["high"]) == pytest.approx((fast / 100, slow / 100))
    assert half["ratio"] == pytest.approx(math.sqrt(fast * slow) / 100)
    words = by_share["reached"]
    assert words[0.45] == words[0.4] == "in some seeds"
    assert words[0.39] == words[0.1] == "not reached"
    assert by_share.loc[[0.45, 0.39], ["rounds", "ratio", "low", "high"]].isna().all(axis=None)
    assert by_share.index.min() == 0.1
    # shares that the twin reaches in fewer than 30 rounds are luck: from 0.9 - 0.4 log10(3) on
    assert by_share.index.max() == 0.7
    (row,) = twins.summary(table).to_dict("records")
    assert (row["twin_share"], row["share"], row["reached"]) == (0.1, 0.5, "reached")
    assert row["ratio"] == half["ratio"]


def test_what_cannot_be_compared_is_said() -> None:
    never = twins.costs(
        boosting(), sums({"Full": [[1, 9, 50, 100]], "Bandit": [[1, 10, 100, 1000]]}), "mistakes"
    )
    assert twins.summary(never)["reached"].tolist() == ["not reached"]
    at_once = twins.costs(
        boosting(), sums({"Full": [[0, 0, 0, 0]], "Bandit": [[1, 10, 100, 1000]]}), "mistakes"
    )
    (row,) = twins.summary(at_once).to_dict("records")
    assert row["reached"] == "nothing to reach"
    assert math.isnan(row["twin_share"])


def test_the_page_has_a_panel_for_each_value_and_the_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = boosting()
    cases = study.cases()
    with store.opened(tmp_path / "results" / study.name) as opened:
        opened.adopt(study, cases, resume=False)
        for case in cases:
            opened.finish(case, sweep.play(case))
    results = report.load(tmp_path / "results" / study.name)
    known = results.sums.set_index(["data", "N", "learner"])["asymptotic_share"]
    assert {*known["edge", 4, "Bandit"]} == {2 * math.exp(-0.5)}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["boundcheck", "report"])
    assert main() == 0
    page = (tmp_path / "boundcheck-report" / "index.html").read_text()
    pictures = page.split("<svg")[1:]
    assert len(pictures) == 1 + 2 + 1  # the key, curves for each tuning, the cost
    for picture in pictures:
        ET.fromstring("<svg" + picture.split("</svg>")[0] + "</svg>")
    assert "The cost of bandit feedback, by best label mistakes" in page
    assert page.count("Bandit : Full") == 4
    assert page.count("leaves in the limit if its weak learners") == 2
    table = pd.read_csv(tmp_path / "boundcheck-report" / "tables" / "study-boosters-costs.csv")
    assert {*table["tuning"]} == {"low", "high", "best"}
    edge = table[(table["data"] == "edge") & (table["reached"] == "reached")]
    assert len(edge) > 0
    assert (edge["ratio"] == 1).all()  # exploration apart, exact edges cost nothing
