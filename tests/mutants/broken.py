"""A learner in the library's own form whose steps are broken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from boundcheck.algorithms.gappletron import Gappletron
from boundcheck.algorithms.learner import UPDATE, Player, Problem
from boundcheck.algorithms.optimisers import step_in_ball
from boundcheck.compiled import Kernel, kernel


@dataclass(frozen=True)
class Broken(Gappletron):
    """A Gappletron whose update is another one after it has declared itself."""

    update: Any = None

    def player(self, problem: Problem) -> Player:
        return replace(super().player(problem), update=self.update)


def resized_step(factor: float) -> Kernel:
    """Projected descent whose steps, but not its own account of them, are longer or shorter."""

    @kernel(UPDATE)
    def step(scores, label, weight, squared_norm, gradient, parameters, state, coefficient):
        if label < 0:
            return False
        moved = step_in_ball(weight, squared_norm, scores, gradient, parameters, state, coefficient)
        for k in range(gradient.shape[0]):
            coefficient[k] *= factor
        return moved

    return step
