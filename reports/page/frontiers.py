"""Frontiers of weak learners: a picture of the smallest excess loss S for each edge gamma, and their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from ...arrays import FloatArray
from ...verify.judges.bands import Frontiers
from .figures import COLOURS, INK, STYLE, WHOLE, Result, svg

SHOWN_CASES = 8

BLUE, TINT = "#1d5fa8", "#fbeeec"

DIGITS = 12
"""Decimals of edges in tables: beyond them is what a grid was rounded to."""

ROOM = 1.3
"""The factor by which the axis reaches beyond what is on it."""


@dataclass(frozen=True)
class FrontierPanel:
    """The frontier of one case: its row, picture as SVG, a line for each edge, and one for some excess losses."""

    row: Result
    found: Frontiers = field(repr=False)
    picture: str = field(repr=False)
    edges: list[list[float]] = field(repr=False)
    losses: list[list[float]] = field(repr=False)


def frontier_panels(rows: Sequence[Result]) -> list[FrontierPanel]:
    """The frontiers among the rows of verdicts.json, as many as fit."""
    drawn = []
    for row in [row for row in rows if "frontier" in row][:SHOWN_CASES]:
        found = Frontiers.from_json(row["frontier"])
        picture = _picture(found, COLOURS.get(row["verdict"], INK))
        edges, losses = (table(found).to_numpy().tolist() for table in (by_edge, by_loss))
        drawn.append(FrontierPanel(row, found, picture, edges, losses))
    return drawn


def by_edge(found: Frontiers) -> pd.DataFrame:
    """Limits on S and what is known of it, a line for each edge."""
    any_time, at_end = found.any_time, found.at_end
    return pd.DataFrame(
        {
            "gamma": found.edges.round(DIGITS),
            "S_low": any_time.low,
            "S_high": any_time.high,
            "S_known": found.known,
            "S_low_at_T": at_end.low,
            "S_high_at_T": at_end.high,
        }
    ).replace(np.inf, np.nan)


def by_loss(found: Frontiers) -> pd.DataFrame:
    """Limits on the largest edge, a line for each of some round excess losses."""
    values = np.concatenate([found.any_time.low, found.any_time.high])
    seen = values[np.isfinite(values) & (values > 0)]
    decades = np.arange(-3, 9)
    marks = np.outer(10.0**decades, [1, 2, 5]).ravel().round(DIGITS)
    if seen.size:
        first, last = np.searchsorted(marks, [seen.min(), seen.max()])
        marks = marks[max(first - 1, 0) : last + 1]
    limits = (
        [np.round(found.any_time.edges_at(loss), DIGITS) for loss in marks] if seen.size else []
    )
    return pd.DataFrame(
        [(loss, *pair) for loss, pair in zip(marks, limits, strict=False)],
        columns=["S", "gamma_low", "gamma_high"],
    ).replace([-np.inf, np.inf], np.nan)


def frontier_frames(rows: Sequence[Result]) -> dict[str, pd.DataFrame]:
    """The tables of all frontiers by name; none where there is no frontier."""
    found = [
        (row, Frontiers.from_json(row["frontier"]))
        for row in sorted(rows, key=lambda row: row["claim"])
        if "frontier" in row
    ]
    if not found:
        return {}
    frames = {}
    for name, table in (("frontiers", by_edge), ("frontier-edges", by_loss)):
        parts = [
            table(frontiers).assign(
                delta=frontiers.any_time.delta, T=frontiers.rounds, case=row["case"]
            )
            for row, frontiers in found
        ]
        frames[name] = pd.concat(parts, ignore_index=True)
    return frames


def _picture(found: Frontiers, colour: str) -> str:
    """The band between the edges, what is known, the curve at T, and what lies on either side."""
    with sns.axes_style("whitegrid", STYLE):
        figure = Figure(figsize=(3.1, 2.4))
        axes = figure.add_axes(WHOLE)
    any_time, edges = found.any_time, found.edges
    top = ROOM * _largest(found)
    # between two edges the lower limit of the first holds, and the upper limit of the second
    x, low = np.repeat(edges, 2)[1:-1], np.repeat(any_time.low[:-1], 2)
    high = np.minimum(np.repeat(any_time.high[1:], 2), 10 * top)
    axes.fill_between(x, 0, low, color=TINT, lw=0)
    axes.fill_between(x, low, high, color=colour, alpha=0.28, lw=0)
    axes.plot(edges, any_time.middle, color=colour, lw=1.4)
    axes.plot(edges, found.at_end.middle, color=INK, lw=1.4, ls="--", clip_on=False)
    _known(axes, found)
    axes.set_yscale("symlog", linthresh=1, linscale=0.6)
    axes.set(xlim=(edges[0], edges[-1]), ylim=(0, top))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()
    axes.tick_params(labelsize=8)
    axes.set_xlabel("edge γ", fontsize=9)
    axes.set_ylabel("excess loss S", fontsize=9)
    axes.yaxis.set_label_coords(-0.13, 0.5)  # the same however wide the numbers are
    _words(axes, x, low, high, found)
    words = f"δ = {any_time.delta:g}, T = {found.rounds:,}, {any_time.runs} runs"
    axes.set_title(words, fontsize=8.5, color=INK, loc="left")
    sns.despine(ax=axes)
    return svg(figure)


def _largest(found: Frontiers) -> float:
    """Up to where the axis must go: the band, and what is known."""
    any_time = found.any_time
    seen = np.concatenate([any_time.middle, any_time.high, found.known])
    return max(2.0, float(seen[np.isfinite(seen)].max()))


def _known(axes: Axes, found: Frontiers) -> None:
    """The S that is known as a line; where it is declared for one edge, flat up to that edge."""
    known = np.isfinite(found.known)
    if not known.any():
        return
    x, y = found.edges[known], found.known[known]
    axes.plot(x, y, color=BLUE, lw=1.8)
    if y[0] == y[-1]:
        axes.plot(x[-1:], y[-1:], "o", color=BLUE, ms=4, clip_on=False)


def _words(axes: Axes, x: FloatArray, low: FloatArray, high: FloatArray, found: Frontiers) -> None:
    """Words for the points on either side of the band, in the middle of the room that they have."""
    to_axes = axes.transData + axes.transAxes.inverted()
    box = {"fc": "white", "alpha": 0.8, "lw": 0, "pad": 1}

    def height(values: FloatArray, share: float) -> float:
        at = int(share * (len(x) - 1))
        return float(np.clip(to_axes.transform((x[at], values[at]))[1], 0, 1))

    band = height(high, 0.3)
    known = found.known[: len(found.known) * 2 // 5]
    lines = [height(np.full(len(x), S), 0) for S in known if np.isfinite(S) and S > 0]
    above = (1 + band) / 2
    if lines and min(lines) - 0.06 < above < max(lines) + 0.06:  # in the larger room beside it
        over, under = 1 - max(lines), min(lines) - band
        above = 1 - over / 2 if over > under else band + under / 2
    axes.text(0.03, above, "not established", transform=axes.transAxes, va="center", color=INK,
              fontsize=8, bbox=box)  # fmt: skip
    below = height(low, 0.25) / 2
    axes.text(0.55, below, "refuted for the weak learner", transform=axes.transAxes, va="center",
              ha="right", color=COLOURS["refuted"], fontsize=8)  # fmt: skip
