"""Pictures of a study: its grid as the paper lays it out, and what grows over the rounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from ...verify.studies.learners import BEST
from ...verify.studies.study import Study
from ..page.figures import INK, STYLE, svg

INNER = "noise"
"""The axis inside the panels, where it has several values."""

COLUMNS, ROWS = "keyword_scale", "n_labels"
"""The axes of columns and rows, where they have several values."""

MARKS = "os^DvPX*<>hpd"
PANEL = (2.5, 2.0)


@dataclass(frozen=True)
class Layout:
    """The places of the axes of a study; every value of another axis has a figure."""

    rows: str | None
    columns: str | None
    inner: str | None
    others: tuple[str, ...]


def layout(study: Study) -> Layout:
    """The places of the axes with several values."""
    free = [axis for axis, values in study.grid.items() if len(values) > 1]

    def take(wanted: str) -> str | None:
        if not free:
            return None
        chosen = wanted if wanted in free else free[-1]
        free.remove(chosen)
        return chosen

    inner = take(study.panels[-1] if study.panels else INNER)
    columns, rows = take(COLUMNS), take(ROWS)
    return Layout(rows, columns, inner, tuple(free))


def looks_of(study: Study) -> dict[str, dict[str, Any]]:
    """Colour, mark and line of each learner, the same in every picture; twins share a colour, and the one with full
    information is dotted."""
    colours = sns.color_palette("colorblind", 10)
    found: dict[str, dict[str, Any]] = {
        name: {
            "color": colours[i % 10],
            "marker": MARKS[i % len(MARKS)],
            "ls": "-" if i < 10 else "--",
        }
        for i, name in enumerate(study.learners)
    }
    for name, twin in study.twins.items():
        found[name]["color"], found[twin]["ls"] = found[twin]["color"], ":"
    return found


def key(study: Study) -> str:
    """The legend of the learners, as a separate picture."""
    figure = Figure(figsize=(0.1, 0.1))
    handles = [Line2D([], [], ms=5, lw=1.2, **look) for look in looks_of(study).values()]
    figure.legend(handles, list(study.learners), ncols=5, frameon=False, fontsize=9)
    return svg(figure)


def _value(axis: str, rows: pd.DataFrame, value: Any) -> str:
    """A value of an axis as the paper writes it."""
    if axis == COLUMNS:
        return f"d = {rows['features'].iloc[0]}"
    return f"{'K' if axis == ROWS else axis} = {value}"


def _values(study: Study, axis: str | None) -> tuple[Any, ...]:
    return (None,) if axis is None else study.grid[axis]


def grids(study: Study, final: pd.DataFrame, measure: str, tuning: str) -> Iterator[str]:
    """A panel for each K and d with the noise inside: means over seeds, whiskers from the smallest to the largest."""
    place = layout(study)
    final = final[final["tuning"] == tuning]
    for values in product(*(study.grid[axis] for axis in place.others)):
        chosen = final
        for axis, value in zip(place.others, values, strict=True):
            chosen = chosen[chosen[axis] == value]
        if not chosen.empty:
            name = ", ".join(f"{axis} = {v}" for axis, v in zip(place.others, values, strict=True))
            yield _grid(study, place, chosen, measure, name)


def _grid(study: Study, place: Layout, final: pd.DataFrame, measure: str, name: str) -> str:
    rows, columns = _values(study, place.rows), _values(study, place.columns)
    looks, inner = looks_of(study), _values(study, place.inner)
    with sns.axes_style("whitegrid", STYLE):
        figure = Figure(
            figsize=(PANEL[0] * len(columns), PANEL[1] * len(rows)), layout="constrained"
        )
        panels = figure.subplots(len(rows), len(columns), sharex=True, sharey=True, squeeze=False)
    if name:
        figure.suptitle(name, fontsize=9)
    width = 0.8 / len(study.learners)
    for (i, row), (j, column) in product(enumerate(rows), enumerate(columns)):
        axes: Axes = panels[i, j]
        part = final if place.rows is None else final[final[place.rows] == row]
        part = part if place.columns is None else part[part[place.columns] == column]
        for n, (learner, look) in enumerate(looks.items()):
            shift = (n - (len(looks) - 1) / 2) * width
            for x, value in enumerate(inner):
                of = part[part["learner"] == learner]
                of = of if place.inner is None else of[of[place.inner] == value]
                if of.empty:
                    continue
                middle = of[measure].mean()
                reach = [[middle - of[measure].min()], [of[measure].max() - middle]]
                axes.errorbar(
                    x + shift,
                    middle,
                    reach,
                    ms=3.5,
                    elinewidth=0.9,
                    capsize=1.2,
                    **{**look, "ls": ""},
                )
        if not part.empty:
            parts = [(place.rows, row), (place.columns, column)]
            titles = [_value(axis, part, v) for axis, v in parts if axis is not None]
            axes.set_title(", ".join(titles), fontsize=9)
        axes.grid(visible=False, axis="x")
        axes.tick_params(labelsize=8)
    first: Axes = panels[0, 0]
    first.set_xticks(range(len(inner)), ["" if v is None else str(v) for v in inner])
    if (final[measure] > 0).all():
        first.set_yscale("log")
        first.yaxis.set_major_formatter("{x:g}")
        first.yaxis.set_minor_formatter("")
    for axes in panels[-1]:
        axes.set_xlabel("" if place.inner is None else place.inner, fontsize=8.5)
    for axes in panels[:, 0]:
        axes.set_ylabel(measure.replace("_", " "), fontsize=8.5)
    sns.despine(figure)
    return svg(figure)


def curves(study: Study, sums: pd.DataFrame, measure: str) -> str:
    """The share of rounds with a mistake so far, averaged over settings: a row for each tuning, a column for each value
    of the inner axis. Bands reach from the smallest to the largest seed."""
    shown = sums.assign(shown=sums[measure] / sums["rounds"])
    return _over_rounds(study, shown, f"{measure.replace('_', ' ')} / round", regret=False)


def regret(study: Study, sums: pd.DataFrame) -> str | None:
    """Expected mistakes minus the loss of the planted comparator, and its envelope where there is one, dashed; None if
    nothing was planted."""
    known = sums.dropna(subset=["comparator_loss"])
    if known.empty:
        return None
    shown = known.assign(shown=known["expected_mistakes"] - known["comparator_loss"])
    return _over_rounds(study, shown, "regret", regret=True)


FEW_DECADES = 30
"""Last round over first up to which powers of ten alone would be too few labels."""


def log_rounds(axes: Axes) -> None:
    """Rounds on a logarithmic axis, without labels so close that they lie upon each other."""
    axes.set_xscale("log")
    first, last = axes.get_xlim()
    if last <= FEW_DECADES * first:
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")


def _over_rounds(study: Study, sums: pd.DataFrame, name: str, *, regret: bool) -> str:
    place, looks = layout(study), looks_of(study)
    tunings = [t for t in dict.fromkeys(sums["tuning"]) if t != BEST]
    inner = _values(study, place.inner)
    keys = ["learner", "tuning", "rounds", "seed", *([] if place.inner is None else [place.inner])]
    groups = sums.groupby(keys)
    by_seed = groups[["shown", "regret_envelope"]].mean()
    whole = groups["regret_envelope"].count() == groups.size()  # else it is of other settings
    by_seed["regret_envelope"] = by_seed["regret_envelope"].where(whole)
    by_seed = by_seed.reset_index()
    with sns.axes_style("whitegrid", STYLE):
        size = (PANEL[0] * len(inner) + 0.3, PANEL[1] * len(tunings) + 0.2)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(len(tunings), len(inner), sharex=True, sharey=True, squeeze=False)
    every = sorted(sums["rounds"].unique())
    for (i, tuning), (j, value) in product(enumerate(tunings), enumerate(inner)):
        axes: Axes = panels[i, j]
        part = by_seed[by_seed["tuning"] == tuning]
        part = part if place.inner is None else part[part[place.inner] == value]
        for learner, look in looks.items():
            mine = part[part["learner"] == learner].groupby("rounds")
            of, envelope = mine["shown"].agg(["mean", "min", "max"]), mine["regret_envelope"].mean()
            if of.empty:
                continue
            axes.plot(of.index, of["mean"], lw=1.3, ms=3, markevery=6, **look)
            axes.fill_between(of.index, of["min"], of["max"], alpha=0.15, lw=0, color=look["color"])
            if regret:
                axes.plot(envelope.index, envelope, lw=1.3, ls="--", color=look["color"])
        if regret:
            axes.plot(every, every, lw=1, ls=":", color=INK)
        words = [] if value is None else [f"{place.inner} = {value}"]
        axes.set_title(", ".join([f"tuning {tuning}", *words]), fontsize=9)
        axes.tick_params(labelsize=8)
    first: Axes = panels[0, 0]
    log_rounds(first)
    if regret:  # where the comparator loses more than the learner errs, how much more says little
        first.set_ylim(max(float(by_seed["shown"].min()), -every[-1] / 4), every[-1])
    elif (by_seed["shown"] > 0).all():
        first.set_yscale("log")
        first.yaxis.set_major_formatter("{x:g}")
        first.yaxis.set_minor_formatter("")
    for axes in panels[-1]:
        axes.set_xlabel("round", fontsize=8.5)
    for axes in panels[:, 0]:
        axes.set_ylabel(name, fontsize=8.5)
    sns.despine(figure)
    return svg(figure)
