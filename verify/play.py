"""The game: one compiled loop that plays any learner, and the plain Python form of the same loop.

A round: the game computes the scores of the labels, the learner fills the probability vector, the game
draws the action with one uniform by inverse cdf, the feedback graph says whether that action reveals the
label, and the learner updates from what was revealed and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..adversaries.sequence import Sequence
from ..algorithms.graphs import FeedbackGraph
from ..algorithms.learner import PREDICT, SCALE, UPDATE, Learner, Player, Problem
from ..algorithms.losses import GAP, SURROGATE
from ..compiled import Kernel, kernel
from .record import (
    ACTION,
    BEST,
    BLOCK,
    ERROR,
    GRADIENT,
    LOSS,
    MARGIN,
    MISTAKE,
    N_COLUMNS,
    OBSERVATION,
    OBSERVED,
    TOTAL,
    TOTALS,
    Block,
    FloatArray,
)
from .record import GAP as GAP_COLUMN

_FEATURES = (
    "Array(int64, 1, 'C', True), Array(uint64, 1, 'C', True), Array(float64, 1, 'C', True),"
    " Array(float64, 1, 'C', True), Array(int64, 1, 'C', True)"
)
_ROUNDS = (
    f"void(FunctionType({GAP}), FunctionType({SURROGATE}), FunctionType({PREDICT}),"
    f" FunctionType({UPDATE}), {_FEATURES}, Array(int64, 1, 'C', True), Array(int64, 1, 'C', True),"
    " float64[::1], int64, float64[:, ::1], float64[::1], float64[::1], float64[::1],"
    " float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1])"
)


@kernel(_ROUNDS)
def _rounds(
    gap_map: Any,
    surrogate: Any,
    predict: Any,
    update: Any,
    indptr: Any,
    indices: Any,
    values: Any,
    squared_norms: Any,
    labels: Any,
    observer_pointers: Any,
    observers: Any,
    uniforms: FloatArray,
    start: int,
    weights: FloatArray,
    loss_parameters: FloatArray,
    parameters: FloatArray,
    state: FloatArray,
    columns: FloatArray,
    traced_scores: FloatArray,
    traced_probabilities: FloatArray,
    totals: FloatArray,
) -> None:
    """Play ``len(uniforms)`` rounds from ``start``; everything that changes is changed in place."""
    n_features, n_labels = weights.shape
    n_actions = traced_probabilities.shape[1]
    recorded = columns.shape[0] > 0
    traced = traced_scores.shape[0] > 0
    scores = np.empty(n_labels)
    work = np.empty(n_labels + 1)
    gradient = np.empty(n_labels)
    hidden = np.full(n_labels, np.nan)
    coefficient = np.empty(n_labels)
    p = np.empty(n_actions)

    for i in range(uniforms.shape[0]):
        t = start + i
        features = indices[indptr[t] : indptr[t + 1]]
        x = values[indptr[t] : indptr[t + 1]]
        label = labels[t]

        for k in range(n_labels):
            scores[k] = 0.0
        j = 0
        while j + 4 <= x.shape[0]:  # four features a pass, added in the same order as one by one
            f0, f1, f2, f3 = features[j], features[j + 1], features[j + 2], features[j + 3]
            x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
            for k in range(n_labels):
                scores[k] = (
                    ((scores[k] + weights[f0, k] * x0) + weights[f1, k] * x1) + weights[f2, k] * x2
                ) + weights[f3, k] * x3
            j += 4
        while j < x.shape[0]:
            f0, x0 = features[j], x[j]
            for k in range(n_labels):
                scores[k] += weights[f0, k] * x0
            j += 1
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

        u = uniforms[i]
        action = 0
        cumulative = 0.0
        for k in range(n_actions):
            if p[k] > 0.0:
                action = k
                cumulative += p[k]
                if u < cumulative:
                    break
        observation = 0.0
        observed = False
        for j in range(observer_pointers[label], observer_pointers[label + 1]):
            observation += p[observers[j]]
            if observers[j] == action:
                observed = True

        if traced:
            for k in range(n_labels):
                traced_scores[i, k] = scores[k]
            for k in range(n_actions):
                traced_probabilities[i, k] = p[k]
        loss = surrogate(scores, best, runner, label, loss_parameters, work, gradient)
        if recorded:
            total = 0.0
            for k in range(n_actions):
                total += p[k]
            squared = 0.0
            for k in range(n_labels):
                squared += gradient[k] * gradient[k]
            columns[i, ERROR] = 1.0 - p[label]
            columns[i, MISTAKE] = 0.0 if action == label else 1.0
            columns[i, LOSS] = loss
            columns[i, GAP_COLUMN] = gap
            columns[i, OBSERVATION] = observation
            columns[i, OBSERVED] = 1.0 if observed else 0.0
            columns[i, TOTAL] = total
            columns[i, BEST] = best
            columns[i, MARGIN] = highest - second
            columns[i, ACTION] = action
            columns[i, GRADIENT] = squared * squared_norms[t]
        totals[0] += 1.0 - p[label]
        totals[1] += 0.0 if action == label else 1.0
        totals[2] += loss
        totals[3] += 1.0 if observed else 0.0

        if observed:
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
                -1,
                0.0,
                squared_norms[t],
                hidden,
                parameters,
                state,
                coefficient,
            )
        if moved:
            for j in range(x.shape[0]):
                f0, x0 = features[j], x[j]
                for k in range(n_labels):
                    weights[f0, k] -= x0 * coefficient[k]
            # fold the scale into the weights before it underflows; far below any that a leader sets
            if state[SCALE] < 1e-150:
                for f in range(n_features):
                    for k in range(n_labels):
                        weights[f, k] *= state[SCALE]
                state[SCALE] = 1.0


@kernel(GAP)
def _no_gap(
    scores: FloatArray, best: int, runner: int, parameters: FloatArray, work: FloatArray
) -> float:
    return np.nan


@kernel(SURROGATE)
def _no_surrogate(
    scores: FloatArray,
    best: int,
    runner: int,
    label: int,
    parameters: FloatArray,
    work: FloatArray,
    gradient: FloatArray,
) -> float:
    for k in range(gradient.shape[0]):
        gradient[k] = np.nan
    return np.nan


def game_stream(seed: int, replicate: int) -> np.random.Generator:
    """The uniforms of one replicate's draws; the same whichever learner plays."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, replicate)))


def aligned_zeros(rows: int, columns: int) -> FloatArray:
    """Zeros of shape (rows, columns) from the start of a cache line on: vectors seldom cross two."""
    space = np.zeros(rows * columns + 8)
    start = -space.ctypes.data // 8 % 8
    return space[start : start + rows * columns].reshape(rows, columns)


@dataclass(frozen=True)
class Game:
    """A learner, a sequence and a feedback graph, ready to be played by any number of replicates.

    Parameters
    ----------
    learner : who plays
    sequence : features and labels
    graph : feedback graph over the sequence's labels
    comparator_norm : bound on the norm of the comparators, for the learner's tuning
    seed : root of all randomness
    """

    learner: Learner
    sequence: Sequence
    graph: FeedbackGraph
    comparator_norm: float = 1.0
    seed: int = 0

    @property
    def problem(self) -> Problem:
        """What the learner is told before play."""
        return Problem(
            self.graph,
            self.sequence.n_features,
            self.sequence.horizon,
            self.sequence.radius,
            self.comparator_norm,
        )

    def player(self) -> Player:
        """The learner made ready for this game."""
        return self.learner.player(self.problem)

    def play(
        self,
        replicate: int = 0,
        *,
        block: int = BLOCK,
        record: bool = True,
        trace: bool = False,
        interpreted: bool = False,
        stop: int | None = None,
    ) -> Iterator[Block]:
        """Play one replicate and yield its rounds in blocks.

        Raises :class:`UserError` for recorded probabilities that are no distribution.

        Parameters
        ----------
        replicate : which stream of draws to use, from 0
        block : rounds in a block
        record : whether the columns of the blocks are filled (otherwise they are empty)
        trace : whether scores and probabilities are kept too
        interpreted : run the plain Python form of the loop, bit for bit the same
        stop : play this many rounds only; all of them when None
        """
        run = Run(self, replicate, interpreted=interpreted)
        end = self.sequence.horizon if stop is None else min(stop, self.sequence.horizon)
        while run.position < end:
            played = run.advance(min(block, end - run.position), record=record, trace=trace)
            played.check(self.learner.spec)
            yield played


class Run:
    """One replicate in progress."""

    def __init__(self, game: Game, replicate: int, *, interpreted: bool = False) -> None:
        self.game = game
        self.position = 0
        sequence, player = game.sequence, game.player()
        loss = player.declaration.loss
        n_labels = sequence.n_labels
        self.weights = aligned_zeros(sequence.n_features, n_labels)
        if player.weights is not None:
            self.weights[:] = player.weights
        self.state = player.state.copy()
        self.totals = np.zeros(len(TOTALS))
        self._parameters = player.parameters
        self._loss_parameters = loss.parameters(n_labels) if loss else np.zeros(1)
        self._uniforms = game_stream(game.seed, replicate)
        interpreted = interpreted or player.live is not None
        form = "python" if interpreted else "native"
        functions: tuple[Kernel, ...] = (
            loss.gap if loss else _no_gap,
            loss.surrogate if loss else _no_surrogate,
            player.predict,
            player.update,
        )
        self._loop = getattr(_rounds, form)
        self._functions = tuple(getattr(function, form) for function in functions)
        if player.live is not None:
            live = player.live(sequence.row, self.weights)
            self._functions = (*self._functions[:2], *live)
        self._observers = game.graph.in_neighbours

    def advance(self, rounds: int, *, record: bool = True, trace: bool = False) -> Block:
        """Play up to ``rounds`` more rounds and return them."""
        sequence, graph = self.game.sequence, self.game.graph
        start = self.position
        n = min(rounds, sequence.horizon - start)
        columns = np.empty((n if record else 0, N_COLUMNS))
        scores = np.empty((n if trace else 0, sequence.n_labels))
        probabilities = np.empty((n if trace else 0, graph.n_actions))
        self._loop(
            *self._functions,
            sequence.indptr,
            sequence.indices.view(np.uint64),  # unsigned: no check for a negative index
            sequence.values,
            sequence.squared_norms,
            sequence.labels,
            *self._observers,
            self._uniforms.random(n),
            start,
            self.weights,
            self._loss_parameters,
            self._parameters,
            self.state,
            columns,
            scores,
            probabilities,
            self.totals,
        )
        self.position = start + n
        window = slice(start, self.position)
        return Block(
            start,
            columns,
            sequence.labels[window],
            sequence.squared_norms[window],
            scores,
            probabilities,
        )
