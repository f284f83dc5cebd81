"""Passive-aggressive learning of several labels: PA, PA-I and PA-II.

The rival is the best label other than the true one, whatever was predicted. While the margin of the true label over
it is below one, take the shortest step that makes it one (PA), a step no larger than C (PA-I), or one damped by
C (PA-II):

    PA     size = hinge loss / (2 |x|^2)          PA-II  size = hinge loss / (2 |x|^2 + 1 / (2 C))
    PA-I   size = min(C, hinge loss / (2 |x|^2))

=========  =====================================================================
symbol     name here
=========  =====================================================================
tau        ``size`` of the step
C          ``aggressiveness``, 1 in every tuning
=========  =====================================================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from ..arrays import FloatArray
from ..compiled import kernel
from ..errors import require
from .baseline import Baseline, best_label, step_towards
from .learner import UPDATE, Declaration, Player, Problem, fresh_state

VARIANTS = ("pa", "pa-1", "pa-2")

CAP, DAMPING = 0, 1
"""Slots of ``parameters``: the largest step, and what is added to 2 |x|^2."""


@kernel(UPDATE)
def _update(
    scores: FloatArray,
    best: int,
    runner: int,
    label: int,
    squared_norm: float,
    parameters: FloatArray,
    coefficient: FloatArray,
) -> bool:
    if label < 0:
        return False
    rival = runner if label == best else best
    loss = 1.0 - (scores[label] - scores[rival])
    # no step where it would overflow, as it does for x = 0
    if loss <= 0.0 or loss / 1e307 >= squared_norm:
        return False
    size = loss / (2.0 * squared_norm + parameters[DAMPING])
    if size > parameters[CAP]:
        size = parameters[CAP]
    step_towards(label, rival, size, coefficient)
    return True


@dataclass(frozen=True)
class PassiveAggressive(Baseline):
    """Passive-aggressive: the shortest step to margin one over the best other label, capped or damped.

    Parameters
    ----------
    variant : "pa", "pa-1" (capped) or "pa-2" (damped)
    aggressiveness : C, finite and above 0; 1 where None; "pa" has none

    Raises
    ------
    UserError
        for an unknown variant, an illegal aggressiveness, or one for "pa"
    """

    variant: Annotated[str, VARIANTS] = "pa-1"
    aggressiveness: Annotated[float | None, "(0, inf)"] = None
    source: ClassVar[str] = (
        "K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer (2006),"
        " Online Passive-Aggressive Algorithms"
    )
    tunings: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("default", "ones", "theory"), "aggressiveness = 1"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.variant != "pa" or self.aggressiveness is None,
            f"aggressiveness={self.aggressiveness} of passive-aggressive with variant=pa:"
            " expected no aggressiveness, or variant pa-1 or pa-2.",
        )

    def numbers(self, problem: Problem) -> dict[str, float]:
        if self.variant == "pa":
            return {}
        return {"aggressiveness": 1.0 if self.aggressiveness is None else self.aggressiveness}

    def player(self, problem: Problem) -> Player:
        self.check_graph(problem.graph)
        numbers = self.numbers(problem)
        c = numbers.get("aggressiveness", math.inf)
        damped = self.variant == "pa-2"
        return Player(
            best_label,
            _update,
            np.array([math.inf, 1 / (2 * c)] if damped else [c, 0.0]),
            fresh_state(),
            Declaration(numbers=self.declared(numbers)),
        )
