"""Boosters of a user's weak learners: what they are told, what their word is worth, and how they fail."""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import own_boosted
import pytest
from command_line import boundcheck
from small_study import small

from boundcheck import RefutedPromise, check_learner
from boundcheck.algorithms import graphs
from boundcheck.algorithms.boosting import weak as crowds
from boundcheck.algorithms.boosting.each import Each
from boundcheck.algorithms.boosting.majority import BanditBBM
from boundcheck.algorithms.learner import Problem
from boundcheck.errors import LearnerError, UserError
from boundcheck.verify import catalog
from boundcheck.verify.games.weak.user_learner import UserWeakLearner
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.studies import run as sweep
from boundcheck.verify.studies.digests import digest_of_file
from boundcheck.verify.suite import run as suite

FILE = Path(own_boosted.__file__)
BOOSTERS = {
    "online-mbbm": "full",
    "adaboost-olm": "full",
    "bandit-bbm": "bandit",
    "ada-bandit": "bandit",
}


def named(kind: str, name: str, more: str = "learners=5") -> str:
    return f"{kind}:weak={FILE}:{name},{more}"


def setting(learner: Any, graph: str, replicates: int = 2, horizon: int = 120) -> Setting:
    return Setting(learner, "one-hot", graph, horizon, runs=replicates)


@pytest.mark.parametrize(("kind", "graph"), BOOSTERS.items())
def test_each_place_has_its_own_who_sees_what_it_was_promised(kind: str, graph: str) -> None:
    made: list[Any] = []
    told: dict[int, list[tuple[Any, ...]]] = defaultdict(list)

    class Spy(own_boosted.Drawing):
        def __init__(self, problem: Any) -> None:
            super().__init__(problem)
            self.problem = problem
            made.append(self)

        def update(self, x: Any, cost: Any, weight: float) -> None:
            told[self.problem.seed].append((x.copy(), cost.copy(), weight))

    booster = catalog.learners()[kind](weak=UserWeakLearner(Spy, "Spy"), learners=5)
    case = resolve(setting(booster, graph), 0)
    made.clear()
    told.clear()
    for index in (0, 1, 0):
        list(case.play(index))
    # every run begins with a probe of the problem, whose five are told nothing
    assert len(told) == 10
    problem = made[0].problem
    size = (problem.n_labels, problem.n_features, problem.horizon)
    assert (size, problem.edge) == ((3, 3, 120), 0)
    for mine in told.values():
        for x, cost, weight in mine:
            assert sorted(x.tolist()) == [0, 0, 1]
            assert 0 < weight <= 1
            assert weight >= problem.least_weight
            assert weight * np.ptp(cost) <= problem.cost_range
            if graph == "full":
                assert (cost.min(), cost.sum()) == (0, pytest.approx(1))
    widest = max(weight * np.ptp(cost) for mine in told.values() for _, cost, weight in mine)
    assert widest > problem.cost_range / 20
    assert problem.least_weight == (graph == "bandit")


@pytest.mark.parametrize("rho", [0.05, 0.3, 0.6])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_range_of_costs_bounds_every_estimate(k: int, rho: float) -> None:
    booster = BanditBBM("cost-perceptron", learners=4, rho=rho, scale="exact")
    problem = Problem(graphs.bandit(k), 2, 50)
    bound, largest = booster.crowd_setting(problem).cost_range, 0.0
    draw = np.random.default_rng(k)
    boosting = booster.begin(problem, draw)
    for _ in range(300):
        x, label = draw.normal(size=2), int(draw.integers(k))
        boosting.predict(x)
        action = int(draw.integers(k))
        boosting.update(x, action, label if action == label else None)
        assert boosting.told is not None
        largest = max(largest, float(np.ptp(boosting.told[0], axis=1).max()))
    assert bound / 100 < largest <= bound


WORDS = [
    ("online-mbbm", "Reader", "gamma=0.9", "holds"),
    ("bandit-bbm", "Reader", "gamma=0.9,rho=0.1", "holds"),
    ("online-mbbm", "Boastful", "gamma=0.9", "refuted"),
    ("bandit-bbm", "Boastful", "gamma=0.9,rho=0.1", "refuted"),
    ("online-mbbm", "Modest", "gamma=0.6", "gamma = 0.6, more than the edge 0.5"),
    ("online-mbbm", "Unsure", "gamma=0.9", "5 weak learners may each fail with probability 0.1"),
    ("bandit-bbm", "Drawing", "gamma=0.9", "does not declare edge and delta and excess_loss in"),
]


@pytest.mark.parametrize(("kind", "name", "more", "told"), WORDS)
def test_what_they_declare_enters_the_bound(kind: str, name: str, more: str, told: str) -> None:
    claims = (f"boosting/{kind}", f"boosting/{kind}-potential")
    learner = named(kind, name, f"learners=5,{more}")
    job = suite.Job(setting(learner, BOOSTERS[kind], 16, 300), claims, users=True)
    rows = suite.judge_job(job, 0)
    assert [row.claim for row in rows] == list(claims)
    for row in rows:
        assert told in f"{row.verdict.value}: {row.outcome.evidence}"
        if told in ("holds", "refuted"):
            assert "declare gamma = 0.9, delta = 0.001, S = 1" in row.outcome.evidence
            assert row.surprising == (told == "refuted")


@pytest.mark.parametrize(("scale", "sizes"), [("trivial", 10.0), ("exact", None)])
def test_the_bound_of_declared_excess_losses(scale: str, sizes: float | None) -> None:
    """M_T <= 2 exp(-gamma^2 N/2) T + S sum s^i, and for bandit feedback what exploring costs with the delta left."""
    more = f"learners=5,gamma=0.9,scale={scale}"
    for kind, rho in (("online-mbbm", 0.0), ("bandit-bbm", 0.1)):
        spec = named(kind, "Boastful", more + (f",rho={rho}" if rho else ""))
        job = suite.Job(setting(spec, BOOSTERS[kind], 16, 300), (f"boosting/{kind}",), users=True)
        (row,) = suite.judge_job(job, 0)
        certificate = row.outcome.certificate
        assert certificate is not None
        total = catalog.learner(spec).scales(3).sum() if sizes is None else sizes
        for delta, envelopes in certificate.content["envelopes"].items():
            left = float(delta) - 5e-3
            explored = rho * 300 + (rho > 0) * np.sqrt(150 * np.log(1 / left))
            expected = 2 * np.exp(-0.81 * 5 / 2) * 300 + total + explored
            assert [float(e) for e in envelopes] == pytest.approx([expected] * 16)


def test_a_certificate_names_the_file_and_is_refused_when_it_has_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(FILE, tmp_path / "w.py")
    learner = "online-mbbm:gamma=0.9,weak=w.py:Boastful,learners=5"
    arguments = ["verify", "boosting/online-mbbm", "--learner", learner, "--adversary", "one-hot"]
    assert boundcheck(*arguments, "--quick", monkeypatch=monkeypatch, folder=tmp_path) == 1
    (certificate,) = re.findall(r"boundcheck replay --trust (\S+)", capsys.readouterr().out)
    game = json.loads((tmp_path / certificate).read_text("utf-8"))["game"]
    assert game["learner"] == learner
    assert game["learner_source"] == digest_of_file("w.py")
    assert (
        boundcheck("replay", "--trust", certificate, monkeypatch=monkeypatch, folder=tmp_path) == 0
    )
    assert "accepted" in capsys.readouterr().out
    with (tmp_path / "w.py").open("a") as file:
        file.write("# changed\n")
    assert (
        boundcheck("replay", "--trust", certificate, monkeypatch=monkeypatch, folder=tmp_path) == 2
    )
    assert "is not the one that was refuted: it has changed since" in capsys.readouterr().err
    (tmp_path / "w.py").unlink()
    assert (
        boundcheck("replay", "--trust", certificate, monkeypatch=monkeypatch, folder=tmp_path) == 2
    )
    assert "learner file 'w.py': no such file" in capsys.readouterr().err


BAD = {
    "weak=none.py:Reader": r"learner file 'none\.py': no such file; expected a Python file",
    "weak={}:Raeder": r"unknown class of .+ 'Raeder' \(did you mean 'Reader'\?\): expected one of ",
    "weak={}": r"learner '.+\.py': expected FILE\.py:Class, with the name of the class",
    "weak={}:Blind": r"weak learner .+:Blind has no method 'predict': expected predict\(x\) and update",
    "weak={}:Stubborn": r"weak=.+:Stubborn is no weak learner: expected a class with predict\(x\) and"
    r" update\(x, cost, weight\)",
    "weak={}:Broken": r"weak learner .+:Broken cannot be made: RuntimeError: no; expected a class",
    "weak={}:Sure": r"edge=1\.0 of .+:Sure: expected a number in \[0, 1\)",
    "weak={}:Beyond": r"weak learner 0 of .+:Beyond predicted 7 in round 0: expected an integer from 0 to 2",
    "weak={}:Fraction": r"weak learner 0 of .+:Fraction predicted 1\.0 in round 0: expected an integer from",
    "weak={}:Late": r"weak learner 0 of .+:Late raised KeyError in predict of round 2: 'lost'",
    "weak={}:Deaf": r"weak learner 0 of .+:Deaf raised RuntimeError in update of round 0: not listening",
    "weak={}:Writes": r"weak learner 0 of .+:Writes changed the cost vector it was given from \[.*\] to \[9",
    "weak={}:Sharing": r"played run 0 twice and gave other probabilities in round \d+: expected it to be"
    r" deterministic, with randomness from a seed and no state shared between instances",
}


@pytest.mark.parametrize("weak", BAD)
def test_one_that_is_wrong_is_told_in_one_sentence(
    weak: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    learner = f"online-mbbm:learners=5,{weak.format(FILE)}"
    arguments = ["verify", "game/*", "boosting/online-mbbm", "--learner", learner, "--quick"]
    arguments += ["--adversary", "one-hot"]
    assert boundcheck(*arguments, monkeypatch=monkeypatch, folder=tmp_path) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(BAD[weak], line)


def test_studies_take_them_and_notice_when_the_file_has_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copy(FILE, tmp_path / "w.py")
    monkeypatch.chdir(tmp_path)
    learners = {"Mine": "ada-bandit:weak=w.py:Drawing,learners={N}", "Guesser": "uniform"}
    grid = {"adversary": "one-hot", "graph": "bandit", "horizon": 40, "N": [2, 3]}
    cases = small(learners=learners, grid=grid).cases()
    assert cases[0].content["files"] == {"w.py": digest_of_file("w.py")}
    assert cases[0].content["learners"][0][3] == "ada-bandit:weak=w.py:Drawing,learners=2"
    columns = sweep.play(cases[0])
    assert columns == sweep.play(cases[0])
    assert {*columns["learner"]} == {"Mine", "Guesser"}
    with (tmp_path / "w.py").open("a") as file:
        file.write("# changed\n")
    assert "has changed" in sweep.attempt(cases[0].content).error


def test_through_the_library() -> None:
    learner = named("online-mbbm", "Boastful", "learners=5,gamma=0.9")
    with pytest.raises(RefutedPromise, match="weak learners declare gamma"):
        check_learner(learner, claims=["boosting/online-mbbm"], adversary="one-hot")


def test_what_cannot_be_shown_is_told_by_its_type() -> None:
    class Silent:
        def __repr__(self) -> str:
            raise SystemExit(3)

    for value in (Silent(), 10**5000):
        learner = SimpleNamespace(predict=lambda x, value=value: value, update=lambda x, c, w: None)
        crowd = Each(lambda setting, i, made=learner: made).crowd(crowds.Setting(1, 3, 2, 10))
        with pytest.raises(LearnerError, match=f"predicted an object of {type(value).__name__} in"):
            crowd.predict(np.ones(2), np.zeros(1))


def test_an_error_that_cannot_be_shown_is_told_by_its_type() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise SystemExit(3)

    def predict(x: Any) -> int:
        raise MuteError

    learner = SimpleNamespace(predict=predict, update=lambda x, c, w: None)
    crowd = Each(lambda setting, i: learner).crowd(crowds.Setting(1, 3, 2, 10))
    with pytest.raises(LearnerError, match="raised MuteError in predict of round 0: no message"):
        crowd.predict(np.ones(2), np.zeros(1))


@pytest.mark.parametrize("parameters", ["weak=w.py:Own", "learners=5,weak=w.py:Own"])
def test_a_misspelt_booster_is_told_before_a_file_is_looked_for(parameters: str) -> None:
    with pytest.raises(UserError, match=r"'online-mbm' \(did you mean 'online-mbbm'\?\)"):
        catalog.learner(f"online-mbm:{parameters}")
