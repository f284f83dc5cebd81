"""The small language of the command line: a name and its parameters, ``name:gamma=0.05,x=1``."""

from __future__ import annotations

import dataclasses
import logging
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import cache
from multiprocessing import current_process
from numbers import Integral, Real
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from ..errors import UserError, require, unknown

logger = logging.getLogger(__name__)

Number = TypeVar("Number", int, float)

RENAMED = {("gappletron", "update"): "optimiser", ("random-labels", "radius"): "comparator_norm"}
"""The parameters that have another name now, by owner and old name, which is read until 0.4."""

SMALLEST_RATE = 1e-9
"""The smallest exploration rate rho: an estimate is of the order of 1/rho, and must leave digits for its
sums."""

_USER_CLASS = re.compile(r"(.+\.py):(\w+)", re.DOTALL)
_INTERVAL = re.compile(r"([\[(])\s*(\S+?)\s*,\s*(\S+?)\s*([\])])")


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Return the name and the parameters, as text, of ``name`` or ``name:key=value,key=value``.

    A parameter with an old name gets the new one. Raises :class:`UserError` for an empty name, a part without ``=`` or
    a key given twice.
    """
    name, written = _as_written(spec)
    parameters: dict[str, str] = {}
    for key, value in written.items():
        new = _renamed(name, key)
        require(new not in parameters, f"parameter '{new}' is given twice in '{spec}'")
        parameters[new] = value
    return name, parameters


@cache
def _renamed(owner: str, key: str) -> str:
    """The name that a parameter has now; of an old one there is one note, and none of worker processes."""
    new = RENAMED.get((owner, key), key)
    if new != key and current_process().name == "MainProcess":
        logger.warning(
            "%s:%s= is now %s:%s=; the old name is read until 0.4", owner, key, owner, new
        )
    return new


def _as_written(spec: str) -> tuple[str, dict[str, str]]:
    name, colon, tail = (part.strip() for part in spec.partition(":"))
    require(name != "", f"'{spec}' has no name: expected name or name:key=value,key=value")
    parameters: dict[str, str] = {}
    for part in tail.split(",") if colon else ():
        key, _, value = (side.strip() for side in part.partition("="))
        require(
            key != "" and value != "",
            f"'{part}' in '{spec}' is not a parameter: expected name:key=value,key=value",
        )
        require(key not in parameters, f"parameter '{key}' is given twice in '{spec}'")
        parameters[key] = value
    return name, parameters


class UserClass(NamedTuple):
    """A class of the user's: its file as it is written, and its name."""

    file: str
    name: str


def user_class(spec: str) -> UserClass | None:
    """The class that ``FILE.py:Class`` names; None for anything else. No class is imported by another name."""
    found = _USER_CLASS.fullmatch(spec)
    return found and UserClass(found[1], found[2])


def user_class_in(spec: str) -> UserClass | None:
    """The class that ``FILE.py:Class`` names, by itself or as a parameter's value in a built-in name; None where there
    is none."""
    if spec.startswith("data:"):
        return None
    values: Collection[str] = ()
    if re.fullmatch(r"\s*[a-z0-9-]+\s*:.*", spec, re.DOTALL):
        with suppress(UserError):
            values = _as_written(spec)[1].values()
    return next(filter(None, map(user_class, (*values, spec))), None)


def user_file(spec: str) -> str | None:
    """The file of :func:`user_class_in`."""
    found = user_class_in(spec)
    return found and found.file


def tidy(spec: str) -> str:
    """The one way of writing a built-in name with parameters: no spaces, no 03 for 3, no 0.50 for 0.5.

    The path of a file is left as it is.
    """
    if not re.fullmatch(r"\s*[a-z0-9-]+\s*(:.*)?", spec) or spec.startswith("data:"):
        return spec
    name, parameters = _as_written(spec)
    parts = [f"{key}={_tidy(value)}" for key, value in parameters.items()]
    return ":".join([name, *([",".join(parts)] if parts else [])])


def _tidy(value: str) -> str:
    if user_class(value):
        return value
    with suppress(ValueError):
        return str(int(value))
    with suppress(ValueError):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return "+".join(map(_tidy, value.split("+"))) if "+" in value else value


def command_name(made: type[Any]) -> str:
    """The name of a class on the command line: ``OneHot`` is ``one-hot``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", made.__name__).lower()


def spec_of(made: Any, *, every: bool = False) -> str:
    """The spec of an instance of a dataclass: its name, and the fields that differ from their defaults or every field,
    then with 0.0 for 0 where it is a float."""
    given = []
    for field in dataclasses.fields(made):
        value = getattr(made, field.name)
        if every and _declared(made.__class__).get(field.name, (None,))[0] is float:
            value = float(value)
        if field.init and (every or value != field.default):
            given.append(f"{field.name}={value}")
    return command_name(type(made)) + (":" + ",".join(given) if given else "")


class Checked:
    """A frozen dataclass whose fields are checked when it is made, see :func:`check_fields`."""

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def spec(self) -> str:
        return spec_of(self)


def check_fields(made: Any) -> None:
    """Raise :class:`UserError` for a field of a dataclass that is not what its annotation declares.

    ``Annotated[int, "[2, inf)"]`` is an integer in an interval, ``Annotated[float | None, "(0, 1]"]`` a number or None,
    ``Annotated[str, NAMES]`` one of some names.
    """
    who = command_name(type(made))
    for name, (kind, legal) in _declared(made.__class__).items():
        value = getattr(made, name)
        if not isinstance(legal, str):
            if value not in legal and not (value is None and isinstance(None, kind)):
                raise unknown(f"{name} of {who}", str(value), legal)
            continue
        if isinstance(value, Real):
            fits = _inside(value, legal) and (kind is not int or isinstance(value, Integral))
        else:  # such as None, or the name of a tuning
            fits = isinstance(value, kind)
        require(fits, f"{name}={value} of {who}: expected {_expected(kind is int, legal)}.")


def _expected(whole: bool, interval: str) -> str:
    """The words for an interval: ``(0, inf)`` is a finite number above 0."""
    left, low, high, _ = _ends(interval)
    if high == "inf":
        bound = f"of at least {low}" if left == "[" else f"above {low}"
        return f"{'an integer' if whole else 'a finite number'} {bound}"
    return f"{'an integer' if whole else 'a number'} in {interval}"


@cache
def _declared(made: type[Any]) -> dict[str, tuple[Any, Any]]:
    """Kind and legal values of the fields that declare them."""
    hints = get_type_hints(made, include_extras=True)
    return {
        name: (get_args(hint)[0], get_args(hint)[1])
        for name, hint in hints.items()
        if get_origin(hint) is Annotated
    }


def nested(spec: str) -> str:
    """A spec as it is written inside the parameters of another one: ``hedge-stump+rate=0.1``."""
    return spec.replace(":", "+").replace(",", "+")


def split_nested(text: str) -> tuple[str, dict[str, str]]:
    """Return the name and the parameters of a spec that :func:`nested` wrote."""
    return split_spec(text.replace("+", ":", 1).replace("+", ","))


def check_keys(name: str, parameters: Mapping[str, str], legal: Collection[str]) -> None:
    """Raise :class:`UserError`, with the nearest suggested, for a key that is not legal."""
    for key, value in parameters.items():
        require(bool(legal), f"'{name}' takes no parameters, but got '{key}={value}'")
        if key not in legal:
            raise unknown(f"parameter of '{name}'", key, legal)


def read_float(
    parameters: Mapping[str, str],
    key: str,
    default: float | None = None,
    legal: str = "(-inf, inf)",
) -> float:
    """Return the number under ``key``, or the default; without a default the key is required.

    ``legal`` is an interval such as ``"(0, 1]"``; it is what is checked and what the error shows.
    """
    return _read(parameters, key, default, float, f"a number in {legal}", legal)


def read_int(
    parameters: Mapping[str, str],
    key: str,
    default: int | None = None,
    legal: str = "(-inf, inf)",
) -> int:
    """Return the integer under ``key``, or the default, as :func:`read_float` does."""
    return _read(parameters, key, default, int, f"an integer in {legal}", legal)


def read_ints(
    parameters: Mapping[str, str],
    key: str,
    default: tuple[int, ...] | None = None,
    legal: str = "(-inf, inf)",
) -> tuple[int, ...]:
    """Return the integers joined by ``+`` under ``key`` (``revealing=0+2``), or the default."""
    expected = f"integers in {legal} joined by +"
    if key not in parameters:
        return _default(key, default, expected)
    return tuple(
        _convert(part, int, f"{key}={parameters[key]}", expected, legal)
        for part in parameters[key].split("+")
    )


def _read(
    parameters: Mapping[str, str],
    key: str,
    default: Number | None,
    kind: Callable[[str], Number],
    expected: str,
    legal: str,
) -> Number:
    if key not in parameters:
        return _default(key, default, expected)
    return _convert(parameters[key], kind, f"{key}={parameters[key]}", expected, legal)


Value = TypeVar("Value")


def _default(key: str, default: Value | None, expected: str) -> Value:
    if default is None:
        raise UserError(f"parameter '{key}' is missing: expected {expected}")
    return default


def _convert(
    text: str, kind: Callable[[str], Number], given: str, expected: str, legal: str
) -> Number:
    sentence = f"parameter {given} is not legal: expected {expected}"
    try:
        value = kind(text)
    except ValueError:
        raise UserError(sentence) from None
    require(_inside(value, legal), sentence)
    return value


def _inside(value: Any, interval: str) -> bool:
    """True if ``value`` lies in an interval written as ``"[0, 1)"``; nan lies in none."""
    left, low, high, right = _ends(interval)
    above = value >= float(low) if left == "[" else value > float(low)
    below = value <= float(high) if right == "]" else value < float(high)
    return bool(above and below)


def _ends(interval: str) -> tuple[str | Any, ...]:
    """The brackets and numbers of an interval."""
    match = _INTERVAL.fullmatch(interval)
    if match is None:
        raise ValueError(f"'{interval}' is not an interval such as '(0, 1]'")
    return match.groups()
