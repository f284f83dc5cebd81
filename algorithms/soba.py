"""SOBA with diagonal matrices: second-order online bandit multiclass learning.

======  ======================================================================
symbol  name here
======  ======================================================================
yhat    ``best``
ybar    ``rival``, the best label if it is wrong, otherwise the runner-up
theta   ``memory[THETA]``, minus the sum of the G used, shape (features, labels)
A       ``memory[DIAGONAL]``, ``regulariser`` plus the sum of p(y) G * G, same shape
W       the weights, theta / A entry by entry
G       the outer product of (e_ybar - e_y) / p(y) and the features
g       <G, W>, which is ``lead`` / p(y)
q       p(y) times the sum of G * G / A
m       (p(y) g^2 + 2 g) / (1 + q), a round's part of the budget
M       ``state[BUDGET]``, sum of the m
Q       ``state[CURVATURE]``, sum of the q / (1 + q)
======  ======================================================================

Only rounds with a right guess count. The step is made after a mistake of the best label, where m >= 0, and where
the budget stays at least zero: the analysis needs the sum of the m to be so. ``budget=margin`` counts only the m of
rounds whose best label was right, as the authors' code does.

=========  ================  ===================================================
tuning     a                 exploration
=========  ================  ===================================================
default    1                 gamma = 0.01
ones       1                 gamma = min{1/2, T^(-1/2)}
theory     X^2               adaptive: gamma_t = min{1, sqrt(K (1 + Q) / t)}
=========  ================  ===================================================

Of the authors' code not taken over: there q has the square root of p(y) after a mistake, and Q counts it twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from ..arrays import FloatArray
from ..compiled import helper, kernel
from ..errors import require
from .baseline import Baseline, observes_itself
from .gappletron import mix_uniform
from .graphs import FeedbackGraph
from .learner import OWN, PREDICT, REWRITE, Declaration, Player, Problem, fresh_state
from .optimisers import StandStill
from .second_order import DIAGONAL, diagonal_memory, move_entries, squared_feature_norm

CURVATURE, BUDGET, ROUND, N_OWN = OWN, OWN + 1, OWN + 2, 3
"""Slots of ``state``: Q, M, and t."""

GAMMA, MARGIN_ONLY = 0, 1
"""Slots of ``parameters``; gamma is 0 for adaptive exploration."""

EXPLORATIONS = ("fixed", "adaptive")
BUDGETS = ("all", "margin")


@kernel(PREDICT)
def _predict(
    scores: FloatArray, best: int, parameters: FloatArray, state: FloatArray, p: FloatArray
) -> None:
    n_labels = scores.shape[0]
    state[ROUND] += 1.0
    rate = parameters[GAMMA]
    if rate == 0.0:
        rate = math.sqrt(n_labels * (1.0 + state[CURVATURE]) / state[ROUND])
        if rate > 1.0:
            rate = 1.0
    mix_uniform(best, rate, p)


@helper
def root_curvature(
    label: int, rival: int, chance: float, features: Any, x: FloatArray, memory: FloatArray
) -> float:
    """The square root of q, with the features divided by the largest: no square overflows."""
    largest = 0.0
    for j in range(x.shape[0]):
        size = x[j] if x[j] > 0.0 else -x[j]
        largest = size if size > largest else largest
    if largest == 0.0:
        return 0.0
    total = 0.0
    for j in range(x.shape[0]):
        f, part = features[j], x[j] / largest
        inverse = 1.0 / memory[DIAGONAL, f, label] + 1.0 / memory[DIAGONAL, f, rival]
        total += part * part * inverse
    return largest * math.sqrt(total / chance)


@kernel(REWRITE)
def _rewrite(
    scores: FloatArray,
    best: int,
    runner: int,
    p: FloatArray,
    action: int,
    label: int,
    features: Any,
    x: FloatArray,
    parameters: FloatArray,
    state: FloatArray,
    memory: FloatArray,
    weights: FloatArray,
) -> None:
    if label != action:
        return
    # the importance weight of the game is another one where more than a right guess reveals the label
    chance = p[label]
    rival = runner if label == best else best
    root = root_curvature(label, rival, chance, features, x, memory)
    if root > 1.0:
        norm = root * math.sqrt(1.0 + 1.0 / root / root)
        part = 1.0 / (1.0 + 1.0 / root / root)
    else:
        norm = math.sqrt(1.0 + root * root)
        part = root * root / (1.0 + root * root)
    lead = (scores[rival] - scores[label]) / norm
    share = lead * (lead + 2.0 / norm) / chance
    budget = state[BUDGET] + share
    if label == best and budget < 0.0:
        return
    if label == best or parameters[MARGIN_ONLY] == 0.0:
        state[BUDGET] = budget
    state[CURVATURE] += part
    for j in range(x.shape[0]):
        step = x[j] / chance
        move_entries(features[j], label, rival, step, step * x[j], memory, weights)


@dataclass(frozen=True)
class Soba(Baseline):
    """Diagonal SOBA: second-order steps from right guesses, also without a mistake while a budget lasts.

    Parameters
    ----------
    exploration : "fixed" or "adaptive" (see the module); set by the tuning where None, "fixed" if gamma is given
    gamma : probability of exploring in (0, 1], for fixed exploration; set by the tuning where None
    regulariser : a > 0; set by the tuning where None
    budget : "all" or "margin" (see the module)

    Raises
    ------
    UserError
        for an unknown choice, a number out of range, or gamma with adaptive exploration
    """

    exploration: Annotated[str | None, EXPLORATIONS] = None
    gamma: Annotated[float | None, "(0, 1]"] = None
    regulariser: Annotated[float | None, "(0, inf)"] = None
    budget: Annotated[str, BUDGETS] = "all"
    source: ClassVar[str] = (
        "A. Beygelzimer, F. Orabona and C. Zhang (2017), Efficient Online Bandit Multiclass Learning"
        " with O(sqrt(T)) Regret"
    )
    graphs: ClassVar[str] = "bandit"
    tunings: ClassVar[Mapping[str, str]] = {
        "default": "gamma = 0.01, regulariser = 1",
        "ones": "gamma = min{1/2, T^(-1/2)}, regulariser = 1",
        "theory": "exploration = adaptive, regulariser = X^2; fixed exploration as with ones",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.gamma is None or self.exploration != "adaptive",
            f"gamma={self.gamma} of soba: expected no gamma with exploration=adaptive.",
        )

    @property
    def adaptive(self) -> bool:
        """True if exploration adapts."""
        if self.exploration is None:
            return self.tuning == "theory" and self.gamma is None
        return self.exploration == "adaptive"

    def accepts(self, graph: FeedbackGraph) -> bool:
        return observes_itself(graph)

    def numbers(self, problem: Problem) -> dict[str, float]:
        regulariser = squared_feature_norm(problem) if self.tuning == "theory" else 1.0
        if self.regulariser is not None:
            regulariser = self.regulariser
        if self.adaptive:
            return {"regulariser": regulariser}
        rate = 0.01 if self.tuning == "default" else min(0.5, problem.horizon**-0.5)
        return {
            "gamma": rate if self.gamma is None else self.gamma,
            "regulariser": regulariser,
        }

    def player(self, problem: Problem) -> Player:
        self.check_graph(problem.graph)
        numbers = self.numbers(problem)
        return Player(
            predict=_predict,
            update=StandStill.step,
            parameters=np.array([numbers.get("gamma", 0.0), float(self.budget == "margin")]),
            state=fresh_state(N_OWN),
            declaration=Declaration(numbers=self.declared(numbers)),
            rewrite=_rewrite,
            memory=diagonal_memory(problem, numbers["regulariser"]),
        )
