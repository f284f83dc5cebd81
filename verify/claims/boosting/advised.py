"""The excess loss of ``hedge-advice`` on ``advice-labels`` inside a booster: weak learners that learn from their costs.

=============  ====================================================================================
symbol         name here
=============  ====================================================================================
gamma'         ``edge`` of the panel; mu = (1 - gamma')/k is its share for each wrong label
gamma          what is to be shown, below gamma'
lambda         ``rate`` of Hedge; theta > 0 is free
Q_l            the chance that the learner predicts label l in a round, given the past
w u, u_l       weight of a round and its costs, both in units of the learner's scale: u is 0 at the label y, at least 0
               elsewhere, and its entries sum to w <= 1
z_l            c-hat_l - c-hat_y of what the learner is told; E z = u over the draw of the action
KL             ln(advisers / panel), of the uniform law on the panel from that on all advisers
g              ``growth``: the logarithm of the largest F below
=============  ====================================================================================

The panel is rich: in every round each wrong label is named by the share mu of it, so that its mean costs mu w whatever
the weights and costs are, and some adviser costs (1 - gamma')/k sum w at most. Let V_T be the mean of
exp(-lambda sum_t z_t) over all advisers, z_t at the label that each names.

1.  ln V_T = sum_t ln(sum_l Q_l e^(-lambda z_l)), as Hedge draws by these weights. Adding a number to all costs of a
    round changes neither.
2.  ln V_T >= -lambda sum_t mu sum_l z_l - KL, by Jensen's inequality on the panel.
3.  Hence R = sum_t [ln(sum_l Q_l e^(-lambda z_l)) + lambda mu sum_l z_l] >= -KL, whatever is told.
4.  Given the past and what the other learners predict in the round, the mean of
    exp(theta (u at the prediction - (1 - gamma)/k w)) e^(lambda mu sum z) sum_l Q_l e^(-lambda z_l) is at most F, the
    largest over the label b that wins of

        (sum_l Q_l e^(theta u_l)) (sum_l Q_l E_b e^(lambda (mu sum z - z_l))) e^(-theta (1 - gamma) w/k).

5.  So exp(theta (sum u - (1 - gamma)/k sum w) + R - g T) is a supermartingale, and with probability 1 - delta

        sum u <= (1 - gamma)/k sum w + S_T,  S_T = (ln(1/delta) + KL + g T)/theta.

6.  z and u are linear in the rows of the cost matrix, each of which, in units of the scale and less its least entry,
    lies between 0 and the unit vectors of the other labels. F is a sum of exponentials of linear functions of them,
    hence convex, and largest where every row is 0 or a unit vector: g is found by enumeration. In Q it is a product
    of two linear functions, largest on a segment between two labels.

With full information z = u, and g = 0 for theta up to a number that depends on gamma' - gamma: S is free of T. With
estimates it is not, since the rows of other labels are told as noise even where the row of the true label is 0: g is
about lambda^2 times half of their variance, so that with lambda of order 1/sqrt(T) S_T is of order sqrt(T). The
variance is rho/(1 - rho) for two labels, and of order 1/rho for more.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np

from ....adversaries.advice_labels import AdviceLabels
from ....algorithms.boosting.advice import HedgeAdvice
from ....algorithms.boosting.estimates import exploration, loss_estimate
from ....algorithms.boosting.hedge import rate_of
from ....arrays import FloatArray
from ...games.labels.case import Case
from ..baselines.hypotheses import number
from .hypotheses import booster, explores

MOST_LABELS = 4
"""Up to so many labels the k^k matrices are enumerated."""

THETAS = np.geomspace(1e-4, 10, 400)
"""The numbers that theta is chosen from; any would do."""

Law = tuple[FloatArray, FloatArray, FloatArray]
"""Costs u of shape (k,), what can be told, z of shape (actions, k), and how likely it is, shape (actions,)."""


def follow_advice(case: Case) -> bool:
    """True if the weak learners of a booster hedge over advice from a panel with an edge."""
    learns = isinstance(getattr(case.learner, "weak", None), HedgeAdvice)
    return learns and isinstance(case.adversary, AdviceLabels)


def advice_unmet(gamma: float, case: Case) -> str | None:
    """The hypothesis that an excess loss of theirs is known for the edge gamma."""
    if not gamma < (edge := case.adversary.edge):
        return (
            f"the booster counts on gamma = {gamma}, not less than the edge {edge:.6g} of the panel"
        )
    if case.n_labels > MOST_LABELS:
        return (
            f"the excess loss of its weak learners is enumerated for at most {MOST_LABELS} labels"
        )
    return None


def laws(n_labels: int, rho: float | None) -> list[Law]:
    """What can happen in a round with label 0, for every matrix of rows that are 0 or a unit vector, and either kind of
    label that wins."""
    units = np.eye(n_labels)
    rows = [
        [np.zeros(n_labels), *(units[label] for label in range(n_labels) if label != row)]
        for row in range(n_labels)
    ]
    if rho is None:
        return [(costs, costs[None], np.ones(1)) for costs in rows[0]]
    found = []
    for matrix, best in product(map(np.array, product(*rows)), (0, 1)):
        p = exploration(best, rho, n_labels)
        told = np.array(
            [
                (1 - loss_estimate(best, played, played == 0, p)) @ matrix
                for played in range(n_labels)
            ]
        )
        found.append((matrix[0], told - told[:, :1], p))
    return found


def growth(law: Law, edge: float, gamma: float, rate: float, thetas: FloatArray) -> FloatArray:
    """The logarithm of F for the worst chances of the labels, for each theta."""
    costs, told, p = law
    k, weight = len(costs), costs.sum()
    paid = np.exp(thetas[:, None] * costs)
    mean = (1 - edge) / k * told.sum(axis=1, keepdims=True)
    hedged = p @ np.exp(rate * (mean - told))
    most = np.zeros(len(thetas))
    for one, other in product(range(k), repeat=2):
        a, b = paid[:, one], hedged[one]
        da, db = paid[:, other] - a, hedged[other] - b
        with np.errstate(divide="ignore", invalid="ignore"):
            top = np.nan_to_num(-(a * db + b * da) / (2 * da * db), nan=0.0)
        share = np.clip(top, 0, 1)
        most = np.maximum(most, np.maximum(a * b, (a + share * da) * (b + share * db)))
    return np.asarray(np.log(most) - thetas * (1 - gamma) / k * weight)


@cache
def _growths(
    n_labels: int, edge: float, gamma: float, rate: float, rho: float | None
) -> FloatArray:
    """g for each of ``THETAS``."""
    each = [growth(law, edge, gamma, rate, THETAS) for law in laws(n_labels, rho)]
    return np.asarray(np.maximum(np.max(each, axis=0), 0.0))


def advised_excess_loss(case: Case, gamma: float, horizon: float, delta: float) -> float:
    """S_T of each weak learner for the edge gamma, in units of its scale."""
    weak, panel = booster(case).weak, case.adversary
    rate = rate_of(weak.rate, panel.advisers, booster(case).crowd_setting(case.problem))
    rho = number(case, "rho") if explores(case) is None else None
    g = _growths(case.n_labels, panel.edge, gamma, rate, rho)
    divergence = math.log(panel.advisers / panel.panel)
    return float(((math.log(1 / delta) + divergence + g * horizon) / THETAS).min())
