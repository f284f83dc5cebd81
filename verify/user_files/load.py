"""Python files of the user's: a class or claims in them, loaded by path."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator
from contextlib import chdir, contextmanager
from contextvars import ContextVar
from hashlib import sha256
from os import fsencode
from pathlib import Path
from types import ModuleType
from typing import Any

from ...algorithms.spec import user_class, user_file
from ...errors import UserError, require, said, unknown
from . import neighbours

WITH_PARAMETERS = re.compile(r"[\w-]+:\w+=")
"""The beginning of a name with parameters, known or not."""


def names_a_file(spec: str, known: object) -> bool:
    """True if a spec names a class in a file of the user's, and not one of the ``known`` names."""
    name = spec.partition(":")[0].strip()
    has_name = (isinstance(known, dict) and name in known) or WITH_PARAMETERS.match(spec)
    return not has_name and (user_class(spec) is not None or spec.endswith(".py"))


_allowed: ContextVar[Collection[Path] | None] = ContextVar("_allowed", default=None)


@contextmanager
def only(files: Collection[Path]) -> Iterator[None]:
    """Within the block, run no file of the user's but these: the others are named by a file that was read, such as a
    certificate, and not by the user."""
    token = _allowed.set(files)
    try:
        yield
    finally:
        _allowed.reset(token)


_folder: list[Path] = []


def relative_to(folder: Path) -> None:
    """Look for files of the user's from this folder on, wherever this process goes: a class may change its folder."""
    _folder[:] = [folder]


def at(path: Path | str) -> Path:
    """The file of the user's that is written so."""
    return Path(*_folder, path)


def load_class(spec: str, role: str) -> Any:
    """The class that ``path/to/file.py:Class`` names.

    Raises
    ------
    UserError
        for a file that is missing or does not import, or a class that is not in it
    """
    if (named := user_class(spec)) is None:
        raise UserError(f"{role} '{spec}': expected FILE.py:Class, with the name of the class.")
    name, class_name = named
    module = load_module(Path(name), role)
    classes = {
        key
        for key, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    }
    if class_name not in classes:
        raise unknown(f"class of {name}", class_name, classes)
    return getattr(module, class_name)


def source_of(spec: str) -> str | None:
    """SHA-256 of the file that a learner or an adversary is from, or a learner's weak learners, with the neighbours
    that it imports; None where there is none."""
    file = user_file(spec)
    there = file is not None and at(file).is_file()
    return neighbours.digest(at(str(file)).resolve()) if there else None


def load_module(path: Path, role: str) -> ModuleType:
    """Import a Python file of the user's; it may import its neighbours.

    Raises
    ------
    UserError
        for a file that is missing, does not import, or must not be run (see :func:`only`)
    """
    place = at(path)
    require(place.is_file(), f"{role} file '{path}': no such file; expected a Python file.")
    require(path.suffix == ".py", f"{role} file '{path}': expected a Python file, NAME.py.")
    allowed = _allowed.get()
    require(
        allowed is None or place.resolve() in allowed,
        f"{role} file '{path}' is not run: it is named by a file that was read, and not by you.",
    )
    name = f"_{role}_{path.stem}_{sha256(fsencode(place.resolve())).hexdigest()[:12]}"
    try:
        with chdir("."):  # it may go elsewhere
            return neighbours.load(place.resolve(), name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise UserError(f"{role} file '{path}' does not import: {said(error)}.") from error
