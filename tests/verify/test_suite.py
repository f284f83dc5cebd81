"""A run: the same rows from any number of processes, and the right exit for what they say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from boundcheck.errors import UserError
from boundcheck.verify import catalog, plan, resolve, results, suite
from boundcheck.verify.case import Setting
from boundcheck.verify.claim import Proof, Verdict
from boundcheck.verify.settings import gappletron


def subset() -> list[suite.Job]:
    """A few settings of every kind of claim."""
    jobs = plan.jobs_for(plan.Request(scale="quick"))
    cheap = [job for job in jobs if job.setting.replicates < 20]
    return cheap[::29]


def document(processes: int, folder: Path) -> dict:
    jobs = subset()
    assert len(jobs) > 20
    rows = [row for found in suite.run(jobs, 3, processes) for row in found]
    saved = results.save(rows, folder, 3, 0.0)
    assert saved == json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    return saved


def test_verdicts_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    one, two = document(1, tmp_path / "one"), document(2, tmp_path / "two")
    assert one == two
    assert {row["verdict"] for row in one["results"]} >= {"holds", "refuted"}
    files = [
        sorted(p.name for p in (tmp_path / n / "certificates").iterdir()) for n in ("one", "two")
    ]
    assert files[0] == files[1] != []
    curves = [results.load(tmp_path / name).curves for name in ("one", "two")]
    assert curves[0].equals(curves[1])


def test_another_seed_is_another_run(tmp_path: Path) -> None:
    job = suite.Job(
        Setting(gappletron("hinge", "printed", "ftrl", "1"), "one-hot:noise=0.2", "bandit", 200),
        ("gappletron/lemma-2",),
    )
    first, again, other = (suite.judge_job(job, seed) for seed in (0, 0, 1))
    assert first[0].outcome.ratio == again[0].outcome.ratio != other[0].outcome.ratio


def test_a_replaced_axis_expects_nothing_of_printed_false_claims() -> None:
    request = plan.Request(learner=gappletron("smooth-hinge", "printed", "projected", "ones"))
    job = plan.jobs_for(request)[2]
    rows = suite.judge_job(suite.Job(job.setting, job.claims, own=True), 0)
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
    def broken(*arguments: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(suite, "judge_case", broken)
    rows = suite.judge_job(subset()[0], 0)
    assert {row.verdict for row in rows} == {Verdict.ERROR}
    assert all("planted" in row.outcome.evidence for row in rows)
    assert any(row.surprising for row in rows)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (Setting("gappletron", "one-hot", "bandit", 0), "T=0"),
        (Setting("gappletron", "one-hot", "bandit", 10, radius=0.0), "B=0"),
        (Setting("gappletron", "one-hot", "bandit", 10, radius=float("nan")), "B=nan"),
        (Setting("segment-probe", "one-hot", "bandit", 10), "segment-probe"),
        (Setting("gappletron", "segments:n=4", "bandit", 11), "expected 10"),
        (Setting("gappletron", "random-labels:radius=1", "full", None), "at least 2"),
        (Setting("gappletron", "data:absent.csv", "full", None), "absent.csv"),
    ],
)
def test_settings_that_do_not_fit(setting: Setting, words: str) -> None:
    with pytest.raises(UserError, match=words):
        resolve.resolve(setting, 0).declaration  # noqa: B018


def test_a_planted_comparator_lies_exactly_inside_its_ball() -> None:
    case = resolve.resolve(Setting("gappletron", "one-hot", "bandit", 10), 0)
    assert resolve.fits(case.comparator, case.radius)
    assert not resolve.fits(case.comparator, case.radius * (1 - 1e-15))
    small = resolve.resolve(Setting("gappletron", "one-hot", "bandit", 50, radius=0.5), 0)
    assert small.comparator.how == "fitted"
    assert small.comparator.norm <= 0.5


def test_damaged_results_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no results"):
        results.load(tmp_path)
    (tmp_path / "verdicts.json").write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match="damaged"):
        results.load(tmp_path)
    (tmp_path / "verdicts.json").write_text('{"schema": 7}', encoding="utf-8")
    with pytest.raises(UserError, match="schema 7"):
        results.load(tmp_path)
