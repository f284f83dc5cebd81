"""Print who is caught by what: ``python tests/mutants/table.py``."""

from __future__ import annotations

import broken
from mutants import CONTROL, MUTANTS, WATCHED, judge, judge_plain, refuting
from rich.console import Console
from rich.table import Table

from boundcheck import UserError


def main() -> None:
    """Judge every mutant and print the table."""
    table = Table("mutant", *WATCHED, "as declared", "why", padding=(0, 0, 0, 1))
    as_declared, by_theorems, by_definition, surviving = True, 0, 0, 0
    for mutant in (CONTROL, *MUTANTS):
        try:
            found, refused = refuting(judge(mutant)), False
        except UserError:
            found, refused = frozenset(), True
        same = found == mutant.caught_by and refused == (mutant.fate == "refused")
        marks = ["x" if claim in found else "" for claim in WATCHED]
        table.add_row(mutant.name, *marks, "yes" if same else "NO", mutant.why)
        as_declared &= same
        if mutant is not CONTROL:
            by_definition += mutant.by_conformance_only
            surviving += not found and not refused
            by_theorems += bool(found) and not mutant.by_conformance_only
    for learner in (broken.Peeker, broken.ByHeart):
        found = refuting(judge_plain(learner))
        marks = ["x" if claim in found else "" for claim in WATCHED]
        declared = learner.caught_by == found
        table.add_row(learner.__name__, *marks, "yes" if declared else "NO", learner.__doc__)
        as_declared &= declared
    console = Console(width=180)
    console.print(table)
    console.print(
        f"{len(MUTANTS)} compiled mutants: {by_theorems} refuted by a statement, {by_definition} by comparison"
        f" with the definition only, {surviving} equal to the control, the"
        f" others refused by the game;"
        f" {'all' if as_declared else 'NOT ALL'} fates as declared"
    )


if __name__ == "__main__":
    main()
