"""Learners that are right for many labels and go wrong then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from broken import Change, updating

from boundcheck.algorithms.gappletron import N_STATE
from boundcheck.algorithms.learner import SCALE, UPDATE
from boundcheck.algorithms.optimisers import step_in_ball
from boundcheck.compiled import Kernel, helper, kernel

LABELS = N_STATE
"""Slot of ``state`` for the number of labels seen, which only the learners that go wrong late have."""

LATE = 450
"""They are right for so many labels."""


def late_step(flaw: Callable[..., Any]) -> Kernel:
    """Projected descent that goes wrong late: ``flaw(weight, scale, state)`` then returns the weight to be used,
    and is called once more after the step, with the scale before it."""
    edit = helper(flaw)

    @kernel(UPDATE)
    def step(scores, label, weight, squared_norm, gradient, parameters, state, coefficient):
        if label < 0:
            return False
        state[LABELS] += 1.0
        if state[LABELS] <= LATE:
            return step_in_ball(
                weight, squared_norm, scores, gradient, parameters, state, coefficient
            )
        scale = state[SCALE]
        used = edit(weight, scale, state)
        if used == 0.0:
            return False
        moved = step_in_ball(used, squared_norm, scores, gradient, parameters, state, coefficient)
        edit(weight, scale, state)
        return moved

    return step


def freezes(weight, scale, state):
    return 0.0


def forgets_the_weight(weight, scale, state):
    return 1.0


def forgets_the_ball(weight, scale, state):
    state[SCALE] = scale
    return weight


frozen_late = late_step(freezes)
unweighted_late = late_step(forgets_the_weight)
unprojected_late = late_step(forgets_the_ball)


def updating_late(function: Kernel) -> Change:
    """The same, with room for the number of labels."""
    change = updating(function)
    return lambda player, problem: replace(
        change(player, problem), state=np.append(player.state, 0.0)
    )
