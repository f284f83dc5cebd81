"""What cannot be judged is named, and costs nothing else its verdict."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from boundcheck.reports.cli import main
from boundcheck.verify import catalog
from boundcheck.verify.certificates.make import header
from boundcheck.verify.outcome import digest_of
from boundcheck.verify.suite.results import load

PROMISES = """
class Guesser:
    promises = ("gappletron/lemma-1", "gappletron/theorem-6", "game/*")

    def __init__(self, problem):
        self.n = problem.graph.n_actions

    def predict(self, x):
        return [1 / self.n] * self.n

    def update(self, x, action, label):
        pass
"""

LATE = """
class Late:
    promises = ("game/*",)

    def __init__(self, problem):
        self.n = problem.graph.n_actions
        self.bandit = problem.graph.name == "bandit"
        self.rounds = 0
        self.seen = 0

    def predict(self, x):
        return [1 / self.n] * self.n

    def update(self, x, action, label):
        self.seen += action == 0
        self.rounds += 1
        if self.bandit and self.rounds == 4 and self.seen == 0:
            raise RuntimeError("no action 0 so far")
"""


def run(*arguments: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> int:
    """Run the command line in ``folder`` and return the exit status."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["boundcheck", *arguments])
    return main()


def test_a_learner_that_raises_later_costs_only_its_own_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It raises in some runs of one graph only; the other cells are judged and written."""
    (tmp_path / "late.py").write_text(LATE, encoding="utf-8")
    command = "verify --learner late.py:Late --adversary one-hot --jobs 1 --seed 4"
    assert run(*command.split(), monkeypatch=monkeypatch, folder=tmp_path) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    found = re.fullmatch(
        r"boundcheck: error: run (\d+): learner late\.py:Late raised RuntimeError in update of"
        r" round 3: no action 0 so far; (\d+) of (\d+) cells could not be judged, the others are in"
        r" boundcheck-report/\.",
        error,
    )
    assert found, error
    which, failed, total = (int(number) for number in found.groups())
    assert which > 0, "the first runs go well, by the choice of the seed"
    rows = load(tmp_path / "boundcheck-report").document["results"]
    errors = [row for row in rows if row["verdict"] == "error"]
    assert (len(errors), len(rows)) == (failed, total)
    for row in errors:
        assert row["graph"] == "bandit"
        assert re.search(r"run \d+: .* in update of round 3", row["evidence"])
        assert row["flags"] == ["learner failed"]
    audited = {row["graph"]: row["verdict"] for row in rows if row["claim"] == "game/no-peeking"}
    assert audited == {"bandit": "error", "filtering": "holds", "full": "vacuous"}


def test_replay_refuses_what_would_take_hours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = catalog.claims()["gappletron/lemma-1"]
    form = claim.form("repaired")
    game = {
        "learner": "uniform",
        "learner_source": None,
        "graph": "bandit",
        "comparator_norm": None,
        "seed": 0,
    }
    for adversary, horizon in (
        ("one-hot", 10**9),
        ("segments:n=1000000", None),
        ("random-labels:comparator_norm=3000", None),
    ):
        content = header("played", claim, form)
        content |= {"game": game | {"adversary": adversary, "horizon": horizon}, "round": 3}
        text = json.dumps(content | {"digest": digest_of(content)})
        (tmp_path / "long.json").write_text(text, encoding="utf-8")
        assert run("replay", "long.json", monkeypatch=monkeypatch, folder=tmp_path) == 2
        error = capsys.readouterr().err
        assert "expected at most 10,000,000 rounds" in error
        assert error.count("\n") == 1


def test_a_verdict_without_test_says_which_horizon_would_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tunings = (*(f"theorem-{part}" for part in ("4a", "4b", "5a", "5b")), "ones")
    seen = set()
    for tuning in tunings:
        graph = "full" if tuning == "ones" else "bandit"
        adversary = "keywords:noise=0" if tuning == "ones" else "one-hot:noise=0"
        command = (
            f"verify gappletron/theorem-[345]? --adversary {adversary} --graph {graph} --quick"
        )
        learner = f"gappletron:gamma={tuning}"
        arguments = [*command.split(), "--learner", learner, "--jobs", "1"]
        assert run(*arguments, monkeypatch=monkeypatch, folder=tmp_path) == 0
        printed = capsys.readouterr().out
        assert re.search("(non-vacuous|reach it) from T =", " ".join(printed.split()))
        for row in load(tmp_path / "boundcheck-report").document["results"]:
            if row["verdict"] == "vacuous":
                seen.add(row["claim"])
                assert re.search(r"(non-vacuous|reach it) from T = \d+$", row["evidence"]), row
    assert seen == {f"gappletron/theorem-{part}" for part in ("3a", "3b", "4a", "4b", "5a", "5b")}


def test_promises_that_were_never_tested_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "promises.py").write_text(PROMISES, encoding="utf-8")
    command = "verify --learner promises.py:Guesser --graph bandit --quick --jobs 1"
    assert run(*command.split(), monkeypatch=monkeypatch, folder=tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    (warning,) = [line for line in lines if line.startswith("warning")]
    assert "gappletron/lemma-1 (the learner has no attribute" in warning
    assert "gappletron/theorem-6 (it is about its own environments" in warning
    assert "game/" not in warning
