"""The cost of bandit feedback: how many times the rounds of its twin with full information a learner needs.

Both play the same stream. A learner has reached an error share once its mistakes so far are at most that share of the
rounds so far, from then on until the horizon. Between checkpoints the share is interpolated in the logarithm of the
round; beyond the horizon nothing is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from ...arrays import FloatArray
from ...verify.studies.study import Study

SHARES: FloatArray = np.arange(1, 100) / 100
"""The error shares for which rounds are counted."""

FEWEST = 30
"""Shares that the twin reaches in fewer rounds are left out: they are luck."""

REACHED, PARTLY, NEVER = "reached", "in some seeds", "not reached"
NOTHING = "nothing to reach"
"""In place of shares where all are left out: the twin is there at once, or reaches none."""

COLUMNS = (
    "learner",
    "twin",
    "tuning",
    "share",
    "reached",
    "rounds",
    "twin_rounds",
    "ratio",
    "low",
    "high",
    "seeds",
)


def rounds_to_reach(rounds: FloatArray, shares: FloatArray, levels: FloatArray) -> FloatArray:
    """The round from which on ``shares`` stay at or below each level; NaN if that is not before the last checkpoint.

    Parameters
    ----------
    rounds : checkpoints, increasing, shape (n,)
    shares : share of mistakes so far at each checkpoint, shape (n,)
    levels : shape (m,), as is the result
    """
    above = shares > levels[:, None]
    after = np.where(above.any(axis=1), len(rounds) - above[:, ::-1].argmax(axis=1), 0)
    inside = np.clip(after, 1, len(rounds) - 1)
    before = inside - 1
    drop = shares[before] - shares[inside]
    part = np.divide(shares[before] - levels, drop, out=np.zeros(len(levels)), where=drop > 0).clip(
        0, 1
    )
    logs = np.log(rounds)
    found: FloatArray = np.exp(logs[before] + part * (logs[inside] - logs[before]))
    return np.where(after == 0, rounds[0], np.where(after == len(rounds), np.nan, found))


def costs(study: Study, curves: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Rounds that learners and their twins need, for each setting, tuning and error share that the twin reaches in all
    seeds, after ``FEWEST`` rounds or more.

    Columns: those of the axes with several values, then ``COLUMNS``. Rounds and the ratio are geometric means over the
    seeds, ``low`` and ``high`` the extremes of the ratio; all are NaN unless ``reached`` is "reached", in all seeds.
    """
    axes = [axis for axis, values in study.grid.items() if len(values) > 1]
    keys = [*axes, "tuning"]
    found = [
        {**dict(zip(keys, where, strict=True)), "learner": learner, "twin": twin, **row}
        for learner, twin in study.twins.items()
        for where, part in curves[curves["learner"].isin([learner, twin])].groupby(keys, sort=False)
        if part["learner"].nunique() == 2
        for row in _rows(part, learner, twin, measure)
    ]
    return pd.DataFrame(found, columns=[*axes, *COLUMNS])


def _rows(part: pd.DataFrame, learner: str, twin: str, measure: str) -> list[dict[str, Any]]:
    """A row for each error share that the twin reaches in all seeds, but not at once."""
    needed = {name: _needed(part[part["learner"] == name], measure) for name in (learner, twin)}
    rows = []
    for i, share in enumerate(SHARES):
        mine, theirs = needed[learner][:, i], needed[twin][:, i]
        if not _mean(theirs) >= FEWEST:  # nor with NaN, where some seed does not reach it
            continue
        missing = np.isnan(mine)
        ratios = mine / theirs
        rows.append(
            {
                "share": float(share),
                "reached": NEVER if missing.all() else PARTLY if missing.any() else REACHED,
                "rounds": _mean(mine),
                "twin_rounds": _mean(theirs),
                "ratio": _mean(ratios),
                "low": ratios.min(),
                "high": ratios.max(),
                "seeds": len(mine),
            }
        )
    return rows or [{"share": math.nan, "reached": NOTHING, "seeds": len(needed[twin])}]


def _needed(part: pd.DataFrame, measure: str) -> FloatArray:
    """Rounds until each of ``SHARES`` is reached, shape (seeds, shares)."""
    found = []
    for _, of in part.sort_values(["seed", "rounds"]).groupby("seed"):
        rounds = of["rounds"].to_numpy(dtype=np.float64)
        shares = of[measure].to_numpy(dtype=np.float64) / rounds
        found.append(rounds_to_reach(rounds, shares, SHARES))
    return np.array(found)


def _mean(values: FloatArray) -> float:
    return float(np.exp(np.log(values).mean()))


def longest(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the longest horizon, where there are several."""
    return table[table["horizon"] == table["horizon"].max()] if "horizon" in table else table


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """One row for each setting, pair and tuning: the lowest error share that both reach in all seeds, and the rounds
    until then.

    Adds ``twin_share``, the lowest that the twin reaches. Where the learner reaches no share that its twin reaches,
    ``reached`` says so, and ``share`` and what depends on it are NaN.
    """
    keys = [c for c in table.columns if c not in COLUMNS[3:]]
    rows: list[dict[Any, Any]] = []
    for where, part in table.groupby(keys, sort=False):
        both = part[part["reached"] == REACHED]
        none = NOTHING if part["share"].isna().all() else NEVER
        lowest = {"reached": none} if both.empty else both.iloc[0].to_dict()
        rows.append(
            {
                **lowest,
                **dict(zip(keys, where, strict=True)),
                "twin_share": part["share"].min(),
                "seeds": part["seeds"].iloc[0],
            }
        )
    columns = [
        *keys,
        "reached",
        "twin_share",
        "share",
        "twin_rounds",
        "rounds",
        "ratio",
        "low",
        "high",
        "seeds",
    ]
    return pd.DataFrame(rows, columns=columns)
