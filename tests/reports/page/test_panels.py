"""Pictures of both sides: what is in them, read off the figures before they become text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from boundcheck.reports.page import figures, panels
from boundcheck.reports.page.figures import COLOURS, INK

T = 1000
MARKS = np.unique(np.geomspace(1, T, 40).astype(int))


def row(case: str, kind: str = "tail", **other: Any) -> dict[str, Any]:
    return {"case": case, "kind": kind, "verdict": "holds", "ratio": 0.5, "learner": case} | other


def curve(
    case: str, runs: int, observed: float, envelopes: dict[float, float], spread: float = 0.1
) -> pd.DataFrame:
    """Runs that end around ``observed``, and flat envelopes."""
    rows = [
        (case, r, t, observed * t / T * (1 + spread * (r / runs - 0.5)), envelope, delta)
        for delta, envelope in envelopes.items()
        for r in range(runs)
        for t in MARKS
    ]
    columns = ["case", "replicate", "rounds", "observed", "envelope", "delta"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are made, in order."""
    figures: list[Figure] = []

    def keep(figure: Figure) -> str:
        figures.append(figure)
        return "<svg></svg>"

    monkeypatch.setattr(panels, "svg", keep)
    return figures


def lines(axes: Axes, **wanted: Any) -> list[Line2D]:
    return [
        line
        for line in axes.get_lines()
        if all(getattr(line, f"get_{key}")() == value for key, value in wanted.items())
    ]


@pytest.mark.parametrize("level", [3.0, 77.7, 640.0])
def test_a_flat_envelope_is_non_vacuous_from_its_height(level: float) -> None:
    rounds = MARKS.astype(float)
    assert panels.non_vacuous_from(rounds, np.full(len(rounds), level)) == pytest.approx(level)


def test_a_root_is_non_vacuous_from_its_square() -> None:
    rounds = MARKS.astype(float)
    assert panels.non_vacuous_from(rounds, 9 * np.sqrt(rounds)) == pytest.approx(81)
    assert panels.non_vacuous_from(rounds, 32 * np.sqrt(rounds)) is None
    assert panels.non_vacuous_from(rounds, 0.5 * rounds) == 1


def test_an_envelope_that_crosses_several_times_is_non_vacuous_from_the_last() -> None:
    rounds = np.array([1.0, 10, 100, 1000])
    assert panels.non_vacuous_from(rounds, np.array([5.0, 5, 500, 500])) == pytest.approx(500)


def test_vacuous_cases_come_last_but_one_is_always_there() -> None:
    rows = [row(f"c{i}", "mean", ratio=i / 10) for i in range(8)]
    rows += [row(f"v{i}", "mean", ratio=2.0 + i, verdict="vacuous") for i in range(3)]
    rows += [row("no-ratio", "mean", ratio=None), row("no-curve", "mean", ratio=9.0)]
    names = [r["case"] for r in rows if r["case"] != "no-curve"]
    curves = pd.concat([curve(name, 2, 100, {np.nan: 50.0}) for name in names])
    shown = [panel.row["case"] for panel in panels.panels(curves, rows)]
    assert shown == ["c7", "c6", "c5", "c4", "c3", "v2"]
    few = [r for r in rows if r["case"] in ("c1", "v0", "v1")]
    assert [panel.row["case"] for panel in panels.panels(curves, few)] == ["c1", "v1", "v0"]


def test_mean_band_envelopes_and_where_they_bite(drawn: list[Figure]) -> None:
    curves = curve("a", 40, 100, {0.5: 200.0, 0.05: 240.0})
    (panel,) = panels.panels(curves, [row("a")])
    assert panel.non_vacuous == "non-vacuous from t ≈ 200"
    assert len(panel.pictures) == len(drawn) == 2
    (axes,) = drawn[0].axes
    assert axes.get_xscale() == axes.get_yscale() == "log"
    heights = {line.get_ydata()[-1] for line in lines(axes, linestyle="--")}
    assert heights == {200.0, 240.0}
    (every_round,) = lines(axes, color=panels.SOFT)
    assert np.array_equal(every_round.get_ydata(), MARKS)
    (mean,) = lines(axes, color=COLOURS["holds"])
    final = curves[(curves["rounds"] == T) & (curves["delta"] == 0.5)]["observed"]
    assert mean.get_ydata()[-1] == pytest.approx(final.mean())
    band = axes.collections[0].get_paths()[0].vertices
    ends = np.sort(band[band[:, 0] == T][:, 1])
    assert ends[[0, -1]] == pytest.approx(final.quantile([0.05, 0.95]).to_numpy())
    (point,) = lines(axes, marker="o")
    assert point.get_xdata()[0] == point.get_ydata()[0] == pytest.approx(200)
    assert [text.get_text() for text in axes.texts] == [panel.non_vacuous]


def test_an_excess_below_its_budget_is_drawn_as_well(drawn: list[Figure]) -> None:
    curves = curve("a", 10, -100, {0.5: 300.0})
    panels.panels(curves, [row("a", ratio=-1 / 3)])
    (axes,) = drawn[0].axes
    (mean,) = lines(axes, color=COLOURS["holds"])
    bottom, top = axes.transData.transform([(1, axes.get_ylim()[i]) for i in (0, 1)])[:, 1]
    heights = axes.transData.transform(mean.get_xydata())[:, 1]
    assert ((bottom <= heights) & (heights < top)).all()
    assert (np.diff(heights) < 0).all()


@pytest.mark.parametrize("ratios", [(-0.5, 0.7), (0.0, 0.7), (-2.0, -1.0)])
def test_ratios_that_no_logarithm_has_stand_at_the_left_end(
    monkeypatch: pytest.MonkeyPatch, ratios: tuple[float, float]
) -> None:
    kept: list[Figure] = []
    monkeypatch.setattr(figures, "svg", lambda figure: kept.append(figure) or "<svg></svg>")
    more = {"graph": "bandit", "loss": None}
    assert figures.ratio_figure([row("a", ratio=ratio, **more) for ratio in ratios])
    (axes,) = kept[0].axes
    (left,), (inside,) = lines(axes, marker="<"), lines(axes, marker="o")
    seen = [line.get_xdata()[np.isfinite(line.get_xdata())].tolist() for line in (left, inside)]
    below = [ratio for ratio in ratios if ratio <= 0]
    assert seen == [[axes.get_xlim()[0]] * len(below), [r for r in ratios if r > 0]]


def test_a_vacuous_case_says_so_and_has_no_histogram(drawn: list[Figure]) -> None:
    curves = curve("a", 1, 100, {0.5: 5000.0})
    (panel,) = panels.panels(curves, [row("a", verdict="vacuous")])
    assert panel.non_vacuous == "vacuous up to t = 1,000"
    assert len(panel.pictures) == 1
    (axes,) = drawn[0].axes
    assert lines(axes, marker="o") == []
    assert lines(axes, color=COLOURS["vacuous"])


@pytest.mark.parametrize(
    ("observed", "envelopes", "parts"),
    [
        (100, {0.5: 103.0, 0.05: 108.0}, 1),  # among and just beyond the runs
        (100, {0.5: 200.0, 0.2: 201.0, 0.05: 203.0}, 2),  # far beyond them
        (900, {0.5: 200.0}, 2),  # far before them: everything violates
        (2, {0.5: 40_000.0}, 2),
    ],
)
def test_the_histogram_counts_every_run_and_shows_every_delta(
    drawn: list[Figure], observed: float, envelopes: dict[float, float], parts: int
) -> None:
    curves = curve("a", 60, observed, envelopes)
    curves["observed"] = curves["observed"].round()
    panels.panels(curves, [row("a")], "what there is")
    figure = drawn[1]
    assert len(figure.axes) == parts
    assert "what there is in a run" in [axes.get_xlabel() for axes in figure.axes]
    runs = next(axes for axes in figure.axes if axes.get_ylabel() == "runs")
    bars = [
        patch for patch in runs.patches if same_color(patch.get_facecolor()[:3], COLOURS["holds"])
    ]
    assert sum(bar.get_height() for bar in bars) == 60
    left, right = runs.get_xlim()
    width = max(b.get_x() + b.get_width() for b in bars) - min(b.get_x() for b in bars)
    assert width > 0.3 * (right - left), "the runs fill a good part of their axis"
    found = {}
    for axes in figure.axes:
        for line in lines(axes, linestyle="--", color=INK):
            left, right = axes.get_xlim()
            assert left <= line.get_xdata()[0] <= right
            label = next(t for t in axes.texts if t.get_position()[0] == line.get_xdata()[0])
            found[label.get_text().strip()] = line.get_xdata()[0]
            on_the_line = axes.transData.transform((line.get_xdata()[0], 0))[0]
            assert label.get_window_extent().x1 < on_the_line - 1
    assert found == {f"δ = {delta:g}": envelope for delta, envelope in envelopes.items()}
    if parts == 2:  # in the order of the numbers
        spans = {axes.get_position().x0: axes.get_xlim() for axes in figure.axes}
        (first, second) = (spans[x] for x in sorted(spans))
        assert first[1] < second[0]
        one, other = (axes.get_position() for axes in figure.axes)
        assert one.x1 < other.x0 or other.x1 < one.x0


def test_single_runs_are_drawn_one_by_one(drawn: list[Figure]) -> None:
    curves = curve("a", 3, 100, {np.nan: 150.0})
    (panel,) = panels.panels(curves, [row("a", "pathwise", verdict="refuted")])
    (axes,) = drawn[0].axes
    assert len(lines(axes, color=COLOURS["refuted"])) == len(lines(axes, linestyle="--")) == 3
    assert panel.non_vacuous == ""


def test_forced_mistakes_of_every_learner_against_the_roots(drawn: list[Figure]) -> None:
    rows, parts = [], []
    for learner, factor in (
        ("segment-probe:n={}", 1),
        ("uniform", 5),
        ("gappletron:rule=printed", 3),
    ):
        for n in (4, 8):
            rounds, case = n * (n + 1) // 2, f"{learner} {n}"
            rows.append(row(case, "lower bound", learner=learner.format(n)))
            points = [(case, r, rounds, factor * n / 2 + r - 1, n / 2, np.nan) for r in range(3)]
            parts.append(pd.DataFrame(points, columns=curve("", 1, 1, {np.nan: 1}).columns))
    assert panels.forced_figure(pd.concat(parts), rows) == "<svg></svg>"
    (axes,) = drawn[0].axes
    handles, labels = axes.get_legend_handles_labels()
    seen = dict(zip(labels, handles, strict=True))
    learners = ["uniform", "gappletron", "segment-probe"]
    assert labels == ["sqrt(T/2)", "sqrt(T)/(2 sqrt 2)", "forced, exactly", *learners]
    x, y = seen["sqrt(T/2)"].get_data()
    assert y == pytest.approx(np.sqrt(x / 2))
    x, y = seen["sqrt(T)/(2 sqrt 2)"].get_data()
    assert y == pytest.approx(np.sqrt(x) / (2 * np.sqrt(2)))
    assert list(seen["forced, exactly"].get_data()[1]) == [2, 4]
    paths = [line for line in axes.get_lines() if line.get_label().startswith("_child")]
    heights = sorted(tuple(np.round(line.get_ydata(), 9)) for line in paths)
    assert heights == [(2, 4), (6, 12), (10, 20)]
    assert all(np.round(line.get_xdata(), 9).tolist() == [10, 36] for line in paths)
    assert panels.forced_figure(pd.DataFrame(columns=parts[0].columns), rows) is None


def test_names_say_what_differs_and_stay_apart() -> None:
    specs = ["g:loss=a,rule=x,gamma=1", "g:loss=b,rule=x,gamma=1", "uniform", "$h:k=1"]
    assert list(panels.short_names(specs).values()) == ["a", "b", "uniform", r"\$h"]
    clash = panels.short_names(["g:loss=a", "g:loss=b", "f:loss=a", "f:loss=c"])
    assert list(clash.values()) == ["g:loss=a", "b", "f:loss=a", "c"]
