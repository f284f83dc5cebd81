"""Regret of the weights alpha of the adaptive boosters, which descend the logistic loss.

===========  =====================================================================
symbol       name here (E17, E18 of the second paper, its displays rebuilt)
===========  =====================================================================
f^i_t        the logistic loss as a function of the weight of vote i
Gamma        ``slope_limit``, the supremum of the estimated derivatives
V            ``slope_variance``, above the variance of each, given the past
c            ``first_step``; the step of round t is c / sqrt(t)
rho          ``rho``
===========  =====================================================================

On a set of width 4, descent with slopes of at most G has regret 16 / (2 eta_T) + G^2/2 sum_t eta_t, at most
(8/c + c G^2) sqrt(T), for every sequence of lines: 4 sqrt(2) G sqrt(T) for the best c, 2 sqrt(2) / G. With full
information G = k - 1, for which the step of Adaboost.OLM is made. With estimates G = Gamma; the step rho / k^2 of
AdaBandit makes this at most 9 k^2 sqrt(T) / rho for rho up to 1/2.

The estimate of f is not convex, but f is: what f pays beyond alpha* is at most the sum of f'(alpha_t) (alpha_t -
alpha*). That is a martingale away from the same sum of estimates, and linear in alpha*, so that the ends -2 and 2 speak
for all. Its increments are at most 4 (Gamma + k - 1) and have variance at most 16 V, given the past (Freedman).

Given the past, what is estimated differs from f' only by the draw of the action. With two labels it is seen from every
action whether the best label is right: the estimated slope is f'_y + f'_o where the other label is played, with
probability rho, and f'_y - rho/(1 - rho) f'_o else, o being the wrong label. Its variance is rho/(1 - rho) (f'_o)^2.
With more labels it is less a sum over r of loss estimates times f'_r, of which at most one is not zero: for the best
label 1/(1 - rho), or together for the others at most (k - 1)/rho times k - 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ....algorithms.boosting.adaptive import LIMIT, AdaBandit, AdaboostOLM
from ....algorithms.boosting.logistic import slopes
from ....arrays import FloatArray
from ...author import Cell, Claim, Form, PerRun, Proof, RunSides, Setting, Tail, TailSides
from ...games.labels.case import Case
from ..baselines.hypotheses import number
from ..papers import BOOSTING
from ..sampled import deltas_for, non_vacuous_from
from .estimates_bounded import slope_limit
from .hypotheses import booster, of_adaptive
from .runs import Inside, inside, look_inside


def full_settings() -> tuple[Setting, ...]:
    """Adaboost.OLM with learners that learn, with ones that do not, and with ones that turn."""
    return tuple(
        Setting(f"adaboost-olm:{learner}", stream, "full", 2000, runs=2)
        for learner, stream in (
            ("learners=8", "stump-labels:n_labels=3,noise=0.3"),
            ("learners=8,tuning=theory", "stump-labels:n_labels=5,noise=0.1"),
            ("weak=oracle-noise,learners=10", "oracle-labels:n_labels=3,learners=10,edge=0.2"),
            ("weak=oracle-noise,learners=42", "turning-labels:learners=42,late=90"),
        )
    )


def estimate_settings() -> tuple[Setting, ...]:
    """AdaBandit where the bound on the regret of its estimates is non-vacuous."""
    return tuple(
        Setting(f"ada-bandit:{learner},rho=0.5,tuning=theory", stream, "bandit", 6000, runs=2)
        for learner, stream in (
            ("learners=4", "stump-labels:n_labels=2,noise=0.1"),
            (
                "weak=oracle-noise,learners=6",
                "oracle-labels:n_labels=2,learners=6,edge=0.8,law=skewed",
            ),
            ("weak=oracle-noise,learners=6", "turning-labels:learners=6,majority=5,late=1500"),
        )
    )


def bandit_settings() -> tuple[Setting, ...]:
    """AdaBandit where the bound on the true regret is non-vacuous: the paper's step, and one for two labels."""
    return tuple(
        Setting(
            f"ada-bandit:weak=oracle-noise,{learner}",
            stream,
            "bandit",
            horizon,
            runs=runs,
            fewest=14,
        )
        for learner, stream, horizon, runs in (
            ("learners=1,rho=0.5", "oracle-labels:n_labels=2,learners=1,edge=0.9", 7000, 14),
            (
                "learners=6,rho=0.02,step=3",
                "turning-labels:learners=6,majority=5,late=150",
                1000,
                40,
            ),
        )
    )


def slope_variance(n_labels: int, rho: float) -> float:
    """V, above the variance of an estimated slope, given the past."""
    seen = 1 / (1 - rho)
    if n_labels == 2:
        return seen - 1
    return (n_labels - 1) ** 2 * ((n_labels - 1) / rho + seen)


def descent_regret(largest: float, step: float, horizon: float) -> float:
    """Bound on the regret of descent along lines of slopes of at most ``largest``, with a first step."""
    return (8 / step + step * largest**2) * math.sqrt(horizon)


def full_regret(case: Case, horizon: float) -> float:
    """Bound on the regret with full information."""
    k = case.n_labels
    return descent_regret(k - 1, booster(case).first_step(k, None), horizon)


def estimated_regret(case: Case, rho: float, horizon: float) -> float:
    """Bound on the regret of the lines through the estimates."""
    k = case.n_labels
    return descent_regret(float(slope_limit(k, rho)), booster(case).first_step(k, rho), horizon)


def bandit_regret(case: Case, rho: float, horizon: float, delta: float) -> float:
    """Bound on the regret with bandit feedback, with probability 1 - delta."""
    k, log = case.n_labels, math.log(2 / delta)
    drawn = 4 * math.sqrt(2 * slope_variance(k, rho) * horizon * log)
    return (
        estimated_regret(case, rho, horizon)
        + drawn
        + 4 / 3 * (float(slope_limit(k, rho)) + k - 1) * log
    )


def _full_sides(case: Case, run: Inside) -> RunSides:
    bound = full_regret(case, run.rounds)
    return RunSides(run.regrets, np.full(run.learners, bound), run.largest_regrets, "learner")


def estimated_slopes(run: Inside, rho: float) -> FloatArray:
    """Estimates of the derivative of each f^i_t at the weight of the round, by their definition, shape (T, N)."""
    k, rounds = run.n_labels, np.arange(run.rounds)
    right = run.played == run.truth
    chance = np.where(run.played == run.best, 1 - rho, rho / (k - 1))
    losses = np.where(right, 1 / chance, 0.0)[:, None] * np.ones(k)
    losses[rounds, run.best] = np.where(~right & (run.played == run.best), 1 / (1 - rho), 0.0)
    losses[rounds[right], run.truth[right]] = 0.0
    made = [
        slopes(run.before[:, i], run.labels[:, i], run.alphas[:, i]) for i in range(run.learners)
    ]
    return np.stack([((1 - losses) * each).sum(axis=1) for each in made], axis=1)


def _estimate_sides(case: Case, run: Inside) -> RunSides:
    rho = number(case, "rho")
    found = estimated_slopes(run, rho)
    observed = (found * run.alphas).sum(axis=0) + LIMIT * np.abs(found.sum(axis=0))
    envelope = np.full(run.learners, estimated_regret(case, rho, run.rounds))
    most = LIMIT * (np.abs(found).sum(axis=0) + np.abs(found.sum(axis=0)))
    return RunSides(np.asarray(observed), envelope, np.asarray(most), "learner")


def _bandit_sides(cell: Cell, runs: range, interpreted: bool) -> Iterator[tuple[int, TailSides]]:
    """The largest regret of the weights of each run."""
    case = cell.case
    rho = number(case, "rho")
    seen = [look_inside(case, run, interpreted=interpreted) for run in runs]
    worst = [int(np.argmax(run.regrets)) for run in seen]
    most = [float(run.largest_regrets.max()) for run in seen]
    n, horizon, deltas = seen[0].learners, seen[0].rounds, deltas_for(len(runs))

    def share(rounds: float) -> float:
        """The envelope, on the scale of the largest regret, which grows like the rounds."""
        return bandit_regret(case, rho, rounds, max(deltas) / n) * horizon / min(most)

    yield (
        horizon,
        TailSides(
            np.array([run.regrets[i] for run, i in zip(seen, worst, strict=True)]),
            {d: np.full(len(runs), bandit_regret(case, rho, horizon, d / n)) for d in deltas},
            np.zeros(len(runs)),
            non_vacuous_from(share),
            np.array(most),
        ),
    )


GAMMA = (
    r"\Gamma = (k-1)\max\Big\{\Big(\frac{k-1}{\rho}-1\Big)1[k \ge 3], \frac{\rho}{1-\rho}, 1\Big\}"
)
VARIANCE = (
    r"V = \frac{\rho}{1-\rho} \text{ for } k = 2, \text{ else }"
    r" (k-1)^2\Big(\frac{k-1}{\rho} + \frac{1}{1-\rho}\Big)"
)

SGD_REGRET = Claim(
    id="boosting/sgd-regret",
    title="regret of the weights of the votes, full information",
    source=BOOSTING.at(
        "AdaBandit (Algorithm 3), weights of the votes with full information; constants derived here"
    ),
    forms=(
        Form(
            "derived",
            r"\sum_t f^i_t(\alpha^i_t) - \min_{|\alpha| \le 2}\sum_t f^i_t(\alpha) \le"
            r" \Big(\frac{8}{c} + c(k-1)^2\Big)\sqrt{T} = 4\sqrt{2}\,(k-1)\sqrt{T} \text{ for } c ="
            r" \frac{2\sqrt{2}}{k-1}, \quad \eta_t = \frac{c}{\sqrt{t}}, \text{ for every } i",
            Proof.PROVED,
            "projected descent on a set of width 4 with slopes of at most k - 1",
            of_adaptive("boosting/sgd-regret", AdaboostOLM),
        ),
    ),
    judge=PerRun(inside(_full_sides)),
    cases=full_settings,
)

SGD_ESTIMATES = Claim(
    id="boosting/sgd-estimates",
    title="regret of the weights on the lines through the estimates",
    source=BOOSTING.at("AdaBandit (Algorithm 3), weights of the votes; constants derived here"),
    forms=(
        Form(
            "derived",
            r"\max_{|\alpha| \le 2}\sum_t \hat f^{i\prime}_t(\alpha^i_t)(\alpha^i_t - \alpha)"
            r" \le \Big(\frac{8}{c} + c\,\Gamma^2\Big)\sqrt{T} \;\Big(\le \frac{9k^2}{\rho}\sqrt{T} \text{ for } c ="
            r" \frac{\rho}{k^2}\Big), \quad "
            + GAMMA
            + r" \text{ for every } i,\; \rho \le \tfrac{1}{2}",
            Proof.PROVED,
            "the same with slopes of at most Gamma, of which k^2/rho is an upper bound; the estimate of f need not be"
            " convex for it",
            of_adaptive("boosting/sgd-estimates", AdaBandit),
        ),
    ),
    judge=PerRun(inside(_estimate_sides)),
    cases=estimate_settings,
)

SGD_REGRET_BANDIT = Claim(
    id="boosting/sgd-regret-bandit",
    title="regret of the weights of the votes, bandit feedback",
    source=BOOSTING.at("AdaBandit (Algorithm 3), weights of the votes; constants derived here"),
    forms=(
        Form(
            "derived",
            r"\sum_t f^i_t(\alpha^i_t) - \min_{|\alpha| \le 2}\sum_t f^i_t(\alpha) \le"
            r" \Big(\frac{8}{c} + c\,\Gamma^2\Big)\sqrt{T} + 4\sqrt{2VT\ln\tfrac{2N}{\delta}}"
            r" + \tfrac{4}{3}(\Gamma + k - 1)\ln\tfrac{2N}{\delta} \quad\text{for all } i \text{ with"
            r" probability } 1-\delta, \quad " + GAMMA + r",\; " + VARIANCE,
            Proof.PROVED,
            "f is convex, and its estimated slopes are unbiased, of variance at most V, given the past",
            of_adaptive("boosting/sgd-regret-bandit", AdaBandit),
            names=("largest regret of the weights", "envelope"),
        ),
    ),
    # stated for each T, with steps that do not depend on it; the regret inside a prefix is not computed
    judge=Tail(play=_bandit_sides),
    cases=bandit_settings,
)
