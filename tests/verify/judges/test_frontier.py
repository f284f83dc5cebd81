"""The judge of frontiers on numbers made up for it: no game is played."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from boundcheck.verify.author import Cell, Claim, Form, Frontier, Proof, Reached, Source, Verdict
from boundcheck.verify.judges.decide import decide
from boundcheck.verify.outcome import Outcome

EDGES = np.array([0.1, 0.2, 0.3])
RUNS = 131


def judged(
    known: list[float], *, runs: int = RUNS, most: float = 50.0, anytime: bool = True
) -> Outcome:
    """Runs that reached 1 to ``runs`` at some time, shared by all edges, and 1 at the end."""
    reached = np.tile(np.arange(1.0, runs + 1)[:, None], (1, 3))

    def look(case: Any, runs: int) -> Reached:
        return Reached(
            EDGES,
            0.05,
            reached,
            np.ones_like(reached),
            np.array(known),
            np.full(3, most),
            anytime,
            "known",
            "nobody knows",
            0.2,
        )

    form = Form("derived", "", Proof.ASSUMED, "")
    claim = Claim("a/claim", "", Source("", "", 2020), (form,), Frontier(look))
    case: Any = SimpleNamespace(horizon=9)
    found = claim.judge.examine(Cell(claim, form, case), runs)
    found.certify = lambda: None
    return decide(found)


@pytest.mark.parametrize(
    ("known", "more", "verdict", "told"),
    [
        ([200.0] * 3, {"most": 300}, Verdict.HOLDS, "nowhere below the band: of 3 gamma above the band at 3"),
        ([90.0] * 3, {"most": 300}, Verdict.REFUTED, "at gamma 0.1 41 of 131 runs exceed the known S = 90"),
        ([115.0] * 3, {"most": 300}, Verdict.UNDECIDED, "below the band, but not refuted"),
        ([200.0] * 3, {}, Verdict.VACUOUS, "no weak learner can exceed the known S in 9 rounds"),
        ([math.nan] * 3, {}, Verdict.UNDECIDED, "no S to compare it with: nobody knows"),
        ([115.0] * 3, {"most": 300, "anytime": False}, Verdict.HOLDS, "at T = 9 lies in [1, 1]"),
        ([200.0] * 3, {"most": 300, "runs": 60}, Verdict.UNDECIDED, "upper limits need 94 runs"),
    ],
)  # fmt: skip
def test_the_verdict_is_that_of_the_limits(
    known: list[float], more: dict[str, Any], verdict: Verdict, told: str
) -> None:
    found = judged(known, **more)
    assert found.verdict == verdict
    assert told in found.evidence
    assert found.frontiers is not None
    assert found.sampled == (verdict != Verdict.VACUOUS and not math.isnan(known[0]))


def test_an_edge_beyond_what_can_be_reached_is_not_judged() -> None:
    """What is known at 0.3 is refuted, unless it is more than any learner could reach."""
    limits = [200.0, 200.0, 90.0]
    assert judged(limits, most=300).verdict == Verdict.REFUTED
    assert judged([200.0, 200.0, math.nan], most=300).verdict == Verdict.HOLDS
    assert judged(limits, most=80).verdict == Verdict.VACUOUS
