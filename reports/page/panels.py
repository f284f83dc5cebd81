"""Pictures of both sides over the rounds: of single runs, of means and tails over many, of Theorem 6.

Statements about means and tails are drawn at each round by itself: a mean over the runs, a band that
holds 90 % of them, and the envelope of that many rounds. No picture speaks of all rounds at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy

from ...arrays import FloatArray
from ...verify.outcome import Kind, Verdict
from .figures import COLOURS, INK, STYLE, WHOLE, Result, literal, svg

SHOWN_CASES = 6

BAND = (0.05, 0.95)
"""Quantiles over the runs between which the band lies."""

SOFT = "#8a929b"
FAR = 1.5
"""Envelopes further from the runs than this many times their spread get a second axis."""


@dataclass(frozen=True)
class Panel:
    """The pictures of one case: its row, SVG texts, and the round from which on the envelope is non-vacuous."""

    row: Result
    pictures: list[str] = field(repr=False)
    non_vacuous: str = ""


def panels(curves: pd.DataFrame, rows: Sequence[Result], observed: str = "mistakes") -> list[Panel]:
    """Pictures of the cases with the largest final ratio, vacuous ones last but one of them always there.

    Parameters
    ----------
    curves : columns ``results.CURVE_COLUMNS``, of one form of one claim
    rows : rows of verdicts.json of that form
    observed : what is counted in a run
    """
    drawn = set(curves["case"])
    ranked = sorted(
        (row for row in rows if row["case"] in drawn and row["ratio"] is not None),
        key=lambda row: -row["ratio"],
    )
    empty = [row for row in ranked if row["verdict"] == Verdict.VACUOUS]
    telling = [row for row in ranked if row["verdict"] != Verdict.VACUOUS]
    telling = telling[: SHOWN_CASES - bool(empty)]
    chosen = [*telling, *empty][:SHOWN_CASES]
    return [_panel(curves[curves["case"] == row["case"]], row, observed) for row in chosen]


def _panel(curves: pd.DataFrame, row: Result, observed: str) -> Panel:
    colour = COLOURS.get(row["verdict"], INK)
    if row["kind"] not in (Kind.MEAN, Kind.TAIL):
        return Panel(row, [_runs(curves, colour)])
    tightest = curves[curves["delta"].isna() | (curves["delta"] == curves["delta"].max())]
    envelope = tightest.groupby("rounds")["envelope"].mean()
    start = non_vacuous_from(envelope.index.to_numpy(np.float64), envelope.to_numpy())
    if start is None:
        words = f"vacuous up to t = {envelope.index[-1]:,}"
    else:
        words = f"non-vacuous from t {'≈' if start > 1 else '='} {_rounded(start):,}"
    pictures = [_sampled(curves, colour, start, words)]
    if row["kind"] == Kind.TAIL and row["verdict"] != Verdict.VACUOUS:
        pictures.append(_histogram(curves, colour, observed))
    return Panel(row, pictures, words)


def non_vacuous_from(rounds: FloatArray, envelope: FloatArray) -> float | None:
    """The number of rounds from which on the envelope stays below it; between two checkpoints on the straight line in
    logarithms. None if it never does.

    Parameters
    ----------
    rounds, envelope : shape (n,), rounds increasing and the envelope positive
    """
    excess = np.log(envelope / rounds)
    above = np.flatnonzero(excess >= 0)
    if not above.size:
        return float(rounds[0])
    last = int(above[-1])
    if last + 1 == len(rounds):
        return None
    share = excess[last] / (excess[last] - excess[last + 1])
    return float(rounds[last] * (rounds[last + 1] / rounds[last]) ** share)


def _rounded(value: float) -> int:
    """To three digits."""
    return int(float(f"{value:.3g}"))


def _axes(figure: Figure, yscale: str) -> Axes:
    """Axes that fill a figure, with the rounds on a log scale and ticks at powers of ten only."""
    with _style():
        axes = figure.add_axes(WHOLE)
    axes.set(xscale="log", yscale=yscale)
    for axis in (axes.xaxis, axes.yaxis) if yscale == "log" else (axes.xaxis,):
        axis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.tick_params(labelsize=8)
    sns.despine(ax=axes)
    return axes


def _runs(curves: pd.DataFrame, colour: str) -> str:
    """Each run by itself."""
    figure = Figure(figsize=(3.4, 1.9))
    axes = _axes(figure, "linear")
    for _, run in curves.groupby("replicate"):
        axes.plot(run["rounds"], run["envelope"], color=INK, lw=1.8, ls="--", alpha=0.8)
        axes.plot(run["rounds"], run["observed"], color=colour, lw=1.1, alpha=0.9)
    axes.set_xlabel("round", fontsize=9)
    return svg(figure)


def _style() -> Any:
    return sns.axes_style("whitegrid", STYLE)


def _sampled(curves: pd.DataFrame, colour: str, start: float | None, words: str) -> str:
    """Mean and band over the runs against each envelope, and the line of a mistake in every round."""
    figure = Figure(figsize=(3.4, 2.3))
    axes = _axes(figure, "log")
    # the observed side is the same for every delta
    one = curves[curves["delta"].isna() | (curves["delta"] == curves["delta"].max())]
    observed = one.groupby("rounds")["observed"]
    t = observed.mean().index.to_numpy(np.float64)
    low, high = (observed.quantile(q).to_numpy() for q in BAND)
    axes.plot(t, t, color=SOFT, lw=1)
    axes.fill_between(t, low, high, color=colour, alpha=0.25, lw=0)
    axes.plot(t, observed.mean(), color=colour, lw=1.4)
    for _, part in curves.groupby("delta", dropna=False):
        axes.plot(part.groupby("rounds")["envelope"].mean(), color=INK, lw=1.6, ls="--", alpha=0.8)
    below = bool(low.min() < 0)  # an excess below its budget
    if below:
        axes.set_yscale("symlog", linthresh=1)
        axes.yaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
    else:
        axes.set_ylim(bottom=0.5)
    if start is not None:
        axes.plot([start], [start], "o", color=INK, ms=5)
    axes.text(
        *(0.02 if below else 0.98, 0.05),
        words,
        transform=axes.transAxes,
        color=INK,
        ha="left" if below else "right",
        fontsize=8.5,
        bbox={"fc": "white", "alpha": 0.85, "lw": 0, "pad": 1},
    )
    axes.set_xlabel("round t", fontsize=9)
    return svg(figure)


def _histogram(curves: pd.DataFrame, colour: str, observed: str) -> str:
    """A histogram of the observed side at the end, and each delta's envelope; on a second axis if it is far."""
    final = curves[curves["rounds"] == curves["rounds"].max()]
    values = final.loc[final["delta"] == final["delta"].max(), "observed"].to_numpy()
    bounds = {float(str(delta)): part["envelope"] for delta, part in final.groupby("delta")}
    low, high = float(values.min()), float(values.max())
    spread = max(high - low, 1.0)
    nearest = min(float(bound.min()) for bound in bounds.values())
    furthest = max(float(bound.max()) for bound in bounds.values())
    beyond, before = nearest > high + FAR * spread, furthest < low - FAR * spread
    with _style():
        figure = Figure(figsize=(3.4, 1.25))
        if beyond or before:
            runs = figure.add_axes((0.0 if beyond else 0.36, 0.0, 0.64, 1.0))
            ends = figure.add_axes((0.68 if beyond else 0.0, 0.0, 0.32, 1.0))
        else:
            runs = ends = figure.add_axes(WHOLE)
    integers = high - low < 12
    bins = np.arange(low - 0.5, high + 1) if integers else np.linspace(low, high, 13)
    sns.histplot(x=values, bins=bins.tolist(), ax=runs, color=colour, alpha=0.55, lw=0.4)
    beside = offset_copy(ends.get_xaxis_transform(), fig=figure, x=-2, units="points")
    for delta, bound in bounds.items():
        ends.axvspan(float(bound.min()), float(bound.max()), color=INK, alpha=0.15, lw=0)
        ends.axvline(float(bound.mean()), color=INK, lw=1.4, ls="--")
        ends.text(
            float(bound.mean()),
            0.97,
            f"δ = {delta:g} ",
            transform=beside,
            rotation=90,
            ha="right",
            va="top",
            fontsize=7.5,
            color=INK,
        )
    runs.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    if ends is not runs:
        margin = max(furthest - nearest, 1.0)
        ends.set_xlim(nearest - margin, furthest + 0.6 * margin)
        ends.set_yticks([])
        ends.set_facecolor("#f6f7f9")
        means = [float(bound.mean()) for bound in bounds.values()]
        ends.set_xticks([round(x) for x in dict.fromkeys((min(means), max(means)))])
    runs.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    runs.set_xlabel(f"{literal(observed)} in a run", fontsize=9)
    runs.set_ylabel("runs", fontsize=9)
    for axes in {runs, ends}:
        axes.tick_params(labelsize=8)
        axes.grid(visible=False)
        sns.despine(ax=axes, left=axes is not runs)
    return svg(figure)


def short_names(specs: Sequence[str]) -> dict[str, str]:
    """Each spec by the values in which learners of its name differ; by itself where that says too little."""
    parts = {spec: re.split("[:,]", spec) for spec in dict.fromkeys(specs)}
    families: dict[str, list[set[str]]] = {}
    for name, *values in parts.values():
        families.setdefault(name, []).append(set(values))
    shared = {name: set.intersection(*family) for name, family in families.items()}
    short = {
        spec: " ".join(v.partition("=")[2] or v for v in values if v not in shared[name]) or name
        for spec, (name, *values) in parts.items()
    }
    names = list(short.values())
    return {spec: literal(n if names.count(n) == 1 else spec) for spec, n in short.items()}


def forced_figure(curves: pd.DataFrame, rows: Sequence[Result]) -> str | None:
    """Theorem 6: mistakes in the environment that forces most, for every learner, against sqrt(T).

    Parameters
    ----------
    curves : columns ``results.CURVE_COLUMNS``; the mean over the runs of a case is what is drawn
    rows : rows of verdicts.json of that form
    """
    # the optimal learner is told the number of segments
    learners = {row["case"]: re.sub(r"[:,]n=\d+", "", row["learner"]) for row in rows}
    if curves.empty:
        return None
    means = curves.groupby(["case", "rounds"], as_index=False)[["observed", "envelope"]].mean()
    names = short_names(list(learners.values()))
    means["learner"] = [names[learners[case]] for case in means["case"]]
    order = means.groupby("learner")["observed"].max().sort_values(ascending=False, kind="stable")
    figure = Figure(figsize=(3.5, 2.6))
    axes = _axes(figure, "log")
    T = np.geomspace(means["rounds"].min(), means["rounds"].max(), 50)
    axes.plot(T, np.sqrt(T / 2), color=INK, lw=1.6, ls="--", label="sqrt(T/2)")
    axes.plot(T, np.sqrt(T / 8), color=SOFT, lw=1.6, ls="--", label="sqrt(T)/(2 sqrt 2)")
    exact = means.groupby("rounds")["envelope"].max()
    axes.plot(exact, "_", color="#000000", ms=14, mew=1.6, label="forced, exactly")
    palette = dict(zip(order.index, sns.color_palette("turbo", len(order)), strict=True))
    sns.lineplot(
        means,
        x="rounds",
        y="observed",
        hue="learner",
        hue_order=order.index,
        palette=palette,
        marker="o",
        ms=4.5,
        lw=1.1,
        errorbar=None,
        ax=axes,
    )
    axes.set_xticks(exact.index.to_list())
    axes.minorticks_off()
    axes.set_xlabel("rounds T", fontsize=9)
    axes.set_ylabel("mistakes, where they are most", fontsize=9)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(-0.1, -0.17))
    return svg(figure)
