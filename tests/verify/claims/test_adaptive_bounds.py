"""The bounds of the adaptive boosters: at which horizons they say something."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from boundcheck.verify import catalog
from boundcheck.verify.claims.boosting import adaptive
from boundcheck.verify.outcome import Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite


def rows_of(claim: str, *settings: Setting) -> list[suite.Row]:
    return [r for s in settings for r in suite.judge_job(suite.Job(s, (f"boosting/{claim}",)), 0)]


EDGES = np.full(4, 0.8)
STUMPS = "stump-labels:n_labels=3,noise=0.2"


@pytest.mark.parametrize("tuning", ["default", "ones", "theory"])
def test_the_bound_at_another_horizon_is_that_of_the_learner_tuned_for_it(tuning: str) -> None:
    learner = f"ada-bandit:learners=4,gamma=0.9,tuning={tuning}"
    short, long = (
        resolve(Setting(learner, STUMPS, "bandit", horizon), 0) for horizon in (3000, 20_000)
    )
    assert long.declaration.number("rho") < short.declaration.number("rho") < 0.5
    for envelope in (adaptive.bandit_envelope, adaptive.published_envelope):
        wanted = envelope(long, EDGES, 20_000, 0.1)
        assert envelope(short, EDGES, 20_000, 0.1) == wanted


def test_the_bound_of_adaboost_olm_at_another_horizon_is_that_of_the_learner_tuned_for_it() -> None:
    learner = "adaboost-olm:learners=4,tuning=theory"
    short, long = (
        resolve(Setting(learner, STUMPS, "full", horizon), 0) for horizon in (3000, 20_000)
    )
    wanted = adaptive.olm_envelope(long, EDGES, 20_000, 0.1)
    assert adaptive.olm_envelope(short, EDGES, 20_000, 0.1) == wanted


def test_the_regret_of_hedge_is_non_vacuous_where_the_learner_is_tuned_for_that_horizon() -> None:
    setting = Setting(
        "ada-bandit:weak=oracle-noise,learners=10,tuning=ones,hedge=0.1",
        "oracle-labels:n_labels=2,learners=10,edge=0.6",
        "bandit",
        20,
    )
    (row,) = rows_of("hedge-regret-bandit", replace(setting, runs=1))
    first = [T for T in range(9, 40) if math.log(10) / 0.1 + 0.05 * T / T ** (-1 / 3) < T]
    assert row.verdict == Verdict.VACUOUS
    assert row.outcome.evidence.endswith(f"it is non-vacuous from T = {first[0]}")


def test_the_bound_of_adabandit_says_something_with_a_step_for_two_labels_alone() -> None:
    fast, paper = (replace(setting, runs=1) for setting in adaptive.bandit_settings())
    (shaped,) = adaptive.tuned_settings()
    for claim, setting in (("ada-bandit", paper), ("ada-bandit-tuned", replace(shaped, runs=1))):
        (row,) = rows_of(claim, setting)
        assert row.verdict == row.expected == Verdict.VACUOUS
        assert row.outcome.runs == 1
        where = row.outcome.evidence.rpartition("T = ")[2].replace(",", "")
        assert int(where) > 1e7
    (row,) = rows_of("ada-bandit", replace(fast, horizon=8000, runs=14))
    assert row.verdict == row.expected == Verdict.HOLDS, row.outcome.evidence
    assert row.outcome.envelope < 4000
    assert row.outcome.tested_from == 1000, "a learner that does not use T is judged at prefixes"
    (row,) = rows_of("ada-bandit", replace(fast, horizon=300, runs=1))
    assert row.verdict == row.expected == Verdict.VACUOUS
    assert 300 < int(row.outcome.evidence.rpartition("T = ")[2].replace(",", "")) < 8000
    case = resolve(replace(fast, horizon=300), 0)
    told = catalog.claims()["boosting/ada-bandit-tuned"].forms[0].unmet(case)
    assert told == "its step is rho/k^2, that of the learner 3.0"
