"""Judge every mutant on what ``verify --learner`` plays, and print who is caught by what.

``python tests/mutants/table.py`` takes a quarter of an hour of processor time; parts of names choose some of them.
"""

from __future__ import annotations

import sys
from collections import Counter

from declared import MUTANTS
from judged import KINDS, as_declared, caught, fate
from rich.console import Console
from rich.table import Table

NOT_COUNTED = ("equivalent", "slack")
"""Kinds that no statement about what is played can tell from the right learner."""


def main(*wanted: str) -> None:
    """Print the table of all mutants, or of those with a part of their name among ``wanted``."""
    table = Table("mutant", "caught by", "kind", "as declared", "why", padding=(0, 0, 0, 1))
    shown: Counter[str] = Counter()
    counted = found_out = differing = 0
    for mutant in MUTANTS:
        if wanted and not any(part in mutant.id for part in wanted):
            continue
        found = fate(mutant)
        same = as_declared(mutant, found)
        if mutant.kind == "below":
            same &= caught(mutant, "default")
        names = ["the game stops"] if found is None else sorted(found)
        if mutant.kind == "below":
            names = [f"{claim} at the default scale" for claim in sorted(mutant.caught_by)]
        table.add_row(mutant.id, ", ".join(names), mutant.kind, "yes" if same else "NO", mutant.why)
        shown[mutant.kind] += 1
        differing += not same
        counted += mutant.kind not in NOT_COUNTED
        found_out += found is None or bool(found)
    console = Console(width=200)
    console.print(table)
    for kind, number in shown.items():
        console.print(f"{number} {kind}: {KINDS[kind]}")
    console.print(
        f"{found_out} of {counted} caught at the quick scale, without those inside the slack or equivalent;"
        f" {f'{differing} fates NOT as declared' if differing else 'all fates as declared'}"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
