"""A block of rounds of one run of the weak-learning game, in named columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ....arrays import FloatArray, IntArray
from .play import BLOCK, Playable, Round, play_rounds

COLUMNS = ("paid", "weight", "paid_so_far", "weight_so_far", "label", "predicted")
"""Weighted cost of the predicted label, weight, sums of both from the first round on, true label, predicted label."""


@dataclass(frozen=True)
class Row:
    """A round, kept for a closer look.

    Attributes
    ----------
    label, predicted : the true label and the predicted one
    weight : of the round
    costs, shown : the true cost vector, and what was shown of it
    """

    label: int
    predicted: int
    weight: float
    costs: tuple[float, ...]
    shown: tuple[float, ...]


@dataclass(frozen=True)
class Rounds:
    """Consecutive rounds of a run.

    Attributes
    ----------
    case : the case that it belongs to
    start : index of the first of them, from 0
    labels, predicted : true and predicted labels, shape (n,)
    weights : shape (n,)
    costs, shown : true cost vectors and what was shown of them, shape (n, k)
    before : what was paid in the rounds before, and the sum of their weights
    """

    case: Any
    start: int
    labels: IntArray
    predicted: IntArray
    weights: FloatArray
    costs: FloatArray
    shown: FloatArray
    before: tuple[float, float] = (0.0, 0.0)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def _columns(self) -> dict[str, FloatArray]:
        paid = self.weights * self.costs[np.arange(len(self)), self.predicted]
        found = (
            paid,
            self.weights,
            self.before[0] + paid.cumsum(),
            self.before[1] + self.weights.cumsum(),
            self.labels.astype(np.float64),
            self.predicted.astype(np.float64),
        )
        return dict(zip(COLUMNS, found, strict=True))

    def column(self, name: str) -> FloatArray:
        """One of ``COLUMNS``, shape (n,)."""
        return self._columns[name]

    def at(self, i: int) -> Row:
        """Round ``i`` of these, for a closer look."""
        return Row(
            int(self.labels[i]),
            int(self.predicted[i]),
            float(self.weights[i]),
            tuple(self.costs[i].tolist()),
            tuple(self.shown[i].tolist()),
        )

    def written(self, i: int) -> dict[str, Any]:
        """Round ``i`` of these as a certificate holds it."""
        row = self.at(i)
        return {
            "label": row.label,
            "predicted": row.predicted,
            "weight": row.weight,
            "costs": list(row.costs),
            "shown": list(row.shown),
        }

    def sums(self) -> list[float]:
        """Sums of what was paid and of the weights, and of both cost vectors entry by entry."""
        numbers = [self.column("paid").sum(), self.weights.sum()]
        vectors = np.concatenate([self.costs.sum(axis=0), self.shown.sum(axis=0)])
        return [float(x) for x in (*numbers, *vectors)]


def play(
    case: Playable, run: int, *, interpreted: bool = False, stop: int | None = None
) -> Iterator[Rounds]:
    """Play one run, up to round ``stop`` if given, and yield its rounds in blocks."""
    end = case.horizon if stop is None else min(stop, case.horizon)
    before = (0.0, 0.0)
    waiting: list[Round] = []
    for found in play_rounds(case, range(run, run + 1), interpreted=interpreted):
        waiting.append(found)
        if len(waiting) == BLOCK or found.index + 1 == end:
            rounds = _block(case, waiting, before)
            yield rounds
            so_far = (rounds.column("paid_so_far"), rounds.column("weight_so_far"))
            before, waiting = (float(so_far[0][-1]), float(so_far[1][-1])), []
        if found.index + 1 == end:
            return


def _block(case: Playable, played: list[Round], before: tuple[float, float]) -> Rounds:
    start = played[0].index
    return Rounds(
        case,
        start,
        case.stream.labels[start : start + len(played)],
        np.array([each.predicted[0] for each in played]),
        np.array([each.weights[0] for each in played]),
        np.array([each.costs[0] for each in played]),
        np.array([each.shown[0] for each in played]),
        before,
    )
