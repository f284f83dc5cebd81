"""Figures of the report, as SVG text that is the same for the same numbers."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

Result = dict[str, Any]
"""A row of verdicts.json."""

COLOURS = {
    "holds": "#2f7d4f",
    "refuted": "#b3261e",
    "undecided": "#a86b00",
    "vacuous": "#7a4fa3",
    "error": "#000000",
}
INK = "#3c4249"
STYLE = {"grid.color": "#e6e9ed", "axes.edgecolor": INK}

FEWEST_CELLS = 6
"""Pairs of a graph and a learner from which on ratios make a heat map."""

WHOLE = (0.0, 0.0, 1.0, 1.0)
"""Axes that fill their figure: ``svg`` makes room for what is written around them."""


def svg(figure: Figure) -> str:
    """The SVG element of a figure, without declaration, date or fixed size, in few characters."""
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "boundcheck", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    text = buffer.getvalue()
    return minified(text[text.index("<svg") :])


def minified(element: str) -> str:
    """An SVG element of matplotlib's, whose text is drawn as paths, as one line that renders the same.

    Metadata, comments, white space and the ids that nothing refers to are left out, and places are rounded to
    hundredths of a point.
    """
    for left_out in (r"<metadata>.*?</metadata>", r"<!--.*?-->"):
        element = re.sub(left_out, "", element, flags=re.DOTALL)
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', element))
    element = re.sub(r' id="([^"]*)"', lambda name: name[0] if name[1] in used else "", element)
    element = re.sub(r' d="([^"]*)"', _short_path, element)
    element = re.sub(r'translate\([^)]*\)| [xy]="[^"]*"', lambda place: _rounded(place[0]), element)
    element = re.sub(r"([;:]) ", r"\1", re.sub(r"\s+", " ", element))
    return re.sub(r"> <", "><", element).strip()


def _short_path(path: re.Match[str]) -> str:
    letters_close = re.sub(r"\s*([A-Za-z])\s*", r"\1", _rounded(path[1]).strip())
    return f' d="{letters_close}"'


def _rounded(text: str) -> str:
    return re.sub(
        r"-?\d+\.\d+", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), text
    )


def ratio_figure(results: Sequence[Result], relation: str = "<=") -> str | None:
    """Observed over envelope: the worst for each graph, loss and rule, or every case if these are few.

    Parameters
    ----------
    results : rows of one form of one claim
    relation : "<=" or ">="; decides which ratio is the worst
    """
    telling = [r for r in results if r["ratio"] is not None or r["verdict"] == "refuted"]
    graphs = {_graph_family(r["graph"]) for r in telling}
    cells = {(_graph_family(r["graph"]), _player(r)) for r in telling}
    if len(graphs) > 1 and len(cells) >= FEWEST_CELLS:
        return _heat_map(telling, relation)
    readable = [r for r in telling if r["ratio"] is not None]
    if not readable:
        return None
    if len(graphs) > 1:
        return _strip(readable, lambda r: _graph_family(r["graph"]))
    return _strip(readable, lambda r: _player(r).replace("\n", ", "))


def _graph_family(graph: str) -> str:
    return "random digraphs" if graph.startswith("random:") else literal(graph)


def literal(name: str) -> str:
    """A name as matplotlib prints it: without formulas."""
    return name.replace("$", r"\$")


def _player(result: Result) -> str:
    """Loss and exploration rule on two lines, or the learner's name where it has none."""
    name, _, parameters = result["learner"].partition(":")
    rule = re.search(r"(?:^|,)rule=([^,]*)", parameters)
    return literal("\n".join([result["loss"] or name, *([] if rule is None else [rule[1]])]))


def _heat_map(results: Sequence[Result], relation: str) -> str:
    sign = 1 if relation == "<=" else -1
    frame = pd.DataFrame(
        {
            "graph": [_graph_family(r["graph"]) for r in results],
            "player": [_player(r) for r in results],
            "excess": [_excess(r["ratio"], sign) for r in results],
            "refuted": [r["verdict"] == "refuted" for r in results],
        }
    )
    cells = frame.groupby(["graph", "player"])
    excess = cells["excess"].max().unstack()
    refuted = cells["refuted"].agg("any").unstack().eq(True)
    height, width = excess.shape
    words = [
        [_cell(10 ** (sign * x), bad) for x, bad in zip(*row, strict=True)]
        for row in zip(excess.to_numpy(), refuted.to_numpy(), strict=True)
    ]
    green_then_red = LinearSegmentedColormap.from_list(
        "ratio", [(0, "#f1f6f3"), (0.5, "#8cc5a0"), (0.5, "#f6cdc7"), (1, "#dd6a5f")]
    )
    figure = Figure(figsize=(0.92 * width, 0.34 * height))
    axes = figure.add_axes(WHOLE)
    sns.heatmap(
        excess.clip(-1, -1e-3).where(~refuted, excess.clip(1e-2, 1)),
        ax=axes,
        annot=np.array(words),
        fmt="",
        cmap=green_then_red,
        vmin=-1,
        vmax=1,
        cbar=False,
        linewidths=1.5,
        annot_kws={"fontsize": 9, "color": "#1c1f23"},
    )
    for row, column in np.argwhere(refuted.to_numpy()):
        corner = (column + 0.03, row + 0.05)
        axes.add_patch(Rectangle(corner, 0.94, 0.9, fill=False, ec=COLOURS["refuted"], lw=1.6))
    axes.set(xlabel="", ylabel="")
    axes.tick_params(length=0, labelsize=8.5)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_rotation(0)
    return svg(figure)


def _excess(ratio: float | None, sign: int) -> float:
    """The excess over the envelope in powers of ten, infinite for a refuted case without a ratio."""
    if ratio is None:
        return math.inf
    return sign * (math.log10(ratio) if ratio > 0 else -math.inf)


def _cell(ratio: float, refuted: bool) -> str:
    if np.isnan(ratio):
        return ""
    number = "∞" if np.isinf(ratio) else f"{ratio:.2g}" if ratio > 0 else "≤ 0"
    return f"✗ {number}" if refuted else number


def _strip(results: Sequence[Result], group: Callable[[Result], str]) -> str:
    frame = pd.DataFrame(
        {
            "group": [group(r) for r in results],
            "ratio": [r["ratio"] for r in results],
            "verdict": [r["verdict"] for r in results],
        }
    )
    order = sorted(frame["group"].unique(), reverse=True)
    positive = frame["ratio"][frame["ratio"] > 0]
    left = min([0.1, *(positive / 1.5)])
    with sns.axes_style("ticks"):
        figure = Figure(figsize=(3, 0.2 + 0.34 * len(order)))
        axes = figure.add_axes(WHOLE)
    axes.axvline(1, color=INK, lw=1.2, ls="--")
    for verdict, colour in COLOURS.items():
        chosen = frame[frame["verdict"] == verdict]
        if chosen.empty:
            continue
        # a fixed spread, not a random one: equal ratios stay apart and bytes stay equal
        heights = [order.index(name) + 0.12 * (i % 5 - 2) for i, name in enumerate(chosen["group"])]
        mark = "X" if verdict == "refuted" else "o"
        look: dict[str, Any] = {"ms": 5, "alpha": 0.7, "mew": 0, "color": colour}
        ratios = chosen["ratio"].where(chosen["ratio"] > 0)
        axes.plot(ratios, heights, mark, label=verdict, **look)
        axes.plot(ratios.isna().map({True: left}), heights, "<", clip_on=False, **look | {"ms": 7})
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.set_xlim(left, max(10.0, frame["ratio"].max() * 1.5))
    axes.set_yticks(range(len(order)), order)
    axes.set_ylim(-0.6, len(order) - 0.4)
    axes.set_xlabel("observed / envelope", fontsize=9)
    axes.tick_params(labelsize=9)
    axes.legend(frameon=False, fontsize=9, ncols=5, loc="lower left", bbox_to_anchor=(0, 1))
    sns.despine(ax=axes)
    return svg(figure)
