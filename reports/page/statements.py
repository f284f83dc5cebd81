"""Statements of claims as pictures: matplotlib sets the formula, and what it placed is written as SVG here.

A figure of matplotlib's would set every formula twice, which takes longer than all the rest.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextToPath
from numpy.typing import ArrayLike

SIZE = 14
"""Size of the font, in points."""

MARGIN = 7.2
"""Around the formula, in points."""

HIGHEST, LOWEST = 0.76, 0.24
"""Reach of a line of text above and below its base, in units of the size, whatever stands in it."""

GRID = 64
"""Lines to the unit in which glyphs are placed: the points of their outlines lie on them."""

_PLAIN_LATEX = (
    (r"\\frac", r"\\dfrac"),
    (r"\\tfrac", r"\\frac"),
    (r"\\(d?frac)\s*(\\[A-Za-z]+|\w)\s*(\\[A-Za-z]+|\w)", r"\\\1{\2}{\3}"),
    (r"\\textstyle", ""),
    (r"\\[Bb]igg?(\\\{|[(\[])", r"\\left\1"),
    (r"\\[Bb]igg?(\\\}|[)\]])", r"\\right\1"),
    (r"\\;", r"\\ "),
    (r"\\le(?![a-z])", r"\\leq"),
    (r"\\ge(?![a-z])", r"\\geq"),
    (r"\\ne(?![a-z])", r"\\neq"),
    (r"\\mathbf (\w)", r"\\mathbf{\1}"),
    (r"\\star", r"*"),
    (r"\\\|", r"\\Vert "),
    (r"\b([a-z])'_(\{[^{}]*\}|\w)", r"\1_\2^{\\prime}"),
)

_LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}
"""The letters that SVG writes before the first of several points with the same code of matplotlib's."""


def mathtext(statement: str) -> str:
    """The LaTeX of a statement in the part of the language that matplotlib sets."""
    for pattern, replacement in _PLAIN_LATEX:
        statement = re.sub(pattern, replacement, statement)
    return statement


@cache
def statement_svg(statement: str) -> str | None:
    """A statement as an SVG element in the colour of the text around it; None if it cannot be set."""
    setter = TextToPath()
    font = FontProperties(size=SIZE, math_fontfamily="cm")
    formula = f"${mathtext(statement)}$"
    try:
        # set once: the second call finds what the first one did
        width, height, descent = setter.get_text_width_height_descent(formula, font, True)
        places, outlines, rules = setter.get_glyphs_mathtext(font, formula)
    except (ValueError, RecursionError):
        return None
    descent, ascent = max(descent, LOWEST * SIZE), max(height - descent, HIGHEST * SIZE)
    right, bottom = (f"{x + 2 * MARGIN:.2f}" for x in (width, ascent + descent))
    scale = SIZE / setter.FONT_SCALE / GRID
    names = {glyph: f"g{i}" for i, glyph in enumerate(outlines)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right}pt" height="{bottom}pt"'
        f' viewBox="0 0 {right} {bottom}" fill="currentColor">',
        "<defs>",
        *(f'<path id="{names[glyph]}" d="{_path(*outlines[glyph])}"/>' for glyph in outlines),
        "</defs>",
        f'<g transform="translate({MARGIN} {MARGIN + ascent:.2f}) scale({scale:.7f} {-scale:.7f})">',
    ]
    for glyph, x, y, size in places:
        moved = f"translate({GRID * x:.0f} {GRID * y:.0f})"
        scaled = "" if size == 1 else f" scale({size:.4g})"
        parts.append(f'<use href="#{names[glyph]}" transform="{moved}{scaled}"/>')
    parts += [f'<path d="{_path(*rule)}"/>' for rule in rules]
    return "\n".join([*parts, "</g>", "</svg>\n"])


def _path(points: ArrayLike, codes: ArrayLike) -> str:
    """A path as SVG writes it, on the grid."""
    words, letter = [], ""
    on_grid = np.rint(GRID * np.asarray(points)).astype(np.int64).tolist()
    for (x, y), code in zip(on_grid, np.asarray(codes).tolist(), strict=True):
        if code == Path.CLOSEPOLY:
            letter = "z"
            words.append("z")
        else:
            # a curve has a code for each of its points, and all may follow one letter
            words.append(f"{x} {y}" if letter == _LETTERS[code] else f"{_LETTERS[code]}{x} {y}")
            letter = _LETTERS[code]
    return " ".join(words)
