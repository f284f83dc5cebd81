"""Which sampled statements are judged on prefixes: every one is decided here, and what is fixed before play is so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from boundcheck.verify import catalog
from boundcheck.verify.claim import Cell
from boundcheck.verify.judges.mean import Mean, MeanSides, play_totals
from boundcheck.verify.judges.tail import Tail, TailSides
from boundcheck.verify.resolve import resolve

AT_T_ALONE = {
    "boosting/bandit-bbm-tuned": "its rate is that of the whole game",
    "boosting/hedge-regret-bandit": "the rate that makes it non-vacuous is that of T",
    "boosting/sgd-regret-bandit": "the best weights would have to be found once more for each prefix",
    "boosting/learned-edge": "the edges of the run are part of it, and would have to be measured for each prefix",
    "boosting/ada-bandit-tuned": "its rate is that of the whole game",
    "boosting/online-wlc-anytime": "its observed side is the largest over all rounds: a prefix says less",
    "boosting/bandit-wlc-anytime": "the same",
}
"""Statements on means and with high probability that are judged at the horizon only, and why."""

HORIZONS = {"boosting/adaboost-olm": 1500, "boosting/ada-bandit": 4000}
"""Horizons at which prefixes of statements are non-vacuous that are not so at 150."""

SAMPLED = [c for c in catalog.claims().values() if isinstance(c.judge, Mean | Tail)]


def test_every_sampled_statement_is_decided() -> None:
    alone = {c.id for c in SAMPLED if not any(form.every_horizon for form in c.forms)}
    assert alone == set(AT_T_ALONE)
    assert all(form.every_horizon for c in SAMPLED if c.id not in alone for form in c.forms)
    others = [c for c in catalog.claims().values() if c not in SAMPLED]
    assert not any(form.every_horizon for c in others for form in c.forms)


def sides_of(judge: Mean | Tail, cell: Cell, runs: range) -> dict[int, Any]:
    play = judge.play
    if play is None:
        fresh = getattr(judge, "fresh", False)
        assert judge.sides is not None
        play = play_totals(judge.sides, fresh(cell.case) if callable(fresh) else fresh)
    return dict(play(cell, runs, False))


@pytest.mark.parametrize(
    "claim", [c for c in SAMPLED if c.id not in AT_T_ALONE], ids=lambda c: c.id
)
def test_where_is_bet_does_not_depend_on_the_runs(claim: Any) -> None:
    """Else the shares of the checkpoints would be chosen after a look at what is judged. The envelope is never below
    ``least``, and the observed side never above ``most``."""
    settings = {s.learner: s for s in claim.cases() if s.horizon is not None}
    looked_at = 0
    for setting in settings.values():
        case = resolve(replace(setting, horizon=HORIZONS.get(claim.id, 150)), 0)
        for form in claim.forms:
            if form.does_not_apply(case) is not None:
                continue
            cell = Cell(claim, form, case)
            if isinstance(claim.judge, Mean) and claim.judge.computed(cell) is not None:
                continue
            first, both = (sides_of(claim.judge, cell, range(n)) for n in (1, 3))
            assert first
            for T, sides in both.items():
                most = most_of(T, sides)
                assert (sides.least, most) == (first[T].least, most_of(T, first[T]))
                assert lowest(sides) >= sides.least * (1 - 1e-12)
                assert sides.observed.max() <= most * (1 + 1e-12) + 1e-12
                looked_at += 1
    assert looked_at > 5


def most_of(rounds: int, sides: Any) -> float:
    if isinstance(sides, MeanSides):
        return sides.most
    return float(rounds) if sides.most is None else float(sides.most[0])


def lowest(sides: Any) -> float:
    """The smallest envelope of any run: of means the largest of several, of tails that of the largest delta."""
    if isinstance(sides, MeanSides):
        return float(np.max([bound.values for bound in sides.bounds], axis=0).min())
    assert isinstance(sides, TailSides)
    return float(sides.envelopes[max(sides.envelopes)].min())
