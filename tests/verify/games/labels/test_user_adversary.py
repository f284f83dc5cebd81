"""Adversaries of a user's file: certificates of games against them, and what becomes of their mistakes."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import boundcheck
from small_study import small
from tampering import tampered
from without_numba import replay_without_numba

from boundcheck.errors import LearnerError, UserError
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.claims.gappletron.settings import gappletron
from boundcheck.verify.games.labels.case import Case
from boundcheck.verify.games.labels.user_adversary import user_adversary
from boundcheck.verify.outcome import Verdict, digest_of
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.studies import run as sweep
from boundcheck.verify.studies import study as studies
from boundcheck.verify.suite import request as plan
from boundcheck.verify.suite import run as suite

LEARNER = gappletron("smooth-hinge", "threshold", "projected", "theorem-4a")
REASON = "it is about oblivious adversaries, and this one sees what was played"
PATHWISE = ("gappletron/lemma-1", "gappletron/guarantee-4", "gappletron/lemma-2")


class Evading:
    """The label is the action that was played least often so far; the features name one of three rows."""

    n_labels, n_features, feature_norm = 3, 3, 2.0

    def __init__(self, horizon: int, seed: int) -> None:
        self.draw, self.played = np.random.default_rng(seed), np.zeros(4)

    def next(self, action: int | None, seen: int | None) -> tuple[Any, Any]:
        if action is not None:
            self.played[action] += 1
        return 1.5 * np.eye(3)[self.draw.integers(3)], int(self.played[:3].argmin())


def case_of(made: type, graph: str, horizon: int = 300, learner: Any = LEARNER) -> Case:
    adversary = user_adversary(made, f"mine.py:{made.__name__}")
    return resolve(Setting(learner, adversary, graph, horizon, 1.5, 3), 7)


def judged(case: Case, *claims: str, runs: int = 2) -> list[suite.Row]:
    setting = replace(case.setting, runs=runs)
    return suite.judge_job(suite.Job(setting, claims, users=True), case.seed)


FILE = '''
import numpy as np


class Moving:
    """Oblivious: two classes exchange their labels half way."""

    n_labels = 2

    def sequence(self, horizon, seed):
        classes = np.random.default_rng(seed).integers(2, size=horizon)
        return np.eye(2)[classes], (classes + (np.arange(horizon) >= horizon // 2)) % 2


class Spiteful:
    """Adaptive: the label is one that was not played in the round before."""

    n_labels, n_features = 3, 2

    def __init__(self, horizon, seed):
        self.draw = np.random.default_rng(seed)

    def next(self, action, seen):
        return np.eye(2)[self.draw.integers(2)], 0 if action is None else (action + 1) % 3


class Steady:
    """Plays the first action, and says that it is Gappletron."""

    promises = ("gappletron/lemma-1",)
    loss, gamma, rule = "smooth-hinge", 0.125, "threshold"

    def __init__(self, problem):
        self.n = problem.graph.n_actions
        self.weights = np.zeros((problem.n_labels, problem.n_features))

    def predict(self, x):
        return np.eye(self.n)[0]

    def update(self, x, action, label):
        pass
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_a_certificate_of_a_game_against_it_replays(file: Path, tmp_path: Path) -> None:
    setting = Setting(f"{file}:Steady", f"{file}:Spiteful", "bandit", 40, None, 2)
    rows = suite.judge_job(suite.Job(setting, ("gappletron/lemma-1",), users=True), 0)
    row = next(row for row in rows if row.form == "repaired")
    assert row.verdict == Verdict.REFUTED
    assert row.surprising
    certificate = row.outcome.certificate
    assert certificate is not None
    assert certificate.content["kind"] == "played"
    assert certificate.content["game"]["adversary"] == f"{file}:Spiteful"
    path = certificate.write(tmp_path)
    found = replay(path, trust=True)
    assert (found.observed, found.envelope) == certificate.values
    assert found.observed > found.envelope
    assert replay_without_numba([path]) == [(found.claim.id, found.observed, found.envelope)]

    content = json.loads(path.read_text(encoding="utf-8"))
    digest, accepted = content.pop("digest"), []
    for i, change in enumerate(tampered(content, lambda new: None)):
        if i % 3 or change.startswith(("/game/learner:", "/game/adversary:", "/game/learner_")):
            continue
        path.write_text(json.dumps(content | {"digest": digest_of(content)}), encoding="utf-8")
        with contextlib.suppress(UserError):
            replay(path, trust=True)
            accepted.append(change)
    assert accepted == []
    path.write_text(json.dumps(content | {"digest": digest}), encoding="utf-8")
    replay(path, trust=True)
    file.write_text(FILE.replace("(action + 1) % 3", "(action + 2) % 3"), encoding="utf-8")
    with pytest.raises(UserError):
        replay(path, trust=True)


class Raising:
    """Raises when it is looked into."""

    def __iter__(self) -> Any:
        raise RuntimeError("no rows")


GIVEN = {
    "too few features": ([1.0, 0.0], 0),
    "too many dimensions": ([[1.0, 0.0, 0.0]], 0),
    "no numbers": (["a", "b", "c"], 0),
    "not finite": ([1.0, float("nan"), 0.0], 0),
    "too long": ([2.0, 0.1, 0.0], 0),
    "a label below": ([1.0, 0.0, 0.0], -1),
    "a label above": ([1.0, 0.0, 0.0], 3),
    "half a label": ([1.0, 0.0, 0.0], 0.5),
    "a label that is none": ([1.0, 0.0, 0.0], float("nan")),
    "a word for a label": ([1.0, 0.0, 0.0], "0"),
    "several labels": ([1.0, 0.0, 0.0], [0, 1]),
    "features alone": [1.0, 0.0, 0.0],
    "nothing": None,
    "what raises": Raising(),
    "what raises for features": (Raising(), 0),
}


@pytest.mark.parametrize("name", GIVEN)
def test_rounds_that_are_none_are_an_error_in_one_sentence(name: str) -> None:
    class Wrong(Evading):
        rounds = 0

        def next(self, action: int | None, seen: int | None) -> Any:
            self.rounds += 1
            return GIVEN[name] if self.rounds == 4 else super().next(action, seen)

    rows = judged(case_of(Wrong, "bandit"), *PATHWISE, "gappletron/theorem-4a")
    assert {row.claim: row.verdict for row in rows if row.form == "repaired"} == (
        dict.fromkeys(PATHWISE, Verdict.ERROR) | {"gappletron/theorem-4a": Verdict.NOT_APPLICABLE}
    )
    for row in rows:
        if row.verdict == Verdict.ERROR:
            words = row.outcome.evidence
            assert words.startswith("adversary mine.py:Wrong gave ")
            assert words.endswith(
                " in round 3: expected 3 finite features of norm at most 2, and a label from 0 to 2."
            )
            assert "\n" not in words
            assert row.outcome.certificate is None


def test_one_that_does_not_repeat_itself_accuses_nobody(file: Path) -> None:
    """The label that was never played is there in the first game only."""

    class Once(Evading):
        begun = 0

        def __init__(self, horizon: int, seed: int) -> None:
            super().__init__(horizon, seed)
            type(self).begun += 1
            self.label = int(self.begun == 1)

        def next(self, action: int | None, seen: int | None) -> tuple[Any, Any]:
            return np.eye(3)[0], self.label

    case = case_of(Once, "bandit", 20, f"{file}:Steady")
    (row,) = (row for row in judged(case, PATHWISE[0], runs=1) if row.form == "repaired")
    assert Once.begun == 2, "it was played again"
    assert (row.verdict, row.outcome.certificate) == (Verdict.ERROR, None)
    assert "round 0 is not there when the game is played again" in row.outcome.evidence
    assert "expected a deterministic learner and adversary" in row.outcome.evidence


def test_what_it_raises_is_told_in_one_sentence() -> None:
    class Raises(Evading):
        def next(self, action: int | None, seen: int | None) -> Any:
            raise ZeroDivisionError("no\nmore") if action is not None else StopIteration

    class Unmade(Evading):
        def __init__(self, horizon: int, seed: int) -> None:
            raise KeyError("no seed")

    for made, words in (
        (Raises, "raised StopIteration in next of round 0: no message."),
        (Unmade, "raised KeyError in begin: 'no seed'."),
    ):
        (row,) = (r for r in judged(case_of(made, "bandit"), PATHWISE[0]) if r.form == "repaired")
        assert row.verdict == Verdict.ERROR
        assert row.outcome.evidence == f"adversary mine.py:{made.__name__} {words}"


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"n_labels": None}, "n_labels=None of adversary .*: expected an integer of at least 2"),
        ({"n_labels": 1}, "n_labels=1 of adversary .*: expected an integer of at least 2"),
        ({"n_labels": 2.0}, r"n_labels=2\.0 of adversary .*: expected an integer of at least 2"),
        ({"n_features": 0}, "n_features=0 of adversary .*: expected an integer of at least 1"),
        ({"n_features": 10**7}, "features of adversary .*: expected at most 1e"),
        ({"feature_norm": "big"}, "feature_norm='big' of adversary .*: expected a finite number"),
        ({"feature_norm": 0.0}, r"feature_norm=0\.0 of adversary .*: expected a finite number"),
        ({"feature_norm": -1}, "feature_norm=-1 of adversary .*: expected a finite number"),
        ({"feature_norm": float("nan")}, "feature_norm=nan of adversary .*: expected a finite"),
        ({"feature_norm": float("inf")}, "feature_norm=inf of adversary .*: expected a finite"),
    ],
)
def test_what_it_declares_is_looked_at_before_anything_is_played(
    declared: dict[str, Any], words: str
) -> None:
    made = type("Wrong", (Evading,), declared)
    with pytest.raises(UserError, match=words) as raised:
        case_of(made, "bandit")
    assert not isinstance(raised.value, LearnerError)
    assert "\n" not in str(raised.value)


def test_it_needs_a_horizon() -> None:
    adversary = user_adversary(Evading, "mine.py:Evading")
    with pytest.raises(UserError, match="given without a horizon"):
        resolve(Setting(LEARNER, adversary, "bandit", None), 0)


@pytest.mark.parametrize("name", ["Moving", "Spiteful"])
def test_either_kind_of_a_users_file_is_played_in_one_process_or_two(name: str, file: Path) -> None:
    request = plan.Request(
        ("gappletron/lemma-*", "gappletron/theorem-4a"),
        adversary=f"{file}:{name}",
        graph="bandit",
        scale="quick",
        runs=2,
    )
    jobs = plan.jobs_for(request)
    assert {job.setting.horizon for job in jobs} == {300}
    one = [[row.to_json() for row in rows] for rows in suite.run(jobs, 3)]
    two = [[row.to_json() for row in rows] for rows in suite.run(jobs, 3, 2, patience=0)]
    assert one == two
    rows = [row for found in one for row in found]
    assert {row["adversary"] for row in rows} == {f"{file}:{name}"}
    assert {row["verdict"] for row in rows} <= {"holds", "vacuous", "undecided", "not applicable"}
    reasons = {row["evidence"] for row in rows if row["claim"].endswith("theorem-4a")}
    assert (REASON in reasons) == (name == "Spiteful")
    assert {row["claim"] for row in rows if row["verdict"] == "holds"} >= {PATHWISE[0], PATHWISE[2]}


STREAMS = '''
import numpy as np


class Noisy:
    """Oblivious: the first feature tells the label, except in a tenth of the rounds."""

    def stream(self, horizon, seed):
        draw = np.random.default_rng(seed)
        self.labels = draw.integers(2, size=horizon)
        told = np.where(draw.random(horizon) < 0.1, 1 - self.labels, self.labels)
        features = np.stack([told - 0.5, draw.normal(size=horizon)], axis=1)
        return features, self.labels, np.ones(horizon), np.eye(2)[1 - self.labels]


class Pressing(Noisy):
    """Adaptive: all of the cost is at the wrong label."""

    def costs(self, t, predicted):
        return np.eye(2)[1 - self.labels[t]]
'''


@pytest.mark.parametrize("name", ["Noisy", "Pressing"])
def test_so_is_either_kind_for_weak_learners(name: str, tmp_path: Path) -> None:
    spec = f"{tmp_path / 'streams.py'}:{name}"
    (tmp_path / "streams.py").write_text(STREAMS, encoding="utf-8")
    request = plan.Request(
        ("boosting/agnostic-*",), "hedge-stump", spec, graph="full", scale="quick", runs=2
    )
    jobs = plan.jobs_for(request)
    one, two = (
        [row.to_json() for rows in suite.run(jobs, 3, processes, patience=0) for row in rows]
        for processes in (1, 2)
    )
    assert one == two
    assert {row["adversary"] for row in one} == {spec}
    assert "error" not in {row["verdict"] for row in one}
    assert {"holds", "undecided", "vacuous"} & {row["verdict"] for row in one}


@pytest.mark.parametrize("name", ["Moving", "Spiteful"])
def test_the_command_line_plays_it(
    name: str,
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = (
        "verify",
        "gappletron/lemma-2",
        "gappletron/theorem-5a",
        "--quick",
        "--graph",
        "full",
    )
    status = boundcheck(
        *arguments, "--adversary", f"mine.py:{name}", monkeypatch=monkeypatch, folder=tmp_path
    )
    printed = " ".join(capsys.readouterr().out.split())
    assert status == 0, printed
    assert "holds" in printed
    document = json.loads((tmp_path / "boundcheck-report/verdicts.json").read_text("utf-8"))
    rows = document["results"]
    assert {row["adversary"] for row in rows} == {f"mine.py:{name}"}
    told = {row["evidence"] for row in rows if row["claim"].endswith("5a")}
    assert (told == {REASON}) == (name == "Spiteful")


def study_of(adversary: str) -> studies.Study:
    learners = {"Guesser": "uniform", "Gap": "gappletron"}
    return small(
        grid={"adversary": adversary, "graph": "bandit", "horizon": 60}, learners=learners, seeds=2
    )


def test_a_study_plays_one_that_is_oblivious(file: Path) -> None:
    """Every learner on the same rounds, which are those of the seed; the file may not change meanwhile."""
    cases = study_of(f"{file}:Moving").cases()
    assert [case.content["seed"] for case in cases] == [0, 1]
    assert {*cases[0].content["files"]} == {str(file)}
    assert (cases[0].content["labels"], cases[0].content["features"]) == (2, 2)
    first, second = map(sweep.play, cases)
    assert {*first["learner"]} == {"Guesser", "Gap"}
    assert max(first["rounds"]) == 60
    assert first == sweep.play(cases[0])
    assert first["mistakes"] != second["mistakes"]
    file.write_text(FILE + "\n", encoding="utf-8")
    with pytest.raises(UserError, match="has changed since the study started"):
        sweep.play(cases[0])


def test_a_study_of_labels_needs_one_that_makes_labels(tmp_path: Path) -> None:
    (tmp_path / "streams.py").write_text(STREAMS, encoding="utf-8")
    with pytest.raises(UserError, match="Noisy makes no labels: expected one that plays") as raised:
        study_of(f"{tmp_path / 'streams.py'}:Noisy").cases()
    assert "\n" not in str(raised.value)
