"""Comparators that a statement for all U is tried with: they make its right side small, and lie in the ball exactly."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.adversaries.one_hot import OneHot
from boundcheck.adversaries.sequence import Comparator, Sequence, zero_comparator
from boundcheck.algorithms.losses import Hinge, Logistic, SmoothHinge
from boundcheck.errors import UserError
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.claims.gappletron.settings import gappletron
from boundcheck.verify.games.labels.compared.chosen import Chosen
from boundcheck.verify.games.labels.compared.exact import is_within
from boundcheck.verify.games.labels.compared.fit import fit, least
from boundcheck.verify.games.labels.compared.tried import Realised, against, marks_of, of_sequence
from boundcheck.verify.games.labels.user_learner import UserLearner
from boundcheck.verify.outcome import Verdict, digest_of
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

CLAIM = "gappletron/guarantee-4"

IDLE = """
import numpy as np

class Idle:
    promises = ("gappletron/guarantee-4",)
    loss, rule, optimiser, gamma = "smooth-hinge", "threshold", "projected", 1.0

    def __init__(self, problem):
        self.n, self.regret_factor = problem.n_labels, 2 * np.sqrt(2) * problem.comparator_norm
        self.weights = np.zeros((problem.n_labels, problem.n_features))

    def predict(self, x):
        return np.full(self.n, 1 / self.n)

    def update(self, x, action, label):
        pass
"""


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("idle") / "idle.py"
    file.write_text(IDLE)
    return file


def idle_setting(file: Path) -> Setting:
    """Labels so noisy that the planted comparator loses as much as U = 0, which never moves."""
    return Setting(f"{file}:Idle", "one-hot:n_labels=3,noise=0.5", "full", 4096, runs=1)


def test_a_learner_that_the_planted_comparator_cannot_refute(idle: Path) -> None:
    case = resolve(idle_setting(idle), 0)
    for known, expected in ((case.against(case.comparator), False), (case, True)):
        refuted = False
        claim = suite.catalog.claims()[CLAIM]
        cell = suite.Cell(claim, claim.form("repaired"), known)
        refuted = claim.judge.examine(cell, 1).refutes
        assert refuted == expected


def test_its_certificate_names_the_comparator_and_is_replayed(idle: Path, tmp_path: Path) -> None:
    (row,) = suite.judge_job(suite.Job(idle_setting(idle), (CLAIM,), users=True), 0)[1:]
    assert row.verdict == Verdict.REFUTED
    assert row.outcome.certificate is not None
    content = row.outcome.certificate.content

    def file_with(changed: Any) -> Path:
        path = tmp_path / "changed.json"
        written = {key: value for key, value in content.items() if key != "digest"} | changed
        path.write_text(json.dumps(written | {"digest": digest_of(written)}))
        return path

    found = replay(file_with({}), trust=True)
    assert found.observed > found.envelope
    weights = [[float.fromhex(u) for u in row] for row in content["comparator"]]
    half = [[(u / 2).hex() for u in row] for row in weights]
    triple = [[(u * 3).hex() for u in row] for row in weights]
    with pytest.raises(UserError, match=r"has norm .*: expected at most"):
        replay(file_with({"comparator": triple}), trust=True)
    with pytest.raises(UserError, match="rejected"):
        replay(file_with({"comparator": half}), trust=True)
    with pytest.raises(UserError, match="shape"):
        replay(file_with({"comparator": triple[:-1]}), trust=True)
    with pytest.raises(UserError, match=r"rejected|damaged"):
        replay(file_with({"comparator": "0x1p+0"}), trust=True)


@pytest.mark.parametrize("loss", ["smooth-hinge", "hinge", "logistic-2"])
@pytest.mark.parametrize("graph", ["full", "filtering"])
def test_right_sides_are_those_of_comparators_in_the_ball_and_no_larger_than_the_planted_one(
    loss: str, graph: str
) -> None:
    learner = gappletron(loss, "threshold", "ftrl", "ones")
    stream = "keywords:keyword_scale=2,n_labels=4,noise=0.2"
    case = resolve(Setting(learner, stream, graph, 500, 1.5), 1)
    assert case.loss is not None
    seen = []
    for rounds in case.play(0):
        run = Realised.of(rounds)

        def term(i: int) -> Any:
            return lambda norm: 3.0 * case.regret_factor(norm)

        open_everywhere = np.full(len(rounds), np.inf)
        for i, comparator, loss_sum in against(rounds, "test", term, open_everywhere):
            assert is_within(comparator.weights, case.comparator_norm)
            t = rounds.start + i + 1
            seen.append(t)
            losses = case.loss.values(comparator.scores(case.sequence), case.sequence.labels)
            counted = rounds.block.weights * rounds.counts_for_comparator
            assert loss_sum == pytest.approx(float(counted[:t] @ losses[:t]), rel=1e-12, abs=1e-12)
            side = loss_sum + term(i)(comparator.norm)
            tried = of_sequence(case)
            assert side <= tried.sides(run.weights[:t], term(i)).min() + 1e-9
            random = np.random.default_rng(t)
            for _ in range(20):
                U = random.normal(size=comparator.weights.shape)
                U *= case.comparator_norm * random.random() / np.linalg.norm(U)
                values = case.loss.values(case.sequence.matrix() @ U.T, case.sequence.labels)
                other = float(counted[:t] @ values[:t]) + term(i)(float(np.linalg.norm(U)))
                assert run.lowest(t, term(i)) <= min(side, other) + 1e-9
    assert seen == marks_of(500).tolist() == [8, 16, 32, 64, 128, 256, 500]


@pytest.mark.parametrize("loss", [SmoothHinge(), Hinge(), Logistic(2)], ids=lambda loss: loss.spec)
@pytest.mark.parametrize("scale", [0.0, 30.0, 300.0, 3000.0])
def test_a_fit_makes_loss_and_regret_term_small_together(loss: Any, scale: float) -> None:
    """By symmetry a multiple of I - 11^T/K is the best one; how large it is depends on the regret term."""
    K, bound = 3, 2.0
    sequence, weights = OneHot(K).sequence(900, 0), np.linspace(0, 2, 900)
    base = np.eye(K) - 1 / K
    size = float(np.linalg.norm(base))

    def side(U: Any) -> float:
        values = loss.values(Comparator(U, "fitted").scores(sequence), sequence.labels)
        norm = float(np.linalg.norm(U))
        return float(weights @ values) + scale * (1 + norm) ** 2

    least_side = min(side(c * base) for c in np.linspace(0, bound / size, 2001))
    found = fit(sequence, loss, bound, weights=weights, regret=lambda norm: scale * (1 + norm) ** 2)
    assert is_within(found.weights, bound)
    assert side(found.weights) <= least_side * 1.01


def test_the_least_point_of_convex_functions() -> None:
    assert least(lambda x: (x - 0.3) ** 2, 1.0) == pytest.approx(0.3)
    assert least(lambda x: (x - 2) ** 2, 1.0) == 1.0
    assert least(lambda x: (x + 2) ** 2, 1.0) == 0.0
    assert least(lambda x: 5.0, 1.0) in (0.0, 1.0)
    assert least(lambda x: (x + 1) ** 4 - 8 * x, 1.0) == pytest.approx(2 ** (1 / 3) - 1, abs=0.03)


@dataclass(frozen=True)
class PoorlyPlanted:
    """Rounds that are easy to separate, with a planted comparator that loses in all of them: 0."""

    n_labels: int
    spec: str = "poorly-planted"

    def sequence(self, horizon: int, seed: int) -> Sequence:
        found = OneHot(self.n_labels).sequence(horizon, seed)
        return found.with_comparator(zero_comparator(self.n_labels, self.n_labels))


@pytest.mark.parametrize(("loss", "K"), [("smooth-hinge", 2), ("hinge", 3)])
def test_means_and_tails_are_judged_against_the_best_comparator_of_the_sequence(
    loss: str, K: int, idle: Path
) -> None:
    learner = UserLearner(type("Idle", (_loaded(idle),), {"loss": loss}), "idle")
    setting = Setting(learner, PoorlyPlanted(K), "full", 600, np.sqrt(K - 1), 32)
    case = resolve(setting, 0)
    (totals,) = case.totals_at([600], range(32))
    side = case.compared(totals)
    assert not case.comparator.weights.any()
    assert totals.comparator_loss.tolist() == [600.0] * 32, "of the planted one"
    assert side.loss.max() < 5
    assert side.loss.min() >= side.least
    assert side.most >= side.loss.max()
    (row,) = suite.judge_job(suite.Job(setting, ("gappletron/theorem-3a",), users=True), 0)
    assert row.verdict == Verdict.REFUTED


def _loaded(file: Path) -> Any:
    scope: dict[str, Any] = {}
    exec(file.read_text(), scope)
    return scope["Idle"]


@pytest.mark.parametrize("loss", ["smooth-hinge", "hinge", "logistic-2"])
def test_what_is_chosen_depends_on_nothing_that_is_judged(loss: str) -> None:
    """The same comparator whichever runs are judged; its loss is that of its counted rounds, at every mark."""
    learner = gappletron(loss, "threshold", "projected", "ones")
    setting = Setting(learner, "one-hot:n_labels=3,noise=0.2", "filtering", 700)
    marks = [3, 50, 700]
    one, other = (resolve(setting, 1).totals_at(marks, range(n)) for n in (1, 3))
    case = resolve(setting, 1)
    chosen = Chosen.of(case)
    assert chosen.counts_always == (loss != "hinge")
    for mark, few, more in zip(marks, one, other, strict=True):
        for regret in (None, lambda norm: 20 * norm):
            side, again = case.compared(few, regret), case.compared(more, regret)
            assert side.loss[0] == again.loss[0]
            assert (side.most, side.regret) == (again.most, again.regret)
            expected = chosen.tried.losses[:, :mark] @ chosen.weights[:mark]
            terms = [0.0 if regret is None else regret(U.norm) for U in chosen.tried.comparators]
            at = int(np.argmin(expected + terms))
            U = chosen.tried.comparators[at]
            assert is_within(U.weights, case.comparator_norm) or U is case.comparator
            for run in range(3):
                counts = np.concatenate([r.counts_for_comparator for r in case.play(run)])
                direct = float(chosen.tried.losses[at, :mark] @ counts[:mark])
                assert again.loss[run] == pytest.approx(direct, rel=1e-12, abs=1e-12)
