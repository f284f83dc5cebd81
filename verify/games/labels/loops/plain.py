"""The compiled loop of the game, which plays any learner, and the plain Python form of the same loop.

A round: the game computes the scores of the labels, the learner fills the probability vector, the game
draws the action with one uniform by inverse cdf, the feedback graph says whether that action reveals the
label, and the learner updates from what was revealed and nothing else.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .....algorithms.learner import (
    PREDICT,
    REMAINDER,
    REWRITE,
    SCALE,
    SQUARED_NORM,
    TOUCHED,
    UNSEEN,
    UPDATE,
)
from .....algorithms.losses import GAP, SURROGATE
from .....arrays import FloatArray
from .....compiled import helper, kernel, workspace
from .....vectors import sparse_product, subtract_outer
from ..record import (
    ACTION,
    BEST,
    ERROR,
    GRADIENT,
    LOSS,
    MARGIN,
    MISTAKE,
    OBSERVATION,
    OBSERVED,
    TOTAL,
)
from ..record import GAP as GAP_COLUMN

FUNCTIONS = (GAP, SURROGATE, PREDICT, UPDATE, REWRITE)
"""Signatures of the functions that the loop calls, in the order in which it takes them."""

SEQUENCE = (
    "Tuple((Array(int64, 1, 'C', True), Array(uint64, 1, 'C', True), Array(float64, 1, 'C', True),"
    " Array(float64, 1, 'C', True), Array(int64, 1, 'C', True)))"
)
"""Row pointers, indices and values of the features, the squared norms of its rows, and the labels."""

OBSERVERS = "Tuple((Array(int64, 1, 'C', True), Array(int64, 1, 'C', True)))"
"""Pointers for each label, and the actions that reveal it."""

PASSES = 32
"""The squared norm of V is taken from V each time that steps have changed so many times its number of features, since
rounding the entries of V moves it away from what the learner reckons."""

ROUNDS = (
    f"void({', '.join(f'Function({each})' for each in FUNCTIONS)}, {SEQUENCE}, {OBSERVERS},"
    " float64[::1], int64, float64[:, ::1], float64[::1], float64[::1], float64[::1],"
    " float64[:, :, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1])"
)


@helper
def copy_into(target: FloatArray, source: FloatArray) -> None:
    """Fill ``target`` with ``source``."""
    for k in range(target.shape[0]):
        target[k] = source[k]


@helper
def draw_action(uniform: float, p: FloatArray) -> int:
    """The action drawn by inverse cdf."""
    action, cumulative = 0, 0.0
    for k in range(p.shape[0]):
        if p[k] > 0.0:
            action = k
            cumulative += p[k]
            if uniform < cumulative:
                break
    return action


@helper
def write_down(
    label: int,
    action: int,
    observation: float,
    observed: bool,
    p: FloatArray,
    i: int,
    columns: Any,
) -> None:
    """Fill what the columns say of the draw in row ``i``."""
    total = 0.0
    for k in range(p.shape[0]):
        total += p[k]
    columns[i, ERROR] = 1.0 - p[label]
    columns[i, MISTAKE] = 0.0 if action == label else 1.0
    columns[i, OBSERVATION] = observation
    columns[i, OBSERVED] = 1.0 if observed else 0.0
    columns[i, TOTAL] = total
    columns[i, ACTION] = action


@helper
def measure_norm(weights: FloatArray, state: FloatArray) -> None:
    """Take the squared norm of V from V; what the sum over its rows rounds away is added at the end."""
    total, remainder = 0.0, 0.0
    for f in range(weights.shape[0]):
        square = 0.0
        for k in range(weights.shape[1]):
            square += weights[f, k] * weights[f, k]
        larger = total + square
        kept = larger - total
        remainder += (total - (larger - kept)) + (square - kept)
        total = larger
    state[SQUARED_NORM] = total + remainder
    state[REMAINDER] = 0.0
    state[TOUCHED] = 0.0


@kernel(ROUNDS)
def play_rounds(
    gap_map: Any,
    surrogate: Any,
    predict: Any,
    update: Any,
    rewrite: Any,
    sequence: Any,
    observers: Any,
    uniforms: FloatArray,
    start: int,
    weights: FloatArray,
    loss_numbers: FloatArray,
    learner_numbers: FloatArray,
    saved_state: FloatArray,
    memory: FloatArray,
    columns: FloatArray,
    traced_scores: FloatArray,
    traced_probabilities: FloatArray,
    totals: FloatArray,
) -> None:
    """Play ``len(uniforms)`` rounds from ``start``; everything that changes is changed in place."""
    indptr, indices, values, squared_norms, labels = sequence
    observer_pointers, observing = observers
    n_features, n_labels = weights.shape
    n_actions = traced_probabilities.shape[1]
    recorded = columns.shape[0] > 0
    traced = traced_scores.shape[0] > 0
    rewrites = memory.shape[0] > 0
    scores = workspace(n_labels)
    work = workspace(n_labels + 1)
    gradient = workspace(n_labels)
    hidden = workspace(n_labels)
    coefficient = workspace(n_labels)
    p = workspace(n_actions)
    loss_parameters = workspace(loss_numbers.shape[0])
    parameters = workspace(learner_numbers.shape[0])
    state = workspace(saved_state.shape[0])
    copy_into(loss_parameters, loss_numbers)
    copy_into(parameters, learner_numbers)
    copy_into(state, saved_state)
    normed = state[SQUARED_NORM] >= 0.0
    for k in range(n_labels):
        hidden[k] = np.nan

    for i in range(uniforms.shape[0]):
        t = start + i
        features = indices[indptr[t] : indptr[t + 1]]
        x = values[indptr[t] : indptr[t + 1]]
        label = labels[t]

        sparse_product(x, features, weights, scores)
        scale = state[SCALE]
        if scale != 1.0:
            for k in range(n_labels):
                scores[k] *= scale

        # two passes without branches, which would be guessed wrong too often
        best, highest = 0, scores[0]
        for k in range(1, n_labels):
            best = k if scores[k] > highest else best
            highest = scores[k] if scores[k] > highest else highest
        scores[best] = -math.inf
        runner = 1 if best == 0 else 0
        second = scores[runner]
        for k in range(n_labels):
            runner = k if scores[k] > second else runner
            second = scores[k] if scores[k] > second else second
        scores[best] = highest

        gap = gap_map(scores, best, runner, loss_parameters, work)
        predict(scores, best, runner, gap, parameters, state, p)

        action = draw_action(uniforms[i], p)
        observation = 0.0
        observed = False
        for j in range(observer_pointers[label], observer_pointers[label + 1]):
            observation += p[observing[j]]
            if observing[j] == action:
                observed = True

        if traced:
            for k in range(n_labels):
                traced_scores[i, k] = scores[k]
            for k in range(n_actions):
                traced_probabilities[i, k] = p[k]
        loss = surrogate(scores, best, runner, label, loss_parameters, work, gradient)
        if recorded:
            write_down(label, action, observation, observed, p, i, columns)
            squared = 0.0
            for k in range(n_labels):
                squared += gradient[k] * gradient[k]
            columns[i, LOSS] = loss
            columns[i, GAP_COLUMN] = gap
            columns[i, BEST] = best
            columns[i, MARGIN] = highest - second
            columns[i, GRADIENT] = squared * squared_norms[t]
        totals[0] += 1.0 - p[label]
        totals[1] += 0.0 if action == label else 1.0
        totals[2] += loss
        totals[3] += 1.0 if observed else 0.0

        moved = False
        if rewrites:
            rewrite(
                scores,
                best,
                runner,
                p,
                action,
                label if observed else UNSEEN,
                1.0 / observation if observed else 0.0,
                features,
                x,
                gradient if observed else hidden,
                parameters,
                state,
                memory,
                weights,
            )
        elif observed:
            moved = update(
                scores,
                best,
                runner,
                p,
                action,
                label,
                1.0 / observation,
                squared_norms[t],
                gradient,
                parameters,
                state,
                coefficient,
            )
        else:
            moved = update(
                scores,
                best,
                runner,
                p,
                action,
                UNSEEN,
                0.0,
                squared_norms[t],
                hidden,
                parameters,
                state,
                coefficient,
            )
        if moved:
            subtract_outer(x, features, coefficient, weights)
            # fold the scale into the weights before it underflows; far below any that a leader sets
            if state[SCALE] < 1e-150:
                for f in range(n_features):
                    for k in range(n_labels):
                        weights[f, k] *= state[SCALE]
                state[SCALE] = 1.0
                state[TOUCHED] = math.inf
            if normed:
                state[TOUCHED] += features.shape[0]
                if state[TOUCHED] >= PASSES * n_features:
                    measure_norm(weights, state)
    copy_into(saved_state, state)


@kernel(GAP)
def no_gap() -> float:
    return np.nan


@kernel(SURROGATE)
def no_surrogate(gradient: FloatArray) -> float:
    for k in range(gradient.shape[0]):
        gradient[k] = np.nan
    return np.nan


@kernel(REWRITE)
def no_rewrite() -> None:
    return None
