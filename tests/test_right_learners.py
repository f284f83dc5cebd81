"""No right learner is refuted: the choices that the paper leaves open, and the ways to compute the same."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from right_learners import RIGHT, Right

from boundcheck import check_learner
from boundcheck.algorithms import graphs
from boundcheck.algorithms.learner import Problem
from boundcheck.verify.outcome import Verdict

README = Path(__file__).parent.parent / "README.md"
SEEDS = range(12)


def by_name(learner: type[Right]) -> str:
    return learner.__name__


def held(rows: list[Any]) -> set[str]:
    return {row.claim for row in rows if row.verdict == Verdict.HOLDS}


@pytest.mark.parametrize("learner", RIGHT, ids=by_name)
def test_a_right_learner_keeps_its_promises(learner: type[Right]) -> None:
    """A claim that is promised and refuted would raise."""
    of_loss = ["lemma-3"] if learner.loss == "hinge" else ["lemma-1"]
    names = ["algorithm-1", "bound-9", "lemma-2", "guarantee-4", "updates", *of_loss]
    claims = [f"gappletron/{name}" for name in names]
    assert held(check_learner(learner, claims=claims)) == set(claims)


@pytest.mark.nightly
@pytest.mark.parametrize("scale", ["quick", "default"])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("learner", RIGHT, ids=by_name)
def test_a_right_learner_keeps_all_its_promises_whatever_the_seed(
    learner: type[Right], seed: int, scale: str
) -> None:
    assert "gappletron/algorithm-1" in held(check_learner(learner, seed=seed, scale=scale))


def test_the_right_learner_is_that_of_the_readme() -> None:
    """Bit for bit, where several labels tie as well."""
    block = re.search(
        r"```python\n(# my_learner\.py\n.*?)```", README.read_text("utf-8"), re.DOTALL
    )
    assert block is not None
    space: dict[str, Any] = {}
    exec(compile(ast.parse(block[1]), "README.md", "exec"), space)
    for graph in ("bandit", "filtering", "label-efficient"):
        problem = Problem(graphs.parse(graph, 3), 4, 200, 2.0, 1.5)
        theirs, ours = space["MyLearner"](problem), Right(problem)
        dice = np.random.default_rng(3)
        for _ in range(200):
            x, label = dice.integers(-1, 2, size=4) / 2.0, int(dice.integers(3))
            p = theirs.predict(x)
            assert np.array_equal(p, ours.predict(x))
            action = int(dice.choice(len(p), p=p))
            seen = label if problem.graph.observes[action, label] else None
            theirs.update(x, action, seen)
            ours.update(x, action, seen)
            assert np.array_equal(theirs.weights, ours.weights)
