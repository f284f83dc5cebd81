"""Tables of verdicts for the terminal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from rich.markup import escape
from rich.table import Table

from ..verify.claim import LOUDEST_FIRST, Kind, Verdict, is_surprise
from ..verify.plan import Hypothesis
from ..verify.suite import Row

STYLES = {
    Verdict.HOLDS: "green",
    Verdict.REFUTED: "red",
    Verdict.UNDECIDED: "yellow",
    Verdict.VACUOUS: "magenta",
    Verdict.NOT_APPLICABLE: "dim",
    Verdict.ERROR: "bold red",
}

Item = TypeVar("Item")


class Cell(NamedTuple):
    """What decides which of several rows speaks for all of them."""

    kind: str
    verdict: str
    expected: str | None
    ratio: float | None


def worst_of(items: Sequence[Item], cell_of: Callable[[Item], Cell]) -> Item:
    """A surprise if there is one; else the ratio nearest to failure of the loudest verdict, preferring
    cases whose verdict was expected."""
    cells = [(item, cell_of(item)) for item in items]
    chosen = [(i, c) for i, c in cells if is_surprise(c.expected, c.verdict)] or cells
    loudest = min(LOUDEST_FIRST.index(Verdict(cell.verdict)) for _, cell in chosen)
    same = [(i, c) for i, c in chosen if c.verdict == LOUDEST_FIRST[loudest]]
    expected = [(i, c) for i, c in same if c.expected is not None]
    nearest = min if same[0][1].kind == Kind.LOWER_BOUND else max
    return nearest(expected or same, key=lambda pair: pair[1].ratio or 0.0)[0]


def speaker(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The row of verdicts.json that speaks for all of them."""
    return worst_of(
        rows, lambda row: Cell(row["kind"], row["verdict"], row["expected"], row["ratio"])
    )


@dataclass(frozen=True)
class Group:
    """All rows of one form of one claim, and the one that speaks for them."""

    rows: tuple[Row, ...]

    @property
    def surprises(self) -> list[Row]:
        """Rows whose verdict is not the expected one."""
        return [row for row in self.rows if row.surprising]

    @property
    def worst(self) -> Row:
        """The row that speaks for the group."""
        return worst_of(
            self.rows, lambda row: Cell(row.kind, row.verdict, row.expected, row.outcome.ratio)
        )

    @property
    def expectation(self) -> str:
        """The verdict expected of the case that speaks for the group."""
        expected = self.worst.expected
        return "-" if expected is None else expected.value

    @property
    def counts(self) -> str:
        """How many cases have which verdict."""
        seen = Counter(row.verdict for row in self.rows)
        return ", ".join(f"{seen[verdict]} {verdict}" for verdict in LOUDEST_FIRST if seen[verdict])


def grouped(rows: Sequence[Row]) -> list[Group]:
    """Rows by claim and form, in order of first appearance of the claim's id."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row.claim, row.form)):
        groups.setdefault((row.claim, row.form), []).append(row)
    return [Group(tuple(found)) for found in groups.values()]


def number(value: float | None) -> str:
    """A number in few characters, or a dash."""
    return "-" if value is None else f"{value:.3g}"


def where(row: Row) -> str:
    """Learner, adversary and graph of a row in few characters: the names of the parameters left out."""
    parts = (row.learner, row.adversary, row.graph)
    return " / ".join(re.sub(r"[:,]\w+=", " ", part) for part in parts)


def verdict_table(groups: Sequence[Group]) -> Table:
    """One line for each claim and form, with its worst case."""
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("claim", no_wrap=True)
    table.add_column("form")
    table.add_column("verdict", no_wrap=True)
    table.add_column("expected", no_wrap=True)
    for name in ("ratio", "regret", "headroom", "runs"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("cases and evidence", ratio=1, min_width=24)
    for group in groups:
        worst, outcome = group.worst, group.worst.outcome
        flags = f"; [yellow]{escape(', '.join(outcome.flags))}[/]" if outcome.flags else ""
        surprise = " [bold red]SURPRISE[/]" if group.surprises else ""
        table.add_row(
            escape(worst.claim),
            worst.form,
            f"[{STYLES[worst.verdict]}]{worst.verdict.value}[/]{surprise}",
            group.expectation,
            number(outcome.ratio),
            number(outcome.regret_ratio),
            number(outcome.headroom),
            str(sum(row.outcome.runs for row in group.rows)),
            f"[dim]{escape(group.counts)};[/] {escape(outcome.evidence)}{flags}"
            f" [dim]({escape(where(worst))})[/]",
        )
    return table


def case_table(rows: Sequence[Row]) -> Table:
    """One line for each case."""
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    for name in ("claim", "form", "verdict", "expected"):
        table.add_column(name, no_wrap=True)
    for name in ("ratio", "regret"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("case and evidence", ratio=1)
    for row in rows:
        table.add_row(
            escape(row.claim),
            row.form,
            f"[{STYLES[row.verdict]}]{row.verdict.value}[/]",
            "-" if row.expected is None else row.expected.value,
            number(row.outcome.ratio),
            number(row.outcome.regret_ratio),
            f"{escape(row.case)}: [dim]{escape(row.outcome.evidence)}[/]",
        )
    return table


def hypothesis_table(hypotheses: Sequence[Hypothesis]) -> Table:
    """One line for each hypothesis, with what was measured."""
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("hypothesis")
    table.add_column("measured", justify="right")
    table.add_column("what it is")
    for row in hypotheses:
        table.add_row(row.name, f"{row.measured:.6g}", escape(row.meaning))
    return table
