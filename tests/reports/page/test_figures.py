"""Pictures in few characters: the same elements as matplotlib draws, and references that lead somewhere."""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from boundcheck.reports.page.figures import svg

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.fixture
def figure() -> Figure:
    drawn = Figure(figsize=(2, 1))
    axes = drawn.add_axes((0, 0, 1, 1))
    axes.plot([1, 10, 100], [-0.123456, 2, 3], label="minus -- and <less>")
    axes.set(xscale="log", title="a; b: c")
    axes.legend()
    return drawn


def elements(picture: str) -> Counter[str]:
    return Counter(each.tag for each in ElementTree.fromstring(picture).iter())


def test_a_picture_has_the_elements_of_its_figure_on_one_line(figure: Figure) -> None:
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", bbox_inches="tight")
    whole, short = buffer.getvalue(), svg(figure)
    drawn = ("path", "use", "clipPath", "style")
    for name in drawn:
        tag = f"{{http://www.w3.org/2000/svg}}{name}"
        assert elements(short)[tag] == elements(whole)[tag] > 0
    assert "\n" not in short
    assert "<!--" not in short
    assert "scale(0.015625)" in short, "the size of a letter is not rounded"
    assert len(short) < 0.8 * len(whole)


def test_places_are_those_of_the_figure_to_a_hundredth_of_a_point(figure: Figure) -> None:
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", bbox_inches="tight")

    def places(picture: str) -> list[float]:
        paths = " ".join(re.findall(r' d="([^"]*)"', picture))
        return [float(number) for number in re.findall(r"-?[\d.]+", paths)]

    assert places(svg(figure)) == pytest.approx(places(buffer.getvalue()), abs=0.00501)


def test_what_is_referred_to_is_there_and_nothing_else_has_a_name(figure: Figure) -> None:
    for picture in (svg(figure), *(path.read_text("utf-8") for path in DOCS.glob("*.svg"))):
        names = re.findall(r' id="([^"]*)"', picture)
        assert set(names) == set(re.findall(r'(?:href="#|url\(#)([^")]+)', picture))
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.svg")), ids=lambda path: path.name)
def test_the_pictures_of_the_readme_are_written_this_way(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") == 1
    assert "<!--" not in text
