"""One claim that fails takes no other down, wherever in its code it fails; its row names the file and the line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.claim import Cell
from boundcheck.verify.claims.gappletron.settings import gappletron
from boundcheck.verify.judges.mean import FEWEST_RUNS
from boundcheck.verify.outcome import Outcome, Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import request as plan
from boundcheck.verify.suite import run as suite
from boundcheck.verify.suite.judging import judge_cells

CLAIMS = '''
"""Claims that fail, each in another place, and some that do not."""

from fractions import Fraction

import numpy as np

from boundcheck import (
    Audit, Bound, Check, Claim, Comparison, Exact, Form, Law, Mean, MeanSides, OneRound, Pathwise, Proof, Sides, Source,
    Tail, TailSides, Verdict,
)
from boundcheck.errors import UserError, require

HERE = Source("Somebody", "Mine", 2024, "Theorem 1")
RUNS, THREE = 64, 0.1 + 0.1 + 0.1


def fail(place):
    raise ZeroDivisionError(place)


def sure(case, form, rounds):
    return Sides(rounds.column("error"), np.full(len(rounds), 1.5), np.full(len(rounds), 1e-9))


def broken_sides(case, form, rounds):
    return 1 / 0  # sides


def broken_later(case, form, rounds):
    if rounds.start > 0:
        [][0]  # later
    return sure(case, form, rounds)


def equal(case, form, rounds):
    return Sides(np.ones(len(rounds)), np.ones(len(rounds)), np.full(len(rounds), 1e-9))


def broken_instance(case, suspect):
    return {}["x"]  # instance


def no_exact(instance, form):
    return None  # not reached


def broken_instances(case, form):
    yield from ()
    raise RuntimeError("no instances")  # instances


def one_instance(case, form):
    yield Fraction(1)


def broken_exact(instance, form):
    return instance / 0  # exact


def broken_check(case):
    raise OSError(5, "no check")  # check


def broken_says(case, form, each):
    yield Comparison("it", np.zeros(1), each.nothing, 1.0)  # says


def broken_look(cell, runs, *, interpreted=False):
    raise TypeError("no look")  # look


def broken_totals(case, form, totals):
    return totals.nothing  # totals


def broken_rate(case):
    return float("x")  # rate


def broken_input(case, form, rounds):
    raise UserError("own sentence")  # input


def broken_requirement(cell, runs, *, interpreted=False):
    require(False, "own requirement")  # requirement


def broken_word(case):
    return fail("word")  # word


def mean(values):
    def sides(case, form, totals):  # floor
        y = np.full(totals.runs, values)
        return MeanSides(0 * y, (Bound(y, 0.3),), 0 * y, least=0.0, most=1.0, guess=2.0, non_vacuous="always")

    return sides


def claim(name, judge, **form):
    return Claim(f"mine/{name}", name, HERE, (Form("printed", name, Proof.PROVED, "planted", **form),), judge)


GOOD = claim("good", Pathwise(sure))
ROUNDED = claim("rounded", Mean(mean(THREE)))
MADE = [
    claim("sides", Pathwise(broken_sides)),
    claim("later", Pathwise(broken_later)),
    claim("instance", Pathwise(equal, broken_instance, no_exact)),
    claim("instances", Exact(broken_instances, broken_exact, str)),
    claim("exact", Exact(one_instance, broken_exact, str)),
    claim("check", Exact(one_instance, broken_exact, str, broken_check)),
    claim("says", OneRound(broken_says)),
    claim("look", Audit(broken_look)),
    claim("totals", Tail(broken_totals)),
    claim("rate", Law(broken_rate)),
    claim("input", Pathwise(broken_input)),
    claim("requirement", Audit(broken_requirement)),
    claim("floor", Mean(mean(0.3 * (1 + 1e-6)))),
    claim("word", Pathwise(sure), unmet=broken_word),
    claim("expected", Pathwise(sure), expected=broken_word),
    claim("vacuous", Pathwise(sure), vacuous=broken_word),
]
for made in MADE:
    globals()[made.title] = made
'''

BROKEN = {
    "sides": "ZeroDivisionError: division by zero",
    "later": "IndexError: list index out of range",
    "instance": "KeyError: 'x'",
    "instances": "RuntimeError: no instances",
    "exact": "ZeroDivisionError: Fraction(1, 0)",
    "check": "OSError: [Errno 5] no check",
    "says": "AttributeError: 'Round' object has no attribute 'nothing'",
    "look": "TypeError: no look",
    "totals": "AttributeError: 'RunSums' object has no attribute 'nothing'",
    "rate": "ValueError: could not convert string to float: 'x'",
    "input": "UserError: own sentence",
    "requirement": "UserError: own requirement",
    "floor": "ValueError: a run lies below its sure floor: -1.000001 < -1",
    "word": "ZeroDivisionError: word",
}
"""What each claim raises, and the mark of the line that does it."""

IN_THE_FORM = {"word": "fail", "expected": "fail", "vacuous": "fail"}
"""Functions of the form that fail in a helper, whose line is told."""

OURS = ("gappletron/lemma-1", "gappletron/lemma-2", "gappletron/theorem-4a", "gappletron/updates")
SETTING = Setting(
    gappletron("smooth-hinge", "threshold", "projected", "theorem-4a"), "one-hot", "bandit", 6000, None, 2
)  # fmt: skip
SAMPLED = 64


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """The file of claims, which no other test sees."""
    path = tmp_path / "planted_claims.py"
    path.write_text(CLAIMS, encoding="utf-8")
    before = {*catalog.claims()}
    try:
        yield path
    finally:
        for name in {*catalog.claims()} - before:
            del catalog.claims()[name]


def line_of(mark: str) -> int:
    """The line that is marked in the file of claims."""
    if mark in IN_THE_FORM:
        return next(i for i, line in enumerate(CLAIMS.splitlines(), 1) if "Error(place)" in line)
    (found,) = (i for i, line in enumerate(CLAIMS.splitlines(), 1) if line.endswith(f"# {mark}"))
    return found


def job(file: Path | None, *names: str, users: bool = False) -> suite.Job:
    mine = tuple(f"mine/{name}" for name in names)
    together = tuple(name for pair in zip(mine, OURS * len(mine), strict=False) for name in pair)
    return suite.Job(SETTING, (*dict.fromkeys((*together, *mine, *OURS)),), users, SAMPLED, file)


def told(rows: list[suite.Row]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row.claim, row.form): row.to_json() for row in rows}


def check(rows: list[suite.Row], file: Path, alone: list[suite.Row], users: bool) -> None:
    """All broken claims are errors with their own words; all others are what they are without them."""
    found = told(rows)
    for name, words in BROKEN.items():
        row = found.pop((f"mine/{name}", "printed"))
        assert row["verdict"] == "error", name
        assert row["evidence"] == f"{words} ({file.name}, line {line_of(name)})"
        assert row["certificate"] is None
        assert row["surprising"] == (not users)
    good = [found.pop((f"mine/{name}", "printed")) for name in ("good", "expected", "vacuous")]
    for name, row in zip(("expected", "vacuous"), good[1:], strict=True):
        if users:  # nobody asks what is expected
            assert row["verdict"] == "holds"
        else:
            assert row["evidence"] == f"ZeroDivisionError: word ({file.name}, line {line_of(name)})"
            assert row["verdict"] == "error"
            assert row["surprising"]
    assert (good[0]["verdict"], good[0]["envelope"], good[0]["runs"]) == ("holds", 1.5, 2)
    assert found.pop(("mine/rounded", "printed"))["verdict"] == "holds"
    assert found == told(alone)


@pytest.mark.parametrize("users", [False, True])
def test_a_claim_that_fails_fails_alone(file: Path, users: bool) -> None:
    alone = suite.judge_job(job(None, users=users), 0)
    assert {row.claim for row in alone if row.verdict == Verdict.HOLDS} >= {*OURS[:2], OURS[3]}
    names = [made.id.partition("/")[2] for made in catalog.add_file(file)]
    assert {*names} == {*BROKEN, "good", "rounded", "expected", "vacuous"}
    check(suite.judge_job(job(file, *names, users=users), 0), file, alone, users)


def test_it_fails_alone_in_other_processes_too(file: Path) -> None:
    """They read the file themselves."""
    names = (*BROKEN, "good", "rounded", "expected", "vacuous")
    jobs = [job(file, *names), job(file, *reversed(names)), job(None)]
    first, second, alone = suite.run(jobs, 0, processes=2, patience=0)
    assert "mine/good" not in catalog.claims(), "this process did not judge"
    for rows in (first, second):
        check(rows, file, alone, users=False)
    assert [row.to_json() for row in alone] == [r.to_json() for r in suite.judge_job(jobs[-1], 0)]


def outcome_of(name: str, runs: int) -> Outcome:
    claim = catalog.claims()[f"mine/{name}"]
    case = resolve(replace(SETTING, horizon=3), 0)
    ((_, found),) = judge_cells(case, [Cell(claim, claim.forms[0], case)], 2, runs)
    return found


def test_rounding_is_no_run_below_its_floor(file: Path) -> None:
    """0.1 + 0.1 + 0.1 exceeds the ceiling 0.3 by one in the last place; a millionth more is no rounding."""
    catalog.add_file(file)
    assert 0.1 + 0.1 + 0.1 > 0.3
    few, many = outcome_of("rounded", 3), outcome_of("rounded", FEWEST_RUNS)
    assert (few.verdict, many.verdict) == (Verdict.UNDECIDED, Verdict.HOLDS)
    assert few.evidence.endswith(f"{FEWEST_RUNS} runs are needed")
    assert (many.observed, many.envelope, many.ratio) == (0.0, pytest.approx(0.3), 0.0)
    for runs in (3, FEWEST_RUNS):
        below = outcome_of("floor", runs)
        assert below.verdict == Verdict.ERROR
        assert "a run lies below its sure floor: -1.000001 < -1" in below.evidence


def test_cases_that_cannot_be_listed_are_named_before_anything_is_played(file: Path) -> None:
    text = CLAIMS + "\n\ndef broken_cases():\n    return 1 / 0  # cases\n\n\n"
    text += 'CASES = Claim("mine/cases", "cases", HERE, GOOD.forms, GOOD.judge, broken_cases)\n'
    file.write_text(text, encoding="utf-8")
    line = next(i for i, each in enumerate(text.splitlines(), 1) if each.endswith("# cases"))
    request = plan.Request(("mine/cases",), claims_file=file)
    words = rf"^the cases of claim 'mine/cases' cannot be listed: ZeroDivisionError: .*\({file.name}, line {line}\)"
    with pytest.raises(UserError, match=words):
        plan.jobs_for(request)
