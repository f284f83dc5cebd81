"""The learners that Gappletron is compared with, against worked examples to 1e-9."""

from __future__ import annotations

import math

import numpy as np
import pytest
from worked_examples import DRAWS, examples, run_of

from boundcheck.verify import catalog
from boundcheck.verify.games.labels.record import ACTION, BEST, GAP, LOSS, OBSERVED

EXAMPLES = examples("baseline_examples.json")

# example, the learner, the graph
REPLAYED = [
    ("perceptron", "perceptron", "full"),
    ("PA", "passive-aggressive:variant=pa", "full"),
    ("PA-I(C=0.25)", "passive-aggressive:aggressiveness=0.25", "full"),
    ("PA-II(C=1)", "passive-aggressive:variant=pa-2", "full"),
    ("banditron_orig(g=.3)", "banditron:gamma=0.3", "bandit"),
    ("banditron_iw_bandit(g=.3)", "banditron:estimator=importance,gamma=0.3", "bandit"),
    ("banditron_iw_filter(g=.3,Q={0})", "banditron:estimator=importance,gamma=0.3", "filtering"),
    ("Gaptron_full_hinge", "gaptron:loss=hinge,tuning=ones", "full"),
    ("Gaptron_full_smooth", "gaptron:rate=0.0833333333333333333", "full"),
    ("Gaptron_full_log2", "gaptron:loss=logistic-2,tuning=ones", "full"),
    ("Gaptron_bandit_hinge(gamma=.3,eta=0.016667)",
     f"gaptron:loss=hinge,gamma=0.3,rate={1 / 60}", "bandit"),
    ("Gaptron_bandit_smooth(gamma=.3,eta=0.008333)", f"gaptron:gamma=0.3,rate={1 / 120}", "bandit"),
    ("Gaptron_bandit_log2(gamma=.3,eta=0.011552)",
     f"gaptron:loss=logistic-2,gamma=0.3,rate={math.log(2) / 60}", "bandit"),
    ("labeleff(b=1)", "label-efficient-perceptron", "label-efficient"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "spec", "graph"), REPLAYED)
def test_worked_examples(name: str, spec: str, graph: str) -> None:
    # the examples ask when u < p(query), and the query comes last in the game's order
    draws = [1 - u for u in DRAWS] if graph == "label-efficient" else DRAWS
    run = run_of(catalog.learner(spec), graph, draws=draws)
    for expected in EXAMPLES[name]:
        block = run.advance(1, trace=True)
        row, v, p = block.columns[0], block.weights[0], block.probabilities[0]
        predicted = expected.get("pred", expected.get("yhat", expected.get("ystar")))
        assert row[BEST] == predicted
        assert block.scores[0] == pytest.approx(expected.get("scores"), abs=1e-9)
        query = expected.get("pquery", 0.0)
        plays = expected.get("p", (1 - query) * np.eye(3)[predicted])
        assert p == pytest.approx([*plays, query][: len(p)], abs=1e-9)
        for key, value in (("play", row[ACTION]), ("a", row[GAP]), ("loss", row[LOSS]), ("v", v)):
            if key in expected and not np.isnan(value):
                assert value == pytest.approx(expected[key], abs=1e-9)
        seen = expected.get("query", expected.get("v", 1) > 0)
        assert bool(row[OBSERVED]) is expected.get("observed", seen)
        assert run.weights.T * run.state[0] == pytest.approx(np.array(expected["W"]), abs=1e-9)
