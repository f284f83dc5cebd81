"""Files that commands write: never over an input, and never over a file that is not ours.

A file is ours if it is empty or has the mark that its kind bears: results the keys ``schema`` and ``suite``, JUnit
files the name of the suite, pages their title. What is no regular file, such as /dev/stdout, is written to, and
so is a file in a linked folder; a link to a regular file is refused, since the file elsewhere would be replaced.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from errno import EISDIR
from os import strerror
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from ..algorithms.spec import user_file
from ..errors import UserError, require
from ..interruption import Interrupted
from ..verify.suite import results
from ..verify.suite.request import Request
from ..verify.suite.run import Row

PAGE_MARK = "<title>boundcheck: "
JUNIT_MARK = '<testsuite name="boundcheck"'
HEAD = 8192
"""Characters in which a mark has to be found."""

INTERRUPTED = "interrupted"
"""The folder in a folder of results for those of a run that was interrupted."""

TABLES = "tables"
"""The folder beside a page for its tables."""

TABLE_NAMES = ("verdicts", "cases", "frontiers", "frontier-edges")
"""The tables of verdicts, each written in the formats ``TABLE_ENDINGS``."""

TABLE_ENDINGS = ("csv", "md", "tex")


def is_results(path: Path) -> bool:
    """True for a file of verdicts."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and {"schema", "suite"} <= content.keys()


def is_junit(path: Path) -> bool:
    """True for a JUnit file that this program wrote."""
    return JUNIT_MARK in _head(path)


def is_page(path: Path) -> bool:
    """True for a page that this program wrote."""
    return PAGE_MARK in _head(path)


def _head(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(HEAD)
    except OSError:
        return ""


def inputs_of(request: Request) -> list[Path]:
    """The files that a request names."""
    specs = (request.learner, request.adversary, request.graph)
    files = [user_file(spec) or spec for spec in specs if isinstance(spec, str)]
    given = [request.data, request.claims_file, *map(Path, files)]
    return [path for path in given if path is not None]


def check(
    folder: Path, json_file: Path | None, junit_file: Path | None, inputs: Sequence[Path]
) -> None:
    """Find out before a long run whether the folder of results and two more files can be written, and should be.

    Raises
    ------
    UserError
        naming the one that cannot, or should not
    """
    kinds = [
        (json_file, is_results, "a file of verdicts"),
        (junit_file, is_junit, "a JUnit file of boundcheck"),
        (folder / results.VERDICTS, is_results, "a file of verdicts"),
        (folder / INTERRUPTED / results.VERDICTS, is_results, "a file of verdicts"),
    ]
    places = [path.resolve() for path, _, _ in kinds if path is not None]
    places.append((folder / results.CURVES).resolve())
    for path in (json_file, junit_file):
        require(
            path is None or places.count(path.resolve()) == 1,
            f"output '{path}' is named twice: expected a different file for each.",
        )
    results.check_writable(folder)
    for path, ours, what in kinds:
        if path is not None:
            check_file(path, ours, what, inputs)


def check_page(path: Path, inputs: Sequence[Path] = ()) -> None:
    """The same for a page."""
    check_file(path, is_page, "a page of boundcheck", inputs)


def check_file(
    path: Path, ours: Callable[[Path], bool], what: str, inputs: Sequence[Path] = ()
) -> None:
    """Find out before a long run whether a file can be written, and should be.

    Parameters
    ----------
    path : the file
    ours : whether a regular file is one of those that are written here
    what : those in words, for errors
    inputs : files that the same command reads

    Raises
    ------
    UserError
        if it cannot be written, is an input, a link to a file, or not ours
    """
    try:
        if path.is_dir():
            raise IsADirectoryError(EISDIR, strerror(EISDIR))
        if any(_same(path, given) for given in inputs):
            raise UserError(
                f"output '{path}' is an input of this command: expected another file to write."
            )
        if path.is_file():
            if path.is_symlink():
                raise UserError(
                    f"output '{path}' is a link to the file '{path.resolve()}': expected that file, or a name that is"
                    " no link."
                )
            if path.stat().st_size and not ours(path):
                raise UserError(
                    f"output '{path}' is there and was not written by boundcheck: expected {what}, an empty file, or a"
                    " new name."
                )
        if path.is_file() or (not path.exists() and path.parent.exists()):
            with TemporaryFile(dir=path.parent):
                pass
    except OSError as error:
        raise results.unwritable_file(path, error) from None


def _same(path: Path, other: Path) -> bool:
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()


def keep(
    rows: Sequence[Row], document: dict[str, Any], finished: int, cases: int, folder: Path
) -> Interrupted:
    """Write what an interrupted run found into a folder of its own in ``folder``; return what to say of it.

    Parameters
    ----------
    rows, document : the verdicts
    finished : of how many cases they are
    cases : how many there were to be
    folder : for the results of a whole run

    Raises
    ------
    UserError
        if that fails
    """
    if not rows:
        return Interrupted("no case was judged yet, and results of earlier runs are as they were.")
    place = folder / INTERRUPTED
    document["suite"]["interrupted"] = {"finished": finished, "cases": cases}
    results.save(rows, document, place)
    remove_page(place)
    return Interrupted(
        f"{finished} of {cases} cases are judged, and their verdicts are in {place}/; a page of them:"
        f" boundcheck report --results {place}. The same command plays all cases again. Results of earlier runs are as"
        " they were."
    )


def remove_interrupted(folder: Path) -> None:
    """Remove what :func:`keep` wrote, once there are the verdicts of a whole run."""
    place = folder / INTERRUPTED
    if is_results(place / results.VERDICTS):
        remove_page(place)
        results.remove(place)


def remove_page(folder: Path) -> list[Path]:
    """Remove the page of a result folder and its tables, which show the verdicts of an earlier run; return what was
    there. Files that are not ours stay."""
    page = folder / "index.html"
    if page.is_symlink() or not is_page(page):
        return []
    tables = [folder / TABLES / f"{name}.{end}" for name in TABLE_NAMES for end in TABLE_ENDINGS]
    found = [path for path in (page, *tables) if path.is_file() and not path.is_symlink()]
    for path in found:
        path.unlink()
    return found
