"""What a study refuses at once: sizes, names that leave its folder, adversaries of another game, a silent scheduler;
and learners that are left out when asked."""

from __future__ import annotations

import socket
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from command_line import boundcheck

from boundcheck.adversaries.one_hot import OneHot
from boundcheck.adversaries.sequence import Comparator
from boundcheck.errors import UserError
from boundcheck.verify.studies import run as sweep
from boundcheck.verify.studies import study as studies

TEXT = """
seeds = 1
[grid]
adversary = {adversary}
graph = "bandit"
horizon = {horizon}
[learners]
Guesser = "uniform"
"""


@pytest.mark.parametrize(
    ("adversary", "horizon", "words"),
    [
        ("one-hot", 10**10, "the rounds of a game, 10000000000 numbers: expected at most"),
        ("keywords", 10**9, "the rounds of a game, 1000000000 numbers"),
        ("one-hot:n_labels=1000000000", 5, "1000000000 x 1000000000 numbers"),
        ("random-labels:n_labels=20000", 5, "labels by labels, 20000 x 20000 numbers"),
        ("planted-stump", 60, "adversary planted-stump makes no labels"),
        ("fixed-oracles", 60, "unknown adversary"),
    ],
)
def test_a_cell_that_cannot_be_played(
    adversary: str,
    horizon: int,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = TEXT.format(adversary=f'"{adversary}"', horizon=horizon)
    (tmp_path / "big.toml").write_text(text, encoding="utf-8")
    assert boundcheck("study", "big.toml", monkeypatch=monkeypatch, folder=tmp_path) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "--debug" not in said
    options = ("--adversary", adversary, "--graph", "bandit", "--rounds", str(horizon))
    if "stump" not in adversary:
        status = boundcheck("verify", "game/*", *options, monkeypatch=monkeypatch, folder=tmp_path)
        assert status == 2
        assert words in capsys.readouterr().err


@pytest.mark.parametrize("file", ["...toml", "-x.toml", "a:b.toml", "a\nb.toml"])
def test_names_cannot_leave_the_folder(file: str, tmp_path: Path) -> None:
    path = tmp_path / file
    path.write_text(TEXT.format(adversary='"one-hot"', horizon=5), encoding="utf-8")
    with pytest.raises(UserError, match="expected a name of letters"):
        studies.load(str(path))
    good = tmp_path / "Über 2.1_a-b+c.toml"
    path.rename(good)
    assert studies.load(str(good)).name == good.stem


def test_learners_are_left_out_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TEXT.format(adversary='["one-hot", "one-hot:n_labels=2"]', horizon=20)
    (tmp_path / "two.py").write_text(TWO, encoding="utf-8")
    (tmp_path / "two.toml").write_text(text + 'Two = "two.py:Two"\n', encoding="utf-8")

    def run(*options: str) -> tuple[int, str]:
        status = boundcheck(
            "study", "two.toml", "--jobs", "1", *options, monkeypatch=monkeypatch, folder=tmp_path
        )
        printed = capsys.readouterr()
        return status, " ".join((printed.out + printed.err).split())

    status, said = run()
    assert status == 2
    assert "learner 'Two' of study 'two' cannot play cell adversary=one-hot," in said
    for again in (False, True):
        status, said = run("--skip-incompatible")
        assert status == 0
        assert said.count("note left out: learner 'Two' of study 'two' cannot play cell") == 1
        assert "two labels only" in said
        assert ("2 of 2 cases are finished already" in said) == again
    found = [
        {*pq.read_table(path)["learner"].to_pylist()}
        for path in (tmp_path / "results" / "two").glob("*.parquet")
    ]
    assert sorted(found, key=len) == [{"Guesser"}, {"Guesser", "Two"}]
    report = ("report", "--study", "results/two")
    assert boundcheck(*report, monkeypatch=monkeypatch, folder=tmp_path) == 0
    (tmp_path / "two.toml").write_text(
        TEXT.format(adversary='"one-hot"', horizon=20).replace('"uniform"', '"two.py:Two"')
    )
    status, said = run("--skip-incompatible", "--resume")
    assert status == 2
    assert "no learner can play cell adversary=one-hot" in said


TWO = """
class Two:
    promises = ("game/*",)

    def __init__(self, problem):
        if problem.n_labels != 2:
            raise ValueError("two labels only")
        self.n = problem.graph.n_actions

    def predict(self, x):
        return [1 / self.n] * self.n

    def update(self, x, action, label):
        pass
"""


def test_a_folder_in_place_of_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out" / "verdicts.json").mkdir(parents=True)
    report = ("report", "--results", "out")
    assert boundcheck(*report, monkeypatch=monkeypatch, folder=tmp_path) == 2
    assert "verdicts.json' is a folder: expected a file of verdicts" in capsys.readouterr().err
    (tmp_path / "a.toml").write_text(
        TEXT.format(adversary='"one-hot"', horizon=5), encoding="utf-8"
    )
    (case,) = studies.load(str(tmp_path / "a.toml")).cases()
    (tmp_path / "results" / "a" / f"{case.key}.parquet").mkdir(parents=True)
    boundcheck("study", "a.toml", "--jobs", "1", monkeypatch=monkeypatch, folder=tmp_path)
    assert "is a folder, and no file" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("greeting", [b"", None])
def test_a_scheduler_that_says_nothing(
    greeting: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It listens, and either says nothing or is closed; the client, which would wait for long, is not asked."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(sweep, "SECONDS_FOR_SCHEDULER", 0.2)
    monkeypatch.setattr(distributed, "Client", None)
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
        if greeting is None:
            listener.close()
        with pytest.raises(UserError, match="does not answer within"):
            next(sweep.run_on_dask([], f"tcp://127.0.0.1:{port}"))


def test_equal_fractions_are_squared_once_and_give_the_same_norm() -> None:
    K = 7
    shared = OneHot(K).comparator()
    apart = Comparator.exact([[(i == j) - Fraction(1, K) for j in range(K)] for i in range(K)])
    assert shared.squared_norm == apart.squared_norm == K - 1
    assert shared.weights.tolist() == apart.weights.tolist()
    assert shared.fractions == apart.fractions
    assert len({id(u) for row in shared.fractions or () for u in row}) == 2
