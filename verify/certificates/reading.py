"""Reading the file of a certificate, without judging or running anything in it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from stat import S_ISREG
from typing import Any

from ...errors import UserError, require
from ..outcome import canonical
from .make import EARLIER, SCHEMA

LARGEST_FILE = 2**26
"""The most bytes of a certificate: those of a million runs, and no more than memory holds once it is read."""


def read(path: Path) -> dict[str, Any]:
    """Read a certificate file, without judging it.

    Raises
    ------
    UserError
        if it is missing, no regular file, not JSON, of another schema, or without the fields of a certificate
    """
    content = _parsed(path, _text(path))
    require(
        isinstance(content, dict) and "schema" in content,
        f"'{path}' is not a certificate: expected a JSON object with the field 'schema'.",
    )
    schema = content["schema"]
    require(
        type(schema) is int and schema in (SCHEMA, *EARLIER),
        f"certificate '{path}' has schema {schema!r}: expected {SCHEMA}.",
    )
    require(
        schema == SCHEMA or content.get("kind") == "exact",
        f"certificate '{path}' was written by {EARLIER.get(schema)}, whose games this version plays in another"
        " way; only its exact certificates can be replayed: verify again.",
    )
    for field in ("kind", "claim", "form", "statement", "source", "digest"):
        require(
            isinstance(content.get(field), str),
            f"certificate '{path}' is damaged: the field '{field}' is missing or no text.",
        )
    return dict(content)


def too_deep(path: Path) -> UserError:
    """The error for a file that is nested too deeply."""
    return UserError(
        f"certificate '{path}' is nested too deeply: expected a file as boundcheck verify writes it."
    )


def _text(path: Path) -> str:
    """The text of a regular file: to open another, such as a pipe, may take for ever."""
    try:
        status = path.stat()
        require(
            S_ISREG(status.st_mode),
            f"certificate '{path}' cannot be read: it is a folder, a pipe or a device; expected a JSON file.",
        )
        require(
            status.st_size <= LARGEST_FILE,
            f"certificate '{path}' has {status.st_size:,} bytes: expected at most {LARGEST_FILE:,}.",
        )
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE)
    except OSError as error:
        raise UserError(
            f"certificate '{path}' cannot be read: {error.strerror}; expected a JSON file."
        ) from None
    except ValueError as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"certificate '{path}' cannot be read: {error}.") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"certificate '{path}' is not JSON: byte {error.start} is no text in UTF-8."
        ) from None


def _parsed(path: Path, text: str) -> Any:
    try:
        content = json.loads(
            text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_once
        )
    except ValueError as error:
        raise UserError(f"certificate '{path}' is not JSON: {error}.") from None
    except RecursionError:
        raise too_deep(path) from None
    try:
        canonical({"": content}).encode()
    except UnicodeEncodeError:
        raise UserError(
            f"certificate '{path}' is damaged: it has half of a surrogate pair, which is no character."
        ) from None
    except RecursionError:
        raise too_deep(path) from None
    return content


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:20]} is too large a number")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, unless it has a field twice, of which readers take one or the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has the field '{twice[:100]}' twice")
    return found
