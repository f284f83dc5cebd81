"""The program as a library: the functions say, find and write what the commands do."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import BROKEN
from command_line import boundcheck as command
from rich.console import Console
from small_study import SMALL

import boundcheck
from boundcheck import UserError, Verdict, check_learner, run_study, verify_claims, write_report
from boundcheck.verify import catalog
from boundcheck.verify.suite import results

CLAIMS = ("gappletron/condition-2", "gappletron/theorem-7")

OWN_CLAIM = """
from boundcheck import Claim, Form, Pathwise, Proof, Setting, Sides, Source

def sides(case, form, rounds):
    errors = rounds.column("error")
    return Sides(errors, 0 * errors, 0 * errors)

CLAIM = Claim(
    "mine/never-wrong", "no mistakes", Source("Nobody", "Jokes", 2000),
    (Form("printed", "M_T = 0", Proof.FALSE, "a joke"),), Pathwise(sides),
)
"""

EVERY_MODULE = """
import pkgutil
from importlib import import_module
import boundcheck
names = [found.name for found in pkgutil.walk_packages(boundcheck.__path__, "boundcheck.")]
ours = [name for name in names if not name.startswith("boundcheck.tests")]
for name in ours:
    if not name.endswith("__main__"):
        import_module(name)
assert len(ours) > 100, ours
children = {name.split(".")[1] for name in ours}
public = set(boundcheck.__all__) - {"__version__"}
assert not public & children, public & children
functions = boundcheck.verify_claims, boundcheck.run_study, boundcheck.write_report
found = boundcheck.verify_claims("gappletron/lemma-3", graph="full", quick=True)
found.save("verdicts")
boundcheck.run_study("small.toml", folder="studies")
boundcheck.write_report("verdicts", studies=["studies/small"])
print(found)
"""


class Guesser:
    """Plays every action as often, and promises nothing else."""

    promises = ("game/*",)

    def __init__(self, problem: Any) -> None:
        self.n_actions = problem.graph.n_actions

    def predict(self, x: np.ndarray) -> np.ndarray:
        return np.full(self.n_actions, 1 / self.n_actions)

    def update(self, x: np.ndarray, action: int, label: int | None) -> None:
        pass


def contents(folder: Path) -> dict[str, bytes]:
    """Everything that a run wrote but the lock, by path; without the seconds."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != results.LOCK
    }
    document = json.loads(files[results.VERDICTS])
    document["suite"].pop("seconds")
    return files | {results.VERDICTS: json.dumps(document).encode()}


def test_no_name_is_shadowed_by_a_part_of_the_package(tmp_path: Path) -> None:
    """A submodule that is imported becomes an attribute of the package, in place of what had its name."""
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "-c", EVERY_MODULE], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "gappletron/lemma-3" in done.stdout
    assert "small" in (tmp_path / "verdicts" / "index.html").read_text(encoding="utf-8")


def test_it_prints_and_writes_what_the_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(BROKEN, encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "120")
    asked = ("verify", "gappletron/lemma-*", "--learner", "mine.py:Flipped", "--graph", "bandit")
    options = ("--quick", "--seed", "3", "--jobs", "1", "--out", "theirs")
    assert command(*asked, *options, monkeypatch=monkeypatch, folder=tmp_path) == 1
    printed = capsys.readouterr().out
    found = verify_claims(
        "gappletron/lemma-*", learner="mine.py:Flipped", graph="bandit", quick=True, seed=3
    )
    assert printed.startswith(f"{found}\n")
    assert "SURPRISE" in str(found)
    document = found.save("ours")
    assert contents(tmp_path / "ours") == contents(tmp_path / "theirs")
    assert any((tmp_path / "ours" / "certificates").iterdir())
    assert document == json.loads((tmp_path / "ours" / "verdicts.json").read_text("utf-8"))
    assert [row.claim for row in found.surprises] == [
        row["claim"] for row in document["results"] if row["surprising"]
    ]
    assert found.errors == []


def test_a_row_of_the_frame_is_a_cell_of_the_document() -> None:
    found = verify_claims(CLAIMS, quick=True)
    frame = found.to_frame()
    rows = found.document["results"]
    assert len(frame) == len(found.rows) == len(rows) > 10
    assert list(frame) == [key for key in rows[0] if key != "frontier"]
    told = frame.astype(object).where(frame.notna(), None)
    for name in frame:
        assert told[name].to_list() == [row[name] for row in rows], name
    assert frame["certificate"].notna().to_list() == (frame["verdict"] == "refuted").to_list()
    assert set(frame["claim"]) == set(CLAIMS)


def test_the_table_is_that_of_a_console_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    found = verify_claims("gappletron/theorem-7", quick=True)
    assert "\x1b" not in str(found)
    header = " ".join(str(found).splitlines()[0].split())
    assert header == "claim form verdict expected ratio regret headroom runs"
    Console(file=io.StringIO()).print(found)


def test_claims_are_one_glob_or_several() -> None:
    one = verify_claims("gappletron/lemma-3*", graph="full", quick=True)
    several = verify_claims(
        ["gappletron/lemma-3", "gappletron/lemma-3-gradient"], graph="full", quick=True
    )
    assert str(one) == str(several)


@pytest.mark.parametrize("given", ["spec", "class", "file", "learner"])
def test_learners_in_every_form(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(BROKEN, encoding="utf-8")
    learner = {
        "spec": "uniform",
        "class": Guesser,
        "file": "mine.py:Flipped",
        "learner": catalog.learner("uniform"),
    }[given]
    found = verify_claims("game/*", learner=learner, graph="bandit", rounds=50, runs=8, quick=True)
    (spec,) = {row.learner for row in found.rows}
    assert spec.endswith({"class": "test_api.py:Guesser", "file": learner}.get(given, "uniform"))
    assert {row.verdict.value for row in found.rows} == {"holds"}
    assert {row.case.split("T=")[1].split()[0] for row in found.rows} == {"50"}


def test_data_with_a_label_and_a_radius(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a,kind,b\n3,x,4\n0,y,1\n", encoding="utf-8")
    found = verify_claims(
        ["gappletron/lemma-1"], data=str(data), label="kind", radius=2, graph="full", quick=True
    )
    measured = {row["name"]: row["measured"] for row in found.document["hypotheses"]}
    assert (measured["feature norm"], measured["comparator norm"], measured["labels"]) == (5, 2, 2)
    assert all("B=2" in row.case and str(data) in row.case for row in found.rows)


def test_a_file_of_claims(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OWN_CLAIM, encoding="utf-8")
    catalog.claims.cache_clear()
    found = verify_claims(
        "mine/*", claims_file=file, adversary="one-hot:noise=0.1", graph="bandit", quick=True
    )
    catalog.claims.cache_clear()
    assert {row.verdict.value for row in found.rows} == {"refuted"}
    assert found.surprises == [], "nobody promised it"
    assert found.untested == {}


def test_promises_that_were_never_tested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(BROKEN.replace("lemma-1", "theorem-6"), encoding="utf-8")
    found = verify_claims(learner="mine.py:Flipped", graph="bandit", quick=True)
    assert list(found.untested) == ["gappletron/theorem-6"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"claims": "gapletron/*"}, "unknown claim 'gapletron/*' (did you mean 'gappletron/*'?)"),
        ({"quick": True, "full": True}, "both quick and full are given"),
        ({"learner": "unifrom"}, "did you mean 'uniform'"),
        ({"learner": 5}, "learner 5: expected a spec, a class"),
        ({"data": "absent.csv"}, "absent.csv"),
        ({"label": "kind"}, "label column 'kind' is given without --data"),
        ({"radius": -1.0}, "B=-1"),
        ({"graph": "full", "rounds": 0}, "rounds=0: expected at least 1"),
        ({"runs": 0}, "runs=0: expected at least 1"),
        ({"claims_file": "absent.py"}, "no such file"),
    ],
)
def test_mistakes_are_users_errors(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as raised:
        verify_claims(**given)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_learner_that_fails_in_every_run_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = BROKEN.replace("return p", "raise KeyError('lost')")
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"mine\.py:Flipped raised KeyError .*lost"):
        verify_claims("game/*", learner="mine.py:Flipped", graph="bandit", quick=True)


def test_rounds_are_the_horizon_of_the_suite_of_a_check_and_of_a_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    claims = ["banditron/*", "gappletron/theorem-7"]
    rows = verify_claims(claims, quick=True, rounds=70).rows
    assert {row.case.split("T=")[1].split(" ")[0] for row in rows} == {"70", "all"}
    assert all(" | T=all" in row.case for row in rows if "T=70" not in row.case)
    # at another horizon the suite expects of its learners what they promise, and a vacuous bound is no surprise
    late = [row for row in rows if row.claim == "banditron/mistake-bound"]
    assert {(row.expected, row.verdict) for row in late} >= {(Verdict.HOLDS, Verdict.VACUOUS)}
    assert not any(row.surprising for row in rows)
    checked = check_learner("banditron", graph="bandit", rounds=40)
    assert {row.case.split("T=")[1].split(" ")[0] for row in checked} == {"40"}
    toml = (
        SMALL
        + """
[[findings]]
says = "of this horizon"
left = "Gap"
right = "Guesser"
relation = "at most"
where = { horizon = 50 }
"""
    )
    Path("small.toml").write_text(toml, encoding="utf-8")
    found = run_study("small.toml", rounds=30)
    assert found.study.grid["horizon"] == (30,)
    assert sorted(found.final["rounds"].unique()) == [30]
    assert found.study.findings == ()


def test_a_study_is_played_read_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SMALL, encoding="utf-8")
    found = run_study("small.toml", folder="studies")
    assert (found.study.name, found.finished, found.planned) == ("small", 4, 4)
    assert {"Guesser", "Gap"} == set(found.final["learner"])
    before = {path: path.stat().st_mtime_ns for path in Path("studies/small").glob("*.parquet")}
    assert len(run_study("small.toml", folder="studies").final) == len(found.final)
    assert before == {path: path.stat().st_mtime_ns for path in before}, "nothing is played again"
    page, *tables = write_report(studies=["studies/small"])
    assert page == Path("studies/small/index.html"), "the page of the verdicts stays as it is"
    assert all(path.is_file() for path in (page, *tables))
    with pytest.raises(UserError, match="two studies are called 'small'"):
        write_report(studies=["studies/small", "studies/small"])
    with pytest.raises(UserError, match="unknown study 'smokes'"):
        run_study("smokes")


def test_a_page_of_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    verify_claims("gappletron/theorem-7", quick=True).save("mine")
    page, *tables = write_report("mine", "pages")
    assert page == Path("pages/index.html")
    assert "gappletron/theorem-7" in page.read_text(encoding="utf-8")
    assert {path.suffix for path in tables} == {".csv", ".md", ".tex"}
    with pytest.raises(UserError, match=r"verdicts\.json"):
        write_report("absent")
    with pytest.raises(UserError, match="but not a page"):
        write_report("mine", "mine/verdicts.json")


def test_the_functions_are_names_of_the_package() -> None:
    for name in ("verify_claims", "run_study", "write_report", "UserError"):
        assert name in boundcheck.__all__
        assert name in dir(boundcheck)
