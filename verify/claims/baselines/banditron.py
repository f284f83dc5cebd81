"""Banditron: its estimate of the Perceptron's step, and its expected mistakes.

=========  ===================================================================================
symbol     name here
=========  ===================================================================================
gamma      exploration probability
s(y)       ``shares``: of exploration, how much goes to action y
n          how many explored actions are needed to see any label
N          ``wrong_best``, rounds in which the best label is not the true one
M          ``errors``, expected mistakes given the past: (1 - gamma) N + gamma sum (1 - s(y_t))
L(U)       sum of the hinge losses of the comparator U
kappa      1 / (1 - gamma + gamma / K) - 1
=========  ===================================================================================

Both estimates have the mean of the Perceptron's step, so E<U, W> >= E[N] - L(U), and E|W|^2 is at most the sum of the
second moments, since <W, E step> <= 0. Hence E[N] - L(U) <= |U| X sqrt(a E[N] + e T), with a = K/gamma + 1 - kappa and
e = kappa for the original estimate, a = 2n/gamma and e = 0 for the importance weighted one; solved for E[N] it is
the bound.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....arrays import FloatArray
from ...author import Claim, Comparison, Form, Mean, MeanSides, OneRound, Proof, Setting, Source
from ...games.labels.branches import Round
from ...games.labels.case import Case
from ...games.labels.run_sums import RunSums
from ..sampled import SAMPLED_RUNS
from .hypotheses import about, enumerable, expected_mistakes, number, solved

SOURCE = Source(
    "Kakade, Shalev-Shwartz and Tewari",
    "Efficient Bandit Algorithms for Online Multiclass Prediction",
    2008,
)

PLAYED = (("original", "bandit"), ("importance", "bandit"), ("importance", "filtering"))
"""Estimates and graphs of the built-in suite."""


def mean_settings() -> tuple[Setting, ...]:
    """Both estimates on streams where the bound is non-vacuous."""
    return tuple(
        Setting(
            f"banditron:estimator={estimator},gamma=0.1",
            f"one-hot:n_labels=3,noise={noise}",
            graph,
            4000,
            runs=SAMPLED_RUNS,
        )
        for estimator, graph in PLAYED
        for noise in (0.0, 0.01)
    )


def step_settings() -> tuple[Setting, ...]:
    """Short games, with little and with much exploration."""
    graphs = (*PLAYED, ("importance", "cops-and-robbers"))
    return tuple(
        Setting(
            f"banditron:estimator={estimator},gamma={gamma}",
            "keywords:keyword_scale=1,n_labels=4,noise=0.2",
            graph,
            400,
            comparator_norm=1.0,
            runs=2,
        )
        for estimator, graph in graphs
        for gamma in (0.02, 0.5)
    )


def is_original(case: Case) -> bool:
    """True if the estimate is the printed one, which moves in every round."""
    return getattr(case.learner, "estimator", None) == "original"


def shares(case: Case) -> FloatArray:
    """The exploration distribution, shape (actions,): all labels, or what reveals or dominates."""
    graph = case.graph
    found = np.zeros(graph.n_actions)
    if is_original(case):
        found[: graph.n_labels] = 1 / graph.n_labels
    else:
        explored = list(graph.revealing or graph.dominating)
        found[explored] = 1 / len(explored)
    return found


def _unbiased(case: Case, form: Form, each: Round) -> Iterator[Comparison]:
    stated = each.outer(each.label, each.best)
    yield Comparison("the expected step", each.mean_change(), stated, each.size)


def _second_moment(case: Case, form: Form, each: Round) -> Iterator[Comparison]:
    gamma, K = number(case, "banditron.gamma"), case.n_labels
    right = each.label == each.best
    if is_original(case):
        factor = 1 / (1 - gamma + gamma / K) - 1 if right else 1 + K / gamma
    else:
        p = gamma * shares(case)
        p[each.best] += 1 - gamma
        factor = 0.0 if right else 2 / float(p @ case.graph.observes[:, each.label])
    before = each.before.weights
    found = each.mean(lambda branch: np.square(branch.after.weights - before).sum())
    stated = np.array(factor * each.squared_norm)
    # a difference of weights has the rounding of the weights, and is squared
    yield Comparison("the second moment of the step", found, stated, float(each.size**2))


UNBIASED = Claim(
    id="banditron/unbiased",
    title="the expected step is the Perceptron's",
    source=SOURCE.at("the estimate of the Banditron"),
    forms=(
        Form(
            "printed",
            r"E[W_{t+1} - W_t] = (e_{y_t} - e_{\hat y_t})\,x_t^\top",
            Proof.PROVED,
            "P(y) times 1/P(y) is one, whichever way it is weighted; zero where the best label is the true one",
            enumerable("banditron/unbiased"),
        ),
    ),
    judge=OneRound(_unbiased),
    cases=step_settings,
)

SECOND_MOMENT = Claim(
    id="banditron/second-moment",
    title="second moment of the estimated step",
    source=SOURCE.at("the estimate of the Banditron; importance weighted: derived here"),
    forms=(
        Form(
            "derived",
            r"E\|W_{t+1} - W_t\|^2 = c_t\|x_t\|^2,\;"
            r" c_t = \frac{1}{1-\gamma+\gamma/K} - 1 \text{ if } \hat y_t = y_t,\; 1 + \frac{K}{\gamma}"
            r" \text{ if not; importance weighted: } 0,\; \frac{2}{P_t(y_t)}",
            Proof.PROVED,
            "a sum over the actions; with bandit feedback 2 / P(y) is 2K / gamma on a mistake",
            enumerable("banditron/second-moment", "gamma"),
        ),
    ),
    judge=OneRound(_second_moment),
    cases=step_settings,
)


def _guesses(case: Case, horizon: float, hinge: float) -> float:
    """Bound on E[N]."""
    gamma, K = number(case, "banditron.gamma"), case.n_labels
    size = (case.sequence.feature_norm * case.comparator.norm) ** 2
    if is_original(case):
        kappa = 1 / (1 - gamma + gamma / K) - 1
        slope, constant = size * (K / gamma + 1 - kappa), size * kappa * horizon
    else:
        needed = 1 if case.graph.revealing else case.graph.domination_number
        slope, constant = 2 * size * needed / gamma, 0.0
    return float(solved(np.array(hinge), slope, constant))


def _guess_sides(case: Case, form: Form, totals: RunSums) -> MeanSides:
    hinge = case.hinge_until(totals.rounds)
    envelope = _guesses(case, totals.rounds, hinge)
    return expected_mistakes(
        case, totals, totals.wrong_best, envelope, hinge, lambda T: _guesses(case, T, 0.0)
    )


def _mistake_sides(case: Case, form: Form, totals: RunSums) -> MeanSides:
    T, hinge, gamma = (
        totals.rounds,
        case.hinge_until(totals.rounds),
        number(case, "banditron.gamma"),
    )
    missed = float((1 - shares(case)[case.sequence.labels[:T]]).sum())
    rate = missed / T

    def without_loss(horizon: float) -> float:
        return (1 - gamma) * _guesses(case, horizon, 0.0) + gamma * rate * horizon

    envelope, base = (1 - gamma) * _guesses(case, T, hinge) + gamma * missed, (1 - gamma) * hinge
    return expected_mistakes(case, totals, totals.errors, envelope, base, without_loss)


_SLOPES = (
    r"\quad \text{original: } c = X^2\|U\|^2\Big(\frac K\gamma + 1 - \kappa\Big),\; e = X^2\|U\|^2\kappa;"
    r" \quad \text{importance: } c = \frac{2nX^2\|U\|^2}{\gamma},\; e = 0"
)

WRONG_GUESSES = Claim(
    id="banditron/wrong-guesses",
    title="expected number of wrong best labels, any comparator",
    source=SOURCE.at("the argument of the mistake bound; constants derived here"),
    forms=(
        Form(
            "derived",
            r"E[N] \le R := L(U) + \frac c2 + \sqrt{\frac{c^2}{4} + c\,L(U) + eT}," + _SLOPES,
            Proof.PROVED,
            "E[N] - L(U) is at most E<U, W>, and E|W|^2 at most the sum of the second moments",
            about("banditron/wrong-guesses", "gamma"),
            every_horizon=True,
        ),
    ),
    judge=Mean(_guess_sides),
    cases=mean_settings,
)

MISTAKE_BOUND = Claim(
    id="banditron/mistake-bound",
    title="expected mistakes, any comparator",
    source=SOURCE.at("the mistake bound; constants derived here"),
    forms=(
        Form(
            "derived",
            r"E[M] \le (1-\gamma)R + \gamma\sum_t(1 - s(y_t)) \quad\text{with } R \text{ of wrong-guesses},"
            r" \quad s(y) = \tfrac1K \text{ for bandits}",
            Proof.PROVED,
            "a round costs 1 - gamma if the best label is wrong, and 1 - s(y) with probability gamma",
            about("banditron/mistake-bound", "gamma"),
            every_horizon=True,
        ),
    ),
    judge=Mean(_mistake_sides),
    cases=mean_settings,
)
