"""The files that decide a study, by what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from ...adversaries.reading import Reading
from ...algorithms.spec import user_file
from ..user_files import neighbours


def digests(specs: Sequence[str]) -> dict[str, str]:
    """The sha256 of every file that the specs name, by its path as written."""
    paths = set()
    for spec in specs:
        if spec.startswith("data:"):
            paths.add(str(Reading.of(spec.removeprefix("data:")).path))
        elif file := user_file(spec):
            paths.add(file)
        elif spec.endswith((".csv", ".edgelist")):
            paths.add(spec)
    return {path: digest_of_file(path) for path in sorted(paths)}


def digest_of_file(path: str) -> str:
    """The sha256 of a file, in hex; that of a Python file covers the neighbours that it imports."""
    if Path(path).suffix == ".py":
        return neighbours.digest(Path(path).resolve())
    return sha256(Path(path).read_bytes()).hexdigest()
