"""The worked examples of four rounds, and runs whose draws are given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from boundcheck.adversaries.sequence import Sequence
from boundcheck.algorithms import graphs
from boundcheck.verify.games.labels.play import Game, Run

FEATURES = np.array([[1.0, 0], [0, 1], [1, 1], [1, -1]])
LABELS = [0, 1, 2, 0]
DRAWS = [0.5, 0.85, 0.97, 0.2]


def examples(file: str) -> dict[str, list[dict[str, Any]]]:
    """The rounds of each example of a file in tests/algorithms/."""
    path = Path(__file__).parent / "algorithms" / file
    found: dict[str, list[dict[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))
    return found


class Draws:
    """A generator whose draws are given."""

    def __init__(self, draws: list[float]) -> None:
        self.draws = list(draws)

    def random(self, n: int) -> np.ndarray:
        taken, self.draws = self.draws[:n], self.draws[n:]
        return np.array(taken)


def run_of(
    learner: Any,
    graph: str,
    features: Any = FEATURES,
    labels: list[int] = LABELS,
    draws: list[float] = DRAWS,
    n_labels: int = 3,
) -> Run:
    """A run of ``learner`` at its start that is going to use the given draws."""
    sequence = Sequence.from_dense(np.asarray(features, float), labels, n_labels, "worked example")
    run = Run(Game(learner, sequence, graphs.parse(graph, n_labels)), 0, interpreted=True)
    run._uniforms = Draws(draws)
    return run


def steps(
    learner: Any, graph: str, x: Any, label: int, weights: Any
) -> list[tuple[float, np.ndarray]]:
    """Probability and step, shape (K, d), of every action that may be played in a round at ``weights``."""

    def round_with(draw: float) -> tuple[np.ndarray, np.ndarray]:
        run = run_of(learner, graph, [x], [label], [draw], n_labels=len(weights))
        run.weights[:] = np.transpose(weights)
        p = run.advance(1, trace=True).probabilities[0]
        return p, run.weights.T - weights

    p, _ = round_with(0.0)
    middle = np.cumsum(p) - p / 2
    return [(p[action], round_with(middle[action])[1]) for action in np.flatnonzero(p)]


def mean_step(found: list[tuple[float, np.ndarray]]) -> np.ndarray:
    """The expected step."""
    return np.asarray(sum(p * step for p, step in found))


def mean_square(found: list[tuple[float, np.ndarray]]) -> float:
    """The expected squared norm of the step."""
    return float(sum(p * np.square(step).sum() for p, step in found))
