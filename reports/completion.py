"""Words for the completion of a shell: claims, learners, adversaries, graphs and studies by name.

``eval "$(_BOUNDCHECK_COMPLETE=bash_source boundcheck)"`` turns it on in bash; zsh and fish have sources of their own.
"""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def _beginning(names: Iterable[str], start: str) -> list[CompletionItem]:
    files = [CompletionItem(start, type="file")]  # a class of the user's is in a file
    found = [CompletionItem(name) for name in sorted(names) if name.startswith(start)]
    return found or files


def claims(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """Ids of claims, and a glob for each group of them."""
    from ..verify import catalog

    return _beginning(catalog.names_and_groups(), start)


def learners(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """Learners of all games."""
    from ..verify import catalog

    return _beginning(
        (name for game in catalog.games().values() for name in game.learners()), start
    )


def adversaries(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """Adversaries of all games."""
    from ..verify import catalog

    return _beginning(
        (name for game in catalog.games().values() for name in game.adversaries()), start
    )


def graphs(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """Feedback graphs."""
    from ..algorithms import graphs as known

    return _beginning(known.names(), start)


def studies(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """Built-in studies."""
    from ..verify.studies import study

    return _beginning(study.names(), start)
