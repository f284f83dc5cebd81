"""The base of the boosters: parameters, the weak learners that are named in them, and the form that the game plays."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from typing import Annotated, Any, ClassVar

import numpy as np

from ...errors import check_size, require, unknown
from ..baseline import Baseline, observes_itself
from ..discovery import classes
from ..graphs import FeedbackGraph
from ..horizon import handed_on
from ..learner import Declaration, Player, Problem
from ..spec import SMALLEST_RATE, check_keys, command_name, read_float, read_int, split_nested
from ..uniform import Uniform
from .boosting import Boosting, Generator
from .estimates import loss_bound
from .hedge import HedgeStump
from .weak import Setting, WeakLearner

TIES = ("lowest", "random")
USUAL = HedgeStump()


@cache
def weak_learners() -> dict[str, type[Any]]:
    """Weak learners of this folder by name: those that need no more than numbers."""
    found = classes(importlib.import_module(__package__), "crowd")
    return {
        name: made
        for name, made in found.items()
        if all(field.default is not MISSING for field in fields(made))
    }


def parse(text: str) -> WeakLearner:
    """Make a weak learner from its name with parameters, ``hedge-stump+rate=0.1``.

    Raises
    ------
    UserError
        for an unknown name or parameter, or an illegal value
    """
    name, given = split_nested(text)
    if name not in weak_learners():
        raise unknown("weak learner", name, weak_learners())
    made = weak_learners()[name]
    known = {field.name: field for field in fields(made)}
    check_keys(name, given, known)
    found: WeakLearner = made(**{key: _read(given, key, known[key].default) for key in given})
    return found


def _read(given: Mapping[str, str], key: str, default: object) -> float | str:
    """A parameter of the kind that its default is of."""
    if isinstance(default, str):
        return given[key]
    return read_int(given, key) if isinstance(default, int) else read_float(given, key)


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
    learners: Annotated[int, "[1, inf)"] = 20
    ties: Annotated[str, TIES] = "lowest"
    source: ClassVar[str] = "Online Multiclass Boosting with Bandit Feedback"
    tunings: ClassVar[Mapping[str, str]]

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.weak, str):
            object.__setattr__(self, "weak", parse(self.weak))

    @property
    def promises(self) -> tuple[str, ...]:
        return ("boosting/*", "game/*")

    @property
    def streams(self) -> tuple[str, ...]:
        """Adversaries whose features its weak learners can read; none where they read any."""
        named = getattr(self.weak, "label_streams", None)
        return () if named is None else tuple(named(self.learners))

    def check(self, problem: Problem) -> None:
        """Raise :class:`UserError` for a problem that the booster cannot play, or one too large for it."""
        require(
            problem.n_labels >= 2, f"{problem.n_labels} labels to boost on: expected at least 2."
        )
        self.check_graph(problem.graph)
        check_size(f"costs of learners={self.learners}", self.learners, problem.n_labels)

    def crowd_setting(self, problem: Problem, seeds: tuple[int, ...] = ()) -> Setting:
        """The setting that the weak learners are made for.

        A cost vector is told in units of its largest range. An estimate is a sum of k of them, each times 1 less the
        estimate of a loss, and its weight is 1.
        """
        size = self.learners, problem.n_labels, problem.n_features
        rho, costs = self.numbers(problem).get("rho"), (1.0, 0.0)
        if rho is not None:
            costs = problem.n_labels * loss_bound(problem.n_labels, rho), 1.0
        return handed_on(problem, lambda horizon: Setting(*size, horizon, *costs, seeds))

    def begin(
        self, problem: Problem, generator: Generator, *, interpreted: bool = False
    ) -> Boosting:
        """Start to play ``problem``; what the booster draws for itself comes from ``generator``.

        ``interpreted`` runs the plain Python form of its kernels, bit for bit the same.

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
    rho : exploration rate in [1e-9, k/(k+1)]; set by the tuning where None
    """

    rho: float | None = None
    graphs: ClassVar[str] = "bandit, or any graph where playing a label tells whether it is right"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.rho is None or SMALLEST_RATE <= self.rho < 1,
            f"rho={self.rho} of {command_name(type(self))}: expected a number in [{SMALLEST_RATE:g}, k/(k+1)] for k"
            " labels.",
        )

    def accepts(self, graph: FeedbackGraph) -> bool:
        return observes_itself(graph)


def ready(booster: Booster, problem: Problem) -> Player:
    """The booster as the game plays it; it draws from the learner's own stream."""

    def begin(generator: np.random.Generator, interpreted: bool) -> Boosting:
        return booster.begin(problem, generator, interpreted=interpreted)

    begin(np.random.default_rng(0), False)  # so that what cannot be played is said at once
    declared = Declaration(numbers=booster.declared(booster.numbers(problem)), weights=False)
    return replace(Uniform().player(problem), declaration=declared, boosting=begin)
