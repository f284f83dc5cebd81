"""Modules beside a Python file of the user's: each folder has its own.

Two files of the user's may both say ``import rates`` and mean the ``rates.py`` beside them. Python keeps one module of
a name for all. Here what a file of the user's imports from its own folder is kept under a name that begins with the
folder's, wherever the import stands: the file is given an ``__import__`` of its own. Modules of the standard library
come first, neighbours second, everything else after them.

Neighbours are found in the text of a file without running it, so that a digest can tell whether anything has changed
that the file would run.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

PREFIX = "_neighbours_"
"""The beginning of the names under which modules of the user's folders are kept."""


def load(path: Path, name: str) -> ModuleType:
    """Run a Python file as the module ``name``; its imports find its neighbours first.

    Raises
    ------
    BaseException
        whatever the file raises
    """
    spec = spec_from_file_location(name, path, loader=_Neighbour(name, str(path), path.parent))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def digest(file: Path) -> str:
    """SHA-256 of a Python file; with neighbours, of all of them and their names."""
    files = [file, *closure(file)]
    if len(files) == 1:
        return sha256(file.read_bytes()).hexdigest()
    found = sha256()
    for each in files:
        content = each.read_bytes()
        found.update(f"{each.relative_to(file.parent).as_posix()}\0{len(content)}\0".encode())
        found.update(content)
    return found.hexdigest()


def closure(file: Path) -> list[Path]:
    """The neighbours that a file imports, and those that they import, in sorted order; a file that is no Python has
    none."""
    folder = file.parent
    found: set[Path] = set()
    left = [file]
    while left:
        one = left.pop()
        new = {path for path in _imported(one, folder) if path != file} - found
        found |= new
        left += new
    return sorted(found)


def _imported(file: Path, folder: Path) -> Iterator[Path]:
    """The files in a folder that the import statements of one of them name, wherever they stand."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    package = file.parent.relative_to(folder).parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            base += tuple((node.module or "").split(".")) if node.module else ()
            names = [(*base, alias.name) for alias in node.names]
        else:
            continue
        for name in names:
            if name and name[0] not in sys.stdlib_module_names:
                yield from _files_of(folder, name)


def _files_of(folder: Path, name: Sequence[str]) -> Iterator[Path]:
    """The files that importing ``a.b.c`` from a folder runs: those of ``a``, ``a.b`` and ``a.b.c``, as far as they are
    there."""
    for end in range(1, len(name) + 1):
        place = folder.joinpath(*name[:end])
        for path in (place / "__init__.py", place.with_suffix(".py")):
            if path.is_file():
                yield path


def _is_neighbour(folder: Path, name: str) -> bool:
    place = folder / name
    there = place.with_suffix(".py").is_file() or (place.is_dir() and any(place.glob("*.py")))
    return there and name not in sys.stdlib_module_names


@cache
def _namespace(folder: Path) -> str:
    return f"{PREFIX}{sha256(str(folder.resolve()).encode()).hexdigest()[:16]}"


def _import_beside(folder: Path) -> Callable[..., Any]:
    """``__import__`` for the files of a folder."""

    def import_(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        top = name.partition(".")[0]
        if level or not _is_neighbour(folder, top):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        package = _package(folder)
        module = import_module(f"{package}.{name}")
        if not fromlist:
            return sys.modules[f"{package}.{top}"]
        for each in fromlist:
            if not hasattr(module, each) and hasattr(module, "__path__") and each != "*":
                _import_part(module, each)
        return module

    return import_


def _import_part(module: ModuleType, name: str) -> None:
    """Import a module of a package, if there is one of this name."""
    whole = f"{module.__name__}.{name}"
    try:
        import_module(whole)
    except ModuleNotFoundError as error:
        if error.name != whole:
            raise


def _package(folder: Path) -> str:
    """The name of the package that stands for a folder, which is made if it is not there."""
    name = _namespace(folder)
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
        if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
            sys.meta_path.insert(0, _Finder())
    return name


class _Finder(MetaPathFinder):
    """Finds the modules of the packages that stand for folders, and gives them their imports."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(PREFIX) or path is None:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        root = sys.modules[fullname.partition(".")[0]]
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            folder = Path(root.__path__[0])
            spec.loader = _Neighbour(fullname, spec.loader.path, folder)
        return spec


class _Neighbour(SourceFileLoader):
    """Runs a file with an ``__import__`` that finds the neighbours in a folder, and keeps no bytecode."""

    def __init__(self, fullname: str, path: str, folder: Path) -> None:
        super().__init__(fullname, path)
        self.folder = folder

    def exec_module(self, module: ModuleType) -> None:
        own = vars(builtins) | {"__import__": _import_beside(self.folder)}
        module.__dict__["__builtins__"] = own
        code = compile(self.get_data(self.path), self.path, "exec", dont_inherit=True)
        exec(code, module.__dict__)
