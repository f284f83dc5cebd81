"""The work of ``boundcheck study``: it plays unfinished cases, and reports finished, damaged and failed ones."""

from __future__ import annotations

import io
import shlex
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from ...errors import UserError
from ...interruption import Interrupted, heed
from ...verify.studies import run as sweep
from ...verify.studies import study as studies
from ...verify.studies.store import Store, opened
from ...verify.studies.study import StudyCase
from ..terminal.progress import progress, rate

SHOWN_NOTES = 10

Play = Callable[[Sequence[StudyCase]], sweep.Outcomes]


def player(backend: str, scheduler: str | None, jobs: int) -> Play:
    """The function that plays cases with a backend.

    Raises
    ------
    UserError
        for a scheduler without dask, or dask without a scheduler
    """
    if backend == "dask":
        if scheduler is None:
            raise UserError(
                "--backend dask has no scheduler: expected --scheduler ADDRESS, such as"
                " tcp://127.0.0.1:8786."
            )
        return lambda cases: sweep.run_on_dask(cases, scheduler)
    if scheduler is not None:
        raise UserError(
            f"--scheduler {scheduler} is given for backend {backend}: expected --backend dask with it."
        )
    return lambda cases: sweep.run_here(cases, jobs)


def conduct(
    name: str,
    results: Path,
    play: Play,
    *,
    resume: bool,
    quiet: bool,
    console: Console,
    rounds: int | None = None,
    skip_incompatible: bool = False,
) -> bool:
    """Play what a study lacks and return whether all its cases are finished.

    Parameters
    ----------
    name : a built-in study, or a file
    results : folder that holds the folder of the study
    play : see :func:`player`
    resume : keep what another study of this name has in common with this one
    quiet : show no progress
    rounds : the horizon, in place of the study's
    skip_incompatible : leave out a learner where it cannot play, with a note

    Raises
    ------
    UserError
        for what is wrong with the study, the folder or the cluster
    """
    study = studies.load(name, rounds)
    skipped: list[str] = []
    cases = study.cases(skipped if skip_incompatible else None)
    for sentence in skipped[:SHOWN_NOTES]:
        console.print(f"[yellow]note[/] left out: {escape(sentence)}", soft_wrap=True)
    if len(skipped) > SHOWN_NOTES:
        console.print(f"[yellow]note[/] ... and {len(skipped) - SHOWN_NOTES} more are left out.")
    folder = results / study.name
    with opened(folder) as store:
        store.adopt(study, cases, resume=resume)
        done, notes = store.take_stock(cases)
        missing = [case for case in cases if case.key not in done]
        for note in notes[:SHOWN_NOTES]:
            console.print(f"[yellow]note[/] {escape(str(folder))}/{escape(note)}", soft_wrap=True)
        if len(notes) > SHOWN_NOTES:
            console.print(
                f"[yellow]note[/] ... and {len(notes) - SHOWN_NOTES} more files like these."
            )
        if done:
            console.print(f"{len(done)} of {len(cases)} cases are finished already.")
        failed, speed = _play(store, missing, play, len(cases), quiet) if missing else ([], "")
    for case, error in failed[:SHOWN_NOTES]:
        console.print(f"[bold red]failed[/] {escape(str(case))}: {escape(error)}", soft_wrap=True)
    finished = len(cases) - len(failed)
    console.print(
        f"study {study.name}: {finished} of {len(cases)} cases finished{speed}"
        + (f", {len(failed)} failed, with tracebacks in {folder}/*.failed.json" if failed else "")
        + f"; a page of them: boundcheck report --study {shlex.quote(str(folder))}",
        markup=False,
        soft_wrap=True,
    )
    return not failed


def conduct_quietly(
    name: str, results: Path, *, jobs: int, resume: bool, rounds: int | None = None
) -> None:
    """Play what a study lacks without a word.

    Raises
    ------
    UserError
        for what is wrong with the study or the folder, and for cases that failed
    """
    said = io.StringIO()
    console = Console(file=said, width=120)
    play = player("loky", None, jobs)
    if not conduct(name, results, play, resume=resume, quiet=True, console=console, rounds=rounds):
        raise UserError(said.getvalue().strip())


def _play(
    store: Store, missing: list[StudyCase], play: Play, total: int, quiet: bool
) -> tuple[list[tuple[StudyCase, str]], str]:
    """The cases that failed, and how fast it went."""
    started = time.monotonic()
    failed: list[tuple[StudyCase, str]] = []
    outcomes = play(missing)
    finished = total - len(missing)
    try:
        with progress(total, quiet=quiet, done=finished, wrong="failed") as advance:
            for outcome in outcomes:
                if outcome.error:
                    store.fail(outcome.case, outcome.error, outcome.traceback)
                    failed.append((outcome.case, outcome.error))
                else:
                    store.finish(outcome.case, outcome.columns)
                    finished += 1
                store.log(
                    event="failed" if outcome.error else "finished",
                    case=outcome.case.key,
                    at=datetime.now(UTC).isoformat(timespec="milliseconds"),
                    host=outcome.host,
                    seconds=round(outcome.seconds, 4),
                )
                advance(1, len(failed))
                heed()
    except KeyboardInterrupt:
        raise Interrupted(
            f"{finished} of {total} cases are finished and kept in {store.folder}/; the same command continues with"
            " the others."
        ) from None
    finally:  # the workers go before the lock does
        outcomes.close()
    seconds = time.monotonic() - started
    return failed, f", {len(missing)} now in {seconds:.1f} s ({rate(len(missing) / seconds)})"
