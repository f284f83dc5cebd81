"""A certificate refutes only what it speaks of: forged ones of true statements are refused, whatever they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from forging import forged, mutated, targets, within, write

from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.certificates.make import header
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.claim import Proof
from boundcheck.verify.claims.gappletron.settings import concealed_settings, gappletron
from boundcheck.verify.outcome import digest_of
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

CRAFTED = "crafted-scores:n_labels={}"

Fields = dict[str, Any]


def _round(rule: str, graph: str, loss: str, n_labels: int = 3) -> Setting:
    learner = gappletron(loss, rule, "stand-still", "2")
    return Setting(learner, CRAFTED.format(n_labels), graph, 900, runs=1)


GENUINE = {
    "gappletron/lemma-1": _round("printed", "full", "logistic-K"),
    "gappletron/bound-9": _round("printed", "filtering", "smooth-hinge"),
    "gappletron/condition-2": _round("printed", "full", "logistic-K"),
    "gappletron/guarantee-4": Setting(
        gappletron("smooth-hinge", "printed", "unprojected", "1"), "alternation", "full", 64, 1.0, 1
    ),
    "gappletron/theorem-7": Setting(
        gappletron("hinge", "printed", "projected", "1"), "random-labels", "full", 2
    ),
    "boosting/cost-estimate-bounded": Setting(
        "bandit-bbm:learners=1,rho=0.1", "one-hot:n_labels=4", "bandit", 4, runs=1
    ),
    "boosting/told-cost-bounded": Setting(
        "bandit-bbm:learners=4,gamma=0.2,ties=lowest,rho=0.1",
        "one-hot:n_labels=5",
        "bandit",
        6,
        runs=1,
    ),
    "boosting/loss-estimate-bounded": Setting(
        "bandit-bbm:learners=2,rho=0.1", "one-hot:n_labels=3", "bandit", 4, runs=1
    ),
    "boosting/slope-estimate-bounded": Setting(
        "ada-bandit:learners=2,rho=0.3", "one-hot:n_labels=3", "bandit", 4, runs=1
    ),
    "boosting/excess-loss-order": Setting(
        "hedge-stump", "planted-stump:n_labels=3,noise=estimate+rho=0.1", "bandit", 10, runs=1
    ),
}


def _losses(f: Fields) -> bool:
    return f["loss"] == "smooth-hinge" or f["loss"] == "logistic-K"


def _fraction(f: Fields, name: str) -> Fraction:
    return Fraction(f[name])


def _simplex(f: Fields) -> bool:
    rows = [[Fraction(c) for c in row] for row in f["rows"]]
    return all(row[r] == 0 and sum(row) == 1 and min(row) >= 0 for r, row in enumerate(rows))


MEETS: dict[tuple[str, str], Callable[[Fields], bool]] = {
    ("gappletron/lemma-1", "printed"): lambda f: _losses(f) and f["rule"] == "printed",
    ("gappletron/bound-9", "printed"): lambda f: f["rule"] == "printed",
    ("gappletron/condition-2", "printed"): _losses,
    ("gappletron/guarantee-4", "transferred"): lambda f: f["update"] == "unprojected",
    ("gappletron/theorem-7", "printed"): lambda f: True,
    ("gappletron/theorem-4b", "printed"): lambda f: f["rule"] == "printed",
    ("boosting/cost-estimate-bounded", "reconstructed"): _simplex,
    ("boosting/told-cost-bounded", "transferred"): lambda f: f["scale"] == 1,
    ("boosting/loss-estimate-bounded", "reconstructed"): lambda f: True,
    ("boosting/slope-estimate-bounded", "reconstructed"): lambda f: True,
    ("boosting/excess-loss-order", "reconstructed"): lambda f: True,
    ("boosting/wlc-derivation", "reconstructed"): lambda f: True,
}
"""For each form that is false, whether an instance meets its hypotheses, by its fields in the file."""


@pytest.fixture(scope="module")
def genuine() -> dict[str, dict[str, Any]]:
    """The contents of genuine exact certificates, one for each kind of refutation."""
    found = {}
    for claim, setting in GENUINE.items():
        rows = suite.judge_job(suite.Job(setting, (claim,)), 0)
        contents = [
            r.outcome.certificate.content for r in rows if r.outcome.certificate is not None
        ]
        found[claim] = next(each for each in contents if each["kind"] == "exact")
    return found


def accepted(content: dict[str, Any], folder: Path) -> bool:
    try:
        replay(write(content, folder))
    except UserError:
        return False
    return True


def test_the_table_of_false_forms_is_complete() -> None:
    false = {
        (claim.id, form.name)
        for claim in catalog.claims().values()
        for form in claim.forms
        if claim.judge.instances and form.proof == Proof.FALSE
    }
    assert false == MEETS.keys()


def test_genuine_certificates_are_accepted(genuine: dict[str, Any], tmp_path: Path) -> None:
    for content in genuine.values():
        claim = catalog.claims()[content["claim"]]
        again = forged(
            claim, claim.form(content["form"]), content["instance_kind"], content["instance"]
        )
        assert again is not None
        assert accepted(again, tmp_path)


def test_no_genuine_instance_refutes_a_form_that_it_is_not_about(
    genuine: dict[str, Any], tmp_path: Path
) -> None:
    tried = set()
    for content in genuine.values():
        for claim, form in targets(content["instance_kind"]):
            made = forged(claim, form, content["instance_kind"], content["instance"])
            if made is None:
                continue
            tried.add((claim.id, form.name))
            assert accepted(made, tmp_path) == _meets(made)
    repaired = {name for name in tried if name not in MEETS}
    assert {
        ("gappletron/lemma-1", "repaired"),
        ("gappletron/lemma-3", "printed"),
        ("gappletron/condition-2", "repaired"),
        ("gappletron/guarantee-4", "repaired"),
        ("gappletron/theorem-7", "repaired"),
        ("boosting/loss-estimate-unbiased", "reconstructed"),
    } <= repaired


def _meets(content: dict[str, Any]) -> bool:
    check = MEETS.get((content["claim"], content["form"]))
    return check is not None and check(content["instance"])


def _attack(
    genuine: dict[str, Any], folder: Path, tries: int, seed: int, strange: float = 0.0
) -> int:
    """Forge so many certificates of mutated instances; return how many looked violated.

    Each is tried twice: as it is written, with the sides of the genuine one, and with all that follows from it.
    """
    random, violated = Random(seed), 0
    contents = list(genuine.values())
    for _ in range(tries):
        content = random.choice(contents)
        claim, form = random.choice(list(targets(content["instance_kind"])))
        fields = mutated(content["instance"], random, strange)
        raw = _sealed(header("exact", claim, form) | {**_body(content), "instance": fields})
        made = forged(claim, form, content["instance_kind"], fields)
        assert not accepted(raw, folder) or _meets(raw), json.dumps(raw)[:2000]
        if made is not None:
            violated += 1
            told = accepted(made, folder)
            # what no float holds is refused
            assert told <= _meets(made) if strange else told == _meets(made), json.dumps(made)[
                :2000
            ]
    return violated


def _body(content: dict[str, Any]) -> dict[str, Any]:
    return {name: content[name] for name in ("instance_kind", "derived", "sides")}


def _sealed(content: dict[str, Any]) -> dict[str, Any]:
    return content | {"digest": digest_of(content)}


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(50))
def test_many_mutated_instances_refute_only_what_is_false(
    genuine: dict[str, Any], tmp_path: Path, seed: int
) -> None:
    """Five thousand, a third of the values strange; a hundred take two seconds."""
    with within(60):
        assert _attack(genuine, tmp_path, 100, seed + 100, strange=0.3) > 3


def test_mutated_instances_refute_only_what_is_false(
    genuine: dict[str, Any], tmp_path: Path
) -> None:
    assert _attack(genuine, tmp_path, 300, seed=1) > 30


def test_costs_that_no_booster_makes_are_no_instance(genuine: dict[str, Any]) -> None:
    content = genuine["boosting/told-cost-bounded"]
    claim = catalog.claims()["boosting/told-cost-bounded"]
    rows = [["0"] * 5, *[["1"] * 5] * 4]
    fields = {"rho": "1/10", "best": 1, "label": 4, "played": 4, "rows": rows}
    assert forged(claim, claim.form("repaired"), "draw", fields) is None
    divided = content["instance"] | {"scale": 4}
    assert forged(claim, claim.form("repaired"), "told", divided) is None
    for bad in ({"remaining": 10**9}, {"edge": "2"}, {"votes": [], "weights": []}, {"ties": "x"}):
        assert forged(claim, claim.form("transferred"), "told", content["instance"] | bad) is None


def test_a_concealed_instance_speaks_of_the_printed_rule(tmp_path: Path) -> None:
    from dataclasses import replace

    setting = replace(concealed_settings()[0], horizon=450_000)
    rows = suite.judge_job(suite.Job(setting, ("gappletron/theorem-4b",)), 0)
    content = next(r.outcome.certificate.content for r in rows if r.outcome.certificate is not None)
    claim = catalog.claims()["gappletron/theorem-4b"]
    fields = content["instance"]
    assert accepted(forged(claim, claim.form("printed"), "concealed", fields) or {}, tmp_path)
    assert forged(claim, claim.form("repaired"), "concealed", fields) is None
