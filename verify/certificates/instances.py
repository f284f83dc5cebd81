"""Instances that a certificate can hold: small, complete, and evaluated in exact arithmetic.

An instance is what a statement quantifies over. From its numbers everything else is derived again
when a certificate is replayed, and ``derived`` is stored beside it, so that no number can be changed
without another one disagreeing. Each claim's judge says which kinds of instances it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Protocol

from ...errors import UserError

Json = dict[str, Any]


class Instance(Protocol):
    """A tuple of everything that a statement needs."""

    kind: ClassVar[str]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Instance:
        """The instance that :meth:`to_json` wrote."""

    def to_json(self) -> Json:
        """The numbers that define the instance; fractions as text."""

    @property
    def derived(self) -> Json:
        """Numbers that follow from them."""

    def simpler(self) -> Iterator[Instance]:
        """Instances with one number made simpler."""


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
