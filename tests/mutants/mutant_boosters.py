"""Broken boosters, judged on what ``verify --learner`` plays."""

from __future__ import annotations

import flawed_boosters as flawed
from judged import Mutant

from boundcheck.verify import catalog

BANDIT = "bandit-bbm:weak=oracle-noise,learners=10,gamma=0.3,ties=random,rho=0.2"
STRONG = "bandit-bbm:weak=oracle-noise,learners=40,gamma=0.35,ties=random,rho=0.1"
FULL = "online-mbbm:weak=oracle-noise,learners=10,ties=random"
OLM = "adaboost-olm:weak=oracle-noise,learners=20"
ADA = "ada-bandit:weak=oracle-noise,learners=20,rho=0.5,tuning=theory"
ADVISED = (
    "bandit-bbm:weak=hedge-advice+rate=0.1,learners=17,gamma=0.56,scale=exact,ties=random,rho=0.1"
)
BOUNDED = "ada-bandit:weak=oracle-noise,learners=10,rho=0.05,step=3,hedge=0.03"


def booster(
    right: str, name: str, change: flawed.Change, caught_by: str, why: str, kind: str = "caught"
) -> Mutant:
    """A flawed booster; claims are those about boosting."""
    learner = flawed.flawed(catalog.learner(right), name, change)
    claims = frozenset(f"boosting/{claim}" for claim in caught_by.split())
    return Mutant(name, right, learner, claims, why, kind)


MUTANTS = [
    booster(BANDIT, "explores half as often", flawed.with_other(rho=0.1),
            "exact-error loss-estimate-unbiased",
            "fewer mistakes than declared: every upper bound is true of it"),
    booster(BANDIT, "explores twice as often", flawed.with_other(rho=0.4),
            "exact-error asymptotic-error loss-estimate-unbiased",
            "the bounds by majority have room for it"),
    booster(BANDIT, "explores the first other label", flawed.explores_the_first,
            "loss-estimate-unbiased", "the number of its mistakes is off by too little in so few rounds"),
    booster(BANDIT, "explores the next label only", flawed.explores_the_next,
            "loss-estimate-unbiased", "a wrong label that wins is equally likely to be any, and so is the next one"),
    booster(BANDIT, "one learner fewer", flawed.with_other(learners=9), "exact-error",
            "hardly worse, and it costs fewer rounds than exploring may", "below"),
    booster(STRONG, "one of its learners", flawed.with_other(learners=1),
            "exact-error asymptotic-error", "the others do not vote; the bounds by potentials are weak here"),
    booster(BANDIT, "ties to the first label", flawed.with_other(ties="lowest"), "exact-error",
            "the true label is the first"),
    booster(BANDIT, "ties drawn again for the update", flawed.redraws_ties, "",
            "it learns from a label that it did not play, which weak learners of a fixed edge ignore", "slack"),
    booster(BANDIT, "counts on another edge", flawed.with_other(gamma=0.0), "",
            "potentials of other weak learners, which weak learners of a fixed edge ignore", "slack"),
    booster(FULL, "one learner fewer", flawed.with_other(learners=9), "exact-error",
            "it votes with nine"),
    booster(FULL, "ties to the first label", flawed.with_other(ties="lowest"), "exact-error",
            "the true label is the first"),
    booster(OLM, "climbs", flawed.climbs, "sgd-regret",
            "Hedge and the telescope take whatever votes there are, at their own regret"),
    booster(OLM, "never moves", flawed.never_moves, "",
            "weights 1 for ever are good enough here: a regret below the bound is no flaw that a bound sees", "slack"),
    booster(OLM, "Hedge blames the neighbour", flawed.blames_the_neighbour, "hedge-regret",
            "it follows the expert before the best one's"),
    booster(OLM, "Hedge hardly learns", flawed.with_other(hedge=1e-6), "hedge-regret",
            "it declares the rate 1"),
    booster(OLM, "ties drawn again for the update", flawed.redraws_experts, "",
            "with weights that differ there are none but in the first round", "slack"),
    booster(ADA, "steps of another rate", flawed.with_other(rho=0.25),
            "loss-estimate-unbiased slope-estimate-unbiased",
            "smaller steps and less exploration, inside the slack of both bounds"),
    booster(BOUNDED, "steps up", flawed.steps_up,
            "sgd-estimates sgd-regret-bandit slope-estimate-unbiased",
            "the bound on mistakes is vacuous in so few rounds"),
    booster(BOUNDED, "explores in every other round", flawed.explores_too_often,
            "loss-estimate-unbiased sgd-estimates", "as above"),
    booster(BOUNDED, "draws any expert", flawed.draws_any_expert, "",
            "the regret of Hedge is judged where the rate is the theory's", "slack"),
    *(
        booster(ADVISED, name, flawed.tells(name),
                "cost-estimate-unbiased potential-cost",
                "the bounds on mistakes take thousands of rounds to see it")
        for name in ("transposed", "wrong sign", "costs of no votes", "told nothing", "no importance weight")
    ),
]  # fmt: skip
