"""Figures of the report, as SVG text that is the same for the same numbers."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

COLOURS = {
    "holds": "#2f7d4f",
    "refuted": "#b3261e",
    "undecided": "#a86b00",
    "vacuous": "#7a4fa3",
    "error": "#000000",
}
SHOWN_CURVES = 6

_PLAIN_LATEX = (
    (r"\\tfrac", r"\\frac"),
    (r"\\textstyle", ""),
    (r"\\[Bb]ig", ""),
    (r"\\;", r"\\ "),
    (r"\\le(?![a-z])", r"\\leq"),
    (r"\\ge(?![a-z])", r"\\geq"),
    (r"\\ne(?![a-z])", r"\\neq"),
    (r"\\frac(\w)(\w)", r"\\frac{\1}{\2}"),
    (r"\\mathbf (\w)", r"\\mathbf{\1}"),
    (r"\\star", r"*"),
    (r"\\\|", r"\\Vert "),
)


def mathtext(statement: str) -> str:
    """The LaTeX of a statement in the part of the language that matplotlib sets."""
    for pattern, replacement in _PLAIN_LATEX:
        statement = re.sub(pattern, replacement, statement)
    return statement


def statement_svg(statement: str) -> str | None:
    """A statement as a picture; None if it cannot be set."""
    figure = Figure(figsize=(0.1, 0.1))
    figure.text(0, 0, f"${mathtext(statement)}$", fontsize=13)
    try:
        return svg(figure)
    except ValueError:
        return None


def svg(figure: Figure) -> str:
    """The SVG element of a figure, without declaration, date or fixed size."""
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "boundcheck", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    text = buffer.getvalue()
    element = text[text.index("<svg") :]
    return re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)


def ratio_figure(results: Sequence[dict[str, Any]], relation: str = "<=") -> str | None:
    """Observed over envelope in every case, by feedback graph; the line at 1 is the theorem."""
    rows = [
        {"graph": _graph_family(r["graph"]), "ratio": r["ratio"], "verdict": r["verdict"]}
        for r in results
        if r["ratio"] is not None and r["ratio"] > 0
    ]
    if not rows:
        return None
    frame = pd.DataFrame(rows).sort_values(["graph", "verdict"], kind="stable")
    order = sorted(frame["graph"].unique())
    figure = Figure(figsize=(7.2, 0.9 + 0.38 * len(order)))
    axes = figure.subplots()
    present = [verdict for verdict in COLOURS if verdict in set(frame["verdict"])]
    for verdict in present:
        chosen = frame[frame["verdict"] == verdict]
        heights = [
            order.index(graph) + 0.12 * (i % 5 - 2) for i, graph in enumerate(chosen["graph"])
        ]
        axes.plot(
            chosen["ratio"],
            heights,
            "o",
            ms=4,
            alpha=0.6,
            mew=0,
            color=COLOURS[verdict],
            label=verdict,
        )
    axes.axvline(1, color="#444", lw=1, ls="--")
    axes.set_xscale("log")
    axes.set_xlim(min(0.1, frame["ratio"].min() / 1.5), max(10.0, frame["ratio"].max() * 1.5))
    axes.set_yticks(range(len(order)), order)
    axes.set_ylim(-0.6, len(order) - 0.4)
    better = "left" if relation == "<=" else "right"
    axes.set_xlabel(
        f"observed / envelope, one dot a case (the theorem: {better} of the dashed line)"
    )
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    sns.despine(ax=axes)
    return svg(figure)


def _graph_family(graph: str) -> str:
    return "random digraphs" if graph.startswith("random") else graph


def curve_figure(curves: pd.DataFrame, titles: dict[str, str]) -> str | None:
    """Both sides over the rounds in the cases with the largest final ratio.

    Parameters
    ----------
    curves : columns case, replicate, rounds, observed, envelope
    titles : what to write above a case
    """
    if curves.empty:
        return None
    last = curves[curves["rounds"] == curves.groupby("case")["rounds"].transform("max")]
    ratios = (last["observed"] / last["envelope"].where(last["envelope"] > 0)).groupby(last["case"])
    ranked = ratios.max().dropna().sort_values(ascending=False, kind="stable")
    cases = list(ranked.index[:SHOWN_CURVES])
    if not cases:
        return None
    columns = min(3, len(cases))
    height = -(-len(cases) // columns)
    figure = Figure(figsize=(3.4 * columns, 2.7 * height), layout="constrained")
    grid = figure.subplots(height, columns, squeeze=False)
    for axes, case in zip(grid.flat, cases, strict=False):
        chosen = curves[curves["case"] == case]
        for _, run in chosen.groupby("replicate"):
            axes.plot(run["rounds"], run["observed"], color=COLOURS["holds"], lw=1, alpha=0.8)
            axes.plot(run["rounds"], run["envelope"], color="#444", lw=1, ls="--", alpha=0.8)
        axes.set_xscale("log")
        axes.set_title(titles[case], fontsize=8)
        axes.tick_params(labelsize=7)
        axes.set_xlabel("round", fontsize=8)
        sns.despine(ax=axes)
    for axes in grid.flat[len(cases) :]:
        axes.set_visible(False)
    first = grid.flat[0]
    first.plot([], [], color=COLOURS["holds"], lw=1, label="observed, a line a run")
    first.plot([], [], color="#444", lw=1, ls="--", label="its envelope")
    first.legend(frameon=False, fontsize=7, loc="upper left")
    return svg(figure)
