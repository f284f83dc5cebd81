"""A block of rounds of one run of the label game, with what claims need beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ....arrays import BoolArray, FloatArray, IntArray
from .record import BEST, COLUMNS, MARGIN, Block


@dataclass
class CompensatedSum:
    """A compensated running sum (Neumaier), and the running sum of its absolute terms where they are given."""

    total: float = 0.0
    correction: float = 0.0
    magnitude: float = 0.0

    def add(self, term: float, magnitude: float = 0.0) -> None:
        new = self.total + term
        if abs(self.total) >= abs(term):
            self.correction += (self.total - new) + term
        else:
            self.correction += (term - new) + self.total
        self.total = new
        self.magnitude += magnitude


@dataclass(frozen=True)
class Row:
    """A round, kept for a closer look.

    Attributes
    ----------
    label : the true label
    counter : rounds so far whose best label is not revealing
    scores, probabilities : of the labels and of the actions
    best : the best label
    rounding : tau; scores that lie no further apart are tied
    """

    label: int
    counter: int
    scores: tuple[float, ...]
    probabilities: tuple[float, ...]
    best: int
    rounding: float


@dataclass(frozen=True)
class Rounds:
    """Consecutive rounds; see the module.

    Attributes
    ----------
    case : the case, of this run against an adaptive adversary
    block : what the game recorded
    counter_before : rounds of the run before these whose best label is not revealing
    running : sums from the first round of the run on, by name
    kept : whatever else claims keep of the run for one another, by name
    """

    case: Any
    block: Block
    counter_before: int = 0
    running: dict[str, CompensatedSum] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def after(cls, before: Rounds | None, case: Any, block: Block) -> Rounds:
        """The rounds that follow others of the same run, or begin it."""
        if before is None:
            return cls(case, block)
        counter = before.counter_before + int(np.count_nonzero(before.explores))
        return cls(case, block, counter, before.running, before.kept)

    @property
    def start(self) -> int:
        """Index of the first of these rounds, from 0."""
        return self.block.start

    def __len__(self) -> int:
        return len(self.block)

    def column(self, name: str | int) -> FloatArray:
        """One recorded column by its name or number, shape (rounds,)."""
        return self.block.column(COLUMNS.index(name) if isinstance(name, str) else name)

    def at(self, i: int) -> Row:
        """Round ``i`` of these, for a closer look."""
        return Row(
            int(self.block.labels[i]),
            int(self.counters[i]),
            tuple(self.block.scores[i].tolist()),
            tuple(self.block.probabilities[i].tolist()),
            int(self.block.best[i]),
            float(self.block.rounding[i]),
        )

    def written(self, i: int) -> dict[str, Any]:
        """Round ``i`` of these as a certificate holds it."""
        written = {
            "label": int(self.block.labels[i]),
            "probabilities": self.block.probabilities[i].tolist(),
        }
        if self.block.steps is not None:
            written |= {"best": int(self.block.best[i]), "tau": float(self.block.rounding[i])}
        return written

    def sums(self) -> list[float]:
        """Sums of the recorded columns and of the probabilities of the actions."""
        columns, probabilities = self.block.columns, self.block.probabilities
        found: list[float] = columns.sum(axis=0).tolist() + probabilities.sum(axis=0).tolist()
        return found

    @property
    def window(self) -> slice:
        """These rounds within the sequence."""
        return slice(self.block.start, self.block.start + len(self.block))

    @property
    def played(self) -> IntArray:
        """Number of rounds of the run up to and including each of these."""
        return np.arange(self.window.start + 1, self.window.stop + 1)

    @cached_property
    def explores(self) -> BoolArray:
        """Rounds whose best label is not revealing."""
        return np.asarray(~self.case.revealing_mask[self.block.best])

    @cached_property
    def counters(self) -> IntArray:
        """Number of such rounds up to and including each round."""
        return self.counter_before + np.cumsum(self.explores, dtype=np.int64)

    @cached_property
    def counts_for_comparator(self) -> BoolArray:
        """Rounds in which the loss of a comparator counts; for the hinge loss this depends on the learner."""
        loss = self.case.loss
        assert loss is not None
        counts: BoolArray = loss.counts_for_comparator(
            self.column(BEST).astype(np.int64), self.column(MARGIN), self.block.labels
        )
        return counts

    @cached_property
    def comparator_losses(self) -> FloatArray:
        """Loss of the comparator in each round, 0 where it does not count."""
        return np.where(self.counts_for_comparator, self.case.comparator_losses[self.window], 0.0)

    def prefix_sums(self, name: str, terms: FloatArray) -> FloatArray:
        """Sums of ``terms`` from the first round of the run to each of these rounds.

        Between blocks the sum is compensated; ``name`` tells the sums of one claim apart.
        """
        total = self.running.setdefault(name, CompensatedSum())
        sums = (total.total + total.correction) + np.cumsum(terms)
        total.add(float(np.sum(terms)), float(np.sum(np.abs(terms))))
        return sums

    def magnitude(self, *names: str) -> float:
        """Sum of the absolute terms of the named sums so far, for rounding bounds."""
        return sum(self.running[name].magnitude for name in names)
