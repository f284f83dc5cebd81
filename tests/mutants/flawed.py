"""Broken baselines: each plays or learns wrongly after it has declared itself like the right learner."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from boundcheck.algorithms.baseline import Baseline, step_towards
from boundcheck.algorithms.gappletron import mix_uniform
from boundcheck.algorithms.learner import PREDICT, REWRITE, UPDATE, Player, Problem
from boundcheck.algorithms.newton import CHANCES, project_exactly
from boundcheck.algorithms.soba import BUDGET, CURVATURE
from boundcheck.compiled import Kernel, helper, kernel

Change = Callable[[Player], Player]


@dataclass(frozen=True)
class Flawed:
    """A learner that is changed after it has declared itself.

    Attributes
    ----------
    right : the learner it should be
    name : what is wrong with it
    change : how it is made from the right one
    """

    right: Baseline
    name: str
    change: Change

    @property
    def spec(self) -> str:
        return f"flawed-{self.name}"

    def __getattr__(self, name: str) -> Any:
        """Options and promises are those of the right learner."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.right, name)

    def player(self, problem: Problem) -> Player:
        return self.change(self.right.player(problem))


def updating(flaw: Callable[..., Any]) -> Change:
    """``flaw(p, best, runner, action, label, weight, squared, gradient, parameters, coefficient)`` in place of
    the update."""
    inner = helper(flaw)

    @kernel(UPDATE)
    def update(
        scores, best, runner, p, action, label, weight, squared_norm, parameters, coefficient
    ):
        rival = runner if label == best else best
        loss = 0.0 if label < 0 else 1.0 - (scores[label] - scores[rival])
        norm = squared_norm
        return inner(p, best, rival, loss, action, label, weight, norm, parameters, coefficient)

    return lambda player: replace(player, update=update)


def rewriting(function: Kernel) -> Change:
    return lambda player: replace(player, rewrite=function)


def predicting(function: Kernel) -> Change:
    return lambda player: replace(player, predict=function)


def with_parameter(slot: int, edit: Callable[[float], float]) -> Change:
    """Another number than the declared one."""

    def change(player: Player) -> Player:
        parameters = player.parameters.copy()
        parameters[slot] = edit(float(parameters[slot]))
        return replace(player, parameters=parameters)

    return change


def unchanged(player: Player) -> Player:
    return player


# Perceptron and passive-aggressive


def climbs(p, best, rival, loss, action, label, weight, squared, parameters, coefficient):
    if label < 0 or label == best:
        return False
    step_towards(best, label, 1.0, coefficient)
    return True


def raises_only(p, best, rival, loss, action, label, weight, squared, parameters, coefficient):
    if label < 0 or label == best:
        return False
    step_towards(label, best, 1.0, coefficient)
    coefficient[best] = 0.0
    return True


def blames_everybody(p, best, rival, loss, action, label, weight, squared, parameters, coefficient):
    """Lowers all other rows, as if each had been the prediction."""
    if label < 0 or label == best:
        return False
    for k in range(coefficient.shape[0]):
        coefficient[k] = 1.0
    coefficient[label] = -1.0
    return True


def aims_at_the_prediction(
    p, best, rival, loss, action, label, weight, squared, parameters, coefficient
):
    """The rival is yhat: no step where the best label is right, though its margin is small."""
    if label < 0 or loss <= 0.0 or squared == 0.0 or label == best:
        return False
    step_towards(label, best, loss / (2.0 * squared), coefficient)
    return True


def counts_one_row(p, best, rival, loss, action, label, weight, squared, parameters, coefficient):
    """The step of two classes, loss / |x|^2, though two rows move: it goes twice as far."""
    if label < 0 or loss <= 0.0 or squared == 0.0:
        return False
    step_towards(label, rival, loss / squared, coefficient)
    return True


# Banditron


def weight_dropped(p, best, rival, loss, action, label, weight, squared, parameters, coefficient):
    step_towards(best, best, 0.0, coefficient)
    coefficient[best] = 1.0
    if label == action:
        coefficient[label] -= 1.0
    return True


def weight_of_the_best(
    p, best, rival, loss, action, label, weight, squared, parameters, coefficient
):
    step_towards(best, best, 0.0, coefficient)
    coefficient[best] = 1.0
    if label == action:
        coefficient[label] -= 1.0 / p[best]
    return True


def moves_when_right(p, best, rival, loss, action, label, weight, squared, parameters, coefficient):
    """The best label is lowered only where the guess was right, without a weight."""
    if label != action:
        return False
    step_towards(label, best, 1.0 / p[label], coefficient)
    if label != best:
        coefficient[best] = 1.0
    return True


def unweighted(p, best, rival, loss, action, label, weight, squared, parameters, coefficient):
    if label < 0 or label == best:
        return False
    step_towards(label, best, 1.0, coefficient)
    return True


FLAWS = {
    function.__name__.replace("_", " "): updating(function)
    for function in (
        climbs,
        raises_only,
        blames_everybody,
        aims_at_the_prediction,
        counts_one_row,
        weight_dropped,
        weight_of_the_best,
        moves_when_right,
        unweighted,
    )
}


# Gaptron


@kernel(PREDICT)
def half_the_gap(best, gap, parameters, p):
    """Surer of the best label than the gap map allows."""
    mix_uniform(best, max(gap / 2.0, parameters[1]), p)


# Learners with matrices: REWRITE with a flaw


def second_order(power: int, current: bool, rows: int) -> Kernel:
    """A sums |x|^power, perhaps theta is divided by A before the round, and perhaps only the true label's A grows."""

    @kernel(REWRITE)
    def rewrite(best, label, features, x, memory, weights):
        if label < 0 or label == best:
            return
        for j in range(x.shape[0]):
            f = features[j]
            square = x[j] * x[j] if power == 2 else x[j] * x[j] * x[j] * x[j]
            memory[0, f, label] += x[j]
            memory[0, f, best] -= x[j]
            if current:
                weights[f, label] = memory[0, f, label] / memory[1, f, label]
                weights[f, best] = memory[0, f, best] / memory[1, f, best]
            memory[1, f, label] += square
            if rows == 2:
                memory[1, f, best] += square
            if not current:
                weights[f, label] = memory[0, f, label] / memory[1, f, label]
                weights[f, best] = memory[0, f, best] / memory[1, f, best]

    return rewrite


def newtron(theirs: bool, drops: bool) -> Kernel:
    """With ``theirs`` the entry of the played label is 1/K, as in the authors' code, in place of (K-1)/K; with
    ``drops`` the term in <G, W> is missing where another label than the best was played."""

    @kernel(REWRITE)
    def rewrite(scores, best, p, action, label, features, x, parameters, state, memory, weights):
        n_labels = scores.shape[0]
        chance = state[CHANCES + action]
        size, trust = chance / p[action], 1.0
        if label == action:
            size, trust = -(1.0 - chance) / p[action], p[action]
        lead = 0.0
        for k in range(n_labels):
            share = -1.0 / n_labels
            if k == action:
                share = 1.0 / n_labels if theirs else share + 1.0
            lead += size * share * scores[k]
        if drops and action != best:
            lead = 0.0
        for j in range(x.shape[0]):
            f = features[j]
            for k in range(n_labels):
                share = -1.0 / n_labels
                if k == action:
                    share = 1.0 / n_labels if theirs else share + 1.0
                part = size * share * x[j]
                memory[0, f, k] += (1.0 - trust * parameters[1] * lead) * part
                memory[1, f, k] += trust * parameters[1] * part * part
        project_exactly(memory, weights, parameters[2], state)

    return rewrite


def soba(power: int, counted: float, bias: float, budgeted: bool) -> Kernel:
    """q has p(y) to the power of 1, or its root (0) as in the authors' code; Q counts a round ``counted`` times; G
    is divided by 1 + (1/p(y) - 1) ``bias``; without ``budgeted`` every right guess is learnt from."""

    @kernel(REWRITE)
    def rewrite(scores, best, runner, p, action, label, features, x, state, memory, weights):
        if label != action:
            return
        chance = p[label]
        rival = runner if label == best else best
        total = 0.0
        for j in range(x.shape[0]):
            f = features[j]
            total += x[j] * x[j] * (1.0 / memory[1, f, label] + 1.0 / memory[1, f, rival])
        q = total / chance
        if power == 0 and label != best:
            q = total * math.sqrt(chance) / (chance * chance)
        lead = (scores[rival] - scores[label]) / chance
        share = (chance * lead * lead + 2.0 * lead) / (1.0 + q)
        if label == best and budgeted and state[BUDGET] + share < 0.0:
            return
        state[BUDGET] += share
        state[CURVATURE] += counted * q / (1.0 + q)
        factor = 1.0 + (1.0 / chance - 1.0) * bias
        for j in range(x.shape[0]):
            f = features[j]
            step = x[j] * factor
            memory[0, f, label] += step
            memory[0, f, rival] -= step
            memory[1, f, label] += x[j] * x[j] / chance
            memory[1, f, rival] += x[j] * x[j] / chance
            weights[f, label] = memory[0, f, label] / memory[1, f, label]
            weights[f, rival] = memory[0, f, rival] / memory[1, f, rival]

    return rewrite
