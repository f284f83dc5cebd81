"""Newtron: the estimated gradient is unbiased, and the weights are the leader of norm at most D.

==========  ===================================================================
symbol      name here
==========  ===================================================================
q           ``chances``, softmax of alpha times the scores
G           estimated gradient, read off the change of b
b, A        the matrices ``LINEAR`` and ``DIAGONAL`` of the learner's memory
kappa       ``trust``: p(y) after a right guess, 1 after a wrong one
beta, D     curvature of the quadratic bounds; largest norm of the weights
lambda      ``shift``, multiplier of the constraint |W| <= D
==========  ===================================================================

b moves by (1 - kappa beta g) G with g = <G, W>, so g is a root of kappa beta g^2 - g + <change of b, W> = 0: the
smaller one, since kappa |g| is at most D |x| / (1 - gamma + gamma/K), the largest q / p being that of q = 1, and
beta times that is below 1/4 for the usual beta.
No regret bound is stated: the linear part is that of a full matrix, the quadratic part that of a diagonal one, and the
two do not belong to one bound of the loss.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy

from ....algorithms.newton import DIAGONAL, LINEAR
from ....arrays import FloatArray
from ...author import Claim, Comparison, Form, OneRound, Proof, Setting, Source
from ...games.labels.branches import Branch, Round
from ...games.labels.case import Case
from .hypotheses import enumerable, number, with_option

SOURCE = Source(
    "Hazan and Kale",
    "NEWTRON: an Efficient Bandit Algorithm for Online Multiclass Prediction",
    2011,
)

TRUSTED = 0.25
"""kappa beta |<G, W>| below which the smaller root is the right one."""


def round_settings() -> tuple[Setting, ...]:
    """Short games with little and much exploration, with weights below and at the largest norm."""
    learners = ["newtron:gamma=0.1,radius=1,beta=0.01", "newtron:gamma=0.5,radius=5,beta=0.001"]
    streams = ["keywords:keyword_scale=1,n_labels=4,noise=0.2", "one-hot:n_labels=5,noise=0.1"]
    return Setting.product(learners, streams, "bandit", 400, comparator_norm=1.0, runs=1)


def _gradient(case: Case, each: Round, branch: Branch) -> FloatArray:
    right = branch.action == each.label
    beta = number(case, "newtron.beta") * (each.probabilities[each.label] if right else 1.0)
    change = branch.after.memory[LINEAR] - each.before.memory[LINEAR]
    known = float((change * each.before.weights).sum())
    lead = 2 * known / (1 + math.sqrt(max(0.0, 1 - 4 * beta * known)))
    return np.asarray(change / (1 - beta * lead))


def _unbiased(case: Case, form: Form, each: Round) -> Iterator[Comparison]:
    gamma, K = number(case, "newtron.gamma"), case.n_labels
    reach = math.sqrt(each.squared_norm) * number(case, "newtron.radius") / (1 - gamma + gamma / K)
    if number(case, "newtron.beta") * reach > TRUSTED:
        return
    chances = np.exp(number(case, "newtron.alpha") * (each.scores - each.scores.max()))
    chances /= chances.sum()
    chances[each.label] -= 1
    found = each.mean(lambda branch: _gradient(case, each, branch))
    yield Comparison(
        "the expected gradient", found, np.outer(chances, each.features), 10 * each.size
    )


UNBIASED = Claim(
    id="newtron/unbiased",
    title="the expected gradient is that of the logistic loss",
    source=SOURCE.at("the estimated gradient"),
    forms=(
        Form(
            "printed",
            r"E[G_t] = (q_t - e_{y_t})\,x_t^\top = -\tfrac1\alpha\nabla\ln q_t(y_t)",
            Proof.PROVED,
            "a right guess has (1 - q(y)) (1/K - e_y) in expectation, the wrong ones sum q(j) (e_j - 1/K)",
            enumerable("newtron/unbiased", "alpha", "beta", "radius", "gamma"),
        ),
    ),
    judge=OneRound(_unbiased),
    cases=round_settings,
)


def leader(linear: FloatArray, diagonal: FloatArray, radius: float) -> FloatArray:
    """The minimiser of sum A W^2 / 2 + <b, W> over norms up to ``radius``, by bracketing its multiplier."""

    def excess(shift: float) -> float:
        return float(np.linalg.norm(linear / (diagonal + shift))) / radius - 1

    if excess(0.0) <= 0:
        return np.asarray(-linear / diagonal)
    top = float(np.linalg.norm(linear)) / radius
    shift = scipy.optimize.brentq(excess, 0.0, top, xtol=1e-15 * top, rtol=1e-15)
    return np.asarray(-linear / (diagonal + shift))


def _leads(case: Case, form: Form, each: Round) -> Iterator[Comparison]:
    radius = number(case, "newtron.radius")
    for branch in each.branches:
        memory = branch.after.memory
        stated = leader(memory[LINEAR], memory[DIAGONAL], radius)
        # the learner stops when the norm is right to 1e-12 itself
        yield Comparison("the weights", branch.after.weights, stated, 100 * radius)


LEADER = Claim(
    id="newtron/leader",
    title="the weights minimise the quadratic bounds over the ball",
    source=SOURCE.at("follow the leader, with diagonal matrices"),
    forms=(
        Form(
            "derived",
            r"W_{t+1} = \arg\min_{\|W\|_F\le D}\tfrac12\sum A_{t+1}W^2 + \langle b_{t+1}, W\rangle"
            r" \quad\text{up to } 10^{-10}D",
            Proof.PROVED,
            "a definition: solved again by bracketing the multiplier of the ball",
            with_option(enumerable("newtron/leader", "radius"), "projection", "exact"),
        ),
    ),
    judge=OneRound(_leads),
    cases=round_settings,
)
