"""Checks that learners and weak learners of the user's share: a plain class, made from a problem."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar

from ...algorithms.boosting.problem import WeakProblem
from ...algorithms.horizon import changed
from ...algorithms.learner import Problem
from ...errors import UserError, attribute, require, said

AnyProblem = TypeVar("AnyProblem", Problem, WeakProblem)


def own_copy(problem: AnyProblem) -> AnyProblem:
    """The problem with arrays of its own, so that whoever is told of it cannot change the game's."""
    if not isinstance(problem, Problem):
        return changed(problem)
    graph = object.__new__(type(problem.graph))
    assert problem.graph.domination_number  # found once, and not for each copy
    vars(graph).update(deepcopy(vars(problem.graph)))
    return changed(problem, graph=graph)


def made(factory: Callable[[Any], Any], problem: Any, who: str, update: str) -> Any:
    """An object of the class, which has ``predict(x)`` and ``update``.

    Raises
    ------
    UserError
        naming ``who`` it is if it cannot be made, or has no such methods
    """
    try:
        learner = factory(own_copy(problem))
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
