"""Which row speaks for a form, and the names and sizes of what is played."""

from __future__ import annotations

from collections import Counter

from boundcheck.reports.terminal import tables
from boundcheck.verify import catalog
from boundcheck.verify.outcome import Outcome, Verdict
from boundcheck.verify.suite import request as plan
from boundcheck.verify.suite import run as suite


def _row(
    verdict: Verdict,
    expected: Verdict | None,
    ratio: float,
    claim: str = "a/b",
    form: str = "printed",
    users: bool = False,
) -> suite.Row:
    outcome = Outcome(verdict, ratio=ratio, runs=1)
    return suite.Row(
        claim, form, "l", None, "s", "g", f"{ratio}", "pathwise", verdict, expected, outcome, users
    )


def test_the_worst_case_speaks_for_a_group() -> None:
    holds = _row(Verdict.HOLDS, Verdict.HOLDS, 0.9)
    chance = _row(Verdict.REFUTED, None, 3.0)
    refuted = _row(Verdict.REFUTED, Verdict.REFUTED, 2.0)
    surprise = _row(Verdict.REFUTED, Verdict.HOLDS, 1.1)
    vacuous = _row(Verdict.VACUOUS, Verdict.VACUOUS, 0.0)
    empty = _row(Verdict.VACUOUS, Verdict.HOLDS, 0.0)
    assert tables.Group((holds, vacuous)).worst is holds
    assert tables.Group((holds, empty)).worst is empty
    assert tables.Group((holds, chance, refuted)).worst is refuted
    assert tables.Group((holds, refuted, surprise)).worst is surprise
    assert tables.Group((holds, refuted)).counts == "1 refuted, 1 holds"
    assert (vacuous.surprising, empty.surprising) == (False, True)
    theirs = _row(Verdict.VACUOUS, Verdict.HOLDS, 0.0, users=True)
    assert not theirs.surprising
    assert tables.Group((holds, theirs)).worst is holds


def test_what_is_found_false_is_named_by_its_form() -> None:
    HOLDS, REFUTED, ERROR = Verdict.HOLDS, Verdict.REFUTED, Verdict.ERROR
    rows = [
        _row(verdict, None, 1.0, claim, form)
        for claim, form, verdict in (
            ("a/paper", "printed", HOLDS),
            ("a/paper", "printed", REFUTED),
            ("a/paper", "repaired", HOLDS),
            ("b/matrix", "transferred", REFUTED),
            ("b/matrix", "repaired", HOLDS),
            ("c/fails", "transferred", REFUTED),
            ("c/fails", "repaired", HOLDS),
            ("c/fails", "repaired", ERROR),
            ("d/ours", "derived", REFUTED),
            ("e/true", "derived", HOLDS),
        )
    ]
    assert tables.found_false(tables.grouped(rows)) == [
        "refuted as derived: d/ours",
        "refuted as printed: a/paper",
        "refuted as transferred: b/matrix, c/fails",
        "of these, hold as repaired: a/paper, b/matrix",
    ]
    assert tables.found_false(tables.grouped(rows[-1:])) == []


def test_quick_plays_less_than_default_and_full_more() -> None:
    claims = plan.claims_of(plan.Request(("gappletron/bound-9", "gappletron/theorem-4a")))
    runs = {
        scale: sum(job.setting.runs for job in plan.built_in_jobs(claims, scale))
        for scale in ("quick", "default", "full")
    }
    assert runs["quick"] < runs["default"] / 1.9
    assert runs["full"] == 8 * runs["default"]
    settings = Counter(job.setting for job in plan.built_in_jobs(claims))
    assert set(settings.values()) == {1}, "a setting that two claims share is played once"


def test_names_in_the_results_can_be_given_back() -> None:
    jobs = plan.built_in_jobs(list(catalog.claims().values()))
    for name in {job.setting.label("learner") for job in jobs}:
        assert catalog.learner(catalog.learner(name).spec) == catalog.learner(name)
    for name in {job.setting.label("adversary") for job in jobs}:
        assert catalog.adversary(catalog.adversary(name).spec) == catalog.adversary(name)
