"""A learner that computes its scores itself may add in another order: rounding is no violation, more is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from boundcheck.algorithms.learner import Problem
from boundcheck.verify.claims.gappletron.rounds import gap_rounding
from boundcheck.verify.games.labels.user_learner import UserLearner
from boundcheck.verify.outcome import Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

CLAIMS = ("gappletron/algorithm-1", "gappletron/lemma-1", "gappletron/bound-9")


class Still:
    """Gappletron's rounds at weights that never move; scores are summed from the last feature on."""

    promises = ("gappletron/*",)
    loss, gamma, rule = "smooth-hinge", 0.5, "threshold"
    off = 0.0

    def __init__(self, problem: Problem) -> None:
        self.weights = np.random.default_rng(3).normal(size=(problem.n_labels, problem.n_features))
        self.weights[:, 0] = 1.0  # the offset adds the same to all scores
        self.weights *= problem.comparator_norm / np.linalg.norm(self.weights)
        self.graph, self.counted = problem.graph, 0

    def predict(self, x: np.ndarray) -> np.ndarray:
        scores = np.zeros(len(self.weights))
        for j in reversed(range(len(x))):
            scores += self.weights[:, j] * x[j]
        best = int(np.argmax(scores))
        gap = max(0.0, 1 - (scores[best] - np.delete(scores, best).max())) ** 2 * (1 - self.off)
        n, rate, rho = self.graph.n_actions, 0.0, self.graph.domination_number
        if best not in self.graph.revealing:
            self.counted += 1
            rate = min(0.5, self.gamma / np.sqrt(self.counted))
        if n / rho * rate <= gap:
            return gap / n + (1 - gap) * np.eye(n)[best]
        p = (1 - rate) * np.eye(n)[best]
        p[list(self.graph.dominating)] += rate / rho
        return p

    def update(self, x: np.ndarray, action: int, label: int | None) -> None:
        pass


class Careless(Still):
    """Its gap map is a hundred-thousandth too small."""

    off = 1e-5


@pytest.fixture
def uncentred(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 12))
    features[:, 0] += 5e6
    np.savez(tmp_path / "raw.npz", X=features, y=rng.integers(0, 4, 300))
    return f"data:{tmp_path / 'raw.npz'}"


def verdicts(learner: type, data: str, graph: str) -> dict[str, Verdict]:
    setting = Setting(UserLearner(learner, learner.__name__), data, graph, None, 1.0, 1)
    rows = suite.judge_job(suite.Job(setting, CLAIMS, users=True), 0)
    return {row.claim: row.verdict for row in rows if row.form == "repaired"}


@pytest.mark.parametrize("graph", ["bandit", "filtering", "full"])
def test_another_order_of_adding_refutes_nothing(graph: str, uncentred: str) -> None:
    found = verdicts(Still, uncentred, graph)
    assert set(found) == set(CLAIMS)
    assert Verdict.REFUTED not in found.values()
    assert found["gappletron/algorithm-1"] == Verdict.HOLDS


@pytest.mark.parametrize("graph", ["bandit", "full"])
def test_a_deviation_of_a_hundred_thousandth_is_still_seen(graph: str, uncentred: str) -> None:
    assert verdicts(Careless, uncentred, graph)["gappletron/algorithm-1"] == Verdict.REFUTED


def test_the_allowance_is_rounding_only(uncentred: str) -> None:
    """Below a hundredth of what conformity allows on features of norm one; none for the game's own scores."""
    learner = UserLearner(Still, "Still")
    for adversary, most in (("one-hot:n_labels=4", 1e-14), (uncentred, 1e-6)):
        case = resolve(Setting(learner, adversary, "bandit", 50, 1.0, 1), 0)
        for rounds in case.play(0):
            assert 0 < gap_rounding(rounds).max() <= most
    case = resolve(Setting("gappletron", uncentred, "bandit", 50, 1.0, 1), 0)
    assert all((gap_rounding(rounds) == 0).all() for rounds in case.play(0))
