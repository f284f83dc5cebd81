"""Weak learners: Hedge over stumps is Hedge over all of them, its regret holds, and bad input is named."""

from __future__ import annotations

import importlib.util
import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from boundcheck.algorithms.boosting import hedge, trees, weak
from boundcheck.algorithms.boosting.advice import HedgeAdvice
from boundcheck.algorithms.boosting.each import Each
from boundcheck.algorithms.boosting.hedge import HedgeFinite, HedgeStump, hedge_excess_loss
from boundcheck.algorithms.boosting.problem import WeakProblem
from boundcheck.algorithms.boosting.weak import CostPerceptron, OracleNoise, Setting
from boundcheck.errors import LearnerError, UserError

NOTHING = np.zeros(0)


def stumps(d: int, k: int) -> list[Any]:
    """All d k^2 of them, as functions."""

    def stump(j: int, low: int, high: int) -> Any:
        return lambda x: high if x[j] else low

    return [stump(j, low, high) for j in range(d) for low, high in product(range(k), repeat=2)]


def stream(n: int, k: int, d: int, rounds: int, seed: int) -> Any:
    generator = np.random.default_rng(seed)
    for _ in range(rounds):
        x = generator.integers(2, size=d).astype(float)
        yield x, generator.normal(size=(n, k)), generator.random(n), generator.random(n)


def test_hedge_stump_is_hedge_over_all_stumps() -> None:
    """The same shares of labels, and the same draws, for the same costs and weights."""
    n, k, d = 3, 3, 4
    setting = Setting(n, k, d, 50)
    quick, listed = HedgeStump(0.7).crowd(setting), HedgeFinite(stumps(d, k), 0.7).crowd(setting)
    for x, costs, weights, _ in stream(n, k, d, 50, 1):
        shares = listed.probabilities(x) @ np.eye(k)[listed.labels(x)]
        assert quick.probabilities(x) == pytest.approx(shares, abs=1e-12)
        for crowd in (quick, listed):
            crowd.update(x, costs, weights)
    assert quick.probabilities(x).max() > 0.5, "they have learnt something"


def test_hedge_survives_costs_beyond_the_exponential() -> None:
    crowd = HedgeStump(1.0).crowd(Setting(2, 3, 2, 10))
    x = np.array([0.0, 1.0])
    crowd.update(x, np.array([[1e6, 0, 2e6], [-1e6, 1e6, 0]]), np.ones(2))
    assert crowd.probabilities(x) == pytest.approx(np.array([[0, 1, 0], [1, 0, 0]]), abs=1e-12)


def test_a_draw_is_by_inverse_cdf_and_has_its_probabilities() -> None:
    p = np.array([[0.0, 0.25, 0.75, 0.0]] * 4)
    assert hedge.draw(p, np.array([0.0, 0.2499, 0.25, 0.9999999])).tolist() == [1, 1, 2, 2]
    drawn = hedge.draw(
        np.tile([0.2, 0.3, 0.5], (100_000, 1)), np.random.default_rng(2).random(100_000)
    )
    for label, chance in enumerate((0.2, 0.3, 0.5)):
        assert stats.binomtest(int((drawn == label).sum()), len(drawn), chance).pvalue > 1e-9


@pytest.mark.parametrize("adverse", [False, True])
def test_the_regret_of_hedge_holds(adverse: bool) -> None:
    """Its expected cost, at the worst of 40 streams, against ln|H|/rate + rate B^2 T / 8 exactly."""
    k, d, rounds, size = 3, 2, 400, 18
    rate = hedge.hedge_rate(size, 1, rounds)
    generator, used = np.random.default_rng(3), []
    for _ in range(5):
        crowd = HedgeStump().crowd(Setting(8, k, d, rounds))
        expected = np.zeros(8)
        for _ in range(rounds):
            x = generator.integers(2, size=d).astype(float)
            p = crowd.probabilities(x)
            costs = generator.random((8, k))
            if adverse:  # what is likeliest costs
                costs = np.eye(k)[p.argmax(axis=1)]
            expected += (p * costs).sum(axis=1)
            crowd.update(x, costs, np.ones(8))
        best = (crowd.costs[:, :, 0].min(axis=2) + crowd.costs[:, :, 1].min(axis=2)).min(axis=1)
        used.append((expected - best).max())
    sure = math.log(size) / rate + rate * rounds / 8
    assert sure == pytest.approx(math.sqrt(rounds * math.log(size) / 2))
    assert max(used) <= sure
    assert max(used) > 0.05 * sure


def test_the_anytime_rate_spends_half_of_the_drift() -> None:
    edge, least, cost_range, k = 0.2, 0.5, 3.0, 3
    rate = hedge.anytime_rate(edge, least, cost_range, k)
    assert rate * cost_range**2 / 8 == pytest.approx(edge * least / k / 2)
    assert weak.oracle_excess_loss(0.1, 1, 3, 0.1) == pytest.approx(8.63, abs=0.01)


def test_the_excess_loss_of_hedge_stump_holds_at_all_times() -> None:
    """A planted stump that is right in 9 of 10 rounds, uniform costs, bandit noise of the range of estimates."""
    k, d, rounds, delta, edge = 3, 4, 3000, 0.05, 0.1
    generator, learners = np.random.default_rng(4), 40
    rate = hedge.anytime_rate(edge, 1, 3.0, k)
    crowd = HedgeStump(rate).crowd(Setting(learners, k, d, rounds))
    excess, largest = np.zeros(learners), np.zeros(learners)
    for _ in range(rounds):
        x = generator.integers(2, size=d).astype(float)
        y = int(x[1]) if generator.random() < 0.9 else 2
        cost = np.full(k, 1 / (k - 1))
        cost[y] = 0
        labels = crowd.predict(x, generator.random(learners))
        excess += cost[labels] - (1 - edge) / k
        largest = np.maximum(largest, excess)
        crowd.update(x, cost + generator.uniform(-1, 1, size=(learners, k)), np.ones(learners))
    problem = WeakProblem(k, d, rounds, edge, 1, 3.0)
    allowed = hedge_excess_loss(d * k * k, rate, problem, delta)
    assert allowed is not None
    violations = int((largest > allowed).sum())
    assert stats.binomtest(violations, learners, delta, alternative="greater").pvalue > 1e-9
    assert largest.max() > 1, "the bound is met somewhere on its way"


@pytest.mark.parametrize(("kind", "d"), [(HedgeStump(0.6), 3), (HedgeAdvice(0.6), 4)])
def test_the_best_hypothesis_and_the_next_draw_are_those_of_the_class_written_out(
    kind: Any, d: int
) -> None:
    n, k = 3, 3
    said = (
        stumps(d, k)
        if isinstance(kind, HedgeStump)
        else [lambda x, j=j: int(x[j]) for j in range(d)]
    )
    crowd = kind.crowd(Setting(n, k, d, 40))
    totals = np.zeros((n, len(said)))
    generator = np.random.default_rng(8)
    for _ in range(40):
        x = generator.integers(2, size=d).astype(float)
        costs, weights = generator.normal(size=(n, k)), generator.random(n)
        labels = [hypothesis(x) for hypothesis in said]
        shares = np.exp(-0.6 * (totals - totals.min(axis=1, keepdims=True)))
        mean = (shares * costs[:, labels]).sum(axis=1) / shares.sum(axis=1)
        assert kind.least_costs(crowd) == pytest.approx(totals.min(axis=1))
        assert kind.mean_costs(crowd, x, costs) == pytest.approx(mean)
        totals += weights[:, None] * costs[:, labels]
        crowd.update(x, costs, weights)
    problem = WeakProblem(k, d, 40, 0.1, 1, 1.0)
    assert kind.hedges(problem) == (len(said), 0.6)


@pytest.mark.parametrize(
    "kind", [HedgeStump(0.4), CostPerceptron(), OracleNoise(), HedgeAdvice(0.4)]
)
def test_kernels_in_plain_python_make_the_same_crowd(kind: Any) -> None:
    n, k, d = 2, 3, 4
    native, interpreted = (kind.crowd(Setting(n, k, d, 30)) for _ in range(2))
    interpreted.interpreted = True
    for x, costs, weights, _ in stream(n, k, d, 30, 9):
        dice = np.random.default_rng(1).random(n)
        assert (native.predict(x, dice) == interpreted.predict(x, dice)).all()
        for crowd in (native, interpreted):
            crowd.update(x, costs, weights)
        assert native.state.tobytes() == interpreted.state.tobytes()


def test_weights_and_costs_are_told_as_their_product() -> None:
    setting = Setting(2, 3, 2, 10)
    x, costs = np.array([1.0, 0.0]), np.array([[0.2, 0.4, 0.4], [1.0, 0.0, 0.0]])
    for kind in (HedgeStump(), HedgeFinite(stumps(2, 3))):
        one, other = kind.crowd(setting), kind.crowd(setting)
        one.update(x, costs, np.array([0.5, 0.25]))
        other.update(x, costs * [[0.5], [0.25]], np.ones(2))
        assert np.array_equal(one.costs, other.costs)
        assert one.costs.any()


def test_the_cost_perceptron_learns_costs_that_are_linear() -> None:
    generator, k, d = np.random.default_rng(5), 3, 4
    truth, wrong = generator.normal(size=(k, d)), 0
    crowd = CostPerceptron().crowd(Setting(2, k, d, 3000))
    for t in range(3000):
        x = generator.normal(size=d)
        labels = crowd.predict(x, NOTHING)
        wrong += int(t >= 2000) * int(labels[0] != (truth @ x).argmin())
        noise = generator.normal(size=(2, k)) * 0.1
        crowd.update(x, truth @ x + noise, np.array([1.0, 0.0]))
    assert wrong < 100
    assert not crowd.weights[1].any(), "a weight of 0 teaches nothing"
    crowd.update(np.zeros(d), np.ones((2, k)), np.ones(2))
    assert np.isfinite(crowd.weights).all()


def test_oracle_noise_reads_its_columns() -> None:
    crowd = OracleNoise(1).crowd(Setting(3, 4, 5, 10))
    assert crowd.predict(np.array([9.0, 2, 0, 3, 7.5]), NOTHING).tolist() == [2, 0, 3]
    for bad in (4.0, -1.0, 0.5, math.nan):
        with (
            pytest.raises(LearnerError, match="expected labels from 0 to 3"),
            np.errstate(invalid="ignore"),
        ):
            crowd.predict(np.array([9.0, 2, bad, 3, 7.5]), NOTHING)
    with pytest.raises(UserError) as told:
        OracleNoise(3).crowd(Setting(3, 4, 5, 10))
    assert str(told.value) == "5 features: oracle-noise expects its 3 labels in the columns 3 to 5."


class Mine:
    """A weak learner of a user's: the label that was cheapest last."""

    def __init__(self, setting: Setting, number: int) -> None:
        self.label: Any = number % setting.n_labels
        self.told: list[Any] = []

    def predict(self, x: Any) -> Any:
        return self.label

    def update(self, x: Any, cost: Any, weight: float) -> None:
        self.label = int(cost.argmin())
        self.told.append((cost.tolist(), weight))


def test_a_class_of_the_users_is_a_crowd() -> None:
    crowd: Any = Each(Mine).crowd(Setting(3, 3, 2, 10))
    x = np.zeros(2)
    assert crowd.predict(x, NOTHING).tolist() == [0, 1, 2]
    costs = np.array([[1.0, 0, 0.5], [0.5, 0.5, 0.2], [0.0, 1, 1]])
    crowd.update(x, costs, np.array([0.5, 1.0, 0.0]))
    assert crowd.predict(x, NOTHING).tolist() == [1, 2, 2]
    assert crowd.learners[0].told == [([1.0, 0, 0.5], 0.5)]
    assert crowd.learners[2].told == [], "a weight of 0 is skipped"


@pytest.mark.parametrize("label", [3, -1, 1.0, None, "1", True])
def test_a_label_out_of_range_is_named(label: Any) -> None:
    crowd: Any = Each(Mine).crowd(Setting(2, 3, 2, 10))
    crowd.learners[1].label = label
    with pytest.raises(LearnerError) as told:
        crowd.predict(np.zeros(2), NOTHING)
    assert (
        str(told.value)
        == f"weak learner 1 of Mine predicted {label!r} in round 0: expected an integer from 0 to 2."
    )


def test_a_cost_vector_must_be_left_alone() -> None:
    class Greedy(Mine):
        def update(self, x: Any, cost: Any, weight: float) -> None:
            cost[0] = 7.0

    costs = np.array([[0.5, 0.0], [0.25, 0.0]])
    with pytest.raises(LearnerError) as told:
        Each(Greedy).crowd(Setting(2, 2, 1, 9)).update(np.zeros(1), costs, np.ones(2))
    assert str(told.value) == (
        "weak learner 0 of Greedy changed the cost vector it was given from [0.5, 0.0] to [7.0, 0.0]:"
        " expected it to be left alone."
    )
    assert costs[0, 0] == 0.5


def test_a_cost_vector_must_keep_its_shape() -> None:
    class Folder(Mine):
        def update(self, x: Any, cost: Any, weight: float) -> None:
            cost.resize((2, 1), refcheck=False)

    crowd = Each(Folder).crowd(Setting(1, 2, 1, 9))
    with pytest.raises(LearnerError, match=r"from \[0.5, 0.0\] to \[\[0.5\], \[0.0\]\]"):
        crowd.update(np.zeros(1), np.array([[0.5, 0.0]]), np.ones(1))


@pytest.mark.parametrize("where", ["make", "predict", "update"])
def test_whatever_a_class_of_the_users_raises_is_said_in_one_short_line(where: str) -> None:
    def fail(*given: Any) -> Any:
        raise GeneratorExit("x\ny\n" * 2000)

    class Broken(Mine):
        pass

    setattr(Broken, "__init__" if where == "make" else where, fail)

    def play() -> None:
        crowd = Each(Broken).crowd(Setting(2, 2, 1, 9))
        crowd.update(np.zeros(1), np.zeros((2, 2)), np.ones(2))
        crowd.predict(np.zeros(1), NOTHING)

    with pytest.raises(UserError, match=r"of Broken raised|Broken cannot be made") as told:
        play()
    assert "GeneratorExit" in str(told.value)
    assert "\n" not in str(told.value)
    assert len(str(told.value)) <= 400
    assert isinstance(told.value, LearnerError) == (where != "make")


def test_an_interruption_is_none_of_the_weak_learners() -> None:
    class Slow(Mine):
        def predict(self, x: Any) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Each(Slow).crowd(Setting(1, 2, 1, 9)).predict(np.zeros(1), NOTHING)


def test_shapes_are_checked_before_kernels_see_them() -> None:
    crowd = HedgeStump().crowd(Setting(2, 3, 4, 10))
    x, dice, costs, weights = np.zeros(4), np.zeros(2), np.zeros((2, 3)), np.zeros(2)
    crowd.update(x, costs, weights)
    assert crowd.predict(x, dice).shape == (2,)
    for call, sentence in (
        (lambda: crowd.predict(x[:3], dice), "features of shape (3,) for weak learners: expected (4,)."),
        (lambda: crowd.predict(x, NOTHING), "numbers drawn of shape (0,) for weak learners: expected (2,)."),
        (lambda: crowd.update(x, costs[:, :2], weights), "costs of shape (2, 2) for weak learners: expected (2, 3)."),
        (lambda: crowd.update(x, costs, weights[:1]), "weights of shape (1,) for weak learners: expected (2,)."),
    ):  # fmt: skip
        with pytest.raises(UserError) as told:
            call()
        assert str(told.value) == sentence


def test_costs_and_weights_are_checked() -> None:
    costs, weights = np.zeros((2, 3)), np.ones(2)
    weak.check_costs(costs, weights)
    for bad in (math.nan, math.inf):
        with pytest.raises(UserError) as told:
            weak.check_costs(np.array([[0, 0, 0], [0, bad, 0]]), weights)
        assert (
            str(told.value)
            == f"cost {bad} of label 1 for weak learner 1: expected a finite number."
        )
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(UserError) as told:
            weak.check_costs(costs, np.array([1.0, bad]))
        assert str(told.value) == f"weight {bad} for weak learner 1: expected a number in [0, 1]."


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: HedgeStump(0.0), "rate=0.0 of hedge-stump: expected a finite number above 0."),
        (lambda: HedgeStump(math.nan), "rate=nan of hedge-stump: expected a finite number above 0."),
        (lambda: HedgeAdvice(-1.0), "rate=-1.0 of hedge-advice: expected a finite number above 0."),
        (lambda: HedgeFinite([]), "hedge-finite has no hypotheses: expected at least one."),
        (lambda: CostPerceptron(2.0), "rate=2.0 of cost-perceptron: expected a number in (0, 1]."),
        (lambda: OracleNoise(-1), "first=-1 of oracle-noise: expected an integer of at least 0."),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(make: Any, sentence: str) -> None:
    with pytest.raises(UserError) as told:
        make()
    assert str(told.value) == sentence


def test_what_hedge_is_shown_is_checked() -> None:
    with pytest.raises(
        LearnerError, match="hypothesis 0 of hedge-finite gave 5: expected a label from 0 to 2"
    ):
        HedgeFinite([lambda x: 5]).crowd(Setting(1, 3, 2, 9)).predict(np.zeros(2), np.zeros(1))


def test_weak_learners_are_written_as_on_the_command_line() -> None:
    assert str(HedgeStump(0.5)) == "hedge-stump+rate=0.5"
    assert str(OracleNoise(2)) == "oracle-noise+first=2"
    assert str(CostPerceptron()) == "cost-perceptron"
    assert str(HedgeFinite(stumps(2, 2))) == "hedge-finite(8 hypotheses)"


@pytest.mark.skipif(importlib.util.find_spec("river") is None, reason="River is not installed")
def test_a_hoeffding_tree_learns_the_cheapest_label() -> None:
    generator, wrong = np.random.default_rng(6), 0
    made = trees.HoeffdingTree(grace_period=50, ties="lowest")
    crowd = made.crowd(Setting(2, 3, 2, 900))
    for t in range(900):
        x = generator.integers(2, size=2).astype(float)
        label = int(2 * x[1])
        predicted = crowd.predict(x, NOTHING)
        wrong += int(t >= 600) * int(predicted[0] != label)
        crowd.update(x, np.tile(1.0 - np.eye(3)[label], (2, 1)), np.array([1.0, 0.0]))
    assert wrong < 30
    assert crowd.trees[1].predict_one({0: 1.0, 1: 1.0}) is None, "a weight of 0 teaches nothing"
    with pytest.raises(
        UserError, match="grace_period=0 of hoeffding-tree: expected an integer of at least 1"
    ):
        trees.HoeffdingTree(0).crowd(Setting(1, 2, 1, 9))


def test_without_river_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "river", None)
    with pytest.raises(UserError, match="hoeffding-tree needs River: expected it to be installed"):
        trees.HoeffdingTree().crowd(Setting(1, 2, 1, 9))
