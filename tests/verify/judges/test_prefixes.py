"""Prefixes of runs: what is judged there, what the averaged e-value may do, and what a certificate holds of it."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tampering import tampered

from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.author import (
    Bound,
    Cell,
    Claim,
    Form,
    Mean,
    MeanSides,
    Proof,
    Setting,
    Source,
    Tail,
    TailSides,
    Verdict,
)
from boundcheck.verify.certificates import replay as replaying
from boundcheck.verify.judges.betting import log_wealths
from boundcheck.verify.judges.decide import decide
from boundcheck.verify.judges.prefixes import Checkpoints
from boundcheck.verify.outcome import Outcome, digest_of
from boundcheck.verify.resolve import resolve
from boundcheck.verify.suite import request as plan
from boundcheck.verify.suite import run as suite

FILE = """
import math

import numpy as np

from boundcheck import Bound, Claim, Form, Mean, MeanSides, Proof, Source


class Spender:
    \"\"\"Guess for K rounds; then explore as much as the bound sqrt(T) leaves, which lacks a factor K.\"\"\"

    promises = ("spender/*",)

    def __init__(self, problem):
        self.k, self.rounds, self.paid = problem.n_labels, 0, 0.0

    def predict(self, x):
        self.rounds += 1
        left = 0.996 * math.sqrt(self.rounds) - self.paid
        rate = 1.0 if self.rounds <= self.k else min(1.0, max(0.0, left) * self.k / (self.k - 1))
        self.paid += rate * (self.k - 1) / self.k
        p = np.full(self.k, rate / self.k)
        p[0] += 1 - rate
        return p

    def update(self, x, action, label):
        pass


class Knowing(Spender):
    \"\"\"The same, made for a horizon.\"\"\"

    def __init__(self, problem):
        super().__init__(problem)
        self.horizon = vars(problem)["horizon"]


class Curious(Spender):
    \"\"\"The same; it reads the horizon in its last round.\"\"\"

    def __init__(self, problem):
        super().__init__(problem)
        self.problem = problem

    def update(self, x, action, label):
        if self.rounds > 99:
            self.rounds == self.problem.horizon


class Constant:
    n_labels = 10

    def sequence(self, horizon, seed):
        return np.ones((horizon, 1)), np.zeros(horizon, dtype=int)


def claim(name, factor):
    def sides(case, form, totals):
        T, n = totals.rounds, totals.runs
        bound = math.sqrt(T * (case.n_labels if factor else 1))
        each = (Bound(np.full(n, bound), bound),)
        guess = (case.n_labels - 1) / case.n_labels * T
        return MeanSides(totals.errors, each, np.zeros(n), bound, T, guess, "it is non-vacuous later")

    return Claim(
        f"spender/{name}",
        "expected mistakes",
        Source("A", "B", 2000, "Theorem 1"),
        (Form("printed", r"E[M_T] \\le \\sqrt{T}", Proof.PROVED, "w", every_horizon=True),),
        Mean(sides),
    )


LACKS = claim("lacks-a-factor", False)
RIGHT = claim("right", True)
"""
RUNS = 64


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Learners, an adversary and claims of a user's; the claims are known in this module."""
    found = tmp_path_factory.mktemp("spender") / "spender.py"
    found.write_text(FILE, encoding="utf-8")
    catalog.add_file(found)
    yield found
    catalog.games.cache_clear()
    catalog.claims.cache_clear()


@cache
def played(file: Path, learner: str, horizon: int) -> Any:
    setting = Setting(f"{file}:{learner}", f"{file}:Constant", "full", horizon, runs=RUNS)
    return resolve(setting, 0)


def judged(claim: Claim, case: Any, runs: int = RUNS, **changes: Any) -> Outcome:
    form = replace(claim.forms[0], **changes)
    return decide(claim.judge.examine(Cell(claim, form, case), runs))


@pytest.mark.parametrize(("horizon", "runs"), [(300, RUNS), (2000, 32)])
def test_a_bound_that_lacks_a_factor_holds_at_the_horizon_and_is_refuted_by_a_prefix(
    horizon: int, runs: int, file: Path
) -> None:
    lacks, right = (catalog.claims()[f"spender/{name}"] for name in ("lacks-a-factor", "right"))
    case = played(file, "Spender", horizon)
    late = judged(lacks, case, runs, every_horizon=False)
    assert late.verdict == Verdict.HOLDS
    assert late.ratio == pytest.approx(0.996)
    # all that the runs, which are alike, can show: half of the wealth grows by the ratio in each
    assert late.headroom == pytest.approx(math.exp(math.log(2e9) / runs) / 0.996, rel=1e-5)
    assert late.tested_from == horizon
    assert f"tested at T = {horizon} only, since the form is not stated" in late.evidence
    early = judged(lacks, case, runs)
    assert early.verdict == Verdict.REFUTED
    assert early.ratio == pytest.approx(9 / math.sqrt(10))
    assert f", by the first 10 rounds of {horizon}" in early.evidence
    true = judged(right, case, runs)
    assert true.verdict == Verdict.HOLDS
    assert true.tested_from == 11
    assert "tested from T = 11 on" in true.evidence
    # the headroom is that of the same e-value, which prefixes nearer to the envelope make smaller
    alone = judged(right, case, runs, every_horizon=False)
    assert true.headroom is not None
    assert alone.headroom is not None
    assert true.headroom < alone.headroom / 2


def test_a_learner_that_uses_the_horizon_is_judged_there_alone(file: Path) -> None:
    lacks = catalog.claims()["spender/lacks-a-factor"]
    knowing = judged(lacks, played(file, "Knowing", 300))
    assert knowing.verdict == Verdict.HOLDS
    assert knowing.tested_from == 300
    assert knowing.evidence.endswith("tested at T = 300 only, since the learner uses T")
    # read in play it is no longer known before: half of the wealth is lost with the prefixes
    curious = judged(lacks, played(file, "Curious", 300), 32)
    assert curious.verdict == Verdict.HOLDS
    assert curious.evidence.endswith("since the learner reads T in play")
    e_values = [float(o.evidence.split("e-value ")[1].split(" ")[0]) for o in (knowing, curious)]
    assert e_values[0] - e_values[1] == pytest.approx(math.log10(2), abs=0.02)
    assert judged(lacks, played(file, "Curious", 99), 32).verdict == Verdict.REFUTED


@pytest.mark.parametrize("rounds", [99, 150])
def test_rounds_are_those_that_are_asked_for(rounds: int, file: Path) -> None:
    """With a learner of the user's the horizon is that of ``rounds``, whatever the scale."""
    request = plan.Request(
        ("spender/*",),
        f"{file}:Knowing",
        f"{file}:Constant",
        "full",
        claims_file=file,
        runs=2,
        rounds=rounds,
    )
    rows = [row for job in plan.jobs_for(request) for row in suite.judge_job(job, 0)]
    assert {row.outcome.tested_from for row in rows} == {rounds}
    assert {row.to_json()["tested_from"] for row in rows} == {rounds}


@dataclass(frozen=True)
class Written:
    """A case whose sides are written down: for each T one number a run."""

    observed: dict[int, Any]
    horizon: int
    is_tuned_to_horizon: bool = False
    has_read_horizon: bool = False

    def parts(self, runs: int) -> Any:
        yield range(runs)


FORM = Form("printed", "", Proof.PROVED, "", every_horizon=True)


def outcome_of(judge: Mean | Tail, case: Written, runs: int) -> Outcome:
    claim = Claim("a/b", "", Source("", "", 0), (FORM,), judge)
    found = judge.examine(Cell(claim, FORM, case), runs)
    found.certify = lambda: None  # there is no game to be played again
    return decide(found)


def mean_play(
    envelopes: dict[int, tuple[float, ...]], cell: Cell, runs: range, interpreted: bool
) -> Any:
    for T in sorted(cell.case.observed, reverse=True):
        observed = np.asarray(cell.case.observed[T], dtype=float)[: len(runs)]
        bounds = tuple(Bound(np.full(len(runs), y), y) for y in envelopes[T])
        yield T, MeanSides(observed, bounds, np.zeros(len(runs)), max(envelopes[T]), T, T, "")


def test_a_prefix_above_its_envelope_beyond_noise_is_no_holds() -> None:
    """3 % too much in every run is too little for a refutation with 128 runs, and too much for ``holds``."""
    noise = 0.2 * np.random.default_rng(1).normal(size=128)
    noise -= noise.mean()
    judge = Mean(play=partial(mean_play, {5: (2.0,), 50: (20.0,)}))
    steady = outcome_of(judge, Written({5: np.full(128, 2.06), 50: np.full(128, 10.0)}, 50), 128)
    assert steady.verdict == Verdict.UNDECIDED
    assert (
        "at T = 5 the mean 2.06 is above the envelope 2 by more than noise; 748 runs like these would refute"
        in steady.evidence
    )
    # within noise, and at equality by rounding
    for early in (2.02 + noise, np.full(128, 2.0 * (1 + 1e-12))):
        case = Written({5: early, 50: np.full(128, 10.0)}, 50)
        assert outcome_of(judge, case, 128).verdict == Verdict.HOLDS
    # at the horizon a mean above is no holds either way, but runs are only counted beyond noise
    case = Written({5: np.ones(128), 50: 20.05 + noise}, 50)
    assert outcome_of(judge, case, 128).evidence.count("runs like these would refute") == 1
    near = outcome_of(judge, Written({5: np.ones(128), 50: 20.01 + noise}, 50), 128)
    assert near.verdict == Verdict.UNDECIDED
    assert (
        "within the noise of the envelope, so that no number of runs suggests itself"
        in near.evidence
    )


def test_of_two_envelopes_both_must_fall_at_the_same_checkpoint() -> None:
    """The larger of two expectations is the bound: one exceeded at T = 5, the other at T = 50, refute nothing."""
    case = Written({5: np.full(128, 3.0), 50: np.full(128, 30.0)}, 50)
    crossing = Mean(play=partial(mean_play, {5: (2.0, 4.0), 50: (40.0, 20.0)}))
    assert outcome_of(crossing, case, 128).verdict == Verdict.HOLDS
    both = Mean(play=partial(mean_play, {5: (2.0, 1.0), 50: (40.0, 20.0)}))
    refuted = outcome_of(both, case, 128)
    assert refuted.verdict == Verdict.REFUTED
    assert refuted.envelope == 2.0


def test_headroom_is_that_of_the_regret() -> None:
    """The comparator's loss of 10 stands on both sides: X = 15 uses half of what the envelope 20 leaves."""

    def play(most: float | None, cell: Cell, runs: range, interpreted: bool) -> Iterator[Any]:
        n = len(runs)
        bound = Bound(np.full(n, 20.0), 20.0)
        base = np.full(n, 10.0)
        yield 50, MeanSides(np.full(n, 15.0), (bound,), base, 20, 50, 50, "", most_base=most)

    growth = math.expm1(math.log(2e9) / 128)
    for most, floor in ((10.0, 10.0), (None, 20.0), (30.0, 20.0)):
        found = outcome_of(Mean(play=partial(play, most)), Written({}, 50), 128)
        # 15 - 10 - s 10 = growth (s 20 + (1 - s) floor) at the largest s that is refuted
        largest = (5 - growth * floor) / (10 + growth * (20 - floor))
        assert found.headroom == pytest.approx(1 / largest, rel=1e-5)

    def tail(cell: Cell, runs: range, interpreted: bool) -> Iterator[Any]:
        n = len(runs)
        yield 50, TailSides(np.full(n, 15.0), {0.5: np.full(n, 20.0)}, np.full(n, 10.0))

    assert outcome_of(Tail(play=tail), Written({}, 50), 128).headroom == pytest.approx(2, rel=1e-5)


def tail_play(
    envelopes: dict[int, float], deltas: tuple[float, ...], cell: Cell, runs: range, i: bool
) -> Any:
    for T in sorted(cell.case.observed, reverse=True):
        observed = np.asarray(cell.case.observed[T], dtype=float)[runs.start : runs.stop]
        bounds = {d: np.full(len(runs), envelopes[T]) for d in deltas}
        yield T, TailSides(observed, bounds, least=envelopes[T])


def test_a_tail_is_judged_at_each_prefix() -> None:
    play = partial(tail_play, {5: 2.0, 50: 20.0}, (0.05, 0.5))
    often = np.where(np.arange(128) % 2, 3.0, 1.0)
    late = np.full(128, 10.0)
    found = outcome_of(Tail(play=play), Written({5: often, 50: late}, 50), 128)
    assert found.verdict == Verdict.REFUTED
    assert "delta 0.05: 64 of 128 violate, P >= 0.424 (95 %)" in found.evidence
    assert found.evidence.endswith(", by the first 5 rounds of 50")
    assert (found.observed, found.envelope) == (3.0, 2.0)
    # 17 of 128 are more than 5 % by more than noise; they refute nothing yet
    some = np.where(np.arange(128) % 8, 1.0, 3.0)
    some[0] = 1.0
    found = outcome_of(Tail(play=play), Written({5: some, 50: late}, 50), 128)
    assert found.verdict == Verdict.UNDECIDED
    assert "at T = 5 15 of 128 violate delta 0.05, by more than noise" in found.evidence
    few = np.where(np.arange(128) % 16, 1.0, 3.0)
    case = Written({5: few, 50: np.full(128, 5.0)}, 50)
    found = outcome_of(Tail(play=play), case, 128)
    assert found.verdict == Verdict.HOLDS
    assert found.tested_from == 5
    assert "tested from T = 5 on" in found.evidence
    # an envelope smaller by the headroom would have been refuted, one by less not; at T = 50 alone it would be 4
    assert found.headroom == pytest.approx(2, rel=1e-5)
    for shrink in (1.001, 0.999):
        envelopes = {T: y / (2 * shrink) for T, y in {5: 2.0, 50: 20.0}.items()}
        judge = Tail(play=partial(tail_play, envelopes, (0.05, 0.5)))
        refuted = outcome_of(judge, case, 128).verdict == Verdict.REFUTED
        assert refuted == (shrink > 1)


@pytest.mark.parametrize(("runs", "few"), [(30, True), (31, False)])
def test_runs_that_could_not_refute_say_so(runs: int, few: bool) -> None:
    """Half of the wealth is on the stake that doubles with each violation at delta = 0.5."""
    play = partial(tail_play, {5: 2.0, 50: 20.0}, (0.5,))
    case = Written({5: np.ones(runs), 50: np.ones(runs)}, 50)
    found = outcome_of(Tail(play=play), case, runs)
    assert (f"; {runs} runs would not refute it if all violated" in found.evidence) == few
    assert (found.verdict == Verdict.UNDECIDED) == few, "what could not fail does not hold"


def test_nothing_is_bet_where_the_envelope_cannot_be_exceeded() -> None:
    cell = Cell(Claim("a/b", "", Source("", "", 0), (FORM,), Mean()), FORM, Written({}, 50))
    chosen = Checkpoints.before_play(cell, {50: True, 5: False, 20: True, 10: True})
    assert (chosen.rounds, chosen.shares.tolist()) == ((10, 20, 50), [0.25, 0.25, 0.5])
    alone = Checkpoints.before_play(cell, {50: True, 5: False})
    assert (alone.rounds, alone.shares.tolist()) == ((50,), [1.0])
    assert alone.says.endswith("no learner could exceed the envelope of a shorter game")


def test_a_certificate_holds_the_checkpoints_and_no_number_of_it_can_be_changed(
    file: Path, tmp_path: Path
) -> None:
    job = suite.Job(
        Setting(f"{file}:Spender", f"{file}:Constant", "full", 60, runs=32),
        ("spender/lacks-a-factor",),
        claims_file=file,
    )
    (row,) = suite.judge_job(job, 0)
    certificate = row.outcome.certificate
    assert certificate is not None
    content = json.loads(json.dumps(certificate.content))
    checkpoints = content["checkpoints"]
    assert [each["rounds"] for each in checkpoints][-1] == 60
    assert sum(float(each["share"]) for each in checkpoints) == pytest.approx(1)
    assert content["decisive"] == 10
    # what stands there adds up to the e-value, and the runs written down give that of the decisive checkpoint
    total = sum(float(c["share"]) * math.exp(float(c["log_e_value"])) for c in checkpoints)
    assert math.log(total) == pytest.approx(float(content["log_e_value"]), abs=1e-6)
    z = (np.array(content["observed"], float) - np.array(content["envelopes"][0], float)) / float(
        content["ceilings"][0]
    )
    (ten,) = (float(c["log_e_value"]) for c in checkpoints if c["rounds"] == 10)
    assert log_wealths(z)[-1] == pytest.approx(ten, abs=1e-6)
    path = certificate.write(tmp_path)
    found = replaying.replay(path, trust=True)
    assert found.observed == pytest.approx(9)
    assert found.rows[0]["refuted after rounds"] == 10
    changed = copy.deepcopy(content)
    tried = 0
    for _ in tampered(changed["checkpoints"], lambda new: None):
        with pytest.raises(UserError, match="'checkpoints' is not what follows"):
            replaying._compare(path, changed, content)
        tried += 1
    assert tried > 100
    for name, new in (("decisive", 11), ("log_e_value", "60"), ("checkpoints", checkpoints[:-1])):
        stale = content | {name: new}
        path.write_text(json.dumps(stale | {"digest": digest_of(stale)}), encoding="utf-8")
        with pytest.raises(UserError, match=f"'{name}' is not what follows"):
            replaying.replay(path, trust=True)
