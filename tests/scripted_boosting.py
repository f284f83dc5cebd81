"""Boosters whose weak learners predict what the features say, and rounds whose draws are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from boosting_oracle import Reader, oracle

from boundcheck.algorithms import graphs
from boundcheck.algorithms.boosting.booster import Booster
from boundcheck.algorithms.boosting.weak import Crowd, Setting
from boundcheck.algorithms.learner import Problem


class Dice:
    """A generator that gives what it was given, and counts what is drawn."""

    def __init__(self, *numbers: float) -> None:
        self.numbers = list(numbers)
        self.drawn = 0

    def random(self, size: int) -> np.ndarray:
        taken, self.numbers = self.numbers[:size], self.numbers[size:]
        assert len(taken) == size, "no more is drawn than expected"
        self.drawn += size
        return np.array(taken)


class Scripted:
    """Weak learners that predict what the features say, and keep what they are told."""

    draws = False

    def __init__(self, setting: Setting) -> None:
        self.told: list[tuple[np.ndarray, np.ndarray]] = []

    def predict(self, x: np.ndarray, dice: np.ndarray) -> np.ndarray:
        return x.astype(np.int64)

    def update(self, x: np.ndarray, costs: np.ndarray, weights: np.ndarray) -> None:
        self.told.append((costs.copy(), weights.copy()))


class Script:
    def crowd(self, setting: Setting) -> Crowd:
        return Scripted(setting)


def problem(kind: type[Booster], k: int, d: int, horizon: int = 100) -> Problem:
    graph = graphs.bandit(k) if "Band" in kind.__name__ else graphs.full_information(k)
    return Problem(graph, d, horizon)


FORMS = ("native", "python", "oracle")
"""Compiled kernels, the same kernels in plain Python, and the boosters of boosting_oracle.py."""


def started(
    made: Booster,
    k: int,
    generator: Any,
    d: int | None = None,
    horizon: int = 100,
    form: str = "native",
) -> Any:
    there = problem(type(made), k, made.learners if d is None else d, horizon)
    if form == "oracle":
        return oracle(made, [Reader(i) for i in range(made.learners)], there, generator)
    return made.begin(there, generator, interpreted=form == "python")


def play(boosting: Any, labels: list[int], y: int, action: int | None = None) -> np.ndarray:
    """A round of a scripted booster, which plays its best label or what it is told to."""
    x = np.array(labels, dtype=float)
    p = boosting.predict(x)
    played = int(boosting.best if action is None else action)
    boosting.update(x, played, y if boosting.informed or played == y else None)
    return p
