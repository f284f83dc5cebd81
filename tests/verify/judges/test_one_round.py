"""Exact of one round: the same law as the game's, and no difference is overlooked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.games.labels import branches
from boundcheck.verify.games.labels.branches import Table, enumerated
from boundcheck.verify.games.labels.case import Case
from boundcheck.verify.games.labels.play import Run
from boundcheck.verify.games.labels.user_learner import UserLearner
from boundcheck.verify.judges.one_round import ROUNDING, Comparison
from boundcheck.verify.outcome import Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

PLAYED = [
    ("perceptron", "full"),
    ("label-efficient-perceptron", "label-efficient"),
    ("banditron:gamma=0.2", "bandit"),
    ("banditron:estimator=importance,gamma=0.2", "filtering"),
    ("gaptron:loss=logistic-2,gamma=0.2", "bandit"),
    ("newtron:gamma=0.2", "bandit"),
    ("gappletron:optimiser=projected,gamma=2", "bandit"),
]


def case_of(learner: str, graph: str, horizon: int = 60) -> Case:
    stream = "keywords:keyword_scale=1,n_labels=4,noise=0.2"
    return resolve(Setting(learner, stream, graph, horizon, 1.0, 1), 0)


@pytest.mark.parametrize(("learner", "graph"), PLAYED)
def test_one_branch_is_what_the_game_does_next(learner: str, graph: str) -> None:
    case, compared = case_of(learner, graph), 0
    run, table = Run(case.game, 0), Table(case.game)
    for at in range(case.sequence.horizon):
        label = int(case.sequence.labels[at])
        each = list(table.rounds(run))[label]
        block = run.advance(1, trace=True)
        assert each.label == label
        assert np.array_equal(each.scores, block.scores[0])
        assert np.array_equal(each.probabilities, block.probabilities[0])
        action = int(block.column(9)[0])
        (branch,) = (b for b in each.branches if b.action == action)
        assert np.array_equal(branch.after.weights, run.weights.T * run.state[0])
        assert np.array_equal(branch.after.memory, run.memory.transpose(0, 2, 1))
        assert branch.observed == bool(block.column(5)[0])
        compared += 1
    assert compared == 60


@pytest.mark.parametrize(("learner", "graph"), PLAYED)
def test_branches_are_all_that_can_happen(learner: str, graph: str) -> None:
    found = enumerated(case_of(learner, graph).game, 0)
    assert {each.label for _, each in found} == {0, 1, 2, 3}
    for _, each in found:
        actions = [branch.action for branch in each.branches]
        assert actions == np.flatnonzero(each.probabilities).tolist()
        assert sum(b.probability for b in each.branches) == pytest.approx(1, abs=1e-15)
        seen = {b.action for b in each.branches if b.observed}
        revealing = case_of(learner, graph, 1).graph.observes[:, each.label]
        assert seen == {a for a in actions if revealing[a]}


def test_enumeration_leaves_the_run_alone() -> None:
    case = case_of("banditron:gamma=0.2", "bandit")
    run, plain = Run(case.game, 0), Run(case.game, 0)
    table = Table(case.game)
    for _ in range(30):
        list(table.rounds(run))
        assert np.array_equal(
            run.advance(1, trace=True).probabilities, plain.advance(1, trace=True).probabilities
        )
    assert np.array_equal(run.weights, plain.weights)


def test_an_action_too_unlikely_to_be_drawn_leaves_the_round_out() -> None:
    case = case_of("banditron:gamma=1e-17", "bandit")
    found = enumerated(case.game, 0)
    played = np.concatenate([block.best for block in case.game.play(0)])
    last = {mark for mark in branches.marks(60).tolist() if played[mark] == 3}
    # a uniform below 1e-17 can be had, but none between 1 - 1e-17 and 1
    assert {mark for mark, _ in found} == last
    assert 0 < len(last) < len(branches.marks(60))


def comparison(found: float, stated: float, size: float = 1.0) -> Comparison:
    return Comparison("it", np.array([0.0, found]), np.array([0.0, stated]), size)


def test_a_comparison_sees_what_rounding_cannot_explain() -> None:
    assert comparison(1.0, 1.0).share == 0
    assert comparison(1.0, 1.0 + 1e-15).share < ROUNDING
    assert comparison(1.0, 1.0 + 1e-11).share > ROUNDING
    assert comparison(1e-11, 0.0).share > ROUNDING
    assert comparison(0.0, 0.0, size=0.0).share == 0
    for bad in (float("nan"), float("inf")):
        assert not comparison(bad, 1.0).share <= ROUNDING
        assert not comparison(1.0, bad).share <= ROUNDING


def test_a_planted_difference_is_refuted_with_a_certificate_that_replays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    setting = Setting("perceptron", "one-hot:n_labels=3", "full", 20, None, 1)
    job = suite.Job(setting, ("perceptron/step",))
    (row,) = suite.judge_job(job, 0)
    assert row.verdict == Verdict.HOLDS
    right = branches.Round.outer

    def wrong(each: branches.Round, up: int, down: int) -> np.ndarray:
        return right(each, up, down) * (1 + 1e-9)

    with monkeypatch.context() as patch:
        patch.setattr(branches.Round, "outer", wrong)
        (row,) = suite.judge_job(job, 0)
        assert row.verdict == Verdict.REFUTED
        assert row.outcome.certificate is not None
        path = row.outcome.certificate.write(tmp_path)
        assert replay(path).claim.id == "perceptron/step"
    with pytest.raises(UserError, match="does not violate"):
        replay(path)


class Constant:
    """Promises everything and shows nothing."""

    promises = ("*",)

    def __init__(self, problem: object) -> None:
        self.n = problem.graph.n_actions  # type: ignore[attr-defined]

    def predict(self, x: np.ndarray) -> np.ndarray:
        return np.eye(self.n)[0]

    def update(self, x: np.ndarray, action: int, label: int | None) -> None:
        pass


def test_a_learner_in_plain_python_has_no_state_to_start_from() -> None:
    claims = [c for c in catalog.claims().values() if c.id.split("/")[0] in catalog.learners()]
    case = resolve(Setting(UserLearner(Constant, "constant"), "one-hot", "full", 20, None, 1), 0)
    reasons = {c.id: c.forms[0].unmet(case) for c in claims if not c.id.startswith("gappletron/")}
    judged = {name for name, reason in reasons.items() if reason is None}
    assert judged == {"perceptron/mistake-bound"}  # all it needs is p
    assert "does not show the state" in str(reasons["perceptron/step"])
    assert "declares no number" in str(reasons["banditron/wrong-guesses"])


def test_claims_about_a_learner_are_about_those_that_promise_them() -> None:
    case = resolve(Setting("uniform", "one-hot", "full", 20, None, 1), 0)
    for claim in catalog.claims().values():
        if claim.id.split("/")[0] in {"perceptron", "banditron", "soba", "newtron", "gaptron"}:
            for form in claim.forms:
                assert f"does not promise {claim.id}" in str(form.unmet(case))


def test_cases_share_their_enumerated_rounds() -> None:
    case = case_of("perceptron", "full")
    assert case.branches(0) is case.branches(0)
    assert [mark for mark, _ in case.branches(0)] == [m for m, _ in enumerated(case.game, 0)]
    assert case.branches(1) is not case.branches(0)
    assert replace(case).branches(0) is not case.branches(0)
