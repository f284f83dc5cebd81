"""Broken baselines meet their declared fate: exactly these claims of their family refute them."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from boundcheck.algorithms.newton import PROJECTIONS as NEWTRON
from boundcheck.verify import catalog
from boundcheck.verify.outcome import Verdict
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

sys.path.insert(0, str(Path(__file__).parent))
flawed = importlib.import_module("flawed")

PLAIN = ("one-hot:n_labels=3,noise=0.01", "keywords:keyword_scale=1,n_labels=3,noise=0.05")
"""Streams of the battery; a family may name others."""


@dataclass(frozen=True)
class Fate:
    """A broken baseline and the claims of its family that must refute it.

    Attributes
    ----------
    right : spec of the learner that it should be
    name : what is wrong with it
    change : how it is made
    caught_by : names of the claims, without the family
    why : the reason, above all why the other claims do not refute it
    graph, streams, horizon, replicates : the battery
    """

    right: str
    name: str
    change: object
    caught_by: str
    why: str
    graph: str = "full"
    streams: tuple[str, ...] = PLAIN
    horizon: int = 1000
    replicates: int = 1

    @property
    def id(self) -> str:
        return f"{self.right}: {self.name}"


def judge(fate: Fate) -> list[suite.Row]:
    """All rows of the learner's own claims on the battery, with seed 0."""
    learner = flawed.Flawed(catalog.learner(fate.right), fate.name, fate.change)
    claims = tuple(c.id for c in catalog.select(learner.promises) if not c.id.startswith("game/"))
    return [
        row
        for stream in fate.streams
        for row in suite.judge_job(
            suite.Job(
                Setting(learner, stream, fate.graph, fate.horizon, None, fate.replicates),
                claims,
                users=True,
            ),
            0,
        )
    ]


def caught(rows: list[suite.Row]) -> set[str]:
    assert {row.verdict for row in rows if row.surprising} <= {Verdict.REFUTED}
    return {row.claim.partition("/")[2] for row in rows if row.surprising}


def of(name: str) -> object:
    return flawed.FLAWS[name]


SURE = {"graph": "label-efficient", "streams": ("sure-mistake",), "horizon": 400, "replicates": 64}
SHORT = {"graph": "bandit", "streams": ("one-hot:n_labels=4,noise=0.2", PLAIN[1]), "horizon": 300}
SCALED = ("crafted-scores:n_labels=3",)
BANDIT = {"graph": "bandit", "streams": PLAIN[:1], "horizon": 4000, "replicates": 64}

FATES = [
    Fate("perceptron", "climbs", of("climbs"), "step mistake-bound",
         "the wrong way: every mistake makes the next one likelier"),
    Fate("perceptron", "raises only", of("raises only"), "step",
         "rows only grow, which on these streams costs few mistakes"),
    Fate("perceptron", "blames everybody", of("blames everybody"), "step",
         "another ultraconservative-looking step, inside the room of the bound on these streams"),
    Fate("passive-aggressive:variant=pa", "aims at the prediction", of("aims at the prediction"),
         "step margin loss-bound", "a right label with a small margin is left as it is"),
    Fate("passive-aggressive:variant=pa", "counts one row", of("counts one row"),
         "step margin loss-bound", "twice the step: the lead ends at 1 + loss"),
    Fate("passive-aggressive:variant=pa-1,aggressiveness=0.1", "no cap",
         flawed.with_parameter(0, lambda cap: float("inf")), "step",
         "it is PA, which makes no more mistakes here"),
    Fate("passive-aggressive:variant=pa-2", "half the damping",
         flawed.with_parameter(1, lambda damping: damping / 2), "step",
         "as if C were twice as large, which costs little here"),
    Fate("label-efficient-perceptron", "asks less",
         flawed.with_parameter(0, lambda b: b / 4), "expected-step mistake-bound",
         "a quarter of b: sure mistakes go on four times as long", **SURE),
    Fate("label-efficient-perceptron", "asks a little less",
         flawed.with_parameter(0, lambda b: 0.98 * b), "expected-step",
         "the bound has 6 % of room", **SURE),
    Fate("banditron:gamma=0.1", "weight dropped", of("weight dropped"),
         "unbiased second-moment wrong-guesses mistake-bound",
         "it unlearns by exploring: labels that are seldom drawn only fall", **BANDIT),
    Fate("banditron:gamma=0.1", "weight of the best label", of("weight of the best"),
         "unbiased second-moment", "1/p(yhat) is about one, and just enough for this stream", **BANDIT),
    Fate("banditron:gamma=0.1", "moves when right", of("moves when right"),
         "unbiased second-moment", "the best label is lowered too seldom", **BANDIT),
    Fate("banditron:gamma=0.1", "explores three times as often",
         flawed.with_parameter(0, lambda gamma: 3 * gamma), "second-moment mistake-bound",
         "unbiased all the same, and fewer wrong guesses", **BANDIT),
    Fate("banditron:gamma=0.1,estimator=importance", "unweighted", of("unweighted"),
         "unbiased second-moment", "a Perceptron on what it happens to see, which is good here",
         **BANDIT),
    Fate("second-order-perceptron", "fourth powers", flawed.rewriting(flawed.second_order(4, False, 2)),
         "matrices potential", "A sums x^4", streams=SCALED),
    Fate("second-order-perceptron", "divides before the round",
         flawed.rewriting(flawed.second_order(2, True, 2)), "matrices potential",
         "the weights lag behind A, and the next round's potential shows it"),
    Fate("second-order-perceptron", "one row's matrix",
         flawed.rewriting(flawed.second_order(2, False, 1)), "matrices potential",
         "only the true label's A grows"),
    Fate("newtron:gamma=0.2", "the authors' entry",
         flawed.rewriting(flawed.newtron(True, False)), "unbiased",
         "-1/K for the entry of the label: the mean is not q - e_y", **SHORT),
    Fate("newtron:gamma=0.2", "no curvature when exploring",
         flawed.rewriting(flawed.newtron(False, True)), "unbiased",
         "the linear part lacks <G, W> there, so b is not that of the bounds", **SHORT),
    Fate("newtron:gamma=0.2", "on the sphere", flawed.rewriting(NEWTRON["sphere"][0]), "leader",
         "weights that lie inside the ball are blown up to its surface", **SHORT),
    Fate("newtron:gamma=0.2", "explores less", flawed.with_parameter(3, lambda gamma: gamma / 2), "",
         "its estimates weigh by the p that it plays, and no theorem is stated", **SHORT),
    Fate("soba:gamma=0.2", "the root of p(y)", flawed.rewriting(flawed.soba(0, 1.0, 1.0, True)),
         "budget", "the authors' q after a mistake; the steps are the same", **SHORT),
    Fate("soba:gamma=0.2", "Q twice", flawed.rewriting(flawed.soba(1, 2.0, 1.0, True)), "budget",
         "fixed exploration does not look at Q", **SHORT),
    Fate("soba:gamma=0.2", "weight dropped", flawed.rewriting(flawed.soba(1, 1.0, 0.0, True)),
         "unbiased identity", "theta forgets how unlikely the guess was", **SHORT),
    Fate("soba:gamma=0.2", "no budget", flawed.rewriting(flawed.soba(1, 1.0, 1.0, False)),
         "unbiased", "steps where the sum of the m is below zero; the others are right", **SHORT),
    *(
        Fate(f"gaptron:loss={loss}", "half as fast again",
             flawed.with_parameter(0, lambda rate: 1.5 * rate), f"expected-step{more}",
             "the theorem has room for it on these streams, and rounds are judged by what is declared")
        for loss, more in (("smooth-hinge", " largest-rate"), ("hinge", " largest-rate"),
                           ("logistic-2", ""))
    ),
    Fate("gaptron:loss=smooth-hinge", "half the gap", flawed.predicting(flawed.half_the_gap),
         "per-round largest-rate", "too sure; it makes fewer mistakes here"),
    Fate("gaptron:loss=hinge,gamma=0.1", "a ninth of the rate", flawed.with_parameter(0, lambda rate: rate / 9),
         "expected-step theorem-bandit", "too slow for the bound of the declared rate", **BANDIT),
]  # fmt: skip


@pytest.mark.parametrize("fate", FATES, ids=lambda fate: fate.id)
def test_each_flaw_meets_its_declared_fate(fate: Fate) -> None:
    assert caught(judge(fate)) == set(fate.caught_by.split()), fate.why


RIGHT = sorted({(f.right, f.graph, f.streams, f.horizon, f.replicates) for f in FATES})


@pytest.mark.parametrize(("right", "graph", "streams", "horizon", "replicates"), RIGHT)
def test_the_right_learner_is_caught_by_nothing(
    right: str, graph: str, streams: tuple[str, ...], horizon: int, replicates: int
) -> None:
    fate = Fate(right, "nothing", flawed.unchanged, "", "", graph, streams, horizon, replicates)
    rows = judge(fate)
    assert caught(rows) == set()
    assert {row.claim for row in rows if row.verdict == Verdict.HOLDS} >= {
        f"{right.partition(':')[0]}/{name}" for f in FATES for name in f.caught_by.split()
        if f.right == right and f.graph == graph
    }  # fmt: skip
