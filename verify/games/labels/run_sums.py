"""Sums over runs of the label game, in place of their rounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ....arrays import FloatArray
from .record import ERROR, LOSS, MISTAKE, OBSERVATION
from .rounds import Rounds


@dataclass(frozen=True)
class RunSums:
    """Sums over the first rounds of runs of one case, one entry a run; each array has shape (runs,).

    Attributes
    ----------
    rounds : how many rounds are added up
    errors : sum of 1 - p_t(y_t), the expected mistakes given the past
    mistakes : number of realised mistakes
    learner_loss : sum of the surrogate losses at the learner's weights; NaN for a learner without one
    comparator_loss : the same at the comparator
    explored : number of rounds whose best label is not revealing, N
    largest_weight : largest 1/P_t(y_t), the largest possible importance weight
    wrong_best : number of rounds whose best label is not the true one
    """

    rounds: int
    errors: FloatArray
    mistakes: FloatArray
    learner_loss: FloatArray
    comparator_loss: FloatArray
    explored: FloatArray
    largest_weight: FloatArray
    wrong_best: FloatArray

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.errors)

    @classmethod
    def of(cls, marks: Sequence[int], played: FloatArray) -> list[RunSums]:
        """Those after each of some numbers of rounds, from sums of shape (runs, marks, 7)."""
        return [cls(int(mark), *played[:, i].T) for i, mark in enumerate(marks)]


def add_up(played: Iterable[Rounds], marks: Sequence[int]) -> FloatArray:
    """The sums of a run after some numbers of rounds, compensated between blocks, shape (marks, 7)."""
    rows, smallest, wrong, ends = [], np.inf, 0, np.array(marks)
    for rounds in played:
        observation = np.minimum.accumulate(np.minimum(rounds.column(OBSERVATION), smallest))
        smallest = float(observation[-1])
        with np.errstate(divide="ignore"):  # a label that no action observes
            weights = 1 / np.maximum(observation, 0)
        losses = rounds.comparator_losses if rounds.case.loss else rounds.column(LOSS)
        sums = (
            rounds.prefix_sums("errors", rounds.column(ERROR)),
            rounds.prefix_sums("mistakes", rounds.column(MISTAKE)),
            rounds.prefix_sums("learner_loss", rounds.column(LOSS)),
            rounds.prefix_sums("comparator_loss", losses),
            rounds.counters,
            weights,
            wrong + np.cumsum(rounds.block.best != rounds.block.labels),
        )
        wrong = int(sums[-1][-1])
        first, last = rounds.window.start, rounds.window.stop
        here = ends[(ends > first) & (ends <= last)] - first - 1
        rows.append(np.stack([column[here] for column in sums], axis=1))
    return np.concatenate(rows).astype(np.float64)
