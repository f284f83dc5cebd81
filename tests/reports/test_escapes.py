"""Names of files, columns and classes are shown as they are, never obeyed."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from boundcheck.errors import UserError, printable
from boundcheck.reports.cli import main
from boundcheck.reports.page.exports import to_csv

RED, TITLE, MIRROR, SURROGATE = "\x1b[31m", "\x1b]0;x\x07", "\u202e", "\udce9"


@pytest.mark.parametrize("text", [RED, TITLE, MIRROR, SURROGATE, "\r", "\x9b31m", "\u2028"])
def test_characters_that_are_not_printable_are_escaped(text: str) -> None:
    found = printable(f"a{text}b")
    assert found.isprintable()
    assert found.encode()
    assert str(UserError(f"a{text}b")) == found


@pytest.mark.parametrize("text", ["", "plain", "two\nlines", "\u00e9\u4e2d\U0001f600", r"\x1b[31m"])
def test_what_is_printable_stays(text: str) -> None:
    assert printable(text) == text


def test_a_poisoned_file_is_shown_and_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name, label, column = f"d{RED}{MIRROR}.csv", f"oak{TITLE}", f"y{RED}"
    rows = "".join(f"0.5,1,{label}\n1,0.5,pine\n" for _ in range(30))
    Path(name).write_text(f"a,b,{column}\n{rows}", encoding="utf-8")
    learner = f"m{RED}.py"
    Path(learner).write_text(
        "import numpy as np\n"
        "class M:\n"
        "    promises = ('game/*',)\n"
        "    def __init__(self, problem): self.n = problem.graph.n_actions\n"
        "    def predict(self, x): return np.full(self.n, 1 / self.n)\n"
        "    def update(self, x, action, label): pass\n",
        encoding="utf-8",
    )
    arguments = ["verify", "game/*", "gappletron/lemma-1", "--graph", "bandit", "--quick", "-v"]
    for more in (
        ["--data", name],
        ["--data", name, "--label", f"b{RED}"],
        ["--data", name, "--learner", f"{learner}:M", "--junit", "u.xml", "--json", "v.json"],
        ["--learner", f"{learner}:{RED}"],
        ["--graph", f"g{RED}.csv"],
        ["--data", f"gone{RED}.csv"],
    ):
        monkeypatch.setattr("sys.argv", ["boundcheck", *arguments, *more])
        main()
    monkeypatch.setattr("sys.argv", ["boundcheck", "report"])
    main()
    out, err = capfd.readouterr()
    written = [Path(file) for file in ("u.xml", "v.json", "boundcheck-report/index.html")]
    written += Path("boundcheck-report/tables").iterdir()
    texts = [out, err, *(path.read_text(encoding="utf-8") for path in written)]
    for text in texts:
        assert not {"\x1b", "\x07", MIRROR} & set(text)
    assert r"\x1b[31m" in out
    assert r"\u202e" in json.dumps(json.loads(written[1].read_bytes()))


@pytest.mark.parametrize("cell", ["=1+1", "+x", "-cmd", "@a", "\tx"])
def test_no_cell_of_a_table_is_a_formula(cell: str) -> None:
    frame = pd.DataFrame({"text": [cell, "a-b"], "number": [-1.5, 2.0]})
    lines = to_csv(frame).splitlines()
    assert lines[1].lstrip('"').startswith(f"'{cell}")
    assert lines[1].endswith("-1.5")
    assert lines[2] == "a-b,2.0"
