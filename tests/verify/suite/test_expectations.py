"""What is expected of a verdict: all that is not, in the built-in suite; a broken promise, of a user's case."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from boundcheck.verify import catalog
from boundcheck.verify.claim import Form, Proof
from boundcheck.verify.claims.gappletron.settings import mean_settings
from boundcheck.verify.outcome import Outcome, Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.suite import run as suite

HOLDS, REFUTED, UNDECIDED, VACUOUS, ELSEWHERE, ERROR = Verdict


@pytest.mark.parametrize(
    ("expected", "built_in", "of_the_users"),
    [
        (None, set(), set()),
        (HOLDS, set(Verdict) - {HOLDS}, {REFUTED, ERROR}),
        (VACUOUS, set(Verdict) - {VACUOUS}, {REFUTED, ERROR}),
        (REFUTED, set(Verdict) - {REFUTED}, set(Verdict) - {REFUTED}),
    ],
)
def test_what_surprises(
    expected: Verdict | None, built_in: set[Verdict], of_the_users: set[Verdict]
) -> None:
    """Whatever is not expected of a built-in case; in a user's nothing may have been put to the test."""
    for verdict in Verdict:
        for users, surprises in ((False, built_in), (True, of_the_users)):
            row = suite.Row(*("",) * 8, verdict, expected, Outcome(verdict), users)
            assert row.surprising == (verdict in surprises), (verdict, users)
            assert suite.is_surprise(expected, verdict, users) == row.surprising
            assert row.to_json()["surprising"] == row.surprising


def test_a_form_that_is_vacuous_without_saying_so_before_is_a_surprise() -> None:
    """Also where another case puts it to the test."""
    case = SimpleNamespace(is_adaptive=False, learner=None, horizon=5)
    claim = catalog.claims()["gappletron/theorem-4a"]
    sure = Form("printed", "", Proof.PROVED, "")
    short = replace(sure, vacuous=lambda case: "from T = 9" if case.horizon < 9 else None)
    for form, expected in ((sure, HOLDS), (short, VACUOUS)):
        assert form.expects(case) == suite.expected_verdict(claim, form, case, False) == expected
        surprises = {verdict for verdict in Verdict if suite.is_surprise(expected, verdict)}
        assert surprises == set(Verdict) - {expected}
    assert short.expects(SimpleNamespace(horizon=9)) == HOLDS
    # a form that is refuted, or of which nothing is expected, may not hide behind too few rounds
    assert replace(short, expected=lambda case: REFUTED).expects(case) == REFUTED
    assert replace(short, expected=lambda case: None).expects(case) is None
    # of a user's case it is only expected that a promise is kept
    case.learner = SimpleNamespace(promises=("gappletron/*",))
    assert suite.expected_verdict(claim, short, case, True) == HOLDS
    assert not suite.is_surprise(HOLDS, VACUOUS, users=True)


def has_reasons(form: Form) -> bool:
    """Whether a form knows cases in which it is right to say nothing."""
    return form.vacuous is not Form.__dataclass_fields__["vacuous"].default


WITH_REASONS = [c.id for c in catalog.claims().values() if any(map(has_reasons, c.forms))]


def test_some_claims_know_where_they_say_nothing() -> None:
    families = {name.partition("/")[0] for name in WITH_REASONS}
    assert families == {"gappletron", "boosting"}
    assert len(WITH_REASONS) > 8


@pytest.mark.parametrize("name", WITH_REASONS)
def test_a_form_that_says_nothing_names_from_where_on_it_does(name: str) -> None:
    """The horizon, or the number of weak learners; there it is expected to hold, and before it is not."""
    claim, silent = catalog.claims()[name], 0
    for setting in claim.cases():
        case = resolve(setting, 0)
        for form in claim.forms:
            if form.does_not_apply(case) or (said := form.vacuous(case)) is None:
                continue
            silent += 1
            assert has_reasons(form)
            assert form.expects(case) == (REFUTED if form.expected(case) == REFUTED else VACUOUS)
            named = re.search(r"(?:it is non-vacuous|alone reach it) from (T|N) = ([\d,]+)$", said)
            assert named is not None, said
            first = int(named[2].replace(",", ""))
            if named[1] == "N":
                k, edge = case.n_labels, case.learner.gamma
                bounds = [(k - 1) * math.exp(-(edge**2) * n / 2) for n in (first - 1, first)]
                assert bounds[1] < 1 <= bounds[0]
                assert first > min(case.learner.learners, 40), "the most that are looked at"
                continue
            assert first > case.horizon
            longer = resolve(replace(setting, horizon=first), 0)
            assert form.does_not_apply(longer) is None
            assert form.vacuous(longer) is None
            assert form.expects(longer) == form.expected(longer)
    assert silent or "bbm" in name, "none of its built-in cases is so short"


def test_what_says_nothing_by_a_built_in_form_is_no_surprise() -> None:
    setting = next(each for each in mean_settings("4a") if each.adversary.startswith("keywords"))
    job = suite.Job(setting, ("gappletron/theorem-4a",))
    (row,) = suite.judge_job(job, 0)
    form = catalog.claims()[row.claim].form(row.form)
    said = form.vacuous(resolve(setting, 0))
    assert said is not None
    assert (row.verdict, row.expected, row.surprising) == (VACUOUS, VACUOUS, False)
    assert row.outcome.evidence.rpartition("T = ")[2] == said.rpartition("T = ")[2]
    (row,) = suite.judge_job(replace(job, users=True), 0)[-1:]
    assert (row.verdict, row.expected, row.surprising) == (VACUOUS, HOLDS, False), "a promise"
