"""How far a run is: a live bar on a terminal, a line now and then in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 5.0


class Advance(Protocol):
    """Tell the progress that ``cases`` more are done and how many surprises there are so far."""

    def __call__(self, cases: int, surprises: int) -> None: ...


@contextmanager
def progress(total: int, *, quiet: bool) -> Iterator[Advance]:
    """Show the progress of ``total`` cases on standard error."""
    if quiet:
        yield lambda cases, surprises: None
    elif sys.stderr.isatty():
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        ) as bar:
            task = bar.add_task("compiling, then playing", total=total)

            def advance(cases: int, surprises: int) -> None:
                text = f"playing, {surprises} surprises" if surprises else "playing"
                bar.update(task, advance=cases, description=text)

            yield advance
    else:
        yield _lines(total)


def _lines(total: int) -> Advance:
    started = last = time.monotonic()
    done = 0

    def advance(cases: int, surprises: int) -> None:
        nonlocal done, last
        done += cases
        now = time.monotonic()
        if done < total and now - last >= SECONDS_BETWEEN_LINES:
            last = now
            left = (now - started) / done * (total - done)
            rest = f", about {left:.0f} s left" if done >= total / 20 else ", compiling first"
            print(f"{done} of {total} cases{rest}", file=sys.stderr)  # noqa: T201

    return advance
