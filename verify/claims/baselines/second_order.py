"""The diagonal second-order Perceptron: how its matrices and its potential move.

=========  ===================================================================
symbol     name here
=========  ===================================================================
theta, A   matrices ``THETA`` and ``DIAGONAL`` of the learner's memory; W = theta / A
z          ``step``, (e_y - e_yhat) x^T on a mistake, 0 otherwise
v          z * W, entry by entry; sums to s_y - s_yhat <= 0 on a mistake
=========  ===================================================================

The potential sum theta^2 / A is minus twice the least value of a/2 |w|^2 + sum_t (sum (z_t w)^2 / 2 - <z_t, w>), whose
minimiser is W. One mistake changes it by 2 <z, W> + sum (z^2 - 2 z^2 v - A v^2) / (A + z^2), exactly. That is the sum
of z^2 / (A + z^2), as in the analysis of the full matrix, and of A v (2 - v) / (A + z^2). <z, W> = sum v <= 0 would
make the latter negative if all entries had the same A and z^2; here entries of v of either sign weigh differently.
Hence no mistake bound is stated.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....algorithms.second_order import DIAGONAL, THETA
from ...author import Claim, Comparison, Form, OneRound, Proof, Setting, Source
from ...games.labels.branches import Round
from ...games.labels.case import Case
from .hypotheses import enumerable

SOURCE = Source("Cesa-Bianchi, Conconi and Gentile", "A Second-Order Perceptron Algorithm", 2005)


def round_settings() -> tuple[Setting, ...]:
    """Short games with several labels, and features of several sizes."""
    return tuple(
        Setting(f"second-order-perceptron:regulariser={a:g}", stream, "full", 400, comparator_norm=1.0, runs=1)
        for a, stream in (
            (1, "keywords:keyword_scale=1,n_labels=4,noise=0.2"),
            (0.1, "one-hot:n_labels=4,noise=0.2"),
            (3, "crafted-scores:n_labels=4"),
        )
    )  # fmt: skip


def _matrices(case: Case, form: Form, each: Round) -> Iterator[Comparison]:
    step = each.outer(each.label, each.best)
    size = each.size
    for branch in each.branches:
        change = branch.after.memory - each.before.memory
        yield Comparison("the change of theta", change[THETA], step, size)
        yield Comparison("the change of A", change[DIAGONAL], step * step, size)
        stated = branch.after.memory[THETA] / branch.after.memory[DIAGONAL]
        yield Comparison("the weights", branch.after.weights, stated, size)


MATRICES = Claim(
    id="second-order-perceptron/matrices",
    title="what a mistake adds to the matrices",
    source=SOURCE.at("the algorithm, with a diagonal matrix for each label"),
    forms=(
        Form(
            "derived",
            r"\theta_{t+1} = \theta_t + z_t,\; A_{t+1} = A_t + z_t\circ z_t,\; W_{t+1} ="
            r" \theta_{t+1}\oslash A_{t+1}, \quad z_t = (e_{y_t} - e_{\hat y_t})\,x_t^\top",
            Proof.PROVED,
            "a definition; zero where the best label is the true one",
            enumerable("second-order-perceptron/matrices", "regulariser"),
        ),
    ),
    judge=OneRound(_matrices),
    cases=round_settings,
)


def _potential(case: Case, form: Form, each: Round) -> Iterator[Comparison]:
    theta, diagonal = each.before.memory[THETA], each.before.memory[DIAGONAL]
    z = each.outer(each.label, each.best)
    v = z * each.before.weights
    gain = (z * z * (1 - 2 * v) - diagonal * v * v) / (diagonal + z * z)
    stated = 2 * float(v.sum()) + float(gain.sum())
    before = float((theta * theta / diagonal).sum())
    for branch in each.branches:
        found, after = branch.after.memory[THETA], branch.after.memory[DIAGONAL]
        change = float((found * found / after).sum()) - before
        size = 2 * before + float(np.abs(v).sum() + np.abs(gain).sum()) + 1
        yield Comparison("the potential", np.array(change), np.array(stated), size)


POTENTIAL = Claim(
    id="second-order-perceptron/potential",
    title="change of the potential in one round",
    source=SOURCE.at("the potential of the analysis; diagonal form derived here"),
    forms=(
        Form(
            "derived",
            r"\sum\frac{\theta_{t+1}^2}{A_{t+1}} - \sum\frac{\theta_t^2}{A_t} = 2\langle z_t, W_t\rangle"
            r" + \sum\frac{z_t^2(1-2v_t) - A_tv_t^2}{A_t + z_t^2}, \quad v_t = z_t\circ W_t",
            Proof.PROVED,
            "algebra, entry by entry: (theta + z)^2 / (A + z^2) - theta^2 / A with theta = A W",
            enumerable("second-order-perceptron/potential", "regulariser"),
        ),
    ),
    judge=OneRound(_potential),
    cases=round_settings,
)
