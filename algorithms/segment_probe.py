"""The optimal learner for Theorem 6's decreasing segments: with it the lower bound is an equality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from ..arrays import FloatArray
from ..compiled import kernel
from ..errors import require
from .learner import OWN, PREDICT, UPDATE, Declaration, Player, Problem, fresh_state
from .spec import Checked, spec_of

REMAINING, LENGTH, MODE, FOUND, N_STATE = OWN, OWN + 1, OWN + 2, OWN + 3, OWN + 4
"""Slots of ``state``: rounds left in the segment, its length, whether to probe (0 undecided, 1 yes, -1 no),
and whether label 1 was seen (1: in this segment; 2: in an earlier one)."""


@kernel(PREDICT)
def _predict(state: FloatArray, p: FloatArray) -> None:
    if state[REMAINING] == 0.0:
        state[LENGTH] -= 1.0
        state[REMAINING] = state[LENGTH]
        if state[FOUND] == 1.0:
            state[FOUND] = 2.0
    first = state[REMAINING] == state[LENGTH]
    reveal = 0.0
    if state[FOUND] == 1.0:
        reveal = 1.0
    elif state[FOUND] == 0.0 and first:
        if state[MODE] == 0.0:
            reveal = 0.5
        elif state[MODE] == 1.0:
            reveal = 1.0
    p[0] = 1.0 - reveal
    p[1] = reveal


@kernel(UPDATE)
def _update(action: int, label: int, state: FloatArray) -> bool:
    if state[MODE] == 0.0:
        state[MODE] = 1.0 if action == 1 else -1.0
    if label == 1:
        state[FOUND] = 1.0
    state[REMAINING] -= 1.0
    return False


@dataclass(frozen=True)
class SegmentProbe(Checked):
    """With probability 1/2 play label 1 on the first round of every segment until it is right, and
    then to the end of that segment; with probability 1/2 never.

    It makes exactly n/2 mistakes in expectation in each of the n + 1 environments.

    Parameters
    ----------
    n : number of segments of lengths n, ..., 1
    """

    n: Annotated[int, "[1, inf)"] = 20
    source: ClassVar[str] = "our own, to meet Theorem 6 of the Gappletron paper with equality"
    graphs: ClassVar[str] = "filtering:revealing=1 with two labels"

    @property
    def spec(self) -> str:
        return spec_of(self, every=True)

    @property
    def promises(self) -> tuple[str, ...]:
        return ("game/*", "gappletron/theorem-6")

    def player(self, problem: Problem) -> Player:
        require(
            problem.graph.observes.tolist() == [[False, False], [True, True]],
            f"segment-probe cannot play graph '{problem.graph.name}' with {problem.n_labels} labels:"
            f" expected {self.graphs}.",
        )
        state = fresh_state(N_STATE - OWN)
        state[LENGTH] = self.n + 1
        return Player(_predict, _update, np.zeros(1), state, Declaration())
