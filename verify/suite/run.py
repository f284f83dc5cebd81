"""A run of the suite: which cases are played, and what the judges said, as rows.

Cases are independent of one another and of the number of processes. A row is surprising when its
verdict is not the expected one; ``vacuous`` is no surprise in a single case, but it is when a form is
vacuous everywhere.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import joblib
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits

from ...errors import LearnerError, UserError, located
from ...workers import die_with
from .. import catalog
from ..certificates.make import AnyCase
from ..claim import OTHER_LEARNERS, Claim, Form, Proof, Verdict, is_named, is_surprise
from ..games.labels.case import Case, Setting
from ..judges.pathwise import Outcome, judge_case
from ..resolve import resolve_any

logger = logging.getLogger(__name__)

PATIENCE, WORTH_SHARING = 2.0, 2.5
"""Seconds for which a run begins in one process, and how many times that must be left before others are started:
they take a second or two before they play."""

LEARNER_FAILED = "learner failed"
"""Flag of an error that is the learner's: it raised, or returned no probabilities, in the middle of a run."""


@dataclass(frozen=True)
class Job:
    """One setting and the claims that look at it.

    Attributes
    ----------
    setting : what is played
    claims : ids of the claims
    own : whether the user replaced an axis; then a false form has no expected verdict
    sampled_runs : replicates for claims that are judged by sampling; as for the others when None
    """

    setting: Setting
    claims: tuple[str, ...]
    own: bool = False
    sampled_runs: int | None = None


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

    @property
    def surprising(self) -> bool:
        """Whether the run fails because of this row."""
        return is_surprise(self.expected, self.verdict)

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
        } | ({} if o.frontiers is None else {"frontier": o.frontiers.to_json()})


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def expected_verdict(claim: Claim, form: Form, case: AnyCase, own: bool) -> Verdict | None:
    """What the verdict should be; for a case of the user's, that a promised true form is not refuted."""
    if not own:
        return form.expected(case)
    promised = is_named(claim.id, getattr(case.learner, "promises", ()))
    return Verdict.HOLDS if promised and form.proof == Proof.PROVED else None


def judge_job(job: Job, seed: int) -> list[Row]:
    """Play one job and return its rows.

    Raises
    ------
    UserError
        for a mistake in what the user gave; a failure in the middle of a run, the learner's or ours, becomes
        a row with verdict ``error``
    """
    claims = [catalog.claims()[name] for name in job.claims]
    case = resolve_any(job.setting, seed)
    wanted: list[tuple[Claim, Form]] = []
    rows: list[Row] = []
    for claim in claims:
        for form in claim.forms:
            reason = _missing(claim, form, case)
            if reason is None:
                wanted.append((claim, form))
            elif job.own:
                outcome = Outcome(Verdict.NOT_APPLICABLE, evidence=reason)
                rows.append(_row(claim, form, case, outcome, job.own))
    # those that look at the same rounds together, so that a learner that fails in one of their runs does not
    # cost the others their verdicts
    groups = [[(c, f) for c, f in wanted if c.examine is None]]
    groups += [[(c, f)] for c, f in wanted if c.examine is not None]
    for group in groups:
        rows += _judge_group(group, case, job)
    return rows


def _missing(claim: Claim, form: Form, case: AnyCase) -> str | None:
    """Why a form does not apply to a case, or None."""
    weak = claim.about == "weak learners"
    if weak and isinstance(case, Case):
        return (
            f"{OTHER_LEARNERS}: weak ones, which predict a label and learn from costs and weights"
        )
    if not weak and not isinstance(case, Case):
        return f"{OTHER_LEARNERS}: those that play labels, not about weak learners"
    return form.missing(case)


def _judge_group(group: list[tuple[Claim, Form]], case: AnyCase, job: Job) -> list[Row]:
    """The rows of some forms on one case."""
    try:
        found = judge_case(case, group, job.setting.replicates, job.sampled_runs)
    except LearnerError as error:
        failed = Outcome(Verdict.ERROR, evidence=str(error), flags=(LEARNER_FAILED,))
    except UserError:
        raise
    except Exception as error:
        logger.exception("case %s failed", job.setting.key)
        failed = Outcome(Verdict.ERROR, evidence=located(error))
    else:
        return [_row(claim, form, case, outcome, job.own) for claim, form, outcome in found]
    return [_row(claim, form, case, failed, job.own) for claim, form in group]


def _row(
    claim: Claim,
    form: Form,
    case: AnyCase,
    outcome: Outcome,
    own: bool,
) -> Row:
    setting = case.setting
    return Row(
        claim.id,
        form.name,
        setting.label("learner"),
        None if case.loss is None else case.loss.spec,
        setting.label("adversary"),
        setting.graph,
        setting.key,
        claim.kind.value,
        outcome.verdict,
        None
        if outcome.verdict == Verdict.NOT_APPLICABLE
        else expected_verdict(claim, form, case, own),
        outcome,
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
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        workers = joblib.Parallel(
            n_jobs=processes,
            return_as="generator",
            pre_dispatch="2*n_jobs",
            initializer=die_with,
            initargs=(os.getpid(),),
        )
        try:
            for batch in workers(joblib.delayed(_judge_batch)(batch, seed) for batch in batches):
                yield from batch
        finally:  # a later run may start in another folder, where a file name means another file
            get_reusable_executor().shutdown(wait=True)


def _judge_batch(jobs: Sequence[Job], seed: int) -> list[list[Row]]:
    with threadpool_limits(1):
        return [judge_job(job, seed) for job in jobs]


def failures_of_learner(rows: Sequence[Row]) -> list[Row]:
    """Rows without a verdict because the learner failed in the middle of a run."""
    return [row for row in rows if LEARNER_FAILED in row.outcome.flags]


def judged(rows: Sequence[Row]) -> list[Row]:
    """Rows with a verdict."""
    return [row for row in rows if row.verdict not in (Verdict.ERROR, Verdict.NOT_APPLICABLE)]


def untested(rows: Sequence[Row], promises: Sequence[str]) -> dict[str, str]:
    """Promised claims that no case put to the test, and why not."""
    idle = (Verdict.NOT_APPLICABLE, Verdict.VACUOUS)
    reasons: dict[str, str] = {}
    for row in rows:
        promised = is_named(row.claim, promises)
        if row.outcome.evidence.startswith(OTHER_LEARNERS) and row.claim not in promises:
            continue  # a glob that names a family promises what is about this learner
        vacuous = row.verdict == Verdict.VACUOUS
        # of several reasons, that of a case that came nearest to a test
        if promised and (vacuous or row.claim not in reasons):
            reasons[row.claim] = f"{'vacuous: ' if vacuous else ''}{row.outcome.evidence}"
    for row in rows:
        if row.verdict not in idle:
            reasons.pop(row.claim, None)
    return reasons


def vacuous_everywhere(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Forms of built-in claims that were vacuous in every case, though not expected to be: nothing was tested."""
    seen: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        seen.setdefault((row.claim, row.form), []).append(row)
    return [
        key
        for key, mine in seen.items()
        if all(row.verdict == Verdict.VACUOUS for row in mine)
        and any(row.expected != Verdict.VACUOUS for row in mine)
    ]
