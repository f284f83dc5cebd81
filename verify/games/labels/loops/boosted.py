"""The loop of the game for boosters, whose weak learners read the features, in compiled and in plain Python form.

A round: the weak learners predict, the booster turns what they predict into a probability vector, the game draws the
action and looks up whether it reveals the label as it does for any learner, the booster turns what was revealed into
costs, and the weak learners are told. What the booster draws for itself are numbers of its own, a row of ``dice`` a
round. Where a weak learner predicts no label the loop stops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .....algorithms.boosting.boosting import ASSESS, LEARNS, MEMORY, VOTE
from .....algorithms.boosting.boosting import BEST as BEST_SLOT
from .....algorithms.boosting.cache import CACHE
from .....algorithms.boosting.weak import ASK, TELL
from .....algorithms.learner import UNSEEN
from .....arrays import FloatArray
from .....compiled import kernel
from ..record import BEST, GAP, GRADIENT, LOSS, MARGIN
from .plain import OBSERVERS, SEQUENCE, draw_action, write_down

BOOSTED_FUNCTIONS = (ASK, TELL, VOTE, ASSESS)
"""Signatures of the functions that the loop calls, in the order in which it takes them."""

BOOSTED = (
    f"int64({', '.join(f'Function({each})' for each in BOOSTED_FUNCTIONS)}, {SEQUENCE}, {OBSERVERS},"
    f" float64[::1], float64[:, ::1], int64, int64, float64[::1], Tuple((float64[::1], float64[:, ::1])),"
    f" Tuple(({', '.join(MEMORY.values())})), Tuple(({', '.join(CACHE.values())})),"
    " float64[:, ::1], float64[:, ::1], Tuple((int64[:, ::1], float64[:, :, ::1], int64[:, ::1])), float64[::1])"
)


@kernel(BOOSTED)
def play_boosted(
    ask: Any,
    tell: Any,
    vote: Any,
    assess: Any,
    sequence: Any,
    observers: Any,
    uniforms: FloatArray,
    dice: Any,
    n_asked: int,
    start: int,
    x: FloatArray,
    weak: Any,
    memory: Any,
    cache: Any,
    columns: Any,
    traced_probabilities: Any,
    traced_votes: Any,
    totals: FloatArray,
) -> int:
    """Play ``len(uniforms)`` rounds from ``start`` and return how many were; what changes is changed in place.

    ``dice`` has a row for each round, the first ``n_asked`` of it for the weak learners; ``x`` is room for the
    features, all 0.
    """
    indptr, indices, values, _, true_labels = sequence
    weak_parameters, weak_states = weak
    parameters, labels, _, learners, counts, _, p, costs, weights = memory
    observer_pointers, observing = observers
    traced_labels, traced_learners, traced_counts = traced_votes
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
        vote(dice[i, n_asked:], *memory)

        action = draw_action(uniforms[i], p)
        observation, observed = 0.0, False
        for j in range(observer_pointers[label], observer_pointers[label + 1]):
            observation += p[observing[j]]
            if observing[j] == action:
                observed = True
        if traced:
            for k in range(n_labels):
                traced_probabilities[i, k] = p[k]
            for learner in range(labels.shape[0]):
                traced_labels[i, learner] = labels[learner]
                for row in range(learners.shape[0]):
                    traced_learners[i, row, learner] = learners[row, learner]
            for slot in range(counts.shape[0]):
                traced_counts[i, slot] = counts[slot]
        if recorded:
            write_down(label, action, observation, observed, p, i, columns)
            columns[i, LOSS] = columns[i, GAP] = columns[i, MARGIN] = columns[i, GRADIENT] = np.nan
            columns[i, BEST] = counts[BEST_SLOT]
        totals[0] += 1.0 - p[label]
        totals[1] += 0.0 if action == label else 1.0
        totals[2] = np.nan
        totals[3] += 1.0 if observed else 0.0

        assess(action, label if observed else UNSEEN, *memory, *cache)
        if parameters[LEARNS] > 0.0:
            tell(x, costs, weights, weak_parameters, weak_states)
        for j in range(indptr[t], indptr[t + 1]):
            x[indices[j]] = 0.0
    return rounds
