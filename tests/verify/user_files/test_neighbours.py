"""Modules beside a file of the user's belong to that file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from boundcheck import UserError
from boundcheck.verify.user_files import neighbours
from boundcheck.verify.user_files.load import load_class, load_module, source_of


def folder(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


STYLES = {
    "module": ("import rates\n", "rates.BEST"),
    "name": ("from rates import BEST\n", "BEST"),
    "renamed": ("import rates as other\n", "other.BEST"),
    "package": ("import tools.rates\n", "tools.rates.BEST"),
    "from package": ("from tools import rates\n", "rates.BEST"),
    "deep": ("from tools.rates import BEST as b\n", "b"),
    "relative": ("from tools import given\n", "given.BEST"),
    "through another": ("import between\n", "between.rates.BEST"),
    "star": ("from rates import *\n", "BEST"),
}


def package(root: Path, best: float, imports: str, value: str, late: bool) -> Path:
    rates = f"BEST = {best}\n"
    inside = "".join(f"        {line}\n" for line in imports.splitlines()) if late else ""
    mine = (
        f"{'' if late else imports}class M:\n    def best(self):\n{inside}        return {value}\n"
    )
    files = {
        "mine.py": mine,
        "rates.py": rates,
        "between.py": "import rates\n",
        "tools/__init__.py": "",
        "tools/rates.py": rates,
        "tools/given.py": "from .rates import BEST\nfrom . import rates as also\nimport between\n",
    }
    return folder(root, files) / "mine.py"


@pytest.mark.parametrize(
    ("style", "late"),
    [(style, late) for style in STYLES for late in (False, True) if not (style == "star" and late)],
)
def test_each_file_has_the_neighbours_beside_it(tmp_path: Path, style: str, late: bool) -> None:
    before = set(sys.modules)
    made = [
        load_class(f"{package(tmp_path / str(best), best, *STYLES[style], late)}:M", "learner")()
        for best in (0.1, 0.9)
    ]
    assert [each.best() for each in made] == [0.1, 0.9]
    assert [each.best() for each in made] == [0.1, 0.9]
    new = {name for name in set(sys.modules) - before if not name.startswith("_")}
    assert not new & {"rates", "tools", "between"}
    assert str(tmp_path / "0.1") not in sys.path


@pytest.mark.parametrize("role", ["learner", "weak learner", "claims", "adversary"])
def test_neighbours_belong_to_files_of_every_kind(tmp_path: Path, role: str) -> None:
    values = []
    for best in (1, 2):
        root = folder(
            tmp_path / str(best),
            {"rates.py": f"BEST = {best}", "mine.py": "import rates\nX = rates.BEST"},
        )
        values.append(load_module(root / "mine.py", role).X)
    assert values == [1, 2]


def test_the_standard_library_comes_before_a_neighbour(tmp_path: Path) -> None:
    root = folder(tmp_path, {"numbers.py": "Integral = 1", "mine.py": "import numbers\n"})
    import numbers

    assert load_module(root / "mine.py", "learner").numbers is numbers


def test_a_neighbour_that_fails_is_named(tmp_path: Path) -> None:
    root = folder(tmp_path, {"rates.py": "1/0\n", "mine.py": "import rates\n"})
    with pytest.raises(UserError, match=r"mine.py' does not import: ZeroDivisionError"):
        load_module(root / "mine.py", "learner")
    root = folder(tmp_path, {"rates.py": "BEST = 1\n", "mine.py": "from rates import WORST\n"})
    with pytest.raises(UserError, match=r"cannot import name 'WORST'"):
        load_module(root / "mine.py", "learner")


def test_the_digest_covers_what_a_file_imports(tmp_path: Path) -> None:
    mine = package(tmp_path, 0.1, *STYLES["relative"], True)
    files = {path.name for path in neighbours.closure(mine)}
    assert files == {"__init__.py", "given.py", "rates.py", "between.py"}
    first = source_of(f"{mine}:M")
    seen = {first}
    for name in ("tools/rates.py", "rates.py", "between.py", "mine.py"):
        path = tmp_path / name
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        seen.add(source_of(f"{mine}:M"))
    assert len(seen) == 5
    other = tmp_path / "tools" / "unused.py"
    other.write_text("x = 1\n", encoding="utf-8")
    assert source_of(f"{mine}:M") in seen


def test_a_file_without_neighbours_keeps_its_digest(tmp_path: Path) -> None:
    from hashlib import sha256

    path = folder(tmp_path, {"mine.py": "import numpy\nimport missing\n"}) / "mine.py"
    assert neighbours.digest(path) == sha256(path.read_bytes()).hexdigest()
    broken = folder(tmp_path, {"broken.py": "def (\n"}) / "broken.py"
    assert neighbours.digest(broken) == sha256(broken.read_bytes()).hexdigest()


@pytest.mark.parametrize("edited", ["rates.py", "mine.py"])
def test_an_edited_neighbour_makes_finished_cases_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str
) -> None:
    from boundcheck.verify.studies import study

    learner = (
        "import numpy as np\n"
        "class M:\n"
        "    def __init__(self, problem): self.n = problem.graph.n_actions\n"
        "    def predict(self, x):\n"
        "        import rates\n"
        "        p = np.full(self.n, (1 - rates.BEST) / (self.n - 1)); p[0] = rates.BEST; return p\n"
        "    def update(self, x, a, l): pass\n"
    )
    folder(tmp_path, {"rates.py": "BEST = 0.1\n", "mine.py": learner})
    monkeypatch.chdir(tmp_path)
    document = {
        "seeds": 1,
        "grid": {"adversary": "one-hot", "graph": "bandit", "horizon": 50, "radius": 1.0},
        "learners": {"Mine": "mine.py:M"},
    }

    def key() -> str:
        (case,) = study.parse("s", document).cases()
        return json.dumps(case.content, sort_keys=True, default=str)

    before = key()
    assert key() == before
    path = tmp_path / edited
    path.write_text(path.read_text(encoding="utf-8").replace("0.1", "0.9") + "\n", encoding="utf-8")
    assert key() != before
