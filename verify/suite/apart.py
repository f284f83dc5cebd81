"""User classes are played in a child process, whose end without a result is an error.

A learner may call ``os._exit(0)``, close standard output or change the folder; played in this process, it would end a
run that found nothing with status 0. The child is a copy of this process, so that a class of a function or a notebook
needs no pickle, and gives back what it finds as it finds it. Only Linux copies processes safely once there are threads
and numeric libraries: elsewhere the class is played in this process.
"""

from __future__ import annotations

import inspect
import os
import pickle
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, TypeVar

from ...algorithms.spec import user_file
from ...errors import UserError, said
from ...interruption import shielded
from ...workers import die_with
from .. import catalog
from ..user_files import load as user_files

Found = TypeVar("Found")

SECONDS_BETWEEN_LOOKS, SECONDS_TO_END = 0.05, 2.0
_PACKAGE = __name__.partition(".")[0]


def is_users(given: Any) -> bool:
    """True if a learner or an adversary is a class of the user's: of a file, or not of this package."""
    if isinstance(given, str):
        return user_file(given) is not None
    made = getattr(given, "factory", given)  # of a class that was made to fit a game
    kind = made if inspect.isclass(made) else type(made)
    return given is not None and kind.__module__.partition(".")[0] != _PACKAGE


def name_of(given: Any) -> str:
    """The name of a learner or an adversary, for errors."""
    return given if isinstance(given, str) else str(getattr(given, "spec", given))


def apart(work: Callable[[], Iterator[Found]], who: str) -> Generator[Found, None, None]:
    """What ``work`` yields, in a child process; ``who`` it plays, for the error.

    The child ends with the iterator.

    Raises
    ------
    UserError
        if the child ends before ``work`` does
    """
    if sys.platform != "linux":
        yield from work()
        return
    for load in (catalog.claims, catalog.games, catalog.learners, catalog.adversaries):
        load()  # once, and not in every child
    receiver, sender = Pipe(duplex=False)
    for stream in (sys.stdout, sys.stderr):  # what is not yet written would be written twice
        with suppress(Exception):
            stream.flush()
    parent = os.getpid()
    with warnings.catch_warnings(), shielded():
        # of threads that hold locks: those of numeric libraries hold none between calls
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
        if child == 0:
            receiver.close()
            _serve(work, sender, parent)
    sender.close()
    process = _Child(child)
    try:
        yield from _received(receiver, process, who)
    finally:
        receiver.close()
        process.kill()


@dataclass
class _Child:
    """A child process, and its status once it ended: its number may be another process's then."""

    pid: int
    status: int | None = None

    def ended(self, *, wait: bool = False) -> bool:
        if self.status is None:
            pid, status = os.waitpid(self.pid, 0 if wait else os.WNOHANG)
            self.status = status if pid else None
        return self.status is not None

    def kill(self) -> None:
        if not self.ended():
            os.kill(self.pid, signal.SIGKILL)
            self.ended(wait=True)


def _received(receiver: Connection, child: _Child, who: str) -> Iterator[Any]:
    while True:
        # a process that the class started may hold the pipe open
        while not receiver.poll(SECONDS_BETWEEN_LOOKS):
            if child.ended() and not receiver.poll(0):
                raise _lost(who, child)
        try:
            kind, value = receiver.recv()
        except (EOFError, OSError, ValueError, TypeError, pickle.UnpicklingError):
            raise _lost(who, child) from None
        if kind == "end":
            return
        if kind == "raised":
            raise value
        yield value


def _lost(who: str, child: _Child) -> UserError:
    """The error for a child that gives nothing back any more."""
    last = time.monotonic() + SECONDS_TO_END
    while not child.ended() and time.monotonic() < last:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    end = "what it gave back cannot be read"
    if child.status is not None:
        code = os.waitstatus_to_exitcode(child.status)
        end = f"exit status {code}" if code >= 0 else f"signal {-code}"
    return UserError(
        f"the process that played {who} ended without a result ({end}): expected a class that neither ends its process"
        " nor closes files that it did not open."
    )


def _serve(work: Callable[[], Iterator[Any]], sender: Connection, parent: int) -> None:
    """Do the work in the child, and never return."""
    own = os.getpid()

    def send(kind: str, value: Any) -> None:
        if os.getpid() != own:  # a copy that the class made of its process
            os._exit(1)
        sender.send((kind, value))

    status = 1
    try:
        folder = Path.cwd()
        user_files.relative_to(folder)
        die_with(parent)
        try:
            for value in work():
                os.chdir(folder)  # a class may have gone elsewhere
                send("found", value)
            send("end", None)
        except BaseException as error:
            send("raised", _portable(error))
        status = 0
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(BaseException):
                stream.flush()
        os._exit(status)


def _portable(error: BaseException) -> BaseException:
    """An exception that another process can raise: ours as it is, others as type, message and traceback."""
    if type(error).__module__.partition(".")[0] == _PACKAGE:
        return error
    told = RuntimeError(said(error))
    told.add_note("".join(traceback.format_exception(error)))
    return told
