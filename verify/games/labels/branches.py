"""All branches of a round of the label game: every label that could be shown, every action that could be drawn.

The game's own loop plays the round once for each action, with a uniform from the middle of that action's
interval, always from the same weights, state and memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....algorithms.learner import SCALE
from ....arrays import FloatArray, IntArray
from .play import Game, Run
from .record import ACTION, BEST, OBSERVED, Block

POSITIONS = 20
"""Rounds of each run, log-spaced over the horizon, at which all actions are enumerated."""


@dataclass(frozen=True)
class Position:
    """The knowledge of a learner before a round.

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
    """The consequences of one action.

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
    def where(self) -> str:
        """A name that tells it from the other branches of its round."""
        return f"label {self.label}"

    def written(self) -> dict[str, Any]:
        """The round as a certificate holds it."""
        return {
            "label": self.label,
            "features": [repr(x) for x in self.features.tolist()],
            "scores": [repr(s) for s in self.scores.tolist()],
            "probabilities": [repr(p) for p in self.probabilities.tolist()],
        }

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

    def __init__(self, game: Game, *, interpreted: bool = False) -> None:
        labels = game.sequence.labels
        self._sequence = game.sequence
        self._runs = [
            Run(
                replace(game, sequence=game.sequence.relabelled(np.full_like(labels, label))),
                0,
                interpreted=interpreted,
            )
            for label in range(game.sequence.n_labels)
        ]

    def rounds(self, at: Run) -> Iterator[Round]:
        """The next round of a run in progress, which stays as it is, with each label in turn."""
        for label in range(self._sequence.n_labels):
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
        x = self._sequence.row(at.position)
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


def marks(horizon: int) -> IntArray:
    """The rounds, from 0, at which actions are enumerated."""
    spaced = np.geomspace(1, horizon, min(horizon, POSITIONS)).astype(np.int64) - 1
    return np.asarray(np.unique(spaced))


def enumerated(game: Game, run: int, *, interpreted: bool = False) -> list[tuple[int, Round]]:
    """The rounds of a run at its marks, with every label in turn."""
    played = Run(game, run, interpreted=interpreted)
    table, found = Table(game, interpreted=interpreted), []
    for mark in marks(game.sequence.horizon).tolist():
        if mark > played.position:
            played.advance(mark - played.position, record=False)
        found += [(mark, each) for each in table.rounds(played)]
    return found
