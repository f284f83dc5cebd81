"""The excess loss of Hedge over advice, step by step as derived in advised.py, and what it is worth."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from boundcheck.adversaries.advice_labels import AdviceLabels
from boundcheck.algorithms.boosting.advice import HedgeAdvice
from boundcheck.algorithms.boosting.estimates import exploration, loss_estimate
from boundcheck.algorithms.boosting.weak import Setting as WeakSetting
from boundcheck.verify import catalog
from boundcheck.verify.claims.boosting import (
    advised,
    asymptotic_error,
    learned_edge,
    majority,
    runs,
)
from boundcheck.verify.claims.boosting.advised import growth, laws
from boundcheck.verify.resolve import resolve

RATES = [(2, None), (3, None), (2, 0.1), (3, 0.1), (3, 0.5)]


@pytest.mark.parametrize(("k", "rho"), [case for case in RATES if case[1]])
def test_what_is_told_has_the_costs_as_its_mean(k: int, rho: float) -> None:
    found = laws(k, rho)
    assert len(found) == 2 * k**k
    for costs, told, p in found:
        assert p @ told == pytest.approx(costs, abs=1e-12)
        assert costs[0] == 0
        assert costs.sum() <= 1


def mean_of(
    costs: Any, told: Any, p: Any, chances: Any, mu: float, rate: float, theta: float
) -> float:
    """Step 4 written out, without the term in gamma."""
    total = 0.0
    for label, action in product(range(len(costs)), range(len(p))):
        z = told[action]
        hedged = sum(q * math.exp(-rate * each) for q, each in zip(chances, z, strict=True))
        draw = chances[label] * p[action] * math.exp(theta * costs[label])
        total += draw * math.exp(rate * mu * z.sum()) * hedged
    return total


@pytest.mark.parametrize(("k", "rho"), RATES)
def test_no_costs_and_no_chances_grow_more_than_those_enumerated(k: int, rho: float | None) -> None:
    generator, edge, gamma = np.random.default_rng(k), 0.6, 0.4
    mu, closest = (1 - edge) / k, math.inf
    for _ in range(100):
        rate, theta = generator.uniform(0.01, 0.3, size=2)
        most = max(
            float(growth(law, edge, gamma, rate, np.array([theta]))[0]) for law in laws(k, rho)
        )
        rows = np.zeros((k, k))
        for r in range(k):
            others = [label for label in range(k) if label != r]
            sizes = generator.dirichlet(np.full(k - 1, 0.3)) * generator.choice(
                [0, 1, generator.random()]
            )
            rows[r, others] = sizes
            rows[r] += generator.random()  # a number added to a row changes nothing
        if rho is None:
            told, p = (rows[0] - rows[0, 0])[None], np.ones(1)
        else:
            p = exploration(int(generator.integers(2)), rho, k)
            best = int(p.argmax())
            told = np.array([(1 - loss_estimate(best, a, a == 0, p)) @ rows for a in range(k)])
            told -= told[:, :1]
        costs = rows[0] - rows[0, 0]
        chances = generator.dirichlet(np.full(k, 0.3))
        found = mean_of(costs, told, p, chances, mu, rate, theta)
        left = most - (math.log(found) - theta * (1 - gamma) / k * costs.sum())
        assert left >= -1e-12
        closest = min(closest, left)
    assert closest < 0.05, "and some come near"


def test_the_largest_is_that_of_a_grid_of_chances() -> None:
    thetas = np.array([0.05, 0.5])
    for law in laws(2, 0.1):
        costs, told, p = law
        stated = growth(law, 0.6, 0.4, 0.3, thetas)
        for theta, most in zip(thetas, stated, strict=True):
            grid = [
                math.log(mean_of(costs, told, p, (1 - s, s), 0.2, 0.3, theta))
                - theta * 0.3 * costs.sum()
                for s in np.linspace(0, 1, 1001)
            ]
            assert max(grid) <= most + 1e-12
            assert max(grid) >= most - 1e-5


def test_hedge_keeps_up_with_the_panel_whatever_it_is_told() -> None:
    """Step 3, on random numbers in place of costs, with the probabilities of the kernel."""
    made, rate, rounds = AdviceLabels(3, 5, 1, 2), 0.4, 200
    shown, generator = made.sequence(rounds, 0).dense(), np.random.default_rng(0)
    labels = made.sequence(rounds, 0).labels
    crowd: Any = HedgeAdvice(rate).crowd(WeakSetting(2, 3, made.advisers, rounds))
    total, divergence = np.zeros(2), math.log(7 / 5)
    for x, y in zip(shown, labels, strict=True):
        costs = generator.normal(size=(2, 3)) * 3
        z = costs - costs[:, [y]]
        hedged = (crowd.probabilities(x) * np.exp(-rate * z)).sum(axis=1)
        total += np.log(hedged) + rate * (1 - made.edge) / 3 * z.sum(axis=1)
        crowd.update(x, costs, np.ones(2))
        assert (total >= -divergence - 1e-9).all()
    assert total.max() > 1


def excesses(k: int, gamma: float, rho: float, rate: float, learners: int, rounds: int) -> Any:
    """sum u - (1 - gamma)/k sum w of learners that are told estimates, or costs where rho is 0.

    All of the cost is on the wrong label that each predicts most often, and only where that is likely; other rows are
    told as noise.
    """
    made = AdviceLabels(k, 5, 1, 2)
    sequence, generator = made.sequence(rounds, 1), np.random.default_rng(2)
    setting = WeakSetting(learners, k, made.advisers, rounds)
    crowd: Any = HedgeAdvice(rate).crowd(setting)
    excess, everyone = np.zeros(learners), np.arange(learners)
    for x, y in zip(sequence.dense(), sequence.labels.tolist(), strict=True):
        chances = crowd.probabilities(x)
        chances[:, y] = -1
        wrong = chances.argmax(axis=1)
        heavy = chances.max(axis=1) > (1 - made.edge) / k
        rows = np.zeros((learners, k, k))
        rows[everyone, y, wrong] = heavy
        rows[everyone, wrong, y] = 1.0
        said = crowd.predict(x, generator.random(learners))
        told = rows[:, y].copy()
        if rho:
            for i, best in enumerate(said.tolist()):
                p = exploration(best, rho, k)
                action = int(generator.choice(k, p=p))
                told[i] = (1 - loss_estimate(best, action, action == y, p)) @ rows[i]
        excess += rows[everyone, y, said] - (1 - gamma) / k * heavy
        crowd.update(x, told, np.ones(learners))
    return excess


@pytest.mark.parametrize(("k", "rho", "rate"), [(2, 0.0, 0.3), (3, 0.0, 0.1), (2, 0.1, 0.2)])
def test_the_excess_loss_holds_with_its_probability(k: int, rho: float, rate: float) -> None:
    """Of 200 learners none exceeds S at delta = 0.2, where 2^-30 allows 93; and it is no idle bound."""
    gamma, rounds = 0.3 if k == 2 else 0.2, 300
    found = excesses(k, gamma, rho, rate, 200, rounds)
    g = advised._growths(k, AdviceLabels(k, 5).edge, gamma, rate, rho or None)
    known = ((math.log(5) + math.log(7 / 5) + g * rounds) / advised.THETAS).min()
    assert int((found > known).sum()) <= 93
    assert found.max() > known / 30


def test_full_information_leaves_it_free_of_the_horizon_and_estimates_do_not() -> None:
    full, bandit = (
        resolve(replace(made, horizon=100), 0)
        for made in (majority.full_settings()[-2], majority.learning_settings()[0])
    )
    sizes = [
        [advised.advised_excess_loss(case, 0.3, T, 0.05) for T in (1e3, 1e5)]
        for case in (full, bandit)
    ]
    assert sizes[0][0] == sizes[0][1]
    assert sizes[1][1] > 5 * sizes[1][0]


def test_no_horizon_would_do_for_an_excess_loss_free_of_it() -> None:
    """Rounds that weigh nothing are told as noise: the share of the panel falls as a random walk, however long."""
    costs, told, p = max(laws(2, 0.1), key=lambda law: (not law[0].any(), np.abs(law[1]).max()))
    assert not costs.any()
    assert p @ told == pytest.approx([0, 0])
    assert p @ told[:, 1] ** 2 == pytest.approx(0.1 / 0.9)
    for rate in (0.01, 0.3):
        (least,) = growth((costs, told, p), 0.6, 0.3, rate, np.array([1e-3]))
        assert least > 0


@pytest.mark.parametrize("graph", ["full", "bandit"])
def test_what_is_missed_of_an_edge_is_the_cost_beyond_it(graph: str) -> None:
    """(gamma - gamma_i) W_i is the cost of the predictions, less that of the label, beyond (1 - gamma) W_i."""
    case = resolve(replace(learned_edge.learning_settings(graph)[0], horizon=120), 0)
    inside, gamma = runs.look_inside(case, 0), 0.7
    missed = np.zeros(inside.learners)
    for t, label in enumerate(inside.truth.tolist()):
        scores = np.zeros(2)
        for i, said in enumerate(inside.labels[t].tolist()):
            slope = 1 / (1 + math.exp(scores[label] - scores[1 - label]))
            missed[i] += 2 * slope * (said != label) - (1 - gamma) * slope
            scores[said] += inside.alphas[t, i]
    assert (gamma - inside.edges) * inside.weights == pytest.approx(missed, abs=1e-9)
    stated = learned_edge._envelope(case, 120, 0.2)
    gamma = 0.95 * case.adversary.edge
    assert stated == 2 * advised.advised_excess_loss(case, gamma, 120, 0.2 / 5)


def test_constants_of_the_bounds_where_weak_learners_learn() -> None:
    setting = majority.learning_settings()[0]
    case, T, delta = resolve(setting, 0), setting.horizon, 0.2
    learner = case.learner
    n, gamma, sizes = learner.learners, learner.gamma, learner.scales(2).sum()
    error = learner.potentials(2).potential([0, 0], 0, n)
    for exact, rate in ((True, error), (False, math.exp(-(gamma**2) * n / 2))):
        excess = advised.advised_excess_loss(case, gamma, T, delta / (n + 1))
        luck = math.sqrt(T / 2 * math.log((n + 1) / delta))
        found = majority._envelope(exact, False, case, T, delta)
        assert found == pytest.approx(rate * T + excess * sizes + 0.1 * T + luck)
    events = 2 * n + 3
    full = asymptotic_error.counterpart(case)
    excesses = [advised.advised_excess_loss(c, gamma, T, delta / events) for c in (case, full)]
    assert excesses[0] > excesses[1]
    luck = 2 * math.sqrt(T / 2 * math.log(events / delta))
    found = asymptotic_error._apart_when_learning(case, T, delta)
    assert found == pytest.approx(error * T + excesses[0] * sizes + luck)
    assert found < 0.1 * T, "a booster that never explores exceeds it"


@pytest.mark.parametrize("k", [2, 3, 5])
def test_exploring_costs_at_least_its_rate(k: int) -> None:
    """Whatever label wins, up to the rate 1/2."""
    for rho, best in product((0.01, 0.3, 0.5), range(2)):
        assert 1 - exploration(best, rho, k)[0] >= rho - 1e-15
    assert 1 - exploration(1, 0.6, 2)[0] < 0.6


def test_what_is_not_known_of_them() -> None:
    claim = catalog.claims()["boosting/bandit-bbm"].forms[0]
    setting = majority.learning_settings()[0]
    reasons = {
        setting.learner.replace("gamma=0.56", "gamma=0.6"): (
            setting.adversary,
            "the edge 0.6 of the panel",
        ),
        setting.learner: ("advice-labels:n_labels=5,panel=20", "at most 4 labels"),
    }
    for learner, (adversary, reason) in reasons.items():
        case = resolve(replace(setting, learner=learner, adversary=adversary, horizon=50), 0)
        assert reason in claim.unmet(case)
    other = replace(setting, adversary="oracle-labels:n_labels=2,learners=7", horizon=50)
    assert "hedge-advice on advice-labels" in claim.unmet(resolve(other, 0))
