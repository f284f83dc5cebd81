"""Pages, tables and resumed studies run nothing that results name, and every replay line that is printed runs."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import boundcheck
from mail import MARK, Mail, shell

from boundcheck.reports.studies import section
from boundcheck.verify import catalog
from boundcheck.verify.studies import store
from boundcheck.verify.studies.asymptotic import asymptotic_share
from boundcheck.verify.studies.study import StudyCase


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mail:
    monkeypatch.chdir(tmp_path)
    return Mail(tmp_path)


BOOSTER = """
import random

class W:
    edge, delta, excess_loss = 0.9, 0.05, 1.0

    def __init__(self, problem):
        self.k, self.dice = problem.n_labels, random.Random(problem.seed)

    def predict(self, x):
        return self.dice.randrange(self.k)

    def update(self, x, cost, weight):
        pass
"""

STUDY = """
seeds = 1
[grid]
adversary = "keywords"
graph = "bandit"
horizon = 50
[learners]
U = "uniform"
BB = "bandit-bbm:learners=3,gamma=0.1{}"
"""


def _run(mail: Mail, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> int:
    return boundcheck(*arguments, monkeypatch=monkeypatch, folder=mail.folder)


@pytest.mark.parametrize("changed", ["", "weak=evil.py:Wrong", "weak=evil.py:Wrong\n", "BB=evil"])
def test_a_report_runs_nothing_that_results_name(
    changed: str, mail: Mail, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a weak learner of a file, as a study wrote it or as somebody changed its Parquet metadata and plan."""
    (mail.folder / "w.py").write_text(MARK.format(str(mail.mark)) + BOOSTER, encoding="utf-8")
    (mail.folder / "st.toml").write_text(STUDY.format(",weak=w.py:W"), encoding="utf-8")
    assert _run(mail, "study", "st.toml", "--jobs", "1", "--quiet", monkeypatch=monkeypatch) == 0
    assert mail.ran
    (path,) = (mail.folder / "results" / "st").glob("*.parquet")
    if changed:
        rename(path, lambda case: case["learners"][1].__setitem__(3, replaced(case, changed)))
    asymptotic_share.cache_clear()  # as in a process of its own
    assert _run(mail, "report", "--study", "results/st", monkeypatch=monkeypatch) == 0
    assert not mail.ran
    limits = section.load(mail.folder / "results" / "st").sums["asymptotic_share"]
    assert limits.notna().any() == (changed != "BB=evil")
    page = (mail.folder / "results" / "st" / "index.html").read_text("utf-8")
    assert "1 of 1" in page


def test_a_page_that_would_run_a_file_does_not(
    mail: Mail, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever part of it comes to ask for a learner."""
    (mail.folder / "st.toml").write_text(STUDY.format(""), encoding="utf-8")
    assert _run(mail, "study", "st.toml", "--jobs", "1", "--quiet", monkeypatch=monkeypatch) == 0
    monkeypatch.setattr(
        section, "asymptotic_share", lambda spec, k: catalog.learner("evil.py:Wrong")
    )
    assert _run(mail, "report", "--study", "results/st", monkeypatch=monkeypatch) == 2
    assert "'evil.py' is not run" in capsys.readouterr().err
    assert not mail.ran


def replaced(case: dict[str, Any], changed: str) -> str:
    spec: str = case["learners"][1][3]
    return "evil.py:Wrong" if changed == "BB=evil" else spec.replace("weak=w.py:W", changed)


def rename(path: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """Change the case in the metadata of a finished one, and its names, so that it is read."""
    table = pq.read_table(path)
    content = json.loads(table.schema.metadata[store.METADATA])
    change(content["case"])
    key = StudyCase(content["case"]).key
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    pq.write_table(
        pa.table(table.to_pydict(), store.COLUMNS.with_metadata({store.METADATA: text.encode()})),
        path.with_name(f"{key}.parquet"),
    )
    plan = json.loads((path.parent / store.PLAN).read_text("utf-8"))
    plan["cases"] = [key]
    (path.parent / store.PLAN).write_text(json.dumps(plan), encoding="utf-8")
    path.unlink()
    return path.with_name(f"{key}.parquet")


def test_a_resumed_study_plays_what_its_file_says(
    mail: Mail, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mail.folder / "st.toml").write_text(STUDY.format(""), encoding="utf-8")
    arguments = ("study", "st.toml", "--jobs", "1", "--quiet")
    assert _run(mail, *arguments, monkeypatch=monkeypatch) == 0
    (path,) = (mail.folder / "results" / "st").glob("*.parquet")
    before = path.read_bytes()
    other = rename(path, lambda case: case["learners"][1].__setitem__(2, "evil.py:Wrong"))
    assert _run(mail, *arguments, monkeypatch=monkeypatch) == 0
    assert not mail.ran
    assert path.read_bytes() == before
    assert other.exists()  # it is no case of this study


LINES = {
    "a learner": (
        ("gappletron/lemma-1", "--learner", "evil.py:Wrong", "--graph", "full"),
        "--trust",
    ),
    "an adversary": (
        (
            *("gappletron/lemma-1", "--learner", "evil.py:Wrong", "--graph", "full"),
            *("--adversary", "adv.py:Waves"),
        ),
        "--trust",
    ),
    "data": (
        (
            *("gappletron/lemma-1", "--learner", "evil.py:Wrong", "--graph", "full"),
            *("--data", "my data.csv"),
        ),
        "--trust",
    ),
    "a folder with spaces": (
        (
            "gappletron/lemma-1",
            "--learner",
            "evil.py:Wrong",
            "--graph",
            "full",
            "--out",
            "a b; touch ran",
        ),
        "--trust 'a b; touch ran/",
    ),
    "claims": (
        ("mine/*", "--claims", "my claims.py", "--learner", "evil.py:Wrong", "--graph", "full"),
        "--trust --claims 'my claims.py'",
    ),
}

CLAIMS = """
from boundcheck import Claim, Form, Pathwise, Proof, Sides, Source

def sides(case, form, rounds):
    errors = rounds.column("error")
    return Sides(errors, 0 * errors, 0 * errors)

CLAIM = Claim(
    "mine/never-wrong", "no mistakes", Source("Nobody", "Jokes", 2000),
    (Form("printed", "M_T = 0", Proof.PROVED, "a joke"),), Pathwise(sides),
)
"""


@pytest.mark.parametrize("name", LINES)
def test_every_replay_line_that_is_printed_runs(
    name: str, mail: Mail, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the terminal and of the page, each as it stands."""
    (mail.folder / "my claims.py").write_text(CLAIMS, encoding="utf-8")
    rows = "".join(f"{i % 2},{(i + 1) % 2},{'ba'[i % 2]}\n" for i in range(40))
    (mail.folder / "my data.csv").write_text(f"x,y,label\n{rows}", encoding="utf-8")
    arguments, words = LINES[name]
    line = "boundcheck verify --quick --jobs 1 " + shlex.join(arguments)
    assert shell(line, monkeypatch=monkeypatch, folder=mail.folder) == 1
    printed = capsys.readouterr().out
    out = "a b; touch ran" if "--out" in arguments else "boundcheck-report"
    lines = [each.strip() for each in printed.splitlines() if "boundcheck replay" in each]
    page_line = shlex.join(["boundcheck", "report", "--results", out])
    assert shell(page_line, monkeypatch=monkeypatch, folder=mail.folder) == 0
    page = html.unescape((mail.folder / out / "index.html").read_text("utf-8"))
    shown = re.findall(r"<code>(boundcheck replay .*?)</code>", page)
    shown = [re.sub("<.*?>", "", each) for each in shown]
    assert lines
    assert shown
    assert "from the folder in which verify ran" in page
    for each in {*lines, *shown}:
        assert words in each
        capsys.readouterr()
        assert shell(each, monkeypatch=monkeypatch, folder=mail.folder) == 0, each
        assert "accepted" in capsys.readouterr().out
        bare = each.replace("--trust ", "")
        mail.ran  # noqa: B018 - forgets the mark
        assert shell(bare, monkeypatch=monkeypatch, folder=mail.folder) == 2
        assert "--trust" in capsys.readouterr().err
        assert not mail.ran


def test_a_line_that_needs_no_other_file_runs_from_the_folder_of_its_page(
    mail: Mail, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of an exact certificate, and of a game of the library alone."""
    names = ("gappletron/theorem-7", "gappletron/theorem-6")
    verify = "boundcheck verify --quick --jobs 1 --out here/out " + shlex.join(names)
    assert shell(verify, monkeypatch=monkeypatch, folder=mail.folder) == 0
    report = "boundcheck report --results here/out --out page"
    assert shell(report, monkeypatch=monkeypatch, folder=mail.folder) == 0
    page = html.unescape((mail.folder / "page" / "index.html").read_text("utf-8"))
    shown = re.findall(r"<code>(boundcheck replay .*?)</code>", page)
    assert shown
    assert "from the folder of this page" in page
    for each in shown:
        line = re.sub("<.*?>", "", each)
        assert "--" not in line
        capsys.readouterr()
        assert shell(line, monkeypatch=monkeypatch, folder=mail.folder / "page") == 0, line
        assert "accepted" in capsys.readouterr().out
