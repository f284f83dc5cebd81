"""The cost of bandit feedback to a booster by majority: its mistakes beside those with full information.

Both vote on the same sequences with the same draws of ties. Their weak learners have a known edge, see ``majority.py``.
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
from ..baselines.hypotheses import number
from ..papers import BOOSTING
from ..sampled import deltas_for, guesser, non_vacuous_from
from .hypotheses import booster
from .majority import bandit_settings, known_edge, tuned_settings


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


def _gap_sides(cell: Cell, runs: range, interpreted: bool) -> Iterator[tuple[int, TailSides]]:
    """The difference of the mistakes of both boosters, on the same sequences with the same draws."""
    case, n = cell.case, len(runs)
    rho, deltas = number(case, "rho"), deltas_for(n)

    def envelope(horizon: float, delta: float) -> float:
        return rho * horizon + math.sqrt(horizon / 2 * math.log(1 / delta))

    marks = checkpoints(case.horizon).tolist()
    both = [
        each.totals_at(marks, runs, interpreted=interpreted, fresh=True)
        for each in (case, _twin(case))
    ]
    where = non_vacuous_from(partial(envelope, delta=max(deltas)))
    for bandit, full in zip(*map(reversed, both), strict=True):
        bounds = {d: np.full(n, envelope(bandit.rounds, d)) for d in deltas}
        apart: FloatArray = np.abs(bandit.mistakes - full.mistakes)
        guess = guesser(case, bandit.rounds)
        least = envelope(bandit.rounds, max(deltas))
        yield (
            bandit.rounds,
            TailSides(apart, bounds, np.zeros(n), where, guess=guess, least=least),
        )


def _gap_remarks(cell: Cell, found: Evidence) -> str:
    """The error rates behind the difference."""
    case, horizon = cell.case, cell.case.horizon
    marks = checkpoints(horizon).tolist()
    runs = _twin(case).totals_at(marks, range(found.runs), fresh=True)
    error = float(runs[-1].mistakes.mean()) / horizon
    return (
        f"; error rates apart by at most {(found.observed or 0) / horizon:.4g}, rho ="
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
            r" \quad\text{on the same predictions and ties: } o(T) \text{ as } \rho \to 0",
            Proof.PROVED,
            "weak learners that ignore costs give both the same votes, and only explored rounds differ; that two"
            " asymptotic errors agree, or a bound with a hidden constant, no finite run can refute",
            known_edge("boosting/asymptotic-error", BanditBBM),
            names=("|M_bandit - M_full|", "envelope"),
            every_horizon=True,
        ),
    ),
    judge=Tail(play=_gap_sides, remarks=_gap_remarks),
    cases=lambda: (*tuned_settings(), *bandit_settings()),
)
