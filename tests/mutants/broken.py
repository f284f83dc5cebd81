"""The broken parts: kernels that play or learn wrongly, and learners that look where they must not."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boundcheck.adversaries.one_hot import OneHot
from boundcheck.algorithms import optimisers
from boundcheck.algorithms.gappletron import (
    COUNTER,
    DOMINATION,
    GAMMA,
    MASKS,
    Gappletron,
    exploration_rate,
    mix_dominating,
    mix_uniform,
)
from boundcheck.algorithms.learner import PREDICT, SCALE, UPDATE, Player, Problem
from boundcheck.algorithms.optimisers import step_in_ball
from boundcheck.arrays import FloatArray
from boundcheck.compiled import Kernel, helper, kernel

Change = Callable[[Player, Problem], Player]


# What is played


@helper
def play(rate, threshold, gap, best, parameters, p):
    """Line 10: the gap is spread uniformly if it reaches the threshold, or else the rate over S."""
    if threshold <= gap:
        mix_uniform(best, gap, p)
    else:
        mix_dominating(best, rate, parameters, p)


@helper
def scaled(rate, parameters, p):
    """The threshold of the repaired line 9."""
    return p.shape[0] / parameters[DOMINATION] * rate


@kernel(PREDICT)
def exploration_off(best, gap, p):
    mix_uniform(best, gap, p)


@kernel(PREDICT)
def neither_explores_nor_hedges(best, p):
    mix_uniform(best, 0.0, p)


@kernel(PREDICT)
def halved_gap(best, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    play(rate, scaled(rate, parameters, p), gap / 2.0, best, parameters, p)


@kernel(PREDICT)
def gap_of_the_hinge(scores, best, runner, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    margin = scores[best] - scores[runner]
    hinge = 1.0 - margin if margin < 0.5 else 0.0
    play(rate, scaled(rate, parameters, p), hinge, best, parameters, p)


@kernel(PREDICT)
def zeta_inverted(best, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    if scaled(rate, parameters, p) > gap:
        mix_uniform(best, gap, p)
    else:
        mix_dominating(best, rate, parameters, p)


@kernel(PREDICT)
def zeta_as_printed(best, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    play(rate, rate, gap, best, parameters, p)


@kernel(PREDICT)
def counter_late(best, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    if rate > 0.0 and state[COUNTER] > 1.0:
        rate = min(0.5, parameters[GAMMA] / math.sqrt(state[COUNTER] - 1.0))
    play(rate, scaled(rate, parameters, p), gap, best, parameters, p)


@kernel(PREDICT)
def counter_early(best, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    if rate > 0.0:
        rate = min(0.5, parameters[GAMMA] / math.sqrt(state[COUNTER] + 1.0))
    play(rate, scaled(rate, parameters, p), gap, best, parameters, p)


@kernel(PREDICT)
def counter_stopped(best, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    state[COUNTER] = 0.0
    play(rate, scaled(rate, parameters, p), gap, best, parameters, p)


@kernel(PREDICT)
def counts_every_round(best, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    if rate == 0.0:
        state[COUNTER] += 1.0
    play(rate, scaled(rate, parameters, p), gap, best, parameters, p)


@kernel(PREDICT)
def rate_not_capped(best, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    if rate > 0.0:
        rate = min(1.0, parameters[GAMMA] / math.sqrt(state[COUNTER]))
    play(rate, scaled(rate, parameters, p), gap, best, parameters, p)


@kernel(PREDICT)
def sum_off(best, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    play(rate, scaled(rate, parameters, p), gap, best, parameters, p)
    p[best] += 1e-6


@kernel(PREDICT)
def spreads_the_gap_over_s(best, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    mixed = gap if scaled(rate, parameters, p) <= gap else rate
    mix_dominating(best, mixed, parameters, p)


@kernel(PREDICT)
def plays_the_runner_up(best, runner, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    play(rate, scaled(rate, parameters, p), gap, runner, parameters, p)


@kernel(PREDICT)
def ties_to_the_last(scores, best, gap, parameters, state, p):
    last = best
    for k in range(scores.shape[0]):
        if scores[k] == scores[best]:
            last = k
    rate = exploration_rate(last, parameters, state)
    play(rate, scaled(rate, parameters, p), gap, last, parameters, p)


# What is learnt


def flawed_step(flaw: Callable[..., Any]) -> Kernel:
    """Projected descent with a flaw: ``flaw(p, action, label, best, weight, gradient)`` may edit the gradient
    in place and returns the weight to be used, 0 for no step."""
    edit = helper(flaw)

    @kernel(UPDATE)
    def step(
        scores,
        best,
        p,
        action,
        label,
        weight,
        squared_norm,
        gradient,
        parameters,
        state,
        coefficient,
    ):
        used = edit(p, action, label, best, weight, gradient)
        if used == 0.0:
            return False
        return step_in_ball(used, squared_norm, scores, gradient, parameters, state, coefficient)

    return step


def weight_dropped(p, action, label, best, weight, gradient):
    return 0.0 if label < 0 else 1.0


def weight_of_the_action(p, action, label, best, weight, gradient):
    return 0.0 if label < 0 else 1.0 / p[action]


def weight_of_the_best(p, action, label, best, weight, gradient):
    return 0.0 if label < 0 else 1.0 / p[best]


def weight_clipped(p, action, label, best, weight, gradient):
    return min(weight, 4.0)


def gradient_sign(p, action, label, best, weight, gradient):
    return -weight


def runner_up_frozen(p, action, label, best, weight, gradient):
    for k in range(gradient.shape[0]):
        if k != label:
            gradient[k] = 0.0
    return weight


def only_mistakes(p, action, label, best, weight, gradient):
    return 0.0 if label == best else weight


def steps_without_a_label(p, action, label, best, weight, gradient):
    return 1.0 if label < 0 else weight


def believes_its_guess(p, action, label, best, weight, gradient):
    if label < 0:
        for k in range(gradient.shape[0]):
            gradient[k] = 1.0 / gradient.shape[0]
        gradient[best] -= 1.0
        return 1.0
    return weight


def learns_if_it_can(p, action, label, best, weight, gradient):
    return 1.0 if label < 0 and gradient[0] == gradient[0] else weight


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


@kernel(UPDATE)
def never_shrinks(scores, label, weight, squared_norm, gradient, parameters, state, coefficient):
    if label < 0:
        return False
    moved = step_in_ball(weight, squared_norm, scores, gradient, parameters, state, coefficient)
    state[SCALE] = 1.0
    return moved


# What is replaced


@dataclass(frozen=True)
class Broken(Gappletron):
    """A Gappletron that is changed after it has declared itself."""

    name: str = "control"
    change: Change = lambda player, problem: player

    @property
    def spec(self) -> str:
        return f"mutant-{self.name}-{self.optimiser.spec}"

    def player(self, problem: Problem) -> Player:
        return self.change(super().player(problem), problem)


def predicting(function: Kernel) -> Change:
    return lambda player, problem: replace(player, predict=function)


def updating(function: Kernel) -> Change:
    """Only where weights move at all."""

    def change(player: Player, problem: Problem) -> Player:
        moves = player.update is optimisers.ProjectedDescent.step
        return replace(player, update=function) if moves else player

    return change


def with_parameters(edit: Callable[[FloatArray, Problem], None]) -> Change:
    def change(player: Player, problem: Problem) -> Player:
        parameters = player.parameters.copy()
        edit(parameters, problem)
        return replace(player, parameters=parameters)

    return change


def scaling_gamma(power: float) -> Change:
    """Multiply gamma by a power of the domination number."""

    def edit(parameters: FloatArray, problem: Problem) -> None:
        parameters[GAMMA] *= problem.graph.domination_number**power

    return with_parameters(edit)


def nothing_reveals(parameters: FloatArray, problem: Problem) -> None:
    parameters[MASKS : MASKS + problem.graph.n_actions] = 0


def vertex_missing(parameters: FloatArray, problem: Problem) -> None:
    dominating = problem.graph.dominating
    if len(dominating) > 1:
        parameters[MASKS + problem.graph.n_actions + dominating[-1]] = 0
        parameters[DOMINATION] -= 1


# Learners in plain Python that know the labels


class Peeker:
    """Reads the label of the round out of the game's own frame."""

    promises = ("game/*",)
    caught_by = frozenset({"no-peeking"})

    def __init__(self, problem: Problem) -> None:
        self.n_actions = problem.graph.n_actions

    def known(self) -> int:
        frame = sys._getframe()
        while "label" not in frame.f_locals:
            frame = frame.f_back
        return int(frame.f_locals["label"])

    def predict(self, x: FloatArray) -> FloatArray:
        p = np.full(self.n_actions, 0.5 / self.n_actions)
        p[self.known()] += 0.5
        return p

    def update(self, x: FloatArray, action: int, label: int | None) -> None:
        pass


class ByHeart(Peeker):
    """Learnt the labels of this one sequence before the game, so no feedback changes its play."""

    caught_by = frozenset()

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        sequence = OneHot(problem.n_labels, 0.1).sequence(problem.horizon, 0)
        self.labels = iter(sequence.labels.tolist())

    def known(self) -> int:
        return next(self.labels)
