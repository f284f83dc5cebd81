"""The ledger: what a run adds up to, in place of its rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from .case import Case
from .record import ERROR, LOSS, MISTAKE, OBSERVATION

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Ledger:
    """Sums over runs of one case, one entry a run; each field has shape (runs,).

    Attributes
    ----------
    errors : sum of 1 - p_t(y_t), the expected mistakes given the past
    mistakes : number of realised mistakes
    learner_loss : sum of the surrogate losses at the learner's weights
    comparator_loss : the same at the comparator
    explored : number of rounds whose best label is not revealing, N
    largest_weight : largest 1/P_t(y_t), the largest possible importance weight
    """

    errors: FloatArray
    mistakes: FloatArray
    learner_loss: FloatArray
    comparator_loss: FloatArray
    explored: FloatArray
    largest_weight: FloatArray

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.errors)


def play_runs(case: Case, replicates: Sequence[int], *, interpreted: bool = False) -> Ledger:
    """Play the given replicates, in order, and add each up (compensated between blocks).

    Claims about the same case share its runs.
    """
    for replicate in replicates:
        if replicate not in case.played:
            case.played[replicate] = _play_one(case, replicate, interpreted)
    rows = [case.played[replicate] for replicate in replicates]
    columns = np.array(rows, dtype=np.float64).reshape(len(rows), len(fields(Ledger)))
    return Ledger(*columns.T)


def _play_one(case: Case, replicate: int, interpreted: bool) -> tuple[float, ...]:
    sums: dict[str, float] = {}
    explored, largest = 0, 0.0
    names = ("errors", "mistakes", "learner_loss", "comparator_loss")
    for rounds in case.replicate(replicate, trace=False, interpreted=interpreted):
        columns = (
            rounds.column(ERROR),
            rounds.column(MISTAKE),
            rounds.column(LOSS),
            rounds.comparator_losses,
        )
        for name, terms in zip(names, columns, strict=True):
            sums[name] = float(rounds.prefix_sums(name, terms)[-1])
        explored = int(rounds.counters[-1])
        smallest = float(rounds.column(OBSERVATION).min())
        largest = max(largest, 1 / smallest if smallest > 0 else np.inf)
    return (*(sums[name] for name in names), float(explored), largest)
