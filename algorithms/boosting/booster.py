"""What the boosters share: weak learners, tie rules, and a round of play.

A booster in play has the methods of a plain learner: ``predict(x)`` gives the probabilities of the labels,
conditional on what the booster drew for itself, and ``update(x, action, label)`` learns from a round, the label being
None where it was not revealed. Numbers are drawn once a round, by ``predict``, and what they decided is kept for
``update``.

All N weak learners predict before the label is drawn, from one array operation or a few.

=========  =====================================================================
symbol     name here
=========  =====================================================================
N          ``learners``
WL^i       ``weak``, all of them one :class:`Crowd`
l^i_t      ``labels``, shape (N,)
s^{i-1}_t  ``before``, shape (N, k)
=========  =====================================================================
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, ClassVar, Protocol

import numpy as np

from ...errors import LearnerError, UserError, require, unknown
from ..baseline import Baseline, observes_itself
from ..discovery import classes
from ..graphs import FeedbackGraph
from ..learner import UNSEEN, Declaration, Player, Problem
from ..spec import check_keys, command_name, read_float, read_int, split_spec
from ..uniform import Uniform
from .hedge import HedgeStump, draw
from .weak import (
    FloatArray,
    IntArray,
    Setting,
    WeakLearner,
    check_costs,
)

TIES = ("lowest", "random")
USUAL = HedgeStump()


@cache
def kinds() -> dict[str, type[Any]]:
    """Weak learners of this folder that can be spelt, by name."""
    return classes(importlib.import_module(__package__), "crowd")


def parse(text: str) -> WeakLearner:
    """Make a weak learner from its name with parameters, ``hedge-stump+rate=0.1``.

    Raises
    ------
    UserError
        for an unknown name or parameter, or an illegal value
    """
    name, given = split_spec(text.replace("+", ":", 1).replace("+", ","))
    if name not in kinds():
        raise unknown("weak learner", name, kinds())
    made = kinds()[name]
    known = {field.name: field for field in fields(made)}
    check_keys(name, given, known)
    read = {key: read_int if isinstance(known[key].default, int) else read_float for key in given}
    found: WeakLearner = made(**{key: read[key](given, key) for key in given})
    return found


class Generator(Protocol):
    """Where numbers in [0, 1) are drawn from."""

    def random(self, size: int, /) -> FloatArray:
        """Draw ``size`` of them."""


@dataclass(frozen=True)
class Booster(Baseline):
    """Parameters that every booster has.

    Parameters
    ----------
    weak : the weak learner that is boosted, or its name with parameters, ``hedge-stump+rate=0.1``
    learners : how many of them, N
    ties : "lowest" index among the labels with most votes, or one of them at "random"

    Raises
    ------
    UserError
        for N below 1 or an unknown tie rule
    """

    weak: WeakLearner = USUAL
    learners: int = 20
    ties: str = "lowest"
    source: ClassVar[str] = "Online Multiclass Boosting with Bandit Feedback"
    tunings: ClassVar[Mapping[str, str]]

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.weak, str):
            object.__setattr__(self, "weak", parse(self.weak))
        if not (isinstance(self.learners, int) and self.learners >= 1):
            raise UserError(f"learners={self.learners}: expected an integer N of at least 1.")
        if self.ties not in TIES:
            raise unknown("tie rule", self.ties, TIES)

    @property
    def promises(self) -> tuple[str, ...]:
        return ("game/*",)

    def check(self, problem: Problem) -> None:
        """Raise :class:`UserError` for a problem that the booster cannot play."""
        require(
            problem.n_labels >= 2, f"{problem.n_labels} labels to boost on: expected at least 2."
        )
        self.check_graph(problem.graph)

    def begin(self, problem: Problem, generator: Generator) -> Boosting:
        """Start to play ``problem``; what the booster draws for itself comes from ``generator``.

        Raises
        ------
        UserError
            if the booster or its weak learners cannot play it
        """
        raise NotImplementedError


@dataclass(frozen=True)
class BanditBooster(Booster):
    """A booster that explores.

    Parameters
    ----------
    rho : exploration rate in (0, k/(k+1)]; set by the tuning where None
    """

    rho: float | None = None
    graphs: ClassVar[str] = "bandit, or any graph where playing a label tells whether it is right"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.rho is None or 0 < self.rho < 1,
            f"rho={self.rho} of {command_name(type(self))}: expected a number in (0, k/(k+1)] for k labels.",
        )

    def accepts(self, graph: FeedbackGraph) -> bool:
        return observes_itself(graph)


class Boosting:
    """A booster in play."""

    def __init__(self, booster: Booster, problem: Problem, generator: Generator) -> None:
        booster.check(problem)
        self.n_labels, self.n_learners = problem.n_labels, booster.learners
        setting = Setting(booster.learners, problem.n_labels, problem.n_features, problem.horizon)
        self.crowd = booster.weak.crowd(setting)
        self.random_ties = booster.ties == "random"
        self.generator = generator
        self.round = 0
        self.best = 0
        self.told: tuple[FloatArray, FloatArray] | None = None
        """Costs (N, k) and weights (N,) that the weak learners were told last."""

    def predict(self, x: FloatArray) -> FloatArray:
        """Probabilities of the labels, shape (k,)."""
        raise NotImplementedError

    def update(self, x: FloatArray, action: int, label: int | None) -> None:
        """Learn from a round in which ``action`` was played."""
        raise NotImplementedError

    def ask(self, x: FloatArray) -> IntArray:
        """What the weak learners predict, shape (N,)."""
        dice = self.generator.random(self.n_learners if self.crowd.draws else 0)
        labels = self.crowd.predict(x, dice)
        legal = (labels >= 0) & (labels < self.n_labels)
        if labels.shape != (self.n_learners,) or not legal.all():
            raise LearnerError(
                f"the weak learners predicted {labels.tolist()}: expected {self.n_learners} labels from 0 to"
                f" {self.n_labels - 1}."
            )
        return labels

    def highest(self, scores: FloatArray | IntArray) -> IntArray:
        """The label with most votes in each row of shape (rows, k), ties being drawn here and now."""
        if not self.random_ties:
            lowest: IntArray = scores.argmax(axis=1)
            return lowest
        level = scores == scores.max(axis=1, keepdims=True)
        return draw(level.astype(np.float64), self.generator.random(len(scores)))

    def tell(self, x: FloatArray, costs: FloatArray, weights: FloatArray) -> None:
        """Let the weak learners learn; they must leave what they are told as it is."""
        check_costs(costs, weights)
        for array in (costs, weights):
            array.setflags(write=False)
        self.told = (costs, weights)
        try:
            self.crowd.update(x, costs, weights)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise LearnerError(
                "the weak learners changed the costs or weights that they were told: expected them to be left alone."
            ) from error


def ready(booster: Booster, problem: Problem) -> Player:
    """The booster as the game plays it, in plain Python; it draws from the learner's own stream."""
    booster.begin(
        problem, np.random.default_rng(0)
    )  # so that what cannot be played is said at once

    def live(
        features: Callable[[int], FloatArray], weights: FloatArray, dice: np.random.Generator
    ) -> tuple[Callable[..., None], Callable[..., bool]]:
        boosting, position = booster.begin(problem, dice), 0

        def predict(
            scores: Any, best: int, runner: int, gap: float, parameters: Any, state: Any, p: Any
        ) -> None:
            p[:] = boosting.predict(features(position))

        def update(
            scores: Any, best: int, runner: int, p: Any, action: int, label: int, *rest: Any
        ) -> bool:
            nonlocal position
            boosting.update(features(position), action, None if label == UNSEEN else label)
            position += 1
            return False

        return predict, update

    declared = Declaration(numbers=booster.numbers(problem), weights=False)
    idle = Uniform().player(problem)
    return replace(idle, declaration=declared, live=live)


def certain(label: int, n_labels: int) -> FloatArray:
    """Probabilities that put all on ``label``."""
    p = np.zeros(n_labels)
    p[label] = 1.0
    return p


def revealed(label: int | None) -> int:
    """The label, which full information always reveals."""
    if label is None:
        raise LearnerError("the label was not revealed: expected full information.")
    return label


def normalised(costs: FloatArray, label: int) -> tuple[FloatArray, FloatArray]:
    """Write costs of shape (N, k) as a constant, and a weight times a vector that is 0 at ``label`` and sums to 1.

    They must be least at the label; what they miss of that by rounding is dropped.

    Returns
    -------
    the cost vectors, zero where the weight is, and the weights, shape (N,)
    """
    excess = np.maximum(costs - costs[:, label, None], 0)
    weights = excess.sum(axis=1)
    return excess / np.where(weights > 0, weights, 1)[:, None], weights


def one_hot(labels: IntArray, values: Any, n_labels: int) -> Any:
    """Rows of zeros with ``values`` at the labels, shape (N, k)."""
    rows = np.zeros((len(labels), n_labels), dtype=np.asarray(values).dtype)
    rows[np.arange(len(labels)), labels] = values
    return rows
