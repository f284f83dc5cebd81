"""Tables of verdicts for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from rich.markup import escape
from rich.table import Table

from ...verify import catalog
from ...verify.claim import OTHER_LEARNERS, Proof, is_named
from ...verify.games.game import Measured
from ...verify.outcome import LOUDEST_FIRST, Kind, Verdict
from ...verify.suite.run import Row
from .columns import Entry

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
    """The parts of a row that decide which of several rows represents them."""

    kind: str
    verdict: str
    expected: str | None
    ratio: float | None
    surprising: bool


def worst_of(items: Sequence[Item], cell_of: Callable[[Item], Cell]) -> Item:
    """A surprise if there is one; else the ratio nearest to failure of the loudest verdict, preferring
    cases whose verdict was expected."""
    cells = [(item, cell_of(item)) for item in items]
    chosen = [(i, c) for i, c in cells if c.surprising] or cells
    loudest = min(LOUDEST_FIRST.index(Verdict(cell.verdict)) for _, cell in chosen)
    same = [(i, c) for i, c in chosen if c.verdict == LOUDEST_FIRST[loudest]]
    expected = [(i, c) for i, c in same if c.expected is not None]
    nearest = min if same[0][1].kind == Kind.LOWER_BOUND else max
    return nearest(expected or same, key=lambda pair: pair[1].ratio or 0.0)[0]


def speaker(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The row of verdicts.json that speaks for all of them."""
    return worst_of(
        rows,
        lambda row: Cell(
            row["kind"], row["verdict"], row["expected"], row["ratio"], row["surprising"]
        ),
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
            self.rows,
            lambda row: Cell(
                row.kind, row.verdict, row.expected, row.outcome.ratio, row.surprising
            ),
        )

    @property
    def expectation(self) -> str:
        """The verdict expected of the case that speaks for the group."""
        expected = self.worst.expected
        return "-" if expected is None else expected.value

    @property
    def counts(self) -> str:
        """The number of cells with each verdict."""
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


def verdict_entries(groups: Sequence[Group]) -> list[Entry]:
    """One entry for each claim and form, with its worst case."""
    return [_verdict_entry(group) for group in groups]


def _verdict_entry(group: Group) -> Entry:
    worst, outcome = group.worst, group.worst.outcome
    surprise = " [bold red]SURPRISE[/]" if group.surprises else ""
    flags = f"; [yellow]{escape(', '.join(outcome.flags))}[/]" if outcome.flags else ""
    return Entry(
        {
            "claim": escape(worst.claim),
            "form": worst.form,
            "verdict": f"[{STYLES[worst.verdict]}]{worst.verdict.value}[/]{surprise}",
            "expected": group.expectation,
            "ratio": number(outcome.ratio),
            "regret": number(outcome.regret_ratio),
            "headroom": number(outcome.headroom),
            "runs": str(sum(row.outcome.runs for row in group.rows)),
        },
        f"[dim]{escape(group.counts)}; {escape(outcome.evidence)}[/]{flags}[dim]; {escape(worst.case)}[/]",
    )


def case_entries(rows: Sequence[Row]) -> list[Entry]:
    """One entry for each case."""
    return [
        Entry(
            {
                "claim": escape(row.claim),
                "form": row.form,
                "verdict": f"[{STYLES[row.verdict]}]{row.verdict.value}[/]",
                "expected": "-" if row.expected is None else row.expected.value,
                "ratio": number(row.outcome.ratio),
                "regret": number(row.outcome.regret_ratio),
            },
            f"[dim]{escape(row.case)}: {escape(row.outcome.evidence)}[/]",
        )
        for row in rows
    ]


def without_idle(
    groups: Sequence[Group], promises: Sequence[str]
) -> tuple[list[Group], str | None]:
    """The groups without claims that neither applied anywhere nor are promised, and a line about these."""
    speaking = {
        group.worst.claim
        for group in groups
        if _promised(group, promises)
        or any(row.verdict != Verdict.NOT_APPLICABLE for row in group.rows)
    }
    idle = [group for group in groups if group.worst.claim not in speaking]
    if not idle:
        return list(groups), None
    told = {group.worst.claim: group.worst.outcome.evidence for group in idle}
    claims = {claim: reason.replace(claim, "it") for claim, reason in told.items()}
    reasons = Counter(claims.values()).most_common()
    why = "; ".join(f"{reason} ({n})" for reason, n in reasons[:3])
    more = "; ..." if len(reasons) > 3 else ""
    words = f"not promised and not applicable: {len(claims)} claims, shown by -v: {why}{more}"
    return [group for group in groups if group not in idle], words


def _promised(group: Group, promises: Sequence[str]) -> bool:
    """True if a claim is promised by its full name, or by a glob and is about such learners."""
    others = all(row.outcome.evidence.startswith(OTHER_LEARNERS) for row in group.rows)
    return group.worst.claim in promises or (not others and is_named(group.worst.claim, promises))


def found_false(groups: Sequence[Group]) -> list[str]:
    """The claims that are refuted, and those of them that hold in another form, a line for each form."""
    refuted: dict[str, list[str]] = {}
    holding: dict[str, list[str]] = {}
    assumed: list[str] = []
    for group in groups:
        verdicts = {row.verdict for row in group.rows}
        if Verdict.REFUTED in verdicts and _is_assumed(group.worst):
            assumed.append(group.worst.claim)
        elif Verdict.REFUTED in verdicts:
            refuted.setdefault(group.worst.form, []).append(group.worst.claim)
        elif Verdict.HOLDS in verdicts and Verdict.ERROR not in verdicts:
            holding.setdefault(group.worst.form, []).append(group.worst.claim)
    false = {claim for claims in refuted.values() for claim in claims}
    others = {form: [claim for claim in holding[form] if claim in false] for form in holding}
    lines = [
        f"{words} as {form}: {', '.join(claims)}"
        for words, forms in (("refuted", refuted), ("of these, hold", others))
        for form, claims in sorted(forms.items())
        if claims
    ]
    return lines + [f"hypotheses that a stream does not meet: {', '.join(assumed)}"] * bool(assumed)


def _is_assumed(row: Row) -> bool:
    """True for a row of a hypothesis, which is not claimed of every stream."""
    claim = catalog.claims().get(row.claim)
    return claim is not None and claim.form(row.form).proof == Proof.ASSUMED


def hypothesis_table(hypotheses: Sequence[Measured]) -> Table:
    """One line for each hypothesis, with what was measured."""
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("hypothesis")
    table.add_column("measured", justify="right")
    table.add_column("meaning")
    for row in hypotheses:
        table.add_row(row.name, f"{row.measured:.6g}", escape(row.meaning))
    return table
