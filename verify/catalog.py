"""The catalogue of games, learners, adversaries and claims, found by walking their folders.

A game is an instance of :class:`~.games.game.Game` in a module of verify/games/; it says which classes are its learners
and adversaries. A claim is a :class:`~.claim.Claim` in a module of verify/claims/. A class is called on the command
line by its name in lower case with hyphens, ``OneHot`` is ``one-hot``, and its parameters are the fields of
the dataclass. There is nothing to register; games and claims of the user's are added from their file.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

from ..algorithms.discovery import modules
from ..algorithms.spec import check_keys, read_float, read_int, split_spec
from ..errors import UserError, check_size, require, unknown
from . import claims as claims_package
from . import games as games_package
from .claim import Claim, is_named
from .games.game import Game
from .user_files.load import load_class, load_module, names_a_file


def _found(kind: type[Any], among: Iterable[ModuleType]) -> list[Any]:
    """The instances of a class at the top of some modules, each once."""
    values = [value for module in among for value in vars(module).values()]
    return list({id(value): value for value in values if isinstance(value, kind)}.values())


@cache
def games() -> dict[str, Game]:
    """All games by name."""
    return {game.name: game for game in _found(Game, modules(games_package))}


@cache
def claims() -> dict[str, Claim]:
    """All claims by id."""
    found = {claim.id: claim for claim in _found(Claim, modules(claims_package))}
    return dict(sorted(found.items()))


def learners() -> dict[str, type[Any]]:
    """Built-in learners by name."""
    return {name: made for game in games().values() for name, made in game.learners().items()}


def adversaries() -> dict[str, type[Any]]:
    """Built-in adversaries by name."""
    return {name: made for game in games().values() for name, made in game.adversaries().items()}


def game_of(learner: Any) -> Game:
    """The game that a learner plays.

    Raises
    ------
    UserError
        for an object that plays none
    """
    for game in games().values():
        if game.plays(learner):
            return game
    raise UserError(
        f"{learner!r} is no learner: expected one of the games {', '.join(sorted(games()))}."
    )


def game_about(claim: Claim) -> Game:
    """The game that a claim is about."""
    if claim.game is not None:
        return games()[claim.game]
    return next(game for game in games().values() if game.plays_the_rest)


def add_file(path: Path) -> list[Claim]:
    """Let games and claims of a Python file of the user's be found beside the built-in ones, in this process.

    Returns
    -------
    the claims

    Raises
    ------
    UserError
        if the file is missing, does not import or has no claims, or for the id of a built-in claim
    """
    module = load_module(path, "claims")
    found: list[Claim] = _found(Claim, [module])
    require(
        bool(found), f"claims file '{path}' has no Claim: expected at least one at its top level."
    )
    for game in _found(Game, [module]):
        known = games().get(game.name)
        require(
            known is None or inspect.getfile(type(known)) == inspect.getfile(type(game)),
            f"game '{game.name}' of '{path}' exists already: expected another name.",
        )
        games()[game.name] = game
    for claim in found:
        known_claim = claims().get(claim.id)
        require(
            known_claim is None or repr(known_claim.source) == repr(claim.source),
            f"claim '{claim.id}' exists already: expected another id.",
        )
        require(
            claim.game is None or claim.game in games(),
            f"claim '{claim.id}' is about the game '{claim.game}': expected one of {', '.join(games())}.",
        )
        claims()[claim.id] = claim
    return found


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
    readers = {int: read_int, float: read_float, float | None: read_float}
    values = {
        key: readers[fields[key]](given, key)
        if fields[key] in readers
        else _read(key, text, fields[key])
        for key, text in given.items()
    }
    return made(**values)


def _read(key: str, text: str, hint: Any) -> Any:
    """A parameter that is no number: where it may be a learner, one of the user's, otherwise its text."""
    legal = [
        game
        for game in games().values()
        if inspect.isclass(hint) and hasattr(hint, game.learner_method)
    ]
    if not legal or not names_a_file(text, {}):
        return text
    found = learner(text)
    require(
        any(game.plays(found) for game in legal),
        f"{key}={text} is no {legal[0].learner_words}.",
    )
    return found


def user_learner(made: Any, spec: str) -> Any:
    """A class of the user's as a learner of the game that recognises it.

    Raises
    ------
    UserError
        for one that is no learner
    """
    rest = None
    for game in games().values():
        if hasattr(made, game.learner_method):  # in the library's own form
            return made() if inspect.isclass(made) else made
        if game.recognises(made, spec):
            return game.user_learner(made, spec)
        rest = game if game.plays_the_rest else rest
    assert rest is not None
    return rest.user_learner(made, spec)


def learner(spec: str) -> Any:
    """Make a learner from a built-in name with parameters, or from ``path/to/file.py:Class``; a learner that another
    combines may be of such a file.

    Raises
    ------
    UserError
        for an unknown name or parameter, or a file that cannot be used
    """
    known = learners()
    if names_a_file(spec, known):
        return user_learner(load_class(spec, "learner"), spec)
    return _build("learner", known, spec)


def adversary(spec: str) -> Any:
    """Make an adversary from a built-in name with parameters, from ``path/to/file.py:Class``, or from a spec that one
    game understands, such as a file of data.

    Raises
    ------
    UserError
        for an unknown name or parameter, or a file that cannot be used
    """
    for game in games().values():
        if (opened := game.opened(spec)) is not None:
            return opened
    known = adversaries()
    if not names_a_file(spec, known):
        made = _build("adversary", known, spec)
        if isinstance(K := getattr(made, "n_labels", None), int):
            check_size(f"adversary {spec} needs labels by labels", K, K)
        return made
    made = load_class(spec, "adversary")
    for game in games().values():
        if (found := game.user_adversary(made, spec)) is not None:
            return found
    methods = " or ".join(sorted({f"{g.adversary_method}" for g in games().values()}))
    raise UserError(f"{spec} is no adversary: expected a class with a method {methods}.")
