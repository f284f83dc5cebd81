"""Regret of Hedge over the experts of the adaptive boosters.

===========  =====================================================================
symbol       name here (E20 of the second paper, its displays rebuilt)
===========  =====================================================================
eta_H        ``hedge``, the rate
v_t          ``shares``
M_i          mistakes of expert i, ``errors``
yhat_t       ``best``, the label of the expert that is followed, which is played unless the booster explores
===========  =====================================================================

With losses in [0, 1] two bounds hold for every rate, also for the authors' 1. With estimated losses the textbook's
second-order bound has the sum of their squares, whose mean is at most (k - 1)/rho a round: the regret is at most
ln N / eta_H + eta_H (k - 1) T / (2 rho) in the mean, least for eta_H = sqrt(2 rho ln N / ((k - 1) T)). At the authors'
rate 1 the last term alone is at least T / 2 (k - 1)/rho, which says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ....algorithms.boosting.adaptive import AdaBandit, AdaboostOLM
from ...author import (
    Bound,
    Cell,
    Claim,
    Form,
    Mean,
    MeanSides,
    PerRun,
    Proof,
    RunSides,
    Setting,
    Verdict,
)
from ...games.labels.case import Case
from ..baselines.hypotheses import number
from ..papers import BOOSTING
from ..sampled import SAMPLED_RUNS, guesser, non_vacuous_from
from .descent import full_settings
from .hypotheses import booster, of_adaptive
from .runs import Inside, inside, look_inside, numbers_at


def bandit_settings() -> tuple[Setting, ...]:
    """AdaBandit with the rate that the bound asks for, and with the authors'."""
    stream = "oracle-labels:n_labels=2,learners=10,edge=0.6"
    learner = "ada-bandit:weak=oracle-noise,learners=10,rho=0.4"
    learners = [f"{learner},tuning=theory", learner]
    return Setting.product(learners, stream, "bandit", 300, runs=SAMPLED_RUNS)


def prior(learners: int, rate: float) -> float:
    """ln N / eta; nothing for a single expert, whatever the rate."""
    return math.log(learners) / rate if learners > 1 else 0.0


def followed(mistakes: float, learners: int, rate: float, horizon: float) -> float:
    """Bound on the expected mistakes of a follower of an expert with so many mistakes, full information."""
    if learners == 1:
        return mistakes
    return min(
        mistakes + prior(learners, rate) + rate * horizon / 8,
        (rate * mistakes + math.log(learners)) / -math.expm1(-rate),
    )


def expected_regret(n_labels: int, rho: float, learners: int, rate: float, horizon: float) -> float:
    """Bound on the expected regret with estimated losses."""
    return prior(learners, rate) + rate * (n_labels - 1) * horizon / (2 * rho)


def _full_sides(case: Case, run: Inside) -> RunSides:
    """After every round, against the expert that is the best until then."""
    rate, rounds = number(case, "hedge"), np.arange(1, run.rounds + 1)
    observed = (run.shares * run.wrong).sum(axis=1).cumsum()
    least = run.wrong.cumsum(axis=0).min(axis=1)
    pairs = zip(least.tolist(), rounds.tolist(), strict=True)
    envelope = np.array([followed(m, run.learners, rate, t) for m, t in pairs])
    return RunSides(observed, envelope, rounds.astype(np.float64), "round")


HEDGE_REGRET = Claim(
    id="boosting/hedge-regret",
    title="mistakes of the expert that Hedge follows, full information",
    source=BOOSTING.at(
        "AdaBandit (Algorithm 3), Hedge with full information; the textbook's bounds put in here"
    ),
    forms=(
        Form(
            "derived",
            r"\sum_t\sum_i v_{t,i}1[\hat y^i_t\neq y_t] \le \min_i \min\Big\{M_i + \frac{\ln N}{\eta}"
            r" + \frac{\eta T}{8},\; \frac{\eta M_i + \ln N}{1 - e^{-\eta}}\Big\}",
            Proof.PROVED,
            "both for every rate and every sequence of losses in [0, 1]",
            of_adaptive("boosting/hedge-regret", AdaboostOLM),
        ),
    ),
    judge=PerRun(inside(_full_sides)),
    cases=full_settings,
)


def _bandit_sides(cell: Cell, runs: range, interpreted: bool) -> Iterator[tuple[int, MeanSides]]:
    """Both sides against the last expert, which is named before play."""
    case, T = cell.case, cell.case.horizon
    k, n = case.n_labels, booster(case).learners

    def bound(horizon: float) -> float:
        numbers = numbers_at(case, horizon)
        return expected_regret(k, numbers["rho"], n, numbers["hedge"], horizon)

    seen = [look_inside(case, run, interpreted=interpreted) for run in runs]
    base = np.array([run.errors[-1] for run in seen])
    made = expected_regret(k, number(case, "rho"), n, number(case, "hedge"), T)
    yield (
        T,
        MeanSides(
            np.array([float((run.best != run.truth).sum()) for run in seen]),
            (Bound(base + made, T + made),),
            base,
            least=made,
            most=T,
            guess=guesser(case, T),
            non_vacuous=non_vacuous_from(bound),
        ),
    )


def _bandit_expected(case: Case) -> Verdict:
    tuned = booster(case).tuning == "theory" and booster(case).hedge is None
    return Verdict.HOLDS if tuned else Verdict.VACUOUS


HEDGE_REGRET_BANDIT = Claim(
    id="boosting/hedge-regret-bandit",
    title="expected mistakes of the expert that Hedge follows, estimated losses",
    source=BOOSTING.at("AdaBandit (Algorithm 3), Hedge; constants derived here"),
    forms=(
        Form(
            "derived",
            r"E\Big[\sum_t 1[\hat y_t \neq y_t]\Big] \le E[M_i] + \frac{\ln N}{\eta} + \frac{\eta(k-1)T}{2\rho}"
            r" = E[M_i] + \sqrt{\frac{2(k-1)T\ln N}{\rho}} \text{ for } \eta = \sqrt{\frac{2\rho\ln N}{(k-1)T}}",
            Proof.PROVED,
            "estimates are unbiased, not negative, and their squares have mean (k - 1)/rho at most; tested with"
            " the last expert. At the authors' rate 1 it says nothing",
            of_adaptive("boosting/hedge-regret-bandit", AdaBandit),
            _bandit_expected,
        ),
    ),
    # the rate that makes the bound non-vacuous is that of T
    judge=Mean(play=_bandit_sides),
    cases=bandit_settings,
)
