"""The table of ``boundcheck list headrooms``: for each claim and form its sharpest cell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from ...verify.outcome import Verdict
from ...verify.suite import results
from . import columns
from .columns import Entry
from .tables import number

LARGE = 10
"""A headroom above this leaves a form nearly untested; docs/headrooms.md says why it is so large."""


def show(console: Console, place: Path) -> None:
    """Print the table of a result folder, or of a file such as its verdicts.json.

    Raises
    ------
    UserError
        if there are no results, or they are damaged
    """
    least = _least(place)
    columns.show(console, [_entry(row, cells) for row, cells in least])
    above = sum(row["headroom"] > LARGE for row, _ in least)
    console.print(
        f"{len(least)} forms with a headroom, {above} above {LARGE}; the cell with the smallest one speaks for a form"
    )


def entries(place: Path) -> list[Entry]:
    """The lines of the table."""
    return [_entry(row, cells) for row, cells in _least(place)]


def _least(place: Path) -> list[tuple[dict[str, Any], int]]:
    path = place if place.is_file() else place / results.VERDICTS
    return smallest(results.load_document(path)["results"])


def smallest(rows: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], int]]:
    """Of each claim and form, among the rows that hold, the one with the smallest headroom, and how many there are; the
    largest headroom first."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        if row["verdict"] == Verdict.HOLDS and row["headroom"] is not None:
            groups.setdefault((row["claim"], row["form"]), []).append(row)
    least = [(min(part, key=lambda row: row["headroom"]), len(part)) for part in groups.values()]
    return sorted(least, key=lambda pair: (-pair[0]["headroom"], pair[0]["claim"], pair[0]["form"]))


def _entry(row: dict[str, Any], cells: int) -> Entry:
    large = row["headroom"] > LARGE
    flags = f"; [yellow]{escape(', '.join(row['flags']))}[/]" if row["flags"] else ""
    return Entry(
        {
            "claim": escape(row["claim"]),
            "form": row["form"],
            "headroom": number(row["headroom"]),
            "": f"[yellow]above {LARGE}[/]" if large else "",
            "cells": str(cells),
        },
        f"[dim]{escape(row['case'])}[/]{flags}",
    )
