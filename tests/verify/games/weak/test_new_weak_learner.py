"""A weak learner is one new file in algorithms/boosting/: it is found, says what it knows, and is judged by that."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.algorithms import boosting as package
from boundcheck.algorithms.boosting.booster import weak_learners
from boundcheck.verify import catalog
from boundcheck.verify.claim import Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite
from boundcheck.verify.suite.request import Request, jobs_for

CODE = '''
"""A weak learner that looks at the first feature only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .problem import WeakDeclaration
from .weak import Spelt


@dataclass(frozen=True)
class FirstFeature(Spelt):
    """The last label where the first feature is above 0, otherwise the first.

    Parameters
    ----------
    excess_loss : what it declares
    """

    excess_loss: float = 2.0
    streams: ClassVar[tuple[str, ...]] = ("planted-stump:edge=0.25",)

    def declare(self, problem: Any, stream: Any) -> WeakDeclaration | str:
        if stream.planted is None:
            return "nothing is planted"
        return WeakDeclaration(problem.edge, 0.05, self.excess_loss, True, self.spec)

    def crowd(self, setting: Any) -> Any:
        return _Crowd(setting)


class _Crowd:
    draws: ClassVar[bool] = False

    def __init__(self, setting: Any) -> None:
        self.size, self.last = setting.n_learners, setting.n_labels - 1

    def predict(self, x: Any, dice: Any) -> Any:
        return np.full(self.size, self.last if x[0] > 0 else 0)

    def update(self, x: Any, costs: Any, weights: Any) -> None:
        pass
'''


@pytest.fixture(autouse=True)
def new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A file beside those of the package, as far as anybody can tell."""
    (tmp_path / "first_feature.py").write_text(CODE, encoding="utf-8")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    weak_learners.cache_clear()
    yield
    del sys.modules[f"{package.__name__}.first_feature"]
    del package.first_feature  # type: ignore[attr-defined]
    weak_learners.cache_clear()


def judged(
    learner: str, *claims: str, adversary: str = "planted-stump"
) -> dict[tuple[str, str], suite.Row]:
    setting = Setting(learner, adversary, "bandit", 200)
    rows = suite.judge_job(suite.Job(setting, claims, True, 64), 0)
    return {(row.claim, row.form): row for row in rows}


CLAIMS = ("boosting/bandit-wlc", "boosting/bandit-wlc-anytime", "boosting/frontier")


def test_it_is_judged_by_what_it_declares() -> None:
    assert {row.verdict for row in judged("first-feature", *CLAIMS).values()} == {Verdict.HOLDS}
    rows = judged("first-feature", *CLAIMS, adversary="planted-stump:right=5")
    assert {row.verdict for row in rows.values()} == {Verdict.REFUTED}, "wrong in every other round"
    told = judged("first-feature", "boosting/agnostic-regret")[
        ("boosting/agnostic-regret", "derived")
    ]
    assert told.outcome.evidence == "it is about weak learners that hedge over a class"


def test_what_it_declares_serves_smaller_edges_and_no_others() -> None:
    frontiers: Any = judged("first-feature", CLAIMS[2])[(CLAIMS[2], "derived")].outcome.frontiers
    assert (frontiers.known[frontiers.edges <= 0.3] == 2.0).all()
    assert np.isnan(frontiers.known[frontiers.edges > 0.3]).all()
    assert 0.3 in frontiers.edges


def test_who_says_nothing_is_not_judged_by_anything_known() -> None:
    row = judged("cost-perceptron", CLAIMS[0])[(CLAIMS[0], "reconstructed")]
    assert row.verdict == Verdict.NOT_APPLICABLE
    assert row.outcome.evidence == "no excess loss is known of cost-perceptron"


def test_it_is_listed_and_played_wherever_an_axis_is_left_open() -> None:
    assert "first-feature" in catalog.learners()
    jobs = jobs_for(Request(CLAIMS[:1], adversary="planted-stump", scale="quick"))
    learners = {job.setting.learner for job in jobs}
    assert learners == {"first-feature", "hedge-advice", "hedge-stump"}
    jobs = jobs_for(Request(CLAIMS[:1], learner="first-feature", scale="quick"))
    assert {job.setting.adversary for job in jobs} == {"planted-stump:edge=0.25"}


def test_a_booster_combines_it() -> None:
    setting = Setting("online-mbbm:weak=first-feature,learners=3", "stump-labels", "full", 10)
    case: Any = resolve(setting, 0)
    assert case.learner.weak.spec == "first-feature"
    assert sum(len(rounds) for rounds in case.play(0)) == 10
