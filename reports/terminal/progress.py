"""Progress of a run: a live bar on a terminal, a line now and then in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

SECONDS_BETWEEN_LINES = 5.0


class Advance(Protocol):
    """Tell the progress that ``cases`` more are done and how many went wrong so far."""

    def __call__(self, cases: int, wrong: int, /) -> None: ...


class _Rate(ProgressColumn):
    """Cases a second, or a minute where that is less than one."""

    def render(self, task: Task) -> Text:
        return Text(rate(task.speed or 0.0), style="progress.data.speed")


def rate(per_second: float) -> str:
    """A speed in words."""
    return f"{per_second:.1f}/s" if per_second >= 1 else f"{60 * per_second:.1f}/min"


@contextmanager
def progress(
    total: int,
    *,
    quiet: bool,
    done: int = 0,
    wrong: str = "surprises",
    first: str = "compiling, then playing",
    then: str = "playing",
) -> Iterator[Advance]:
    """Show the progress of ``total`` cases, ``done`` of them beforehand, on standard error.

    ``wrong`` is what the cases that went wrong are called, ``first`` and ``then`` what is being done on a terminal.
    """
    if quiet:
        yield lambda cases, bad: None
    elif sys.stderr.isatty():
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        ) as bar:
            task = bar.add_task(first, total=total, completed=done)

            def advance(cases: int, bad: int) -> None:
                text = f"{then}, {bad} {wrong}" if bad else then
                bar.update(task, advance=cases, description=text)

            yield advance
    else:
        yield _lines(total, done, wrong)


def _lines(total: int, before: int, wrong: str) -> Advance:
    started = last = time.monotonic()
    done = before

    def advance(cases: int, bad: int) -> None:
        nonlocal done, last
        done += cases
        now = time.monotonic()
        if done < total and now - last >= SECONDS_BETWEEN_LINES:
            last = now
            speed = (done - before) / (now - started)
            left = (total - done) / speed
            told = done - before >= max(4, (total - before) / 20)
            rest = f", {rate(speed)}, about {left:.0f} s left" if told else ", compiling first"
            rest += f", {bad} {wrong}" if bad else ""
            print(f"{done} of {total} cases{rest}", file=sys.stderr)  # noqa: T201

    return advance
