"""Whoever reads the horizon of a watched problem leaves a note, by whatever way it is read."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from boundcheck.algorithms import graphs
from boundcheck.algorithms.boosting.problem import WeakProblem
from boundcheck.algorithms.horizon import Reading, changed, handed_on, watched
from boundcheck.algorithms.learner import Problem
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting

PROBLEM = Problem(graphs.parse("bandit", 3), 4, 77)
WEAK = WeakProblem(3, 4, 77, 0.1, 1.0, 2.0)


def matched(told: Any) -> int:
    match told:
        case Problem(horizon=horizon) | WeakProblem(horizon=horizon):
            return int(horizon)
    raise AssertionError


WAYS: dict[str, Callable[[Any], Any]] = {
    "attribute": lambda told: told.horizon,
    "getattr": lambda told: getattr(told, "hor" + "izon"),
    "getattribute": lambda told: object.__getattribute__(told, "horizon"),
    "vars": lambda told: vars(told)["horizon"],
    "dict": lambda told: told.__dict__["horizon"],
    "asdict": lambda told: dataclasses.asdict(told)["horizon"],
    "astuple": lambda told: dataclasses.astuple(told)[2],
    "fields": lambda told: {f.name: getattr(told, f.name) for f in dataclasses.fields(told)}[
        "horizon"
    ],
    "replace": lambda told: dataclasses.replace(told, n_features=9).horizon,
    "members": lambda told: dict(inspect.getmembers(told))["horizon"],
    "match": matched,
    "pickle": lambda told: pickle.loads(pickle.dumps(told)).horizon,
    "copy": lambda told: copy.copy(told).horizon,
    "deepcopy": lambda told: copy.deepcopy(told).horizon,
    "repr": lambda told: int(repr(told).partition("horizon=")[2].partition(",")[0]),
    "another of it": lambda told: handed_on(told, lambda horizon: WeakProblem(1, 1, horizon, 0, 1, 1)).horizon,
    "changed": lambda told: changed(told, n_features=1).horizon,
}  # fmt: skip


@pytest.mark.parametrize("told", [PROBLEM, WEAK], ids=["labels", "weak"])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_reading_the_horizon_gives_it_and_leaves_a_note(way: str, told: Any) -> None:
    reading = Reading()
    given = watched(told, reading)
    assert not reading.happened
    assert WAYS[way](given) == 77
    assert reading.happened


@pytest.mark.parametrize("look", [hash, lambda told: told == PROBLEM])
def test_what_depends_on_the_horizon_leaves_a_note(look: Callable[[Any], Any]) -> None:
    reading = Reading()
    assert look(watched(PROBLEM, reading)) == look(PROBLEM)
    assert reading.happened


def test_nothing_else_leaves_a_note() -> None:
    reading = Reading()
    given = watched(PROBLEM, reading)
    assert (given.n_labels, given.n_features, given.feature_norm) == (3, 4, 1)
    assert given.graph is PROBLEM.graph
    assert isinstance(given, Problem)
    assert copy.copy(given).n_features == copy.deepcopy(given).n_features == 4
    assert changed(given, n_features=5).n_features == 5
    with pytest.raises(AttributeError):
        setattr(given, "hor" + "izon", 5)
    assert not reading.happened


READS = {
    ("gappletron:gamma=theorem-4a", "one-hot", "bandit"): False,
    ("gappletron:gamma=theorem-5a,delta=0.05", "one-hot", "bandit"): False,
    ("banditron:gamma=0.1", "one-hot", "bandit"): False,
    ("banditron:tuning=theory", "one-hot", "bandit"): True,
    ("gaptron:gamma=0.2", "one-hot", "bandit"): False,
    ("gaptron", "one-hot", "bandit"): True,
    ("gaptron", "one-hot", "full"): False,
    ("online-mbbm:weak=oracle-noise", "oracle-labels", "full"): False,
    ("online-mbbm:weak=hedge-stump+rate=0.1", "stump-labels", "full"): False,
    ("online-mbbm", "stump-labels", "full"): True,
    ("bandit-bbm:weak=oracle-noise,rho=0.1", "oracle-labels", "bandit"): False,
    ("bandit-bbm:weak=oracle-noise", "oracle-labels", "bandit"): True,
    ("adaboost-olm:weak=oracle-noise", "oracle-labels", "full"): False,
    ("adaboost-olm:weak=oracle-noise,tuning=theory", "oracle-labels", "full"): True,
    ("ada-bandit:weak=oracle-noise,rho=0.1", "oracle-labels", "bandit"): False,
    ("ada-bandit:weak=oracle-noise,rho=0.1,tuning=theory", "oracle-labels", "bandit"): True,
    ("hedge-stump:rate=0.1", "planted-stump", "bandit"): False,
    ("hedge-stump", "planted-stump", "bandit"): True,
    ("oracle-noise", "even-costs", "full"): False,
}  # fmt: skip


@pytest.mark.parametrize("setting", READS, ids=" ".join)
def test_which_learners_of_the_library_use_the_horizon(setting: tuple[str, str, str]) -> None:
    case = resolve(Setting(*setting, 30), 0)
    assert case.is_tuned_to_horizon == READS[setting]
    assert not case.has_read_horizon or READS[setting]
