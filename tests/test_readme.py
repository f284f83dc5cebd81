"""README and CONTRIBUTING: every block is run as it stands there, but the test command itself."""

from __future__ import annotations

import ast
import dataclasses
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from operator import attrgetter
from pathlib import Path

import pandas as pd
import pytest
from small_study import SMALL

from boundcheck.algorithms import graphs, losses, optimisers
from boundcheck.algorithms.boosting.problem import WeakProblem
from boundcheck.algorithms.gappletron import RULES
from boundcheck.algorithms.learner import Problem

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(name: str) -> list[tuple[str, str]]:
    """Language and text of the fenced blocks of a file, in order."""
    return BLOCK.findall((ROOT / name).read_text(encoding="utf-8"))


def in_environment(command: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a shell command with this Python's programs first on the path."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": programs} | more,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_every_block_of_the_readme_is_covered() -> None:
    """Installing is done by whoever runs the tests; all other blocks are run below."""
    commands = [text for language, text in blocks("README.md") if language == "bash"]
    assert [text for text in commands if "pip install" in text] == commands[:2]
    assert len(commands) > 4


def test_readme_blocks_run_in_order(tmp_path: Path) -> None:
    outputs = []
    for language, text in blocks("README.md"):
        if language == "python":
            name = re.match(r"# (\w+\.py)\n", text)
            assert name is not None, "a Python block starts with the name of its file"
            (tmp_path / name[1]).write_text(text, encoding="utf-8")
        elif "pip install" not in text:
            done = in_environment(text, tmp_path)
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
            outputs.append(done.stdout)
    report = tmp_path / "boundcheck-report"
    assert (report / "index.html").is_file()
    kinds = Counter(path.suffix for path in (report / "tables").iterdir())
    assert kinds.keys() == {".csv", ".md", ".tex"}
    assert len(set(kinds.values())) == 1, "each table in each form"
    assert "replicate" in pd.read_parquet(report / "curves.parquet")
    printed = "\n".join(outputs)
    for word in ("gappletron/lemma-1", "refuted", "holds", "comparator loss"):
        assert word in printed
    tests = in_environment("python -m pytest -q -p no:cacheprovider test_my_learner.py", tmp_path)
    assert tests.returncode == 0, tests.stdout
    assert re.search(r"\d\d passed", tests.stdout)


def test_a_count_that_is_one_late_in_the_readmes_learner_is_caught(tmp_path: Path) -> None:
    source = next(text for _, text in blocks("README.md") if text.startswith("# my_learner.py"))
    right = "min(0.5, self.gamma / np.sqrt(self.explored))"
    assert right in source
    late = source.replace(right, "min(0.5, self.gamma / np.sqrt(max(1, self.explored - 1)))")
    (tmp_path / "late.py").write_text(late, encoding="utf-8")
    done = in_environment("boundcheck verify --learner late.py:MyLearner --quick", tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "surprise gappletron/algorithm-1 (repaired) is refuted" in done.stdout


@pytest.fixture(scope="module")
def copy_of_the_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package and the files of CONTRIBUTING's examples in their places."""
    folder = tmp_path_factory.mktemp("copy")
    package = folder / "boundcheck"
    package.mkdir()
    for part in ("algorithms", "adversaries", "verify", "reports"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, package / part, ignore=ignored)
    for file in ROOT.glob("*.py"):
        shutil.copy(file, package)
    for language, text in blocks("CONTRIBUTING.md"):
        if language == "python":
            name = re.match(r"# ([\w/]+\.py)\n", text)
            assert name is not None, "a Python block starts with the path of its file"
            assert not (package / name[1]).exists(), "an example is a new file"
            (package / name[1]).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "command", [text.strip() for language, text in blocks("CONTRIBUTING.md") if language == "bash"]
)
def test_contributing_examples_are_found_and_judged(
    command: str, copy_of_the_package: Path
) -> None:
    run = command.replace("boundcheck ", "python -m boundcheck ", 1)
    done = in_environment(run, copy_of_the_package, PYTHONPATH=str(copy_of_the_package))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "holds" in done.stdout


def test_contributing_learner_is_listed(copy_of_the_package: Path) -> None:
    run = "python -m boundcheck list learners"
    done = in_environment(run, copy_of_the_package, PYTHONPATH=str(copy_of_the_package))
    assert done.returncode == 0, done.stderr
    assert "greedy" in done.stdout


def test_a_study_is_one_new_file(copy_of_the_package: Path) -> None:
    folder, package = copy_of_the_package, copy_of_the_package / "boundcheck"
    text = f"title = 'A newcomer'\n{SMALL}"
    (package / "verify" / "studies" / "newcomer.toml").write_text(text, encoding="utf-8")
    for run, words in (
        ("list studies", ("newcomer", "A newcomer")),
        ("study newcomer --jobs 1", ("study newcomer: 4 of 4 cases finished",)),
        ("report --study results/newcomer", ("results/newcomer/index.html",)),
    ):
        done = in_environment(f"python -m boundcheck {run}", folder, PYTHONPATH=str(folder))
        assert done.returncode == 0, done.stdout + done.stderr
        for word in words:
            assert word in done.stdout
    page = (folder / "results" / "newcomer" / "index.html").read_text(encoding="utf-8")
    assert "A newcomer" in page


def test_contributing_examples_pass_the_linter(copy_of_the_package: Path) -> None:
    names = [
        re.match(r"# ([\w/]+\.py)", text)
        for kind, text in blocks("CONTRIBUTING.md")
        if kind == "python"
    ]
    files = [str(copy_of_the_package / "boundcheck" / name[1]) for name in names if name]
    assert len(files) == 4
    configuration = ROOT / "pyproject.toml"
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--config", str(configuration), *files],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_the_guides_claim_needs_at_most_eight_of_our_names() -> None:
    """From one import for authors, and what the claim says of its own family."""
    (text,) = [text for _, text in blocks("CONTRIBUTING.md") if "Claim(" in text]
    ours = [node for node in ast.walk(ast.parse(text)) if getattr(node, "level", 0)]
    assert sum(len(node.names) for node in ours) <= 8
    assert [node.module for node in ours if node.module == "author"]


@pytest.mark.parametrize("name", ["docs/adversaries.md", "docs/games.md"])
def test_blocks_of_a_page_run_in_order(name: str, tmp_path: Path) -> None:
    commands = 0
    for language, text in blocks(name):
        if language == "python":
            file = re.match(r"# (\w+\.py)\n", text)
            assert file is not None, "a Python block starts with the name of its file"
            (tmp_path / file[1]).write_text(text, encoding="utf-8")
            continue
        for command in text.splitlines():
            done = in_environment(command, tmp_path)
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
            assert "holds" in done.stdout or "accepted" in done.stdout
            commands += 1
    assert commands >= 2


PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    """To a file, and to a heading of it."""
    page = ROOT / name
    for path, heading in re.findall(r"\]\(([^)#:]*)(?:#([\w-]+))?\)", page.read_text("utf-8")):
        target = page.parent / path if path else page
        assert target.exists(), path
        if heading:
            titles = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
            names = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
            assert heading in names, heading


def test_the_glossary_is_in_order() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = text.partition("## Glossary")[2].partition("\n## ")[0]
    words = re.findall(r"^\| ([^|]+?) \|", table, re.MULTILINE)[1:]
    assert len(words) > 30
    assert words == sorted(words, key=str.lower)


@pytest.mark.parametrize("name", PAGES)
def test_the_files_that_are_named_exist(name: str) -> None:
    written = "\n".join(text for _, text in blocks(name))
    text = (ROOT / name).read_text(encoding="utf-8")
    folders = "adversaries|algorithms|docs|reports|tests|verify"
    named = set(re.findall(rf"`((?:{folders})/[\w/.-]*)`", text))
    assert named or name != "CONTRIBUTING.md"
    made = {path for path in named if f"# {path}\n" in written}
    assert [path for path in sorted(named - made) if not (ROOT / path).exists()] == []


def test_the_page_on_learners_is_true() -> None:
    """Every attribute of the problem that it names exists, and it names every legal value."""
    text = (ROOT / "docs" / "learners.md").read_text(encoding="utf-8")
    problems = (
        Problem(graphs.parse("label-efficient", 3), 2, 10),
        WeakProblem(2, 2, 10, 0.1, 1, 1),
    )
    named = set(re.findall(r"`problem\.([\w.]+)`", text))
    assert len(named) >= 9
    for name in named:
        assert any(hasattr(problem, name.partition(".")[0]) for problem in problems), name
        if name.startswith("graph."):
            attrgetter(name)(problems[0])
    cells = {field.name for made in problems for field in dataclasses.fields(made)} - {"graph"}
    assert cells <= named
    for value in [*RULES, *optimisers.NAMES, *losses.FORMS]:
        assert f"`{value.split()[0]}`" in text
