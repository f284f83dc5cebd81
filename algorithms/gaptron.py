"""Gaptron: gradient descent at a fixed rate, and a gap map that says how often to guess.

With probability a, the gap map, an action is drawn uniformly, and otherwise the best label is played. What keeps the
expected mistakes below the comparator's losses plus |U|^2 / (2 eta) is, in every round and for every label y,

    (1 - a) 1[yhat != y] + a (K - 1) / K + (eta / 2) |gradient|^2  <=  loss at W,

which holds up to eta = c / (K X^2). For the two hinge losses no larger c will do; for the logistic loss it
holds, by a numerical check, up to c = 2 ln(2)^2.

=========  ===============  =========================================  =======
loss       name             gap map, m* the margin of the best label   c
=========  ===============  =========================================  =======
smooth     smooth-hinge     (1 - min{1, m*})^2                         1/4
hinge      hinge            1 - m* if m* < 1/2, else 0                 1/2
logistic   logistic-2       1 - q(yhat) if q(yhat) >= 1/2, else 1      ln(2)/2
=========  ===============  =========================================  =======

Where only a right guess shows the label, the action is drawn uniformly with probability max{a, gamma} and the rate is
eta gamma / K, so that the importance weights, at most K / gamma, are paid for.

=========  =====================================================================
symbol     name here
=========  =====================================================================
eta        ``rate``, the step size in full information; eta gamma / K otherwise
gamma      ``gamma``, least probability of a uniform draw; 0 in full information
a          ``gap``
q          softmax of the scores
X          ``problem.feature_norm``
B          ``problem.comparator_norm``
=========  =====================================================================

=========  ========================  ===========================================================
tuning     rate, full information    gamma and rate, bandit
=========  ========================  ===========================================================
default    c / (K X^2)               min{1, K X B / sqrt(2 c T)}, c gamma / (K X)^2
ones       c / K                     min{1, T^(-1/2)}, c gamma
theory     as default                as default
=========  ========================  ===========================================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from ..arrays import FloatArray
from ..compiled import Kernel, kernel
from ..errors import require
from .baseline import Baseline, observes_itself
from .gappletron import mix_uniform
from .graphs import FeedbackGraph
from .learner import PREDICT, UPDATE, Declaration, Player, Problem, fresh_state
from .losses import GAP, Hinge, Logistic, Loss, SmoothHinge, exponentials
from .optimisers import scaled_copy

RATE, GAMMA = 0, 1
"""Slots of ``parameters``."""


@kernel(GAP)
def _half_gap(scores: FloatArray, best: int, work: FloatArray) -> float:
    rest = exponentials(scores, best, work)
    return rest / (1.0 + rest) if rest <= 1.0 else 1.0


@dataclass(frozen=True)
class HalfLogistic(Logistic):
    """Logistic loss with Gaptron's gap map: the chance of the other labels, or 1 if it exceeds 1/2."""

    gap: ClassVar[Kernel] = _half_gap


LOSSES: Mapping[str, tuple[Loss, float]] = {
    "smooth-hinge": (SmoothHinge(), 1 / 4),
    "hinge": (Hinge(), 1 / 2),
    "logistic-2": (HalfLogistic(), math.log(2) / 2),
}
"""The losses, and c of their largest rate c / (K X^2)."""


@kernel(PREDICT)
def _predict(best: int, gap: float, parameters: FloatArray, p: FloatArray) -> None:
    mix_uniform(best, gap if gap > parameters[GAMMA] else parameters[GAMMA], p)


@kernel(UPDATE)
def _update(
    label: int, weight: float, gradient: FloatArray, parameters: FloatArray, coefficient: FloatArray
) -> bool:
    if label < 0 or gradient[label] == 0.0:
        return False
    scaled_copy(parameters[RATE] * weight, gradient, coefficient)
    return True


@dataclass(frozen=True)
class Gaptron(Baseline):
    """Gaptron: gradient descent at a fixed rate, guessing with the probability that a gap map asks for.

    Parameters
    ----------
    loss : "smooth-hinge", "hinge" or "logistic-2"
    gamma : least probability of a uniform draw, in (0, 1]; set by the tuning where None
    rate : step size, finite and above 0; set by the tuning where None

    Raises
    ------
    UserError
        for an unknown loss or an illegal number
    """

    loss: Annotated[str, LOSSES] = "smooth-hinge"
    gamma: Annotated[float | None, "(0, 1]"] = None
    rate: Annotated[float | None, "(0, inf)"] = None
    source: ClassVar[str] = (
        "D. van der Hoeven (2020), Exploiting the Surrogate Gap in Online Multiclass Classification"
    )
    graphs: ClassVar[str] = "full information or bandit"
    tunings: ClassVar[Mapping[str, str]] = {
        "default": "as theory",
        "ones": "rate = c / K; bandit: gamma = min{1, T^(-1/2)}, rate = c gamma",
        "theory": "rate = c / (K X^2); bandit: gamma = min{1, K X B / (2 c T)^(1/2)},"
        " rate = c gamma / (K X)^2; c = 1/4, 1/2, ln(2)/2 by loss",
    }

    def accepts(self, graph: FeedbackGraph) -> bool:
        bandit = bool(graph.observes.sum() == graph.n_labels)
        return observes_itself(graph) and (graph.is_full_information or bandit)

    def numbers(self, problem: Problem) -> dict[str, float]:
        c = LOSSES[self.loss][1]
        n_labels = problem.n_labels
        ones = self.tuning == "ones"
        feature_norm = 1.0 if ones else problem.feature_norm or 1.0  # for X = 0 any rate will do
        gamma, rate = 0.0, c / (n_labels * feature_norm * feature_norm)
        if problem.graph.is_full_information:
            require(
                not self.gamma,
                f"gamma={self.gamma} of {self.spec}: expected none with full information, which it does not"
                " explore.",
            )
        else:
            size = (
                1.0
                if ones
                else n_labels * feature_norm * problem.comparator_norm / math.sqrt(2 * c)
            )
            gamma = (
                min(1.0, size / math.sqrt(problem.horizon)) if self.gamma is None else self.gamma
            )
            rate = c * gamma if ones else rate * gamma / n_labels
        return {
            "gamma": gamma if self.gamma is None else self.gamma,
            "rate": rate if self.rate is None else self.rate,
        }

    def player(self, problem: Problem) -> Player:
        self.check_graph(problem.graph)
        numbers = self.numbers(problem)
        return Player(
            _predict,
            _update,
            np.array([numbers["rate"], numbers["gamma"]]),
            fresh_state(),
            Declaration(loss=LOSSES[self.loss][0], numbers=self.declared(numbers)),
        )
