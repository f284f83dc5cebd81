"""The multiclass second-order Perceptron with a diagonal matrix.

======  ======================================================================
symbol  name here
======  ======================================================================
theta   ``memory[THETA]``, sum of the Perceptron's steps, shape (features, labels)
A       ``memory[DIAGONAL]``, the diagonal matrices of the labels, same shape
a       ``regulariser``, the entry that A starts from
W       the weights, theta / A entry by entry
======  ======================================================================

Predict the label with the highest score. After a mistake add the features x to theta of the true label and
subtract them from theta of the predicted one, and add x * x to A of both; only entries of the features present
change. The source is about two classes and a full matrix to which the features of the round belong as well: there
that only shrinks the score, here it could change the label, so the current features are left out.

=========  ==========================================
tuning     a
=========  ==========================================
default    1
ones       1
theory     X^2, with X the bound on the norm of the features: the plays then do not depend on their unit
=========  ==========================================
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from ..arrays import FloatArray
from ..compiled import helper, kernel
from .baseline import Baseline, best_label
from .learner import REWRITE, Declaration, Player, Problem, fresh_state
from .optimisers import StandStill

THETA, DIAGONAL = 0, 1
"""Matrices of ``memory``."""


def squared_feature_norm(problem: Problem) -> float:
    """X^2, within the range of positive floats; 1 where all features are zero."""
    if problem.feature_norm == 0.0:
        return 1.0
    square = problem.feature_norm * problem.feature_norm
    return min(max(square, sys.float_info.min), sys.float_info.max)


def diagonal_memory(problem: Problem, regulariser: float) -> FloatArray:
    """theta = 0 and A = ``regulariser`` everywhere, shape (2, features, labels)."""
    memory = np.zeros((2, problem.n_features, problem.n_labels))
    memory[DIAGONAL] = regulariser
    return memory


@helper
def move_entries(
    f: int,
    label: int,
    rival: int,
    step: float,
    square: float,
    memory: FloatArray,
    weights: FloatArray,
) -> None:
    """Move theta up for ``label`` and down for ``rival`` at one feature, add to A, and set the weights theta / A."""
    memory[THETA, f, label] += step
    memory[THETA, f, rival] -= step
    # an entry of A that overflows leaves a weight of zero
    memory[DIAGONAL, f, label] += square
    memory[DIAGONAL, f, rival] += square
    weights[f, label] = memory[THETA, f, label] / memory[DIAGONAL, f, label]
    weights[f, rival] = memory[THETA, f, rival] / memory[DIAGONAL, f, rival]


@kernel(REWRITE)
def _rewrite(
    best: int, label: int, features: Any, x: FloatArray, memory: FloatArray, weights: FloatArray
) -> None:
    if label < 0 or label == best:
        return
    for j in range(x.shape[0]):
        move_entries(features[j], label, best, x[j], x[j] * x[j], memory, weights)


@dataclass(frozen=True)
class SecondOrderPerceptron(Baseline):
    """Diagonal second-order Perceptron: Perceptron steps, each entry divided by its sum of squared features.

    Parameters
    ----------
    regulariser : a > 0, or None for the tuning's

    Raises
    ------
    UserError
        for a regulariser that is not finite and above 0
    """

    regulariser: Annotated[float | None, "(0, inf)"] = None
    source: ClassVar[str] = (
        "N. Cesa-Bianchi, A. Conconi and C. Gentile (2005), A Second-Order Perceptron Algorithm"
    )
    tunings: ClassVar[Mapping[str, str]] = {
        "default": "regulariser = 1",
        "ones": "regulariser = 1",
        "theory": "regulariser = X^2",
    }

    def numbers(self, problem: Problem) -> dict[str, float]:
        tuned = squared_feature_norm(problem) if self.tuning == "theory" else 1.0
        return {"regulariser": tuned if self.regulariser is None else self.regulariser}

    def player(self, problem: Problem) -> Player:
        self.check_graph(problem.graph)
        numbers = self.numbers(problem)
        return Player(
            predict=best_label,
            update=StandStill.step,
            parameters=np.zeros(1),
            state=fresh_state(),
            declaration=Declaration(numbers=self.declared(numbers)),
            rewrite=_rewrite,
            memory=diagonal_memory(problem, numbers["regulariser"]),
        )
