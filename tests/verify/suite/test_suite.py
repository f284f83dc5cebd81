"""A run: the same rows from any number of processes, and the right exit for what they say."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import own_boosted
import pytest

from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.claim import OTHER_LEARNERS, Proof
from boundcheck.verify.claims.gappletron.rounds import rates
from boundcheck.verify.claims.gappletron.settings import gappletron
from boundcheck.verify.games.game import Measured
from boundcheck.verify.games.labels.case import Case
from boundcheck.verify.games.labels.game import TURNING
from boundcheck.verify.games.labels.resolve import fits
from boundcheck.verify.judges.pathwise import percentage
from boundcheck.verify.outcome import Outcome, Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import request as plan
from boundcheck.verify.suite import results
from boundcheck.verify.suite import run as suite


def subset() -> list[suite.Job]:
    """A few settings of every kind of claim."""
    jobs = plan.jobs_for(plan.Request(scale="quick"))
    cheap = [job for job in jobs if job.setting.runs < 20]
    return cheap[::29]


def own_boosters() -> list[suite.Job]:
    """Boosters of a user's weak learners: they draw from their seeds, or boast."""
    file = own_boosted.__file__
    found = (
        (f"adaboost-olm:weak={file}:Drawing,learners=3", "boosting/sgd-regret"),
        (f"online-mbbm:weak={file}:Boastful,learners=5,gamma=0.9", "boosting/online-mbbm"),
    )
    return [
        suite.Job(Setting(learner, "one-hot", "full", 300, runs=16), (claim,), users=True)
        for learner, claim in found
    ]


def document(processes: int, folder: Path) -> dict:
    jobs = [*subset(), *own_boosters()]
    assert len(jobs) > 22
    rows = [row for found in suite.run(jobs, 3, processes, patience=0) for row in found]
    made = results.document_of(rows, 3, 0.0)
    results.save(rows, made, folder)
    assert made == json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    return made


def test_verdicts_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    one, two = document(1, tmp_path / "one"), document(2, tmp_path / "two")
    assert one == two
    assert {row["verdict"] for row in one["results"]} >= {"holds", "refuted"}
    files = [
        sorted(p.name for p in (tmp_path / n / "certificates").iterdir()) for n in ("one", "two")
    ]
    assert files[0] == files[1] != []
    own = [row["verdict"] for row in one["results"] if "own_boosted" in row["learner"]]
    assert sorted(own) == ["holds", "refuted"]
    curves = [results.load(tmp_path / name).curves for name in ("one", "two")]
    assert curves[0].equals(curves[1])


@pytest.mark.parametrize(
    ("seconds_each", "processes", "shared"), [(1.0, 2, 18), (0.12, 2, 0), (0.2, 2, 0), (1.0, 1, 0)]
)
def test_other_processes_are_started_for_long_work_only(
    seconds_each: float, processes: int, shared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs, left = subset()[:20], []
    seconds = itertools.count(
        0.0, seconds_each
    )  # the clock is read at the start and before each job
    clock = SimpleNamespace(monotonic=lambda: max(0.0, next(seconds) - seconds_each))
    monkeypatch.setattr(suite, "time", clock)
    monkeypatch.setattr(suite, "judge_job", lambda job, seed: [job])
    monkeypatch.setattr(
        suite, "_share", lambda jobs, *_: (left.append(job) or [job] for job in jobs)
    )
    assert [job for (job,) in suite.run(jobs, 0, processes)] == jobs
    assert len(left) == shared


KEYS = [
    "claim", "form", "learner", "loss", "adversary", "graph", "case", "kind", "verdict", "expected",
    "observed", "envelope", "ratio", "regret_ratio", "headroom", "evidence", "runs", "rounds", "flags",
    "certificate", "surprising", "tested_from",
]  # fmt: skip


def test_rows_have_exactly_the_promised_keys(tmp_path: Path) -> None:
    setting = Setting(gappletron("hinge", "printed", "ftrl", "1"), "one-hot", "bandit", 200)
    rows = suite.judge_job(suite.Job(setting, ("gappletron/lemma-2", "gappletron/lemma-3")), 0)
    saved = results.document_of(rows, 0, 1.234)
    assert list(saved) == ["schema", "suite", "results", "hypotheses"]
    assert saved["schema"] == 1
    assert saved["suite"].keys() >= {"versions", "cpu", "libm", "seed", "level", "seconds"}
    assert saved["suite"]["seconds"] == 1.23
    assert saved["results"]
    for row in saved["results"]:
        assert list(row) == KEYS


HOLDS, _, _, VACUOUS, ELSEWHERE, ERROR = Verdict


def test_another_seed_is_another_run(tmp_path: Path) -> None:
    job = suite.Job(
        Setting(gappletron("hinge", "printed", "ftrl", "1"), "one-hot:noise=0.2", "bandit", 200),
        ("gappletron/lemma-2",),
    )
    first, again, other = (suite.judge_job(job, seed) for seed in (0, 0, 1))
    assert first[0].outcome.ratio == again[0].outcome.ratio != other[0].outcome.ratio


def test_a_replaced_axis_expects_nothing_of_false_forms() -> None:
    request = plan.Request(learner=gappletron("smooth-hinge", "printed", "projected", "ones"))
    job = plan.jobs_for(request)[2]
    rows = suite.judge_job(suite.Job(job.setting, job.claims, users=True), 0)
    assert rows
    for row in rows:
        form = catalog.claims()[row.claim].form(row.form)
        if row.verdict == Verdict.NOT_APPLICABLE:
            assert row.expected is None
            assert row.outcome.evidence
        elif form.proof != Proof.PROVED:
            assert row.expected is None
        else:
            assert row.expected == Verdict.HOLDS


def test_a_failure_of_ours_is_a_row_not_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **others: object) -> None:
        raise ZeroDivisionError("planted")

    learner = gappletron("smooth-hinge", "threshold", "projected", "theorem-4a")
    names = ("lemma-1", "lemma-2", "theorem-4a")
    job = suite.Job(
        Setting(learner, "one-hot", "bandit", 200), tuple(f"gappletron/{n}" for n in names)
    )
    assert Verdict.ERROR not in {row.verdict for row in suite.judge_job(job, 0)}
    monkeypatch.setattr(Case, "play", broken)
    rows = suite.judge_job(job, 0)
    assert {row.claim for row in rows} == {*job.claims}
    assert {row.verdict for row in rows} == {Verdict.ERROR}
    words = {row.outcome.evidence for row in rows}
    assert all(re.fullmatch(r"ZeroDivisionError: planted \(.*, line \d+\)", each) for each in words)
    assert all(row.surprising for row in rows)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (Setting("gappletron", "one-hot", "bandit", 0), "T=0"),
        (Setting("gappletron", "one-hot", "bandit", 10, comparator_norm=0.0), "B=0"),
        (Setting("gappletron", "one-hot", "bandit", 10, comparator_norm=float("nan")), "B=nan"),
        (Setting("segment-probe", "one-hot", "bandit", 10), "segment-probe"),
        (Setting("gappletron", "segments:n=4", "bandit", 11), "expected 10"),
        (Setting("gappletron", "random-labels:comparator_norm=1", "full", None), "at least 2"),
        (Setting("gappletron", "data:absent.csv", "full", None), "absent.csv"),
        (Setting("gappletron", "one-hot", "bandits", 10), "did you mean 'bandit'"),
        (Setting("gappletron", "one-hot:n_labels=3", "filtering:revealing=3", 10), "3"),
    ],
)
def test_settings_that_do_not_fit(setting: Setting, words: str) -> None:
    with pytest.raises(UserError, match=words):
        resolve(setting, 0).declaration  # noqa: B018


def test_a_graph_must_have_the_labels_of_the_sequence(tmp_path: Path) -> None:
    matrix = tmp_path / "graph.csv"
    matrix.write_text("1,0,0\n0,1,0\n0,0,1\n", encoding="utf-8")
    fitting = Setting("gappletron", "one-hot:n_labels=3", str(matrix), 10)
    assert resolve(fitting, 0).graph.n_labels == 3
    with pytest.raises(UserError, match=r"graph\.csv.* 3 entries: expected 5"):
        resolve(Setting("gappletron", "one-hot:n_labels=5", str(matrix), 10), 0)


def test_a_planted_comparator_lies_exactly_inside_its_ball() -> None:
    case = resolve(Setting("gappletron", "one-hot", "bandit", 10), 0)
    assert fits(case.comparator, case.comparator_norm)
    assert not fits(case.comparator, case.comparator_norm * (1 - 1e-15))
    small = resolve(Setting("gappletron", "one-hot", "bandit", 50, comparator_norm=0.5), 0)
    assert small.comparator.how == "fitted"
    assert small.comparator.norm <= 0.5


def save(rows: list[suite.Row], folder: Path) -> None:
    results.save(rows, results.document_of(rows, 0, 1.0), folder)


def test_damaged_results_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no results"):
        results.load(tmp_path)
    (tmp_path / "verdicts.json").write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match="damaged"):
        results.load(tmp_path)
    (tmp_path / "verdicts.json").write_text('{"schema": 7}', encoding="utf-8")
    with pytest.raises(UserError, match="schema 7"):
        results.load(tmp_path)


def test_results_without_a_field_are_named(tmp_path: Path) -> None:
    setting = Setting(gappletron("hinge", "printed", "ftrl", "1"), "one-hot", "bandit", 50)
    rows = suite.judge_job(suite.Job(setting, ("gappletron/lemma-2",)), 0)
    saved = results.document_of(rows, 0, 1.0)
    results.save(rows, saved, tmp_path)
    assert (
        tuple(saved["results"][0])
        == (*results.ROW_KEYS, "surprising", "tested_from")
        == tuple(KEYS)
    )
    assert {*saved["suite"]} == {*results.SUITE_KEYS}

    def fails(document: dict, words: str) -> None:
        (tmp_path / "verdicts.json").write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(UserError, match=words):
            results.load(tmp_path)

    for key in results.ROW_KEYS:
        row = {name: value for name, value in saved["results"][0].items() if name != key}
        fails(saved | {"results": [*saved["results"], row]}, f"result .* has no '{key}'")
    for key in results.SUITE_KEYS:
        left = {name: value for name, value in saved["suite"].items() if name != key}
        fails(saved | {"suite": left}, f"'suite' of .* has no '{key}'")
    fails(saved | {"suite": []}, "'suite' of .* has no 'versions'")
    fails(saved | {"results": {}}, "'results' of .* is no list")
    fails(saved | {"results": ["x"]}, "result 1 of .* has no 'claim'")
    (tmp_path / "verdicts.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(UserError, match="damaged"):
        results.load(tmp_path)


def test_only_certificates_that_an_earlier_run_named_are_replaced(tmp_path: Path) -> None:
    learner = gappletron("logistic-K", "printed", "stand-still", "2")
    jobs = [
        suite.Job(Setting(learner, "crafted-scores", "full", 400), (f"gappletron/{name}",))
        for name in ("lemma-1", "condition-2")
    ]
    folder = tmp_path / "certificates"
    folder.mkdir()
    (folder / "mine.json").write_text("{}", encoding="utf-8")
    outside = tmp_path / "outside.json"
    outside.write_text("{}", encoding="utf-8")
    names = []
    for job in jobs:
        save(suite.judge_job(job, 0), tmp_path)
        names.append({path.name for path in folder.iterdir()})
    assert names[0] & names[1] == {"mine.json"}
    assert len(names[0]) == len(names[1]) == 2
    verdicts = tmp_path / "verdicts.json"
    for text in (
        "{",
        "[]",
        '{"results": 3}',
        '{"results": [{"certificate": 5}, {"certificate": "outside.json"}]}',
        '{"results": [{"certificate": "certificates/../outside.json"}]}',
    ):
        verdicts.write_text(text, encoding="utf-8")
        save([], tmp_path)
        assert {path.name for path in folder.iterdir()} == names[1]
        assert outside.exists()


def test_a_measured_number_that_is_not_finite_is_null(tmp_path: Path) -> None:
    measured = [Measured(str(x), x, "") for x in (1.5, math.inf, -math.inf, math.nan)]
    results.save([], results.document_of([], 0, 1.0, measured), tmp_path)
    saved = results.load(tmp_path).document["hypotheses"]
    assert [row["measured"] for row in saved] == [1.5, None, None, None]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.5, "50%"), (0.994, "99%"), (0.9996, "99.96%"), (1 - 1e-7, "99.99999%"), (0.0004, "0.04%")],
)
def test_a_share_below_one_is_not_rounded_to_one(share: float, text: str) -> None:
    assert percentage(share) == text


def test_a_promise_counts_as_tested_if_a_form_that_must_hold_is_judged() -> None:
    def row(claim: str, verdict: Verdict, evidence: str = "", form: str = "repaired") -> suite.Row:
        judged = verdict != ELSEWHERE
        expected = HOLDS if judged and form == "repaired" else None
        outcome = Outcome(verdict, evidence=evidence)
        return suite.Row(claim, form, *("",) * 6, verdict, expected, outcome)

    rows = [
        row("a/1", ELSEWHERE, "no loss"),
        row("a/2", ELSEWHERE, "no loss"),
        row("a/2", HOLDS),
        row("a/3", VACUOUS, "T is 5"),
        row("a/3", ELSEWHERE, "no rule"),
        row("a/4", ERROR),
        row("a/5", HOLDS, "9 rounds", "printed"),
        row("a/6", Verdict.REFUTED, "round 3", "printed"),
        row("a/6", ELSEWHERE, "no rule"),
        row("b/1", ELSEWHERE, "no loss"),
        row("c/1", ELSEWHERE, f"{OTHER_LEARNERS}: weak learners"),
        row("c/2", ELSEWHERE, f"{OTHER_LEARNERS}: weak learners"),
        row("b/2", ELSEWHERE, f"{OTHER_LEARNERS}: weak learners"),
    ]
    assert suite.untested(rows, ["a/*"]) == {
        "a/1": "no loss",
        "a/3": "vacuous: T is 5",
        "a/5": "only judged as printed, which need not hold: 9 rounds",
        "a/6": "no rule",
    }
    elsewhere = f"{OTHER_LEARNERS}: weak learners"
    assert suite.untested(rows, ["c/*", "b/*"]) == {"b/1": "no loss", "c/*": elsewhere}
    assert suite.untested(rows, ["c/1"]) == {"c/1": elsewhere}
    assert suite.untested(rows, []) == {}


def test_an_adversary_that_knows_its_rounds_is_asked() -> None:
    for adversary, rounds in (
        ("segments:n=5", 15),
        ("random-labels:comparator_norm=3", 33),
        ("one-hot", 300),
    ):
        request = plan.Request(adversary=adversary, graph="filtering:revealing=1", scale="quick")
        ((setting, rounds_only), *_) = request.game.settings(request)
        assert not rounds_only
        assert resolve(setting, 0).sequence.horizon == rounds


def test_labels_change_half_way_and_rates_fall_from_their_cap() -> None:
    """Else a wrong count of rounds, or a learner that does not unlearn, would not show in the rounds of the quick
    scale."""
    jobs = plan.jobs_for(plan.Request(learner="gappletron:rule=threshold", scale="quick"))
    turning = [job for job in jobs if job.setting.adversary.startswith("turning")]
    assert [job.setting.graph for job in turning] == list(TURNING)
    assert {"gappletron/algorithm-1", "gappletron/updates", "game/no-peeking"} < set(
        turning[0].claims
    )
    assert "gappletron/theorem-4a" not in turning[0].claims
    cases = {job.setting.graph: resolve(job.setting, 0) for job in turning}
    for case in cases.values():
        (rounds,) = case.play(0)
        fell = rounds.explores & (rates(rounds) < 0.5) & (rates(rounds) > 0)
        assert np.count_nonzero(fell) > 80 or case.graph.is_full_information
        assert case.problem.feature_norm < 0.01
    assert {case.n_labels for case in cases.values()} == {2, 3}
    gammas = {graph: case.declaration["gamma"] for graph, case in cases.items()}
    assert gammas["filtering"] == pytest.approx(1)
    assert gammas["label-efficient"] == pytest.approx(1, abs=0.03)
    given = plan.Request(learner="gappletron", adversary="one-hot", scale="quick")
    assert len({job.setting.adversary for job in plan.jobs_for(given)}) == 1


@pytest.mark.parametrize(
    ("name", "content", "n_labels"),
    [
        ("four.csv", "1,1,0,0\n0,1,0,0\n0,0,1,0\n0,0,0,1\n", 4),
        ("four.edgelist", "a b\nb c\nc d\nd a\n", 4),
    ],
)
def test_a_graph_file_is_played_with_its_own_labels(
    name: str, content: str, n_labels: int, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    request = plan.Request(("gappletron/lemma-1",), graph=str(tmp_path / name), scale="quick")
    settings = {job.setting for job in plan.jobs_for(request)}
    assert {resolve(each, 0).n_labels for each in settings} == {n_labels}


@pytest.mark.parametrize(
    ("learner", "graphs"),
    [
        ("perceptron", ("full",)),
        ("gaptron", ("bandit", "full")),
        ("banditron:estimator=importance", tuple(TURNING)),
        ("label-efficient-perceptron", ("label-efficient",)),
        ("gappletron", tuple(TURNING)),
        ("uniform", tuple(TURNING)),
    ],
)
def test_a_learner_is_played_on_graphs_that_it_accepts(
    learner: str, graphs: tuple[str, ...]
) -> None:
    jobs = plan.jobs_for(plan.Request(learner=learner, scale="quick"))
    assert {job.setting.graph for job in jobs} == set(graphs)
    asked = plan.jobs_for(plan.Request(learner=learner, graph="cops-and-robbers"))
    assert {job.setting.graph for job in asked} == {"cops-and-robbers"}
