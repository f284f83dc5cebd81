"""Bad input of the boosters: each sentence names the value and what is legal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scripted_boosting import Dice, Script, Scripted, play, started

from boundcheck.algorithms import graphs
from boundcheck.algorithms.boosting.adaptive import AdaBandit, AdaboostOLM
from boundcheck.algorithms.boosting.booster import Booster
from boundcheck.algorithms.boosting.majority import BanditBBM, OnlineMBBM
from boundcheck.algorithms.boosting.weak import Crowd, Setting
from boundcheck.algorithms.learner import Problem
from boundcheck.errors import LearnerError, UserError


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: OnlineMBBM(learners=0), "learners=0 of online-mbbm: expected an integer of at least 1."),
        (lambda: OnlineMBBM(gamma=1.0), "gamma=1.0 of online-mbbm: expected a number in [0, 1)."),
        (lambda: BanditBBM(gamma=-0.1), "gamma=-0.1 of bandit-bbm: expected a number in [0, 1)."),
        (lambda: BanditBBM(gamma=math.nan), "gamma=nan of bandit-bbm: expected a number in [0, 1)."),
        (lambda: AdaboostOLM(hedge=0.0), "hedge=0.0 of adaboost-olm: expected a finite number above 0."),
        (lambda: AdaBandit(step=-1.0), "step=-1.0 of ada-bandit: expected a finite number above 0."),
        (lambda: AdaBandit(gamma=2.0), "gamma=2.0 of ada-bandit: expected a number in (0, 1]."),
        (lambda: OnlineMBBM(ties="first"), "unknown ties of online-mbbm 'first': expected one of lowest, random."),
        (lambda: OnlineMBBM(scale="exat"), "unknown scale of online-mbbm 'exat' (did you mean 'exact'?): expected one"
         " of exact, trivial."),
        (lambda: BanditBBM(tuning="one"), "unknown tuning of bandit-bbm 'one' (did you mean 'ones'?): expected one of"
         " default, ones, theory."),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(make: Any, sentence: str) -> None:
    with pytest.raises(UserError) as told:
        make()
    assert str(told.value) == sentence


@pytest.mark.parametrize("rho", [0.0, math.nan, 1e-320, 9.9e-10, 1.0])
def test_an_exploration_rate_out_of_range_is_named(rho: float) -> None:
    for kind, name in ((BanditBBM, "bandit-bbm"), (AdaBandit, "ada-bandit")):
        with pytest.raises(UserError) as told:
            kind(rho=rho)
        assert (
            str(told.value)
            == f"rho={rho} of {name}: expected a number in [1e-09, k/(k+1)] for k labels."
        )


def test_problems_that_cannot_be_played_are_named() -> None:
    for kind in (BanditBBM, AdaBandit):
        with pytest.raises(UserError, match=r"rho=0.8: expected a number in \[1e-09, 0.75\]"):
            started(kind(Script(), 2, rho=0.8), 3, Dice())
    with pytest.raises(
        UserError, match=r"cannot play graph 'bandit' with 3 labels: expected full information"
    ):
        OnlineMBBM().begin(Problem(graphs.bandit(3), 1, 9), Dice())
    with pytest.raises(
        UserError, match=r"cannot play graph 'filter\S*' with 3 labels: expected bandit"
    ):
        AdaBandit().begin(Problem(graphs.filtering(3), 1, 9), Dice())


def test_what_weak_learners_predict_and_are_told_is_checked() -> None:
    class Wrong(Script):
        def crowd(self, setting: Setting) -> Crowd:
            return Greedy(setting)

    class Greedy(Scripted):
        def update(self, x: np.ndarray, costs: np.ndarray, weights: np.ndarray) -> None:
            costs[0, 0] = 7.0

    boosting = started(OnlineMBBM(Script(), 2), 3, Dice())
    with pytest.raises(LearnerError) as told:
        boosting.predict(np.array([0.0, 3.0]))
    assert str(told.value) == "the weak learners predicted [0, 3]: expected 2 labels from 0 to 2."
    with pytest.raises(LearnerError, match=r"predicted \[0\]: expected 2 labels"):
        boosting.predict(np.array([0.0]))
    with pytest.raises(LearnerError, match="the label was not revealed: expected full information"):
        boosting.update(np.zeros(2), 0, None)
    greedy = started(OnlineMBBM(Wrong(), 2), 3, Dice())
    with pytest.raises(LearnerError, match="changed the costs or weights that they were told"):
        play(greedy, [0, 1], 0)


@pytest.mark.parametrize(
    ("booster", "features", "sentence"),
    [
        (AdaboostOLM(learners=10**9), 1, "costs of learners=1000000000, 1000000000 x 3 numbers"),
        (AdaboostOLM(learners=10**6), 10, "state of hedge-stump, 1000000 x 170 numbers"),
        (
            AdaboostOLM("cost-perceptron", learners=10**6),
            40,
            "weights of cost-perceptron, 1000000 x 121 numbers",
        ),
        (AdaboostOLM("hedge-advice", 10**6), 101, "costs of hedge-advice, 1000000 x 101 numbers"),
        (
            OnlineMBBM(learners=1000),
            1,
            "potentials of learners=1000, 1000 x 1000 x 334 x 2 numbers",
        ),
    ],
)
def test_what_does_not_fit_into_memory_is_refused(
    booster: Booster, features: int, sentence: str
) -> None:
    problem = Problem(graphs.full_information(3), features, 9)
    with pytest.raises(UserError) as told:
        booster.begin(problem, Dice())
    assert str(told.value) == f"{sentence}: expected at most 1e+08."
