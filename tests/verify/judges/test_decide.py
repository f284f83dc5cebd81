"""The verdict: the whole table of what evidence comes to, and nobody else who chooses one."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundcheck
from boundcheck.verify.judges.decide import LEVEL, decide, exceeds_level, verdict_of
from boundcheck.verify.outcome import Certificate, Curve, Evidence, Outcome, Verdict

ROOT = Path(boundcheck.__file__).parent
FILES = sorted(path for part in ("verify", "reports") for path in (ROOT / part).rglob("*.py"))
HOLDS, REFUTED, UNDECIDED, VACUOUS, ELSEWHERE, ERROR = Verdict

ANY = (False, True)
TABLE = (
    # not met, nothing could fail, violated, not there when played again, enough
    (((True,), ANY, ANY, ANY, ANY), ELSEWHERE),
    (((False,), (True,), ANY, ANY, ANY), VACUOUS),
    (((False,), (False,), (True,), ANY, ANY), REFUTED),
    (((False,), (False,), (False,), (True,), ANY), ERROR),
    (((False,), (False,), (False,), (False,), (True,)), HOLDS),
    (((False,), (False,), (False,), (False,), (False,)), UNDECIDED),
)
CERTIFICATE = Certificate({"claim": "a/b", "form": "printed"}, (2.0, 1.0), "here")


def evidence(unmet: bool, idle: bool, refutes: bool, trouble: bool, enough: bool) -> Evidence:
    """Evidence in which every field has a value of its own."""
    return Evidence(
        observed=2.0,
        envelope=3.0,
        ratio=5.0,
        regret_ratio=7.0,
        headroom=11.0,
        live=0 if idle else 13,
        refutes=refutes,
        enough=enough,
        trouble="it is not there again" if trouble else None,
        unmet="the learner has no loss" if unmet else None,
        says="the words",
        runs=17,
        rounds=19,
        flags=("weak",),
        sampled=True,
        curve=Curve.of([(0, 1, 2.0, 3.0, math.nan)]),
        frontiers=object(),
    )


def rows() -> Iterator[tuple[tuple[bool, ...], Verdict]]:
    for columns, verdict in TABLE:
        yield from ((row, verdict) for row in product(*columns))


def test_the_table_has_each_row_once() -> None:
    assert sorted(row for row, _ in rows()) == sorted(product(ANY, repeat=5))
    assert {verdict for _, verdict in rows()} == {*Verdict}


@pytest.mark.parametrize(("row", "verdict"), [*rows()])
def test_what_evidence_comes_to(row: tuple[bool, ...], verdict: Verdict) -> None:
    found, asked = evidence(*row), []
    found.certify = lambda: asked.append(row) or CERTIFICATE
    assert verdict_of(found) == verdict
    outcome = decide(found)
    assert outcome.verdict == verdict
    # a certificate is made for what is refuted, and for nothing else
    assert asked == [row] * (verdict == REFUTED)
    assert outcome.certificate is (CERTIFICATE if verdict == REFUTED else None)
    # room between the sides is told where both are compared and neither side won
    assert outcome.headroom == (11.0 if verdict in (HOLDS, UNDECIDED) else None)
    words = {ELSEWHERE: "the learner has no loss", ERROR: "it is not there again"}
    assert outcome.evidence == words.get(verdict, "the words")
    same = {f.name for f in fields(Evidence)} & {f.name for f in fields(Outcome)} - {"headroom"}
    assert same == {
        "observed", "envelope", "ratio", "regret_ratio", "runs", "rounds", "flags", "sampled", "curve", "frontiers",
        "tested_from",
    }  # fmt: skip
    for name in same:
        assert getattr(outcome, name) is getattr(found, name), name


@pytest.mark.parametrize(("row", "verdict"), [*rows()])
def test_a_verdict_may_have_words_of_its_own(row: tuple[bool, ...], verdict: Verdict) -> None:
    every = {each: f"words of {each}" for each in Verdict}
    plain = decide(evidence(*row)).evidence
    assert decide(replace(evidence(*row), more=every)).evidence == f"words of {verdict}"
    del every[verdict]
    assert decide(replace(evidence(*row), more=every)).evidence == plain


def test_evidence_of_nothing_holds_by_default_and_certifies_nothing() -> None:
    assert decide(Evidence()).verdict == HOLDS
    assert decide(Evidence(refutes=True)).certificate is None


def test_the_level_is_reached_and_not_only_exceeded() -> None:
    needed = -math.log(LEVEL)
    assert exceeds_level(needed)
    assert not exceeds_level(float(np.nextafter(needed, 0)))
    assert exceeds_level(math.inf)
    assert not exceeds_level(math.nan)
    assert exceeds_level(-math.log(0.05), 0.05)
    assert not exceeds_level(-math.log(0.05), 0.04)


# nobody else chooses a verdict


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def called(node: ast.AST) -> str:
    """The name of what a call calls, without what it belongs to."""
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def word_of(node: ast.AST | None) -> str | None:
    """X of an expression ``Verdict.X``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == "Verdict" else None
    return None


def given_verdict(call: ast.Call) -> ast.AST | None:
    """What an outcome is given as its verdict."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    return call.args[0] if call.args else keywords.get("verdict")


def choices(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Where a verdict is put into something: how, and which one."""
    classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        if called(node) == "Outcome" and "Outcome" not in classes:  # studies have their own
            yield "outcome", word_of(given_verdict(node)) or "computed"  # type: ignore[arg-type]
        elif called(node) in ("replace", "setattr"):
            keywords = [k.arg for k in node.keywords]  # type: ignore[attr-defined]
            names = [a.value for a in node.args if isinstance(a, ast.Constant)]  # type: ignore[attr-defined]
            if "verdict" in [*keywords, *names]:
                yield "changed", "computed"
        elif called(node) == "Verdict":
            (given,) = node.args  # type: ignore[attr-defined]
            if getattr(given, "attr", "") != "verdict":  # that of a row is read
                yield "made", "computed"
        elif isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Verdict":
            yield "made", "computed"
        elif (
            isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None
        ):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            attributes = [each.attr for each in targets if isinstance(each, ast.Attribute)]
            if word_of(node.value) or "verdict" in attributes:
                yield "assigned", word_of(node.value) or "computed"
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                written = word_of(value) or getattr(value, "value", None)
                if getattr(key, "value", "") == "verdict" and isinstance(written, str):
                    yield "told", written


def test_no_other_place_chooses_a_verdict() -> None:
    found: dict[str, list[tuple[str, str]]] = {}
    for path in FILES:
        if chosen := sorted(choices(ast.parse(path.read_text(encoding="utf-8")))):
            found[name_of(path)] = chosen
    errors = found["verify/suite/judging.py"]
    assert {*errors} == {("outcome", "ERROR")}, "what could not be judged"
    assert found == {
        "verify/judges/decide.py": [("outcome", "computed")],
        "verify/suite/judging.py": errors,
        "verify/suite/run.py": [
            ("assigned", "HOLDS"),  # expected of a form whose expectation fails
            ("outcome", "ERROR"),
            ("outcome", "ERROR"),
            ("outcome", "NOT_APPLICABLE"),
        ],
    }


def returned(tree: ast.AST) -> set[str]:
    """Functions that return a verdict by its name, but for outcomes, which are seen above."""
    found = set()
    for function in ast.walk(tree):
        for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
            if not isinstance(node, ast.Return):
                continue
            used = {id(each) for each in ast.walk(node) if word_of(each)}
            for each in ast.walk(node):
                if isinstance(each, ast.Compare) or called(each) == "Outcome":
                    used -= {id(part) for part in ast.walk(each)}
                elif isinstance(each, ast.Dict):
                    used -= {id(key) for key in each.keys}
            if used:
                found.add(function.name)
    return found


def test_only_one_function_returns_one_and_others_say_what_is_expected() -> None:
    trees = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
    found = {name: functions for name, tree in trees.items() if (functions := returned(tree))}
    claims = {name for name in found if name.startswith("verify/claims/")}
    assert {name: found[name] for name in found.keys() - claims} == {
        "verify/judges/decide.py": {"verdict_of"},
        "verify/claim.py": {"expects"},
        "verify/suite/run.py": {"expected_verdict"},
    }
    # a claim knows no outcomes: what its functions return is what its forms expect of a case
    forms = [
        ast.unparse(call)
        for name, tree in trees.items()
        for call in ast.walk(tree)
        if name.startswith("verify/claims/") and called(call) == "Form"
    ]
    expecting = {function for name in claims for function in found[name]}
    assert len(expecting) > 5
    assert {each for each in expecting if not any(each in form for form in forms)} == set()


@pytest.mark.parametrize(
    ("line", "choice"),
    [
        ("found = Outcome(Verdict.HOLDS)", ("outcome", "HOLDS")),
        ("found = outcome.Outcome(verdict=Verdict.VACUOUS)", ("outcome", "VACUOUS")),
        ("Outcome(word)", ("outcome", "computed")),
        ("found.verdict = word", ("assigned", "computed")),
        ("word = Verdict.UNDECIDED", ("assigned", "UNDECIDED")),
        ("setattr(found, 'verdict', word)", ("changed", "computed")),
        ("dataclasses.replace(found, verdict=word)", ("changed", "computed")),
        ("word = Verdict('holds')", ("made", "computed")),
        ("word = Verdict(word)", ("made", "computed")),
        ("Verdict['HOLDS']", ("made", "computed")),
        ("row = {'verdict': 'holds'}", ("told", "holds")),
        ("row = {'verdict': Verdict.HOLDS}", ("told", "HOLDS")),
    ],
)
def test_a_choice_is_seen_however_it_is_written(line: str, choice: Any) -> None:
    assert [*choices(ast.parse(line))] == [choice]


@pytest.mark.parametrize(
    "line",
    [
        "found.verdict == Verdict.HOLDS",
        "shown = Verdict(row.verdict)",
        "found.more[Verdict.REFUTED] = words",
        "Evidence(more={Verdict.REFUTED: words})",
        "{'verdict': self.verdict.value}",
        "class Outcome:\n    verdict: Verdict",
    ],
)
def test_looking_at_a_verdict_is_no_choice(line: str) -> None:
    assert [*choices(ast.parse(line))] == []
