"""The frontier of a weak learner: for each edge gamma the smallest excess loss S, against the S that is known.

=========  =====================================================================
symbol     name here
=========  =====================================================================
l_t        label predicted in round t
w_t, c_t   weight in [0, 1] and true cost vector: 0 at the label, sum 1
gamma, S   ``edge``, excess loss
r, m       largest weighted cost, smallest weight
=========  =====================================================================

A weak learner of the library may know S as a function of gamma, with the drift that gamma leaves of the edge that its
predictions or its class have. What a weak learner declares for one gamma and delta it declares for smaller gamma and
larger delta as well.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from ....algorithms.boosting.problem import WeakDeclaration
from ....arrays import FloatArray
from ...author import Claim, Form, Frontier, Proof, Reached, Setting
from ...games.weak.case import Case
from ...games.weak.play import Paths, play_runs
from ...judges.bands import runs_for_limits
from ..papers import BOOSTING
from .weak_learning import oracles, stumps

RUNS = 512
"""Runs of each case."""

DELTAS = (0.01, 0.05, 0.1)
"""The first for which the runs suffice is taken."""

FINE, COARSE = 49, 17
"""Edges at which limits are computed; so few that 128 runs suffice at delta = 0.05 and 64 at 0.1, where they do not
for more."""

LARGEST_EDGE = 0.96


def edges_of(case: Case, delta: float, runs: int) -> FloatArray:
    """The grid of edges, shape (m,): a third beyond that of an oracle; one of them is what is declared."""
    oracle_edge = case.stream.oracle_edge
    last = min(4 / 3 * oracle_edge, 1) if oracle_edge else LARGEST_EDGE
    edges = np.linspace(0, last, FINE if runs_for_limits(delta, FINE) <= runs else COARSE)
    if isinstance(case.declaration, WeakDeclaration):
        edges[np.abs(edges - case.word.edge).argmin()] = case.word.edge
    return edges


def delta_of(case: Case, runs: int) -> float:
    """The smallest of ``DELTAS`` with finite limits after so many runs, and not below the one declared."""
    enough = [delta for delta in DELTAS if runs_for_limits(delta, COARSE) <= runs]
    smallest = min(enough, default=DELTAS[-1])
    if isinstance(case.declaration, str) or knows_all_edges(case):
        return smallest
    return max(smallest, case.word.delta)


def known_excess_loss(case: Case, edge: float, delta: float) -> float:
    """The S known for an edge and a delta, NaN where none is."""
    word = case.declaration
    if isinstance(word, str):
        return math.nan
    if not knows_all_edges(case):
        return word.excess_loss if edge <= word.edge and delta >= word.delta else math.nan
    found: float | None = case.learner.known_excess_loss(edge, delta, case.problem, case.stream)
    return math.nan if found is None else found


def knows_all_edges(case: Case) -> bool:
    """True if the weak learner knows its excess loss as a function of edge and delta, and not for one pair only."""
    return hasattr(case.learner, "known_excess_loss")


def reached_by(parts: list[Paths], edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The largest excess after any round and the one after the last, both at least 0; of shape (R, m)."""
    any_time = [np.stack([runs.largest(edge) for edge in edges], axis=1) for runs in parts]
    ends = [Paths(runs.costs[:, -1:], runs.weights[:, -1:], runs.n_labels) for runs in parts]
    at_end = [np.concatenate([end.excess(edge) for edge in edges], axis=1) for end in ends]
    return np.concatenate(any_time), np.maximum(np.concatenate(at_end), 0)


def reached(case: Case, runs: int) -> Reached:
    """Play the runs, in the parts in which other claims play them as well, and find what is known of each edge."""
    delta = delta_of(case, runs)
    edges = edges_of(case, delta, runs)
    any_time, at_end = reached_by([play_runs(case, part) for part in case.parts(runs)], edges)
    word = case.declaration
    if isinstance(word, str):
        anytime, nothing, edge = True, word, case.problem.edge
    else:
        anytime, nothing, edge = word.anytime, f"none is declared at delta {delta:g}", word.edge
    return Reached(
        edges,
        delta,
        any_time,
        at_end,
        np.array([known_excess_loss(case, edge, delta) for edge in edges]),
        np.array([case.stream.most_excess(edge) for edge in edges]),
        anytime=anytime,
        whose="declared" if case.is_users else "known",
        nothing=nothing,
        edge=edge,
    )


@cache
def frontier_settings() -> tuple[Setting, ...]:
    """A weak learner that learns, and the tight control: oracles whose wrong labels all cost the same."""
    settings = (stumps("planted-stump", "bandit", 2000), oracles("even-costs", "bandit", 2000))
    return tuple(replace(setting, runs=RUNS) for setting in settings)


FRONTIER = Claim(
    id="boosting/frontier",
    title="the smallest excess loss for each edge, and the one that is known",
    source=BOOSTING.at("BanditWLC; its smallest S derived here"),
    game="weak-learning",
    forms=(
        Form(
            "derived",
            r"P\Big(\max_{t\le T}\sum_{s\le t} w_s\Big(c_{s,l_s}-\frac{1-\gamma}{k}\Big) > S(\gamma)\Big)"
            r" \le \delta \quad\text{for every } \gamma",
            Proof.PROVED,
            "for all T at once: whatever of the drift an edge gamma leaves holds a martingale down for ever",
            names=("lower limit on S", "known S"),
            adaptive=True,
        ),
    ),
    judge=Frontier(reached),
    cases=frontier_settings,
)
