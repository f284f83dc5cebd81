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

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from .....algorithms.gappletron import RULES, Gappletron, Rule, tuned_gamma
from .....algorithms.learner import REWRITE, Player, Problem
from .....algorithms.losses import SmoothHinge
from .....algorithms.spec import Checked, spec_of
from .....arrays import FloatArray
from .....compiled import kernel
from .....errors import require

N_FEATURES, START, TARGET = 2, 1, 2
"""Features, and the labels that W_1 and U prefer."""


@kernel(REWRITE)
def _leap(label: int, gradient: FloatArray, memory: Any, weights: FloatArray) -> None:
    moves = False
    for k in range(gradient.shape[0]):
        if label >= 0 and gradient[k] != 0.0:
            moves = True
    if moves:
        for f in range(weights.shape[0]):
            for k in range(weights.shape[1]):
                weights[f, k] = memory[0, f, k]


@dataclass(frozen=True)
class Leaping(Checked):
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

    rule: Annotated[Rule, RULES] = "printed"
    along: float = 0.77377
    across: float = 0.80885
    factor: Annotated[float, "(0, inf)"] = 1.1194
    source: ClassVar[str] = "our own, to refute Theorem 4 of the Gappletron paper as printed"
    graphs: ClassVar[str] = "any; the adversary concealed and filtering refute"

    @property
    def spec(self) -> str:
        return spec_of(self, every=True)

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
        values = {**player.declaration, "regret_factor": self.factor}
        del values["optimiser"]
        start = np.zeros((N_FEATURES, problem.n_labels))
        start[0, START] = 1
        end = np.zeros((1, N_FEATURES, problem.n_labels))
        end[0, :, TARGET] = self.along, self.across
        return replace(
            player,
            declaration=replace(player.declaration, numbers=values),
            weights=start,
            rewrite=_leap,
            memory=end,
        )
