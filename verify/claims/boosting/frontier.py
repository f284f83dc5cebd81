"""The frontier of a weak learner: for each edge gamma the smallest excess loss S, against the S that is known.

=========  =====================================================================
symbol     name here
=========  =====================================================================
l_t        label predicted in round t
w_t, c_t   weight in [0, 1] and true cost vector: 0 at the label, sum 1
gamma, S   ``edge``, excess loss
r, m       largest weighted cost, smallest weight
=========  =====================================================================

What is known is a function of gamma. An oracle with edge e has the S of a martingale whose increments have range r
and whose drift is (e - gamma) m/k; the weak learners that hedge have that of verify/weak_known.py, with the drift that
their class leaves. What a user's weak learner declares for one gamma and delta it declares for smaller gamma and
larger delta as well.

Two levels are at work. The band is drawn at 95 %, for all gamma at once. What refutes is its lower limit at the level
of every sampled cell, for all gamma at once as well: a known S below it. One between these two limits is undecided.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from ....algorithms.boosting.hedge import oracle_excess_loss
from ....algorithms.boosting.weak import OracleNoise
from ....arrays import FloatArray
from ...certificates.make import statistical_certificate
from ...claim import BOOSTING, Claim, Form, Kind, Proof, Verdict
from ...games.labels.case import Setting
from ...games.weak.case import WeakCase
from ...games.weak.known import hedge_excess_loss, hedging
from ...games.weak.play import WeakRuns, play_weak
from ...games.weak.problem import WeakDeclaration
from ...judges.evidence import LEVEL
from ...judges.frontier import CONFIDENCE, Frontier, Frontiers, lower_limits, runs_for_limits
from ...judges.pathwise import Outcome
from ...judges.weak_tail import in_parts
from .weak_learning import oracles, stumps

RUNS = 512
"""Runs of each case."""

DELTAS = (0.01, 0.05, 0.1)
"""The first for which the runs suffice is taken."""

FINE, COARSE = 49, 17
"""Edges at which limits are computed; so few that 128 runs suffice at delta = 0.05 and 64 at 0.1, where they do not
for more."""

LARGEST_EDGE = 0.96


def edges_of(case: WeakCase, delta: float, runs: int) -> FloatArray:
    """The grid of edges, shape (m,): a third beyond that of an oracle; one of them is what is declared."""
    oracle_edge = case.stream.oracle_edge
    last = min(4 / 3 * oracle_edge, 1) if oracle_edge else LARGEST_EDGE
    edges = np.linspace(0, last, FINE if runs_for_limits(delta, FINE) <= runs else COARSE)
    if isinstance(case.declaration, WeakDeclaration):
        edges[np.abs(edges - case.word.edge).argmin()] = case.word.edge
    return edges


def delta_of(case: WeakCase, runs: int) -> float:
    """The smallest of ``DELTAS`` with finite limits after so many runs, and not below the one declared."""
    enough = [delta for delta in DELTAS if runs_for_limits(delta, COARSE) <= runs]
    smallest = min(enough, default=DELTAS[-1])
    declares = case.is_own and isinstance(case.declaration, WeakDeclaration)
    return max(smallest, case.word.delta) if declares else smallest


def known_excess_loss(case: WeakCase, edge: float, delta: float) -> float:
    """The S known for an edge and a delta, NaN where none is."""
    word, stream = case.declaration, case.stream
    if isinstance(word, str):
        return math.nan
    if case.is_own:
        return word.excess_loss if edge <= word.edge and delta >= word.delta else math.nan
    if isinstance(case.learner, OracleNoise):
        assert stream.oracle_edge is not None
        left = stream.oracle_edge - edge
        if left <= 0:
            return math.nan
        unit = oracle_excess_loss(left, stream.least_weight, stream.n_labels, delta)
        return stream.cost_range("full") ** 2 * unit
    hedge = hedging(case.learner, case.problem)
    assert hedge is not None
    # the class has the edge richness, of which an edge leaves the rest as drift
    found = hedge_excess_loss(*hedge, replace(case.problem, edge=stream.richness - edge), delta)
    return math.nan if found is None else found


def reached_by(parts: list[WeakRuns], edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The largest excess after any round and the one after the last, both at least 0; of shape (R, m)."""
    any_time = [np.stack([runs.largest(edge) for edge in edges], axis=1) for runs in parts]
    ends = [WeakRuns(runs.costs[:, -1:], runs.weights[:, -1:], runs.n_labels) for runs in parts]
    at_end = [np.concatenate([end.excess(edge) for edge in edges], axis=1) for end in ends]
    return np.concatenate(any_time), np.maximum(np.concatenate(at_end), 0)


def examine_frontier(
    claim: Claim, form: Form, case: WeakCase, replicates: int, *, interpreted: bool = False
) -> Outcome:
    """Play the runs, find the frontier, and hold what is known against it."""
    delta = delta_of(case, replicates)
    edges = edges_of(case, delta, replicates)
    known = np.array([known_excess_loss(case, edge, delta) for edge in edges])
    word = case.declaration
    # in the parts in which other claims play them as well
    parts = [play_weak(case, len(runs), runs.start) for runs in in_parts(case, replicates)]
    any_time, at_end = reached_by(parts, edges)
    found = Frontiers(
        Frontier.of(any_time, edges, delta),
        Frontier.of(at_end, edges, delta),
        known,
        isinstance(word, str) or word.anytime,
        case.horizon,
    )
    outcome = Outcome(
        Verdict.UNDECIDED, runs=replicates, rounds=replicates * case.horizon, frontiers=found
    )
    band = found.judged
    if np.isnan(known).all():
        reason = word if isinstance(word, str) else f"none is declared at delta {delta:g}"
        outcome.evidence = f"no S to compare it with: {reason}; {_where(found, case)}"
        return outcome
    # where no weak learner could exceed the known S, nothing is judged
    live = known < np.array([case.stream.most_excess(edge) for edge in edges])
    if not live.any():
        outcome.verdict, outcome.envelope = Verdict.VACUOUS, float(np.nanmin(known))
        outcome.evidence = (
            f"no weak learner can exceed the {_whose(case)} S in {case.horizon} rounds;"
            f" {_where(found, case)}"
        )
        return outcome
    reached = (any_time if found.anytime else at_end)[:, live]
    limits, shown, bound = lower_limits(reached, delta, LEVEL), band.low[live], known[live]
    outcome.sampled = True
    refuting = bool((limits > bound).any())
    at = int(_ratio(limits if refuting else shown, bound).argmax())
    edge, outcome.envelope = float(edges[live][at]), float(bound[at])
    outcome.observed = float(limits[at] if refuting else shown[at])
    outcome.ratio = outcome.observed / outcome.envelope if outcome.envelope > 0 else None
    if refuting:
        violations = int((reached[:, at] > bound[at]).sum())
        outcome.verdict = Verdict.REFUTED
        outcome.evidence = (
            f"at gamma {edge:.4g} {violations} of {replicates} runs exceed the {_whose(case)} S ="
            f" {bound[at]:.4g}: with probability 1 - {LEVEL:g}, for all gamma at once, the smallest S is at"
            f" least {limits[at]:.4g} (delta {delta:g})"
        )
        numbers = {
            "delta": repr(delta),
            "edge": repr(edge),
            "violations": violations,
            "reached": [repr(x) for x in reached[:, at].tolist()],
        }
        values = (outcome.observed, outcome.envelope)
        outcome.certificate = statistical_certificate(
            claim, form, case, replicates, values, outcome.evidence, numbers
        )
        return outcome
    largest = float(_ratio(limits, bound).max())
    outcome.headroom = 1 / largest if largest > 0 else None
    outcome.evidence = f"{_place(found, case)}; {_where(found, case)}"
    if not np.isfinite(band.high).all():
        outcome.evidence += f"; upper limits need {band.runs_needed} runs"
    elif not (shown > bound).any():
        outcome.verdict = Verdict.HOLDS
    return outcome


def _ratio(limits: FloatArray, known: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(limits / known, nan=0.0, posinf=np.inf)


def _whose(case: WeakCase) -> str:
    """What the S is that is held against the frontier."""
    return "declared" if case.is_own else "known"


def _place(found: Frontiers, case: WeakCase) -> str:
    """Where what is known lies."""
    band, known = found.judged, found.known
    below, above = int((known < band.low).sum()), int((known > band.high).sum())
    inside = int(np.isfinite(known).sum()) - below - above
    places = {"below": below, "inside": inside, "above": above}
    words = ", ".join(f"{name} the band at {n}" for name, n in places.items() if n)
    where = "nowhere below the band" if not below else "below the band, but not refuted"
    return f"the {_whose(case)} S is {where}: of {below + inside + above} gamma {words}"


def _where(found: Frontiers, case: WeakCase) -> str:
    """The band at one edge."""
    word, band = case.declaration, found.judged
    edge = case.problem.edge if isinstance(word, str) else word.edge
    at = int(np.abs(found.edges - edge).argmin())
    known = found.known[at]
    there = "" if math.isnan(known) else f", the {_whose(case)} one {known:.4g}"
    speaks = f"up to T = {found.rounds}" if found.anytime else f"at T = {found.rounds}"
    return (
        f"at gamma {found.edges[at]:.4g} the smallest S on this stream {speaks} lies in"
        f" [{band.low[at]:.4g}, {band.high[at]:.4g}]{there} (delta {band.delta:g}; {CONFIDENCE:.0%}, all gamma"
        " at once)"
    )


@cache
def frontier_settings() -> tuple[Setting, ...]:
    """A weak learner that learns, and the tight control: oracles whose wrong labels all cost the same."""
    settings = (stumps("planted-stump", "bandit", 2000), oracles("even-costs", "bandit", 2000))
    return tuple(replace(setting, replicates=RUNS) for setting in settings)


FRONTIER = Claim(
    id="boosting/frontier",
    title="the smallest excess loss for each edge, and the one that is known",
    source=BOOSTING.at("BanditWLC; its smallest S derived here"),
    kind=Kind.FRONTIER,
    about="weak learners",
    forms=(
        Form(
            "derived",
            r"P\Big(\max_{t\le T}\sum_{s\le t} w_s\Big(c_{s,l_s}-\frac{1-\gamma}{k}\Big) > S(\gamma)\Big)"
            r" \le \delta \quad\text{for every } \gamma",
            Proof.PROVED,
            "for all T at once: whatever of the drift an edge gamma leaves holds a martingale down for ever",
            names=("lower limit on S", "known S"),
        ),
    ),
    cases=frontier_settings,
    examine=examine_frontier,
)
