"""Sums over runs of the label game, in place of their rounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ....arrays import BoolArray, FloatArray, IntArray
from ....compiled import kernel
from .compared.chosen import Chosen, noting
from .record import BEST, ERROR, LOSS, MISTAKE, OBSERVATION
from .rounds import CompensatedSum, Rounds


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
    tried : losses of the comparators that are tried, shape (runs, comparators), where they depend on the run;
        (runs, 0) elsewhere
    """

    rounds: int
    errors: FloatArray
    mistakes: FloatArray
    learner_loss: FloatArray
    comparator_loss: FloatArray
    explored: FloatArray
    largest_weight: FloatArray
    wrong_best: FloatArray
    tried: FloatArray

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.errors)

    @classmethod
    def of(cls, marks: Sequence[int], played: FloatArray) -> list[RunSums]:
        """Those after each of some numbers of rounds, from sums of shape (runs, marks, 7 or more)."""
        return [
            cls(int(mark), *(*played[:, i, :COLUMNS].T, played[:, i, COLUMNS:]))
            for i, mark in enumerate(marks)
        ]


@kernel(
    "void(float64[:, ::1], Array(int64, 1, 'C', True), Array(float64, 1, 'A', True),"
    " Array(boolean, 1, 'C', True), int64[::1], float64[::1], float64[:, ::1])"
)
def _sums_at(
    columns: FloatArray,
    labels: IntArray,
    comparator_losses: FloatArray,
    revealing: BoolArray,
    places: IntArray,
    counts: FloatArray,
    found: FloatArray,
) -> None:
    """Fill a row of ``found`` after each of some places in a block, in rising order.

    The sums of ``TERMS`` begin with the block; the others go on from ``counts``, which is changed in place.
    """
    errors, mistakes, losses, others = 0.0, 0.0, 0.0, 0.0
    explored, least, wrong = counts[0], counts[1], counts[2]
    mark = 0
    for i in range(columns.shape[0]):
        best = int(columns[i, BEST])
        errors += columns[i, ERROR]
        mistakes += columns[i, MISTAKE]
        losses += columns[i, LOSS]
        others += comparator_losses[i]
        explored += 0.0 if revealing[best] else 1.0
        least = columns[i, OBSERVATION] if columns[i, OBSERVATION] < least else least
        wrong += 1.0 if best != labels[i] else 0.0
        if mark < places.shape[0] and i == places[mark]:
            found[mark, 0] = errors
            found[mark, 1] = mistakes
            found[mark, 2] = losses
            found[mark, 3] = others
            found[mark, 4] = explored
            found[mark, 5] = least
            found[mark, 6] = wrong
            mark += 1
    counts[0], counts[1], counts[2] = explored, least, wrong


COLUMNS = 7
"""Number of the sums of every run; those of comparators that are tried follow."""

TERMS = 4
"""So many of the sums are of numbers that are no integers, and compensated between blocks."""


def add_up(
    played: Iterable[Rounds],
    marks: Sequence[int],
    chosen: Chosen | None = None,
    *,
    interpreted: bool = False,
) -> FloatArray:
    """The sums of a run after some numbers of rounds, in rising order, compensated between blocks, shape (marks, 7);
    with ``chosen`` the losses of those comparators as well."""
    form = _sums_at.python if interpreted else _sums_at.native
    rows, ends, counts = [], np.array(marks), np.array([0.0, np.inf, 0.0])
    before = [CompensatedSum() for _ in range(TERMS)]
    counted = np.zeros(0 if chosen is None else chosen.weights.shape)
    for rounds in played if chosen is None else noting(played, counted):
        first, last = rounds.window.start, rounds.window.stop
        places = ends[(ends > first) & (ends <= last)] - first - 1
        case, block = rounds.case, rounds.block
        others = rounds.comparator_losses if case.loss else rounds.column(LOSS)
        found = np.empty((len(places), TERMS + len(counts)))
        form(block.columns, block.labels, others, case.revealing_mask, places, counts, found)
        found[:, :TERMS] += [each.total + each.correction for each in before]
        rows.append(found)
        if last < ends[-1]:
            columns = (rounds.column(each) for each in (ERROR, MISTAKE, LOSS))
            for total, terms in zip(before, (*columns, others), strict=True):
                total.add(float(np.sum(terms)))
    sums = np.concatenate(rows)
    with np.errstate(divide="ignore"):  # a label that no action observes
        sums[:, 5] = 1 / np.maximum(sums[:, 5], 0)
    return sums if chosen is None else np.hstack((sums, chosen.sums(marks, counted)))
