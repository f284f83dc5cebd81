"""Whole kinds of fault show with ``--learner`` that did not, since what is played has more kinds of games."""

from __future__ import annotations

import explores
import learns
import plays
import pytest
import steps
from judged import fails, jobs, refuting

from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite
from boundcheck.verify.suite.pytest_checks import as_learner

BEFORE = [
    (adversary, graph, norm)
    for graph in ("bandit", "filtering", "full")
    for adversary, norm in (
        ("one-hot:n_labels=3,noise=0.05", None),
        ("keywords:keyword_scale=1,n_labels=5,noise=0.05", 1.0),
        ("one-hot:n_labels=3,noise=0.05", 0.5),
    )
]
"""What was played before labels turned."""


@pytest.mark.parametrize(
    ("fault", "claim", "graphs"),
    [
        (plays.LabelsForActions, "gappletron/algorithm-1", {"label-efficient"}),
        (plays.CubedGap, "gappletron/lemma-1", {"filtering", "full"}),
        (explores.RateNeverSmall, "gappletron/algorithm-1", {"label-efficient"}),
        (steps.StepFloored, "gappletron/updates", {"bandit", "filtering", "full", "label-efficient"}),
        (learns.Unteachable, "gappletron/guarantee-4", {"full"}),
    ],
    ids=["label-efficient graph", "two labels", "gamma = 1", "small features", "labels that turn"],
)  # fmt: skip
def test_a_kind_of_fault_shows_that_passed_before(fault, claim: str, graphs: set[str]) -> None:
    learner = as_learner(fault)
    for adversary, graph, norm in BEFORE:
        setting = Setting(learner, adversary, graph, 300, norm, 2)
        assert not refuting(suite.judge_job(suite.Job(setting, (claim,), users=True), 0))
    found = set()
    for job in jobs(learner, (claim,)):
        if refuting(suite.judge_job(job, 0)):
            assert job.setting.adversary.startswith("turning")
            found.add(job.setting.graph)
    assert found == graphs


def test_a_booster_is_played_on_what_its_weak_learners_read() -> None:
    found = jobs("bandit-bbm:weak=oracle-noise+first=2,learners=10", ["game/no-peeking"])
    assert {job.setting.adversary.partition(":")[0] for job in found} == {"oracle-labels"}
    for job in found:
        assert resolve(job.setting, 0).sequence.n_features == 12
        assert not fails(suite.judge_job(job, 0))
    others = jobs("bandit-bbm:learners=2", ["game/no-peeking"])
    assert {job.setting.adversary.partition(":")[0] for job in others} == {
        "keywords",
        "one-hot",
        "turning",
    }
