"""Statements as pictures: what matplotlib is given, and what is written of what it placed."""

from __future__ import annotations

import re

import pytest
from matplotlib.figure import Figure

from boundcheck.reports.page.figures import svg
from boundcheck.reports.page.statements import mathtext, statement_svg
from boundcheck.verify import catalog


def numbers(pattern: str, picture: str) -> list[float]:
    found = re.search(pattern, picture)
    assert found is not None, picture[:200]
    return [float(number) for number in found.groups()]


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"\frac{K-1}{K}", r"\dfrac{K-1}{K}"),
        (r"\tfrac{1}{K}", r"\frac{1}{K}"),
        (r"\tfrac23", r"\frac{2}{3}"),
        (r"\frac c2 \tfrac\gamma K", r"\dfrac{c}{2} \frac{\gamma}{K}"),
        (r"\max\Big\{a, \big[b\big]\Big\}", r"\max\left\{a, \left[b\right]\right\}"),
        (r"\sqrt{\textstyle\sum_t x_t}", r"\sqrt{\sum_t x_t}"),
        (r"a \le b \ge c \ne \left(d\right)", r"a \leq b \geq c \neq \left(d\right)"),
        (r"\mathbf 1_S", r"\mathbf{1}_S"),
        (r"\Bigg(x\Big)", r"\left(x\right)"),
        (r"\|x\|^2", r"\Vert x\Vert ^2"),
        (r"p'_t(y) + y'_{t-1}", r"p_t^{\prime}(y) + y_{t-1}^{\prime}"),
        (r"\text{the learner's rate}", r"\text{the learner's rate}"),
    ],
)
def test_latex_becomes_what_matplotlib_sets(latex: str, plain: str) -> None:
    assert mathtext(latex) == plain
    assert statement_svg(latex) is not None


def test_every_statement_can_be_set() -> None:
    for claim in catalog.claims().values():
        for form in claim.forms:
            assert statement_svg(form.statement) is not None, claim.id
    assert statement_svg(r"\nosuchmacro{") is None


@pytest.mark.parametrize(
    "latex", ["x", r"\frac{c}{K_t} \le y^2", r"\sqrt{\sum_t x_t} \quad \text{if so}"]
)
def test_a_statement_is_set_as_in_a_figure(latex: str) -> None:
    """The same room, the same base line, the same glyphs and rules at the same places."""
    figure = Figure(figsize=(0.1, 0.1))
    figure.text(0, 0, f"${mathtext(latex)}$", fontsize=14, math_fontfamily="cm")
    other, own = svg(figure), statement_svg(latex)
    assert own is not None
    for pattern in (
        r'width="(\S+)pt" height="(\S+)pt"',
        r"<g transform=\"translate\((\S+) (\S+)\)",
    ):
        assert numbers(pattern, own) == pytest.approx(numbers(pattern, other), abs=0.01)

    def placed(picture: str, grid: int) -> list[tuple[str, list[str], list[float]]]:
        """Each outline where it stands: its letters, of which the same need not be repeated, and its numbers."""
        outlines = dict(re.findall(r'<path id="([^"]+)"(?: d="([^"]*)")?', picture))
        uses = re.findall(
            r'<use (?:xlink:)?href="#([^"]+)" transform="translate\((\S+) (\S+)\)(?: scale\((\S+)\))?',
            picture,
        )
        return [
            (
                re.sub(r"(\w)\1+", r"\1", re.sub(r"[^A-Zz]", "", outlines[name])),
                re.findall(r"-?\d+", outlines[name]),
                [float(x) / grid, float(y) / grid, float(size or 1)],
            )
            for name, x, y, size in uses
        ]

    ours, theirs = placed(own, 64), placed(other, 1)
    for own_glyph, glyph in zip(ours, theirs, strict=True):
        assert own_glyph[:2] == glyph[:2]
        assert own_glyph[2] == pytest.approx(glyph[2], abs=0.01)
    assert own.count("<path d=") == other.count("<path d=") - 1, "but for the white paper"


def test_a_glyph_is_outlined_once_and_has_the_colour_of_the_text() -> None:
    picture = statement_svg("a + a + a = 3a")
    assert picture is not None
    assert (picture.count("<path id="), picture.count("<use ")) == (4, 8)
    assert 'fill="currentColor"' in picture
    assert "#fff" not in picture
