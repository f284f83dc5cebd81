"""Mistakes of the adaptive boosters in terms of the edges that their weak learners had on the run.

============  ===========================================================================
symbol        name here (E16, E21 of the second paper, its displays rebuilt)
============  ===========================================================================
gamma_i       ``edges``, measured on the run: they are part of the statement
M_i           mistakes of expert i, ``errors``; M_0 = T
Reg_i         ``regrets`` of the weight of vote i
============  ===========================================================================

Each vote lowers the logistic loss by gamma_i^2 M_{i-1} / 4 but for the regret of its weight, since an expert that errs
leaves a slope of at least 1/2. The loss starts at (k - 1) T ln 2 and cannot fall below zero: some expert errs seldom,
and Hedge finds it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ....algorithms.boosting.adaptive import AdaBandit, AdaboostOLM
from ....arrays import FloatArray
from ...author import Cell, Claim, Form, PerRun, Proof, RunSides, Setting, Tail, TailSides, Verdict
from ...games.labels.case import Case
from ...judges.mean import Play
from ..baselines.hypotheses import about
from ..papers import BOOSTING
from ..sampled import deltas_for, guesser, non_vacuous_from
from .descent import bandit_regret, full_regret
from .hedge import followed, prior
from .hypotheses import adapts, booster, explores_at, of_adaptive
from .runs import Inside, inside, look_inside, numbers_at

Envelope = Callable[[float, float, float], float]
"""Sum of the squared edges, horizon and delta -> bound on the mistakes."""


def olm_settings() -> tuple[Setting, ...]:
    """Adaboost.OLM with weak learners so good that its bound is non-vacuous."""
    learner = "adaboost-olm:weak=oracle-noise,learners=20"
    stream = "oracle-labels:n_labels=2,learners=20,edge=0.9"
    return (Setting(learner, stream, "full", 3000, runs=14),)


def bandit_settings() -> tuple[Setting, ...]:
    """AdaBandit with such weak learners."""
    learner = "ada-bandit:weak=oracle-noise,learners=40,tuning=theory"
    stream = "oracle-labels:n_labels=2,learners=40,edge=0.9"
    learners = [f"{learner},gamma=0.9", f"{learner},rho=0.3"]
    return Setting.product(learners, stream, "bandit", 4000, runs=14)


def tuned_settings() -> tuple[Setting, ...]:
    """The same with the paper's rate, which is below 1/2 there."""
    return bandit_settings()[:1]


def telescoping_settings() -> tuple[Setting, ...]:
    """Many weak learners whose edges do not fade, so that the sum of their squares is large."""
    return tuple(
        Setting(
            f"{learner},weak=oracle-noise,learners=20",
            f"oracle-labels:n_labels={k},learners=20,edge={edge}",
            graph,
            2000,
            runs=2,
        )
        for learner, graph, k, edge in (
            ("adaboost-olm:tuning=default", "full", 2, 0.9),
            ("adaboost-olm:tuning=theory", "full", 3, 0.8),
            ("ada-bandit:tuning=theory,rho=0.3", "bandit", 2, 0.9),
        )
    )


def _telescoped(case: Case, run: Inside) -> RunSides:
    """The statement, and the stronger one that it comes from."""
    squares = run.edges**2
    earlier = np.concatenate([[run.rounds], run.errors[:-1]])
    observed = np.array([squares.sum() * run.errors.min(), squares @ earlier]) / 4
    start = (run.n_labels - 1) * run.rounds * math.log(2)
    envelope = np.full(2, start + run.regrets.sum())
    return RunSides(observed, envelope, np.full(2, squares.sum() * run.rounds / 4), "sum")


def _either(case: Case) -> str | None:
    return about("boosting/telescoping")(case) or adapts(case)


TELESCOPING = Claim(
    id="boosting/telescoping",
    title="some expert errs seldom, but for the regrets of the weights",
    source=BOOSTING.at("AdaBandit (Algorithm 3), argument of the mistake bound; derived here"),
    forms=(
        Form(
            "derived",
            r"\tfrac{1}{4}\Big(\sum_i\gamma_i^2\Big)\min_i M_i \le \tfrac{1}{4}\sum_i\gamma_i^2M_{i-1} \le"
            r" (k-1)T\ln 2 + \sum_i \mathrm{Reg}_i",
            Proof.PROVED,
            "the key inequality of the edge, summed over the votes",
            _either,
        ),
    ),
    judge=PerRun(inside(_telescoped)),
    cases=telescoping_settings,
)


def olm_envelope(case: Case, squares: float, horizon: float, delta: float) -> float:
    """Bound on the mistakes of Adaboost.OLM."""
    k, n, rate = case.n_labels, booster(case).learners, numbers_at(case, horizon)["hedge"]
    total = (k - 1) * horizon * math.log(2) + n * full_regret(k, horizon)
    least = 4 * total / squares
    return followed(least, n, rate, horizon) + math.sqrt(horizon / 2 * math.log(1 / delta))


def _hedged(case: Case, rho: float, rate: float, horizon: float, delta: float) -> float:
    """The cost of following by estimated losses, of the draws and of exploring, with probability 1 - 4 delta."""
    n, b = booster(case).learners, max((case.n_labels - 1) / rho, 1 / (1 - rho))
    half = math.sqrt(horizon / 2)
    luck = half * math.sqrt(math.log(1 / delta))
    squared = b * horizon + b * b * luck
    estimates = b * (half * math.sqrt(math.log(n / delta)) + luck)
    return rho * horizon + luck + prior(n, rate) + rate / 2 * squared + estimates


def _prescribed(n_labels: int, learners: int, squares: float, horizon: float) -> float:
    """The paper's rho, k N^(2/3) / (T sum gamma_i^2)^(1/3)."""
    return n_labels * float(np.cbrt(learners**2 / (horizon * squares)))


PARTS = 5
"""Events that each may fail with probability delta / 5."""


def bandit_envelope(tuned: bool, case: Case, squares: float, horizon: float, delta: float) -> float:
    """Bound on the mistakes of AdaBandit, general or in the published shape."""
    k, each, numbers = case.n_labels, delta / PARTS, numbers_at(case, horizon)
    rho, rate = numbers["rho"], numbers["hedge"]
    n: int = booster(case).learners
    if tuned:
        constant = 12 + 8 * math.sqrt(2) * math.sqrt(math.log(2 * n / each))
        share = 4 - 2 * math.log(2) * (k - 1) / k
        rest = 2 / share * k**3 * (n * constant / rho) ** 2 / squares
        least = 8 * k / squares * horizon + rest
    else:
        total = (k - 1) * horizon * math.log(2) + n * bandit_regret(k, rho, horizon, each / n)
        least = 4 * total / squares
    return least + _hedged(case, rho, rate, horizon, each)


def _with_edges(envelope_of: Callable[[Case, float, float, float], float]) -> Play:
    """The mistakes of each run, and the bound with the edges that its weak learners had."""

    def play(cell: Cell, runs: range, interpreted: bool) -> Iterator[tuple[int, TailSides]]:
        case, T, deltas = cell.case, cell.case.horizon, deltas_for(len(runs))
        seen = [look_inside(case, run, interpreted=interpreted) for run in runs]
        squares: FloatArray = np.array([float(run.edges @ run.edges) for run in seen])
        where = non_vacuous_from(
            lambda horizon: envelope_of(case, float(squares.max()), horizon, max(deltas))
        )
        bounds = {
            d: np.array([envelope_of(case, s, T, d) for s in squares.tolist()]) for d in deltas
        }
        yield (
            T,
            TailSides(
                np.array([float(run.mistakes) for run in seen]),
                bounds,
                np.zeros(len(runs)),
                f"with the edges of these runs, sum of squares {squares.max():.3g}, {where}",
                guess=guesser(case, T),
            ),
        )

    return play


def _tuned_unmet(case: Case) -> str | None:
    if reason := of_adaptive("boosting/ada-bandit-tuned", AdaBandit)(case):
        return reason
    n = booster(case).learners
    squares = n * booster(case).gamma ** 2
    return explores_at(case, _prescribed(case.n_labels, n, squares, case.horizon))


ADABOOST_OLM = Claim(
    id="boosting/adaboost-olm",
    title="mistakes of Adaboost.OLM with high probability",
    source=BOOSTING.at(
        "AdaBandit (Algorithm 3), mistake bound with full information; constants derived here"
    ),
    forms=(
        Form(
            "derived",
            r"M_T \le H\Big(\frac{4}{\sum_i\gamma_i^2}\big[(k-1)T\ln 2 + 4\sqrt{2}(k-1)N\sqrt{T}\big]\Big)"
            r" + \sqrt{\tfrac{T}{2}\ln\tfrac{1}{\delta}},"
            r" \quad H(m) = \min\Big\{m + \frac{\ln N}{\eta} + \frac{\eta T}{8},\;"
            r" \frac{\eta m + \ln N}{1-e^{-\eta}}\Big\}",
            Proof.PROVED,
            "boosting/telescoping with the regrets of boosting/sgd-regret, and boosting/hedge-regret; the draws of"
            " the expert are a martingale",
            of_adaptive("boosting/adaboost-olm", AdaboostOLM),
        ),
    ),
    judge=Tail(play=_with_edges(olm_envelope)),
    cases=olm_settings,
)

_REST = (
    r" R = \rho T + (1 + b)\sqrt{\tfrac{T}{2}\ln\tfrac{5}{\delta}} + b\sqrt{\tfrac{T}{2}\ln\tfrac{5N}{\delta}}"
    r" + \frac{\ln N}{\eta} + \frac{\eta}{2}\Big(bT + b^2\sqrt{\tfrac{T}{2}\ln\tfrac{5}{\delta}}\Big),"
    r" \; b = \max\Big\{\frac{k-1}{\rho}, \frac{1}{1-\rho}\Big\}"
)

ADA_BANDIT = Claim(
    id="boosting/ada-bandit",
    title="mistakes of AdaBandit with high probability",
    source=BOOSTING.at("AdaBandit (Algorithm 3), mistake bound; constants derived here"),
    forms=(
        Form(
            "derived",
            r"M_T \le \frac{4}{\sum_i\gamma_i^2}\Big[(k-1)T\ln 2 + N\Big(12 +"
            r" 8\sqrt{2\ln\tfrac{10N}{\delta}}\Big)\frac{k^2\sqrt{T}}{\rho}\Big] + R, \quad"
            + _REST,
            Proof.PROVED,
            "boosting/telescoping with the regrets of boosting/sgd-regret-bandit, and Hedge with estimated losses;"
            " it says nothing at any horizon that can be played, and its parts are judged",
            of_adaptive("boosting/ada-bandit", AdaBandit),
            lambda case: Verdict.VACUOUS,
        ),
    ),
    judge=Tail(play=_with_edges(partial(bandit_envelope, False))),
    cases=bandit_settings,
)

ADA_BANDIT_TUNED = Claim(
    id="boosting/ada-bandit-tuned",
    title="mistakes of AdaBandit with high probability, the paper's rate put in",
    source=BOOSTING.at(
        "AdaBandit (Algorithm 3), mistake bound with its rate put in; constants derived here"
    ),
    forms=(
        Form(
            "derived",
            r"M_T \le \frac{8k}{\sum_i\gamma_i^2}T + \frac{2}{\varepsilon}\Big(12 +"
            r" 8\sqrt{2\ln\tfrac{10N}{\delta}}\Big)^2\frac{k^3N^2}{\rho^2\sum_i\gamma_i^2} + R,"
            r" \quad \varepsilon = 4 - 2\ln 2\,\frac{k-1}{k},\; \rho = \frac{kN^{2/3}}{(TN\gamma^2)^{1/3}}",
            Proof.PROVED,
            "the weighted inequality of the means on the term with the square root of T; gamma stands for edges that"
            " nobody knows before play",
            _tuned_unmet,
            lambda case: Verdict.VACUOUS,
        ),
    ),
    judge=Tail(play=_with_edges(partial(bandit_envelope, True))),
    cases=tuned_settings,
)
