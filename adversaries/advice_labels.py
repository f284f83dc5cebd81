"""Advice as features: a panel that is rich for every weighting of the rounds, and advisers that always err."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..arrays import IntArray
from ..errors import require
from .sequence import Sequence, Spelt, generator_of, integer_at_least, zero_comparator


@dataclass(frozen=True)
class AdviceLabels(Spelt):
    """Column j of the features is the label that adviser j names; weak learners such as ``hedge-advice`` read them.

    The first ``panel`` advisers are the panel. In every round exactly ``each`` of them name each wrong label, and the
    others the true one: drawn uniformly, the panel errs with an edge of 1 - k each/panel whatever the round weighs.
    The first each (k - 1) of the panel are the leaders. They err together in a share ``hard`` of the rounds, fewer
    than anybody else; in the other rounds as many of the others err, drawn uniformly. Who follows the leaders alone
    errs in the hard rounds. After the panel come ``false`` advisers who always err.

    Parameters
    ----------
    n_labels : k, at least 2
    panel : its size, above k each and at least 2 each (k - 1)
    each : how many of the panel name each wrong label
    false : how many more always err
    hard : share of the rounds in which the leaders err, in [0, 1]
    """

    n_labels: Annotated[int, "[2, inf)"] = 3
    panel: Annotated[int, "[2, inf)"] = 5
    each: Annotated[int, "[1, inf)"] = 1
    false: Annotated[int, "[0, inf)"] = 2
    hard: Annotated[float, "[0, 1]"] = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        least = max(self.n_labels * self.each + 1, 2 * self.leaders)
        require(
            self.panel >= least,
            f"panel={self.panel} of advice-labels: expected at least {least} for {self.n_labels} labels of which each"
            f" wrong one is named by {self.each}.",
        )

    @property
    def leaders(self) -> int:
        """How many of the panel err in every round, each (k - 1), and how many lead it."""
        return self.each * (self.n_labels - 1)

    @property
    def edge(self) -> float:
        """The edge of the panel."""
        return 1 - self.n_labels * self.each / self.panel

    @property
    def advisers(self) -> int:
        """How many there are, false ones included."""
        return self.panel + self.false

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Return ``horizon`` rounds; no linear comparator reads such features, so it is zero."""
        integer_at_least("horizon", horizon, 1)
        generator = generator_of(seed, self.spec)
        labels = generator.integers(self.n_labels, size=horizon)
        shown = (labels[:, None] + self._offsets(horizon, generator)) % self.n_labels
        zero = zero_comparator(self.n_labels, self.advisers)
        return Sequence.from_dense(shown, labels, self.n_labels, self.spec, zero)

    def _offsets(self, horizon: int, generator: np.random.Generator) -> IntArray:
        """By how much each adviser is off in each round, 0 for the true label."""
        rows, k, err = np.arange(horizon)[:, None], self.n_labels, self.leaders
        wrong = np.tile(np.repeat(np.arange(1, k), self.each), (horizon, 1))
        others = generator.random((horizon, self.panel - err)).argsort(axis=1)[:, :err] + err
        hard = generator.random(horizon) < self.hard
        who = np.where(hard[:, None], np.arange(err), others)
        found = np.zeros((horizon, self.advisers), dtype=np.int64)
        found[rows, who] = generator.permuted(wrong, axis=1)
        found[:, self.panel :] = generator.integers(1, k, size=(horizon, self.false))
        return found
