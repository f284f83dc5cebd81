"""A finding: what a paper says comes out of a study, as a statement that its results can contradict.

It compares the mistakes of two learners, summed over some of the settings, as a ratio. Seeds are independent, so each
gives one ratio; their geometric mean has an interval from Student's t. The finding agrees if the whole interval lies
where the statement says, disagrees if none of it does, and is undecided in between.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ...errors import UserError, require, unknown
from .learners import BEST

RELATIONS = ("at most", "above", "level", "rises", "falls")
ALONG = ("rises", "falls")
"""Relations that compare the ends of an axis."""

KEYS = (
    "says",
    "left",
    "right",
    "relation",
    "tuning",
    "right_tuning",
    "where",
    "along",
    "factor",
    "measure",
)
LEVEL = 0.99
"""Confidence of each interval, one at a time."""


@dataclass(frozen=True)
class Comparison:
    """One pair of learners under a finding.

    Attributes
    ----------
    left, right : the learners
    ratio : mistakes of the left over mistakes of the right; for "rises" and "falls", this ratio at the axis' largest
        value over that at its smallest
    low, high : limits of its interval; NaN with fewer than two seeds
    seeds : seeds in which all settings are finished
    legal : the interval in which the statement puts the ratio
    """

    left: str
    right: str
    ratio: float
    low: float
    high: float
    seeds: int
    legal: tuple[float, float]

    @property
    def word(self) -> str:
        """ "agrees", "disagrees" or "undecided"."""
        least, most = self.legal
        if least <= self.low and self.high <= most:
            return "agrees"
        if self.high < least or self.low > most:
            return "disagrees"
        return "undecided"


@dataclass(frozen=True)
class Finding:
    """A statement about ratios of mistakes.

    Attributes
    ----------
    says : the statement in words
    left, right : learners; every one of the left is compared with every one of the right
    relation : "at most": ratio <= factor; "above": >= factor; "level": within factor either way; "rises": the ratio
        grows by at least factor from the smallest to the largest value of the axis ``along``; "falls": by at
        most factor
    tuning, right_tuning : whose mistakes
    where : values of axes; the other settings are left out
    along : an axis, for "rises" and "falls"
    factor : at least 0; 1 by default, 1.1 for "level"
    measure : the column that is compared
    """

    says: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    relation: str
    tuning: str
    right_tuning: str
    where: Mapping[str, tuple[Any, ...]]
    along: str | None
    factor: float
    measure: str

    @classmethod
    def parse(
        cls,
        study: str,
        given: Any,
        learners: Sequence[str],
        tunings: Collection[str],
        grid: Mapping[str, tuple[Any, ...]],
        measures: Collection[str],
    ) -> Finding:
        """Make a finding of its table in a study's file.

        Raises
        ------
        UserError
            for unknown or missing keys, and names that the study does not have
        """
        require(isinstance(given, dict), f"findings of {study} are tables, as in [[findings]].")
        for key in given:
            if key not in KEYS:
                raise unknown(f"key of a finding of {study}", key, KEYS)
        for key in ("says", "left", "right", "relation", "tuning"):
            require(key in given, f"a finding of {study} has no key '{key}'.")
        where = f"finding '{given['says']}' of {study}"
        if given["relation"] not in RELATIONS:
            raise unknown(f"relation of {where}", str(given["relation"]), RELATIONS)
        sides = {side: tuple(_listed(given[side])) for side in ("left", "right")}
        for learner in (*sides["left"], *sides["right"]):
            if learner not in learners:
                raise unknown(f"learner of {where}", str(learner), learners)
        for tuning in (given["tuning"], given.get("right_tuning", given["tuning"])):
            if tuning not in {*tunings, BEST}:
                raise unknown(f"tuning of {where}", str(tuning), {*tunings, BEST})
        chosen = {axis: tuple(_listed(value)) for axis, value in given.get("where", {}).items()}
        for axis, values in chosen.items():
            if axis not in grid:
                raise unknown(f"axis of {where}", axis, grid)
            for value in values:
                if value not in grid[axis]:
                    raise unknown(
                        f"value of axis '{axis}' in {where}", str(value), map(str, grid[axis])
                    )
        along = given.get("along")
        require(
            (along in grid and len(grid[along]) > 1) == (given["relation"] in ALONG),
            f"{where} has along = {along!r}: expected an axis of several values for the relations"
            " 'rises' and 'falls', and none for the others.",
        )
        factor = given.get("factor", 1.1 if given["relation"] == "level" else 1.0)
        if not isinstance(factor, int | float) or not factor > 0:
            raise UserError(f"factor={factor!r} of {where}: expected a number above 0.")
        measure = given.get("measure", "mistakes")
        if measure not in measures:
            raise unknown(f"measure of {where}", str(measure), measures)
        return cls(
            str(given["says"]),
            sides["left"],
            sides["right"],
            given["relation"],
            given["tuning"],
            given.get("right_tuning", given["tuning"]),
            chosen,
            along,
            float(factor),
            measure,
        )

    @property
    def legal(self) -> tuple[float, float]:
        """The range of ratios that the statement allows."""
        if self.relation in ("at most", "falls"):
            return (0.0, self.factor)
        if self.relation == "level":
            return (1 / self.factor, self.factor)
        return (self.factor, math.inf)

    def compare(self, final: pd.DataFrame, grid: Mapping[str, tuple[Any, ...]]) -> list[Comparison]:
        """Compare every pair of learners, on the seeds in which all settings are finished.

        Parameters
        ----------
        final : one row for each learner, tuning, setting and seed, with the axes as columns; "best" is a tuning too
        grid : values of each axis of the study
        """
        for axis, values in self.where.items():
            final = final[final[axis].isin(values)]
        planned = math.prod(len(self.where.get(axis, values)) for axis, values in grid.items())
        return [
            self._pair(final, left, right, planned, grid)
            for left in self.left
            for right in self.right
            if (left, self.tuning) != (right, self.right_tuning)
        ]

    def _pair(
        self,
        final: pd.DataFrame,
        left: str,
        right: str,
        planned: int,
        grid: Mapping[str, tuple[Any, ...]],
    ) -> Comparison:
        def by_seed(learner: str, tuning: str, rows: pd.DataFrame, settings: int) -> pd.Series:
            own = rows[(rows["learner"] == learner) & (rows["tuning"] == tuning)]
            sums = own.groupby("seed")[self.measure].agg(["sum", "count"])
            return sums.loc[sums["count"] == settings, "sum"]

        def ratios(rows: pd.DataFrame, settings: int) -> pd.Series:
            above = by_seed(left, self.tuning, rows, settings)
            return above / by_seed(right, self.right_tuning, rows, settings)

        if self.along is None:
            found = ratios(final, planned)
        else:
            values = grid[self.along]
            ends = [
                ratios(final[final[self.along] == end], planned // len(values))
                for end in (max(values), min(values))
            ]
            found = ends[0] / ends[1]
        with np.errstate(divide="ignore"):
            logs = np.log(found.to_numpy(dtype=np.float64))
        logs = logs[np.isfinite(logs)]
        n = len(logs)
        if n == 0:
            return Comparison(left, right, math.nan, math.nan, math.nan, 0, self.legal)
        mean, reach = float(logs.mean()), math.nan
        if n > 1:
            spread = float(logs.std(ddof=1)) / math.sqrt(n)
            reach = float(scipy.stats.t.ppf((1 + LEVEL) / 2, n - 1)) * spread
        limits = (math.exp(mean - reach), math.exp(mean + reach))
        return Comparison(left, right, math.exp(mean), *limits, n, self.legal)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
