"""The modules of the package as syntax trees, and what they import of one another."""

from __future__ import annotations

import ast
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PROJECT["tool"]["setuptools"]["packages"]


def folder(package: str) -> Path:
    """Return the folder of one of our packages."""
    return ROOT.joinpath(*package.split(".")[1:])


def dotted(path: Path) -> str:
    """Return the name of a module below the root, which is itself ``""``."""
    return ".".join(part for part in path.with_suffix("").parts if part != "__init__")


MODULES = {
    dotted(path.relative_to(ROOT)): path
    for package in PACKAGES
    for path in sorted(folder(package).glob("*.py"))
}


@dataclass(frozen=True)
class Import:
    """One import of ours, from ``source`` to the module ``target`` or a ``name`` in it.

    ``at_import`` tells whether it runs when its module is imported, ``in_function`` whether it stands in a function.
    """

    source: str
    target: str
    name: str
    line: int
    at_import: bool
    in_function: bool

    @property
    def where(self) -> str:
        return f"{MODULES[self.source].relative_to(ROOT)}:{self.line}"

    @property
    def version(self) -> bool:
        """Whether this is ``from .. import __version__``, which loads nothing."""
        return (self.target, self.name) == ("", "__version__")


def nodes(
    tree: ast.AST, at_import: bool = True, in_function: bool = False
) -> Iterator[tuple[ast.stmt, bool, bool]]:
    """Yield each import statement, whether it runs when its module is imported, and whether it stands in a function."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, at_import, in_function
        late = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        typing = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        yield from nodes(child, at_import and not late and not typing, in_function or late)


def imports(source: str, tree: ast.AST) -> Iterator[Import]:
    """Yield the relative imports of the module ``source``, one per imported name."""
    is_package = MODULES[source].name == "__init__.py"
    here = source.split(".") if source else []
    for node, at_import, in_function in nodes(tree):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        up = node.level - is_package
        base = here[: len(here) - up] + (node.module.split(".") if node.module else [])
        for alias in node.names:
            inner = ".".join([*base, alias.name])
            target, name = (inner, "") if inner in MODULES else (".".join(base), alias.name)
            yield Import(source, target, name, node.lineno, at_import, in_function)


TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
IMPORTS = [found for name, tree in TREES.items() for found in imports(name, tree)]


def ours(*suffixes: str) -> list[Path]:
    """Return the files that are, or are about to be, under version control."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    files = [ROOT / name for name in listed.stdout.split("\0") if name.endswith(suffixes or "")]
    return [path for path in files if path.is_file()]
