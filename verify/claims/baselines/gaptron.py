"""Gaptron: descent at a fixed rate, whose every round pays for its own mistakes.

=========  ===================================================================================
symbol     name here
=========  ===================================================================================
a          gap map; the game's column ``ERROR`` is 1 - p(y) = (1 - e) 1[yhat != y] + e (K - 1) / K, e = max{a, gamma}
eta        ``rate``, the step size; with bandit feedback the weighted gradient is stepped by it
gamma      least probability of a uniform draw, 0 in full information
P(y)       probability that the label is observed, 1 in full information
c          ``SHARES``: the largest rate that pays for itself is c / (K X^2), times gamma / K for bandits
=========  ===================================================================================

In every round the mistake and the step together cost no more than the loss, but for gamma:
1 - p(y) + (eta/2) |gradient|^2 / P(y) <= loss + gamma (K - 1) / K. The rest is the regret of gradient descent,
|U|^2 / (2 eta). For the two hinge losses no larger c will do: with |x| = X nothing is left at margin 0 of the smooth
hinge, and just below margin 1/2 of the hinge.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ....arrays import FloatArray
from ...author import (
    Bound,
    Claim,
    Comparison,
    Form,
    Mean,
    MeanSides,
    OneRound,
    Pathwise,
    Proof,
    Setting,
    Sides,
    Source,
)
from ...games.labels.branches import Round
from ...games.labels.case import Case
from ...games.labels.compared.tried import against
from ...games.labels.record import ERROR, GRADIENT, LOSS, OBSERVATION
from ...games.labels.rounds import Rounds
from ...games.labels.run_sums import RunSums
from ..gappletron.rounds import gap_rounding
from ..sampled import SAMPLED_RUNS, guesser, non_vacuous_from
from .hypotheses import WITHOUT_LOSS, Unmet, about, enumerable, number, sums

SOURCE = Source(
    "van der Hoeven", "Exploiting the Surrogate Gap in Online Multiclass Classification", 2020
)

SHARES = {"smooth-hinge": 1 / 4, "hinge": 1 / 2, "logistic-2": math.log(2) / 2}
"""c for each loss."""


def full_settings() -> tuple[Setting, ...]:
    """Every loss with full information, without and with noise."""
    streams = (
        "one-hot:n_labels=3",
        "one-hot:n_labels=5,noise=0.01",
        "keywords:keyword_scale=1,n_labels=3",
    )
    return tuple(
        Setting(f"gaptron:loss={loss}", stream, "full", 2000, runs=1)
        for loss in SHARES
        for stream in streams
        if loss != "logistic-2" or "noise" not in stream
    )


def bandit_settings() -> tuple[Setting, ...]:
    """The two hinge losses with bandit feedback; the comparator's logistic loss alone would exceed all."""
    learners = ["gaptron:loss=smooth-hinge", "gaptron:loss=hinge"]
    streams = [f"one-hot:n_labels=3,noise={noise}" for noise in (0.0, 0.01)]
    return Setting.product(learners, streams, "bandit", 3000, runs=SAMPLED_RUNS)


def step_settings() -> tuple[Setting, ...]:
    """Every loss, short, with both kinds of feedback."""
    return tuple(
        Setting(
            f"gaptron:loss={loss}{gamma}",
            "keywords:keyword_scale=1,n_labels=4,noise=0.1",
            graph,
            400,
            comparator_norm=1.0,
            runs=1,
        )
        for loss in SHARES
        for graph, gamma in (("full", ""), ("bandit", ",gamma=0.2"))
    )


def round_settings() -> tuple[Setting, ...]:
    """Those where the loss is small enough for a round to fail."""
    short = (s for s in step_settings() if "logistic" not in s.learner or s.graph == "full")
    return (*full_settings(), *short)


def largest_rate(case: Case) -> float:
    """The rate that still pays for itself: c / (K X^2), and for bandits this times gamma / K."""
    K, X = case.n_labels, case.problem.feature_norm
    rate = SHARES[case.loss_name] / (K * X * X) if X > 0 else math.inf
    return rate if case.graph.is_full_information else rate * number(case, "gaptron.gamma") / K


def pays_for_itself(claim: str, full: bool | None = None) -> Unmet:
    """The hypotheses of the theorem: a known loss, and a rate that is not too large."""
    known = about(claim, "rate", "gamma")

    def unmet(case: Case) -> str | None:
        if reason := known(case):
            return reason
        if case.loss_name not in SHARES:
            return f"it is about {', '.join(SHARES)}, not {case.loss_name}"
        if full is not None and case.graph.is_full_information != full:
            return "it is about full information" if full else "it is about bandit feedback"
        rate, most = number(case, "gaptron.rate"), largest_rate(case)
        if rate > most * (1 + 1e-12):
            return f"the rate {rate:.6g} exceeds {most:.6g}, the largest that pays for itself"
        return None

    return unmet


def _round_sides(case: Case, form: Form, rounds: Rounds) -> Sides:
    K, rate, gamma = case.n_labels, number(case, "gaptron.rate"), number(case, "gaptron.gamma")
    losses, squares = rounds.column(LOSS), rounds.column(GRADIENT)
    observed = rounds.column(ERROR) + rate / 2 * squares / rounds.column(OBSERVATION)
    envelope = losses + gamma * (K - 1) / K
    most = 1 + rate / 2 * squares / rounds.column(OBSERVATION)
    room = 1e-13 * (K + 2) * (1 + losses) + 2 * gap_rounding(rounds)
    return Sides(observed, envelope, room, live=np.asarray(envelope < most))


PER_ROUND = Claim(
    id="gaptron/per-round",
    title="each round pays for its mistake and its step",
    source=SOURCE.at("the surrogate gap; rates derived here"),
    forms=(
        Form(
            "derived",
            r"1 - p_t(y_t) + \frac{\eta}{2}\frac{\|\nabla\ell_t(W_t)\|^2}{P_t(y_t)} \le \ell_t(W_t)"
            r" + \gamma\frac{K-1}{K}, \quad \eta \le \frac{c}{KX^2}\cdot\big\{1, \tfrac\gamma K\big\}",
            Proof.PROVED,
            "c = 1/4 for the smooth hinge, 1/2 for the hinge with kappa = 1/2, ln(2)/2 for the logistic loss",
            pays_for_itself("gaptron/per-round"),
            adaptive=True,
        ),
    ),
    judge=Pathwise(_round_sides),
    cases=round_settings,
)


def score_gradient(loss: str, scores: FloatArray, best: int, label: int, rival: int) -> FloatArray:
    """Gradient of the loss in the scores, by its definition."""
    gradient = np.zeros(len(scores))
    if loss == "logistic-2":
        chances = np.exp(scores - scores.max())
        gradient = chances / chances.sum()
        gradient[label] -= 1
        return np.asarray(gradient / math.log(2))
    margin = scores[label] - scores[rival]
    if loss == "hinge":
        slope = 0.0 if margin >= 1 or (label == best and margin >= 0.5) else -1.0
    else:
        slope = -2.0 * min(1.0, max(0.0, 1 - margin))
    gradient[label], gradient[rival] = slope, -slope
    return gradient


def _step(case: Case, form: Form, each: Round) -> Iterator[Comparison]:
    gradient = score_gradient(case.loss_name, each.scores, each.best, each.label, each.rival)
    stated = -number(case, "gaptron.rate") * np.outer(gradient, each.features)
    yield Comparison("the expected step", each.mean_change(), stated, each.size)


EXPECTED_STEP = Claim(
    id="gaptron/expected-step",
    title="the expected step is the rate times the gradient",
    source=SOURCE.at("Gaptron"),
    forms=(
        Form(
            "printed",
            r"E[W_{t+1} - W_t] = -\eta\,\nabla\ell_t(W_t)",
            Proof.PROVED,
            "importance weights are unbiased; with full information there is nothing to weigh",
            enumerable("gaptron/expected-step", "rate"),
        ),
    ),
    judge=OneRound(_step),
    cases=step_settings,
)


def _largest(case: Case, form: Form, each: Round) -> Iterator[Comparison]:
    """The rest of the loss at the largest rate and |x| = X, from the game's own p and step."""
    if each.squared_norm == 0:
        return
    K, c, label = case.n_labels, SHARES[case.loss_name], each.label
    scale = each.squared_norm * number(case, "gaptron.rate") ** 2
    squares = float(np.square(each.mean_change()).sum()) / scale
    paid = 1 - each.probabilities[label] + c / (2 * K) * squares
    margin = float(each.scores[label] - each.scores[each.rival])
    if case.loss_name == "smooth-hinge" and not each.before.weights.any():
        yield Comparison("what is left at W = 0", np.array(1 - paid), np.array(0.0), 1.0)
    # where the step is the whole gradient and not rounded away next to the weights
    if case.loss_name == "hinge" and label == each.best and margin < 0.5:
        stated = (0.5 - margin) / K
        size = 1 + each.size / number(case, "gaptron.rate") / math.sqrt(each.squared_norm)
        yield Comparison("what is left", np.array(1 - margin - paid), np.array(stated), size)


def _largest_unmet(case: Case) -> str | None:
    if reason := enumerable("gaptron/largest-rate", "rate")(case):
        return reason
    if case.loss_name not in ("smooth-hinge", "hinge"):
        return f"with the loss {case.loss_name} larger rates will do"
    return None if case.graph.is_full_information else "it is about full information"


LARGEST_RATE = Claim(
    id="gaptron/largest-rate",
    title="no larger rate pays for itself",
    source=SOURCE.at("the surrogate gap; rates derived here"),
    forms=(
        Form(
            "derived",
            r"\ell_t(W_t) - (1 - p_t(y_t)) - \frac{\eta}{2}\|\nabla\ell_t(W_t)\|^2 = 0 \text{ at } W_t = 0"
            r" \text{ (smooth hinge)},\; \tfrac1K(\tfrac12 - m^*_t) \text{ for } \hat y_t = y_t,\, m^*_t < \tfrac12"
            r" \text{ (hinge)}; \quad \|x_t\| = X,\; \eta = \frac{c}{KX^2}",
            Proof.PROVED,
            "nothing is left at margin 0 and just below 1/2, so any larger rate fails there",
            _largest_unmet,
        ),
    ),
    judge=OneRound(_largest),
    cases=step_settings,
)


def _regret(case: Case, norm: float) -> float:
    """|U|^2 / (2 eta)."""
    return norm * norm / (2 * number(case, "gaptron.rate"))


def _full_sides(case: Case, form: Form, rounds: Rounds) -> Sides:
    mistakes = rounds.prefix_sums("gaptron-errors", rounds.column(ERROR))
    base = rounds.prefix_sums("gaptron-comparator", rounds.comparator_losses)
    envelope, comparators = base + _regret(case, case.comparator.norm), {}
    for i, comparator, loss in against(
        rounds, "gaptron", lambda i: partial(_regret, case), mistakes
    ):
        base[i], envelope[i] = loss, loss + _regret(case, comparator.norm)
        comparators[i] = comparator
    return replace(sums(mistakes, envelope, rounds.played, base), comparators=comparators)


THEOREM = Claim(
    id="gaptron/theorem",
    title="expected mistakes with full information, any comparator",
    source=SOURCE.at("mistake bound with full information; rates derived here"),
    forms=(
        Form(
            "derived",
            r"\sum_t(1 - p_t(y_t)) \le \sum_t\ell_t(U) + \frac{\|U\|^2}{2\eta},"
            r" \quad \eta \le \frac{c}{KX^2}",
            Proof.PROVED,
            "the sum of gaptron/per-round and the regret of descent; it holds at every horizon",
            pays_for_itself("gaptron/theorem", True),
            adaptive=True,
        ),
    ),
    judge=Pathwise(_full_sides),
    cases=full_settings,
)


def _bandit_sides(case: Case, form: Form, totals: RunSums) -> MeanSides:
    K, T, gamma = case.n_labels, totals.rounds, number(case, "gaptron.gamma")
    compared = case.compared(totals, partial(_regret, case))
    regret, explored = _regret(case, case.comparator_norm), gamma * (K - 1) / K
    flat, base = compared.regret + explored * T, compared.loss
    return MeanSides(
        totals.errors,
        (Bound(base + flat, compared.most + flat),),
        base,
        least=compared.least + flat,
        most=T,
        guess=guesser(case, T),
        non_vacuous=non_vacuous_from(lambda horizon: regret + explored * horizon, T, WITHOUT_LOSS),
        most_base=compared.most,
    )


THEOREM_BANDIT = Claim(
    id="gaptron/theorem-bandit",
    title="expected mistakes with bandit feedback, any comparator",
    source=SOURCE.at("mistake bound with bandit feedback; rates derived here"),
    forms=(
        Form(
            "derived",
            r"E[M] \le E\Big[\sum_t\ell_t(U)\Big] + \frac{\|U\|^2}{2\eta} + \gamma\frac{K-1}{K}T,"
            r" \quad \eta \le \frac{c\,\gamma}{K^2X^2}",
            Proof.PROVED,
            "1 / P(y) is at most K / gamma, so eta / P(y) is at most the rate of full information",
            pays_for_itself("gaptron/theorem-bandit", False),
            every_horizon=True,  # of one that tunes gamma by T the judge sees it
        ),
    ),
    judge=Mean(_bandit_sides),
    cases=bandit_settings,
)
