"""From a setting to a case of the weak-learning game: the stream is made, and what cannot be played is refused."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from ....adversaries.weak_learning.stream import WeakStream
from ....errors import UserError, require, unknown
from ...setting import Setting
from .case import GRAPHS, Case


@lru_cache(maxsize=16)
def _stream(adversary: Any, horizon: int, seed: int) -> WeakStream:
    found: WeakStream = adversary.stream(horizon, seed)
    return found


def resolve(
    setting: Setting, learner: Any, adversary: Any, seed: int, oracles: Iterable[str]
) -> Case:
    """Make a case.

    Parameters
    ----------
    oracles : names of the weak learners that need no features

    Raises
    ------
    UserError
        for a graph but ``full`` and ``bandit``, a setting without a horizon, a stream that the learner cannot read, or
        a declaration out of range
    """
    if setting.graph not in GRAPHS:
        raise unknown("graph of a weak learner", setting.graph, GRAPHS)
    horizon = setting.horizon
    if horizon is None or horizon < 1:
        raise UserError(f"horizon T={horizon}: expected at least 1.")
    try:
        stream = _stream(adversary, horizon, seed)
    except TypeError:  # of a class that cannot be hashed
        stream = adversary.stream(horizon, seed)
    require(
        stream.n_features > 0 or getattr(learner, "reads_oracles", False),
        f"adversary {setting.label('adversary')} has no features: expected the learner {' or '.join(oracles)}, or"
        " another adversary.",
    )
    case = Case(setting, learner, adversary, setting.graph, stream, seed)
    # what cannot be played, or is declared out of range, is said at once
    case.crowd(range(1))
    if case.is_users:
        _ = case.declaration
    return case
