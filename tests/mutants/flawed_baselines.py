"""Broken baselines: each plays or learns wrongly after it has declared itself like the right learner."""

from __future__ import annotations

import flawed
from judged import Mutant

from boundcheck.algorithms.newton import PROJECTIONS as NEWTRON
from boundcheck.verify import catalog


def of(name: str) -> object:
    return flawed.FLAWS[name]


def flaw(
    right: str, name: str, change: object, caught_by: str, why: str, kind: str = "caught"
) -> Mutant:
    """A flawed learner; claims are those of its family."""
    learner = catalog.learner(right)
    family = right.partition(":")[0]
    claims = frozenset(f"{family}/{claim}" for claim in caught_by.split())
    return Mutant(name, right, flawed.Flawed(learner, name, change), claims, why, kind)


MUTANTS = [
    flaw("perceptron", "climbs", of("climbs"), "step mistake-bound",
         "the wrong way: every mistake makes the next one likelier"),
    flaw("perceptron", "raises only", of("raises only"), "step",
         "rows only grow, which on these streams costs few mistakes"),
    flaw("perceptron", "blames everybody", of("blames everybody"), "step",
         "another ultraconservative-looking step, inside the room of the bound on these streams"),
    flaw("passive-aggressive:variant=pa", "aims at the prediction", of("aims at the prediction"),
         "step margin loss-bound", "a right label with a small margin is left as it is"),
    flaw("passive-aggressive:variant=pa", "counts one row", of("counts one row"),
         "step margin loss-bound", "twice the step: the lead ends at 1 + loss"),
    flaw("passive-aggressive:variant=pa-1,aggressiveness=0.1", "no cap",
         flawed.with_parameter(0, lambda cap: float("inf")), "step",
         "it is PA, which makes no more mistakes here"),
    flaw("passive-aggressive:variant=pa-2", "half the damping",
         flawed.with_parameter(1, lambda damping: damping / 2), "step",
         "as if C were twice as large, which costs little here"),
    flaw("label-efficient-perceptron", "asks less",
         flawed.with_parameter(0, lambda b: b / 4), "expected-step",
         "a quarter of b: only sure mistakes cost more than the bound allows, and hardly any are here"),
    flaw("label-efficient-perceptron", "asks a little less",
         flawed.with_parameter(0, lambda b: 0.98 * b), "expected-step",
         "less than its bounds on mistakes leave room for"),
    flaw("banditron:gamma=0.1", "weight dropped", of("weight dropped"),
         "unbiased second-moment", "labels that are seldom drawn only fall; it takes longer to cost much"),
    flaw("banditron:gamma=0.1", "weight of the best label", of("weight of the best"),
         "unbiased second-moment", "1/p(yhat) is about one, and just enough for this stream"),
    flaw("banditron:gamma=0.1", "moves when right", of("moves when right"),
         "unbiased second-moment", "the best label is lowered too seldom"),
    flaw("banditron:gamma=0.1", "explores three times as often",
         flawed.with_parameter(0, lambda gamma: 3 * gamma), "second-moment",
         "unbiased all the same, and its bound is vacuous in so few rounds"),
    flaw("banditron:gamma=0.1,estimator=importance", "unweighted", of("unweighted"),
         "unbiased second-moment", "a Perceptron on what it happens to see, which is good here"),
    flaw("second-order-perceptron", "fourth powers", flawed.rewriting(flawed.second_order(4, False, 2)),
         "matrices potential", "A sums x^4, which is x^2 for features of 0 and 1: only small ones show it"),
    flaw("second-order-perceptron", "divides before the round",
         flawed.rewriting(flawed.second_order(2, True, 2)), "matrices potential",
         "the weights lag behind A, and the next round's potential shows it"),
    flaw("second-order-perceptron", "one row's matrix",
         flawed.rewriting(flawed.second_order(2, False, 1)), "matrices potential",
         "only the true label's A grows"),
    flaw("newtron:gamma=0.2", "the authors' entry",
         flawed.rewriting(flawed.newtron(True, False)), "unbiased",
         "-1/K for the entry of the label: the mean is not q - e_y"),
    flaw("newtron:gamma=0.2", "no curvature when exploring",
         flawed.rewriting(flawed.newtron(False, True)), "unbiased",
         "the linear part lacks <G, W> there, so b is not that of the bounds"),
    flaw("newtron:gamma=0.2", "on the sphere", flawed.rewriting(NEWTRON["sphere"][0]), "leader",
         "weights that lie inside the ball are blown up to its surface"),
    flaw("newtron:gamma=0.2", "explores less", flawed.with_parameter(3, lambda gamma: gamma / 2), "",
         "its estimates weigh by the p that it plays, and no theorem is stated", "slack"),
    flaw("soba:gamma=0.2", "the root of p(y)", flawed.rewriting(flawed.soba(0, 1.0, 1.0, True)),
         "budget", "the authors' q after a mistake; the steps are the same"),
    flaw("soba:gamma=0.2", "Q twice", flawed.rewriting(flawed.soba(1, 2.0, 1.0, True)), "budget",
         "fixed exploration does not look at Q"),
    flaw("soba:gamma=0.2", "weight dropped", flawed.rewriting(flawed.soba(1, 1.0, 0.0, True)),
         "unbiased identity", "theta forgets how unlikely the guess was"),
    flaw("soba:gamma=0.2", "no budget", flawed.rewriting(flawed.soba(1, 1.0, 1.0, False)),
         "unbiased", "steps where the sum of the m is below zero; the others are right"),
    *(
        flaw(f"gaptron:loss={loss}", "half as fast again",
             flawed.with_parameter(0, lambda rate: 1.5 * rate), f"expected-step{more}",
             "the theorem has room for it on these streams, and rounds are judged by what is declared")
        for loss, more in (("smooth-hinge", " largest-rate"), ("hinge", " largest-rate"),
                           ("logistic-2", ""))
    ),
    flaw("gaptron:loss=smooth-hinge", "half the gap", flawed.predicting(flawed.half_the_gap),
         "per-round largest-rate", "too sure; it makes fewer mistakes here"),
    flaw("gaptron:loss=hinge", "a ninth of the rate", flawed.with_parameter(0, lambda rate: rate / 9),
         "expected-step largest-rate theorem",
         "slower than declared; with full information it costs more than the theorem allows"),
]  # fmt: skip
