"""What a study costs: python tests/benchmarks/studies.py [NAME]

Processor time of one process, after compilation, for the settings of a study at several horizons and numbers
of seeds, and the share of it in which streams are made. Nothing is asserted about time.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from rich.console import Console
from rich.table import Table

from boundcheck.verify.studies import run as sweep
from boundcheck.verify.studies import study as studies

HORIZONS, SEEDS = (2500, 5000, 10_000), (1, 2, 4)


def cost(study: studies.Study, horizon: int, seeds: int) -> tuple[int, float, float]:
    """Number of cases, processor seconds for all of them and for their streams alone."""
    grid: dict[str, Any] = {**study.document["grid"], "horizon": horizon}
    cases = studies.parse(study.name, {**study.document, "grid": grid, "seeds": seeds}).cases()
    started = time.process_time()
    for case in cases:
        sweep.play(case)
    played = time.process_time()
    for case in cases:
        adversary = studies.make_adversary(case.content["adversary"])
        adversary.sequence(horizon, case.content["seed"])
    return len(cases), played - started, time.process_time() - played


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", default="bandit", choices=studies.names())
    study = studies.load(parser.parse_args().name)
    cost(study, 10, 1)  # compiles
    table = Table("rounds", "seeds", "cases", "seconds", "ms a case", "streams", title=study.name)
    wanted = [*((horizon, 1) for horizon in HORIZONS), *((HORIZONS[0], n) for n in SEEDS[1:])]
    for horizon, seeds in wanted:
        cases, seconds, streams = cost(study, horizon, seeds)
        share = f"{streams / seconds:.0%}"
        row = (horizon, seeds, cases, f"{seconds:.2f}", f"{1000 * seconds / cases:.0f}", share)
        table.add_row(*map(str, row))
    Console().print(table)


if __name__ == "__main__":
    main()
