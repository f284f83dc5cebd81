"""Mistakes of the adaptive boosters in terms of the edges that their weak learners had on the run.

============  ===========================================================================
symbol        name here (E16, E21 of the second paper, its displays rebuilt)
============  ===========================================================================
gamma_i       ``edges``, measured on the run: they are part of the statement
phi           ``gains``: gamma^2 (1 + 2 |gamma|) / (1 + |gamma|)^2
M_i           mistakes of expert i, ``errors``
Reg_i         ``regrets`` of the weight of vote i
b             ``loss_bound``, the largest estimate of a loss
============  ===========================================================================

By the claim ``boosting/large-costs`` the best weight of vote i lowers the logistic loss by phi(gamma_i) times the sum
of the costs of at least 1/2, and the weight of the run by that less its regret. Before the first vote all (k - 1) T
costs are 1/2; before vote i + 1 each mistake of expert i has one of at least 1/2, and after the last vote each has a
loss of at least ln 2. The loss starts at (k - 1) T ln 2. So

    (k - 1) T phi(gamma_1) / 2 + sum_{i >= 2} phi(gamma_i) M_{i-1} / 2 + ln 2 M_N <= (k - 1) T ln 2 + sum_i Reg_i,

and some expert errs seldom. Hedge finds it, with losses in [0, b] if they are estimated. A loss estimate is unbiased
given the past, and of variance b - 1 at most where the expert errs; so is the mean of those of all experts under the
shares of Hedge (Freedman). A label is wrong with a probability of at most rho more than that of the follower, given the
past (Hoeffding).

With two labels both actions tell which label is right. Without importance weights the mean slope is off by no more than
rho times that of the wrong label: such a flaw costs hundredths of the rounds, which this bound does not see;
``boosting/cost-estimate-unbiased`` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ....algorithms.boosting.adaptive import AdaBandit, AdaboostOLM
from ....algorithms.boosting.estimates import loss_bound
from ....arrays import FloatArray
from ...author import Cell, Claim, Form, PerRun, Proof, RunSides, Setting, Tail, TailSides, Verdict
from ...games.labels.case import Case
from ...judges.mean import Play
from ..baselines.hypotheses import about
from ..papers import BOOSTING
from ..sampled import DELTAS, deltas_for, guesser, non_vacuous_from
from .descent import GAMMA, VARIANCE, bandit_regret, full_regret
from .hedge import followed, prior
from .hypotheses import adapts, booster, explores_at, of_adaptive
from .learned_edge import learning_settings
from .runs import Inside, inside, look_inside, numbers_at

Envelope = Callable[[Case, FloatArray, float, float], float]
"""Case, edges, horizon and delta -> bound on the mistakes."""


def olm_settings() -> tuple[Setting, ...]:
    """Adaboost.OLM with many good weak learners, and with two, so that it errs often enough to be near its bound."""
    return tuple(
        Setting(
            f"adaboost-olm:weak=oracle-noise,learners={n},hedge={hedge}",
            f"oracle-labels:n_labels=2,learners={n},edge={edge}",
            "full",
            horizon,
            runs=20,
            fewest=14,
        )
        for n, hedge, edge, horizon in ((20, 0.1, 0.9, 3000), (2, 0.02, 0.88, 20_000))
    )


def bandit_settings() -> tuple[Setting, ...]:
    """AdaBandit with good weak learners: a step for two labels, and the paper's, with which the bound is vacuous."""
    stream = "oracle-labels:n_labels=2,learners=10,edge=0.9"
    learner = "ada-bandit:weak=oracle-noise,learners=10"
    learners = [
        f"{learner},rho=0.05,step=3,hedge=0.03",
        f"{learner},gamma=0.9,tuning=theory",
    ]
    return Setting.product(learners, stream, "bandit", 20_000, runs=20, fewest=14)


def tuned_settings() -> tuple[Setting, ...]:
    """The paper's rate, which is below 1/2 there."""
    learner = "ada-bandit:weak=oracle-noise,learners=40,tuning=theory,gamma=0.9"
    return (
        Setting(
            learner,
            "oracle-labels:n_labels=2,learners=40,edge=0.9",
            "bandit",
            4000,
            runs=14,
            fewest=14,
        ),
    )


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


def gains(edges: FloatArray) -> FloatArray:
    """phi of each edge, a factor of 3/4 to 1 of its square."""
    size = np.abs(edges)
    return np.asarray((size / (1 + size)) ** 2 * (1 + 2 * size))


def fewest_errors(n_labels: int, edges: FloatArray, regrets: float, horizon: float) -> float:
    """Bound on the mistakes of the best expert, from the sum of the regrets of the weights."""
    first, *later = (gains(edges) / 2).tolist()
    start = (n_labels - 1) * horizon * (math.log(2) - first)
    return float((start + regrets) / (math.log(2) + math.fsum(later)))


def _telescoped(case: Case, run: Inside) -> RunSides:
    """The statement, and the stronger one that it comes from."""
    halves, last = gains(run.edges) / 2, math.log(2)
    factor = last + halves[1:].sum()
    observed = np.array(
        [factor * run.errors.min(), halves[1:] @ run.errors[:-1] + last * run.errors[-1]]
    )
    start = (run.n_labels - 1) * run.rounds * (math.log(2) - halves[0])
    envelope = np.full(2, start + run.regrets.sum())
    return RunSides(observed, envelope, np.full(2, factor * run.rounds), "sum")


def _either(case: Case) -> str | None:
    return about("boosting/telescoping")(case) or adapts(case)


GAIN = r" \varphi(\gamma) = \frac{\gamma^2(1+2|\gamma|)}{(1+|\gamma|)^2}"

TELESCOPING = Claim(
    id="boosting/telescoping",
    title="some expert errs seldom, but for the regrets of the weights",
    source=BOOSTING.at("AdaBandit (Algorithm 3), argument of the mistake bound; derived here"),
    forms=(
        Form(
            "derived",
            r"\Big(\ln 2 + \tfrac12\sum_{i\ge2}\varphi(\gamma_i)\Big)\min_i M_i \le"
            r" \tfrac12\sum_{i\ge2}\varphi(\gamma_i)M_{i-1} + \ln 2\,M_N"
            r" \le (k-1)T\Big(\ln 2 - \tfrac12\varphi(\gamma_1)\Big) + \sum_i \mathrm{Reg}_i, \quad"
            + GAIN,
            Proof.PROVED,
            "boosting/large-costs, summed over the votes; before the first all costs are 1/2, and after the last a"
            " mistake costs at least ln 2",
            _either,
        ),
    ),
    judge=PerRun(inside(_telescoped)),
    cases=telescoping_settings,
)


def olm_envelope(case: Case, edges: FloatArray, horizon: float, delta: float) -> float:
    """Bound on the mistakes of Adaboost.OLM."""
    n, rate = booster(case).learners, numbers_at(case, horizon)["hedge"]
    least = fewest_errors(case.n_labels, edges, n * full_regret(case, horizon), horizon)
    return followed(least, n, rate, horizon) + math.sqrt(horizon / 2 * math.log(1 / delta))


def _hedged(case: Case, least: float, horizon: float, delta: float) -> float:
    """Bound on the mistakes of AdaBandit, from one on those of the best expert, with probability 1 - 4 delta."""
    k, n, numbers = case.n_labels, booster(case).learners, numbers_at(case, horizon)
    rho, rate = numbers["rho"], numbers["hedge"]
    b, one, any_expert = loss_bound(k, rho), math.log(1 / delta), math.log(n / delta)
    estimated = least + math.sqrt(2 * (b - 1) * horizon * any_expert) + (b - 1) / 3 * any_expert
    half = math.sqrt(horizon / 2 * one)
    squares = b * horizon + b * b * half
    found = min(
        b * followed(estimated / b, n, rate * b, horizon),
        estimated + prior(n, rate) + rate / 2 * squares,
    )
    return found + math.sqrt(2 * (b - 1) * horizon * one) + one / 3 + rho * horizon + half


def _prescribed(n_labels: int, learners: int, squares: float, horizon: float) -> float:
    """The paper's rho, k N^(2/3) / (T sum gamma_i^2)^(1/3)."""
    return n_labels * float(np.cbrt(learners**2 / (horizon * squares)))


PARTS = 5
"""Events that each may fail with probability delta / 5."""


def bandit_envelope(case: Case, edges: FloatArray, horizon: float, delta: float) -> float:
    """Bound on the mistakes of AdaBandit."""
    n, rho, each = booster(case).learners, numbers_at(case, horizon)["rho"], delta / PARTS
    regrets = n * bandit_regret(case, rho, horizon, each / n)
    return _hedged(case, fewest_errors(case.n_labels, edges, regrets, horizon), horizon, each)


def published_envelope(case: Case, edges: FloatArray, horizon: float, delta: float) -> float:
    """The same in the published shape, for the paper's step."""
    k, n, rho = case.n_labels, booster(case).learners, numbers_at(case, horizon)["rho"]
    squares, each = float(edges @ edges), delta / PARTS
    constant = 12 + 8 * math.sqrt(2) * math.sqrt(math.log(2 * n / each))
    share = 4 - 2 * math.log(2) * (k - 1) / k
    rest = 2 / share * k**3 * (n * constant / rho) ** 2 / squares
    return _hedged(case, 8 * k / squares * horizon + rest, horizon, each)


def _first_horizon(envelope_of: Envelope, case: Case, seen: list[Inside]) -> str:
    """From where on the bound says something, with the best edges of these runs."""
    best = max((run.edges for run in seen), key=lambda edges: float(edges @ edges))
    where = non_vacuous_from(lambda horizon: envelope_of(case, best, horizon, max(DELTAS)))
    return f"with the edges of these runs, sum of squares {best @ best:.3g}, {where}"


def _with_edges(envelope_of: Envelope) -> Play:
    """The mistakes of each run, and the bound with the edges that its weak learners had, at T, T/2, T/4, ... as long as
    perfect weak learners make it say something."""

    def play(cell: Cell, runs: range, interpreted: bool) -> Iterator[tuple[int, TailSides]]:
        case, deltas, rounds = cell.case, deltas_for(len(runs)), cell.case.horizon
        whole = [look_inside(case, run, interpreted=interpreted) for run in runs]
        perfect = np.ones(booster(case).learners)
        least = envelope_of(case, perfect, rounds, max(deltas))
        while rounds == case.horizon or least < rounds:
            seen = [run.until(rounds) for run in whole]
            where = _first_horizon(envelope_of, case, seen) if rounds == case.horizon else ""
            bounds = {
                d: np.array([envelope_of(case, run.edges, rounds, d) for run in seen])
                for d in deltas
            }
            mistakes = np.array([float(run.mistakes) for run in seen])
            guess = guesser(case, rounds)
            yield (
                rounds,
                TailSides(mistakes, bounds, np.zeros(len(runs)), where, guess=guess, least=least),
            )
            rounds //= 2
            least = envelope_of(case, perfect, rounds, max(deltas))

    return play


def _expected(envelope_of: Envelope, case: Case) -> Verdict:
    """Vacuous where the bound is so with the edge that the weak learners should have, as far as it is known."""
    edges = np.full(booster(case).learners, getattr(case.adversary, "edge", 0.0))
    says = envelope_of(case, edges, case.horizon, max(DELTAS)) < case.horizon
    return Verdict.HOLDS if says else Verdict.VACUOUS


def _tuned_unmet(case: Case) -> str | None:
    if reason := of_adaptive("boosting/ada-bandit-tuned", AdaBandit)(case):
        return reason
    if booster(case).step is not None:
        return f"its step is rho/k^2, that of the learner {booster(case).step}"
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
            r"M_T \le H\Big(\frac{(k-1)T(\ln 2 - \tfrac12\varphi(\gamma_1)) + N(8/c + c(k-1)^2)\sqrt{T}}"
            r"{\ln 2 + \tfrac12\sum_{i\ge2}\varphi(\gamma_i)}\Big) + \sqrt{\tfrac{T}{2}\ln\tfrac{1}{\delta}}, \quad"
            + GAIN
            + r","
            r" \quad H(m) = \min\Big\{m + \frac{\ln N}{\eta} + \frac{\eta T}{8},\;"
            r" \frac{\eta m + \ln N}{1-e^{-\eta}}\Big\}",
            Proof.PROVED,
            "boosting/telescoping with the regrets of boosting/sgd-regret, and boosting/hedge-regret; the draws of"
            " the expert are a martingale",
            of_adaptive("boosting/adaboost-olm", AdaboostOLM),
            partial(_expected, olm_envelope),
            every_horizon=True,
        ),
    ),
    judge=Tail(play=_with_edges(olm_envelope)),
    cases=lambda: (*olm_settings(), *learning_settings("full")),
)

_REST = (
    r" R(m) = H\Big(m + \sqrt{2(b-1)T\ln\tfrac{5N}{\delta}} + \tfrac{b-1}{3}\ln\tfrac{5N}{\delta}\Big) + \rho T"
    r" + (1 + 2\sqrt{b-1})\sqrt{\tfrac{T}{2}\ln\tfrac{5}{\delta}} + \tfrac13\ln\tfrac{5}{\delta},"
    r" \; H(m) = \min\Big\{m + \frac{\ln N}{\eta} + \frac{\eta b^2T}{8},\;"
    r" \frac{b(\eta m + \ln N)}{1 - e^{-\eta b}},\; m + \frac{\ln N}{\eta} +"
    r" \frac{\eta}{2}\Big(bT + b^2\sqrt{\tfrac{T}{2}\ln\tfrac{5}{\delta}}\Big)\Big\},"
    r" \; b = \frac{1}{1-\rho} \text{ for } k = 2, \text{ else } \max\Big\{\frac{k-1}{\rho}, \frac{1}{1-\rho}\Big\}"
)

ADA_BANDIT = Claim(
    id="boosting/ada-bandit",
    title="mistakes of AdaBandit with high probability",
    source=BOOSTING.at("AdaBandit (Algorithm 3), mistake bound; constants derived here"),
    forms=(
        Form(
            "derived",
            r"M_T \le R\Big(\frac{(k-1)T(\ln 2 - \tfrac12\varphi(\gamma_1)) + N\,\mathrm{Reg}}"
            r"{\ln 2 + \tfrac12\sum_{i\ge2}\varphi(\gamma_i)}\Big), \quad \mathrm{Reg} ="
            r" \Big(\frac{8}{c} + c\,\Gamma^2\Big)\sqrt{T} + 4\sqrt{2VT\ln\tfrac{10N}{\delta}}"
            r" + \tfrac43(\Gamma + k - 1)\ln\tfrac{10N}{\delta}, \quad"
            + _REST
            + rf", \; {GAMMA}, \; {VARIANCE}, \;{GAIN}",
            Proof.PROVED,
            "boosting/telescoping with the regrets of boosting/sgd-regret-bandit, and Hedge with estimated losses. With"
            " the paper's step it says nothing at any horizon that can be played; with two labels and a step made for"
            " them it does",
            of_adaptive("boosting/ada-bandit", AdaBandit),
            partial(_expected, bandit_envelope),
            every_horizon=True,
        ),
    ),
    judge=Tail(play=_with_edges(bandit_envelope)),
    cases=lambda: (*bandit_settings(), *learning_settings("bandit")),
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
            r"M_T \le R\Big(\frac{8k}{\sum_i\gamma_i^2}T + \frac{2}{\varepsilon}\Big(12 +"
            r" 8\sqrt{2\ln\tfrac{10N}{\delta}}\Big)^2\frac{k^3N^2}{\rho^2\sum_i\gamma_i^2}\Big),"
            r" \quad \varepsilon = 4 - 2\ln 2\,\frac{k-1}{k},\; \rho = \frac{kN^{2/3}}{(TN\gamma^2)^{1/3}}",
            Proof.PROVED,
            "the weighted inequality of the means on the term with the square root of T, which the published shape"
            " has to pay for slopes of up to 2k^2/rho; gamma stands for edges that nobody knows before play",
            _tuned_unmet,
            partial(_expected, published_envelope),
        ),
    ),
    # its rate is that of T
    judge=Tail(play=_with_edges(published_envelope)),
    cases=tuned_settings,
)
