"""A table for any width of the terminal: numbers in columns, words on separate lines below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from rich.console import Console
from rich.text import Text


@dataclass(frozen=True)
class Entry:
    """A line of cells under their column's names, and lines of words below it; both in rich's markup."""

    cells: dict[str, str]
    words: str


RIGHT = ("ratio", "regret", "headroom", "cells", "runs")
"""Columns of numbers."""

FIRST_TO_GO = ("headroom", "regret", "runs", "expected", "proof", "kind", "ratio")
"""Columns to be left out, in this order, where the width does not suffice; their content joins the words below."""

INDENT = 4


def show(console: Console, entries: Sequence[Entry]) -> None:
    """Print entries: nothing is cropped, words longer than a line stay whole."""
    if not entries:
        return
    cells = [
        {n: Text.from_markup(cell, emoji=False) for n, cell in e.cells.items()} for e in entries
    ]
    kept = list(entries[0].cells)
    widths = {n: max(len(n), *(row[n].cell_len for row in cells)) for n in kept}
    for name in FIRST_TO_GO:
        if sum(widths[n] + 2 for n in kept) - 2 > console.width and name in kept:
            kept.remove(name)

    def line(row: dict[str, Text]) -> Text:
        parts = [row[n].copy() for n in kept]
        for n, part in zip(kept, parts, strict=True):
            part.align("right" if n in RIGHT else "left", widths[n])
        joined = Text("  ").join(parts)
        joined.rstrip()
        return joined

    console.print(line({n: Text(n, "bold") for n in kept}), soft_wrap=True)
    for entry, row in zip(entries, cells, strict=True):
        console.print(line(row), soft_wrap=True)
        gone = [f"{n} {cell}; " for n, cell in entry.cells.items() if n not in kept and cell != "-"]
        for words in _lines("".join(gone) + entry.words):
            for part in _folded(words, console.width - INDENT):
                console.print(Text(" " * INDENT) + part, soft_wrap=True)


def _lines(markup: str) -> list[Text]:
    """The lines of words, single spaces between them; a style may go over several."""
    tidy = "\n".join(" ".join(line.split()) for line in markup.split("\n"))
    return list(Text.from_markup(tidy, emoji=False).split("\n", allow_blank=True))


def _folded(words: Text, width: int) -> list[Text]:
    """Words in lines, broken at spaces only."""
    lines = wrap(words.plain, max(20, width), break_long_words=False, break_on_hyphens=False)
    starts, end = [], 0
    for line in lines:
        starts.append(words.plain.index(line, end))
        end = starts[-1] + len(line)
    parts = list(words.divide(starts[1:]))
    for part in parts:
        part.rstrip()
    return parts
