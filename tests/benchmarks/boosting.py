"""Rounds a second of the four boosters, and of BanditBBM with potentials by simulation.

    .venv/bin/python tests/benchmarks/boosting.py [ROUNDS]

The simulation is that of the papers, 100 elections for each potential, written with NumPy for one weak learner's k^2
potentials at a time. It is measured on as many rounds as fit into about two seconds.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from boundcheck.algorithms import graphs
from boundcheck.algorithms.boosting.adaptive import AdaBandit, AdaboostOLM
from boundcheck.algorithms.boosting.hedge import HedgeStump
from boundcheck.algorithms.boosting.majority import BanditBBM, OnlineMBBM
from boundcheck.algorithms.learner import Problem

ELECTIONS, FEATURES = 100, 8


class Simulated:
    """Potentials by simulation, in place of the exact ones."""

    def __init__(self, n_labels: int, edge: float) -> None:
        self.k = n_labels
        self.chances = np.full((n_labels, n_labels), (1 - edge) / n_labels) + edge * np.eye(
            n_labels
        )
        self.generator = np.random.default_rng(0)

    def cost_matrix(self, votes: np.ndarray, remaining: int) -> np.ndarray:
        """Costs of shape (k, k), as those of ``Potentials``."""
        k = self.k
        size = (k, ELECTIONS, k)  # of the next vote, elections, counts
        costs = np.empty((k, k))
        for row in range(k):
            counts = self.generator.multinomial(remaining, self.chances[row], size=size[:2])
            final = counts + votes + np.eye(k, dtype=np.int64)[:, None]
            own = final[..., row].copy()
            final[..., row] = -1
            costs[row] = (final.max(axis=2) >= own).mean(axis=1)
        return costs


def play(made: Any, k: int, rounds: int, simulated: bool = False, seconds: float = 1e9) -> float:
    """Rounds a second after a start that is not measured."""
    generator = np.random.default_rng(1)
    bandit = hasattr(made, "rho")
    graph = graphs.bandit(k) if bandit else graphs.full_information(k)
    boosting = made.begin(Problem(graph, FEATURES, rounds), generator)
    if simulated:
        boosting.potentials = Simulated(k, made.gamma)
    x = generator.integers(2, size=(rounds, FEATURES)).astype(float)
    labels = np.where(generator.random(rounds) < 0.8, (x[:, 0] * (k - 1)), 1).astype(int).tolist()
    draws = generator.random(rounds)
    warm, start, played = rounds // 5, 0.0, 0
    for t in range(rounds):
        if t == warm:
            start = time.perf_counter()
        p = boosting.predict(x[t])
        action = int((p.cumsum() <= draws[t]).sum())
        boosting.update(x[t], action, labels[t] if not bandit or action == labels[t] else None)
        played = t + 1
        if t > warm and time.perf_counter() - start > seconds:
            break
    return (played - warm) / (time.perf_counter() - start)


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for k, n in ((5, 20), (10, 50)):
        weak = HedgeStump(0.1)
        print(f"k = {k}, N = {n}, d = {FEATURES}: rounds a second")
        for made in (
            OnlineMBBM(weak, n),
            AdaboostOLM(weak, n),
            BanditBBM(weak, n, rho=0.3),
            AdaBandit(weak, n, rho=0.3),
        ):
            print(f"  {type(made).__name__:12} {play(made, k, rounds, seconds=10):10.1f}")
        exact = play(BanditBBM(weak, n, rho=0.3), k, rounds, seconds=10)
        drawn = play(BanditBBM(weak, n, rho=0.3), k, max(10, rounds // 100), True, seconds=2)
        print(f"  BanditBBM, exact {exact:.1f}, simulated {drawn:.2f}: {exact / drawn:.0f} times")


if __name__ == "__main__":
    main()
