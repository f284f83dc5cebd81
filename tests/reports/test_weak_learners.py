"""Weak learners on the command line: broken ones are refuted, a right one passes, and bad input is told."""

from __future__ import annotations

import json
import random
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import weak
from command_line import boundcheck

from boundcheck import RefutedPromise, UserError, check_learner
from boundcheck.algorithms.boosting.problem import WeakProblem
from boundcheck.verify.resolve import resolve
from boundcheck.verify.suite.pytest_checks import promised_claims
from boundcheck.verify.suite.request import Request, jobs_for

LEARNERS = Path(weak.__file__)
DOCS = Path(__file__).resolve().parents[2] / "docs" / "learners.md"

TILTED = "tilted-weights"
PLANTED = "planted-stump:edge=0.4"
SMALL = "planted-stump:n_labels=2,n_features=1,noise=two-point+size=0.25"


@pytest.mark.parametrize(
    ("name", "adversary", "status"),
    [
        ("Reversed", PLANTED, 1),
        ("Weightless", TILTED, 1),
        ("Misplaced", PLANTED, 1),
        ("Stumps", SMALL, 0),
    ],
)
def test_a_broken_update_is_refuted_and_a_right_one_passes(
    name: str,
    adversary: str,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["verify", "boosting/bandit-wlc", "--learner", f"{LEARNERS}:{name}", "--quick"]
    arguments += ["--adversary", adversary, "--graph", "bandit"]
    assert boundcheck(*arguments, monkeypatch=monkeypatch, folder=tmp_path) == status
    told = capsys.readouterr().out
    assert ("refuted SURPRISE" in told) == bool(status)
    assert ("8 of 8 violate" in told) == bool(status)
    commands = re.findall(r"boundcheck replay (?:--trust )?(\S+)", told)
    monkeypatch.setenv("COLUMNS", "300")
    assert len(commands) == status
    for certificate in commands:
        assert (
            boundcheck("replay", "--trust", certificate, monkeypatch=monkeypatch, folder=tmp_path)
            == 0
        )
        replayed = capsys.readouterr().out
        assert "accepted" in replayed
        words = dict(re.findall(r"^(\S.*?)  +(\S.*?) *$", replayed, re.MULTILINE))
        content = json.loads((tmp_path / certificate).read_text("utf-8"))
        declared = content["game"]["resolved"]["declared"]
        bound = float(declared["excess_loss"])
        assert f":{name}" in words["learner"]
        assert words["adversary"] == adversary
        assert int(words["T"]) == content["game"]["horizon"]
        assert int(words["runs"]) == content["replicates"] == len(content["observed"])
        assert int(words["violations"]) == sum(float(x) > bound for x in content["observed"]) > 0
        for shown, told in (("edge", declared["edge"]), ("delta", declared["delta"])):
            assert float(words[shown]) == float(told)
        assert float(words["log e-value"]) == float(content["log_e_value"])
        largest = max(map(float, content["observed"]))
        assert words["sum w c - (1 - gamma)/k sum w"] == f"{largest:.10g}"
        assert words["S"] == f"{bound:.10g}"
        assert f"above S = {bound:.10g}." in replayed


def test_through_the_library() -> None:
    names = ("bandit-wlc", "bandit-wlc-anytime", "frontier", "online-wlc", "online-wlc-anytime")
    assert promised_claims(weak.Stumps) == [f"boosting/{name}" for name in names]
    with pytest.raises(RefutedPromise, match="bandit-wlc") as told:
        check_learner(weak.Reversed, claims=["boosting/bandit-wlc"], adversary=SMALL)
    assert told.value.certificate is not None


def test_the_example_of_the_documentation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, *commands = re.findall(r"```(?:python|sh)\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)[
        -3:
    ]
    (tmp_path / "weak.py").write_text(code, encoding="utf-8")
    for command in commands:
        words = shlex.split(command)
        assert words[:2] == ["boundcheck", "verify"]
        assert boundcheck(*words[1:], monkeypatch=monkeypatch, folder=tmp_path) == 0
        assert "holds" in capsys.readouterr().out


class Right:
    """Declares all and never changes its mind."""

    edge, delta, excess_loss = 0.1, 0.05, 3.0

    def __init__(self, problem: WeakProblem) -> None:
        self.problem = problem

    def predict(self, x: Any) -> Any:
        return 0

    def update(self, x: Any, cost: Any, weight: float) -> None:
        pass


class Beyond(Right):
    def predict(self, x: Any) -> Any:
        return self.problem.n_labels


class Writes(Right):
    def update(self, x: Any, cost: Any, weight: float) -> None:
        cost[0] = 9.0


class Raises(Right):
    def update(self, x: Any, cost: Any, weight: float) -> None:
        raise KeyError("lost")


class Unseeded(Right):
    def __init__(self, problem: WeakProblem) -> None:
        super().__init__(problem)
        self.draw = random.Random()

    def predict(self, x: Any) -> int:
        return self.draw.randrange(2)


class Sharing(Right):
    """Every instance draws from the same dice."""

    draw = random.Random(1)

    def predict(self, x: Any) -> int:
        return self.draw.randrange(2)


class Misspelt(Right):
    promises = ("boosting/bandit-wcl",)


class Sure(Right):
    edge = 1.0


class Worded(Right):
    excess_loss = "small"  # type: ignore[assignment]


class Endless(Right):
    excess_loss = 10**400


class Fickle(Right):
    def __init__(self, problem: WeakProblem) -> None:
        super().__init__(problem)
        self.excess_loss = 1.0 + problem.seed


class Hopeful(Right):
    anytime = "false"


class Rare(Right):
    delta = 1e-300


class Moody(Right):
    @property
    def excess_loss(self) -> float:  # type: ignore[override]
        raise RuntimeError("not today")


class Swapped(Right):
    def update(self, x: Any, weight: float, cost: Any) -> None:  # type: ignore[override]
        pass


class Hopeless(Right):
    """Declares the legal number 0, which a constant label exceeds."""

    excess_loss = 0.0


class Broken(Right):
    def __init__(self, problem: WeakProblem) -> None:
        raise RuntimeError("no")


class Half(Right):
    def update(self, x: Any, costs: Any, weights: float) -> None:  # type: ignore[override]
        pass


AGAIN = (
    r"does not repeat itself: in round \d+ of run 0 it predicted [01] and, when the run was played again, [01];"
    r" expected all that it draws to come from problem\.seed, and no state shared between instances\.$"
)
BAD = {
    "Unseeded": rf"weak learner .+:Unseeded {AGAIN}",
    "Sharing": rf"weak learner .+:Sharing {AGAIN}",
    "Beyond": r"weak learner 0 of .+:Beyond predicted 3 in round 0: expected an integer from 0 to 2",
    "Writes": r"weak learner 0 of .+:Writes changed the cost vector it was given from \[.*\] to \[9.0,",
    "Raises": r"weak learner 0 of .+:Raises raised KeyError in update of round 0: 'lost'",
    "Misspelt": r"promises of .+:Misspelt name the unknown claim 'boosting/bandit-wcl' \(did you mean"
    r" 'boosting/bandit-wlc'\?\): expected globs of ids that 'boundcheck list claims' shows\.$",
    "Sure": r"edge=1.0 of .+:Sure: expected a number in \[0, 1\)",
    "Endless": r"excess_loss=10{30,} of .+:Endless: expected a number",
    "Fickle": r"weak learner .+:Fickle declares .* expected numbers that do not depend on problem\.seed or chance",
    "Hopeful": r"anytime='false' of .+:Hopeful: expected True or False",
    "Rare": r"delta=1e-300 of .+:Rare: expected a number in \[1e-09, 1\)",
    "Moody": r".+:Moody cannot say what it declares: RuntimeError: not today; expected numbers",
    "Swapped": r"update\(self, x, weight, cost\) of .+:Swapped: expected update\(x, cost, weight\)",
    "Worded": r"excess_loss='small' of .+:Worded: expected a number",
    "Broken": r"weak learner .+:Broken cannot be made: RuntimeError: no; expected a class called with the problem",
    "Half": r"update\(self, x, costs, weights\) of .+:Half: expected update\(x, cost, weight\) of a weak learner,"
    r" or update\(x, action, label\) of a learner",
}


@pytest.mark.parametrize("name", BAD)
def test_a_weak_learner_that_is_none_is_told_so_in_one_sentence(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["verify", "boosting/bandit-wlc", "--learner", f"{__file__}:{name}", "--quick"]
    arguments += ["--adversary", "planted-stump", "--graph", "bandit"]
    assert boundcheck(*arguments, monkeypatch=monkeypatch, folder=tmp_path) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(BAD[name], line)


class Silent(Right):
    edge = None  # type: ignore[assignment]


def test_the_legal_number_0_is_refuted_like_any_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["verify", "boosting/*-wlc*", "--learner", f"{__file__}:Hopeless", "--quick"]
    arguments += ["--adversary", SMALL, "--graph", "bandit"]
    assert boundcheck(*arguments, monkeypatch=monkeypatch, folder=tmp_path) == 1
    assert "surprise boosting/bandit-wlc" in capsys.readouterr().out


@pytest.mark.parametrize("claims", [(), ("boosting/bandit-wlc",)])
def test_who_declares_nothing_is_told_what_to_declare(
    claims: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["verify", *claims, "--learner", f"{__file__}:Silent", "--quick"]
    arguments += ["--adversary", SMALL, "--graph", "bandit"]
    assert boundcheck(*arguments, monkeypatch=monkeypatch, folder=tmp_path) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "does not declare edge: expected the numbers edge, delta, excess_loss, on the class" in told
    )
    assert "warning" not in told
    assert "0 with an expected verdict" in told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("--learner", "hedge-stump", "--graph", "filtering"),
            "graph of a weak learner 'filtering'",
        ),
        (("--learner", "hedge-stump", "--adversary", "one-hot"), "plays another game than learner"),
        (("--learner", "perceptron", "--adversary", "planted-stump"), "plays another game than"),
        (("--learner", "hedge-stump", "--radius", "2"), "--radius is given for a weak learner"),
        (("--learner", "hedge-stump", "--data", "a.csv"), "--data is given for a weak learner"),
        (("--learner", "hedge-stump", "--adversary", "even-costs"), "even-costs has no features"),
        (
            ("--adversary", "planted-stump:n_labels=1"),
            "n_labels=1 of planted-stump: expected an integer of at least 2",
        ),
        (
            ("--adversary", "planted-stump:edge=0.7"),
            "edge=0.7 of planted-stump: expected a number in [0, 0.5]",
        ),
        (("--adversary", "planted-stump:noise=loud"), "unknown noise 'loud': expected one of"),
        (("--adversary", "planted-stump:noise=estimate+rho=2"), "rho=2.0 of estimate: expected"),
        (
            ("--adversary", "planted-stump:noise=estimate+rho=1e-320"),
            "rho=1e-320 of estimate: expected a number in [1e-09, 1).",
        ),
        (
            ("--adversary", "planted-stump:n_labels=100000"),
            "n_labels=100000 needs labels by labels, 100000 x 100000 numbers: expected at most",
        ),
        (("--adversary", "planted-stump:noise=push+size=-1"), "size=-1.0 of push: expected"),
        (
            ("--adversary", "tilted-weights:light=0"),
            "light=0.0 of tilted-weights: expected a number in (0, 1]",
        ),
        (
            ("--adversary", "worst-pair:delta=1"),
            "delta=1.0 of worst-pair: expected a number in (0, 1)",
        ),
    ],
)
def test_parts_that_do_not_fit_are_told_in_one_sentence(
    arguments: tuple[str, ...],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a.csv").write_text("1,0\n2,1\n", encoding="utf-8")
    status = boundcheck("verify", *arguments, "--quick", monkeypatch=monkeypatch, folder=tmp_path)
    (line,) = capsys.readouterr().err.splitlines()
    assert status == 2
    assert told in line


@pytest.mark.parametrize(
    ("adversary", "learners"),
    [
        ("even-costs", {"oracle-noise"}),
        ("worst-pair", {"oracle-noise"}),
        ("planted-stump", {"hedge-stump", "hedge-advice"}),
    ],
)
def test_an_adversary_alone_meets_those_who_can_read_what_it_shows(
    adversary: str, learners: set[str]
) -> None:
    jobs = jobs_for(Request(("boosting/*",), adversary=adversary, scale="quick"))
    assert {job.setting.learner for job in jobs} == learners
    for job in jobs:
        resolve(job.setting, 0)


def test_they_are_listed_in_groups_of_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for what, heading, first, other in (
        ("learners", "weak learner", "hedge-stump", "perceptron"),
        ("adversaries", "adversary of weak learners", "planted-stump", "one-hot"),
    ):
        assert boundcheck("list", what, monkeypatch=monkeypatch, folder=tmp_path) == 0
        lines = capsys.readouterr().out.splitlines()
        at = lines.index(heading)
        assert first in lines[at:]
        assert other in lines[:at]
        assert first not in lines[:at]


def test_a_class_with_half_of_the_parameters_is_refused_by_the_library() -> None:
    with pytest.raises(UserError, match="expected update"):
        check_learner(Half)
