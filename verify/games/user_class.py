"""Checks that learners and weak learners of the user's share: a plain class, made from a problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import UserError, attribute, require, said

NUMBERS = (int, float, np.integer, np.floating)


def made(factory: Callable[[Any], Any], problem: Any, who: str, update: str) -> Any:
    """An object of the class, which has ``predict(x)`` and ``update``.

    Raises
    ------
    UserError
        naming ``who`` it is if it cannot be made, or has no such methods
    """
    try:
        learner = factory(problem)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise UserError(
            f"{who} cannot be made: {said(error)}; expected a class called with the problem."
        ) from error
    for method in ("predict", "update"):
        require(
            callable(attribute(learner, method, who)),
            f"{who} has no method '{method}': expected predict(x) and {update}.",
        )
    return learner


def globs_of(promised: Any, spec: str) -> tuple[str, ...]:
    """The promises of a class: one glob of claim ids, or several.

    Raises
    ------
    UserError
        for anything else
    """
    globs = (promised,) if isinstance(promised, str) else promised
    require(
        isinstance(globs, tuple | list) and all(isinstance(glob, str) for glob in globs),
        f"promises={promised!r} of {spec}: expected globs of claim ids.",
    )
    return tuple(globs)
