"""The weak-learning game: R runs of one weak learner, played as one crowd of R.

In each round the weak learner predicts a label; then it is shown the weight, and the true cost vector or an unbiased
estimate of it. What it predicts costs the entry of the true vector, whatever it was shown.

Each run draws from a generator of its own, so that it does not depend on how many others there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ....adversaries.weak_learning import labels_with_edge
from ....adversaries.weak_learning.stream import WeakStream
from ....algorithms.boosting.weak import Crowd
from ....arrays import FloatArray, IntArray
from ....errors import LearnerError

BLOCK = 128
"""Rounds for which estimates are drawn at a time."""

FIRST_WORD = 3
"""First word of the spawn key of what is drawn; the label game has 0, 1 and 2."""

DICE, ESTIMATES, ORACLES, DATA = range(4)
"""The purposes for which a run draws: the learner's dice, estimates, predictions for oracles, a seed for its data."""


class Playable(Protocol):
    """A case as far as it takes to play it; :class:`~.case.Case` has the words."""

    @property
    def learner(self) -> Any: ...

    @property
    def stream(self) -> WeakStream: ...

    @property
    def graph(self) -> str: ...

    @property
    def seed(self) -> int: ...

    @property
    def horizon(self) -> int: ...

    @property
    def n_labels(self) -> int: ...

    @property
    def has_oracles(self) -> bool: ...

    @property
    def is_users(self) -> bool: ...

    @property
    def kept(self) -> dict[Any, Any]: ...

    def crowd(self, runs: range, *, interpreted: bool = False) -> Crowd: ...


def generator(seed: int, run: int, purpose: int = DICE) -> np.random.Generator:
    """The generator of one run for one purpose."""
    key = np.random.SeedSequence(seed, spawn_key=(FIRST_WORD, run, purpose))
    return np.random.default_rng(key)


@dataclass(frozen=True)
class Round:
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


def play_rounds(case: Playable, runs: range, *, interpreted: bool = False) -> Iterator[Round]:
    """Play runs side by side and yield their rounds, each before the weak learners are told of it.

    Raises
    ------
    LearnerError
        for labels out of range, or costs or weights that the weak learner changed
    """
    stream, T, k, R = case.stream, case.horizon, case.n_labels, len(runs)
    crowd = case.crowd(runs, interpreted=interpreted)
    dice = np.zeros((0, T))
    if crowd.draws:
        dice = np.array([generator(case.seed, run).random(T) for run in runs])
    hidden = case.graph == "bandit"
    sources = [generator(case.seed, run, ESTIMATES) for run in runs] if hidden else []
    features = _features(case, runs)
    counts = np.zeros((R, k), dtype=np.int64)
    rows = np.arange(R)
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
        yield Round(t, crowd, x, costs, shown, weights, predicted)
        counts[rows, predicted] += 1
        try:
            crowd.update(x, shown, weights)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise LearnerError(
                f"the weak learner changed the costs or weights that it was told in round {t}: expected them to"
                " be left alone."
            ) from error


def _features(case: Playable, runs: range) -> FloatArray:
    """Features of the stream, and a column of predictions for each run of an oracle; shape (T, columns)."""
    stream = case.stream
    if not case.has_oracles:
        return stream.features
    assert stream.oracle_edge is not None
    columns = [
        labels_with_edge(
            stream.labels, 1, case.n_labels, stream.oracle_edge, generator(case.seed, run, ORACLES)
        )
        for run in runs
    ]
    return np.concatenate([stream.features, *columns], axis=1).astype(np.float64)


def _predicted(labels: IntArray, n_runs: int, n_labels: int, at: int) -> IntArray:
    legal = (labels >= 0) & (labels < n_labels)
    if labels.shape != (n_runs,) or not legal.all():
        raise LearnerError(
            f"the weak learner predicted {labels.tolist()} in round {at}: expected {n_runs} labels from 0 to"
            f" {n_labels - 1}."
        )
    return labels


def _check_repeated(case: Playable, run: int, said: IntArray) -> None:
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
class RunTotals:
    """Sums of runs after a number of rounds; each array has shape (runs,).

    Attributes
    ----------
    rounds : how many rounds are added up
    paid : sum of w c of the predicted labels
    weights : sum of w
    """

    rounds: int
    paid: FloatArray
    weights: FloatArray

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.paid)

    @classmethod
    def joined(cls, parts: Sequence[RunTotals]) -> RunTotals:
        """Runs of several parts after the same number of rounds."""
        return cls(
            parts[0].rounds,
            np.concatenate([part.paid for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )


@dataclass(frozen=True)
class Paths:
    """Costs and weights of R runs, cumulatively.

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

    def totals(self, rounds: int) -> RunTotals:
        """The sums after a number of rounds."""
        return RunTotals(rounds, self.costs[:, rounds - 1], self.weights[:, rounds - 1])


def play_runs(case: Playable, runs: range, *, interpreted: bool = False) -> Paths:
    """Play runs of a case, once; of a user's weak learner the first of them twice.

    Raises
    ------
    LearnerError
        for a user's weak learner that does not repeat itself, and what :func:`play_rounds` raises
    """
    key = ("paths", runs)
    if key not in case.kept:
        paid = np.empty((len(runs), case.horizon))
        weights = np.empty((len(runs), case.horizon))
        said = np.empty(case.horizon, dtype=np.int64)
        for found in play_rounds(case, runs, interpreted=interpreted):
            paid[:, found.index], weights[:, found.index] = found.paid, found.weights
            said[found.index] = found.predicted[0]
        if case.is_users:
            _check_repeated(case, runs.start, said)
        case.kept[key] = Paths(paid.cumsum(axis=1), weights.cumsum(axis=1), case.n_labels)
    found_paths: Paths = case.kept[key]
    return found_paths
