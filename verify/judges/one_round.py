"""One round from a given position: every label that could be shown, every action that could be drawn.

The game's own loop plays the round once for each action, with a uniform from the middle of that action's
interval, always from the same weights, state and memory. An expectation over the draw is then a finite sum, and
nothing is sampled.

Rounding: a comparison allows ``ROUNDING`` times the size of the numbers that were added up. One entry of an
expectation is a sum over A actions of products of a probability with a difference of two weights, so its error is
below (A + 16) 2^-53 times that size, and ``ROUNDING`` covers A up to some thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...algorithms.learner import SCALE
from ...arrays import FloatArray
from ..certificates.make import Certificate, audit_of
from ..claim import Claim, Form, Verdict
from ..games.labels.case import Case
from ..games.labels.play import Run
from ..games.labels.record import ACTION, BEST, OBSERVED, Block
from .pathwise import Outcome

ROUNDING = 1e-12
"""Allowed difference as a share of the size of the numbers added up."""

POSITIONS = 20
"""Rounds of each replicate, log-spaced over the horizon, at which all actions are enumerated."""


@dataclass(frozen=True)
class Position:
    """What a learner knows before a round.

    Attributes
    ----------
    weights : shape (K, d)
    state : the learner's numbers
    memory : the learner's matrices, shape (matrices, K, d)
    """

    weights: FloatArray
    state: FloatArray
    memory: FloatArray

    @property
    def size(self) -> float:
        """The largest absolute entry of weights and memory."""
        return max(float(np.abs(a).max()) for a in (self.weights, self.memory) if a.size)


@dataclass(frozen=True)
class Branch:
    """What follows from one action.

    Attributes
    ----------
    action, probability : which, and how likely it is
    observed : whether the label is revealed
    after : the learner's position after the round
    """

    action: int
    probability: float
    observed: bool
    after: Position


@dataclass(frozen=True)
class Round:
    """A round with all its branches; actions of probability 0 have none.

    Attributes
    ----------
    features : x, shape (d,)
    label : y
    scores : shape (K,)
    best : the label with the highest score, of equal ones the first
    probabilities : of the actions
    before : the learner's position before the round
    branches : one for each action that can be drawn
    """

    features: FloatArray
    label: int
    scores: FloatArray
    best: int
    probabilities: FloatArray
    before: Position
    branches: tuple[Branch, ...]

    @property
    def rival(self) -> int:
        """The best label other than the true one, of equal ones the first."""
        others = self.scores.copy()
        others[self.label] = -np.inf
        return int(np.argmax(others))

    @property
    def squared_norm(self) -> float:
        """|x|^2."""
        return float(self.features @ self.features)

    @property
    def size(self) -> float:
        """The size of the numbers that an expected change of weights and memory adds up."""
        return self.before.size + self.mean(lambda branch: np.array(branch.after.size)).item()

    def mean(self, value: Callable[[Branch], FloatArray]) -> FloatArray:
        """Expectation over the draw."""
        return np.asarray(
            sum((branch.probability * value(branch) for branch in self.branches), np.zeros(()))
        )

    def mean_change(self) -> FloatArray:
        """Expected change of the weights, shape (K, d)."""
        return self.mean(lambda branch: branch.after.weights - self.before.weights)

    def outer(self, up: int, down: int) -> FloatArray:
        """(e_up - e_down) x^T, shape (K, d); zero where both are the same label."""
        matrix = np.zeros((len(self.scores), len(self.features)))
        matrix[up] += self.features
        matrix[down] -= self.features
        return matrix


class Table:
    """All branches of the rounds of a case, from any position."""

    def __init__(self, case: Case) -> None:
        game, labels = case.game, case.sequence.labels
        self._case = case
        self._runs = [
            Run(
                replace(game, sequence=game.sequence.relabelled(np.full_like(labels, label))),
                0,
                interpreted=True,
            )
            for label in range(case.n_labels)
        ]

    def rounds(self, at: Run) -> Iterator[Round]:
        """The next round of a run in progress, which stays as it is, with each label in turn."""
        for label in range(self._case.n_labels):
            found = self._round(at, label)
            if found is not None:
                yield found

    def _round(self, at: Run, label: int) -> Round | None:
        """None where an action is too unlikely to have a uniform of its own."""
        run = self._runs[label]
        block = self._play(at, run, 0.5)
        p = block.probabilities[0]
        branches, below = [], 0.0
        for action in np.flatnonzero(p > 0.0).tolist():
            drawn = self._play(at, run, min(below + p[action] / 2, 1 - 2.0**-53))
            if int(drawn.column(ACTION)[0]) != action:
                return None
            observed = bool(drawn.column(OBSERVED)[0] > 0)
            branches.append(Branch(action, float(p[action]), observed, _position(run)))
            below += p[action]
        x = self._case.sequence.row(at.position)
        best = int(block.column(BEST)[0])
        return Round(x, label, block.scores[0], best, p, _position(at), tuple(branches))

    @staticmethod
    def _play(at: Run, run: Run, uniform: float) -> Block:
        run.position = at.position
        run.weights[:], run.state[:], run.memory[:] = at.weights, at.state, at.memory
        return run.advance(1, trace=True, uniforms=np.array([uniform]))


def _position(run: Run) -> Position:
    weights = np.array(run.weights.T * run.state[SCALE])
    return Position(weights, run.state.copy(), run.memory.transpose(0, 2, 1).copy())


@dataclass(frozen=True)
class Comparison:
    """What the enumeration gives and what the statement says.

    Attributes
    ----------
    what : of which quantity, in a few words
    found, stated : arrays of the same shape
    size : of the numbers that were added up
    """

    what: str
    found: FloatArray
    stated: FloatArray
    size: float

    @property
    def share(self) -> float:
        """The largest difference as a share of the size."""
        difference = np.abs(self.found - self.stated)
        if not np.isfinite(difference).all():
            return float(np.inf)
        size = self.size + float(np.abs(self.stated).max(initial=0.0))
        return float(difference.max(initial=0.0)) / size if size > 0 else 0.0


Says = Callable[[Case, Form, Round], "Iterator[Comparison]"]
"""What a statement says of a round; nothing where it does not speak of it."""


def marks(horizon: int) -> NDArray[np.int64]:
    """The rounds, from 0, at which actions are enumerated."""
    spaced = np.geomspace(1, horizon, min(horizon, POSITIONS)).astype(np.int64) - 1
    return np.asarray(np.unique(spaced))


def enumerated(case: Case, replicate: int, *, interpreted: bool = False) -> list[tuple[int, Round]]:
    """The rounds of a replicate at its marks, with every label in turn; claims about a case share them."""
    if replicate not in case.enumerated:
        run, table, found = Run(case.game, replicate, interpreted=interpreted), Table(case), []
        for mark in marks(case.sequence.horizon).tolist():
            if mark > run.position:
                run.advance(mark - run.position, record=False)
            found += [(mark, each) for each in table.rounds(run)]
        case.enumerated[replicate] = found
    rounds: list[tuple[int, Round]] = case.enumerated[replicate]
    return rounds


def examine_rounds(
    says: Says,
    claim: Claim,
    form: Form,
    case: Case,
    replicates: int,
    *,
    interpreted: bool = False,
) -> Outcome:
    """Play, enumerate the rounds at some positions, and compare; stop at the first that differs."""
    found = Outcome(Verdict.HOLDS, observed=0.0, envelope=ROUNDING)
    worst, compared = 0.0, 0
    for replicate in range(replicates):
        found.runs += 1
        for mark, each in enumerated(case, replicate, interpreted=interpreted):
            found.rounds += 1
            for comparison in says(case, form, each):
                compared += 1
                if not comparison.share <= ROUNDING:
                    place = (replicate, mark)
                    return _refuted(claim, form, case, found, place, each, comparison)
                worst = max(worst, comparison.share)
    found.observed, found.ratio = worst, worst / ROUNDING
    found.evidence = f"all actions of {found.rounds} rounds enumerated, {compared} comparisons agree to {worst:.1e}"
    if not compared:
        found.verdict, found.evidence = Verdict.VACUOUS, "it speaks of none of the rounds"
    return found


def _refuted(
    claim: Claim,
    form: Form,
    case: Case,
    found: Outcome,
    place: tuple[int, int],
    each: Round,
    comparison: Comparison,
) -> Outcome:
    share = comparison.share
    found.verdict, found.observed, found.ratio = Verdict.REFUTED, share, share / ROUNDING
    found.evidence = (
        f"certified: replicate {place[0]}, round {place[1]}, label {each.label}: {comparison.what} is not"
        " what is stated"
    )
    content = audit_of(claim, form, case, *place) | {
        "label": each.label,
        "what": comparison.what,
        "features": [repr(x) for x in each.features.tolist()],
        "scores": [repr(s) for s in each.scores.tolist()],
        "probabilities": [repr(p) for p in each.probabilities.tolist()],
        # nine digits of sums: the order in which they are added is the processor's
        "before": [f"{value:.9g}" for value in comparison.stated.ravel().tolist()],
        "after": [f"{value:.9g}" for value in comparison.found.ravel().tolist()],
        "share": f"{share:.6g}",
    }
    found.certificate = Certificate(content, (share, ROUNDING), found.evidence)
    return found
