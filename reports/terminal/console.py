"""Shared by all commands: the console, the folder of results and the exit statuses."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import printable

if TYPE_CHECKING:
    from rich.console import Console

DEFAULT_FOLDER = Path("boundcheck-report")
"""The folder that ``verify`` writes and ``report`` reads."""

AS_EXPECTED, SURPRISE, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130


def make_console(quiet: bool, *, to_stderr: bool = False) -> Console:
    """A console as wide as the terminal or as COLUMNS says; in a pipe 120 columns."""
    from rich.console import Console

    class Patient(Console):
        """A reader that goes away, such as head, changes neither verdicts nor the exit status."""

        def print(self, *objects: Any, **how: Any) -> None:
            """Names of files may have characters that a terminal obeys."""
            super().print(*(printable(o) if isinstance(o, str) else o for o in objects), **how)

        def on_broken_pipe(self) -> None:
            self.quiet = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    width = shutil.get_terminal_size((120, 24)).columns
    return Patient(quiet=quiet, width=width, highlight=False, emoji=False, stderr=to_stderr)


def fail(message: str) -> int:
    """Say in one line what is wrong, and return the exit status."""
    click.echo(f"boundcheck: error: {' '.join(printable(message).split())}", err=True)
    return WRONG_INPUT
