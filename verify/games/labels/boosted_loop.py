"""The loop of the game for boosters, whose weak learners read the features, in compiled and in plain Python form.

A round: the weak learners predict, the booster turns what they predict into a probability vector, the game draws the
action and looks up whether it reveals the label as it does for any learner, the booster turns what was revealed into
costs, and the weak learners are told. What the booster draws for itself are numbers of its own, a row of ``dice`` a
round. Where a weak learner predicts no label the loop stops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....algorithms.boosting.boosting import ASSESS, LEARNS, MEMORY, VOTE
from ....algorithms.boosting.boosting import BEST as BEST_SLOT
from ....algorithms.boosting.cache import CACHE
from ....algorithms.boosting.weak import ASK, TELL
from ....algorithms.learner import UNSEEN
from ....arrays import FloatArray, IntArray
from ....compiled import kernel
from .loop import draw_action, write_down
from .record import BEST, GAP, GRADIENT, LOSS, MARGIN

BOOSTED = (
    f"int64(FunctionType({ASK}), FunctionType({TELL}), FunctionType({VOTE}), FunctionType({ASSESS}),"
    " Array(int64, 1, 'C', True), Array(uint64, 1, 'C', True), Array(float64, 1, 'C', True),"
    " Array(int64, 1, 'C', True), Array(int64, 1, 'C', True), Array(int64, 1, 'C', True),"
    " float64[::1], float64[:, ::1], int64, int64, float64[::1], float64[::1], float64[:, ::1],"
    f" {', '.join([*MEMORY.values(), *CACHE.values()])}, float64[:, ::1], float64[:, ::1], float64[::1])"
)


@kernel(BOOSTED)
def play_boosted(
    ask: Any,
    tell: Any,
    vote: Any,
    assess: Any,
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    true_labels: IntArray,
    observer_pointers: IntArray,
    observers: IntArray,
    uniforms: FloatArray,
    dice: Any,
    n_asked: int,
    start: int,
    x: FloatArray,
    weak_parameters: FloatArray,
    weak_states: Any,
    parameters: FloatArray,
    labels: IntArray,
    scores: Any,
    learners: Any,
    counts: IntArray,
    losses: FloatArray,
    p: FloatArray,
    costs: Any,
    weights: FloatArray,
    ranking: Any,
    places: Any,
    tables: FloatArray,
    tie_weights: FloatArray,
    keys: Any,
    kept: Any,
    work: Any,
    columns: Any,
    traced_probabilities: Any,
    totals: FloatArray,
) -> int:
    """Play ``len(uniforms)`` rounds from ``start`` and return how many were; what changes is changed in place.

    ``dice`` has a row for each round, the first ``n_asked`` of it for the weak learners; ``x`` is room for the
    features, all 0.
    """
    n_labels = p.shape[0]
    rounds: int = uniforms.shape[0]
    recorded, traced = columns.shape[0] > 0, traced_probabilities.shape[0] > 0
    for i in range(rounds):
        t = start + i
        label = true_labels[t]
        for j in range(indptr[t], indptr[t + 1]):
            x[indices[j]] = values[j]
        ask(x, dice[i, :n_asked], n_labels, weak_parameters, weak_states, labels)
        for learner in range(labels.shape[0]):
            if not 0 <= labels[learner] < n_labels:
                return i
        vote(
            dice[i, n_asked:],
            parameters,
            labels,
            scores,
            learners,
            counts,
            losses,
            p,
            costs,
            weights,
        )

        action = draw_action(uniforms[i], p)
        observation, observed = 0.0, False
        for j in range(observer_pointers[label], observer_pointers[label + 1]):
            observation += p[observers[j]]
            if observers[j] == action:
                observed = True
        if traced:
            for k in range(n_labels):
                traced_probabilities[i, k] = p[k]
        if recorded:
            write_down(label, action, observation, observed, p, i, columns)
            columns[i, LOSS] = columns[i, GAP] = columns[i, MARGIN] = columns[i, GRADIENT] = np.nan
            columns[i, BEST] = counts[BEST_SLOT]
        totals[0] += 1.0 - p[label]
        totals[1] += 0.0 if action == label else 1.0
        totals[2] = np.nan
        totals[3] += 1.0 if observed else 0.0

        assess(
            action,
            label if observed else UNSEEN,
            parameters,
            labels,
            scores,
            learners,
            counts,
            losses,
            p,
            costs,
            weights,
            ranking,
            places,
            tables,
            tie_weights,
            keys,
            kept,
            work,
        )
        if parameters[LEARNS] > 0.0:
            tell(x, costs, weights, weak_parameters, weak_states)
        for j in range(indptr[t], indptr[t + 1]):
            x[indices[j]] = 0.0
    return rounds
