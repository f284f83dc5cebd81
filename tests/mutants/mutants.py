"""Broken Gappletrons, each with its declared fate: exactly which claims catch it, and why no others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import broken_kernels as broken
import numpy as np

from boundcheck.algorithms import updates
from boundcheck.algorithms.gappletron import GAMMA, MASKS, Gappletron
from boundcheck.algorithms.learner import Player, Problem
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
    mutant("exploration off", predicting(broken.no_exploration), "algorithm-1 bound-9",
           "with a small gap a label may hardly be seen; mistakes only become fewer"),
    mutant("halved gap map", predicting(broken.half_gap), "algorithm-1 lemma-1",
           "too sure of the best label"),
    mutant("zeta inverted", predicting(broken.inverted_zeta), "algorithm-1 bound-9 lemma-1",
           "explores when it should play the mixture and the other way round"),
    mutant("gamma / sqrt(rho)", scaling(GAMMA, -0.5), "algorithm-1 bound-9",
           "explores less than declared"),
    mutant("gamma sqrt(rho)", scaling(GAMMA, 0.5), "algorithm-1 lemma-1",
           "explores more than declared: judged against the nominal rate"),
    mutant("counter one late", predicting(broken.late_counter), "algorithm-1 lemma-1",
           "explores sqrt(n/(n-1)) times too much: the first rounds leave no slack for it"),
    mutant("counter stopped", predicting(broken.stopped_counter), "algorithm-1 lemma-1",
           "the rate never falls"),
    mutant("rate not capped", predicting(broken.uncapped_rate), "algorithm-1 lemma-1",
           "more than half of a round explores"),
    mutant("sum off by 1e-6", predicting(broken.sum_off), "algorithm-1",
           "below the resolution of the lemmas, not of the definition"),
    mutant("explores one action", predicting(broken.explores_one_action), "algorithm-1 bound-9",
           "one action does not dominate the graph"),
    mutant("always the best label", predicting(broken.always_best), "algorithm-1 bound-9 lemma-1",
           "neither explores nor hedges"),
    mutant("plays the runner-up", predicting(broken.plays_runner_up), "algorithm-1 bound-9 lemma-1 lemma-2",
           "the mixture leans to the wrong label"),
    mutant("explores when revealing", not_revealing, "algorithm-1 bound-9 lemma-1",
           "gamma_t is not 0 where the best label reveals"),
    mutant("weight dropped", updating(broken.weight_dropped), "updates",
           "guarantee (4) leaves room on these streams"),
    mutant("weight of the action", updating(broken.weight_of_the_action), "updates",
           "1/p(action) where several actions see the label"),
    mutant("gradient sign", updating(broken.sign_flipped), "guarantee-4 updates",
           "moves away from every label"),
    mutant("runner-up frozen", updating(broken.runner_up_frozen), "updates",
           "half of each step is missing, which guarantee (4) tolerates here"),
    mutant("half steps", updating(broken.half_step), "updates", "another constant, inside the slack"),
    mutant("skips right rounds", updating(broken.one_in_two), "updates", "a perceptron's rule"),
    mutant("no projection", no_projection, "updates",
           "the declared ball is left; on these streams (4) survives"),
    mutant("learns from unseen labels", updating(broken.guesses_unseen), "",
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
