"""Broken Gappletrons, each with its declared fate: exactly which claims catch it, and why no others."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boundcheck.algorithms import updates
from boundcheck.algorithms.gappletron import (
    COUNTER,
    DOMINATION,
    GAMMA,
    MASKS,
    RATE,
    Gappletron,
    exploration_rate,
    mix_dominating,
    mix_uniform,
)
from boundcheck.algorithms.learner import PREDICT, UPDATE, Player, Problem
from boundcheck.algorithms.updates import step_in_ball
from boundcheck.compiled import kernel
from boundcheck.verify import catalog, suite
from boundcheck.verify.case import Setting
from boundcheck.verify.claim import Verdict
from boundcheck.verify.plain import PlainLearner

CLAIMS = (
    "gappletron/algorithm-1",
    "gappletron/bound-9",
    "gappletron/guarantee-4",
    "gappletron/lemma-1",
    "gappletron/lemma-2",
    "gappletron/updates",
    "game/no-peeking",
)

WATCHED = tuple(claim.rpartition("/")[2] for claim in CLAIMS)


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


@dataclass(frozen=True)
class Broken(Gappletron):
    """A Gappletron whose kernels or parameters are replaced after it has declared itself."""

    name: str = "control"
    change: Callable[[Player, Problem], Player] = lambda player, problem: player

    @property
    def spec(self) -> str:
        return f"mutant-{self.name}-{self.update.spec}"

    def player(self, problem: Problem) -> Player:
        return self.change(super().player(problem), problem)


def predicting(function: Any) -> Callable[[Player, Problem], Player]:
    return lambda player, problem: replace(player, predict=function)


def updating(function: Any) -> Callable[[Player, Problem], Player]:
    def change(player: Player, problem: Problem) -> Player:
        moves = player.update is updates.ProjectedDescent.step
        return replace(player, update=function) if moves else player

    return change


def scaling(slot: int, power: float) -> Callable[[Player, Problem], Player]:
    """Multiply a parameter by a power of the domination number."""

    def change(player: Player, problem: Problem) -> Player:
        parameters = player.parameters.copy()
        parameters[slot] *= problem.graph.domination_number**power
        return replace(player, parameters=parameters)

    return change


def no_projection(player: Player, problem: Problem) -> Player:
    if player.update is not updates.ProjectedDescent.step:
        return player
    return replace(player, update=updates.UnprojectedDescent.step)


def not_revealing(player: Player, problem: Problem) -> Player:
    """Explores and counts in rounds with a revealing best label too."""
    parameters = player.parameters.copy()
    parameters[MASKS : MASKS + problem.graph.n_actions] = 0
    return replace(player, parameters=parameters)


class Peeker:
    """Reads the label out of the game, as no learner can, and hides it in one probability."""

    promises = ("game/*",)

    def __init__(self, problem: Problem) -> None:
        self.n = problem.graph.n_actions

    def predict(self, x: np.ndarray) -> np.ndarray:
        label = sys._getframe(2).f_locals["label"]
        p = np.full(self.n, 0.5 / self.n)
        p[label] += 0.5
        return p

    def update(self, x: np.ndarray, action: int, label: int | None) -> None:
        pass


@dataclass(frozen=True)
class Mutant:
    """A broken learner and the claims that must catch it, no more and no fewer."""

    name: str
    change: Callable[[Player, Problem], Player]
    caught_by: frozenset[str]
    why: str


def mutant(name: str, change: Any, caught_by: str, why: str) -> Mutant:
    return Mutant(name, change, frozenset(caught_by.split()), why)


MUTANTS = (
    mutant("control", lambda player, problem: player, "", "the right algorithm"),
    mutant("exploration off", predicting(no_exploration), "algorithm-1 bound-9",
           "with a small gap a label may hardly be seen; mistakes only become fewer"),
    mutant("halved gap map", predicting(half_gap), "algorithm-1 lemma-1",
           "too sure of the best label"),
    mutant("zeta inverted", predicting(inverted_zeta), "algorithm-1 bound-9 lemma-1",
           "explores when it should play the mixture and the other way round"),
    mutant("gamma / sqrt(rho)", scaling(GAMMA, -0.5), "algorithm-1 bound-9",
           "explores less than declared"),
    mutant("gamma sqrt(rho)", scaling(GAMMA, 0.5), "algorithm-1 lemma-1",
           "explores more than declared: judged against the nominal rate"),
    mutant("counter one late", predicting(late_counter), "algorithm-1 lemma-1",
           "explores sqrt(n/(n-1)) times too much: the first rounds leave no slack for it"),
    mutant("counter stopped", predicting(stopped_counter), "algorithm-1 lemma-1",
           "the rate never falls"),
    mutant("rate not capped", predicting(uncapped_rate), "algorithm-1 lemma-1",
           "more than half of a round explores"),
    mutant("sum off by 1e-6", predicting(sum_off), "algorithm-1",
           "below the resolution of the lemmas, not of the definition"),
    mutant("explores one action", predicting(explores_one_action), "algorithm-1 bound-9",
           "one action does not dominate the graph"),
    mutant("always the best label", predicting(always_best), "algorithm-1 bound-9 lemma-1",
           "neither explores nor hedges"),
    mutant("plays the runner-up", predicting(plays_runner_up), "algorithm-1 bound-9 lemma-1 lemma-2",
           "the mixture leans to the wrong label"),
    mutant("explores when revealing", not_revealing, "algorithm-1 bound-9 lemma-1",
           "gamma_t is not 0 where the best label reveals"),
    mutant("weight dropped", updating(weight_dropped), "updates",
           "guarantee (4) leaves room on these streams"),
    mutant("weight of the action", updating(weight_of_the_action), "updates",
           "1/p(action) where several actions see the label"),
    mutant("gradient sign", updating(sign_flipped), "guarantee-4 updates",
           "moves away from every label"),
    mutant("runner-up frozen", updating(runner_up_frozen), "updates",
           "half of each step is missing, which guarantee (4) tolerates here"),
    mutant("half steps", updating(half_step), "updates", "another constant, inside the slack"),
    mutant("skips right rounds", updating(one_in_two), "updates", "a perceptron's rule"),
    mutant("no projection", no_projection, "updates",
           "the declared ball is left; on these streams (4) survives"),
    mutant("learns from unseen labels", updating(guesses_unseen), "",
           "impossible: the game hands it UNSEEN and NaN, so it equals the control"),
)  # fmt: skip


def settings(change: Callable[[Player, Problem], Player], name: str) -> list[Setting]:
    """The battery: chosen scores for what is predicted, short games for what is learnt."""
    found = []
    for graph in ("bandit", "filtering", "random:density=0.5,seed=2"):
        still = Broken(update=updates.StandStill(), gamma=2.0, name=name, change=change)
        found.append(Setting(still, "crafted-scores:n_labels=4", graph, 1500, None, 1))
        moving = Broken(gamma=1.0, name=name, change=change)
        found.append(Setting(moving, "one-hot:n_labels=4,noise=0.1", graph, 400, None, 2))
    return found


def caught_by(change: Callable[[Player, Problem], Player], name: str) -> frozenset[str]:
    """Names of the watched claims of which a repaired or only form is refuted."""
    refuted = set()
    for setting in settings(change, name):
        for row in suite.judge_job(suite.Job(setting, CLAIMS, own=True), 0):
            forms = catalog.claims()[row.claim].forms
            if row.verdict == Verdict.REFUTED and row.form == forms[-1].name:
                refuted.add(row.claim.rpartition("/")[2])
    return frozenset(refuted)


def peeker_rows() -> list[suite.Row]:
    """The audit of a learner that peeks."""
    learner = PlainLearner(Peeker, "peeker")
    setting = Setting(learner, "one-hot:n_labels=4,noise=0.1", "bandit", 60, None, 1)
    return suite.judge_job(suite.Job(setting, CLAIMS, own=True), 0)
