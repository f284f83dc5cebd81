"""The last lines of ``boundcheck verify``: what was surprising, what is false, and where everything is."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from ...algorithms.spec import user_file
from ...verify.outcome import Verdict
from ...verify.suite.run import Row
from ..replay_line import ReplayLine
from . import tables
from .console import AS_EXPECTED, DEFAULT_FOLDER, SURPRISE, WRONG_INPUT


def conclude(
    console: Console,
    rows: list[Row],
    document: dict[str, Any],
    out: Path,
    seconds: float,
    claims_file: Path | None,
    *,
    idle: dict[str, str],
) -> int:
    """Say what was surprising, where everything is, and return the exit status."""
    surprises = [
        (row, result)
        for row, result in zip(rows, document["results"], strict=True)
        if row.surprising
    ]
    console.print()
    for row, result in surprises[:10]:
        console.print(
            f"[bold red]surprise[/] {escape(row.claim)} ({row.form}) is {row.verdict.value}, expected"
            f" {row.expected}: {escape(row.outcome.evidence)}\n  case {escape(row.case)}",
            soft_wrap=True,
        )
        if result["certificate"]:
            assert row.outcome.certificate is not None
            again = ReplayLine.of(
                row.outcome.certificate.content, out / result["certificate"], claims_file
            )
            console.print(f"  {again}", markup=False, soft_wrap=True)
    if len(surprises) > 10:
        more = f"... and {len(surprises) - 10} more, in {out / 'verdicts.json'}"
        console.print(more, markup=False)
    if idle:
        named = "; ".join(f"{claim} ({reason})" for claim, reason in idle.items())
        console.print(
            f"[bold yellow]warning[/] promised, but never tested: {escape(named)}", soft_wrap=True
        )
    # what a learner of the user's violates says nothing against the theorem
    library = [row for row in rows if not user_file(row.learner)]
    for line in tables.found_false(tables.grouped(library)):
        console.print(line, markup=False, soft_wrap=True)
    sampled = document["suite"]["sampled_cells"]
    alarm = document["suite"]["false_alarm_probability"]
    expected = sum(row.expected is not None for row in rows)
    console.print(
        f"{len(rows)} cells, {expected} with an expected verdict, {len(surprises)} surprises;"
        f" {sampled} sampled cells, false-alarm probability at most {alarm:.2g};"
        f" {seconds:.1f} s; seed {document['suite']['seed']}",
        soft_wrap=True,
    )
    options = [] if out == DEFAULT_FOLDER else ["--results", str(out)]
    page = shlex.join(["boundcheck", "report", *options])
    where = f"verdicts and certificates in {out}/; a page of them: {page}"
    console.print(where, markup=False, soft_wrap=True)
    if any(row.verdict == Verdict.ERROR for row in rows):
        return WRONG_INPUT
    return SURPRISE if surprises else AS_EXPECTED
