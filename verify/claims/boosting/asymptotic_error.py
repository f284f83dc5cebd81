"""The cost of bandit feedback to a booster by majority: its mistakes beside those with full information.

Both vote on the same sequences with the same draws of ties. Their weak learners have a known edge, see ``majority.py``.

Weak learners that ignore what they are told predict the same labels for both. Those that learn are told other costs by
either, and the votes differ. Then the mistakes of both are compared with the asymptotic error, the potential phi_N(0),
and each of 2 N + 3 events has the share delta/(2 N + 3):

- with bandit feedback a mistake has, given the votes, at most the probability rho + (loss of the votes), so that
  M_bandit is at most rho T + phi_N(0) T + S sum_i s^i + L, with L = sqrt(T/2 ln((2 N + 3)/delta)) for the draws;
- it has at least the probability rho, for rho up to 1/2, so that M_bandit is at least rho T - L;
- M_full is at least 0, and at most phi_N(0) T + S sum_i s^i + L, where L is for the draws of ties.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ....algorithms import graphs
from ....algorithms.boosting.majority import BanditBBM, OnlineMBBM
from ....arrays import FloatArray
from ...author import Cell, Claim, Evidence, Form, Proof, Tail, TailSides
from ...games.game import checkpoints
from ...games.labels.case import Case
from ...games.labels.run_sums import RunSums
from ..baselines.hypotheses import number
from ..papers import BOOSTING
from ..sampled import deltas_for, guesser, non_vacuous_from
from .advised import advice_unmet, advised_excess_loss, follow_advice
from .hypotheses import LARGEST_RHO, booster, of_booster
from .majority import OTHERS, bandit_settings, known_edge, learning_settings, start, tuned_settings


def counterpart(case: Case) -> Case:
    """The same votes with full information: OnlineMBBM with the same weak learners and the same draws of ties."""
    given = booster(case)
    learner = OnlineMBBM(given.weak, given.learners, given.ties, given.gamma, given.scale)
    return replace(case, learner=learner, graph=graphs.full_information(case.n_labels))


def _twin(case: Case) -> Case:
    """The counterpart of a case, which claims about it share with its runs."""
    if "counterpart" not in case.kept:
        case.kept["counterpart"] = counterpart(case)
    found: Case = case.kept["counterpart"]
    return found


def _apart_when_ignoring(case: Case, horizon: float, delta: float) -> float:
    return number(case, "rho") * horizon + math.sqrt(horizon / 2 * math.log(1 / delta))


def _apart_when_learning(case: Case, horizon: float, delta: float) -> float:
    learner = booster(case)
    gamma, odds = learner.gamma, (2 * learner.learners + 3) / delta
    excess = max(
        advised_excess_loss(each, gamma, horizon, 1 / odds) for each in (case, _twin(case))
    )
    error = start(case, gamma, learner.ties) * horizon
    luck = 2 * math.sqrt(horizon / 2 * math.log(odds))
    return error + excess * float(learner.scales(case.n_labels).sum()) + luck


def _unmet(case: Case) -> str | None:
    if not follow_advice(case):
        return known_edge("boosting/asymptotic-error", BanditBBM, others=OTHERS)(case)
    if reason := of_booster("boosting/asymptotic-error", BanditBBM)(case):
        return reason
    if number(case, "rho") > LARGEST_RHO:
        return f"rho = {number(case, 'rho'):.6g}: it needs at most {LARGEST_RHO}"
    return advice_unmet(booster(case).gamma, case)


def _played(case: Case, runs: range, interpreted: bool = False) -> list[list[RunSums]]:
    """The runs of both boosters; where weak learners ignore costs the chance is in the sequence."""
    marks = checkpoints(case.horizon).tolist()
    fresh = not follow_advice(case)
    return [
        each.totals_at(marks, runs, interpreted=interpreted, fresh=fresh)
        for each in (case, _twin(case))
    ]


def _gap_sides(cell: Cell, runs: range, interpreted: bool) -> Iterator[tuple[int, TailSides]]:
    """The difference of the mistakes of both boosters, on the same sequences with the same draws."""
    case, n = cell.case, len(runs)
    rho, deltas, learn = number(case, "rho"), deltas_for(n), follow_advice(case)
    envelope = partial(_apart_when_learning if learn else _apart_when_ignoring, case)
    both = _played(case, runs, interpreted)
    where = non_vacuous_from(partial(envelope, delta=max(deltas)))
    for bandit, full in zip(*map(reversed, both), strict=True):
        bounds = {d: np.full(n, envelope(bandit.rounds, d)) for d in deltas}
        explored = rho * bandit.rounds if learn else 0.0
        apart: FloatArray = np.abs(bandit.mistakes - full.mistakes - explored)
        guess = guesser(case, bandit.rounds)
        least = envelope(bandit.rounds, max(deltas))
        yield (
            bandit.rounds,
            TailSides(apart, bounds, np.zeros(n), where, guess=guess, least=least),
        )


def _gap_remarks(cell: Cell, found: Evidence) -> str:
    """The error rates behind the difference."""
    case, horizon = cell.case, cell.case.horizon
    _, full = _played(case, range(found.runs))
    error = float(full[-1].mistakes.mean()) / horizon
    beyond = " beside rho" if follow_advice(case) else ""
    return (
        f"; error rates apart by at most {(found.observed or 0) / horizon:.4g}{beyond}, rho ="
        f" {number(case, 'rho'):.4g}; with full information {error:.4g}"
    )


ASYMPTOTIC_ERROR = Claim(
    id="boosting/asymptotic-error",
    title="bandit feedback costs BanditBBM no more than the rounds that it explores",
    source=BOOSTING.at(
        "BanditBBM (Algorithm 2), remarks after the mistake bound; what can be tested of them is derived here"
    ),
    forms=(
        Form(
            "derived",
            r"|M^{\mathrm{bandit}}_T - M^{\mathrm{full}}_T| \le \rho T + \sqrt{\tfrac{T}{2}\ln\tfrac{1}{\delta}}"
            r" \quad\text{on the same predictions and ties: } o(T) \text{ as } \rho \to 0; \quad"
            r"|M^{\mathrm{bandit}}_T - M^{\mathrm{full}}_T - \rho T| \le \phi_N(0)\,T + S_T\sum_i s^i"
            r" + \sqrt{2T\ln\tfrac{2N+3}{\delta}} \quad\text{where weak learners learn}",
            Proof.PROVED,
            "weak learners that ignore costs give both the same votes, and only explored rounds differ; with those"
            " that learn both mistake bounds have the same asymptotic error, and exploring costs at least rho T; that"
            " two asymptotic errors agree, or a bound with a hidden constant, no finite run can refute",
            _unmet,
            names=("difference of the mistakes", "envelope"),
            every_horizon=True,
        ),
    ),
    judge=Tail(play=_gap_sides, remarks=_gap_remarks),
    cases=lambda: (*tuned_settings(), *bandit_settings(), *learning_settings()[:1]),
)
