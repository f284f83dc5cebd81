"""Kernels of broken Gappletrons: one thing is wrong in each."""

from __future__ import annotations

import math

from boundcheck.algorithms.gappletron import (
    COUNTER,
    DOMINATION,
    GAMMA,
    RATE,
    exploration_rate,
    mix_dominating,
    mix_uniform,
)
from boundcheck.algorithms.learner import PREDICT, UPDATE
from boundcheck.algorithms.updates import step_in_ball
from boundcheck.compiled import kernel


@kernel(PREDICT)
def no_exploration(scores, best, runner, gap, parameters, state, p):
    exploration_rate(best, parameters, state)
    mix_uniform(best, gap, p)


@kernel(PREDICT)
def half_gap(scores, best, runner, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    if p.shape[0] / parameters[DOMINATION] * rate <= gap / 2.0:
        mix_uniform(best, gap / 2.0, p)
    else:
        mix_dominating(best, rate, parameters, p)


@kernel(PREDICT)
def inverted_zeta(scores, best, runner, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    if p.shape[0] / parameters[DOMINATION] * rate > gap:
        mix_uniform(best, gap, p)
    else:
        mix_dominating(best, rate, parameters, p)


@kernel(PREDICT)
def late_counter(scores, best, runner, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    if rate > 0.0 and state[COUNTER] > 1.0:
        rate = parameters[GAMMA] / math.sqrt(state[COUNTER] - 1.0)
        if rate > 0.5:
            rate = 0.5
    if p.shape[0] / parameters[DOMINATION] * rate <= gap:
        mix_uniform(best, gap, p)
    else:
        mix_dominating(best, rate, parameters, p)


@kernel(PREDICT)
def stopped_counter(scores, best, runner, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    state[COUNTER] = 0.0
    if p.shape[0] / parameters[DOMINATION] * rate <= gap:
        mix_uniform(best, gap, p)
    else:
        mix_dominating(best, rate, parameters, p)


@kernel(PREDICT)
def uncapped_rate(scores, best, runner, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    if rate > 0.0:
        rate = parameters[GAMMA] / math.sqrt(state[COUNTER])
        if rate > 1.0:
            rate = 1.0
    if p.shape[0] / parameters[DOMINATION] * rate <= gap:
        mix_uniform(best, gap, p)
    else:
        mix_dominating(best, rate, parameters, p)


@kernel(PREDICT)
def sum_off(scores, best, runner, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    if p.shape[0] / parameters[DOMINATION] * rate <= gap:
        mix_uniform(best, gap, p)
    else:
        mix_dominating(best, rate, parameters, p)
    p[best] += 1e-6


@kernel(PREDICT)
def explores_one_action(scores, best, runner, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    if p.shape[0] / parameters[DOMINATION] * rate <= gap:
        mix_uniform(best, gap, p)
    else:
        for k in range(p.shape[0]):
            p[k] = 0.0
        p[best] = 1.0 - rate
        p[p.shape[0] - 1] += rate


@kernel(PREDICT)
def always_best(scores, best, runner, gap, parameters, state, p):
    state[RATE] = exploration_rate(best, parameters, state)
    for k in range(p.shape[0]):
        p[k] = 1.0 if k == best else 0.0


@kernel(PREDICT)
def plays_runner_up(scores, best, runner, gap, parameters, state, p):
    rate = exploration_rate(best, parameters, state)
    if p.shape[0] / parameters[DOMINATION] * rate <= gap:
        mix_uniform(runner, gap, p)
    else:
        mix_dominating(runner, rate, parameters, p)


@kernel(UPDATE)
def weight_dropped(
    scores,
    best,
    runner,
    p,
    action,
    label,
    weight,
    squared,
    gradient,
    parameters,
    state,
    coefficient,
):
    if label < 0:
        return False
    return step_in_ball(1.0, squared, scores, gradient, parameters, state, coefficient)


@kernel(UPDATE)
def weight_of_the_action(
    scores,
    best,
    runner,
    p,
    action,
    label,
    weight,
    squared,
    gradient,
    parameters,
    state,
    coefficient,
):
    if label < 0:
        return False
    return step_in_ball(1.0 / p[action], squared, scores, gradient, parameters, state, coefficient)


@kernel(UPDATE)
def sign_flipped(
    scores,
    best,
    runner,
    p,
    action,
    label,
    weight,
    squared,
    gradient,
    parameters,
    state,
    coefficient,
):
    if label < 0:
        return False
    for k in range(gradient.shape[0]):
        gradient[k] = -gradient[k]
    return step_in_ball(weight, squared, scores, gradient, parameters, state, coefficient)


@kernel(UPDATE)
def runner_up_frozen(
    scores,
    best,
    runner,
    p,
    action,
    label,
    weight,
    squared,
    gradient,
    parameters,
    state,
    coefficient,
):
    if label < 0:
        return False
    for k in range(gradient.shape[0]):
        if k != label:
            gradient[k] = 0.0
    return step_in_ball(weight, squared, scores, gradient, parameters, state, coefficient)


@kernel(UPDATE)
def half_step(
    scores,
    best,
    runner,
    p,
    action,
    label,
    weight,
    squared,
    gradient,
    parameters,
    state,
    coefficient,
):
    if label < 0:
        return False
    moved = step_in_ball(weight, squared, scores, gradient, parameters, state, coefficient)
    for k in range(gradient.shape[0]):
        coefficient[k] *= 0.5
    return moved


@kernel(UPDATE)
def one_in_two(
    scores,
    best,
    runner,
    p,
    action,
    label,
    weight,
    squared,
    gradient,
    parameters,
    state,
    coefficient,
):
    if label < 0:
        return False
    if state[2] > 0.0 and label == best:
        return False
    return step_in_ball(weight, squared, scores, gradient, parameters, state, coefficient)


@kernel(UPDATE)
def guesses_unseen(
    scores,
    best,
    runner,
    p,
    action,
    label,
    weight,
    squared,
    gradient,
    parameters,
    state,
    coefficient,
):
    # wants to learn from labels it was not shown: it gets UNSEEN and a gradient of NaN
    if label < 0 and gradient[0] == gradient[0]:
        return step_in_ball(1.0, squared, scores, gradient, parameters, state, coefficient)
    if label < 0:
        return False
    return step_in_ball(weight, squared, scores, gradient, parameters, state, coefficient)
