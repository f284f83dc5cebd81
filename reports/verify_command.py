"""The command ``boundcheck verify``; modules of the game are imported inside, as in ``cli.py``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ..errors import UserError
from . import completion
from .terminal.console import DEFAULT_FOLDER, fail, make_console

STDOUT = Path("-")


@click.command()
@click.argument("claims", nargs=-1, metavar="[CLAIM]...", shell_complete=completion.claims)
@click.option(
    "--learner",
    metavar="SPEC",
    shell_complete=completion.learners,
    help="Built-in name with parameters, or FILE.py:Class.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Recorded data: CSV, svmlight, npz or Parquet.",
)
@click.option("--label", metavar="COLUMN", help="Label column of the data; default the last.")
@click.option(
    "--header/--no-header",
    default=None,
    help="Whether CSV data begin with a line of names; found out by default.",
)
@click.option(
    "--labels",
    type=click.Choice(["exact"]),
    help="Take labels of the data as they are written, however alike they are.",
)
@click.option(
    "--rows", type=click.IntRange(min=1), metavar="N", help="Read at most so many rows of the data."
)
@click.option(
    "--radius",
    type=float,
    metavar="B",
    help="Comparator norm: the bound B on the norm of the comparator. By default that of the adversary's planted"
    " comparator, or 1 where there is none, as for data.",
)
@click.option(
    "--graph",
    metavar="SPEC",
    shell_complete=completion.graphs,
    help="Feedback graph, e.g. filtering:revealing=0+2.",
)
@click.option(
    "--adversary",
    metavar="SPEC",
    shell_complete=completion.adversaries,
    help="Built-in name with parameters, e.g. one-hot:noise=0.1, or FILE.py:Class.",
)
@click.option(
    "--claims",
    "claims_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Python file with your claims, and games if you like.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="The built-in suite at half the size, about a minute; with your learner, data, graph or adversary a"
    " thirtieth of the rounds, seconds.",
)
@click.option(
    "--full",
    is_flag=True,
    help="Eight times the runs; with your learner, data, graph or adversary forty times the rounds.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Runs of claims judged by sampling, in place of the usual number.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    metavar="T",
    help="Horizon of the games, but for those whose adversary sets it.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    help="Processes to use where the work is long enough.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Write the verdicts here too; - is standard output, and then the table goes to standard error.",
)
@click.option(
    "--junit",
    "junit_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write them as JUnit XML, a test for each case.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=DEFAULT_FOLDER,
    show_default=True,
    metavar="DIR",
    help="Folder for verdicts and certificates.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show every case.")
@click.option("--quiet", is_flag=True, help="Show nothing but errors.")
def verify(
    claims: tuple[str, ...],
    learner: str | None,
    data: Path | None,
    label: str | None,
    header: bool | None,
    labels: str | None,
    rows: int | None,
    radius: float | None,
    graph: str | None,
    adversary: str | None,
    claims_file: Path | None,
    quick: bool,
    full: bool,
    runs: int | None,
    rounds: int | None,
    seed: int,
    jobs: int,
    json_file: Path | None,
    junit_file: Path | None,
    out: Path,
    verbose: bool,
    quiet: bool,
) -> int:
    """Judge claims; globs such as 'gappletron/*', all of them by default.

    Without --learner, --data, --graph, --adversary and --radius the built-in suite is judged, in two or three
    minutes. Each of these options replaces its part in a few small games: eight games for a learner, some with up
    to 128 runs, of 2000 rounds. These are 1.3 million rounds, which take a learner in plain Python minutes
    (--quick: games of 300 rounds).

    Exit status: 0 as expected, 1 a surprise, 2 wrong input or a run that failed.

    \b
    boundcheck verify gappletron/lemma-1 --quick
    boundcheck verify --data digits.csv --label digit --radius 2
    """
    from rich.markup import escape

    from ..verify.suite import results, run
    from ..verify.suite.request import Request
    from . import api, outputs
    from .terminal import columns, tables
    from .terminal.conclusion import conclude
    from .terminal.progress import progress

    if quick and full:
        raise UserError("both --quick and --full are given: expected at most one of them.")
    request = Request(
        claims,
        learner,
        adversary,
        graph,
        data,
        label,
        radius,
        "quick" if quick else "full" if full else "default",
        claims_file,
        runs,
        rounds,
        header,
        labels == "exact",
        rows,
    )
    prepared = api.prepare(request, seed, jobs=jobs)  # what cannot be played fails here
    to_stdout = json_file == STDOUT
    outputs.check(out, None if to_stdout else json_file, junit_file, outputs.inputs_of(request))
    console = make_console(quiet, to_stderr=to_stdout)
    if prepared.opening.measured:
        console.print(tables.hypothesis_table(prepared.opening.measured), "")
    if (warning := prepared.opening.warning) is not None:
        for line in warning.splitlines():
            console.print(f"[bold yellow]warning[/] {escape(line)}", soft_wrap=True)
        console.print()
    n_jobs = prepared.opening.n_jobs
    try:
        with progress(n_jobs, quiet=quiet) as advance:
            found = api.play(prepared, advance=advance)
    except api.Stopped as stop:
        part = stop.found
        raise outputs.keep(part.rows, part.document, stop.finished, n_jobs, out) from None
    document = found.save(out)
    outputs.remove_page(out)
    outputs.remove_interrupted(out)
    if to_stdout:
        click.echo(results.text_of(document), nl=False)
    elif json_file is not None:
        results.write_json(document, json_file)
    if junit_file is not None:
        from .terminal.junit import write_junit

        write_junit(found.rows, junit_file)
    if verbose:
        columns.show(console, found.entries(every_cell=True)[0])
        console.print()
    entries, rest = found.entries()
    if verbose:
        entries, rest = tables.verdict_entries(tables.grouped(found.rows)), None
    columns.show(console, entries)
    if rest:
        console.print(f"[dim]{escape(rest)}[/]", soft_wrap=True)
    status = conclude(
        console, found.rows, document, out, found.seconds, claims_file, idle=found.untested
    )
    if failures := run.failures_of_learner(found.rows):
        return fail(
            f"{failures[0].outcome.evidence.rstrip('.')}; {len(failures)} of {len(found.rows)} cells could"
            f" not be judged, the others are in {out}/."
        )
    return status
