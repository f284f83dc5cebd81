"""Kernels of the boosters: both of their forms agree bit for bit, and with boosters written as a plain NumPy loop."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from boosting_oracle import Adviser, Reader, Regressor, Stump, oracle

from boundcheck.adversaries.sequence import Sequence
from boundcheck.adversaries.weak_learning.oracles import labels_with_edge
from boundcheck.algorithms import graphs
from boundcheck.algorithms.boosting import cache
from boundcheck.algorithms.boosting.adaptive import AdaBandit, AdaboostOLM
from boundcheck.algorithms.boosting.advice import HedgeAdvice
from boundcheck.algorithms.boosting.hedge import HedgeStump
from boundcheck.algorithms.boosting.majority import BanditBBM, OnlineMBBM
from boundcheck.algorithms.boosting.potentials import Potentials
from boundcheck.algorithms.boosting.weak import CostPerceptron, Crowd, OracleNoise, Setting
from boundcheck.algorithms.learner import Problem
from boundcheck.errors import LearnerError
from boundcheck.verify.games.labels.play import Game, Run

N, K, D = 5, 4, 6
BOOSTERS = (OnlineMBBM, BanditBBM, AdaboostOLM, AdaBandit)
WEAK = (HedgeStump(0.4), CostPerceptron(), OracleNoise(1), HedgeAdvice(0.4))
TIES = ("lowest", "random")


def booster(kind: Any, weak: Any, ties: str, n: int = N) -> Any:
    extra = {"rho": 0.35} if kind in (BanditBBM, AdaBandit) else {}
    if kind is OnlineMBBM:
        extra = {"scale": "exact"}
    return kind(weak, n, ties, **extra)


def sequence(weak: Any, rounds: int, seed: int = 1, n: int = N) -> Sequence:
    """Labels that a feature gives away, or predictions with an edge; no features at all in one round."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(K, size=rounds)
    if isinstance(weak, OracleNoise):
        x = labels_with_edge(labels, n, K, 0.3, generator).astype(float)
        x = np.concatenate([np.full((rounds, 1), 0.5), x], axis=1)
    elif isinstance(weak, HedgeAdvice):
        x = labels_with_edge(labels, D, K, 0.3, generator).astype(float)
    else:
        x = generator.normal(size=(rounds, D)).round(1)
        x[:, 0] = np.where(labels > 1, 1.0, -1.0)
        x[rounds // 2] = 0.0
    return Sequence.from_dense(x, labels, K, "given away")


def game(made: Any, shown: Sequence) -> Game:
    bandit = isinstance(made, BanditBBM | AdaBandit)
    graph = graphs.bandit(K) if bandit else graphs.full_information(K)
    return Game(made, shown, graph, seed=3)


def loop_of(weak: Any) -> list[Any]:
    if isinstance(weak, HedgeStump):
        return [Stump(0.4, D, K) for _ in range(N)]
    if isinstance(weak, HedgeAdvice):
        return [Adviser(0.4, D, K) for _ in range(N)]
    if isinstance(weak, CostPerceptron):
        return [Regressor(1.0, D, K) for _ in range(N)]
    return [Reader(1 + i) for i in range(N)]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("weak", WEAK, ids=str)
@pytest.mark.parametrize("kind", BOOSTERS)
def test_they_are_the_plain_loop(kind: Any, weak: Any, ties: str) -> None:
    follows_the_plain_loop(booster(kind, weak, ties), weak)


@pytest.mark.parametrize("kind", [AdaboostOLM, AdaBandit])
def test_a_step_that_is_given_is_taken(kind: Any) -> None:
    weak = HedgeStump(0.4)
    follows_the_plain_loop(replace(booster(kind, weak, "lowest"), step=0.7), weak)


def follows_the_plain_loop(made: Any, weak: Any, rounds: int = 150) -> None:
    shown = sequence(weak, rounds)
    problem: Problem = game(made, shown).problem
    quick = made.begin(problem, np.random.default_rng(5))
    slow = oracle(made, loop_of(weak), problem, np.random.default_rng(5))
    if isinstance(
        weak, CostPerceptron
    ):  # from weights without ties, which the last bit would decide
        for i, learner in enumerate(slow.weak):
            learner.weights = np.random.default_rng(i).normal(size=(K, D))
            quick.crowd.state[i, :-1] = learner.weights.T.ravel()
    draws, wrong = np.random.default_rng(6).random(rounds), 0
    for t in range(rounds):
        x, y = shown.row(t), int(shown.labels[t])
        p = quick.predict(x)
        assert p == pytest.approx(slow.predict(x), abs=1e-12)
        assert quick.labels.tolist() == slow.labels
        assert quick.best == slow.best
        assert quick.after == pytest.approx(slow.after, abs=1e-9)
        action = int((p.cumsum() <= draws[t]).sum())
        shown_label = y if quick.informed or action == y else None
        for each in (quick, slow):
            each.update(x, action, shown_label)
        assert quick.losses == pytest.approx(slow.losses, rel=1e-12)
        if quick.learns:
            for told, stated in zip(quick.told, slow.told, strict=True):
                assert told == pytest.approx(stated, abs=1e-9)
        if hasattr(slow, "alphas"):
            assert quick.experts.tolist() == slow.experts.tolist()
            assert quick.followed == slow.followed
            assert quick.alphas == pytest.approx(slow.alphas, abs=1e-9)
            assert quick.shares == pytest.approx(slow.shares, abs=1e-9)
        wrong += quick.best != y
    assert 0 < wrong < rounds, "some rounds are right, and some are not"


def left(run: Run) -> list[bytes]:
    assert run.boosting is not None
    arrays = (*run.boosting.memory, *run.boosting.weak_arrays, run.totals)
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("weak", WEAK, ids=str)
@pytest.mark.parametrize("kind", BOOSTERS)
def test_compiled_is_interpreted_bit_for_bit(kind: Any, weak: Any, ties: str) -> None:
    n = 3
    playing = game(booster(kind, weak, ties, n), sequence(weak, 25, n=n))
    found = []
    for interpreted in (False, True):
        run = Run(playing, 0, interpreted=interpreted)
        block = run.advance(25, trace=True)
        found.append([block.columns.tobytes(), block.probabilities.tobytes(), *left(run)])
    assert found[0] == found[1]


PLAY = """
import sys
sys.path[:0] = {path!r}
from test_compiled_boosters import digest
print(digest())
"""


def digest(block: int = 4096) -> str:
    """Of what all boosters play and leave, played in blocks of some length."""
    found = hashlib.sha256()
    for kind in BOOSTERS:
        for ties in TIES:
            run = Run(game(booster(kind, HedgeStump(), ties), sequence(None, 90)), 2)
            while run.position < 90:
                played = run.advance(min(block, 90 - run.position), trace=True)
                found.update(played.columns.tobytes() + played.probabilities.tobytes())
            found.update(b"".join(left(run)))
    return found.hexdigest()


def test_what_is_played_depends_neither_on_blocks_nor_on_the_process() -> None:
    whole = Run(game(booster(BanditBBM, HedgeStump(), "random"), sequence(None, 90)), 2)
    together = whole.advance(90, trace=True).columns
    pieces = Run(game(booster(BanditBBM, HedgeStump(), "random"), sequence(None, 90)), 2)
    apart = [pieces.advance(n, trace=True).columns for n in (1, 7, 50, 32)]
    assert together.tobytes() == np.concatenate(apart).tobytes()
    assert left(whole) == left(pieces)
    script = PLAY.format(
        path=[path for path in sys.path if "tests" in path] + [__file__.rpartition("/")[0]]
    )
    fresh = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert fresh.stdout.strip() == digest()


class Wrapped:
    """Compiled weak learners in the hands of plain Python."""

    draws: ClassVar[bool] = True

    def __init__(self, crowd: Crowd) -> None:
        self.crowd = crowd

    def predict(self, x: np.ndarray, dice: np.ndarray) -> np.ndarray:
        return self.crowd.predict(x, dice)

    def update(self, x: np.ndarray, costs: np.ndarray, weights: np.ndarray) -> None:
        self.crowd.update(x, costs, weights)


class Wrapping:
    def crowd(self, setting: Setting) -> Crowd:
        return Wrapped(HedgeStump(0.4).crowd(setting))


@pytest.mark.parametrize("kind", BOOSTERS)
def test_weak_learners_in_plain_python_play_the_same_game(kind: Any) -> None:
    shown, found = sequence(None, 60), []
    for weak in (HedgeStump(0.4), Wrapping()):
        run = Run(game(booster(kind, weak, "random"), shown), 0)
        assert run.boosting is not None
        assert run.boosting.is_compiled == isinstance(weak, HedgeStump)
        block = run.advance(60, trace=True)
        memory = [array.tobytes() for array in run.boosting.memory]
        found.append([block.columns.tobytes(), block.probabilities.tobytes(), *memory])
    assert found[0] == found[1]


@pytest.mark.parametrize("weak", [OracleNoise(), HedgeAdvice()], ids=str)
def test_what_weak_learners_do_wrong_is_said_by_the_game(weak: Any) -> None:
    for bad, interpreted in ((4.0, False), (0.5, True), (-1.0, False)):
        labels = np.zeros((50, 3))
        labels[20, 1] = bad
        shown = Sequence.from_dense(labels, np.zeros(50, int), K, "a label that is none")
        playing = game(OnlineMBBM(weak, 3), shown)
        with pytest.raises(LearnerError) as told:
            list(playing.play(1, interpreted=interpreted))
        assert str(told.value) == (
            f"run 1: {weak} was shown [0.0, {bad}, 0.0]: expected labels from 0 to 3."
        )

    class Greedy(Wrapped):
        def update(self, x: np.ndarray, costs: np.ndarray, weights: np.ndarray) -> None:
            costs[0, 0] = 7.0

    class Careless(Wrapping):
        def crowd(self, setting: Setting) -> Crowd:
            return Greedy(HedgeStump().crowd(setting))

    with pytest.raises(LearnerError, match="run 0: the weak learners changed the costs"):
        list(game(OnlineMBBM(Careless(), 3), sequence(None, 5)).play())


def test_nothing_is_computed_for_weak_learners_that_do_not_learn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def table(self: Potentials, remaining: int) -> None:
        raise AssertionError("nobody needs it")

    monkeypatch.setattr(Potentials, "table", table)
    cache._cache_of.cache_clear()
    for kind in (OnlineMBBM, BanditBBM):
        run = Run(game(booster(kind, OracleNoise(1), "random"), sequence(OracleNoise(), 50)), 0)
        run.advance(50)
        assert run.boosting is not None
        assert run.boosting.told is None
        assert not run.boosting.memory.costs.any()
        with pytest.raises(AssertionError, match="nobody needs it"):
            Run(game(booster(kind, HedgeStump(), "random"), sequence(None, 50)), 0)


def test_costs_do_not_depend_on_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """With two slots nearly all costs are computed again, to the same bits, and in the memory of two."""
    shown, found = sequence(None, 200), []
    for slots in (cache.SLOTS, 2):
        monkeypatch.setattr(cache, "SLOTS", slots)
        cache._cache_of.cache_clear()
        run = Run(game(booster(BanditBBM, HedgeStump(0.4), "random"), shown), 0)
        run.advance(200)
        assert run.boosting is not None
        assert len(run.boosting.cache.keys) == slots
        filled = np.count_nonzero(run.boosting.cache.keys[:, 0])
        assert filled == 2 if slots == 2 else 8 <= filled <= 12  # of 1 + 1 + 2 + 3 + 5 states
        found.append(left(run))
    cache._cache_of.cache_clear()
    assert found[0] == found[1]


@pytest.mark.parametrize("slots", [1, 4, 64])
def test_costs_found_are_those_of_the_state(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the slot held before: of another vote, or of the same vote with fewer to come."""
    monkeypatch.setattr(cache, "SLOTS", slots)
    potentials, generator, k, n = Potentials(3, 0.2), np.random.default_rng(9), 3, 6
    kept = cache._cache_of.__wrapped__(potentials, n, True, 0)
    for _ in range(60):
        cache.open_vote(kept.ranking)
        labels = generator.integers(k, size=int(generator.integers(n)))
        for label in labels.tolist():
            cache.cast_vote(label, kept.ranking)
        votes, remaining = (
            np.bincount(labels, minlength=k),
            int(generator.integers(n - len(labels))),
        )
        slot = cache.find_costs(remaining, *kept)
        rank = kept.ranking[2]
        found = kept.kept[slot][rank[:, None], rank]
        assert found.tobytes() == potentials.cost_matrix(votes, remaining).tobytes()


def test_votes_are_ranked_as_they_are_cast() -> None:
    generator, k = np.random.default_rng(7), 5
    for _ in range(30):
        ranking, votes = np.zeros((3, k), dtype=np.int64), np.zeros(k, dtype=np.int64)
        cache.open_vote(ranking)
        for label in generator.integers(k, size=25).tolist():
            cache.cast_vote(label, ranking)
            votes[label] += 1
            assert ranking[0].tolist() == sorted(votes)
            assert votes[ranking[1]].tolist() == ranking[0].tolist()
            assert ranking[1, ranking[2]].tolist() == list(range(k))


@pytest.mark.parametrize("rate", [0.05, 3.0, 40.0])
def test_shares_of_stumps_are_computed_afresh_before_they_vanish(rate: float) -> None:
    """Weights that fell by more than a double can hold, and rise again: the leader changes every 150 rounds."""
    generator, rounds = np.random.default_rng(8), 150 * K
    quick: Any = HedgeStump(rate).crowd(Setting(2, K, 3, rounds))
    slow = [Stump(rate, 3, K) for _ in range(2)]
    leaders = set()
    for t in range(rounds):
        x = generator.integers(2, size=3).astype(float)
        p = quick.probabilities(x)
        for i, stump in enumerate(slow):
            assert p[i] == pytest.approx(stump.probabilities(x), abs=1e-9)
        leaders.add(int(p[1].argmax()))
        costs = generator.normal(size=(2, K))
        costs[:, t // 150] -= 3.0 ** (1 + t // 150)
        weights = np.array([generator.random(), 1.0])
        quick.update(x, costs, weights)
        for stump, cost, weight in zip(slow, costs, weights, strict=True):
            stump.update(x, cost, weight)
    assert leaders == set(range(K))
    renewed = quick.state[:, 4 * 3 * K + 4 * 3 :] != 1.0
    assert renewed.any() == (rate > 1)
