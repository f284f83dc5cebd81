"""The plan of the package, read from its syntax trees: what stands above what, and what knows nothing of what."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from source_trees import IMPORTS, MODULES, PACKAGES, ROOT, TREES, folder, ours

from boundcheck.verify import catalog

MOST_ENTRIES = 14
#: Folders in which each learner, adversary or family of claims is a file of its own.
A_FILE_EACH = ("adversaries", "adversaries/weak_learning", "algorithms", "algorithms/boosting")
CLAIMS = "verify/claims"
#: Data beside the modules, and what marks a package.
UNCOUNTED = ("__init__.py", "py.typed", "*.toml", "*.html")

MOST_POSITIONAL = 8
#: Decorators of functions whose arguments are named by a signature, by their callers in machine code, or by options.
MAY_HAVE_MANY = {"kernel", "helper", "command"}

#: Folders of modules that serve every game; so do the modules in ``verify`` itself and those beside the games.
GENERAL_FOLDERS = (
    "reports.page",
    "reports.terminal",
    "verify.certificates",
    "verify.judges",
    "verify.suite",
)
GENERAL = {
    name
    for name in MODULES
    if name.startswith(tuple(f"{part}." for part in GENERAL_FOLDERS))
    or name.rpartition(".")[0] in ("verify", "verify.games")
    or name in ("reports.api", "reports.cli")
} - {package.removeprefix("boundcheck.") for package in PACKAGES}
GAMES = [
    package.removeprefix("boundcheck.")
    for package in PACKAGES
    if package.rpartition(".")[0] == "boundcheck.verify.games"
]


def order(functions_too: bool) -> list[str]:
    """Modules, each after all that it imports, for types or in earnest.

    Raises
    ------
    CycleError
        where there is none
    """
    graph: dict[str, set[str]] = {name: set() for name in MODULES}
    for found in IMPORTS:
        if not found.version and (functions_too or not found.in_function):
            graph[found.source].add(found.target)
    return [*TopologicalSorter(graph).static_order()]


@pytest.mark.parametrize("functions_too", [False, True])
def test_every_module_stands_above_what_it_imports(functions_too: bool) -> None:
    """No module imports itself through others: not when it is imported, not for its types, nor inside a function."""
    try:
        found = order(functions_too)
    except CycleError as error:
        pytest.fail(" <- ".join(name or "root" for name in error.args[1]))
    assert sorted(found) == sorted(MODULES)
    assert found.index("errors") < found.index("verify.claim") < found.index("verify.catalog")


def entries(package: str) -> list[str]:
    """What lies in the folder of a package, of the root its modules and packages only."""
    place = folder(package)
    inside = {path.relative_to(place).parts for path in ours() if path.is_relative_to(place)}
    names = {parts[0] for parts in inside}
    if place == ROOT:
        names = {
            name for name in names if name.endswith(".py") or (ROOT / name / "__init__.py").exists()
        }
    return sorted(n for n in names if not any(Path(n).match(pattern) for pattern in UNCOUNTED))


def test_folders_have_few_entries() -> None:
    full = {}
    for package in PACKAGES:
        name = folder(package).relative_to(ROOT).as_posix()
        if name in A_FILE_EACH or name == CLAIMS or name.startswith(f"{CLAIMS}/"):
            continue
        if len(found := entries(package)) > MOST_ENTRIES:
            full[name] = found
    assert full == {}, f"at most {MOST_ENTRIES} entries a folder"


def test_modules_for_every_game_know_none() -> None:
    """They import nothing of a game, and name none."""
    assert {
        f"verify.{name}" for name in ("catalog", "claim", "games.game", "judges.decide")
    } < GENERAL
    assert len(GAMES) >= 2
    known = [
        f"{found.where}: {found.target}"
        for found in IMPORTS
        if found.source in GENERAL
        and any(found.target == game or found.target.startswith(f"{game}.") for game in GAMES)
    ]
    assert known == []
    names = {*catalog.games()}
    assert len(names) >= len(GAMES)
    named = [
        f"{MODULES[name].relative_to(ROOT)}:{node.lineno}: {node.value!r}"
        for name in sorted(GENERAL)
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert named == []


def test_games_know_no_claim() -> None:
    """Claims ask the games, and never the other way round; a game may look through their folder for learners."""
    known = [
        f"{found.where}: {found.target}"
        for found in IMPORTS
        if found.source.startswith("verify.games.") and found.target.startswith("verify.claims.")
    ]
    assert known == []


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]:
    """Yield every function, methods and nested ones included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node


def decorators(function: ast.AST) -> set[str]:
    """Return the last names of the decorators of a function."""
    return {
        ast.unparse(each.func if isinstance(each, ast.Call) else each).rpartition(".")[2]
        for each in getattr(function, "decorator_list", [])
    }


def test_only_kernels_have_many_arguments() -> None:
    many = [
        f"{MODULES[name].relative_to(ROOT)}:{function.lineno}: {count} positional arguments"
        for name, tree in TREES.items()
        for function in functions(tree)
        if (count := len(function.args.posonlyargs) + len(function.args.args)) > MOST_POSITIONAL
        if not MAY_HAVE_MANY & decorators(function)
    ]
    assert many == []


def test_the_rules_see_the_files() -> None:
    """What the rules leave out exists, and they read what there is."""
    by_place = defaultdict(list)
    for name, path in MODULES.items():
        by_place[path.parent.relative_to(ROOT).as_posix()].append(name)
    assert {*A_FILE_EACH, CLAIMS} <= by_place.keys()
    kernels = [f for tree in TREES.values() for f in functions(tree) if "kernel" in decorators(f)]
    assert len(kernels) > 40
