"""A claim that cannot catch a broken learner is decoration: every mutant meets its declared fate."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from boundcheck import RefutedPromise, UserError, check_learner
from boundcheck.algorithms import graphs
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.outcome import Verdict

sys.path.insert(0, str(Path(__file__).parent))
mutants = importlib.import_module("mutants")
broken = importlib.import_module("broken")


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda mutant: mutant.name)
def test_each_mutant_meets_its_declared_fate(mutant) -> None:
    rows = mutants.judge(mutant)
    if mutant.fate == "refused":
        judged = [row for row in rows if row.verdict != Verdict.NOT_APPLICABLE]
        assert {row.verdict for row in judged} == {Verdict.ERROR}
        assert all("in round 0" in row.outcome.evidence for row in judged)
        return
    assert mutants.refuting(rows) == mutant.caught_by, mutant.why
    surprising = {row.verdict for row in rows if row.surprising}
    assert surprising <= {Verdict.REFUTED}


def test_the_control_is_caught_by_nothing_though_it_could_be() -> None:
    rows = mutants.judge(mutants.CONTROL)
    assert mutants.refuting(rows) == frozenset()
    held = {row.claim for row in rows if row.verdict == Verdict.HOLDS}
    assert held == set(mutants.CLAIMS)


def test_every_watched_claim_catches_something() -> None:
    fates = [mutant.caught_by for mutant in mutants.MUTANTS]
    caught = frozenset().union(*fates) | broken.Peeker.caught_by
    assert caught == set(mutants.WATCHED)
    assert sum(map(bool, fates)) >= 20


def test_wrong_steps_are_refuted_by_statements_too() -> None:
    """Comparison with the definition refutes every wrong step; the theorems refute ten of them."""
    statements = [m.name for m in mutants.LEARNS if not m.by_conformance_only and m.caught_by]
    assert len(statements) == 10


def test_the_crowd_sees_one_label() -> None:
    graph = graphs.parse(mutants.CROWDED, mutants.Crowd.n_labels)
    assert graph.in_degree.tolist() == [1, 1, 1, 4]
    assert graph.revealing == ()


def test_peeking_is_caught_by_the_audit_alone() -> None:
    rows = mutants.judge_plain(broken.Peeker)
    assert mutants.refuting(rows) == broken.Peeker.caught_by == {"no-peeking"}
    assert {row.verdict for row in rows if row.surprising} == {Verdict.REFUTED}


def test_knowing_the_labels_beforehand_is_no_peeking() -> None:
    """It is a good learner for this one sequence: other labels in unseen rounds leave its play alone."""
    rows = mutants.judge_plain(broken.ByHeart)
    assert mutants.refuting(rows) == broken.ByHeart.caught_by == frozenset()


def test_a_step_without_a_label_ruins_the_weights() -> None:
    """What the game hands over for an unseen label is of no use."""
    mutant = next(m for m in mutants.MUTANTS if m.name == "steps without a label")
    row = next(row for row in mutants.judge(mutant) if row.claim == "gappletron/updates")
    assert row.verdict == Verdict.REFUTED
    assert row.outcome.certificate is not None
    assert np.isnan([float(score) for score in row.outcome.certificate.content["before"]]).all()


def test_a_certificate_of_the_updates_replays_until_the_learner_changes(tmp_path: Path) -> None:
    """The learner is in the library's own form and comes from a file, which the certificate names."""
    file = tmp_path / "half_steps.py"
    program = (
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from broken import Broken, resized_step, updating\n\n"
        "class HalfSteps(Broken):\n"
        "    def __init__(self):\n"
        "        super().__init__(gamma=1.0, change=updating(resized_step(0.5)))\n"
    )
    file.write_text(program, encoding="utf-8")
    with pytest.raises(RefutedPromise, match=r"updates.*run 0, round \d+") as caught:
        check_learner(f"{file}:HalfSteps", claims=["gappletron/updates"], graph="bandit")
    assert caught.value.certificate is not None
    certificate = caught.value.certificate.write(tmp_path)
    assert replay(certificate).claim.id == "gappletron/updates"
    file.write_text(program.replace("0.5", "1.0"), encoding="utf-8")
    with pytest.raises(UserError, match="not the one that was refuted"):
        replay(certificate)
