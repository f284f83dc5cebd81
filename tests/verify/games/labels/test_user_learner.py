"""A class of the user's as a learner: probabilities in single precision."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundcheck
from boundcheck import RefutedPromise, UserError, check_learner
from boundcheck.adversaries.one_hot import OneHot
from boundcheck.algorithms import graphs
from boundcheck.algorithms.learner import DOUBLE, SINGLE, Problem
from boundcheck.verify.games.labels.play import Game
from boundcheck.verify.games.labels.user_learner import UserLearner
from boundcheck.verify.outcome import Verdict

README = Path(boundcheck.__file__).parent / "README.md"


class Softmax:
    """What a network in single precision returns."""

    promises = ("game/*",)
    error = 0.0
    returns: Any = staticmethod(lambda p: p)

    def __init__(self, problem: Problem) -> None:
        self.n = problem.graph.n_actions

    def predict(self, x: np.ndarray) -> Any:
        e = np.exp(np.arange(self.n, dtype=np.float32) * np.float32(0.37))
        p = e / e.sum()
        p[0] += np.float32(self.error)
        return self.returns(p)

    def update(self, x: np.ndarray, action: int, label: int | None) -> None:
        pass


def game_of(learner: type[Any], n_labels: int = 3) -> Game:
    sequence = OneHot(n_labels).sequence(20, 0)
    return Game(UserLearner(learner, learner.__name__), sequence, graphs.bandit(n_labels))


@pytest.mark.parametrize("n_labels", [3, 7, 100])
def test_probabilities_in_single_precision_are_divided_by_their_sum(n_labels: int) -> None:
    (block,) = game_of(Softmax, n_labels).play(0, trace=True)
    given = Softmax(game_of(Softmax, n_labels).problem).predict(np.ones(1)).astype(np.float64)
    assert 0 < abs(given.sum() - 1) <= n_labels * SINGLE
    assert np.abs(block.probabilities.sum(axis=1) - 1).max() <= n_labels * DOUBLE
    assert np.abs(block.probabilities - given).max() <= n_labels * SINGLE


@pytest.mark.parametrize(
    ("error", "returns"),
    [
        (3e-6, lambda p: p),  # more than three roundings of single precision
        (0.0, lambda p: p.tolist()),  # numbers in double precision have no such excuse
        (0.0, lambda p: p.astype(np.float64)),
        (0.0, lambda p: p.astype(np.float16)),
    ],
)
def test_other_sums_are_refused_with_the_tolerance(error: float, returns: Any) -> None:
    off = type("Off", (Softmax,), {"error": error, "returns": staticmethod(returns)})
    words = r"sum to \S+ in round 0: expected 1 up to 1e-09, or 1\.8e-07 for .* float32; divide"
    with pytest.raises(UserError, match=words):
        check_learner(off, graph="bandit", adversary="one-hot:n_labels=3")


def readme_learner(tmp_path: Path, *edits: tuple[str, str]) -> str:
    """The README's learner, edited, as FILE.py:Class."""
    found = re.search(
        r"^```python\n(# my_learner\.py\n.*?)^```$", README.read_text("utf-8"), re.M | re.S
    )
    assert found is not None
    text = found[1]
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file = tmp_path / "edited.py"
    file.write_text(text, encoding="utf-8")
    return f"{file}:MyLearner"


SINGLE_SCORES = (
    "scores = self.weights @ x\n        best",
    "scores = self.weights.astype(np.float32) @ x.astype(np.float32)\n        best",
)
SINGLE_P = ("self.p = p\n", "self.p = p = p.astype(np.float32)\n")
EXACT = ["gappletron/algorithm-1", "gappletron/lemma-1", "gappletron/bound-9"]


def test_single_precision_breaks_no_promise_about_probabilities(tmp_path: Path) -> None:
    learner = readme_learner(tmp_path, SINGLE_SCORES, SINGLE_P)
    rows = check_learner(learner, claims=EXACT)
    judged = {row.claim for row in rows if row.expected == Verdict.HOLDS and row.verdict == "holds"}
    assert judged == set(EXACT)


LOUDER = ("** 2\n", "** 2 * 1.00001\n")
DOUBLED = ("self.p = p\n", "p = p.astype(np.float32).astype(float); self.p = p = p / p.sum()\n")


@pytest.mark.parametrize("edits", [(SINGLE_SCORES, SINGLE_P, LOUDER), (DOUBLED,)])
def test_single_precision_excuses_no_more_than_itself(
    edits: tuple[tuple[str, str], ...], tmp_path: Path
) -> None:
    with pytest.raises(RefutedPromise, match=r"^gappletron/algorithm-1"):
        check_learner(readme_learner(tmp_path, *edits), claims=EXACT[:1])
