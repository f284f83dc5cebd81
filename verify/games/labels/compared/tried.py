"""The comparators with which a statement for all U is put to the test: those that make its right side small.

A right side is a sum of losses of U, each with a weight, and a regret term, a function of the norm of U. It is made
small at the marks of a run, 8, 16, 32, ... and the last round, over the ball of radius B. The planted comparator and 0
are always among those that are tried.

Where the statement holds for all U along every realisation, the weights are those of the run. A line below each loss,
from its subgradient at W_t, bounds the right side of all U from below at once. Where this excludes a violation, the
best U fitted to the sequence will do; at the end of the first run it is fitted to that run, with a few steps.

Where the statement is about means or probabilities, U depends on the sequence alone: see ``chosen.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Items
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .....adversaries.sequence import Comparator, Sequence, zero_comparator
from .....algorithms.losses import Loss
from .....arrays import FloatArray, IntArray
from ..record import LOSS
from ..rounds import Rounds
from .fit import Regret, fit, least

BLUR = (0.1, 0.01)
STEPS = 50
"""Steps of a fit with each blur."""

FEW_STEPS = 5
"""Steps of a fit where no U can violate, so that only the numbers shown depend on it."""

FIRST, LONGEST = 8, 6
"""The first mark, and how many of the last marks comparators are fitted to the sequence for."""

GRAIN = 2.0**-24
"""Fitted weights are cut towards 0 to multiples of this, in units of the bound: they stay in the ball, and what other
machines compute is the same but for a rare last digit."""

DENSE = 2**22
"""Numbers in a sequence whose features are kept as a dense array."""


def marks_of(horizon: int) -> IntArray:
    """The numbers of rounds, 8, 16, 32, ... and the last, after which comparators are tried."""
    powers = 2 ** np.arange(horizon.bit_length(), dtype=np.int64)
    return np.unique(np.append(powers[(powers >= FIRST) & (powers <= horizon)], horizon))


@dataclass(frozen=True)
class Tried:
    """Comparators and what they lose on a sequence.

    Attributes
    ----------
    comparators : U
    losses : loss of each in every round, where it counts, shape (comparators, T)
    """

    comparators: tuple[Comparator, ...]
    losses: FloatArray

    @classmethod
    def of(cls, sequence: Sequence, loss: Loss, comparators: Items[Comparator]) -> Tried:
        """Comparators on a sequence."""
        losses = [loss.values(each.scores(sequence), sequence.labels) for each in comparators]
        return cls(tuple(comparators), np.stack(losses))

    @classmethod
    def fitted(
        cls, sequence: Sequence, loss: Loss, bound: float, planted: Comparator, weights: FloatArray
    ) -> Tried:
        """The planted comparator, 0, and comparators fitted to the longest prefixes of a sequence."""
        tried = [planted, zero_comparator(sequence.n_labels, sequence.n_features)]
        for mark in marks_of(sequence.horizon)[-LONGEST:].tolist():
            tried.append(fitted(sequence, loss, bound, weights[:mark], tried[-1]))
        return cls.of(sequence, loss, tried)

    def sums(self, weights: FloatArray) -> FloatArray:
        """The losses times weights, added up over the first rounds, as many as there are weights; one a comparator."""
        return np.asarray(self.losses[:, : len(weights)] @ weights)

    def sides(self, weights: FloatArray, regret: Regret) -> FloatArray:
        """The same with the regret term, a function of the norm."""
        return self.sums(weights) + [regret(each.norm) for each in self.comparators]


def fitted(
    sequence: Sequence,
    loss: Loss,
    bound: float,
    weights: FloatArray,
    start: Comparator,
    regret: Regret | None = None,
    few: bool = False,
) -> Comparator:
    """The comparator fitted to the first rounds of a sequence, as many as there are weights; with ``few`` steps."""
    found = fit(
        sequence,
        loss,
        bound,
        weights=np.append(weights, np.zeros(sequence.horizon - len(weights))),
        regret=regret,
        start=start,
        blurs=BLUR[1:] if few else BLUR,
        steps=FEW_STEPS if few else STEPS,
    )
    unit = math.ldexp(GRAIN, math.frexp(bound)[1])
    return Comparator(np.trunc(found.weights / unit) * unit, "fitted")


@lru_cache(maxsize=3)
def _fitted(sequence: Sequence, loss: Loss, bound: float, planted: Comparator) -> Tried:
    return Tried.fitted(sequence, loss, bound, planted, np.ones(sequence.horizon))


def of_sequence(case: Any) -> Tried:
    """The planted comparator, 0, and those fitted to the sequence where it is fixed before play."""
    if not case.is_adaptive:
        return _fitted(case.sequence, case.loss, case.comparator_norm, case.comparator)
    if "tried" not in case.kept:
        zero = zero_comparator(case.n_labels, case.sequence.n_features)
        found = Tried.of(case.sequence, case.loss, [case.comparator, zero])
        case.kept["tried"] = found
    kept: Tried = case.kept["tried"]
    return kept


@lru_cache(maxsize=3)
def _features(sequence: Sequence) -> Any:
    """The features, as a dense array where it is small: slices of that are free."""
    small = sequence.horizon * sequence.n_features <= DENSE
    return sequence.dense() if small else sequence.matrix()


class Realised:
    """The estimated losses of one run so far: v_t times the loss in round t, as functions of the comparator.

    Attributes
    ----------
    weights : v_t where the loss counts for a comparator, 0 elsewhere and in rounds to come, shape (T,)
    lines : for each mark so far, the sum of the lines below the losses that their subgradients at W_t make: its value
        at U = 0 and the norm of its slope
    """

    def __init__(self, case: Any) -> None:
        self.case = case
        self.weights = np.zeros(case.horizon)
        self.lines: dict[int, tuple[float, float]] = {}
        self._marks = marks_of(case.horizon)
        self._slope = np.zeros((case.n_labels, case.sequence.n_features))
        self._level = 0.0
        self._end = 0

    @classmethod
    def of(cls, rounds: Rounds) -> Realised:
        """That of a run up to these rounds, which its claims share."""
        if "realised" not in rounds.kept:
            rounds.kept["realised"] = cls(rounds.case)
        found: Realised = rounds.kept["realised"]
        if found._end < rounds.window.stop:
            found._see(rounds)
        return found

    def _see(self, rounds: Rounds) -> None:
        scores, window = rounds.block.scores, rounds.window
        weights = rounds.block.weights * rounds.counts_for_comparator
        self.weights[window] = weights
        slopes = self.case.loss.gradients(scores, rounds.block.labels) * weights[:, None]
        levels = weights * rounds.column(LOSS) - (slopes * scores).sum(axis=1)
        features = _features(self.case.sequence)
        start = window.start
        for end in sorted({*self.marks_in(rounds), window.stop}):
            part = slice(start - window.start, end - window.start)
            self._slope += np.asarray(slopes[part].T @ features[start:end])
            self._level += float(levels[part].sum())
            self.lines[end] = self._level, float(np.linalg.norm(self._slope))
            start = end
        self._end = window.stop

    def marks_in(self, rounds: Rounds) -> list[int]:
        """The marks that lie among these rounds."""
        window, marks = rounds.window, self._marks
        found: list[int] = marks[(window.start < marks) & (marks <= window.stop)].tolist()
        return found

    def lowest(self, mark: int, regret: Regret) -> float:
        """A number that no right side, loss and regret term, is below."""
        level, slope = self.lines[mark]

        def line(norm: float) -> float:
            return level - norm * slope + regret(norm)

        return line(least(line, self.case.comparator_norm))


def against(
    rounds: Rounds, name: str, regret: Callable[[int], Regret], needed: FloatArray
) -> Iterator[tuple[int, Comparator, float]]:
    """Yield the comparator that makes the right side small at each mark among these rounds.

    Parameters
    ----------
    name : of the statement
    regret : from a position to the regret term there, a function of the norm of U
    needed : what loss and regret term must add up to at least, shape (rounds,)

    Yields
    ------
    the position, the comparator and its estimated loss so far; none for a case whose comparator is given
    """
    case = rounds.case
    if not case.may_refit:
        return
    run, tried = Realised.of(rounds), of_sequence(case)
    for mark in run.marks_in(rounds):
        i = mark - 1 - rounds.start
        term, weights = regret(i), run.weights[:mark]
        sides = tried.sides(weights, term)
        at = int(np.argmin(sides))
        best, loss = tried.comparators[at], float(sides[at]) - term(tried.comparators[at].norm)
        possible = run.lowest(mark, term) < needed[i]
        if possible or (
            mark == case.horizon and case.kept.setdefault(name, rounds.kept) is rounds.kept
        ):
            given = (case.sequence, case.loss, case.comparator_norm, weights, best, term)
            found = Tried.of(case.sequence, case.loss, [fitted(*given, few=not possible)])
            if found.sides(weights, term)[0] < sides[at]:
                best, loss = found.comparators[0], float(found.sums(weights)[0])
        yield i, best, loss
