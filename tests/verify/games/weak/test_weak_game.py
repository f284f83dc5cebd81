"""The weak-learning game: what is paid, what is shown, and that runs do not depend on one another."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.adversaries.weak_learning import noise as noises
from boundcheck.adversaries.weak_learning.planted import FollowingCosts, PlantedStump
from boundcheck.adversaries.weak_learning.stream import WeakStream, even_costs
from boundcheck.algorithms.boosting import estimates
from boundcheck.algorithms.boosting.weak import Setting as CrowdSetting
from boundcheck.errors import LearnerError, UserError
from boundcheck.verify.claims.boosting.excess_loss import estimate_errors
from boundcheck.verify.games.weak.case import Case
from boundcheck.verify.games.weak.game import WEAK
from boundcheck.verify.games.weak.play import play_rounds, play_runs
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting


class Script:
    """A weak learner that predicts what it is told to and writes down what it learns."""

    spec = "script"

    def __init__(self, labels: list[list[int]]) -> None:
        self.labels, self.log = labels, []

    def crowd(self, setting: CrowdSetting) -> Script:
        self.log.clear()
        return self

    draws = False

    def predict(self, x: Any, dice: Any) -> np.ndarray:
        self.log.append("predict")
        return np.array(self.labels[self.log.count("predict") - 1])

    def update(self, x: Any, costs: np.ndarray, weights: np.ndarray) -> None:
        self.log.append((costs.tolist(), weights.tolist()))


class Fixed:
    """An adversary with one stream."""

    spec = "fixed"

    def __init__(self, stream: WeakStream) -> None:
        self.fixed = stream

    def stream(self, horizon: int, seed: int) -> WeakStream:
        return self.fixed


def stream(**changes: Any) -> WeakStream:
    labels = np.array([0, 2, 1])
    given: dict[str, Any] = {
        "features": np.ones((3, 1)),
        "labels": labels,
        "weights": np.array([1.0, 0.5, 0.25]),
        "costs": np.array([[0, 0.25, 0.75], [0.5, 0.5, 0], [1.0, 0, 0]]),
        "noise": noises.TwoPoint(0.5),
    }
    return WeakStream(**(given | changes))


def case(learner: Any, fixed: WeakStream, graph: str) -> Case:
    adversary = Fixed(fixed)
    setting = Setting(learner, adversary, graph, fixed.horizon)
    return WEAK.resolve(setting, learner, adversary, 0)


def test_what_is_paid_is_the_weighted_true_cost_and_what_is_shown_comes_after() -> None:
    script = Script([[1, 2], [0, 2], [0, 0]])
    for graph in ("full", "bandit"):
        made = case(script, stream(), graph)
        runs = play_runs(made, range(2))
        assert runs.costs.tolist() == [[0.25, 0.5, 0.75], [0.75, 0.75, 1.0]]
        assert runs.weights.tolist() == [[1, 1.5, 1.75]] * 2
        excess = runs.excess(0.4)
        np.testing.assert_allclose(excess[0], [0.25 - 0.2, 0.5 - 0.3, 0.75 - 0.35], atol=1e-15)
        np.testing.assert_allclose(runs.largest(0.4), [0.4, 0.65], atol=1e-15)
        assert [entry == "predict" for entry in script.log] == [True, False] * 3
        for t, (told, weights) in enumerate(script.log[1::2]):
            errors = np.abs(np.array(told) - made.stream.costs[t])
            assert weights == [made.stream.weights[t]] * 2
            np.testing.assert_allclose(errors, 0.5 if graph == "bandit" else 0)


@pytest.mark.parametrize(
    ("learner", "adversary"),
    [
        ("hedge-stump", "planted-stump"),
        ("hedge-stump", "following-costs"),
        ("oracle-noise", "even-costs"),
        ("hedge-advice", "planted-advice"),
    ],
)
def test_a_run_does_not_depend_on_the_others(learner: str, adversary: str) -> None:
    setting = Setting(learner, adversary, "bandit", 60)
    together = play_runs(resolve(setting, 3), range(7))
    apart = play_runs(resolve(setting, 3), range(4, 6))
    assert (together.costs[4:6] == apart.costs).all()
    assert len(np.unique(together.costs, axis=0)) == 7, "runs differ"
    other = play_runs(resolve(setting, 4), range(7))
    assert (together.costs != other.costs).any(), "the seed matters"


def test_every_run_draws_estimates_of_its_own() -> None:
    long = PlantedStump(noise="two-point").stream(40, 0)
    made = case(Script([[1] * 8] * 40), long, "bandit")
    shown = np.array([found.shown for found in play_rounds(made, range(8))])
    assert len(np.unique(shown.transpose(1, 0, 2).reshape(8, -1), axis=0)) == 8


def test_costs_that_follow_fall_on_the_wrong_label_predicted_most_often() -> None:
    planted = FollowingCosts(n_labels=4).stream(40, 0)
    script = Script([[t % 4, 3] for t in range(40)])
    counts = np.zeros((2, 4), dtype=int)
    followed = 0
    for found in play_rounds(case(script, planted, "full"), range(2)):
        y = int(planted.labels[found.index])
        for run in range(2):
            costs = found.costs[run]
            assert costs[y] == 0
            assert costs.sum() == pytest.approx(1)
            if planted.follows[found.index]:
                followed += 1
                wrong = [label for label in range(4) if label != y]
                assert counts[run, costs.argmax()] == max(counts[run, wrong])
                assert costs.max() == 1
            counts[run, found.predicted[run]] += 1
    assert followed == 2 * 36


COSTS = np.array([0.2, 0.0, 0.5, 0.3])


def draws_of(noise: noises.Noise) -> list[tuple[float, np.ndarray]]:
    """Every draw of four labels that makes a difference, with its probability."""
    if isinstance(noise, noises.Estimate):
        explored = noise.rho / 3
        return [
            (1 - noise.rho, np.array([0.0, 0, 0, 0])),
            *((explored, np.array([1 - noise.rho / 2, (j + 0.5) / 3, 0, 0])) for j in range(3)),
        ]
    if isinstance(noise, noises.Push):
        return [(0.1, np.full(4, 0.05 + i / 10)) for i in range(10)]
    return [(1 / 16, np.array(u)) for u in itertools.product((0.25, 0.75), repeat=4)]


@pytest.mark.parametrize(
    "noise",
    [
        noises.Exact(),
        noises.Estimate(0.3),
        noises.TwoPoint(0.4),
        noises.Push(0.9),
        noises.Pair(2.0),
    ],
)
@pytest.mark.parametrize("predicted", range(4))
def test_estimates_have_the_cost_as_their_mean_and_keep_their_bounds(
    noise: noises.Noise, predicted: int
) -> None:
    label, mean, errors, spreads = 1, np.zeros(4), [], []
    for chance, uniforms in draws_of(noise):
        shown = noise.shown(COSTS[None], label, np.array([predicted]), uniforms[None])[0]
        mean += chance * shown
        errors.append(np.abs(shown - COSTS).max())
        spreads.append(np.ptp(shown))
    np.testing.assert_allclose(mean, COSTS, atol=1e-12)
    assert max(errors) <= noise.bound(COSTS, label) + 1e-12
    assert max(spreads) <= noise.spread(COSTS, label) + 1e-12
    if not isinstance(noise, noises.Estimate):
        assert max(errors) == pytest.approx(noise.bound(COSTS, label)), "and the bound is met"


def test_the_estimate_is_that_of_the_boosters() -> None:
    """Row r of the cost matrix has the entries of r and of the true label exchanged."""
    rho, label, k = 0.3, 1, 4
    rows = np.tile(COSTS, (k, 1))
    for r in range(k):
        rows[r, [label, r]] = COSTS[[r, label]]
    reached = []
    for best in range(k):
        for _, uniforms in draws_of(noises.Estimate(rho)):
            away = 1 + int(uniforms[1] * 3) if uniforms[0] >= 1 - rho else 0
            played = (best + away) % k
            p = estimates.exploration(best, rho, k)
            losses = estimates.loss_estimate(best, played, played == label, p)
            shown = noises.Estimate(rho).shown(
                COSTS[None], label, np.array([best]), uniforms[None]
            )[0]
            np.testing.assert_allclose(shown, estimates.estimate(losses, rows), atol=1e-12)
            reached.append(np.abs(shown - COSTS).max())
    assert noises.Estimate(rho).bound(COSTS, label) == pytest.approx(max(reached))


def test_the_errors_of_the_exact_claims_are_those_of_the_game() -> None:
    k, rho = 4, Fraction(1, 4)
    noise = noises.Estimate(0.25)
    for label, predicted, best in itertools.product(range(3), repeat=3):
        costs = even_costs(np.array([label]), k)
        law = {
            (round(float(p), 12), round(float(d), 9))
            for p, d in estimate_errors(k, rho, label, predicted, best)
        }
        played = set()
        for chance, uniforms in draws_of(noise):
            error = noise.shown(costs, label, np.array([predicted]), uniforms[None])[0] - costs[0]
            played.add((round(chance, 12), round(error[best] - error[predicted], 9)))
        assert law == played


@pytest.mark.parametrize("adversary", [PlantedStump(), PlantedStump(n_labels=5, edge=0.2)])
def test_a_planted_hypothesis_is_good_enough_after_every_round(adversary: PlantedStump) -> None:
    """The first violation in fractions, against sums in floats."""
    for right in (3, 9):
        made = PlantedStump(adversary.n_labels, edge=adversary.edge, right=right).stream(200, 1)
        assert made.planted is not None
        paid = made.costs[np.arange(200), made.planted].cumsum()
        room = (1 - 2 * adversary.edge) / made.n_labels * np.arange(1, 201)
        above = np.flatnonzero(paid > room + 1e-9)
        assert made.first_violation() == (int(above[0]) if above.size else None)
        assert (right == 9) == (above.size == 0)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"costs": np.full((3, 3), np.nan)}, "costs [nan, nan, nan] of round 0: expected finite"),
        (
            {"weights": np.array([1, 0.5, 1.5])},
            "weight 1.5 of round 2: expected a number in [0, 1]",
        ),
        ({"weights": np.array([np.nan, 1, 1])}, "weight nan of round 0"),
        ({"labels": np.array([0, 3, 1])}, "label 3 of round 1: expected one of 0 to 2."),
        ({"costs": np.ones((3, 3))}, "expected 0 at the label, at least 0 elsewhere, sum 1."),
        ({"costs": np.zeros((3, 1))}, "1 labels: expected at least 2."),
        ({"features": np.ones((2, 1))}, "expected 3 rounds of each."),
        ({"features": np.full((3, 1), np.nan)}, "features [nan] of round 0: expected finite"),
        (
            {"planted": np.array([0, 2, 0]), "follows": np.array([True, False, True])},
            "planted label 0 of round 2: expected the true one where costs follow.",
        ),
    ],
)
def test_a_stream_that_is_none_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError) as error:
        stream(**changes)
    assert told in str(error.value)


def test_a_crowd_that_writes_into_what_it_is_told_is_refused() -> None:
    class Writer(Script):
        def update(self, x: Any, costs: np.ndarray, weights: np.ndarray) -> None:
            costs[0, 0] = 7.0

    with pytest.raises(LearnerError, match=r"changed the costs or weights .* in round 0"):
        play_runs(case(Writer([[0]] * 3), stream(), "full"), range(1))
    with pytest.raises(LearnerError, match=r"predicted \[3\] in round 0: expected 1 labels"):
        play_runs(case(Script([[3]] * 3), stream(), "full"), range(1))


def test_streams_that_do_not_fit_into_memory_are_refused() -> None:
    with pytest.raises(UserError, match=r"100000000 features, 300 x 100000000 numbers: expected"):
        PlantedStump(n_features=10**8).stream(300, 0)
    with pytest.raises(UserError, match=r"n_labels=1001: expected at most 1000 labels"):
        PlantedStump(n_labels=1001).stream(300, 0)
    with pytest.raises(UserError, match=r"201 labels: expected at most 200 with the noise"):
        PlantedStump(n_labels=201).stream(2, 0).cost_range("bandit")
