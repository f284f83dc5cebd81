"""The rules of the repository that a reader relies on and no tool enforces."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import boundcheck

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PROJECT["tool"]["setuptools"]["packages"]
LIMIT = 400

#: Each part of the package and the parts it may import; imports inside a part are free.
LAYERS: dict[str, set[str]] = {
    "errors": set(),
    "arrays": set(),
    "vectors": {"arrays"},
    "compiled": {"errors", "arrays", "vectors"},
    "algorithms": {"errors", "arrays", "vectors", "compiled"},
    "adversaries": {"errors", "arrays", "vectors", "compiled", "algorithms"},
    "verify": {"errors", "arrays", "vectors", "compiled", "algorithms", "adversaries"},
    "reports": {"errors", "arrays", "vectors", "compiled", "algorithms", "adversaries", "verify"},
    "__main__": {"reports"},
    "": set(),
}
#: What adversaries may know of the algorithms: the rules of the game, never a learner.
SHARED_WITH_ADVERSARIES = {"algorithms.graphs", "algorithms.losses", "algorithms.spec"}

FORBIDDEN = re.compile(
    r"(?<![\w.])/(?:work|root|home|Users)/"
    r"|pypi\.org|pythonhosted\.org|anaconda\.org|npmjs\.org|proxy\.golang\.org|--(?:extra-)?index-url"
)


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
    """One import of ours, from ``source`` to the module ``target`` or a ``name`` in it."""

    source: str
    target: str
    name: str
    line: int
    at_import: bool

    @property
    def where(self) -> str:
        return f"{MODULES[self.source].relative_to(ROOT)}:{self.line}"

    @property
    def version(self) -> bool:
        """Whether this is ``from .. import __version__``, which loads nothing."""
        return (self.target, self.name) == ("", "__version__")


def nodes(tree: ast.AST, at_import: bool = True) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield each import statement and whether it runs when its module is imported."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, at_import
        late = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        typing = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        yield from nodes(child, at_import and not late and not typing)


def imports(source: str, tree: ast.AST) -> Iterator[Import]:
    """Yield the relative imports of the module ``source``, one per imported name."""
    is_package = MODULES[source].name == "__init__.py"
    here = source.split(".") if source else []
    for node, at_import in nodes(tree):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        up = node.level - is_package
        base = here[: len(here) - up] + (node.module.split(".") if node.module else [])
        for alias in node.names:
            inner = ".".join([*base, alias.name])
            target, name = (inner, "") if inner in MODULES else (".".join(base), alias.name)
            yield Import(source, target, name, node.lineno, at_import)


TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
IMPORTS = [found for name, tree in TREES.items() for found in imports(name, tree)]


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` in a new interpreter."""
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments], capture_output=True, text=True, check=False
    )


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
    for node, _ in nodes(tree):
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
    used.discard("pytest")  # verify/checks.py loads it inside the decorator for pytest's users
    owners = packages_distributions()
    assert {
        module
        for module in used - sys.stdlib_module_names - {"boundcheck"}
        if not declared & {owner.lower() for owner in owners.get(module, [])}
    } == set()


def test_no_module_imports_itself_through_others() -> None:
    graph: dict[str, set[str]] = defaultdict(set)
    for found in IMPORTS:
        if found.at_import and not found.version:
            graph[found.source].add(found.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(name or "root" for name in error.args[1]))


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
