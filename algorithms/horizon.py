"""Whether a learner uses the horizon: what it is told notes when its horizon is read.

A theorem for every T is about each prefix of a run, if the learner does not use T. Whether it does is not asked but
seen: a problem that is watched is a problem like any other, and whoever reads its horizon leaves a note, by whatever
way: as an attribute, by ``vars``, ``asdict``, ``replace``, ``repr``, ``hash``, a comparison or a pickle. A copy is
watched as well.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, TypeVar

Told = TypeVar("Told")
"""What a learner is told: a frozen dataclass with a field ``horizon``."""


@dataclass
class Reading:
    """A note, whether a horizon has been read."""

    happened: bool = False


@dataclass(frozen=True)
class _Watch:
    horizon: int
    reading: Reading

    def read(self) -> int:
        self.reading.happened = True
        return self.horizon


def watched(told: Told, reading: Reading) -> Told:
    """The same problem or setting, which notes in ``reading`` when its horizon is read."""
    given: Any = told
    made: Told = _made(given.__class__, _others(told), _Watch(given.horizon, reading))
    return made


def handed_on(told: Any, make: Callable[[int], Told]) -> Told:
    """``make(told.horizon)`` without a note: what is made of something watched notes there when it is read."""
    watch = getattr(told, _NAME, None)
    if watch is None:
        return make(told.horizon)
    return watched(make(watch.horizon), watch.reading)


def changed(told: Told, **changes: Any) -> Told:
    """The same problem or setting with other values of some fields, as by ``replace`` but without a note."""
    kind: Any = told.__class__
    values = _others(told) | changes
    made: Told = handed_on(told, lambda horizon: kind(**({"horizon": horizon} | values)))
    return made


_NAME = "_watch"


def _others(told: Any) -> dict[str, Any]:
    """The fields but the horizon."""
    return {f.name: getattr(told, f.name) for f in fields(told) if f.name != "horizon"}


def _made(kind: Any, others: dict[str, Any], watch: _Watch) -> Any:
    made = object.__new__(_noting(kind))
    for name, value in (others | {_NAME: watch}).items():
        object.__setattr__(made, name, value)
    return made


@cache
def _noting(kind: Any) -> type[Any]:
    """The class of watched instances, which pass for instances of the class itself."""

    def values(self: Any) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(kind)}

    def deep(self: Any, memo: dict[int, Any]) -> Any:
        return _made(kind, deepcopy(_others(self), memo), getattr(self, _NAME))

    space = {
        "horizon": property(lambda self: getattr(self, _NAME).read()),
        "__class__": property(lambda self: kind),
        "__dict__": property(values),
        "__copy__": lambda self: self,
        "__deepcopy__": deep,
        "__reduce_ex__": lambda self, protocol: (kind, tuple(values(self).values())),
        "__doc__": kind.__doc__,
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
    }
    return type(kind.__name__, (kind,), space)
