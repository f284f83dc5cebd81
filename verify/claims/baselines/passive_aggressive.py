"""Passive-aggressive learning: where a step ends, and what the losses add up to.

==========  =====================================================================
symbol      name here
==========  =====================================================================
l_t, l*_t   hinge losses max{0, 1 - margin} of the learner and of the comparator U
r           ``rival``, the best label other than the true one
tau         ``size`` of the step: W moves by tau (e_y - e_r) x^T, of squared norm 2 tau^2 |x|^2
C           ``aggressiveness``
==========  =====================================================================

All bounds come from |W_t - U|^2 - |W_{t+1} - U|^2 >= tau (2 l_t - 2 tau |x|^2 - 2 l*_t), which telescopes to
sum tau_t (2 l_t - 2 tau_t |x_t|^2 - 2 l*_t) <= |U|^2. Two rows move, so 2 |x|^2 stands for the |x|^2 of two classes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....algorithms.losses import margins
from ....arrays import FloatArray
from ...author import Claim, Comparison, Form, OneRound, Pathwise, Proof, Setting, Sides, Source
from ...games.labels.branches import Round
from ...games.labels.case import Case
from ...games.labels.record import ERROR
from ...games.labels.rounds import Rounds
from .hypotheses import about, enumerable, number, sums, with_option

SOURCE = Source(
    "Crammer, Dekel, Keshet, Shalev-Shwartz and Singer",
    "Online Passive-Aggressive Algorithms",
    2006,
)


def loss_settings() -> tuple[Setting, ...]:
    """Every variant on streams without and with noise."""
    variants = ("pa", "pa-1", "pa-1,aggressiveness=0.1", "pa-2")
    learners = [f"passive-aggressive:variant={variant}" for variant in variants]
    streams = [
        "one-hot:n_labels=3",
        "one-hot:n_labels=3,noise=0.05",
        "keywords:keyword_scale=1,n_labels=3",
    ]
    return Setting.product(learners, streams, "full", 2000, runs=1)


def step_settings() -> tuple[Setting, ...]:
    """Every variant, short, with several labels."""
    variants = ("pa", "pa-1,aggressiveness=0.05", "pa-2")
    learners = [f"passive-aggressive:variant={variant}" for variant in variants]
    stream = "keywords:keyword_scale=1,n_labels=3,noise=0.2"
    return Setting.product(learners, stream, "full", 400, runs=1)


def _losses(rounds: Rounds) -> FloatArray:
    m, _ = margins(rounds.block.scores, rounds.block.labels)
    return np.maximum(0.0, 1.0 - m)


def _pa_sides(case: Case, form: Form, rounds: Rounds) -> Sides:
    norms = rounds.block.squared_norms
    inverse = np.divide(1.0, norms, out=np.zeros(len(norms)), where=norms > 0)
    own = rounds.prefix_sums("pa-own", _losses(rounds) ** 2 * inverse)
    other = rounds.prefix_sums("pa-other", case.comparator_hinge[rounds.window] ** 2 * inverse)
    idle = rounds.prefix_sums("pa-idle", inverse)
    envelope = (np.sqrt(other) + np.sqrt(other + 2 * case.comparator.norm**2)) ** 2
    return sums(own, envelope, idle)


def _pa_1_sides(case: Case, form: Form, rounds: Rounds) -> Sides:
    c = number(case, "passive-aggressive.aggressiveness")
    mistakes = rounds.prefix_sums("pa-1-mistakes", rounds.column(ERROR))
    other = rounds.prefix_sums("pa-1-other", case.comparator_hinge[rounds.window])
    factor = max(2 * case.sequence.feature_norm**2, 1 / c)
    envelope = factor * (case.comparator.norm**2 + 2 * c * other)
    return sums(mistakes, envelope, rounds.played)


def _pa_2_sides(case: Case, form: Form, rounds: Rounds) -> Sides:
    c = number(case, "passive-aggressive.aggressiveness")
    own = rounds.prefix_sums("pa-2-own", _losses(rounds) ** 2)
    other = rounds.prefix_sums("pa-2-other", case.comparator_hinge[rounds.window] ** 2)
    factor = 2 * case.sequence.feature_norm**2 + 1 / (2 * c)
    envelope = factor * (case.comparator.norm**2 + 2 * c * other)
    return sums(own, envelope, rounds.played)


LOSS_BOUND = Claim(
    id="passive-aggressive/loss-bound",
    title="squared losses of PA, any comparator",
    source=SOURCE.at("bounds for PA, with two rows for the step"),
    forms=(
        Form(
            "derived",
            r"\sum_t\frac{\ell_t^2}{\|x_t\|^2} \le \Big(\sqrt{B} + \sqrt{B + 2\|U\|^2}\Big)^2,"
            r" \quad B = \sum_t\frac{\ell_t^{*2}}{\|x_t\|^2} \quad\text{(if } U \text{ separates: }"
            r" \textstyle\sum_t\ell_t^2 \le 2X^2\|U\|^2)",
            Proof.PROVED,
            "with tau = l / (2|x|^2) the telescoped sum is (A - 2 <l, l*>) / 2 <= |U|^2, then Cauchy-Schwarz",
            with_option(about("passive-aggressive/loss-bound"), "variant", "pa"),
            adaptive=True,
        ),
    ),
    judge=Pathwise(_pa_sides),
    cases=loss_settings,
)

MISTAKE_BOUND = Claim(
    id="passive-aggressive/mistake-bound",
    title="mistakes of PA-I, any comparator",
    source=SOURCE.at("mistake bound for PA-I, with two rows for the step"),
    forms=(
        Form(
            "derived",
            r"M \le \max\{2X^2, 1/C\}\Big(\|U\|^2 + 2C\sum_t\ell_t^*\Big)",
            Proof.PROVED,
            "tau <= C and 2 tau |x|^2 <= l, and on a mistake l >= 1 and tau l >= min{C, 1/(2X^2)}",
            with_option(
                about("passive-aggressive/mistake-bound", "aggressiveness"), "variant", "pa-1"
            ),
            adaptive=True,
        ),
    ),
    judge=Pathwise(_pa_1_sides),
    cases=loss_settings,
)

LOSS_BOUND_2 = Claim(
    id="passive-aggressive/loss-bound-2",
    title="squared losses of PA-II, any comparator",
    source=SOURCE.at("bound for PA-II, with two rows for the step"),
    forms=(
        Form(
            "derived",
            r"\sum_t\ell_t^2 \le \Big(2X^2 + \frac{1}{2C}\Big)\Big(\|U\|^2 + 2C\sum_t\ell_t^{*2}\Big)",
            Proof.PROVED,
            "2 tau l* <= tau^2/(2C) + 2C l*^2, and tau = l / (2|x|^2 + 1/(2C)) makes the rest tau l",
            with_option(
                about("passive-aggressive/loss-bound-2", "aggressiveness"), "variant", "pa-2"
            ),
            adaptive=True,
        ),
    ),
    judge=Pathwise(_pa_2_sides),
    cases=loss_settings,
)


def _size(case: Case, each: Round) -> float:
    """tau by its definition."""
    loss = max(0.0, 1.0 - float(each.scores[each.label] - each.scores[each.rival]))
    variant = getattr(case.learner, "variant", "pa")
    if variant == "pa-2":
        return loss / (
            2 * each.squared_norm + 1 / (2 * number(case, "passive-aggressive.aggressiveness"))
        )
    size = loss / (2 * each.squared_norm)
    return (
        min(size, number(case, "passive-aggressive.aggressiveness")) if variant == "pa-1" else size
    )


def _step(case: Case, form: Form, each: Round) -> Iterator[Comparison]:
    if each.squared_norm > 0:
        stated = _size(case, each) * each.outer(each.label, each.rival)
        yield Comparison("the step", each.mean_change(), stated, each.size)


STEP = Claim(
    id="passive-aggressive/step",
    title="length and direction of a step",
    source=SOURCE.at("PA, PA-I and PA-II for several labels"),
    forms=(
        Form(
            "printed",
            r"W_{t+1} - W_t = \tau_t(e_{y_t} - e_{r_t})x_t^\top, \quad \tau_t = \frac{\ell_t}{2\|x_t\|^2},"
            r"\; \min\Big\{C, \frac{\ell_t}{2\|x_t\|^2}\Big\},\; \frac{\ell_t}{2\|x_t\|^2 + 1/(2C)}",
            Proof.PROVED,
            "a definition; the rival is the best label other than the true one, whatever was predicted",
            enumerable("passive-aggressive/step"),
        ),
    ),
    judge=OneRound(_step),
    cases=step_settings,
)


def _margin(case: Case, form: Form, each: Round) -> Iterator[Comparison]:
    if each.squared_norm == 0:
        return
    y, r = each.label, each.rival
    for branch in each.branches:
        scores = branch.after.weights @ each.features
        size = float(np.abs(branch.after.weights).max() * np.abs(each.features).sum())
        stated = max(1.0, float(each.scores[y] - each.scores[r]))
        yield Comparison(
            "the new lead over the rival", scores[y] - scores[r], np.array(stated), size
        )


MARGIN = Claim(
    id="passive-aggressive/margin",
    title="after a step of PA the lead over the rival is exactly one",
    source=SOURCE.at("the constraint of PA"),
    forms=(
        Form(
            "printed",
            r"\langle W_{t+1}, (e_{y_t} - e_{r_t})x_t^\top\rangle ="
            r" \max\{1, \langle W_t, (e_{y_t} - e_{r_t})x_t^\top\rangle\}",
            Proof.PROVED,
            "the step adds 2 tau |x|^2 = l to the lead; the margin is one if the rival stays the rival",
            with_option(enumerable("passive-aggressive/margin"), "variant", "pa"),
        ),
    ),
    judge=OneRound(_margin),
    cases=step_settings,
)
