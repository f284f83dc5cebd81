"""What a user's class raises where it is only asked for something: one sentence, whatever it is."""

from __future__ import annotations

from typing import Any

import pytest

from boundcheck.algorithms import graphs
from boundcheck.algorithms.learner import Problem
from boundcheck.errors import UserError
from boundcheck.verify.games.labels.user_learner import UserLearner
from boundcheck.verify.games.weak.user_learner import SAMPLE, UserWeakLearner
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import request as plan
from boundcheck.verify.suite.pytest_checks import as_learner

FAILURES = [RuntimeError("not\nnow"), GeneratorExit("not\nnow")]


class Failing:
    """Raises when it is read, of the class or of an instance."""

    def __init__(self, failure: BaseException) -> None:
        self.failure = failure

    def __get__(self, instance: object, owner: type) -> Any:
        raise self.failure


class Learner:
    def __init__(self, problem: Problem) -> None:
        self.n_actions = problem.graph.n_actions

    def predict(self, x: Any) -> Any:
        return [1 / self.n_actions] * self.n_actions

    def update(self, x: Any, action: int, label: int | None) -> None:
        pass


class WeakLearner:
    edge, delta, excess_loss = 0.1, 0.05, 10.0

    def __init__(self, problem: Any) -> None:
        pass

    def predict(self, x: Any) -> int:
        return 0

    def update(self, x: Any, cost: Any, weight: float) -> None:
        pass


def failing(base: type, name: str, failure: BaseException) -> Any:
    return type("Mine", (base,), {name: Failing(failure)})


def ask(base: type, name: str, failure: BaseException) -> None:
    """Ask for all that is asked for before play."""
    made = failing(base, name, failure)
    if base is Learner:
        learner = UserLearner(made, "mine.py:Mine")
        learner.player(Problem(graphs.bandit(3), 2, 10))
    else:
        weak = UserWeakLearner(made, "mine.py:Mine")
        _ = weak.promises
        weak.declared(SAMPLE)


ASKED = [
    *((Learner, name) for name in ("promises", "predict", "update", "weights", "loss", "gamma")),
    *((Learner, name) for name in ("rule", "regret_factor", "delta", "optimiser")),
    *((WeakLearner, name) for name in ("promises", "predict", "update")),
    *((WeakLearner, name) for name in ("edge", "delta", "excess_loss", "anytime")),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize(("base", "name"), ASKED)
def test_what_a_property_raises_is_one_sentence(
    base: type, name: str, failure: BaseException
) -> None:
    with pytest.raises(UserError, match=r"mine\.py:Mine") as caught:
        ask(base, name, failure)
    sentence = str(caught.value)
    assert type(failure).__name__ in sentence
    assert "not now" in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(("base", "name"), ASKED)
def test_the_keyboard_interrupts(base: type, name: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        ask(base, name, KeyboardInterrupt())


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_weights_that_fail_in_the_middle_of_a_run(failure: BaseException) -> None:
    class Fading(Learner):
        rounds = 0

        def update(self, x: Any, action: int, label: int | None) -> None:
            self.rounds += 1

        @property
        def weights(self) -> Any:
            if self.rounds == 3:
                raise failure
            return [[0.0] * 3] * 3

    setting = Setting(UserLearner(Fading, "mine.py:Fading"), "one-hot:n_labels=3", "full", 10)
    name = type(failure).__name__
    with pytest.raises(
        UserError, match=f"mine.py:Fading raised {name} in weights after round 2: not now"
    ):
        list(resolve(setting, 0).game.play(0))


def test_a_class_says_which_graphs_it_plays() -> None:
    class Own(Learner):
        accepts = staticmethod(lambda graph: graph.n_actions == graph.n_labels)

    jobs = plan.jobs_for(plan.Request(learner=as_learner(Own), scale="quick"))
    assert {job.setting.graph for job in jobs} == {"bandit", "filtering", "full"}
    Own.accepts = staticmethod(lambda graph: 1 / 0)
    with pytest.raises(UserError, match="learner Own raised ZeroDivisionError in accepts"):
        plan.jobs_for(plan.Request(learner=as_learner(Own), scale="quick"))
    every = plan.jobs_for(plan.Request(learner=as_learner(Learner), scale="quick"))
    assert {job.setting.graph for job in every} == {
        "bandit",
        "filtering",
        "full",
        "label-efficient",
    }
