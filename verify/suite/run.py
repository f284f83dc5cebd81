"""A run of the suite: which cases are played, and what the judges said, as rows.

Cases are independent of one another and of the number of processes. A row is surprising when its
verdict is not the expected one.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from ...errors import LONGEST, UserError, one_line, printable
from ...pool import each
from .. import catalog
from ..claim import OTHER_LEARNERS, Cell, Claim, Form, Proof, is_named
from ..games.game import Case
from ..outcome import Outcome, Verdict
from ..resolve import resolve
from ..setting import Setting
from .judging import LEARNER_FAILED, judge_cells, trouble_in

logger = logging.getLogger(__name__)

PATIENCE, WORTH_SHARING = 2.0, 2.5
"""Seconds for which a run begins in one process, and how many times that must be left before others are started:
they take a second or two before they play."""


@dataclass(frozen=True)
class Job:
    """One setting and the claims that look at it.

    Attributes
    ----------
    setting : what is played
    claims : ids of the claims
    users : whether the user replaced an axis; then a false form has no expected verdict
    sampled_runs : runs for claims that are judged by sampling; as for the others when None
    claims_file : file of the user's with some of the claims
    """

    setting: Setting
    claims: tuple[str, ...]
    users: bool = False
    sampled_runs: int | None = None
    claims_file: Path | None = None


@dataclass(frozen=True)
class Row:
    """One cell: a claim's form on a case, and its verdict; the fields of the JSON results."""

    claim: str
    form: str
    learner: str
    loss: str | None
    adversary: str
    graph: str
    case: str
    kind: str
    verdict: Verdict
    expected: Verdict | None
    outcome: Outcome = field(repr=False)
    users: bool = False

    @property
    def surprising(self) -> bool:
        """True if the run fails because of this row."""
        return is_surprise(self.expected, self.verdict, self.users)

    def to_json(self, certificate: str | None = None) -> dict[str, Any]:
        """The row under the keys of the result file; ``certificate`` is the path of its file. Infinite
        numbers, such as the importance weight of a label that is never observed, become null."""
        o = self.outcome
        return {
            "claim": self.claim,
            "form": self.form,
            "learner": self.learner,
            "loss": self.loss,
            "adversary": self.adversary,
            "graph": self.graph,
            "case": self.case,
            "kind": self.kind,
            "verdict": self.verdict.value,
            "expected": None if self.expected is None else self.expected.value,
            "observed": _finite(o.observed),
            "envelope": _finite(o.envelope),
            "ratio": _finite(o.ratio),
            "regret_ratio": _finite(o.regret_ratio),
            "headroom": _finite(o.headroom),
            "evidence": o.evidence,
            "runs": o.runs,
            "rounds": o.rounds,
            "flags": list(o.flags),
            "certificate": certificate,
            "surprising": self.surprising,
            "tested_from": o.tested_from,
        } | ({} if o.frontiers is None else {"frontier": o.frontiers.to_json()})


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def is_surprise(expected: str | None, verdict: str, users: bool = False) -> bool:
    """True for a verdict that fails the run.

    In the built-in suite every verdict but the expected one does, where one is expected. On an axis of the user's only
    a refutation or an error does, where the claim is expected to hold: nothing may have been put to the test there.
    """
    if expected is None or verdict == expected:
        return False
    if not users:
        return True
    return expected == Verdict.REFUTED or verdict in (Verdict.REFUTED, Verdict.ERROR)


def expected_verdict(claim: Claim, form: Form, case: Case, users: bool) -> Verdict | None:
    """The expected verdict; on a case of the user's, ``holds`` for a true form that the learner promises."""
    if not users:
        return form.expects(case)
    promised = is_named(claim.id, getattr(case.learner, "promises", ()))
    return Verdict.HOLDS if promised and form.proof == Proof.PROVED else None


def judge_job(job: Job, seed: int) -> list[Row]:
    """Play one job and return its rows.

    Raises
    ------
    UserError
        for a mistake in what the user gave; a failure in the middle of a run, the learner's or a claim's, becomes
        a row with verdict ``error``
    """
    if job.claims_file is not None and not all(name in catalog.claims() for name in job.claims):
        catalog.add_file(job.claims_file)  # in a process of its own
    case = resolve(job.setting, seed)
    wanted: list[Cell] = []
    rows: list[Row] = []
    for claim in (catalog.claims()[name] for name in job.claims):
        for form in claim.forms:
            cell = Cell(claim, form, case)
            try:
                reason = _unmet(cell)
            except UserError:
                raise
            except Exception as error:
                logger.exception("the hypotheses of %s failed", claim.id)
                rows.append(
                    _row(cell, Outcome(Verdict.ERROR, evidence=trouble_in(claim, error)), job)
                )
                continue
            if reason is None:
                wanted.append(cell)
            elif job.users:
                rows.append(_row(cell, Outcome(Verdict.NOT_APPLICABLE, evidence=reason), job))
    judged = judge_cells(case, wanted, job.setting.runs, job.sampled_runs)
    return rows + [_row(cell, outcome, job) for cell, outcome in judged]


def _unmet(cell: Cell) -> str | None:
    """Why a form does not apply to a case, or None."""
    about = catalog.game_about(cell.claim)
    if about.name != cell.case.game_name:
        return f"{OTHER_LEARNERS}: {about.learners_are}"
    return cell.form.does_not_apply(cell.case)


def _row(cell: Cell, outcome: Outcome, job: Job) -> Row:
    setting, claim, form = cell.case.setting, cell.claim, cell.form
    expected = None
    if outcome.verdict != Verdict.NOT_APPLICABLE:
        try:
            expected = expected_verdict(claim, form, cell.case, job.users)
        except Exception as error:
            logger.exception("the expectation of %s failed", claim.id)
            outcome = Outcome(Verdict.ERROR, evidence=trouble_in(claim, error))
            expected = Verdict.HOLDS
    outcome.evidence = printable(outcome.evidence)
    return Row(
        claim.id,
        form.name,
        printable(setting.label("learner")),
        cell.case.loss_spec,
        printable(setting.label("adversary")),
        printable(setting.graph),
        printable(setting.key),
        claim.kind.value,
        outcome.verdict,
        expected,
        outcome,
        job.users,
    )


def run(
    jobs: Sequence[Job], seed: int, processes: int = 1, patience: float = PATIENCE
) -> Iterator[list[Row]]:
    """Judge the jobs, in order, and yield the rows of each as soon as they are there.

    This process begins alone, and after ``patience`` seconds shares what is left with others, each with one thread,
    if that would take it ``WORTH_SHARING`` times as long.
    """
    portable = all(
        isinstance(part, str)
        for job in jobs
        for part in (job.setting.learner, job.setting.adversary)
    )
    started = time.monotonic()
    with threadpool_limits(1):
        for done, job in enumerate(jobs):
            spent = time.monotonic() - started
            left = (len(jobs) - done) * spent / max(1, done)
            long = spent >= patience and left >= patience * WORTH_SHARING
            if long and processes > 1 and portable:
                break
            yield judge_job(job, seed)
        else:
            return
    yield from _share(jobs[done:], seed, processes)


def _share(jobs: Sequence[Job], seed: int, processes: int) -> Iterator[list[Row]]:
    """Judge the jobs in several processes."""
    size = max(1, min(16, len(jobs) // (4 * processes)))
    batches = [jobs[i : i + size] for i in range(0, len(jobs), size)]
    with closing(each(_judge_batch, ((batch, seed) for batch in batches), processes)) as found:
        try:
            for batch in found:
                yield from batch
        except BrokenExecutor as error:
            raise UserError(
                "a worker process ended without a result: it was killed, as where memory runs out, or a class ended it;"
                f" expected it to play to the end ({one_line(str(error), LONGEST // 2)})."
            ) from error


def _judge_batch(jobs: Sequence[Job], seed: int) -> list[list[Row]]:
    with threadpool_limits(1):
        return [judge_job(job, seed) for job in jobs]


def failures_of_learner(rows: Sequence[Row]) -> list[Row]:
    """Rows without a verdict because the learner failed in the middle of a run."""
    return [row for row in rows if LEARNER_FAILED in row.outcome.flags]


def judged(rows: Sequence[Row]) -> list[Row]:
    """Rows with a verdict."""
    return [row for row in rows if row.verdict not in (Verdict.ERROR, Verdict.NOT_APPLICABLE)]


TESTED = 3


def nearness(row: Row) -> int:
    """How near a row came to a test of a promise: ``TESTED`` where a form that is expected to hold was judged."""
    if row.verdict == Verdict.VACUOUS:
        return 2
    if row.verdict == Verdict.NOT_APPLICABLE:
        return 1
    return 0 if row.expected is None else TESTED


def untested(rows: Sequence[Row], promises: Sequence[str]) -> dict[str, str]:
    """Promised claims that no case put to the test, and why not; and globs that name nothing about this learner."""
    nearest: dict[str, Row] = {}
    about_it = set()
    for row in rows:
        if row.outcome.evidence.startswith(OTHER_LEARNERS) and row.claim not in promises:
            continue  # a glob that names a family promises what is about this learner
        about_it.add(row.claim)
        best = nearest.get(row.claim)
        if is_named(row.claim, promises) and (best is None or nearness(row) > nearness(best)):
            nearest[row.claim] = row
    told = {}
    for claim, row in nearest.items():
        why = (f"only judged as {row.form}, which need not hold: ", "", "vacuous: ", None)
        if (said := why[nearness(row)]) is not None:
            told[claim] = f"{said}{row.outcome.evidence}"
    for glob in promises:
        named = [row for row in rows if is_named(row.claim, [glob])]
        if named and not any(row.claim in about_it for row in named):
            told[glob] = named[0].outcome.evidence
    return told
