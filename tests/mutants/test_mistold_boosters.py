"""Boosters that tell their weak learners other costs, or explore otherwise, where these learn from them.

They are judged on the cells of the built-in suite, and exactly the declared claims refute them.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from boundcheck.verify import catalog
from boundcheck.verify.claims.boosting import learned_edge, majority
from boundcheck.verify.outcome import Verdict
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

sys.path.insert(0, str(Path(__file__).parent))
flawed = importlib.import_module("flawed_boosters")

SETTINGS = {
    "full": majority.full_settings()[-2],
    "bandit": majority.learning_settings()[0],
    "three labels": majority.learning_settings()[1],
    "adaptive": learned_edge.learning_settings("full")[0],
    "adaptive bandit": learned_edge.learning_settings("bandit")[0],
}
ALL = "online-mbbm online-mbbm-potential bandit-bbm bandit-bbm-potential asymptotic-error"
CLAIMS = (*ALL.split(), "cost-estimate-unbiased", "learned-edge", "adaboost-olm", "ada-bandit")
FULL = "online-mbbm online-mbbm-potential"
SHARP = "bandit-bbm-potential asymptotic-error"
BANDIT = "bandit-bbm bandit-bbm-potential asymptotic-error"
EDGE = "learned-edge cost-estimate-unbiased"
TOLD = f"{BANDIT} cost-estimate-unbiased"

FATES = [
    ("full", "transposed", flawed.tells("transposed"), FULL),
    ("full", "wrong sign", flawed.tells("wrong sign"), FULL),
    ("full", "costs of no votes", flawed.tells("costs of no votes"), FULL),
    ("full", "told nothing", flawed.tells("told nothing"), FULL),
    ("bandit", "transposed", flawed.tells("transposed"), f"{SHARP} cost-estimate-unbiased"),
    ("bandit", "wrong sign", flawed.tells("wrong sign"), TOLD),
    ("bandit", "costs of no votes", flawed.tells("costs of no votes"), f"{SHARP} cost-estimate-unbiased"),
    ("bandit", "told nothing", flawed.tells("told nothing"), TOLD),
    # estimates of two labels are hardly off without it, and the weak learners learn well enough
    ("bandit", "no importance weight", flawed.tells("no importance weight"), "cost-estimate-unbiased"),
    ("three labels", "wrong sign", flawed.tells("wrong sign"),
     f"{SHARP} cost-estimate-unbiased"),
    # it errs less than declared, which only a claim with two sides can see
    ("bandit", "never explores", flawed.with_other(rho=1e-9), "asymptotic-error"),
    ("bandit", "explores twice as often", flawed.with_other(rho=0.2), "bandit-bbm-potential"),
    ("bandit", "explores thrice as often", flawed.with_other(rho=0.3), BANDIT),
    # their mistake bounds have the edges of the run, and a vote of a negative weight mends a wrong sign
    ("adaptive", "transposed", flawed.tells("transposed"), "learned-edge"),
    ("adaptive", "wrong sign", flawed.tells("wrong sign"), "learned-edge"),
    ("adaptive bandit", "transposed", flawed.tells("transposed"), EDGE),
    ("adaptive bandit", "wrong sign", flawed.tells("wrong sign"), EDGE),
]  # fmt: skip


@cache
def judged(where: str, name: str, change: Any) -> tuple[suite.Row, ...]:
    setting: Setting = SETTINGS[where]
    learner = flawed.flawed(catalog.learner(setting.learner), name.replace(" ", "-"), change)
    claims = tuple(f"boosting/{claim}" for claim in CLAIMS)
    job = suite.Job(replace(setting, learner=learner), claims, users=True)
    return tuple(suite.judge_job(job, 0))


def caught(rows: tuple[suite.Row, ...]) -> set[str]:
    assert {row.verdict for row in rows if row.surprising} <= {Verdict.REFUTED}
    return {row.claim.partition("/")[2] for row in rows if row.surprising}


@pytest.mark.parametrize(("where", "name", "change", "by"), FATES, ids=lambda each: str(each)[:24])
def test_each_flaw_meets_its_declared_fate(where: str, name: str, change: Any, by: str) -> None:
    rows = judged(where, name, change)
    assert caught(rows) == set(by.split()), [
        (row.claim, row.verdict, row.outcome.observed, row.outcome.envelope, row.outcome.evidence)
        for row in rows
    ]


@pytest.mark.parametrize("where", SETTINGS)
def test_the_right_one_is_caught_by_nothing(where: str) -> None:
    rows = judged(where, "nothing", flawed.tells("nothing"))
    assert caught(rows) == set()
    found = {row.claim.partition("/")[2] for row in rows if row.verdict == Verdict.HOLDS}
    wanted = {
        "full": FULL,
        "bandit": TOLD,
        "three labels": f"{SHARP} cost-estimate-unbiased",
        "adaptive": "learned-edge adaboost-olm",
        "adaptive bandit": f"{EDGE} ada-bandit",
    }
    assert found == set(wanted[where].split())
