"""Broken boosters meet their declared fate: exactly these claims about boosters in the game refute them.

Others stand in the tests of the boosters themselves: what the weak learners are told is wrong, which weak learners that
ignore it do not show.
"""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from boundcheck.verify import catalog
from boundcheck.verify.outcome import Verdict
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

sys.path.insert(0, str(Path(__file__).parent))
flawed = importlib.import_module("flawed_boosters")

BANDIT = (
    "bandit-bbm:weak=oracle-noise,learners=10,gamma=0.3,ties=random,rho=0.2",
    "oracle-labels:n_labels=3,learners=10,edge=0.4,law=constant",
    "bandit", 2000, 60, ("exact-error", "bandit-bbm-potential", "asymptotic-error"),
)  # fmt: skip
STRONG = (
    "bandit-bbm:weak=oracle-noise,learners=40,gamma=0.35,ties=random,rho=0.1",
    "oracle-labels:n_labels=2,learners=40,edge=0.4",
    "bandit", 3000, 60, ("exact-error", "bandit-bbm", "bandit-bbm-potential", "asymptotic-error"),
)  # fmt: skip
FULL = (
    "online-mbbm:weak=oracle-noise,learners=10,ties=random",
    "oracle-labels:n_labels=3,learners=10,edge=0.4,law=constant",
    "full", 4000, 20, ("exact-error",),
)  # fmt: skip
ADAPTIVE = ("sgd-regret", "hedge-regret", "telescoping")
OLM = (
    "adaboost-olm:weak=oracle-noise,learners=20",
    "oracle-labels:n_labels=2,learners=20,edge=0.8",
    "full", 1500, 1, ADAPTIVE,
)  # fmt: skip
ADA = (
    "ada-bandit:weak=oracle-noise,learners=20,rho=0.5,tuning=theory",
    "oracle-labels:n_labels=2,learners=20,edge=0.9",
    "bandit", 5000, 1, ("sgd-estimates", "telescoping"),
)  # fmt: skip
BOUNDED = (
    "ada-bandit:weak=oracle-noise,learners=10,rho=0.05,step=3,hedge=0.03",
    "oracle-labels:n_labels=2,learners=10,edge=1.0",
    "bandit", 6000, 20, ("ada-bandit",),
)  # fmt: skip
HEDGE = (
    "ada-bandit:weak=oracle-noise,learners=100,rho=0.5,tuning=theory",
    "oracle-labels:n_labels=2,learners=100,edge=0.25",
    "bandit", 500, 32, ("hedge-regret-bandit",),
)  # fmt: skip


@dataclass(frozen=True)
class Fate:
    """A broken booster and the claims that must refute it.

    Attributes
    ----------
    battery : the right booster, stream, graph, rounds, runs and the claims that look at it
    name : what is wrong with it
    change : how it is made
    caught_by : names of the claims
    why : the reason, above all why the other claims do not refute it
    """

    battery: tuple[Any, ...]
    name: str
    change: Any
    caught_by: str
    why: str

    @property
    def id(self) -> str:
        return f"{self.battery[0].partition(':')[0]}: {self.name}"


FATES = [
    Fate(BANDIT, "explores half as often", flawed.with_other(rho=0.1), "exact-error",
         "fewer mistakes than declared: every upper bound is true of it"),
    Fate(BANDIT, "explores twice as often", flawed.with_other(rho=0.4), "exact-error asymptotic-error",
         "the bounds by majority have room for it"),
    Fate(BANDIT, "explores the first other label", flawed.explores_the_first, "exact-error",
         "the true label is the first, which makes it better than declared"),
    Fate(BANDIT, "explores the next label only", flawed.explores_the_next, "",
         "a wrong label that wins is equally likely to be any, and so is the next one: inside the slack; the"
         " estimates that it makes are biased, which is judged elsewhere"),
    Fate(BANDIT, "one learner fewer", flawed.with_other(learners=9), "exact-error",
         "hardly worse, and it costs fewer rounds than exploring may"),
    Fate(STRONG, "one of its learners", flawed.with_other(learners=1),
         "exact-error bandit-bbm bandit-bbm-potential asymptotic-error", "the others do not vote"),
    Fate(BANDIT, "ties to the first label", flawed.with_other(ties="lowest"), "exact-error",
         "the true label is the first"),
    Fate(BANDIT, "ties drawn again for the update", flawed.redraws_ties, "",
         "it learns from a label that it did not play, which weak learners of a fixed edge ignore: inside the slack"),
    Fate(BANDIT, "counts on another edge", flawed.with_other(gamma=0.0), "",
         "potentials of other weak learners, which weak learners of a fixed edge ignore: inside the slack"),
    Fate(FULL, "one learner fewer", flawed.with_other(learners=9), "exact-error", "it votes with nine"),
    Fate(FULL, "ties to the first label", flawed.with_other(ties="lowest"), "exact-error",
         "the true label is the first"),
    Fate(OLM, "climbs", flawed.climbs, "sgd-regret",
         "the weights go to -2; Hedge and the telescope take whatever votes there are, at their own regret"),
    Fate(OLM, "never moves", flawed.never_moves, "",
         "weights 1 for ever are good enough here: a regret below the bound is no flaw that a bound sees"),
    Fate(OLM, "Hedge blames the neighbour", flawed.blames_the_neighbour, "hedge-regret",
         "it follows the expert before the best one's"),
    Fate(OLM, "Hedge hardly learns", flawed.with_other(hedge=1e-6), "hedge-regret",
         "it declares the rate 1"),
    Fate(OLM, "ties drawn again for the update", flawed.redraws_experts, "",
         "with weights that differ there are none but in the first round"),
    Fate(ADA, "climbs", flawed.climbs, "sgd-estimates", "as with full information"),
    Fate(ADA, "steps of another rate", flawed.with_other(rho=0.25), "",
         "smaller steps and less exploration, inside the slack of both"),
    Fate(BOUNDED, "steps up", flawed.steps_up, "ada-bandit", "all votes count for what they are against"),
    Fate(BOUNDED, "explores in every other round", flawed.explores_too_often, "ada-bandit",
         "its estimates are right for how it explores"),
    Fate(BOUNDED, "draws any expert", flawed.draws_any_expert, "",
         "here every expert is good: to tell, most must be bad, and then the bound says less than that for 1e5 rounds"
         " and 80 learners"),
]  # fmt: skip


@cache
def judged(battery: tuple[Any, ...], name: str, change: Any) -> tuple[suite.Row, ...]:
    """All rows of the battery, with seed 0."""
    spec, stream, graph, rounds, runs, claims = battery
    learner = flawed.flawed(catalog.learner(spec), name, change)
    setting = Setting(learner, stream, graph, rounds, None, runs)
    ids = tuple(f"boosting/{claim}" for claim in claims)
    return tuple(suite.judge_job(suite.Job(setting, ids, users=True), 0))


def caught(rows: tuple[suite.Row, ...]) -> set[str]:
    assert {row.verdict for row in rows if row.surprising} <= {Verdict.REFUTED}
    return {row.claim.partition("/")[2] for row in rows if row.surprising}


@pytest.mark.parametrize("fate", FATES, ids=lambda fate: fate.id)
def test_each_flaw_meets_its_declared_fate(fate: Fate) -> None:
    rows = judged(fate.battery, fate.name, fate.change)
    assert caught(rows) == set(fate.caught_by.split()), [
        (row.claim, row.verdict, row.outcome.evidence) for row in rows
    ]


@pytest.mark.parametrize(
    "battery", [BANDIT, STRONG, FULL, OLM, ADA, BOUNDED], ids=lambda each: each[0]
)
def test_the_right_booster_is_caught_by_nothing_though_it_could_be(battery: Any) -> None:
    rows = judged(battery, "nothing", flawed.unchanged)
    assert caught(rows) == set()
    held = {row.claim.partition("/")[2] for row in rows if row.verdict == Verdict.HOLDS}
    assert held == set(battery[-1])


def test_a_follower_of_the_first_expert_is_refuted_by_more_runs() -> None:
    """The mean of the mistakes is far above the bound, and the judge says how many runs refute it."""
    (row,) = judged(HEDGE, "follows the first expert", flawed.follows_the_first)
    assert row.verdict == Verdict.UNDECIDED
    assert row.outcome.observed > row.outcome.envelope
    needed = re.search(r"(\d+) runs like these would refute", row.outcome.evidence)
    assert needed is not None
    assert int(needed[1]) < 200


def test_what_is_inside_the_slack_is_listed() -> None:
    survivors = [fate.name for fate in FATES if not fate.caught_by]
    assert len(survivors) == 7
    assert {claim for fate in FATES for claim in fate.caught_by.split()} == {
        "exact-error", "asymptotic-error", "bandit-bbm", "bandit-bbm-potential", "sgd-regret",
        "sgd-estimates", "hedge-regret", "ada-bandit",
    }  # fmt: skip
