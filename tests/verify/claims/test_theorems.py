"""Theorems 3 to 7: verdicts that mean something, and what would break them."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from boundcheck.adversaries.random_labels import RandomLabels
from boundcheck.adversaries.segments import Segments
from boundcheck.algorithms.learner import Problem
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.claim import Cell, Form
from boundcheck.verify.claims.gappletron.settings import (
    declared_settings,
    gappletron,
    mean_settings,
    tail_settings,
)
from boundcheck.verify.claims.gappletron.theorem_4 import _sides_a
from boundcheck.verify.claims.gappletron.theorem_6 import environment_weights
from boundcheck.verify.claims.gappletron.theorem_7 import forced_value
from boundcheck.verify.claims.gappletron.theorems_3_and_5 import first_non_vacuous
from boundcheck.verify.games.game import checkpoints
from boundcheck.verify.games.labels.case import Case
from boundcheck.verify.games.labels.run_sums import RunSums
from boundcheck.verify.games.labels.user_learner import UserLearner
from boundcheck.verify.judges.betting import runs_to_hold
from boundcheck.verify.judges.decide import decide
from boundcheck.verify.judges.mean import Bound, Mean, MeanSides
from boundcheck.verify.outcome import Verdict, digest_of
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import request as plan
from boundcheck.verify.suite import run as suite


def rows_of(claim: str, settings: list[Setting]) -> list[suite.Row]:
    return [row for s in settings for row in suite.judge_job(suite.Job(s, (claim,)), 0)]


def few(settings: tuple[Setting, ...], runs: int, *words: str) -> list[Setting]:
    """Those settings that contain all words, with fewer runs."""
    chosen = [s for s in settings if all(word in s.key for word in words)]
    assert chosen
    return [replace(s, runs=min(runs, s.runs)) for s in chosen]


@pytest.mark.parametrize("part", ["4a", "4b"])
def test_mean_claims_say_something_of_the_toy(part: str) -> None:
    rows = rows_of(
        f"gappletron/theorem-{part}", few(mean_settings(part), 32, "threshold", "one-hot")
    )
    assert {row.verdict for row in rows} == {Verdict.HOLDS}
    for row in rows:
        assert row.outcome.regret_ratio is not None
        assert row.outcome.regret_ratio > 0.1
        assert row.outcome.headroom is not None
        assert row.outcome.headroom < 10


@pytest.mark.parametrize("part", ["5a", "5b"])
def test_tail_claims_say_something_of_the_toy(part: str) -> None:
    chosen = few(tail_settings(part), 60, "threshold", "one-hot", "filtering", "delta=0.05")
    rows = rows_of(f"gappletron/theorem-{part}", chosen)
    assert [row.verdict for row in rows] == [Verdict.HOLDS]
    assert (rows[0].outcome.regret_ratio or 0) > 0.1
    assert "0 of 60 violate" in rows[0].outcome.evidence


@pytest.mark.parametrize("delta", [0.5, 0.05])
def test_theorem_5a_says_something_with_bandit_feedback_in_both_forms(delta: float) -> None:
    chosen = [
        setting
        for rule in ("printed", "mixture")
        for setting in few(tail_settings("5a"), 60, rule, "one-hot", "bandit", f"delta={delta}")
    ]
    rows = rows_of("gappletron/theorem-5a", chosen)
    assert [row.form for row in rows] == ["printed", "repaired"]
    for row in rows:
        assert row.verdict == row.expected == Verdict.HOLDS
        assert (row.outcome.regret_ratio or 0) > 0.1


def test_the_smallest_delta_is_judged_by_full_runs_only() -> None:
    for part in ("5a", "5b"):
        rare = few(tail_settings(part), 1000, "delta=0.01", "one-hot")
        assert len(rare) == 6
        for setting in rare:
            assert setting.at_scale("quick") is setting.at_scale("default") is None
            full = setting.at_scale("full")
            assert full is not None
            assert full.runs >= runs_to_hold(0.01)
            (row,) = rows_of(f"gappletron/theorem-{part}", [replace(setting, runs=1)])
            assert row.verdict == Verdict.UNDECIDED
            assert "299 runs would settle it" in row.outcome.evidence


def test_theorem_3_prints_both_ratios() -> None:
    for part in ("3a", "3b"):
        rows = rows_of(f"gappletron/theorem-{part}", few(tail_settings(part), 60, "smooth-hinge"))
        assert {row.verdict for row in rows} == {Verdict.HOLDS}
        for row in rows:
            assert row.outcome.ratio is not None
            assert row.outcome.regret_ratio is not None


def test_the_regret_of_theorem_3_is_put_to_the_test() -> None:
    """There the learner makes more mistakes than the comparator of the smallest right side loses."""
    chosen = [s for s in tail_settings("3a") if "noise" not in s.key]
    rows = rows_of("gappletron/theorem-3a", few(tuple(chosen), 60))
    assert len(rows) == 3
    for row in rows:
        assert not set(row.outcome.flags) & {"comparator-dominated", "weak"}
        assert (row.outcome.regret_ratio or 0) > (0.4 if "declared" in row.case else 0.025)


def test_theorem_3_is_tested_with_the_h_that_a_sequence_needs() -> None:
    """Guarantee (4) holds there with the declared h and little to spare, and the bounds are near."""
    for setting, part in zip(declared_settings(), ("3a", "3b"), strict=True):
        claims = (f"gappletron/theorem-{part}", "gappletron/guarantee-4")
        rows = suite.judge_job(suite.Job(replace(setting, runs=60), claims), 0)
        assert [row.verdict for row in rows] == [Verdict.HOLDS] * 2
        theorem, guarantee = (row.outcome for row in rows)
        assert theorem.headroom is not None
        assert theorem.headroom < 6
        assert guarantee.ratio is not None
        assert guarantee.ratio > 0.8


def test_the_first_non_vacuous_horizon_is_the_first() -> None:
    for constant in (0.5, 10.0, 300.0):
        for root in (0.0, 3.0, 70.0):
            for flat in (0.0, 900.5, 1e5):
                T = first_non_vacuous(constant, root, flat)
                assert constant + max(root * T**0.5, flat) <= T * (1 + 1e-12)
                assert constant + max(root * (T - 1) ** 0.5, flat) > (T - 1) * (1 - 1e-12)


@pytest.mark.parametrize("part", ["4a", "4b", "5a", "5b"])
def test_the_papers_own_data_are_vacuous(part: str) -> None:
    settings = mean_settings(part) if part.startswith("4") else tail_settings(part)
    rows = rows_of(f"gappletron/theorem-{part}", few(settings, 2, "keywords"))
    assert {row.verdict for row in rows} == {row.expected for row in rows} == {Verdict.VACUOUS}
    words = r"is non-vacuous from T = \d+$|mistakes alone reach it from T = \d+$"
    assert all(re.search(words, row.outcome.evidence) for row in rows)


def test_too_few_runs_are_undecided_and_say_what_is_needed() -> None:
    (row,) = rows_of(
        "gappletron/theorem-4a", few(mean_settings("4a"), 8, "threshold", "bandit", "one")
    )
    assert row.verdict == Verdict.UNDECIDED
    assert "32 runs are needed" in row.outcome.evidence
    chosen = few(tail_settings("5a"), 10, "threshold", "filtering", "one-hot", "delta=0.05")
    (row,) = rows_of("gappletron/theorem-5a", chosen)
    assert row.verdict == Verdict.UNDECIDED
    assert "59 runs would settle it" in row.outcome.evidence


def test_regret_of_one_and_a_half_envelopes_is_refuted() -> None:
    """A constructed learner: the mistakes of the runs are raised until the regret is 1.5 times the bound."""
    claim = catalog.claims()["gappletron/theorem-4a"]
    setting = few(mean_settings("4a"), 128, "threshold", "bandit", "one-hot")[0]
    case = resolve(setting, 0)
    form, marks = claim.form("repaired"), checkpoints(case.horizon).tolist()
    played = case.totals_at(marks, range(16))[-1]
    sides = _sides_a(case, form, played)
    bound = sides.bounds[0].values.mean() - sides.base.mean()
    factor = 1.5 * bound / (sides.observed.mean() - sides.base.mean())

    def worse(case: Case, form: Form, totals: RunSums) -> MeanSides:
        base = case.compared(totals).loss
        return _sides_a(case, form, replace(totals, errors=base + factor * (totals.errors - base)))

    for run in range(16, 128):  # the same sixteen runs over and over: the judge sees numbers only
        case.kept["sums", False, run, tuple(marks)] = case.kept[
            "sums", False, run % 16, tuple(marks)
        ]
    assert played.runs == 16
    found = decide(Mean(worse).examine(Cell(claim, form, case), 128))
    assert found.verdict == Verdict.REFUTED
    assert found.regret_ratio == pytest.approx(1.5, rel=1e-6)
    assert found.certificate is not None
    fine = decide(claim.judge.examine(Cell(claim, form, case), 128))
    assert fine.verdict == Verdict.HOLDS
    assert fine.headroom is not None

    def shrunk(by: float, case: Case, form: Form, totals: RunSums) -> MeanSides:
        """What the envelope leaves for the regret, by a factor smaller."""
        sides = _sides_a(case, form, totals)
        assert sides.most_base is not None
        bounds = tuple(
            Bound(
                sides.base + (bound.values - sides.base) / by,
                sides.most_base + (bound.ceiling - sides.most_base) / by,
            )
            for bound in sides.bounds
        )
        return replace(sides, bounds=bounds)

    for by, refuted in ((fine.headroom * 1.001, True), (fine.headroom / 1.001, False)):
        found = decide(Mean(partial(shrunk, by)).examine(Cell(claim, form, case), 128))
        assert (found.verdict == Verdict.REFUTED) == refuted


FLIPPED = """
from dataclasses import dataclass, replace

from boundcheck.algorithms.gappletron import Gappletron
from boundcheck.algorithms.learner import UPDATE
from boundcheck.algorithms.optimisers import step_in_ball
from boundcheck.compiled import kernel


@kernel(UPDATE)
def away(
    scores, best, runner, p, action, label, weight, squared, gradient, parameters, state, coefficient
):
    if label < 0:
        return False
    for k in range(gradient.shape[0]):
        gradient[k] = -gradient[k]
    return step_in_ball(weight, squared, scores, gradient, parameters, state, coefficient)


@dataclass(frozen=True)
class Flipped(Gappletron):
    gamma: float | str = "theorem-4b"

    def player(self, problem):
        return replace(super().player(problem), update=away)
"""


def test_a_flipped_gradient_is_refuted_by_sampling_and_replayed(tmp_path) -> None:
    (tmp_path / "flipped.py").write_text(FLIPPED, encoding="utf-8")
    setting = Setting(
        f"{tmp_path}/flipped.py:Flipped", "one-hot:noise=0.0", "filtering", 3000, None, 64
    )
    (row,) = rows_of("gappletron/theorem-4b", [setting])
    assert row.verdict == Verdict.REFUTED
    assert (row.outcome.ratio or 0) > 1.5
    assert row.outcome.certificate is not None
    path = row.outcome.certificate.write(tmp_path)
    found = replay(path, trust=True)
    assert found.observed > found.envelope
    content = json.loads(path.read_text(encoding="utf-8"))
    content.pop("digest")
    content["replicates"] = 63
    path.write_text(json.dumps(content | {"digest": digest_of(content)}), encoding="utf-8")
    with pytest.raises(UserError, match="rejected"):
        replay(path, trust=True)


def test_decreasing_segments_have_equal_weights_and_value_n_over_2() -> None:
    for n in (1, 2, 7, 30):
        lengths = list(range(n, 0, -1))
        weights = environment_weights(lengths)
        assert set(weights) == {Fraction(1, n + 1)}
        assert sum(w * s for w, s in zip(weights[1:], lengths, strict=True)) == Fraction(n, 2)


def test_equal_segments_have_the_value_of_the_formula() -> None:
    for s in (3, 9):
        weights = environment_weights([s] * s)
        assert sum(weights) == 1
        assert sum(weights[1:]) * s == s * (1 - Fraction(s, s + 1) ** s)


def test_segment_comparators_have_loss_zero_and_the_stated_norms() -> None:
    for environment in (0, 3):
        design = Segments(5, environment)
        sequence = design.sequence()
        comparator = design.comparator()
        scores = comparator.scores(sequence)
        rows = np.arange(sequence.horizon)
        margins = scores[rows, sequence.labels] - scores[rows, 1 - sequence.labels]
        assert margins.min() >= 1
        assert comparator.norm**2 == pytest.approx(5 if environment else 1)
        assert sequence.squared_norms == pytest.approx(2.0)
        assert sequence.horizon == 15


def theorem_6(learner: str, n: int = 8) -> suite.Row:
    setting = Setting(learner, f"segments:n={n}", "filtering:revealing=1", None, 2.5, 12)
    rows = suite.judge_job(suite.Job(setting, ("gappletron/theorem-6",)), 0)
    assert len(rows) == 1
    return rows[0]


def test_theorem_6_holds_for_every_learner_and_the_optimal_one_gives_equality() -> None:
    optimal = theorem_6("segment-probe:n=8")
    assert optimal.outcome.ratio == 1
    assert "with equality" in optimal.outcome.evidence
    for learner in ("uniform", gappletron("hinge", "mixture", "ftrl", "ones")):
        row = theorem_6(learner)
        assert row.verdict == Verdict.HOLDS
        assert (row.outcome.ratio or 0) > 1
        assert "equality" not in row.outcome.evidence


PEEKER = """
import numpy as np, sys
class Peeker:
    promises = ("gappletron/theorem-6",)
    def __init__(self, problem):
        pass
    def predict(self, x):
        frame = sys._getframe()
        while "label" not in frame.f_locals:
            frame = frame.f_back
        return np.eye(2)[frame.f_locals["label"]]
    def update(self, x, action, label):
        pass
"""


def test_a_peeking_learner_is_caught_by_the_audit(tmp_path) -> None:
    (tmp_path / "peek.py").write_text(PEEKER, encoding="utf-8")
    row = theorem_6(f"{tmp_path}/peek.py:Peeker")
    assert row.verdict == Verdict.REFUTED
    assert "saw a hidden label" in row.outcome.evidence


def test_theorem_7_constants_and_comparator() -> None:
    assert forced_value(2, 2) == Fraction(7, 2)
    assert forced_value(3, 2) == Fraction(20, 3)
    for K, B in ((2, 2), (3, 2), (2, 3)):
        design = RandomLabels(K, B)
        M = (B * B - 1) * K * K
        assert design.fresh_rounds == M
        sequence = design.sequence(M + 9, seed=1)
        assert len(set(sequence.labels[M:])) == 1
        rows = sequence.comparator.fractions
        assert sum(u * u for row in rows for u in row) == B * B
        gain = Fraction(M * (K - 1), K) - M * Fraction(K - 1, K) ** 2 + Fraction(K - 1, K)
        assert gain == forced_value(K, B)


def test_theorem_7_is_forced_without_sampling_and_refuted_for_short_horizons() -> None:
    request = plan.Request(("gappletron/theorem-7",))
    rows = [row for job in plan.jobs_for(request) for row in suite.judge_job(job, 0)]
    assert not [row for row in rows if row.surprising]
    forced = [row for row in rows if row.form == "repaired"]
    assert {row.learner.partition(":")[0] for row in forced} == {"gappletron", "uniform"}
    assert all(row.outcome.ratio == pytest.approx(1, abs=1e-9) for row in forced)
    short = [row for row in rows if row.verdict == Verdict.REFUTED]
    assert len(short) == 4
    assert all(row.form == "printed" for row in short)


class Sure:
    """Guesses blindly, and says that its regret is zero."""

    loss, gamma, rule, regret_factor = "smooth-hinge", 0.0, "threshold", 0.0

    def __init__(self, problem: Problem) -> None:
        self.p = np.full(problem.graph.n_actions, 1 / problem.graph.n_actions)
        self.weights = np.zeros((problem.n_labels, problem.n_features))

    def predict(self, x: np.ndarray) -> np.ndarray:
        return self.p

    def update(self, x: np.ndarray, action: int, label: int | None) -> None:
        pass


@pytest.mark.filterwarnings("error")
def test_an_envelope_of_nothing_is_refuted_with_finite_evidence() -> None:
    setting = Setting(UserLearner(Sure, "Sure"), "one-hot:n_labels=3", "full", 100, None, 1)
    rows = suite.judge_job(suite.Job(setting, ("gappletron/theorem-4a",), True, 64), 0)
    (row,) = [row for row in rows if row.form == "repaired"]
    assert row.verdict == Verdict.REFUTED
    assert float(row.outcome.evidence.split()[2]) > 9
    assert row.outcome.certificate is not None
    assert math.isfinite(float(row.outcome.certificate.content["log_e_value"]))
