"""Bad input of the boosters: each sentence names the value and what is legal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scripted_boosting import Dice, Script, Scripted, play, started

from boundcheck.algorithms import graphs
from boundcheck.algorithms.boosting.adaptive import AdaBandit, AdaboostOLM
from boundcheck.algorithms.boosting.majority import BanditBBM, OnlineMBBM
from boundcheck.algorithms.boosting.weak import Crowd, Setting
from boundcheck.algorithms.learner import Problem
from boundcheck.errors import LearnerError, UserError


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: OnlineMBBM(learners=0), "learners=0: expected an integer N of at least 1."),
        (lambda: OnlineMBBM(gamma=1.0), "gamma=1.0: expected an edge in [0, 1)."),
        (lambda: BanditBBM(gamma=-0.1), "gamma=-0.1: expected an edge in [0, 1)."),
        (lambda: BanditBBM(gamma=math.nan), "gamma=nan: expected an edge in [0, 1)."),
        (lambda: BanditBBM(rho=0.0), "rho=0.0 of bandit-bbm: expected a number in (0, k/(k+1)] for k labels."),
        (lambda: AdaBandit(rho=math.nan), "rho=nan of ada-bandit: expected a number in (0, k/(k+1)] for k labels."),
        (lambda: AdaBandit(rho=1.0), "rho=1.0 of ada-bandit: expected a number in (0, k/(k+1)] for k labels."),
        (lambda: AdaboostOLM(hedge=0.0), "hedge=0.0 of adaboost-olm: expected a finite number above 0."),
        (lambda: AdaBandit(gamma=2.0), "gamma=2.0 of ada-bandit: expected a finite number above 0 and at most 1."),
        (lambda: OnlineMBBM(ties="first"), "unknown tie rule 'first': expected one of lowest, random."),
        (lambda: OnlineMBBM(scale="exat"), "unknown scale 'exat': expected one of exact, trivial."
         " Did you mean 'exact'?"),
        (lambda: BanditBBM(tuning="one"), "unknown tuning of bandit-bbm 'one': expected one of default, ones, theory."
         " Did you mean 'ones'?"),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(make: Any, sentence: str) -> None:
    with pytest.raises(UserError) as told:
        make()
    assert str(told.value) == sentence


def test_problems_that_cannot_be_played_are_named() -> None:
    for kind in (BanditBBM, AdaBandit):
        with pytest.raises(UserError, match=r"rho=0.8: expected a number in \(0, 0.75\]"):
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
