"""The comparators of statements about means and probabilities, which are chosen before the runs that are judged.

The theorems hold for each U that is fixed before play, so U may depend on the number of rounds and on the sequence, if
that is fixed before play as well. Of those that are tried the one with the smallest right side is chosen. The losses of
the paper's hinge (5) depend on W_t; there the comparators are fitted to a run with draws of its own, and chosen by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Items
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .....algorithms.losses import Hinge
from .....arrays import FloatArray
from ..rounds import Rounds
from .fit import Regret
from .tried import Tried, of_sequence

PROBE_KEY = 4
"""Word of the spawn key of the run that chooses comparators, apart from those of the runs that are judged."""


@dataclass(frozen=True)
class Side:
    """What a right side holds of the comparator.

    Attributes
    ----------
    loss : its loss in the first rounds, one entry a run
    least, most : what this is at least and at most, known before play
    regret : the regret term
    """

    loss: FloatArray
    least: float
    most: float
    regret: float


@dataclass(frozen=True)
class Chosen:
    """Comparators that are tried with a case, and the losses by which they are chosen.

    Attributes
    ----------
    tried : the comparators
    weights : in each round, whether the loss is expected to count, shape (T,)
    counts_always : whether losses count in every round, whatever the learner does
    """

    tried: Tried
    weights: FloatArray
    counts_always: bool

    @classmethod
    def of(cls, case: Any, interpreted: bool = False) -> Chosen:
        """Those of a case, which its claims share."""
        if "chosen" not in case.kept:
            case.kept["chosen"] = cls._made(case, interpreted)
        found: Chosen = case.kept["chosen"]
        return found

    @classmethod
    def _made(cls, case: Any, interpreted: bool) -> Chosen:
        weights = np.ones(case.horizon)
        if not isinstance(case.loss, Hinge):
            return cls(of_sequence(case), weights, True)
        words = np.random.SeedSequence(case.seed, spawn_key=(PROBE_KEY,)).generate_state(4)
        probe = replace(case, seed=int.from_bytes(words.tobytes(), "little"))
        for rounds in probe.play(0, trace=False, interpreted=interpreted):
            weights[rounds.window] = rounds.counts_for_comparator
        given = (case.sequence, case.loss, case.comparator_norm, case.comparator)
        return cls(Tried.fitted(*given, weights), weights, False)

    @cached_property
    def _all(self) -> FloatArray:
        """Sums of the losses where they are expected to count, shape (comparators, T + 1)."""
        sums = np.cumsum(self.tried.losses * self.weights, axis=1)
        return np.pad(sums, ((0, 0), (1, 0)))

    def sums(self, marks: Items[int], counts: FloatArray) -> FloatArray:
        """The losses of all that are tried in the first rounds of a run, shape (marks, comparators)."""
        parts = np.add.reduceat(self.tried.losses * counts, [0, *marks[:-1]], axis=1)
        return np.asarray(np.cumsum(parts, axis=1).T)

    def side(self, rounds: int, losses: FloatArray, regret: Regret | None = None) -> Side:
        """The right side of the comparator for so many rounds, from the losses of all in some runs as :meth:`sums`
        gives them, shape (runs, comparators), or (runs, 0) where they are the same in every run."""
        comparators = self.tried.comparators
        terms = np.array([0.0 if regret is None else regret(each.norm) for each in comparators])
        expected = self._all[:, rounds]
        at = int(np.argmin(expected + terms))
        most = float(self.tried.losses[at, :rounds].sum())
        found = losses[:, at] if losses.size else np.array([expected[at]])
        return Side(
            found, float(expected[at]) if self.counts_always else 0.0, most, float(terms[at])
        )


def noting(played: Iterable[Rounds], counts: FloatArray) -> Iterator[Rounds]:
    """The same rounds, with notes in ``counts``, shape (T,), of where the loss of a comparator counts."""
    for rounds in played:
        counts[rounds.window] = rounds.counts_for_comparator
        yield rounds
