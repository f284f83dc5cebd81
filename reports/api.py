"""The program as a library: what the commands ``verify``, ``study`` and ``report`` do, as functions.

    >>> from boundcheck import verify_claims
    >>> found = verify_claims(claims=["gappletron/lemma-1"], quick=True)
    >>> print(found)                    # the table that the command prints
    >>> found.to_frame()                # a pandas DataFrame, a row for each cell
    >>> found.save("boundcheck-report") # the folder that the command writes

The command line calls these functions.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import chdir, closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UserError, require
from ..interruption import heed
from ..verify import catalog
from ..verify.games.game import Measured
from ..verify.outcome import Verdict
from ..verify.suite import request as requests
from ..verify.suite import results, run
from ..verify.suite.apart import apart, is_users, name_of
from ..verify.suite.request import Request
from ..verify.suite.run import Job, Row

if TYPE_CHECKING:
    import pandas as pd

    from .studies.section import StudyResults

Advance = Callable[[int, int], None]
"""Told after each job how many were done, and how many surprises there are so far."""


@dataclass(frozen=True)
class Opening:
    """What is known of a request before anything is played.

    Attributes
    ----------
    n_jobs : the number of jobs
    promises : globs of the claims that the user's learner promises
    measured : measurements of the user's data
    warning : a warning about them, or None
    """

    n_jobs: int
    promises: tuple[str, ...] = ()
    measured: Sequence[Measured] = ()
    warning: str | None = None


@dataclass(frozen=True)
class Prepared:
    """A checked request.

    Attributes
    ----------
    request, seed : the request, and the root of all randomness
    opening : what is known of it
    batches : plays it and yields the rows of each job, once
    """

    request: Request
    seed: int
    opening: Opening
    batches: Generator[list[Row], None, None] = field(repr=False)


def prepare(request: Request, seed: int = 0, *, jobs: int = 1) -> Prepared:
    """Check a request, which can then be played in up to ``jobs`` processes, or in one more where a class of the user's
    is played.

    Raises
    ------
    UserError
        for anything unknown or that does not fit together
    """
    if request.claims_file is not None:  # this process shows their statements
        catalog.add_file(request.claims_file)
    users = [given for given in (request.learner, request.adversary) if is_users(given)]

    def work() -> Generator[Any, None, None]:
        chosen = requests.jobs_for(request)
        yield _opening(request, chosen, seed)
        yield from run.run(chosen, seed, jobs)

    found = apart(work, " against ".join(map(name_of, users))) if users else work()
    return Prepared(request, seed, next(found), found)


def _opening(request: Request, jobs: Sequence[Job], seed: int) -> Opening:
    from ..verify.resolve import resolve

    if not request.replaces_an_axis:
        return Opening(len(jobs))
    game, first = request.game, resolve(jobs[0].setting, seed)
    game.check(request, first)
    if request.data is None:
        return Opening(len(jobs), request.promises)
    return Opening(len(jobs), request.promises, game.measured(first), game.warning(first))


@dataclass(frozen=True)
class Verification:
    """The verdicts on some claims.

    Attributes
    ----------
    prepared : the request, checked
    rows : a row for each cell, with its outcome
    seconds : how long it took
    """

    prepared: Prepared = field(repr=False)
    rows: list[Row] = field(repr=False)
    seconds: float

    def __str__(self) -> str:
        """The table that the command prints."""
        from rich.console import Console

        from .terminal import columns

        console = Console(
            file=io.StringIO(), width=120, color_system=None, highlight=False, emoji=False
        )
        columns.show(console, self.entries()[0])
        file = console.file
        assert isinstance(file, io.StringIO)
        return file.getvalue().rstrip()

    def entries(self, every_cell: bool = False) -> tuple[list[Any], str | None]:
        """The entries of the table, of each cell or of each form with its worst cell, and a line about those left
        out."""
        from .terminal import tables

        if every_cell:
            return tables.case_entries(self.rows), None
        groups, rest = tables.grouped(self.rows), None
        if self.prepared.request.replaces_an_axis and not self.prepared.request.claims:
            groups, rest = tables.without_idle(groups, self.prepared.opening.promises)
        return tables.verdict_entries(groups), rest

    def to_frame(self) -> pd.DataFrame:
        """A row for each cell, with the columns of the JSON results."""
        import pandas as pd

        return pd.DataFrame(
            self.document["results"], columns=[*results.ROW_KEYS, "surprising", "tested_from"]
        )

    @cached_property
    def document(self) -> dict[str, Any]:
        """The content of verdicts.json."""
        of = self.prepared
        return results.document_of(
            self.rows, of.seed, self.seconds, of.opening.measured, of.request.claims_file
        )

    def save(self, folder: Path | str) -> dict[str, Any]:
        """Write verdicts, curves and certificates, as the command does, and return the content of verdicts.json.

        Raises
        ------
        UserError
            if the folder cannot be written
        """
        results.save(self.rows, self.document, Path(folder))
        return self.document

    @property
    def surprises(self) -> list[Row]:
        """Rows whose verdict is not the expected one."""
        return [row for row in self.rows if row.surprising]

    @property
    def untested(self) -> dict[str, str]:
        """Promised claims that no case put to the test, and why not."""
        return run.untested(self.rows, self.prepared.opening.promises)

    @property
    def errors(self) -> list[Row]:
        """Rows without a verdict because a run failed."""
        return [row for row in self.rows if row.verdict == Verdict.ERROR]


class Stopped(KeyboardInterrupt):
    """An interruption of :func:`play`.

    Attributes
    ----------
    found : the verdicts on the cases that are finished
    finished : how many these are
    """

    def __init__(self, found: Verification, finished: int) -> None:
        super().__init__()
        self.found, self.finished = found, finished


def play(prepared: Prepared, *, advance: Advance | None = None) -> Verification:
    """Play a prepared request, which can be done once.

    Raises
    ------
    Stopped
        where it was interrupted
    UserError
        where the learner failed in every run, or ended its process
    """
    rows: list[Row] = []
    finished = surprises = 0
    started = time.monotonic()
    try:
        with (
            closing(prepared.batches) as batches,
            chdir("."),
        ):  # claims of the user's may go elsewhere
            for found in batches:
                rows += found
                finished += 1
                surprises += sum(row.surprising for row in found)
                if advance is not None:
                    advance(1, surprises)
                heed()
    except KeyboardInterrupt:
        raise Stopped(Verification(prepared, rows, time.monotonic() - started), finished) from None
    failures = run.failures_of_learner(rows)
    if failures and not run.judged(rows):  # earlier results are worth more than these
        raise UserError(failures[0].outcome.evidence)
    return Verification(prepared, rows, time.monotonic() - started)


def verify_claims(
    claims: Sequence[str] = (),
    *,
    learner: Any = None,
    adversary: str | None = None,
    graph: str | None = None,
    data: Path | str | None = None,
    label: str | None = None,
    radius: float | None = None,
    rounds: int | None = None,
    runs: int | None = None,
    quick: bool = False,
    full: bool = False,
    seed: int = 0,
    jobs: int = 1,
    claims_file: Path | str | None = None,
    header: bool | None = None,
    exact_labels: bool = False,
    rows: int | None = None,
) -> Verification:
    """Judge claims, as ``boundcheck verify`` does.

    Parameters
    ----------
    claims : globs of claim ids; all claims by default
    learner : a spec, ``"FILE.py:Class"``, a plain Python class, or a learner of the library's own form
    adversary, graph : specs
    data, label : a file with recorded data, and its label column
    radius : bound B on the comparator's norm
    rounds : the horizon T of the games, but for those whose adversary sets it
    runs : runs of claims that are judged by sampling
    quick, full : the scale; the default one is between
    seed : root of all randomness
    jobs : processes to use where the work is long enough
    claims_file : Python file with claims of the user's
    header : whether the data begin with names of columns; found out when None
    exact_labels : whether labels of the data are classes as they are written, however alike
    rows : the most rows of the data that are read

    Raises
    ------
    UserError
        for anything unknown or that does not fit together
    """
    from ..verify.suite.pytest_checks import as_learner

    require(not (quick and full), "both quick and full are given: expected at most one of them.")
    globs = (claims,) if isinstance(claims, str) else tuple(claims)
    request = Request(
        globs,
        learner if learner is None or isinstance(learner, str) else as_learner(learner),
        adversary,
        graph,
        None if data is None else Path(data),
        label,
        radius,
        "quick" if quick else "full" if full else "default",
        None if claims_file is None else Path(claims_file),
        runs,
        rounds,
        header,
        exact_labels,
        rows,
    )
    return play(prepare(request, seed, jobs=jobs))


def run_study(
    study: str,
    *,
    folder: Path | str = "results",
    jobs: int = 1,
    resume: bool = False,
    rounds: int | None = None,
) -> StudyResults:
    """Play a study, as ``boundcheck study`` does, and return what it found.

    Parameters
    ----------
    study : the name of a built-in study, or a TOML file
    folder : where the folder of the study is, or will be
    jobs : processes
    resume : keep what another study of this name shares with it
    rounds : the horizon, in place of the study's

    Raises
    ------
    UserError
        for what is wrong in the study, or a folder that cannot be written
    """
    from .studies import conduct, section

    place = Path(folder)
    conduct.conduct_quietly(study, place, jobs=jobs, resume=resume, rounds=rounds)
    return section.load(place / Path(study).stem)


def write_report(
    results: Path | str | None = None,
    out: Path | str | None = None,
    *,
    studies: Sequence[Path | str] = (),
    claims_file: Path | str | None = None,
    quiet: bool = True,
) -> list[Path]:
    """Write the page of verdicts and studies, as ``boundcheck report`` does.

    Parameters
    ----------
    results : the folder that :meth:`Verification.save` wrote; the default one, or none beside ``studies``, where None
    out : page to write, or folder for ``index.html``; where None that of the results, or of a study alone, and
        ``studies.html`` in the default folder of several
    studies : folders of studies
    claims_file : Python file with claims of the user's, whose statements the page shows
    quiet : whether to show no progress

    Returns
    -------
    the files that were written, the page first

    Raises
    ------
    UserError
        if there are no results, the page cannot be written, or it would take the place of other results
    """
    from ..verify import catalog
    from .page.build import write_report as write
    from .studies import section
    from .terminal.console import DEFAULT_FOLDER

    if claims_file is not None:
        catalog.add_file(Path(claims_file))
    folders = [Path(place) for place in studies]
    page = None if out is None else Path(out)
    if results is None and page is None and folders:  # the page of the verdicts stays as it is
        page = folders[0] / "index.html" if len(folders) == 1 else DEFAULT_FOLDER / "studies.html"
    _check_pages(folders, page)
    return write(
        DEFAULT_FOLDER if results is None else Path(results),
        page,
        [section.load(place) for place in folders],
        verdicts=results is not None or not folders,
        quiet=quiet,
    )


def _check_pages(studies: Sequence[Path], out: Path | None) -> None:
    """Refuse what would write over other results."""
    names = [place.resolve().name for place in studies]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UserError(
            f"two studies are called '{twice}': expected different names, because their tables are named after them."
        )
    if out is not None and out.is_file() and out.suffix.lower() not in (".html", ".htm"):
        raise UserError(
            f"output '{out}' is a file but not a page: expected a name that ends in .html, or a folder."
        )
