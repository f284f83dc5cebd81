"""The edges that weak learners have in an adaptive booster, where they learn from the costs that it tells them.

=============  ====================================================================================
symbol         name here
=============  ====================================================================================
gamma_i        ``edges``, measured on the run
W_i            ``weights``: the sum of -C_yy of the costs of vote i, which is what a perfect one would earn
gamma'         edge of the panel of ``advice-labels``
S_T            excess loss of ``hedge-advice`` in units of the scale k (k - 1), see ``advised.py``
=============  ====================================================================================

The costs C of a vote sum to 0 and are least at the label, by w = -C_yy. Less this least one, and in units of the scale,
they are a weight k w/(k (k - 1)) in [0, 1] times a vector of C_1^eor. So the excess loss says

    sum_t (C_l + w) <= (1 - gamma) sum_t w + k (k - 1) S_T,

which is (gamma - gamma_i) W_i <= k (k - 1) S_T. No paper has it in this form; the second one says that gamma_i is at
least gamma with high probability, and without an excess loss that is false.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ...author import Cell, Claim, Form, Proof, Setting, Tail, TailSides
from ...games.labels.case import Case
from ..baselines.hypotheses import about
from ..papers import BOOSTING
from ..sampled import deltas_for, non_vacuous_from
from .advised import advice_unmet, advised_excess_loss, follow_advice
from .hypotheses import adapts, booster
from .runs import look_inside

SHARE = 0.95
"""The edge gamma that is shown, as a share of that of the panel."""


def learning_settings(graph: str) -> tuple[Setting, ...]:
    """An adaptive booster of either feedback with weak learners that learn from what they are told, where its bound on
    the mistakes is non-vacuous."""
    learner, rate, more, horizon = {
        "full": ("adaboost-olm", 0.3, "tuning=theory", 5000),
        "bandit": ("ada-bandit", 0.1, "rho=0.05,step=3,hedge=0.03", 16_000),
    }[graph]
    spec = f"{learner}:weak=hedge-advice+rate={rate},learners=5,{more}"
    stream = "advice-labels:n_labels=2,panel=20,false=5,hard=0.03"
    return (Setting(spec, stream, graph, horizon, runs=14, fewest=14),)


def _gamma(case: Case) -> float:
    return float(SHARE * case.adversary.edge)


def _envelope(case: Case, horizon: float, delta: float) -> float:
    k, n = case.n_labels, booster(case).learners
    return k * (k - 1) * advised_excess_loss(case, _gamma(case), horizon, delta / n)


def _play(cell: Cell, runs: range, interpreted: bool) -> Iterator[tuple[int, TailSides]]:
    case, deltas = cell.case, deltas_for(len(runs))
    envelope, gamma, T = partial(_envelope, case), _gamma(case), case.horizon
    seen = [look_inside(case, run, interpreted=interpreted) for run in runs]
    missed = np.array([((gamma - run.edges) * run.weights).max() for run in seen])
    most = (1 + gamma) * np.array([run.weights.max() for run in seen])
    share = float(most.max()) / T
    where = non_vacuous_from(lambda horizon: envelope(horizon, max(deltas)) / share)
    bounds = {delta: np.full(len(runs), envelope(T, delta)) for delta in deltas}
    yield T, TailSides(missed, bounds, non_vacuous=where, most=most)


def _unmet(case: Case) -> str | None:
    if reason := about("boosting/learned-edge")(case) or adapts(case):
        return reason
    if not follow_advice(case):
        return "it needs weak learners with a known excess loss: hedge-advice on advice-labels"
    return advice_unmet(_gamma(case), case)


LEARNED_EDGE = Claim(
    id="boosting/learned-edge",
    title="the edges of weak learners that learn from the costs of an adaptive booster",
    source=BOOSTING.at("AdaBandit (Algorithm 3), edges of weak learners; derived here"),
    forms=(
        Form(
            "derived",
            r"(\gamma - \gamma_i)\sum_t\big(-C^i_{y_t,y_t}\big) \le k(k-1)S_T \text{ for all } i,"
            r" \quad \gamma = 0.95\,\gamma'",
            Proof.PROVED,
            "the excess loss of each weak learner on the costs that it is told, or their estimates",
            _unmet,
            names=("most that a weak learner misses of its edge", "k (k-1) S_T"),
        ),
    ),
    judge=Tail(play=_play),
    cases=lambda: (*learning_settings("full"), *learning_settings("bandit")),
)
