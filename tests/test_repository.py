"""The rules of the repository that a reader relies on and no tool enforces."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from source_trees import IMPORTS, MODULES, PACKAGES, PROJECT, ROOT, TREES, folder, nodes, ours

import boundcheck

TESTS = ROOT / "tests"
LIMIT = 400

#: The modules that everything stands on.
GROUND = {
    "errors", "arrays", "vectors", "functions", "compiled", "atomic", "interruption", "workers", "pool",
}  # fmt: skip
#: What starts processes and writes files, which nothing below the commands does.
OUTSIDE = {"atomic", "interruption", "workers", "pool"}
#: Each part of the package and the parts it may import; imports inside a part are free.
LAYERS: dict[str, set[str]] = {
    "errors": set(),
    "arrays": set(),
    "atomic": set(),
    "interruption": set(),
    "workers": set(),
    "pool": {"interruption", "workers"},
    "vectors": {"arrays"},
    "functions": set(),
    "compiled": {"errors", "arrays", "functions", "vectors"},
    "algorithms": GROUND - OUTSIDE,
    "adversaries": GROUND - OUTSIDE | {"algorithms"},
    "verify": GROUND | {"algorithms", "adversaries"},
    "reports": GROUND | {"algorithms", "adversaries", "verify"},
    "__main__": {"reports"},
    "": set(),
}
#: What adversaries may know of the algorithms: the rules of the game, never a learner.
SHARED_WITH_ADVERSARIES = {"algorithms.graphs", "algorithms.losses", "algorithms.spec"}

FORBIDDEN = re.compile(
    r"(?<![\w.])/(?:work|root|home|Users)/"
    r"|pypi\.org|pythonhosted\.org|anaconda\.org|npmjs\.org|proxy\.golang\.org|--(?:extra-)?index-url"
)


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` in a new interpreter."""
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments], capture_output=True, text=True, check=False
    )


def test_the_package_list_is_the_folders() -> None:
    tops = [path.parent for path in ROOT.glob("*/__init__.py")]
    folders = {ROOT, *(init.parent for top in tops for init in top.rglob("__init__.py"))}
    assert sorted(PACKAGES) == sorted(
        ".".join(("boundcheck", *path.relative_to(ROOT).parts)) for path in folders
    )
    assert {path for top in tops for path in top.rglob("*.py")} <= set(MODULES.values())


def data_files(package: str) -> Iterator[Path]:
    """Yield the files that are no modules in a package and in its folders that are no packages."""
    for path in folder(package).rglob("*"):
        inner = {parent for parent in path.parents if folder(package) in parent.parents}
        if (
            path.is_file()
            and path.suffix not in {".py", ".pyc"}
            and not any((parent / "__init__.py").exists() for parent in inner)
        ):
            yield path


def test_the_wheel_carries_every_data_file() -> None:
    data = PROJECT["tool"]["setuptools"]["package-data"]
    left_out = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        if package != "boundcheck"
        for path in data_files(package)
        if not any(
            fnmatch(path.relative_to(folder(package)).as_posix(), pattern)
            for pattern in data.get(package, [])
        )
    ]
    assert left_out == []
    assert "py.typed" in data["boundcheck"]
    assert (ROOT / "py.typed").exists()


def test_imports_run_one_way() -> None:
    wrong = []
    for found in IMPORTS:
        part, wanted = found.source.split(".")[0], found.target.split(".")[0]
        inside = part == wanted != ""
        lazy = part == "" and not found.at_import
        if not (inside or lazy or found.version or wanted in LAYERS[part]):
            wrong.append(f"{found.where}: {part or 'root'} may not import {wanted or 'root'}")
    assert wrong == []


def test_adversaries_know_no_learner() -> None:
    assert [
        f"{found.where}: {found.target}"
        for found in IMPORTS
        if found.source.startswith("adversaries") and found.target.startswith("algorithms")
        if found.target not in SHARED_WITH_ADVERSARIES
    ] == []


def absolute(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the first name of each absolute import, with its line."""
    for node, *_ in nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name.split(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").split(".")[0], node.lineno


def test_the_package_imports_itself_relatively() -> None:
    own = {"boundcheck", *(name.split(".")[0] for name in MODULES)}
    assert [
        f"{MODULES[source].relative_to(ROOT)}:{line}: {module}"
        for source, tree in TREES.items()
        for module, line in absolute(tree)
        if module in own
    ] == []


def test_what_is_imported_is_declared() -> None:
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *extras["cluster"], *extras["data"], *extras["trees"]]
    declared = {re.split(r"[^\w-]", line)[0].lower() for line in lines}
    used = {module for tree in TREES.values() for module, _ in absolute(tree)}
    used.discard(
        "pytest"
    )  # verify/suite/pytest_checks.py loads it inside the decorator for pytest's users
    owners = packages_distributions()
    assert {
        module
        for module in used - sys.stdlib_module_names - {"boundcheck"}
        if not declared & {owner.lower() for owner in owners.get(module, [])}
    } == set()


def test_each_module_is_loaded_once_and_under_its_own_name() -> None:
    expected = {path: f"boundcheck.{name}".removesuffix(".") for name, path in MODULES.items()}
    for name in expected.values():
        import_module(name)
    loaded = defaultdict(set)
    for name, module in list(sys.modules.items()):
        if file := getattr(module, "__file__", None):
            loaded[Path(file).resolve()].add(name)
    assert {path: loaded[path] for path in expected} == {
        path: {name} for path, name in expected.items()
    }


def test_importing_the_package_and_the_command_line_does_not_load_numba() -> None:
    code = "import sys, boundcheck, boundcheck.reports.cli; sys.exit('numba' in sys.modules)"
    result = python(code)
    assert result.returncode == 0, result.stderr or "numba was loaded"


@pytest.mark.parametrize("argument", ["--help", "--version", "list"])
def test_the_command_line_answers_without_numba(argument: str) -> None:
    code = (
        "import sys; sys.modules['numba'] = None; sys.argv[0] = 'boundcheck'\n"
        "from boundcheck.reports.cli import main\n"
        "sys.exit(main())"
    )
    result = python(code, argument)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


def test_public_names_load_on_first_use() -> None:
    code = "import sys, boundcheck; sys.exit(any(m.startswith('boundcheck.') for m in sys.modules))"
    assert python(code).returncode == 0
    assert boundcheck.__version__ == PROJECT["project"]["version"]
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = boundcheck.nonsense


@pytest.mark.parametrize("name", boundcheck.__all__)
def test_each_public_name_exists(name: str) -> None:
    assert getattr(boundcheck, name) is not None


def test_tests_are_no_package_and_have_unique_names() -> None:
    files = [path for path in TESTS.rglob("*.py") if not path.name.startswith(".")]
    assert [path for path in files if path.name == "__init__.py"] == []
    assert [name for name, count in Counter(path.name for path in files).items() if count > 1] == []


def test_the_readme_and_the_ci_run_the_same_tests() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"<!-- test command -->\s*```\w*\n(.+?)\n```", readme, re.DOTALL)
    assert block, "README.md has no fenced block right after <!-- test command -->"
    command = block[1].strip()
    assert "\n" not in command
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_no_file_names_a_machine_or_a_registry() -> None:
    found = []
    for path in ours():
        text = path.read_bytes().decode("utf-8", errors="ignore")
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in FORBIDDEN.finditer(text)]
    assert found == []


def test_files_are_short() -> None:
    lengths = {path: len(path.read_bytes().splitlines()) for path in ours(".py")}
    long = {str(path.relative_to(ROOT)): n for path, n in lengths.items() if n > LIMIT}
    assert long == {}, f"at most {LIMIT} lines a file"


def test_the_version_is_the_same_everywhere() -> None:
    version = PROJECT["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(rf"^version: {re.escape(version)}$", citation, re.MULTILINE)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (.+)$", changes, re.MULTILINE)
    assert newest
    assert version in newest[1]
