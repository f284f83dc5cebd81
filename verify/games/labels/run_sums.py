"""The ledger: what a run adds up to, in place of its rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....arrays import FloatArray, IntArray
from .case import Case
from .record import ERROR, LOSS, MISTAKE, OBSERVATION

CHECKPOINTS = 60
"""How many prefixes of a run are kept for the report."""


def checkpoints(horizon: int) -> IntArray:
    """Numbers of rounds, log-spaced up to the horizon, after which the two sides are kept."""
    return np.unique(np.geomspace(1, horizon, min(horizon, CHECKPOINTS)).astype(np.int64))


@dataclass(frozen=True)
class Ledger:
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


def play_ledgers(
    case: Case, replicates: Sequence[int], *, interpreted: bool = False, fresh: bool = False
) -> list[Ledger]:
    """Play the given replicates, in order, and add each up (compensated between blocks): a ledger for each
    checkpoint, the last of which is the whole.

    Claims about the same case share its runs. With ``fresh`` every replicate has a sequence of its own.
    """
    runs = []
    for replicate in replicates:
        if fresh:
            key = ("fresh ledger", replicate)
            if key not in case.kept:
                drawn = case.with_fresh_sequence(replicate)
                case.kept[key] = _play_one(drawn, replicate, interpreted)
            runs.append(case.kept[key])
            continue
        if replicate not in case.played:
            case.played[replicate] = _play_one(case, replicate, interpreted)
        runs.append(case.played[replicate])
    played = np.stack(runs)
    marks = checkpoints(case.sequence.horizon).tolist()
    return [Ledger(mark, *played[:, i].T) for i, mark in enumerate(marks)]


def _play_one(case: Case, replicate: int, interpreted: bool) -> FloatArray:
    """The sums of a run at the checkpoints, shape (checkpoints, 7)."""
    rows, smallest, wrong = [], np.inf, 0
    marks = checkpoints(case.sequence.horizon)
    for rounds in case.replicate(replicate, trace=False, interpreted=interpreted):
        observation = np.minimum.accumulate(np.minimum(rounds.column(OBSERVATION), smallest))
        smallest = float(observation[-1])
        with np.errstate(divide="ignore"):  # a label that no action observes
            weights = 1 / np.maximum(observation, 0)
        losses = rounds.comparator_losses if case.loss else rounds.column(LOSS)
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
        here = marks[(marks > first) & (marks <= last)] - first - 1
        rows.append(np.stack([column[here] for column in sums], axis=1))
    return np.concatenate(rows).astype(np.float64)
