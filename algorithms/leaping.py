"""Gappletron with an optimiser that knows where to go: the learner of the refutation of Theorem 4.

=====  ======================================================================
symbol name here
=====  ======================================================================
W_1    ``START``: label 1 has the weights (1, 0), every other label 0
U      the comparator: label 2 has the weights (``along``, ``across``), every other label 0
h(U)   ``factor``
=====  ======================================================================

The optimiser stands at W_1 until its first nonzero estimated gradient g, and at U ever after. For convex losses its
regret against U is then at most <g, W_1 - U>, so guarantee (4) holds at U for every sequence if h(U) is at least
||U - W_1||. On the sequence of the adversary ``concealed`` the one loss that counts is v (1 + 2 c) with a gradient of
norm v sqrt(8), so there h(U) = ||U|| is enough as soon as 8 ||U||^2 >= 9.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import require, unknown
from .gappletron import RULES, Gappletron, Rule, tuned_gamma
from .learner import FloatArray, Player, Problem
from .losses import SmoothHinge

N_FEATURES, START, TARGET = 2, 1, 2
"""Features, and the labels that W_1 and U prefer."""


@dataclass(frozen=True)
class Leaping:
    """Gappletron, smooth hinge loss, from W_1 straight to U; gamma is that of Theorem 4, second part.

    Parameters
    ----------
    rule : exploration rule, as for Gappletron
    along, across : the weights of label 2 in U
    factor : h(U), above 0

    Raises
    ------
    UserError
        for an unknown rule or a factor that is not above 0
    """

    rule: Rule = "printed"
    along: float = 0.77377
    across: float = 0.80885
    factor: float = 1.1194

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise unknown("exploration rule", self.rule, RULES)
        require(
            math.isfinite(self.factor) and self.factor > 0,
            f"factor={self.factor}: expected a finite number above 0.",
        )

    @property
    def spec(self) -> str:
        return (
            f"leaping:rule={self.rule},along={self.along:g},across={self.across:g},"
            f"factor={self.factor:g}"
        )

    @property
    def promises(self) -> tuple[str, ...]:
        return ("gappletron/*", "game/*")

    def player(self, problem: Problem) -> Player:
        require(
            problem.n_features == N_FEATURES and problem.n_labels > TARGET,
            f"leaping plays {N_FEATURES} features and at least {TARGET + 1} labels, not"
            f" {problem.n_features} and {problem.n_labels}: expected the adversary concealed.",
        )
        gamma = tuned_gamma("theorem-4b", problem, SmoothHinge(), self.factor)
        player = Gappletron(SmoothHinge(), self.rule, gamma=gamma).player(problem)
        start = np.zeros((N_FEATURES, problem.n_labels))
        start[0, START] = 1
        return replace(
            player,
            declaration=replace(player.declaration, regret_factor=self.factor, update=None),
            weights=start,
            live=self._live,
        )

    def _live(
        self, features: Callable[[int], FloatArray], weights: FloatArray
    ) -> tuple[Callable[..., Any], Callable[..., Any]]:
        def update(
            scores: Any,
            best: int,
            runner: int,
            p: Any,
            action: int,
            label: int,
            weight: float,
            squared_norm: float,
            gradient: FloatArray,
            parameters: Any,
            state: Any,
            coefficient: Any,
        ) -> bool:
            if label >= 0 and gradient.any():
                weights[:] = 0
                weights[:, TARGET] = (self.along, self.across)
            return False

        return RULES[self.rule].python, update
