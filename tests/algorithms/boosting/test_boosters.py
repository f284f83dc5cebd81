"""The four boosters: worked examples, the traps of their pseudocode, ties and tunings."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scripted_boosting import FORMS, Dice, Script, play, problem, started

from boundcheck.adversaries.sequence import Sequence
from boundcheck.adversaries.weak_learning.oracles import labels_with_edge
from boundcheck.algorithms import graphs
from boundcheck.algorithms.boosting import logistic
from boundcheck.algorithms.boosting.adaptive import AdaBandit, AdaboostOLM
from boundcheck.algorithms.boosting.hedge import HedgeStump
from boundcheck.algorithms.boosting.majority import BanditBBM, OnlineMBBM
from boundcheck.algorithms.boosting.potentials import Potentials
from boundcheck.algorithms.boosting.weak import OracleNoise
from boundcheck.algorithms.learner import Problem
from boundcheck.verify.games.labels.play import Game
from boundcheck.verify.games.labels.record import ACTION

EXAMPLES: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "examples.json").read_text(encoding="utf-8")
)
CLOSE: dict[str, float] = {"rel": 1e-9, "abs": 1e-9}
BOOSTERS = (OnlineMBBM, BanditBBM, AdaboostOLM, AdaBandit)


def cost_matrices(boosting: Any) -> np.ndarray:
    """Potentials of a booster by majority as costs, of each weak learner for each true label, shape (N, k, k)."""
    if hasattr(boosting, "cost_matrices"):  # the oracle has its own
        return np.array(boosting.cost_matrices())
    last = boosting.n_learners - 1
    return np.array(
        [
            boosting.potentials.cost_matrix(votes, last - i)
            for i, votes in enumerate(boosting.before)
        ]
    )


@pytest.mark.parametrize("form", FORMS)
def test_online_mbbm_is_the_worked_example(form: str) -> None:
    boosting = started(OnlineMBBM(Script(), 2, gamma=0.2), 3, Dice(), form=form)
    for worked in EXAMPLES["OnlineMBBM(N=2,g=.2,tie=error)"]:
        p = play(boosting, worked["wl"], worked["y"])
        assert p.tolist() == np.eye(3)[worked["yhat"]].tolist()
        assert cost_matrices(boosting) == pytest.approx(np.array(worked["C"]), **CLOSE)
        costs, weights = boosting.told
        raw, y = np.array(worked["cost"]), worked["y"]
        assert weights * 2 == pytest.approx(np.array(worked["weight"]), **CLOSE)
        told = costs * (weights * 2)[:, None]
        assert told == pytest.approx(raw - raw[:, [y]], **CLOSE)
        assert (costs[:, y] == 0).all()
        assert costs.sum(axis=1) == pytest.approx((weights > 0).astype(float))


@pytest.mark.parametrize("form", FORMS)
def test_bandit_bbm_is_the_worked_example(form: str) -> None:
    boosting = started(BanditBBM(Script(), 2, gamma=0.2, rho=0.3), 3, Dice(), form=form)
    for worked in EXAMPLES["BanditBBM(N=2,g=.2,rho=.3,tie=error)"]:
        p = play(boosting, worked["wl"], worked["y"], worked["ytilde"])
        assert p == pytest.approx(np.array(worked["P"]), **CLOSE)
        assert boosting.best == worked["yhat"]
        assert cost_matrices(boosting) == pytest.approx(np.array(worked["C"]), **CLOSE)
        assert boosting.losses == pytest.approx(np.array(worked["Lhat"]), **CLOSE)
        costs, weights = boosting.told
        assert costs * 2 == pytest.approx(np.array(worked["chat"]), **CLOSE)
        assert weights.tolist() == [1, 1]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["Adaboost.OLM(N=2)", "AdaBandit(N=2,rho=.3,hedge=1)"])
def test_the_adaptive_boosters_are_the_worked_examples(name: str, form: str) -> None:
    bandit = name.startswith("AdaBandit")
    made = AdaBandit(Script(), 2, rho=0.3, hedge=1.0) if bandit else AdaboostOLM(Script(), 2)
    boosting = started(made, 3, Dice(0.3, 0.6, 0.6), form=form)
    for worked in EXAMPLES[name]:
        assert boosting.alphas == pytest.approx(np.array(worked["alpha"]), **CLOSE)
        assert boosting.shares == pytest.approx(np.array(worked["v"]), **CLOSE)
        before = boosting.alphas
        p = play(boosting, worked["wl"], worked["y"], worked.get("ytilde"))
        y = worked["y"]
        assert p == pytest.approx(np.array(worked.get("P", np.eye(3)[worked["yhat"]])), **CLOSE)
        assert boosting.after == pytest.approx(np.array(worked["s"]), **CLOSE)
        assert boosting.experts.tolist() == worked["experts"]
        assert (boosting.followed, boosting.best) == (worked["i_t"], worked["yhat"])
        costs, weights = boosting.told
        raw = np.array(worked["cost"])
        if bandit:
            assert boosting.losses == pytest.approx(np.array(worked["Lhat"]), **CLOSE)
            assert costs * 6 == pytest.approx(raw, **CLOSE)
            assert weights.tolist() == [1, 1]
        else:
            assert weights == pytest.approx(-raw[:, y] / 2, **CLOSE)
            assert costs * weights[:, None] * 6 == pytest.approx(raw - raw[:, [y]], **CLOSE)
        step = np.clip(before - worked["lr"] * np.array(worked["grad"]), -2, 2)
        assert boosting.alphas == pytest.approx(step, **CLOSE)
        assert boosting.alphas == pytest.approx(np.array(worked["alpha_next"]), **CLOSE)
        assert boosting.shares == pytest.approx(np.array(worked["v_next"]), **CLOSE)


@pytest.mark.parametrize("form", FORMS)
def test_the_last_learner_is_told_the_loss_of_the_vote_and_not_the_chance_of_one_more(
    form: str,
) -> None:
    """With a potential step too many no cost would be that of a vote that is over."""
    start, y = Potentials(3, 0.2), 1
    for made in (OnlineMBBM(Script(), 3, gamma=0.2), BanditBBM(Script(), 3, gamma=0.2, rho=0.3)):
        boosting = started(made, 3, Dice(), form=form)
        play(boosting, [0, 1, 2], y, 0)  # before the last vote labels 0 and 1 are level
        costs, weights = boosting.told
        first = [start.potential(np.eye(3, dtype=int)[label], y, 2) for label in range(3)]
        if boosting.informed:
            assert costs[-1].tolist() == [0.5, 0, 0.5]
            assert weights[-1] == 1
            excess = np.array(first) - first[y]
            assert costs[0] * weights[0] * 2 == pytest.approx(excess, abs=1e-12)
        else:  # every loss but that of the label played is 0
            assert boosting.losses == pytest.approx([1 / 0.7, 0, 0])
            matrix = 1 - np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0]])
            stated = np.array([1 - 1 / 0.7, 1, 1]) @ matrix / 2
            assert costs[-1] == pytest.approx(stated, abs=1e-12)


def test_costs_telescope_to_the_mistake() -> None:
    """The potential of the vote falls from the start to the loss along what the learners predict: E13."""
    generator, k, n = np.random.default_rng(1), 4, 9
    made = OnlineMBBM(Script(), n, "random", gamma=0.15)
    boosting = started(made, k, generator)
    potentials = made.potentials(k)
    for _ in range(20):
        labels, y = generator.integers(k, size=n), int(generator.integers(k))
        play(boosting, labels.tolist(), y)
        told, weights = boosting.told
        costs = cost_matrices(boosting)[:, y]
        excess = costs - costs[:, [y]]
        assert told * weights[:, None] * (k - 1) == pytest.approx(excess, abs=1e-12)
        chances = np.full(k, (1 - 0.15) / k) + 0.15 * np.eye(k)[y]
        along = costs[np.arange(n), labels]
        expected = costs @ chances
        assert expected[0] == pytest.approx(potentials.potential((0,) * k, y, n), abs=1e-12)
        assert expected[1:] == pytest.approx(along[:-1], abs=1e-12)
        counts = np.bincount(labels, minlength=k)
        level = int((np.delete(counts, y) == counts[y]).sum())
        lost = 1.0 if (counts > counts[y]).any() else 1 - 1 / (1 + level)
        assert along[-1] == pytest.approx(lost, abs=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_the_weights_step_down_the_loss(form: str) -> None:
    """With the sign of a gradient flipped the loss at the new weights would rise."""
    generator, k, n = np.random.default_rng(2), 3, 4
    boosting = started(AdaboostOLM(Script(), n), k, generator, form=form)
    boosting.round = 10_000  # so that a step is short
    for _ in range(50):
        boosting.alphas = generator.uniform(-1.5, 1.5, size=n)
        labels, y = generator.integers(k, size=n), int(generator.integers(k))
        before = boosting.alphas
        play(boosting, labels.tolist(), y)
        for i in range(n):
            along = np.eye(k)[labels[i]]
            old, new = (
                logistic.loss(boosting.before[i] + a[i] * along, y)
                for a in (before, boosting.alphas)
            )
            assert new < old


def test_weights_are_kept_in_their_interval() -> None:
    boosting = started(AdaboostOLM(Script(), 2), 3, np.random.default_rng(3))
    boosting.alphas = np.array([1.9, -1.9])
    play(boosting, [1, 2], 1)
    assert boosting.alphas[0] == 2
    assert -2 <= boosting.alphas[1] < -1.9
    boosting.alphas = np.array([-1.9, -1.9])
    boosting.round = 0
    play(boosting, [2, 1], 0)
    assert boosting.alphas.tolist() == [-2, -2]


def test_adabandit_moves_by_the_mean_gradient_and_cost() -> None:
    """By enumeration over the label it plays: weights, costs and the losses that Hedge sees are unbiased."""
    generator, k, n = np.random.default_rng(4), 4, 3
    for _ in range(10):
        alphas = generator.uniform(-1, 1, size=n)
        labels, y = generator.integers(k, size=n), int(generator.integers(k))
        step = costs = losses = np.zeros(1)
        die = float(generator.random())
        for action in range(k):
            boosting = started(AdaBandit(Script(), n, rho=0.4), k, Dice(die))
            boosting.alphas = alphas
            p = play(boosting, labels.tolist(), y, action)
            step = step + p[action] * (boosting.alphas - alphas)
            costs = costs + p[action] * boosting.told[0]
            losses = losses + p[action] * boosting.losses_of_experts
        eta = 0.4 / (k * k)
        moved = logistic.slopes(boosting.before, labels, alphas)[:, y]
        assert step == pytest.approx(-eta * moved, abs=1e-12)
        true = logistic.cost_matrix(boosting.before)[:, y]
        assert costs == pytest.approx(true / (k * (k - 1)), abs=1e-12)
        assert losses == pytest.approx((boosting.experts != y).astype(float), abs=1e-12)


def test_hedge_follows_the_expert_that_errs_less() -> None:
    """Its rate is that of the exponential, and two experts part at it."""
    for hedge in (0.3, 1.0):
        boosting = started(AdaboostOLM(Script(), 2, hedge=hedge), 3, np.random.default_rng(5))
        boosting.alphas = np.array([1.0, 2.0])
        play(boosting, [1, 2], 2)  # expert 1 says 1, expert 2 says 2
        assert boosting.experts.tolist() == [1, 2]
        assert boosting.shares[1] / boosting.shares[0] == pytest.approx(math.exp(hedge))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [OnlineMBBM, BanditBBM])
def test_a_tie_of_the_vote_is_drawn_once_and_kept(kind: Any, form: str) -> None:
    """The numbers given suffice for one draw a round, by ``predict``; ``update`` has none left to draw."""
    found = set()
    for die, expected in ((0.1, 0), (0.4, 1), (0.9, 2)):
        dice = Dice(die)
        boosting = started(kind(Script(), 3, "random"), 3, dice, horizon=10**9, form=form)
        p = play(boosting, [2, 0, 1], 1, 0)
        assert boosting.best == expected
        assert p.argmax() == expected
        assert dice.drawn == 1
        found.add(boosting.best)
    assert found == {0, 1, 2}
    lowest = started(kind(Script(), 3), 3, Dice(), horizon=10**9, form=form)
    play(lowest, [2, 0, 1], 1, 0)
    assert lowest.best == 0


@pytest.mark.parametrize("form", FORMS)
def test_ties_of_experts_are_drawn_once_and_kept(form: str) -> None:
    """Redrawn ones would give Hedge the loss of a label that was not the expert's."""
    for kind in (AdaboostOLM, AdaBandit):
        dice = Dice(0.9, 0.4, 0.0)
        boosting = started(kind(Script(), 2, "random"), 3, dice, horizon=10**9, form=form)
        p = play(boosting, [0, 1], 2, 2)
        assert boosting.experts.tolist() == [2, 1]
        assert p.argmax() == boosting.best == 2
        assert dice.drawn == 3
        if kind is AdaboostOLM:
            assert boosting.losses_of_experts.tolist() == [0, 1]
        else:
            assert boosting.losses_of_experts == pytest.approx(boosting.losses[[2, 1]])
            assert boosting.losses_of_experts[1] > 0


def test_a_random_tie_has_equal_chances() -> None:
    rounds, k = 90_000, 4
    shown = Sequence.from_dense(np.tile([0.0, 2, 3], (rounds, 1)), np.zeros(rounds, int), k, "tie")
    game = Game(OnlineMBBM(OracleNoise(), 3, "random"), shown, graphs.full_information(k))
    drawn = np.concatenate([block.column(ACTION) for block in game.play()])
    assert set(drawn.tolist()) == {0, 2, 3}
    for label in (0, 2, 3):
        assert stats.binomtest(int((drawn == label).sum()), len(drawn), 1 / 3).pvalue > 1e-9


@pytest.mark.parametrize("ties", ["lowest", "random"])
def test_errors_are_those_that_the_edge_gives(ties: str) -> None:
    """Labels drawn with the edge: OnlineMBBM errs as the potential says, BanditBBM by the formula of its exploration.

    Exact two-sided binomial tests at 1e-9 on 20,000 rounds; with ties to the lowest index the true label is drawn, and
    the last label, which loses every tie, errs as the potential of the rule ``error``.
    """
    k, n, gamma, rho, rounds = 3, 5, 0.25, 0.3, 20_000
    generator = np.random.default_rng(7)
    problem_ = problem(BanditBBM, k, n, rounds)
    boosting: Any = BanditBBM(OracleNoise(), n, ties, gamma=gamma, rho=rho).begin(
        problem_, generator
    )
    true = generator.integers(k, size=rounds) if ties == "random" else np.full(rounds, k - 1)
    shown = labels_with_edge(true, n, k, gamma, generator).astype(float)
    wrong = played_wrong = 0
    for x, y in zip(shown, true.tolist(), strict=True):
        p = boosting.predict(x)
        wrong += boosting.best != y
        played_wrong += generator.random() >= p[y]
    rule = "random" if ties == "random" else "error"
    start = Potentials(k, gamma, rule).potential((0,) * k, k - 1, n)
    assert stats.binomtest(wrong, rounds, start).pvalue > 1e-9
    error = start * (1 - rho) + (1 - start) * rho + start * rho * (k - 2) / (k - 1)
    assert stats.binomtest(played_wrong, rounds, error).pvalue > 1e-9
    assert stats.binomtest(wrong, rounds, start + 0.03).pvalue < 1e-9, "the test has power"


@pytest.mark.parametrize("kind", BOOSTERS)
def test_boosters_learn_from_stumps(kind: Any) -> None:
    """Two of the features give the label: each booster errs less in the last quarter than any constant label would."""
    generator, rounds, k = np.random.default_rng(8), 1500, 3
    extra = {"rho": 0.2} if "Band" in kind.__name__ else {}
    made = kind(HedgeStump(0.5), 8, "random", **extra)
    boosting = made.begin(problem(kind, k, 3, rounds), generator)
    errors = []
    for _ in range(rounds):
        x = generator.integers(2, size=3).astype(float)
        y = int(2 * x[0]) if generator.random() < 0.9 else 1
        p = boosting.predict(x)
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1, abs=1e-12)
        action = int(generator.choice(k, p=p))
        boosting.update(x, action, y if not extra or action == y else None)
        errors.append(boosting.best != y)
    assert np.mean(errors[-rounds // 4 :]) < 0.3
    assert np.mean(errors[: rounds // 15]) > np.mean(errors[-rounds // 4 :])


def test_the_exact_scale_keeps_weights_in_range_and_is_smaller() -> None:
    made = OnlineMBBM(Script(), 6, gamma=0.1, scale="exact")
    scales = made.scales(3)
    assert scales[-1] == pytest.approx(2)
    assert (scales < 2 + 1e-12).all()
    assert scales[0] < 1
    generator = np.random.default_rng(9)
    boosting = started(made, 3, generator)
    for _ in range(50):
        play(boosting, generator.integers(3, size=6).tolist(), int(generator.integers(3)))
        assert (boosting.told[1] <= 1).all()


def test_tunings_are_the_papers() -> None:
    horizon, k, n = 10**7, 4, 16
    there = Problem(graphs.bandit(k), 1, horizon)
    assert BanditBBM(learners=n).numbers(there) == pytest.approx(
        {"rho": k**1.75 * n**0.25 / horizon**0.5}
    )
    assert BanditBBM(learners=n, tuning="ones").numbers(there) == pytest.approx(
        {"rho": horizon**-0.5}
    )
    paper = k * n ** (2 / 3) / (horizon * n * 0.3**2) ** (1 / 3)
    assert AdaBandit(learners=n, gamma=0.3).numbers(there) == pytest.approx(
        {"rho": paper, "hedge": 1}
    )
    known = AdaBandit(learners=n, gamma=0.3, tuning="theory").numbers(there)
    assert known["hedge"] == pytest.approx(math.sqrt(2 * paper * math.log(n) / (3 * horizon)))
    assert AdaBandit(learners=n, tuning="ones").numbers(there)["rho"] == pytest.approx(
        horizon ** (-1 / 3)
    )
    few = Problem(graphs.bandit(k), 1, 10)
    assert BanditBBM(learners=n).numbers(few)["rho"] == 0.5
    assert AdaBandit(learners=n).numbers(few)["rho"] == 0.5
    olm = AdaboostOLM(learners=n, tuning="theory").numbers(
        Problem(graphs.full_information(k), 1, 100)
    )
    assert olm["hedge"] == pytest.approx(math.sqrt(8 * math.log(n) / 100))
