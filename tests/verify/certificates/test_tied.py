"""Certificates exceed what the rounding of scores explains, and hold its bound."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gmpy2 import mpq
from tampering import tampered

from boundcheck import RefutedPromise, UserError, check_learner
from boundcheck.verify import catalog
from boundcheck.verify.certificates.make import exact_certificate, violation
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.claims.gappletron.instances import RoundInstance, ScoreInstance
from boundcheck.verify.outcome import digest_of

KEYWORDS = "keywords:keyword_scale=1,n_labels=5,noise=0.05"


def test_an_exact_certificate_exceeds_what_tau_explains(tmp_path: Path) -> None:
    """Label 2 is tied with label 0. Lemma 1 is false for the logistic loss with base K at such scores."""
    claim = catalog.claims()["gappletron/lemma-1"]
    form = claim.form("printed")
    scores = ScoreInstance("logistic-K", (mpq(0), mpq(-8), mpq(0)), 0)
    full = ((1, 1, 1),) * 3
    instance = RoundInstance(scores, "printed", mpq(1), 0, full, 2, mpq(1, 10**15))
    sides = violation(claim, form, instance)
    assert sides is not None
    assert violation(claim, form, replace(instance, best=-1)) is None  # it is right to play label 0
    gap = sides[0] - sides[1]
    assert violation(claim, form, replace(instance, tau=mpq(float(gap)) / 9)) is not None
    assert violation(claim, form, replace(instance, tau=mpq(float(gap)) / 7)) is None
    proof = exact_certificate(claim, form, instance)
    assert proof is not None
    path = proof.write(tmp_path)
    assert replay(path, trust=True).claim.id == claim.id
    content = json.loads(path.read_text())
    assert (content["instance"]["tau"], content["instance"]["best"]) == ("1/1000000000000000", 2)
    accepted = []
    for change in tampered(content["instance"], lambda new: None):
        if accepts(path, content):
            accepted.append(change)
    assert accepted == []


def accepts(path: Path, content: dict[str, Any]) -> bool:
    """Whether replay accepts the content, with a digest that fits."""
    content["digest"] = digest_of({k: v for k, v in content.items() if k != "digest"})
    path.write_text(json.dumps(content))
    try:
        replay(path, trust=True)
    except UserError:
        return False
    return True


def test_a_certificate_without_tau_is_read_as_before(tmp_path: Path) -> None:
    claim = catalog.claims()["gappletron/lemma-1"]
    scores = ScoreInstance("logistic-K", (mpq(0), mpq(-8), mpq(0)), 2)
    instance = RoundInstance(scores, "printed", mpq(1), 0, ((1, 1, 1),) * 3)
    proof = exact_certificate(claim, claim.form("printed"), instance)
    assert proof is not None
    content = json.loads(proof.write(tmp_path).read_text())
    assert not {"tau", "best"} & set(content["instance"])
    content["instance"] |= {"tau": "0", "best": -1}
    assert not accepts(tmp_path / "more.json", content)


def test_the_certificate_of_a_game_holds_tau_and_the_best_label(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    program = (
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        "from right_learners import LastIndex\n\n"
        "class HalfTheGap(LastIndex):\n"
        "    def gap(self, margin):\n"
        "        return super().gap(margin) / (2 if margin else 1)\n"
    )
    file.write_text(program, encoding="utf-8")
    claims = ["gappletron/algorithm-1"]
    with pytest.raises(RefutedPromise) as caught:
        check_learner(f"{file}:HalfTheGap", claims=claims, graph="filtering", adversary=KEYWORDS)
    assert caught.value.certificate is not None
    path = caught.value.certificate.write(tmp_path)
    replay(path, trust=True)
    content = json.loads(path.read_text())
    rows = content["numbers"]["rounds"]
    assert 0 < rows[-1]["tau"] < 1e-12
    for name in ("tau", "best"):
        old = rows[-1][name]
        rows[-1][name] = old + 1 if name == "best" else old * 2
        assert not accepts(path, content)
        rows[-1][name] = old
    assert accepts(path, content)
