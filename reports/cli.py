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
from ..interruption import NOTHING_DONE, Interrupted
from .studies.command import STUDIES_FOLDER, study
from .terminal.console import AS_EXPECTED, DEFAULT_FOLDER, INTERRUPTED, fail, make_console
from .terminal.list_command import list_
from .terminal.surroundings import ready
from .verify_command import verify

logger = logging.getLogger(__name__)

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


cli.add_command(verify)
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
@click.option(
    "--trust",
    is_flag=True,
    help="Run the files of learners and adversaries that a certificate names.",
)
def replay(certificates: tuple[Path, ...], claims_file: Path | None, trust: bool) -> int:
    """Derive both sides of refutations again, and compare every number of their certificates.

    One certificate is shown in full, of several a line each. A game with a learner or an adversary of a file can be
    played again with --trust only, if the file is the one that was refuted: it may do anything.

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
        console.print(*listing.replayed(certificates[0], trust), sep="\n", soft_wrap=True)
    else:
        for certificate in certificates:
            console.print(
                listing.replayed(certificate, trust)[-1], escape(certificate.name), soft_wrap=True
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


def main() -> int:
    """Run the command line and return the exit status."""
    if COMPLETE in os.environ:  # click answers the shell and leaves
        cli.main(prog_name="boundcheck", complete_var=COMPLETE)
    try:
        with ready(sys.argv[1:]):
            status = cli.main(standalone_mode=False)
    except UserError as error:
        return fail(str(error))
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        return fail(error.format_message())
    except (KeyboardInterrupt, click.Abort) as stop:
        kept = stop.__cause__ if isinstance(stop.__cause__, Interrupted) else NOTHING_DONE
        click.echo(f"boundcheck: interrupted; {printable(str(kept))}", err=True)
        return INTERRUPTED
    except BaseException as error:  # status 1 would say that a theorem surprised
        logger.exception("failed")
        return fail(f"{type(error).__name__}: {error}; boundcheck --debug shows where.")
    return status if isinstance(status, int) else AS_EXPECTED
