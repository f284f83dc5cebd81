"""Instances that a certificate can hold: small, complete, and evaluated in exact arithmetic.

An instance is what a statement quantifies over. From its numbers everything else is derived again
when a certificate is replayed, and ``derived`` is stored beside it, so that no number can be changed
without another one disagreeing. Each claim's judge says which kinds of instances it has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

from gmpy2 import mpq

from ...errors import UserError
from ..exact.numbers import rational

Json = dict[str, Any]


@dataclass(frozen=True)
class Instance(ABC):
    """Everything that a statement needs, as the fields of a frozen dataclass.

    A field is an ``int``, a ``str``, an ``mpq``, a tuple of such fields, or another instance. In a certificate
    fractions are texts, tuples are lists, and the fields of another instance stand beside the others. A field that has
    its default is left out, so that certificates from before it was there can be read.

    Attributes
    ----------
    kind : the word for it in certificates
    constant : what a certificate says of all instances of the kind
    """

    kind: ClassVar[str]
    constant: ClassVar[Json] = {}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The instance that :meth:`to_json` wrote."""
        optional = _defaults(cls)
        return cls(
            **{
                name: kind.from_json(data) if _is_instance(kind) else _read(kind, data[name])
                for name, kind in _types(cls).items()
                if name in data or name not in optional
            }
        )

    def to_json(self) -> Json:
        """The fields, as a certificate has them."""
        found, defaults = dict(self.constant), _defaults(type(self))
        for name, kind in _types(type(self)).items():
            value = getattr(self, name)
            if name in defaults and value == defaults[name]:
                continue
            found |= value.to_json() if _is_instance(kind) else {name: _written(kind, value)}
        return found

    @property
    @abstractmethod
    def derived(self) -> Json:
        """Numbers that follow from the fields."""

    def simpler(self) -> Iterator[Instance]:
        """Instances with one number made simpler."""
        return iter(())


@cache
def _types(kind: type[Instance]) -> dict[str, Any]:
    """The fields of a kind of instances, with their types."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


@cache
def _defaults(kind: type[Instance]) -> Json:
    """The fields of a kind of instances that have a default, with it."""
    return {field.name: field.default for field in fields(kind) if field.default is not MISSING}


def _is_instance(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Instance)


def _entries(kind: Any, count: int) -> tuple[Any, ...]:
    """The types of the entries of a tuple with so many of them."""
    kinds = get_args(kind)
    return kinds[:1] * count if kinds[-1] is Ellipsis else kinds


def _read(kind: Any, data: Any) -> Any:
    """A field of this type, from a certificate."""
    if get_origin(kind) is tuple:
        if isinstance(data, str | dict):
            raise TypeError(f"{data!r:.40} is no list")
        pairs = zip(_entries(kind, len(data)), data, strict=True)
        return tuple(_read(each, entry) for each, entry in pairs)
    return rational(data) if kind is mpq else int(data) if kind is int else str(data)


def _written(kind: Any, value: Any) -> Any:
    """A field of this type, as a certificate has it."""
    if get_origin(kind) is tuple:
        pairs = zip(_entries(kind, len(value)), value, strict=True)
        return [_written(each, entry) for each, entry in pairs]
    return str(value) if kind is mpq else value


def from_json(kind: str, data: Mapping[str, Any], legal: Iterable[Any]) -> Instance:
    """Read an instance of a certificate, of a kind that its claim has.

    Raises
    ------
    UserError
        for an unknown kind, or numbers that are missing or malformed
    """
    kinds = {each.kind: each for each in legal}
    if kind not in kinds:
        raise UserError(f"instance of kind '{kind}': expected one of {', '.join(kinds)}.")
    try:
        instance: Instance = kinds[kind].from_json(data)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"the instance of the certificate is malformed: {error!r}.") from None
    return instance
