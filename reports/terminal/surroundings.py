"""What a command finds around it when it starts: its streams, its folder, its arguments."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ...errors import UserError, printable, require
from ...interruption import heard


@contextmanager
def ready(arguments: Sequence[str]) -> Iterator[None]:
    """Run a command in this block, which Ctrl-C and SIGTERM end with ``KeyboardInterrupt``.

    Raises
    ------
    UserError
        for a working folder that was removed, and arguments that are no text
    """
    _open_streams()
    _check(arguments)
    with heard():
        yield


def _open_streams() -> None:
    """Let what is written to a closed standard stream go nowhere, and no file that is opened later take its place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115


def _check(arguments: Sequence[str]) -> None:
    """Neither results nor certificates can name what is no text."""
    try:
        Path.cwd()
    except OSError:
        raise UserError(
            "the working folder does not exist any more: expected a command in a folder that does."
        ) from None
    for argument in arguments:
        require(
            not any("\ud800" <= character <= "\udfff" for character in argument),
            f"argument '{printable(argument)}' is not UTF-8: expected a file with another name, or a link to it.",
        )
