"""The weak-learning game: R runs of one weak learner, played as one crowd of R.

In each round the weak learner predicts a label; then it is shown the weight, and the true cost vector or an unbiased
estimate of it. What it predicts costs the entry of the true vector, whatever it was shown.

Each run draws from a stream of its own, so that it does not depend on how many others there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ....adversaries.weak_learning import labels_with_edge
from ....algorithms.boosting.weak import Crowd
from ....arrays import FloatArray, IntArray
from ....errors import LearnerError
from .case import WeakCase, weak_stream

BLOCK = 128
"""Rounds for which estimates are drawn at a time."""


@dataclass(frozen=True)
class WeakRound:
    """One round of R runs.

    Attributes
    ----------
    index : from 0
    crowd : the weak learners before they are told of the round
    features : what they were shown of it
    costs, shown : true cost vectors and what was shown of them, shape (R, k)
    weights : shape (R,)
    predicted : labels, shape (R,)
    """

    index: int
    crowd: Crowd
    features: FloatArray
    costs: FloatArray
    shown: FloatArray
    weights: FloatArray
    predicted: IntArray

    @property
    def paid(self) -> FloatArray:
        """w_t c_t of the predicted label, shape (R,)."""
        found: FloatArray = (
            self.weights * self.costs[np.arange(len(self.predicted)), self.predicted]
        )
        return found


def play_rounds(case: WeakCase, replicates: range) -> Iterator[WeakRound]:
    """Play runs side by side and yield their rounds, each before the weak learners are told of it.

    Raises
    ------
    LearnerError
        for labels out of range, or costs or weights that the weak learner changed
    """
    stream, T, k, R = case.stream, case.horizon, case.n_labels, len(replicates)
    crowd = case.crowd(replicates)
    dice = np.zeros((0, T))
    if crowd.draws:
        dice = np.array([weak_stream(case.seed, r).random(T) for r in replicates])
    hidden = case.graph == "bandit"
    sources = [weak_stream(case.seed, r, 1) for r in replicates] if hidden else []
    features = stream.features
    if stream.oracle_edge is not None:
        columns = [
            labels_with_edge(stream.labels, 1, k, stream.oracle_edge, weak_stream(case.seed, r, 2))
            for r in replicates
        ]
        features = np.concatenate([features, *columns], axis=1).astype(np.float64)
    counts = np.zeros((R, k), dtype=np.int64)
    runs = np.arange(R)
    for t in range(T):
        at = t % BLOCK
        if hidden and at == 0:
            uniforms = np.array([source.random((min(BLOCK, T - t), k)) for source in sources])
        x, label = features[t], int(stream.labels[t])
        costs = stream.costs_at(t, counts)
        predicted = _predicted(crowd.predict(x, dice[:, t]), R, k, t)
        weights = np.full(R, stream.weights[t])
        shown = stream.noise.shown(costs, label, predicted, uniforms[:, at]) if hidden else costs
        for array in (costs, shown, weights):
            array.setflags(write=False)
        yield WeakRound(t, crowd, x, costs, shown, weights, predicted)
        counts[runs, predicted] += 1
        try:
            crowd.update(x, shown, weights)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise LearnerError(
                f"the weak learner changed the costs or weights that it was told in round {t}: expected them to"
                " be left alone."
            ) from error


def _predicted(labels: IntArray, n_runs: int, n_labels: int, at: int) -> IntArray:
    legal = (labels >= 0) & (labels < n_labels)
    if labels.shape != (n_runs,) or not legal.all():
        raise LearnerError(
            f"the weak learner predicted {labels.tolist()} in round {at}: expected {n_runs} labels from 0 to"
            f" {n_labels - 1}."
        )
    return labels


def _check_repeated(case: WeakCase, run: int, said: IntArray) -> None:
    """Play a run once more, by itself: only a weak learner that predicts the same labels again can be judged."""
    for found in play_rounds(case, range(run, run + 1)):
        before, now = int(said[found.index]), int(found.predicted[0])
        if now != before:
            raise LearnerError(
                f"weak learner {case.learner.spec} does not repeat itself: in round {found.index} of run {run} it"
                f" predicted {before} and, when the run was played again, {now}; expected all that it draws to come"
                " from problem.seed, and no state shared between instances."
            )


@dataclass(frozen=True)
class WeakRuns:
    """What R runs paid, cumulatively.

    Attributes
    ----------
    costs : sum of w_s c_s of the predicted labels over the rounds s <= t, shape (R, T)
    weights : sum of w_s, shape (R, T)
    n_labels : k
    """

    costs: FloatArray
    weights: FloatArray
    n_labels: int

    def excess(self, edge: float) -> FloatArray:
        """sum w c_l - (1 - edge)/k sum w after each round, shape (R, T)."""
        found: FloatArray = self.costs - (1 - edge) / self.n_labels * self.weights
        return found

    def largest(self, edge: float) -> FloatArray:
        """The largest excess after any round, at least 0, as it is before the first; shape (R,)."""
        found: FloatArray = np.maximum(self.excess(edge).max(axis=1), 0)
        return found


def play_weak(case: WeakCase, replicates: int, first: int = 0) -> WeakRuns:
    """Play runs ``first`` to ``first + replicates - 1`` of a case, once; of a user's weak learner the first of them
    twice.

    Raises
    ------
    LearnerError
        for a user's weak learner that does not repeat itself, and what :func:`play_rounds` raises
    """
    key = ("costs", first, replicates)
    if key not in case.played:
        paid = np.empty((replicates, case.horizon))
        weights = np.empty((replicates, case.horizon))
        said = np.empty(case.horizon, dtype=np.int64)
        for found in play_rounds(case, range(first, first + replicates)):
            paid[:, found.index], weights[:, found.index] = found.paid, found.weights
            said[found.index] = found.predicted[0]
        if case.is_own:
            _check_repeated(case, first, said)
        case.played[key] = WeakRuns(paid.cumsum(axis=1), weights.cumsum(axis=1), case.n_labels)
    runs: WeakRuns = case.played[key]
    return runs
