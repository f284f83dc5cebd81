"""The command ``boundcheck list``; what it lists is imported inside, as in ``cli.py``."""

from __future__ import annotations

import click

from .console import AS_EXPECTED, make_console


@click.command(name="list")
@click.argument("what", required=False, default="claims")
@click.argument("names", required=False, nargs=-1, metavar="[NAME|RESULTS]...")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON, for programs.")
def list_(what: str, names: tuple[str, ...], as_json: bool) -> int:
    """List claims (the default), learners, adversaries, graphs or studies, all of them or those that globs name; or the
    headrooms of RESULTS.

    \b
    boundcheck list claims                    what is judged: statement, source, proof
    boundcheck list claims 'boosting/*edge*'  some of them
    boundcheck list learners                  what --learner takes, with every parameter
    boundcheck list adversaries               what --adversary takes
    boundcheck list graphs                    what --graph takes
    boundcheck list studies --json            what boundcheck study takes, for programs
    boundcheck list headrooms                 smallest headroom of each claim and form in boundcheck-report or RESULTS
    """
    from . import listing

    console = make_console(False)
    if as_json:
        click.echo(listing.as_json(what, names))
    else:
        listing.show(console, what, names)
    return AS_EXPECTED
