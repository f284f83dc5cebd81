"""Changing the numbers of a certificate, one at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def changed_numbers(text: str) -> Iterator[str]:
    """``text`` with one of its numbers changed, in several ways."""
    for match in NUMBER.finditer(text):
        number = match.group()
        mantissa = number.split("e")[0]
        last = mantissa[-1]
        for new in (
            mantissa[:-1] + str((int(last) + 1) % 10),
            mantissa[:-1] + str((int(last) + 9) % 10),
            f"{mantissa}1" if "." in mantissa else f"1{mantissa.lstrip('+-')}",
        ):
            if Fraction(new) != Fraction(mantissa):
                yield text[: match.start()] + new + number[len(mantissa) :] + text[match.end() :]


def tampered(content: Any, put: Callable[[Any], None], path: str = "") -> Iterator[str]:
    """Change every number of a JSON value in turn, by ``put``-ting it into its place; then undo."""
    if isinstance(content, dict):
        for key, value in list(content.items()):
            yield from tampered(
                value, lambda new, key=key: content.__setitem__(key, new), f"{path}/{key}"
            )
    elif isinstance(content, list):
        for i, value in enumerate(list(content)):
            yield from tampered(value, lambda new, i=i: content.__setitem__(i, new), f"{path}/{i}")
    elif isinstance(content, bool) or content is None:
        return
    elif isinstance(content, int | float):
        for new in (content + 1, content * 2 + 1, -content if content else -1):
            put(new)
            yield f"{path}: {content} -> {new}"
        if isinstance(content, float):
            put(content * (1 + 2**-50) + (2**-60 if content == 0 else 0))
            yield f"{path}: the last bits of {content}"
        put(content)
    elif isinstance(content, str):
        for new in changed_numbers(content):
            put(new)
            yield f"{path}: {content} -> {new}"
        put(content)
