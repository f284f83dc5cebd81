"""Pictures with a panel for each value of two axes: error shares over the rounds, and the cost of bandit feedback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...verify.studies.study import Study
from ..page.figures import INK, STYLE, svg
from .figures import PANEL, log_rounds, looks_of
from .twins import FEWEST, REACHED, longest

Draw = Callable[[Axes, pd.DataFrame], None]


def curves(study: Study, sums: pd.DataFrame, measure: str, tuning: str) -> str:
    """Share of rounds with a mistake so far, means over seeds with bands from the smallest to the largest; a line for
    each horizon, and dashed what bounds leave in the limit, where it is below 1."""
    shown = sums[(sums["tuning"] == tuning) & (sums["rounds"] >= FEWEST)]
    shown = shown.assign(shown=shown[measure] / shown["rounds"])

    def draw(axes: Axes, part: pd.DataFrame) -> None:
        for learner, look in looks_of(study).items():
            mine = part[part["learner"] == learner]
            for _, line in mine.groupby("horizon"):
                of = line.groupby("rounds")["shown"].agg(["mean", "min", "max"])
                axes.plot(of.index, of["mean"], lw=1.3, ms=3.5, markevery=[-1], **look)
                axes.fill_between(
                    of.index, of["min"], of["max"], alpha=0.15, lw=0, color=look["color"]
                )
        for share in part["asymptotic_share"].dropna().unique():
            if share < 1:
                axes.axhline(share, lw=1, ls="--", color=INK)

    figure, first = _panels(study, shown, draw, "round", f"{measure.replace('_', ' ')} / round")
    log_rounds(first)
    first.set_ylim(0, 1)
    return svg(figure)


def costs(study: Study, table: pd.DataFrame, tuning: str) -> str:
    """Rounds needed with bandit feedback over rounds needed by the twin, for each error share that the twin reaches:
    geometric means over seeds, bands from the smallest to the largest, crosses where some seed does not reach it. Of
    several horizons the longest."""
    shown = longest(table[table["tuning"] == tuning])
    reached = shown[shown["reached"] == REACHED]
    least, most = reached["low"].min(), reached["high"].max()
    top = 1.0 if reached.empty else float(most)

    def draw(axes: Axes, part: pd.DataFrame) -> None:
        axes.axhline(1, lw=1, ls=":", color=INK)
        for height, learner in enumerate(study.twins):
            look = looks_of(study)[learner]
            mine = part[part["learner"] == learner].sort_values("share")
            # a share that some seed misses parts the line
            ratios = mine[["ratio", "low", "high"]].where(mine["reached"] == REACHED)
            axes.plot(mine["share"], ratios["ratio"], lw=1.3, **{**look, "marker": ""})
            axes.fill_between(
                mine["share"], ratios["low"], ratios["high"], alpha=0.15, lw=0, color=look["color"]
            )
            missed = mine.loc[mine["reached"] != REACHED, "share"]
            place = np.full(len(missed), 0.97 - 0.05 * height)
            axes.plot(
                missed, place, "x", ms=3, color=look["color"], transform=axes.get_xaxis_transform()
            )

    figure, first = _panels(study, shown, draw, "error share", "rounds / rounds of the twin")
    first.set_yscale("log")
    first.yaxis.set_major_formatter("{x:g}")
    first.set_xlim(0, 1)
    first.set_ylim(min(0.5, 1.0 if reached.empty else float(least)), 4 * top)
    return svg(figure)


def _panels(study: Study, shown: pd.DataFrame, draw: Draw, x: str, y: str) -> tuple[Figure, Axes]:
    """A figure with what ``draw`` makes of each panel's rows, and its first panel, which all others share axes with."""
    down, across = _axis(study, 0), _axis(study, 1)
    with sns.axes_style("whitegrid", STYLE):
        size = (PANEL[0] * len(across) + 0.3, PANEL[1] * len(down) + 0.2)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(len(down), len(across), sharex=True, sharey=True, squeeze=False)
    for (i, row), (j, column) in product(enumerate(down), enumerate(across)):
        axes: Axes = panels[i, j]
        part = shown
        for axis, value in zip(study.panels, (row, column), strict=False):
            part = part[part[axis] == value]
        draw(axes, part)
        axes.set_title(", ".join(_words(study, (row, column))), fontsize=9)
        axes.tick_params(labelsize=8)
    for axes in panels[-1]:
        axes.set_xlabel(x, fontsize=8.5)
    for axes in panels[:, 0]:
        axes.set_ylabel(y, fontsize=8.5)
    sns.despine(figure)
    first: Axes = panels[0, 0]
    return figure, first


def _axis(study: Study, place: int) -> tuple[Any, ...]:
    return study.grid[study.panels[place]] if place < len(study.panels) else (None,)


def _words(study: Study, values: tuple[Any, ...]) -> Iterator[str]:
    for axis, value in zip(study.panels, values, strict=False):
        yield value if axis in study.named else f"{axis} = {value}"
