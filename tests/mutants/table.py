"""Print who is caught by what: ``python tests/mutants/table.py``."""

from __future__ import annotations

from mutants import MUTANTS, WATCHED, caught_by
from rich.console import Console
from rich.table import Table


def main() -> None:
    """Judge every mutant and print the table."""
    table = Table("mutant", *WATCHED, "as declared", "why")
    caught = 0
    for mutant in MUTANTS:
        found = caught_by(mutant.change, mutant.name)
        caught += bool(found)
        marks = ["caught" if claim in found else "" for claim in WATCHED]
        table.add_row(mutant.name, *marks, "yes" if found == mutant.caught_by else "NO", mutant.why)
    console = Console(width=170)
    console.print(table)
    console.print(f"{caught} of {len(MUTANTS) - 1} mutants are caught")


if __name__ == "__main__":
    main()
