"""Gappletron against worked examples, and its tunings against numbers derived by hand."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from worked_examples import examples, run_of

from boundcheck.adversaries.sequence import Sequence
from boundcheck.algorithms import graphs, losses, optimisers
from boundcheck.algorithms.gappletron import COUNTER, RATE, RULES, Gappletron, tuned_gamma
from boundcheck.algorithms.learner import Problem
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.exact import gappletron as exact
from boundcheck.verify.exact.numbers import Interval, intervals
from boundcheck.verify.games.labels.play import Game, Run

EXAMPLES = examples("gappletron_examples.json")
LOSSES = {"hinge": "hinge", "smooth": "smooth-hinge", "logK": "logistic-K", "log2": "logistic-2"}
GRAPHS = {"bandit": "bandit", "filter": "filtering", "full": "full"}


def run_with(loss: str, graph: str, gamma: float, *given: Any) -> Run:
    learner = Gappletron(losses.parse(loss), "printed", optimisers.parse("unprojected"), gamma)
    return run_of(learner, graph, *given)


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_examples_from_the_zero_state(name: str) -> None:
    match = re.fullmatch(r"Gappletron_(\w+?)_(\w+?)(?:\(gam=1\))?", name)
    assert match is not None
    run = run_with(LOSSES[match[1]], GRAPHS[match[2]], 1.0)
    for expected in EXAMPLES[name]:
        block = run.advance(1, trace=True)
        _, _, loss, gap, seen_with, seen, _, best, _, action, _ = block.columns[0]
        assert block.scores[0] == pytest.approx(expected["scores"], abs=1e-9)
        assert block.probabilities[0] == pytest.approx(expected["p"], abs=1e-9)
        assert gap == pytest.approx(expected["a"], abs=1e-9)
        assert seen_with == pytest.approx(expected["P"], abs=1e-9)
        assert (best, action, bool(seen)) == (
            expected["ystar"],
            expected["play"],
            expected["observed"],
        )
        assert block.weights[0] == pytest.approx(expected["v"], abs=1e-9)
        if expected["loss"] is not None:
            assert loss == pytest.approx(expected["loss"], abs=1e-9)
        assert run.weights.T * run.state[0] == pytest.approx(np.array(expected["W"]), abs=1e-9)


# loss, graph, x, y, u; then p, action drawn, observed, and W after the round
GIVEN_STATE = [
    ("hinge", "bandit", [1, 0], 0, 0.5, [0.7, 0.15, 0.15], 0, True,
     [[2, 0], [0, 1.5], [0, 0]]),
    ("hinge", "bandit", [1, 0], 2, 0.95, [0.7, 0.15, 0.15], 2, True,
     [[1.29289, 0], [0, 1.5], [0.707107, 0]]),
    ("hinge", "filtering", [0, 1], 2, 0.3, [0.45, 0.55, 0], 0, True,
     [[2, 0], [0, 0.792893], [0, 0.707107]]),
    ("hinge", "filtering", [1, 0], 0, 0.9, [1, 0, 0], 0, True,
     [[2, 0], [0, 1.5], [0, 0]]),
    ("smooth-hinge", "bandit", [1, 0], 0, 0.5, [0.7, 0.15, 0.15], 0, True,
     [[2, 0], [0, 1.5], [0, 0]]),
    ("smooth-hinge", "bandit", [1, 0], 2, 0.95, [0.7, 0.15, 0.15], 2, True,
     [[1.29289, 0], [0, 1.5], [0.707107, 0]]),
    ("smooth-hinge", "filtering", [0, 1], 2, 0.3, [0.45, 0.55, 0], 0, True,
     [[2, 0], [0, 0.792893], [0, 0.707107]]),
    ("smooth-hinge", "filtering", [1, 0], 0, 0.9, [1, 0, 0], 0, True,
     [[2, 0], [0, 1.5], [0, 0]]),
    ("logistic-K", "bandit", [1, 0], 0, 0.5, [0.7, 0.15, 0.15], 0, True,
     [[2.8165, 0], [-0.408248, 1.5], [-0.408248, 0]]),
    ("logistic-K", "bandit", [1, 0], 2, 0.95, [0.7, 0.15, 0.15], 2, True,
     [[1.34166, 0], [-0.0890961, 1.5], [0.747432, 0]]),
    ("logistic-K", "filtering", [0, 1], 2, 0.3, [0.45, 0.55, 0], 0, True,
     [[2, -0.139844], [0, 0.873264], [0, 0.76658]]),
    ("logistic-K", "filtering", [1, 0], 0, 0.9, [0.854638, 0.072681, 0.072681], 1, False,
     [[2, 0], [0, 1.5], [0, 0]]),
    ("logistic-2", "bandit", [1, 0], 0, 0.5, [0.7, 0.15, 0.15], 0, True,
     [[2.8165, 0], [-0.408248, 1.5], [-0.408248, 0]]),
    ("logistic-2", "bandit", [1, 0], 2, 0.95, [0.7, 0.15, 0.15], 2, True,
     [[1.34166, 0], [-0.0890961, 1.5], [0.747432, 0]]),
    ("logistic-2", "filtering", [0, 1], 2, 0.3, [0.177442, 0.645115, 0.177442], 1, False,
     [[2, 0], [0, 1.5], [0, 0]]),
    ("logistic-2", "filtering", [1, 0], 0, 0.9, [0.769607, 0.115197, 0.115197], 2, False,
     [[2, 0], [0, 1.5], [0, 0]]),
]  # fmt: skip


@pytest.mark.parametrize("example", GIVEN_STATE)
def test_worked_examples_from_a_given_state(example: tuple[Any, ...]) -> None:
    loss, graph, x, y, u, p, action, observed, weights = example
    run = run_with(loss, graph, 0.9, [x], [y], [u])
    run.weights[:] = np.array([[2, 0], [0, 1.5], [0, 0]]).T
    run.state[COUNTER] = 3
    block = run.advance(1, trace=True)
    assert block.probabilities[0] == pytest.approx(p, abs=1e-6)
    assert block.columns[0, 9] == action
    assert bool(block.columns[0, 5]) is observed
    assert pytest.approx(np.array(weights), abs=1e-5) == run.weights.T


def test_tunings_against_numbers_derived_by_hand() -> None:
    """K = 3, rho = 3, X = 1, B = sqrt 2, h = 4: u = L h^2 = 64, l_max = 5."""
    problem = Problem(graphs.bandit(3), 3, 20_000, 1.0, math.sqrt(2))
    loss = losses.SmoothHinge()
    ln = math.log(2 / 0.05)
    for tuning, expected in {
        "ones": 1.0,
        "theorem-4a": 12.0,  # (4/2) sqrt(3 * 3 * 4)
        "theorem-4b": math.sqrt(3 * 64),
        "theorem-5a": math.sqrt(9 * (64 + 25 * ln)),
        "theorem-5b": math.sqrt(3 * (25 * ln + 64)),
    }.items():
        assert tuned_gamma(tuning, problem, loss, 4.0) == pytest.approx(expected, rel=1e-12)
    assert Gappletron(gamma="theorem-4a").player(problem).declaration.get("gamma") == pytest.approx(
        12
    )


@pytest.mark.parametrize(
    ("tuning", "loss", "radius", "square"),
    [
        # K = 3, rho = 1, B = sqrt 2, h = 2, ln(2 / delta) = 1. Smooth hinge: L = 4 X^2, l_max = 1 + 4 X
        ("theorem-4a", "smooth-hinge", 1, 3 * 16 / 4),
        ("theorem-4b", "smooth-hinge", 1, 16),
        ("theorem-5a", "smooth-hinge", 1, 3 * (16 + 5 * 5)),
        ("theorem-5b", "smooth-hinge", 1, (3 + 2) * 5 + 16),
        ("theorem-4a", "smooth-hinge", 2, 3 * 64 / 4),
        ("theorem-5b", "smooth-hinge", 2, (3 + 2) * 9 + 64),
        # hinge: L = 2 X^2, l_max = 1 + 2 X
        ("theorem-4b", "hinge", 1, 8),
        ("theorem-5b", "hinge", 1, (3 + 2) * 3 + 8),
        # logistic: L = 0.40726437759 / ln b, l_max = (ln 3 + 2) / ln b
        ("theorem-4b", "logistic-2", 1, 2.3502332),
        ("theorem-5b", "logistic-2", 1, (3 + 2) * 4.4703526 + 2.3502332),
        ("theorem-5b", "logistic-K", 1, (3 + 2) * 2.8204785 + 1.4828320),
    ],
)
@pytest.mark.parametrize("graph", ["filtering", "label-efficient"])
def test_tunings_where_one_action_dominates(
    tuning: str, loss: str, radius: float, square: float, graph: str
) -> None:
    problem = Problem(graphs.parse(graph, 3), 2, 100, radius, math.sqrt(2))
    gamma = tuned_gamma(tuning, problem, losses.parse(loss), factor=2.0, delta=2 / math.e)
    assert gamma**2 == pytest.approx(square, rel=1e-7)


def test_a_learner_without_regret_factor_tunes_with_the_norm() -> None:
    problem = Problem(graphs.filtering(3), 3, 100, 1.0, 2.0)
    learner = Gappletron(optimiser=optimisers.UnprojectedDescent(), gamma="theorem-4b")
    declared = learner.player(problem).declaration
    assert declared.get("regret_factor") is None
    assert declared.get("gamma") == pytest.approx(2 * math.sqrt(4))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("loss", ["smooth-hinge", "hinge", "logistic-2"])
def test_label_efficient_probabilities_are_those_of_the_exact_rule(rule: str, loss: str) -> None:
    graph = graphs.label_efficient(3)
    learner = Gappletron(losses.parse(loss), rule, optimisers.parse("stand-still"), 0.75)
    scores = np.array([[1, 0.25, 0], [0.5, 0.75, 0], [0, 0, 0], [0, 0.125, 0.9375]])
    sequence = Sequence.from_dense(scores, [0, 0, 1, 2], 3, "scores")
    (block,) = Game(learner, sequence, graph).play(0, trace=True)
    for t, row in enumerate(scores):
        values = intervals(Fraction(s) for s in row)
        parsed = exact.parse(loss, 3)
        p = exact.action_probabilities(
            rule,
            exact.gap(parsed, values),
            exact.exploration_rate(Fraction(3, 4), t + 1, False),
            exact.star(values),
            graph.observes.tolist(),
            graph.dominating,
        )
        assert block.probabilities[t] == pytest.approx([float(x) for x in p], abs=1e-12)
        assert float(sum(p, Interval.of(0))) == pytest.approx(1)
    query = block.probabilities[:, 3]
    assert (query > 0).any()
    if rule == "mixture":
        assert query == pytest.approx([min(0.5, 0.75 / math.sqrt(t)) for t in (1, 2, 3, 4)])


@pytest.mark.parametrize(
    ("rule", "gamma", "p"),
    [
        # scores (1/2, 0, 0): the gap is 1/4; in the fourth counted round the rate is gamma / 2
        ("printed", 0.5, [13 / 16, 1 / 16, 1 / 16, 1 / 16]),  # 1/4 <= 1/4
        ("printed", 0.52, [0.74, 0, 0, 0.26]),
        ("threshold", 0.125, [13 / 16, 1 / 16, 1 / 16, 1 / 16]),  # 4 * 1/16 <= 1/4
        ("threshold", 0.14, [0.93, 0, 0, 0.07]),  # the query counts: 3 * 0.07 <= 1/4 < 4 * 0.07
        ("mixture", 0.2, [0.9 * 10 / 12, 0.9 / 12, 0.9 / 12, 0.1]),
    ],
)
def test_rules_at_and_near_equality(rule: str, gamma: float, p: list[float]) -> None:
    learner = Gappletron(losses.SmoothHinge(), rule, optimisers.parse("stand-still"), gamma)
    sequence = Sequence.from_dense(np.array([[0.5, 0, 0]] * 4), [0] * 4, 3, "equality")
    (block,) = Game(learner, sequence, graphs.label_efficient(3)).play(0, trace=True)
    assert block.probabilities[3] == pytest.approx(p, abs=1e-15)


def test_only_rounds_whose_best_label_is_not_revealing_are_counted() -> None:
    features = np.array([[1.0, 0], [0, 1], [1, 0], [0, 1]])  # the best label is 0, 1, 0, 1
    run = run_with("smooth-hinge", "filtering", 0.4, features, [0, 1, 0, 1], [0.0] * 4)
    run.weights[:] = np.array([[2, 0], [0, 2], [0, 0]]).T
    seen = []
    for _ in range(4):
        run.advance(1)
        seen.append((run.state[COUNTER], run.state[RATE]))
    assert seen == [(0, 0), (1, 0.4), (1, 0), (2, 0.4 / math.sqrt(2))]


@pytest.mark.parametrize("given", [{"gamma": -1.0}, {"gamma": math.nan}, {"gamma": math.inf},
                                   {"gamma": "theorem-9"}, {"rule": "best"}, {"delta": 0.0},
                                   {"delta": 1.0}])  # fmt: skip
def test_illegal_parameters(given: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="expected"):
        Gappletron(**given)


@pytest.mark.parametrize("spec", [
    "gappletron:loss=logistic-K,rule=mixture,optimiser=ftrl,gamma=0.5",
    "gappletron:loss=hinge,rule=printed,optimiser=projected,gamma=theorem-5b",
])  # fmt: skip
def test_specs_round_trip(spec: str) -> None:
    assert catalog.learner(spec).spec == spec
