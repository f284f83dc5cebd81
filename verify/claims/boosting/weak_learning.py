"""The weak learning conditions, with the excess loss that is known of a weak learner or that it declares.

=========  =====================================================================
symbol     name here
=========  =====================================================================
l_t        label predicted in round t
w_t, c_t   weight in [0, 1] and true cost vector: 0 at the label, sum 1
gamma, S   ``edge``, ``excess_loss`` of the declaration
=========  =====================================================================

Under the condition for full information the weak learner is shown c_t, under the one for bandit feedback an estimate
of mean c_t within a bound b. The latter with b = 0 is the former.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from ....algorithms.boosting.hedge import anytime_rate
from ....arrays import FloatArray
from ... import catalog
from ...author import Cell, Claim, Form, Known, Proof, Setting, Tail, TailSides
from ...games.game import checkpoints
from ...games.weak.case import Case
from ...games.weak.play import play_runs
from ...games.weak.user_learner import DECLARED
from ..papers import BOOSTING

RUNS = 128
"""Runs of each case; 59 without a violation hold at delta = 0.05."""


@dataclass(frozen=True)
class Limit:
    """A number that is known before play and must not be exceeded with probability more than delta.

    Attributes
    ----------
    delta : in (0, 1)
    envelope : after each round, shape (T,)
    most : the largest value that any weak learner can have reached until each round, shape (T,)
    guess : what one that guesses reaches in the mean at the end
    says : the numbers behind the envelope
    """

    delta: float
    envelope: FloatArray
    most: FloatArray
    guess: float
    says: str


Observe = Callable[[Case, range, bool], FloatArray]
"""From a case, some runs and whether they are interpreted to what is observed after each round, shape (R, T)."""


def tail(observe: Observe, limit_of: Callable[[Case], Limit]) -> Tail:
    """The judge of how often the limit is exceeded at the last round."""

    def play(cell: Cell, runs: range, interpreted: bool) -> Iterator[tuple[int, TailSides]]:
        limit, paths = limit_of(cell.case), observe(cell.case, runs, interpreted)
        for mark in reversed(checkpoints(cell.case.horizon).tolist()):
            bound, most = (
                np.full(len(runs), each[mark - 1]) for each in (limit.envelope, limit.most)
            )
            yield (
                mark,
                TailSides(
                    paths[:, mark - 1],
                    {limit.delta: bound},
                    most=most,
                    guess=limit.guess,
                    least=float(limit.envelope[mark - 1]),
                ),
            )

    def known(case: Case) -> Known:
        limit = limit_of(case)
        return Known(float(limit.envelope[-1]), float(limit.most[-1]), limit.says)

    return Tail(play=play, known=known, remarks=lambda cell, found: f"; {limit_of(cell.case).says}")


def _at_the_end(case: Case, runs: range, interpreted: bool) -> FloatArray:
    return play_runs(case, runs, interpreted=interpreted).excess(case.word.edge)


def _at_any_time(case: Case, runs: range, interpreted: bool) -> FloatArray:
    excess = _at_the_end(case, runs, interpreted)
    return np.maximum(np.maximum.accumulate(excess, axis=1), 0)


def excess_limit(case: Case) -> Limit:
    """S, and what a weak learner that is always wrong would exceed the budget by."""
    word, stream = case.word, case.stream
    return Limit(
        word.delta,
        np.full(stream.horizon, word.excess_loss),
        stream.most_excesses(word.edge),
        float(word.edge / stream.n_labels * stream.weights.sum()),
        f"gamma = {word.edge:.4g}, S = {word.excess_loss:.6g}",
    )


def _unmet(graph: str, anytime: bool, case: Case) -> str | None:
    if isinstance(case.declaration, str):
        expected = f": expected the numbers {', '.join(DECLARED)}, on the class or set in __init__"
        return case.declaration + (expected if case.is_users else "")
    if case.graph != graph:
        shown = "the costs themselves" if graph == "full" else "estimates of the costs"
        return f"it is about weak learners that are shown {shown} (graph {graph})"
    if anytime and not case.word.anytime:
        return "the weak learner does not declare that its excess loss is for all rounds (anytime)"
    return None


def stumps(adversary: str, graph: str, horizon: int) -> Setting:
    """Hedge over the stumps, or over advice, at the rate of its known excess loss."""
    stream = catalog.adversary(adversary).stream(16, 0)
    learner = "hedge-advice" if adversary.startswith("planted-advice") else "hedge-stump"
    rate = anytime_rate(
        stream.richness / 2, stream.least_weight, stream.cost_range(graph), stream.n_labels
    )
    return Setting(f"{learner}:rate={rate:.4g}", adversary, graph, horizon, runs=RUNS)


def oracles(adversary: str, graph: str, horizon: int) -> Setting:
    """Labels drawn with an exact edge."""
    return Setting("oracle-noise", adversary, graph, horizon, runs=RUNS)


@cache
def full_settings() -> tuple[Setting, ...]:
    """True costs: a planted hypothesis, costs that follow the predictions, weights that tell, and oracles."""
    return (
        stumps("planted-stump", "full", 1000),
        stumps("following-costs", "full", 1000),
        stumps("tilted-weights", "full", 3000),
        stumps("planted-advice", "full", 1000),
        oracles("even-costs", "full", 1000),
        oracles("even-costs:n_labels=5,edge=0.4,weight=0.5", "full", 2000),
    )


@cache
def bandit_settings() -> tuple[Setting, ...]:
    """Estimates: those of a booster, coins, and errors that make wrong labels look cheap."""
    return (
        stumps("planted-stump", "bandit", 3000),
        stumps("planted-stump:noise=push+size=0.5", "bandit", 2000),
        stumps("planted-stump:n_labels=4,noise=two-point+size=0.5", "bandit", 3000),
        stumps("following-costs:noise=two-point+size=0.25", "bandit", 2000),
        stumps("tilted-weights", "bandit", 4000),
        stumps("planted-advice:edge=0.4", "bandit", 3000),
        oracles("even-costs", "bandit", 1000),
        oracles("even-costs:noise=estimate", "bandit", 1000),
    )


def _claims(
    name: str, title: str, graph: str, shown: str, settings: Callable[[], tuple[Setting, ...]]
) -> tuple[Claim, Claim]:
    """The condition for each T, as it is printed, and for all T at once."""
    inequality = (
        r"\sum_{t\le T} w_t c_{t,l_t} \le \frac{1-\gamma}{k}\sum_{t\le T} w_t + S"
        r" \quad\text{with probability } 1-\delta"
    )
    excess = "sum w c - (1 - gamma)/k sum w"
    printed = Form(
        "reconstructed",
        inequality + rf" \text{{ for each }} T,\ {shown}",
        Proof.PROVED,
        "true of the weak learners whose S is known: Hedge over a class that holds a hypothesis of edge 2 gamma, and"
        " labels drawn with edge 2 gamma",
        partial(_unmet, graph, False),
        names=(excess, "S"),
        every_horizon=True,
        adaptive=True,
    )
    # its observed side is the largest over all rounds, so that a prefix could only say less
    derived = Form(
        "derived",
        inequality + rf" \text{{ for all }} T \text{{ at once}},\ {shown}",
        Proof.PROVED,
        "the same S serves: the drift of the edge holds a martingale down for ever",
        partial(_unmet, graph, True),
        names=(f"largest {excess}", "S"),
        adaptive=True,
    )
    source = "OnlineWLC" if graph == "full" else "BanditWLC"
    condition = Claim(
        id=f"boosting/{name}",
        title=title,
        source=BOOSTING.at(source),
        game="weak-learning",
        forms=(printed,),
        judge=tail(_at_the_end, excess_limit),
        cases=settings,
    )
    return condition, replace(
        condition,
        id=f"boosting/{name}-anytime",
        title=f"{title}, all rounds at once",
        source=BOOSTING.at(f"{source}; all rounds at once derived here"),
        forms=(derived,),
        judge=tail(_at_any_time, excess_limit),
    )


ONLINE_WLC, ONLINE_WLC_ANYTIME = _claims(
    "online-wlc",
    "weak learning condition, full information",
    "full",
    r"c_t \text{ shown}",
    full_settings,
)

BANDIT_WLC, BANDIT_WLC_ANYTIME = _claims(
    "bandit-wlc",
    "weak learning condition, bandit feedback",
    "bandit",
    r"\hat c_t \text{ shown},\ E[\hat c_t]=c_t,\ \|\hat c_t-c_t\|_\infty\le b",
    bandit_settings,
)
