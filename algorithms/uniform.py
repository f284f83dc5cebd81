"""The uniform guesser: what any learner should beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..compiled import kernel
from .learner import PREDICT, Declaration, Player, Problem, fresh_state
from .optimisers import StandStill


@kernel(PREDICT)
def _uniform(scores: FloatArray, p: FloatArray) -> None:
    n_labels = scores.shape[0]
    for k in range(p.shape[0]):
        p[k] = 1.0 / n_labels if k < n_labels else 0.0


@dataclass(frozen=True)
class Uniform:
    """Guess every label with probability 1/K; its expected error is (K - 1)/K a round."""

    source: ClassVar[str] = "none"
    graphs: ClassVar[str] = "any"

    @property
    def spec(self) -> str:
        return "uniform"

    @property
    def promises(self) -> tuple[str, ...]:
        return ("game/*",)

    def player(self, problem: Problem) -> Player:
        return Player(_uniform, StandStill.step, np.zeros(1), fresh_state(), Declaration())
