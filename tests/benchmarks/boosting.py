"""Rounds a second of the four boosters, side by side with the same boosters as a plain NumPy loop.

    .venv/bin/python tests/benchmarks/boosting.py [SECONDS]

The loop is tests/boosting_oracle.py: one weak learner after the other, with NumPy vectors over the labels and the exact
potentials of the package. BanditBBM is also measured against the loop with potentials as the papers simulate them, 100
elections for each. All are played in turn, several times, each for about SECONDS (1 by default); medians are
shown. The stream has a feature that gives the label away, so that the weak learners learn.

For k = 10 and N = 50 it shows where the time goes: the same rounds are played again with costs that are kept already,
which leaves out the potentials, and the kernels of the weak learners are run alone.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

sys.path.insert(0, __file__.rpartition("/benchmarks/")[0])

from boosting_oracle import Stump, oracle

from boundcheck.adversaries.sequence import Sequence
from boundcheck.algorithms import graphs
from boundcheck.algorithms.boosting import cache
from boundcheck.algorithms.boosting.adaptive import AdaBandit, AdaboostOLM
from boundcheck.algorithms.boosting.hedge import HedgeStump
from boundcheck.algorithms.boosting.majority import BanditBBM, OnlineMBBM
from boundcheck.algorithms.boosting.weak import Setting
from boundcheck.verify.games.labels.play import Game, Run

ELECTIONS, FEATURES, RATE, TURNS = 100, 8, 0.1, 3


class Simulated:
    """Potentials by simulation, in place of the exact ones."""

    def __init__(self, n_labels: int, edge: float) -> None:
        self.n_labels = n_labels
        self.chances = (1 - edge) / n_labels + edge * np.eye(n_labels)
        self.generator = np.random.default_rng(0)

    def cost_matrix(self, votes: np.ndarray, remaining: int) -> np.ndarray:
        """Costs of shape (k, k), as those of ``Potentials``."""
        k = self.n_labels
        costs = np.empty((k, k))
        for row in range(k):
            counts = self.generator.multinomial(remaining, self.chances[row], size=(k, ELECTIONS))
            final = counts + votes + np.eye(k, dtype=np.int64)[:, None]
            own = final[..., row].copy()
            final[..., row] = -1
            costs[row] = (final.max(axis=2) >= own).mean(axis=1)
        return costs


def make(kind: Any, n: int) -> Any:
    """A booster of N stumps."""
    extra = {"rho": 0.3} if kind in (BanditBBM, AdaBandit) else {}
    return kind(HedgeStump(RATE), n, **extra)


def game(made: Any, k: int, rounds: int) -> Game:
    """A stream whose first feature gives the label away in 8 of 10 rounds."""
    generator = np.random.default_rng(1)
    x = generator.integers(2, size=(rounds, FEATURES)).astype(float)
    labels = np.where(generator.random(rounds) < 0.8, x[:, 0] * (k - 1), 1).astype(int)
    graph = graphs.bandit(k) if hasattr(made, "rho") else graphs.full_information(k)
    return Game(made, Sequence.from_dense(x, labels, k, "planted stump"), graph)


def compiled(made: Any, k: int, seconds: float) -> float:
    """Rounds a second in the game, from its first round on, nothing being compiled or kept before."""
    rounds = 4096
    while True:
        cache._cache_of.cache_clear()
        run = Run(game(made, k, rounds), 0)
        start = time.perf_counter()
        while run.position < rounds:
            run.advance(4096)
        took = time.perf_counter() - start
        if took > seconds / 2:
            return rounds / took
        rounds = int(rounds * min(10.0, 1.1 * seconds / took))


def looped(made: Any, k: int, seconds: float, potentials: Any = None) -> float:
    """Rounds a second of the plain NumPy loop, from its first round on."""
    played = game(made, k, 1 << 16)
    stumps = [Stump(RATE, FEATURES, k) for _ in range(made.learners)]
    boosting = oracle(made, stumps, played.problem, np.random.default_rng(2))
    if potentials is not None:
        boosting.potentials = potentials
    draws = np.random.default_rng(3).random(1 << 16)
    x, labels = played.sequence.dense(), played.sequence.labels.tolist()
    t, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        p = boosting.predict(x[t])
        action = int((p.cumsum() <= draws[t]).sum())
        shown = labels[t] if boosting.informed or action == labels[t] else None
        boosting.update(x[t], action, shown)
        t += 1
    return t / (time.perf_counter() - start)


def side_by_side(k: int, n: int, seconds: float) -> None:
    """Print the boosters against their loops."""
    print(f"k = {k}, N = {n}, d = {FEATURES}: rounds a second")
    for kind in (OnlineMBBM, AdaboostOLM, BanditBBM, AdaBandit):
        made = make(kind, n)
        ways: dict[str, Callable[[], float]] = {
            "compiled": partial(compiled, made, k, seconds),
            "loop": partial(looped, made, k, seconds),
        }
        if kind is BanditBBM:
            ways["simulated"] = partial(looped, made, k, seconds, Simulated(k, made.gamma))
        found: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(TURNS):
            for way, measure in ways.items():
                found[way].append(measure())
        speed = {way: statistics.median(speeds) for way, speeds in found.items()}
        rest = ", ".join(
            f"{way} {speed[way]:.4g} ({speed['compiled'] / speed[way]:.0f} times)"
            for way in ways
            if way != "compiled"
        )
        print(f"  {kind.__name__:12} {speed['compiled']:10.0f}; {rest}")


def weak_alone(k: int, n: int, rounds: int) -> float:
    """Seconds a round that the kernels of N stumps take."""
    crowd: Any = HedgeStump(RATE).crowd(Setting(n, k, FEATURES, rounds))
    generator = np.random.default_rng(4)
    x, dice = generator.integers(2, size=FEATURES).astype(float), generator.random(n)
    costs, weights = generator.random((n, k)), np.ones(n)
    labels = np.empty(n, dtype=np.int64)
    start = time.perf_counter()
    for _ in range(rounds):
        crowd.ask_kernel.native(x, dice, k, crowd.parameters, crowd.state, labels)
        crowd.tell_kernel.native(x, costs, weights, crowd.parameters, crowd.state)
    asked = time.perf_counter() - start
    start = time.perf_counter()
    for _ in range(rounds):  # what a call from Python costs, with no learners
        crowd.ask_kernel.native(x, dice, k, crowd.parameters, crowd.state, labels[:0])
        crowd.tell_kernel.native(x, costs[:0], weights[:0], crowd.parameters, crowd.state)
    return (asked - (time.perf_counter() - start)) / rounds


def where_time_goes(k: int, n: int, rounds: int) -> None:
    """Print microseconds a round of weak learners, potentials and the rest."""
    print(f"k = {k}, N = {n}: microseconds a round, over the first {rounds} rounds")
    for kind in (OnlineMBBM, AdaboostOLM, BanditBBM, AdaBandit):
        made, took = make(kind, n), []
        cache._cache_of.cache_clear()
        for _ in range(
            2
        ):  # the same rounds twice: the second time all costs are kept, as far as they find room
            run = Run(game(made, k, rounds), 0)
            start = time.perf_counter()
            run.advance(rounds)
            took.append((time.perf_counter() - start) / rounds * 1e6)
        weak = weak_alone(k, n, 2000) * 1e6
        assert run.boosting is not None
        keys = run.boosting.cache.keys
        filled = (
            f", {np.count_nonzero(keys[:, 0])} of {len(keys)} slots filled" if keys.size else ""
        )
        print(
            f"  {kind.__name__:12} {took[0]:8.1f}: weak learners {weak:.1f}, potentials {took[0] - took[1]:.1f},"
            f" the rest {took[1] - weak:.1f}{filled}"
        )


def main() -> None:
    """Measure and print."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    side_by_side(5, 20, seconds)
    side_by_side(10, 50, seconds)
    where_time_goes(10, 50, 4096)


if __name__ == "__main__":
    main()
