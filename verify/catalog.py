"""What there is: learners, adversaries and claims, found by walking their folders.

A learner is a class with ``player`` and ``spec`` in a module of algorithms/, an adversary one with ``sequence`` and
``spec`` in adversaries/, a claim a :class:`Claim` in a module of verify/claims/. A weak learner has ``crowd`` in place
of ``player``, its adversary ``stream`` in place of ``sequence``. A class is called on the command
line by its name in lower case with hyphens, ``OneHot`` is ``one-hot``, and its parameters are the fields of
the dataclass. There is nothing to register.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, get_type_hints

from .. import adversaries, algorithms
from ..algorithms.boosting.booster import weak_learners as weak_learners
from ..algorithms.boosting.weak import WeakLearner
from ..algorithms.discovery import classes, modules
from ..algorithms.spec import check_keys, read_float, read_int, split_spec
from ..errors import UserError, require, unknown
from . import claims as claims_package
from .claim import Claim, is_named
from .games.labels import user_learner as plain

OWN = re.compile(r"\.py(:\w+)?$")
"""What ends like this is a file of the user's, unless it begins with a name."""

WITH_PARAMETERS = re.compile(r"[\w-]+:\w+=")
"""What begins like this is a name with parameters, known or not."""


@cache
def learners() -> dict[str, type[Any]]:
    """Built-in learners by name."""
    return classes(algorithms, "player")


@cache
def adversary_classes() -> dict[str, type[Any]]:
    """Built-in adversaries by name."""
    return classes(adversaries, "sequence")


@cache
def weak_adversaries() -> dict[str, type[Any]]:
    """Built-in adversaries of weak learners by name."""
    return classes(adversaries, "stream")


def is_weak(learner: Any) -> bool:
    """Whether a learner is a weak one, built-in or the user's."""
    return hasattr(learner, "crowd") or hasattr(learner, "crowd_for")


@cache
def claims() -> dict[str, Claim]:
    """All claims by id."""
    found = {
        value.id: value
        for module in modules(claims_package)
        for value in vars(module).values()
        if isinstance(value, Claim)
    }
    return dict(sorted(found.items()))


def add_claims(more: Sequence[Claim]) -> None:
    """Let claims of the user's be found beside the built-in ones, in this process.

    Raises
    ------
    UserError
        for an id that a built-in claim has
    """
    for claim in more:
        require(
            claims().get(claim.id, claim) == claim,
            f"claim '{claim.id}' exists already: expected another id.",
        )
        claims()[claim.id] = claim


def names_and_groups() -> list[str]:
    """The ids of all claims, and a glob for each group of them: what a name that is none may stand for."""
    return [*claims(), *sorted({f"{name.partition('/')[0]}/*" for name in claims()})]


def select(patterns: Sequence[str]) -> list[Claim]:
    """Claims whose id matches one of the globs; all of them for no pattern.

    Raises
    ------
    UserError
        for a pattern that matches nothing
    """
    known = claims()
    for pattern in patterns:
        if not any(is_named(name, [pattern]) for name in known):
            expected = "ids, or globs of ids, that 'boundcheck list claims' shows"
            raise unknown("claim", pattern, names_and_groups(), expected)
    return [claim for name, claim in known.items() if not patterns or is_named(name, patterns)]


def _build(kind: str, known: dict[str, type[Any]], spec: str) -> Any:
    name, given = split_spec(spec)
    if name not in known:
        raise unknown(kind, name, known)
    made = known[name]
    if hasattr(made, "from_parameters"):
        return made.from_parameters(given)
    hints = get_type_hints(made)
    fields = {field.name: hints[field.name] for field in dataclasses.fields(made) if field.init}
    check_keys(name, given, fields)
    readers: dict[Any, Callable[[dict[str, str], str], Any]]
    readers = {int: read_int, float: read_float, float | None: read_float, WeakLearner: _read_weak}
    values = {
        key: readers[fields[key]](given, key) if fields[key] in readers else text
        for key, text in given.items()
    }
    return made(**values)


def _own(spec: str) -> Any:
    """A learner of the user's."""
    if not re.search(r"\.py:\w+$", spec):
        raise UserError(f"learner '{spec}': expected FILE.py:Class, with the name of the class.")
    return plain.load(spec)


def _read_weak(parameters: dict[str, str], key: str) -> Any:
    """The weak learner of a booster: one of the user's, or the text of another."""
    text = parameters[key]
    if not OWN.search(text):
        return text
    found = _own(text)
    require(
        is_weak(found),
        f"{key}={text} is no weak learner: expected a class with predict(x) and update(x, cost, weight).",
    )
    return found


def learner(spec: str) -> Any:
    """Make a learner from a built-in name with parameters, or from ``path/to/file.py:Class``; the weak learner of a
    booster may be of such a file.

    Raises
    ------
    UserError
        for an unknown name or parameter, or a file that cannot be used
    """
    known = learners() | weak_learners()
    has_name = spec.partition(":")[0].strip() in known or WITH_PARAMETERS.match(spec)
    if OWN.search(spec) and not has_name:
        return _own(spec)
    return _build("learner", known, spec)


def adversary(spec: str) -> Any:
    """Make an adversary from a built-in name with parameters.

    Raises
    ------
    UserError
        for an unknown name or parameter
    """
    return _build("adversary", adversary_classes() | weak_adversaries(), spec)
