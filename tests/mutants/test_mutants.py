"""A claim that cannot catch a broken learner is decoration: every mutant meets its declared fate."""

from __future__ import annotations

from pathlib import Path

import mutants
import pytest

from boundcheck.verify.claim import Verdict
from boundcheck.verify.replay import replay


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda mutant: mutant.name)
def test_each_mutant_meets_its_declared_fate(mutant) -> None:
    assert mutants.caught_by(mutant.change, mutant.name) == mutant.caught_by, mutant.why


def test_every_watched_claim_catches_something() -> None:
    caught = frozenset().union(*(mutant.caught_by for mutant in mutants.MUTANTS))
    assert caught | {"no-peeking"} == set(mutants.WATCHED)
    assert sum(bool(mutant.caught_by) for mutant in mutants.MUTANTS) >= 20


def test_peeking_is_caught_by_the_audit_alone() -> None:
    rows = mutants.peeker_rows()
    refuted = [row for row in rows if row.verdict == Verdict.REFUTED]
    assert [row.claim for row in refuted] == ["game/no-peeking"]
    assert refuted[0].surprising


def test_a_flipped_gradient_in_a_file_gets_a_certificate_that_replays(tmp_path: Path) -> None:
    from boundcheck.verify import plan, suite

    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    learner = text[text.index("# my_learner.py") : text.index("```", text.index("# my_learner.py"))]
    step = "self.weights -= np.sqrt(2)"
    assert learner.count(step) == 1
    broken = learner.replace(step, "self.weights += np.sqrt(2)")
    (tmp_path / "mine.py").write_text(broken, encoding="utf-8")
    request = plan.Request(
        ("gappletron/guarantee-4",), f"{tmp_path}/mine.py:MyLearner", graph="full", scale="quick"
    )
    rows = [row for job in plan.jobs_for(request) for row in suite.judge_job(job, 0)]
    refuted = [row for row in rows if row.surprising]
    assert refuted
    assert "replicate 0, round" in refuted[0].outcome.evidence
    certificate = refuted[0].outcome.certificate
    assert certificate is not None
    replay(certificate.write(tmp_path))
