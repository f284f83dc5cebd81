"""Regret of the weights alpha of the adaptive boosters, which descend the logistic loss.

===========  =====================================================================
symbol       name here (E17, E18 of the second paper, its displays rebuilt)
===========  =====================================================================
f^i_t        the logistic loss as a function of the weight of vote i
Gamma        2k^2/rho, above all estimates of the derivative for rho up to 1/2
rho          ``rho``
===========  =====================================================================

With |f'| at most k - 1, a set of width 4 and steps 2 sqrt(2) / ((k - 1) sqrt(t)) descent has regret 4 sqrt(2) (k - 1)
sqrt(T), for every sequence. With estimates and steps rho / (k^2 sqrt(t)) it has 12 k^2 sqrt(T) / rho on the line
through each estimate. The estimate of f is not convex, but f is: what f pays beyond alpha* is at most the sum of
f'(alpha_t) (alpha_t - alpha*), a martingale with increments of range 8 Gamma away from that, and linear in alpha*, so
that the ends -2 and 2 speak for all.
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
from .hypotheses import of_adaptive
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
    """AdaBandit where the bound on the true regret is non-vacuous."""
    learner = "ada-bandit:weak=oracle-noise,learners=1,rho=0.5"
    stream = "oracle-labels:n_labels=2,learners=1,edge=0.9"
    return (Setting(learner, stream, "bandit", 12_500, runs=9),)


def full_regret(n_labels: int, horizon: float) -> float:
    """Bound on the regret with full information."""
    return 4 * math.sqrt(2) * (n_labels - 1) * math.sqrt(horizon)


def estimated_regret(n_labels: int, rho: float, horizon: float) -> float:
    """Bound on the regret of the lines through the estimates."""
    return 12 * n_labels**2 * math.sqrt(horizon) / rho


def bandit_regret(n_labels: int, rho: float, horizon: float, delta: float) -> float:
    """Bound on the regret with bandit feedback, with probability 1 - delta."""
    luck = 8 * math.sqrt(2) * n_labels**2 / rho * math.sqrt(horizon * math.log(2 / delta))
    return estimated_regret(n_labels, rho, horizon) + luck


def _full_sides(case: Case, run: Inside) -> RunSides:
    bound = full_regret(run.n_labels, run.rounds)
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
    envelope = np.full(run.learners, estimated_regret(run.n_labels, rho, run.rounds))
    most = LIMIT * (np.abs(found).sum(axis=0) + np.abs(found.sum(axis=0)))
    return RunSides(np.asarray(observed), envelope, np.asarray(most), "learner")


def _bandit_sides(cell: Cell, runs: range, interpreted: bool) -> Iterator[tuple[int, TailSides]]:
    """The largest regret of the weights of each run."""
    case, k = cell.case, cell.case.n_labels
    rho = number(case, "rho")
    seen = [look_inside(case, run, interpreted=interpreted) for run in runs]
    worst = [int(np.argmax(run.regrets)) for run in seen]
    most = [float(run.largest_regrets.max()) for run in seen]
    n, horizon, deltas = seen[0].learners, seen[0].rounds, deltas_for(len(runs))

    def share(rounds: float) -> float:
        """The envelope, on the scale of the largest regret, which grows like the rounds."""
        return bandit_regret(k, rho, rounds, max(deltas) / n) * horizon / min(most)

    yield (
        horizon,
        TailSides(
            np.array([run.regrets[i] for run, i in zip(seen, worst, strict=True)]),
            {d: np.full(len(runs), bandit_regret(k, rho, horizon, d / n)) for d in deltas},
            np.zeros(len(runs)),
            non_vacuous_from(share),
            np.array(most),
        ),
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
            r"\sum_t f^i_t(\alpha^i_t) - \min_{|\alpha| \le 2}\sum_t f^i_t(\alpha) \le 4\sqrt{2}\,(k-1)\sqrt{T}"
            r" \quad\text{for every } i",
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
            r" \le \frac{12k^2}{\rho}\sqrt{T} \quad\text{for every } i,\; \rho \le \tfrac{1}{2}",
            Proof.PROVED,
            "the same with slopes of at most 2k^2/rho; the estimate of f need not be convex for it",
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
            r" \frac{12k^2}{\rho}\sqrt{T} + \frac{8\sqrt{2}\,k^2}{\rho}\sqrt{T\ln\tfrac{2N}{\delta}}"
            r" \quad\text{for all } i \text{ with probability } 1-\delta",
            Proof.PROVED,
            "f is convex, and its estimated slopes are unbiased",
            of_adaptive("boosting/sgd-regret-bandit", AdaBandit),
            names=("largest regret of the weights", "envelope"),
        ),
    ),
    # stated for each T, with steps that do not depend on it; the regret inside a prefix is not computed
    judge=Tail(play=_bandit_sides),
    cases=bandit_settings,
)
