"""Frontiers in the report: what is in the picture, the tables, and damaged numbers."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from command_line import boundcheck
from frontier_numbers import FRONTIER
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from boundcheck.errors import UserError
from boundcheck.reports import outputs
from boundcheck.reports.page import frontiers
from boundcheck.reports.page.exports import file_names, files_of, frames_of, to_csv
from boundcheck.reports.page.figures import INK
from boundcheck.verify.suite import results

DOCS = Path(__file__).resolve().parents[3] / "docs" / "learners.md"

DECLARED = FRONTIER | {"known": [3.5, 3.5, None], "high": [2.5, 4.0, None]}


def result() -> dict[str, Any]:
    """A row without a frontier."""
    known = {
        "claim": "boosting/frontier",
        "form": "derived",
        "verdict": "holds",
        "flags": [],
        "runs": 130,
        "surprising": False,
    }
    return dict.fromkeys(results.ROW_KEYS) | known | {"kind": "frontier", "case": "mine | stream"}


def row(**other: Any) -> dict[str, Any]:
    return result() | {"frontier": FRONTIER | other}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Axes]:
    """The axes that are made, in order."""
    found: list[Axes] = []

    def keep(figure: Figure) -> str:
        found.extend(figure.axes)
        return "<svg></svg>"

    monkeypatch.setattr(frontiers, "svg", keep)
    return found


def only(lines: list[Line2D]) -> np.ndarray[Any, Any]:
    (line,) = lines
    return np.asarray(line.get_xydata())


def test_a_picture_has_the_band_what_is_known_and_the_end(drawn: list[Axes]) -> None:
    frontiers.frontier_panels([row()])
    (axes,) = drawn
    lines = axes.get_lines()
    dashed = only([line for line in lines if line.get_linestyle() == "--"])
    assert dashed[:, 1].tolist() == FRONTIER["end_middle"]
    known = only([line for line in lines if same_color(line.get_color(), frontiers.BLUE)])
    assert known.tolist() == [[0.0, 3.5], [0.1, 4.25]]
    assert not any(same_color(line.get_color(), INK) and line.get_marker() == "o" for line in lines)
    # the lower limit of an edge reaches to the next one, the upper limit back to the one before
    refuted, band = (path.get_paths()[0].vertices for path in axes.collections)
    corners = {(x, y) for x, y in band.tolist()}
    assert {(0.0, 1.0), (0.1, 1.0), (0.1, 2.0), (0.2, 2.0)} <= corners
    assert {(0.0, 4.0), (0.1, 4.0), (0.1, 47.5), (0.2, 47.5)} <= corners
    assert not {(0.0, 2.5), (0.2, 21.5)} & corners
    assert {(0.0, 0.0), (0.1, 1.0), (0.2, 2.0)} <= {(x, y) for x, y in refuted.tolist()}
    words = [text.get_text() for text in axes.texts]
    assert words == ["not established", "refuted for the weak learner"]
    assert axes.get_ylim()[1] > 47.5
    title = f"δ = 0.05, T = {FRONTIER['rounds']:,}, {FRONTIER['runs']} runs"
    assert axes.get_title(loc="left") == title


def test_what_is_declared_for_one_edge_ends_in_a_point(drawn: list[Axes]) -> None:
    frontiers.frontier_panels([row(**DECLARED)])
    points = [line for line in drawn[0].get_lines() if line.get_marker() == "o"]
    assert only(points).tolist() == [[0.1, 3.5]]


def test_words_stand_in_the_room_of_their_own_side(drawn: list[Axes]) -> None:
    frontiers.frontier_panels([row()])
    (axes,) = drawn
    above, below = (text.get_position()[1] for text in axes.texts)
    to_axes = axes.transData + axes.transAxes.inverted()
    assert above > to_axes.transform((0.05, 4.0))[1]
    assert 0 < below < to_axes.transform((0.05, 1.0))[1]


@pytest.mark.parametrize("known", [[100.0, 150.0, 4000.0], [17.0, 17.0, 17.0]])
def test_what_is_known_stays_inside_and_has_no_words_upon_it(
    drawn: list[Axes], known: list[float]
) -> None:
    frontiers.frontier_panels([row(known=known)])
    (axes,) = drawn
    assert axes.get_ylim()[1] > known[-1]
    at = (axes.transData + axes.transAxes.inverted()).transform([(0, S) for S in known[:1]])[0, 1]
    assert abs(axes.texts[0].get_position()[1] - at) > 0.05


def test_edges_are_rounded_in_tables() -> None:
    edges = [0.0, 0.1 + 0.2, 0.9400000000000001]
    frames = frontiers.frontier_frames([row(edges=edges)])
    assert frames["frontiers"]["gamma"].to_list() == [0, 0.3, 0.94]
    assert set(frames["frontier-edges"]["gamma_low"].dropna()) <= {0, 0.3, 0.94}
    assert {0.3, 0.94} & set(frames["frontier-edges"]["gamma_high"])


def test_limits_that_are_infinite_or_unknown_are_left_open(drawn: list[Axes]) -> None:
    nothing = {"known": [None] * 3, "high": [None] * 3, "end_high": [None] * 3}
    (panel,) = frontiers.frontier_panels([row(**nothing)])
    assert np.isfinite(drawn[0].get_ylim()).all()
    assert all(np.isnan(high) for _, _, high, *_ in panel.edges)


def test_tables_read_both_ways() -> None:
    frames = frontiers.frontier_frames([row(), result()])
    edges, losses = frames["frontiers"], frames["frontier-edges"]
    back = pd.read_csv(io.StringIO(to_csv(edges)))
    assert back["gamma"].to_list() == FRONTIER["edges"]
    for name, key in (("S_low", "low"), ("S_high", "high"), ("S_low_at_T", "end_low")):
        assert back[name].to_list() == FRONTIER[key]
    assert back["S_known"].isna().to_list() == [False, False, True]
    assert set(back["delta"]) == {0.05}
    assert losses["S"].to_list() == [0.5, 1, 2, 5, 10, 20, 50]
    at = losses.set_index("S")
    assert at.loc[5, ["gamma_low", "gamma_high"]].to_list() == [0.1, 0.2]
    assert at.loc[50, "gamma_low"] == 0.2
    assert np.isnan(at.loc[50, "gamma_high"])
    assert at.loc[0.5, "gamma_high"] == 0
    assert np.isnan(at.loc[0.5, "gamma_low"])


def test_tables_are_written_where_there_are_frontiers_only(tmp_path: Path) -> None:
    assert len(file_names([result()])) == 6
    files = files_of(frames_of([result(), row()]), tmp_path)
    names = [path.name for path in files]
    assert names == file_names([result(), row()])
    assert {"frontiers.csv", "frontiers.md", "frontiers.tex", "frontier-edges.tex"} < set(names)
    every = {f"{name}.{end}" for name in outputs.TABLE_NAMES for end in outputs.TABLE_ENDINGS}
    assert every == set(names)
    assert "boosting" not in files[tmp_path / "frontiers.md"].decode()


@pytest.mark.parametrize(
    "damage", [None, {}, [], FRONTIER | {"low": [1]}, FRONTIER | {"high": ["a", 1, 2]}]
)
def test_a_damaged_frontier_is_said_to_be_damaged(tmp_path: Path, damage: Any) -> None:
    suite = dict.fromkeys(results.SUITE_KEYS)
    rows = [result(), result() | {"frontier": damage}]
    document = {"schema": results.SCHEMA, "suite": suite, "results": rows}
    results.write_json(document, tmp_path / results.VERDICTS)
    with pytest.raises(
        UserError, match=r"'frontier' of result 2 of .* is damaged: .*; verify again"
    ):
        results.load(tmp_path)


def test_the_commands_of_the_documentation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = DOCS.read_text("utf-8")
    (code,) = (
        code
        for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        if "class Halves" in code
    )
    (command,) = re.findall(r"`boundcheck (verify boosting/frontier .*?)`", text)
    (tmp_path / "weak.py").write_text(code, encoding="utf-8")
    options = {"monkeypatch": monkeypatch, "folder": tmp_path}
    assert boundcheck(*command.split(), "--quick", **options) == 0
    assert boundcheck("report", **options) == 0
    folder = tmp_path / "boundcheck-report"
    table = pd.read_csv(folder / "tables" / "frontiers.csv")
    assert set(table["delta"]) == {0.1}
    known = table[table["S_known"].notna()]
    assert known["gamma"].max() == 0.3
    assert (known["S_low"] < known["S_known"]).all()
    page = (folder / "index.html").read_text("utf-8")
    assert page.count('aria-label="smallest excess loss against the edge"') == 1
