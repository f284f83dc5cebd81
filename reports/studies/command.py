"""The command ``boundcheck study``; modules of the game are imported inside, as in ``cli.py``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ...errors import UserError
from .. import completion
from ..terminal.console import AS_EXPECTED, WRONG_INPUT, make_console

STUDIES_FOLDER = Path("results")


@click.command()
@click.argument(
    "name", required=False, metavar="[NAME|FILE.toml]", shell_complete=completion.studies
)
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=STUDIES_FOLDER,
    show_default=True,
    metavar="DIR",
    help="Folder that holds the folder of the study.",
)
@click.option(
    "--resume", is_flag=True, help="Keep what an earlier study of this name has in common with it."
)
@click.option("--backend", type=click.Choice(["loky", "dask"]), default="loky", show_default=True)
@click.option("--scheduler", metavar="ADDRESS", help="Address of the dask cluster.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, help="Processes to use."
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    metavar="T",
    help="Horizon, in place of the study's; findings about certain horizons are left out.",
)
@click.option(
    "--skip-incompatible",
    is_flag=True,
    help="Leave out a learner in settings that it cannot play, and say so.",
)
@click.option("--template", is_flag=True, help="Print a study to start from.")
@click.option("--quiet", is_flag=True, help="Show nothing but errors.")
def study(
    name: str | None,
    results: Path,
    resume: bool,
    backend: str,
    scheduler: str | None,
    jobs: int,
    rounds: int | None,
    skip_incompatible: bool,
    template: bool,
    quiet: bool,
) -> int:
    """Play a grid of settings, seeds, learners and tunings; what is finished already is not played again.

    Exit status: 0 all finished, 2 wrong input or a case that failed.

    \b
    boundcheck study smoke && boundcheck report --study results/smoke
    boundcheck study --template > mine.toml
    """
    from ...verify.studies import study as studies

    if template:
        from ...verify.studies.template import TEMPLATE

        click.echo(TEMPLATE, nl=False)
        return AS_EXPECTED
    if name is None:
        raise UserError(
            f"no study is named: expected FILE.toml or one of {', '.join(studies.names())}."
        )
    from . import conduct

    play = conduct.player(backend, scheduler, jobs)
    console = make_console(quiet)
    complete = conduct.conduct(
        name,
        results,
        play,
        resume=resume,
        quiet=quiet,
        console=console,
        rounds=rounds,
        skip_incompatible=skip_incompatible,
    )
    return AS_EXPECTED if complete else WRONG_INPUT
