"""The multiclass Perceptron.

Predict the label with the highest score; after a mistake add the features to the weights of the true label
and subtract them from those of the predicted one. There is nothing to tune.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..compiled import kernel
from .baseline import Baseline, best_label, step_towards
from .learner import UPDATE, Player, Problem, fresh_state


@kernel(UPDATE)
def _update(best: int, label: int, coefficient: FloatArray) -> bool:
    if label < 0 or label == best:
        return False
    step_towards(label, best, 1.0, coefficient)
    return True


@dataclass(frozen=True)
class Perceptron(Baseline):
    """Multiclass Perceptron: after a mistake, move the true label's weights up and the predicted one's down."""

    source: ClassVar[str] = (
        "K. Crammer and Y. Singer (2003), Ultraconservative Online Algorithms for Multiclass Problems"
    )

    def player(self, problem: Problem) -> Player:
        self.check_graph(problem.graph)
        return Player(best_label, _update, np.zeros(1), fresh_state())
