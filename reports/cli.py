"""The command line: ``boundcheck verify``, ``study``, ``list``, ``replay`` and ``report``.

Modules of the game are imported inside the commands, so that --help, --version, list and replay start at once and
work without a compiler.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import click

from .. import __version__
from ..errors import UserError, printable, unknown
from . import completion
from .studies.command import STUDIES_FOLDER, study
from .terminal.console import AS_EXPECTED, DEFAULT_FOLDER, INTERRUPTED, WRONG_INPUT, make_console
from .terminal.list_command import list_

logger = logging.getLogger(__name__)

STDOUT = Path("-")

COMPLETE = "_BOUNDCHECK_COMPLETE"
"""The variable by which a shell asks for completions."""


class _Commands(click.Group):
    """A group that suggests the nearest command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise unknown("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="boundcheck")
@click.option("--debug", is_flag=True, help="Log what happens, on standard error.")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Put the theorems of online learning to the test.

    \b
    boundcheck verify --quick                     judge everything
    boundcheck verify 'gappletron/lemma-*' -v     some claims, every case
    boundcheck verify --learner mine.py:Mine      your learner
    boundcheck list learners                      what there is: or claims, adversaries, graphs, ...
    boundcheck replay CERTIFICATE.json            check a refutation by hand
    boundcheck study smoke                        a paper's experiment, in seconds
    boundcheck report                             a page of verdicts and studies
    """
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.CRITICAL, format="%(name)s: %(message)s"
    )
    logging.getLogger("numba").setLevel(logging.WARNING)
    logging.getLogger("boundcheck.algorithms.spec").setLevel(logging.WARNING)  # notes on old names
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@cli.command()
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
    " thirteenth of the rounds, seconds.",
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
    minutes. Each of these options replaces its part in a few small games: six games for a learner, each with up
    to 128 runs of 2000 rounds. These are 1.5 million rounds, which take a learner in plain Python minutes
    (--quick: 64 runs of 300 rounds).

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
    )
    prepared = api.prepare(request, seed, jobs=jobs)  # what cannot be played fails here
    to_stdout = json_file == STDOUT
    outputs.check(out, None if to_stdout else json_file, junit_file, outputs.inputs_of(request))
    console = make_console(quiet, to_stderr=to_stdout)
    if prepared.opening.measured:
        console.print(tables.hypothesis_table(prepared.opening.measured), "")
    if (warning := prepared.opening.warning) is not None:
        console.print(f"[bold yellow]warning[/] {warning}", "", sep="\n", soft_wrap=True)
    with progress(prepared.opening.n_jobs, quiet=quiet) as advance:
        found = api.play(prepared, advance=advance)
    document = found.save(out)
    outputs.remove_page(out)
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
        return _fail(
            f"{failures[0].outcome.evidence.rstrip('.')}; {len(failures)} of {len(found.rows)} cells could"
            f" not be judged, the others are in {out}/."
        )
    return status


cli.add_command(study)
cli.add_command(list_)


@cli.command()
@click.argument(
    "certificates",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="CERTIFICATE...",
)
@click.option(
    "--claims",
    "claims_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Python file with the claims, if they are yours.",
)
def replay(certificates: tuple[Path, ...], claims_file: Path | None) -> int:
    """Derive both sides of refutations again, and compare every number of their certificates.

    One certificate is shown in full, of several a line each.

    \b
    boundcheck replay boundcheck-report/certificates/NAME.json
    """
    from rich.markup import escape

    from .terminal import listing

    if claims_file is not None:
        from ..verify import catalog

        catalog.add_file(claims_file)
    console = make_console(False)
    if len(certificates) == 1:
        console.print(*listing.replayed(certificates[0]), sep="\n", soft_wrap=True)
    else:
        for certificate in certificates:
            console.print(
                listing.replayed(certificate)[-1], escape(certificate.name), soft_wrap=True
            )
    return AS_EXPECTED


@cli.command()
@click.option(
    "--results",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help=f"Folder that verify wrote; default {DEFAULT_FOLDER}, and none with --study.",
)
@click.option(
    "--study",
    "studies",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="DIR",
    help="Folder of a study; again for more. By default all those in results/, beside the verdicts.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE|DIR",
    help="Page to write, or folder for index.html; default the folder of the results, or of a study alone.",
)
@click.option(
    "--claims",
    "claims_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Python file with the claims, if they are yours: the page then shows their statements.",
)
def report(
    folder: Path | None, studies: tuple[Path, ...], out: Path | None, claims_file: Path | None
) -> int:
    """Make one self-contained page of verdicts and studies: statements, evidence, pictures, tables.

    With --study and without --results it is a page of these studies alone: index.html in the folder of the study,
    or boundcheck-report/studies.html of several. Its tables are written beside it as CSV, Markdown and LaTeX.

    \b
    boundcheck verify --quick && boundcheck report
    boundcheck study smoke && boundcheck report --study results/smoke
    """
    from . import api
    from .studies import section

    written = api.write_report(
        folder if studies else folder or DEFAULT_FOLDER,
        out,
        studies=studies or section.found_in(STUDIES_FOLDER),
        claims_file=claims_file,
        quiet=not sys.stderr.isatty(),
    )
    lines = "\n".join(f"wrote {path}" for path in written)
    make_console(False).print(lines, markup=False, soft_wrap=True)
    return AS_EXPECTED


def _fail(message: str) -> int:
    """Say in one line what is wrong, and return the exit status."""
    click.echo(f"boundcheck: error: {' '.join(printable(message).split())}", err=True)
    return WRONG_INPUT


def main() -> int:
    """Run the command line and return the exit status."""
    if COMPLETE in os.environ:  # click answers the shell and leaves
        cli.main(prog_name="boundcheck", complete_var=COMPLETE)
    try:
        status = cli.main(standalone_mode=False)
    except UserError as error:
        return _fail(str(error))
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        return _fail(error.format_message())
    except (KeyboardInterrupt, click.Abort):
        click.echo("boundcheck: interrupted; results of earlier runs are as they were.", err=True)
        return INTERRUPTED
    except BaseException as error:  # status 1 would say that a theorem surprised
        logger.exception("failed")
        return _fail(f"{type(error).__name__}: {error}; boundcheck --debug shows where.")
    return status if isinstance(status, int) else AS_EXPECTED
