"""From a setting to a case of either game: learners that play labels, and weak learners."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..adversaries.weak_learning.stream import WeakStream
from ..algorithms.boosting.weak import OracleNoise
from ..errors import UserError, require, unknown
from . import catalog
from .certificates.make import AnyCase
from .games.labels.case import Setting
from .games.labels.resolve import resolve
from .games.weak.case import GRAPHS, WeakCase


@lru_cache(maxsize=16)
def _stream(adversary: str, horizon: int, seed: int) -> tuple[Any, WeakStream]:
    made = catalog.adversary(adversary)
    require(
        hasattr(made, "stream"),
        f"adversary {adversary} has no costs for weak learners: expected one of"
        f" {', '.join(catalog.weak_adversaries())}.",
    )
    return made, made.stream(horizon, seed)


def resolve_any(setting: Setting, seed: int) -> AnyCase:
    """Make everything that a setting names, for the game that its learner plays.

    Raises
    ------
    UserError
        for anything unknown, or parts that do not fit together
    """
    learner = setting.learner
    made = catalog.learner(learner) if isinstance(learner, str) else learner
    if not catalog.is_weak(made):
        return resolve(setting, seed)
    return resolve_weak(setting, made, seed)


def resolve_weak(setting: Setting, learner: Any, seed: int) -> WeakCase:
    """The case of a weak learner.

    Raises
    ------
    UserError
        for an adversary without costs, a graph but ``full`` and ``bandit``, a setting without a horizon, or a
        declaration out of range
    """
    if setting.graph not in GRAPHS:
        raise unknown("graph of a weak learner", setting.graph, GRAPHS)
    horizon = setting.horizon
    if horizon is None or horizon < 1:
        raise UserError(f"horizon T={horizon}: expected at least 1.")
    require(setting.replicates >= 1, f"replicates={setting.replicates}: expected at least 1 run.")
    adversary = setting.adversary
    if isinstance(adversary, str):
        adversary, stream = _stream(adversary, horizon, seed)
    else:
        stream = adversary.stream(horizon, seed)
    require(
        stream.n_features > 0 or isinstance(learner, OracleNoise),
        f"adversary {setting.label('adversary')} has no features: expected the learner oracle-noise, or another"
        " adversary.",
    )
    case = WeakCase(setting, learner, adversary, setting.graph, stream, seed)
    # what cannot be played, or is declared out of range, is said at once
    case.crowd(range(1))
    if case.is_own:
        _ = case.declaration
    return case
