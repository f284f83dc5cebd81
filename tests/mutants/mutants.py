"""Mutants of Gappletron, each with its declared fate: exactly the claims that refute it, and why no others.

A mutant declares loss, gamma, rule, optimiser and h like the right algorithm and plays otherwise. It is judged
on the battery of :func:`settings`. Fates are strict both ways: a claim that catches more or less than is
declared fails the tests.
"""

from __future__ import annotations

from dataclasses import dataclass

import broken
from broken import (
    Broken,
    Change,
    flawed_step,
    predicting,
    resized_step,
    scaling_gamma,
    updating,
    with_parameters,
)
from crowd import CROWDED, Crowd
from late import frozen_late, unprojected_late, unweighted_late, updating_late

from boundcheck.algorithms.optimisers import (
    FollowTheRegularisedLeader,
    StandStill,
    UnprojectedDescent,
)
from boundcheck.compiled import Kernel
from boundcheck.verify.games.labels.user_learner import UserLearner
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

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
class Mutant:
    """A broken learner and the claims that must refute it, no more and no fewer.

    Attributes
    ----------
    name : what is wrong with it
    change : how it is made from the right algorithm
    fate : the claims that refute it, in the order of ``WATCHED``; "survives" for none, "refused" where the
        game does not play on
    why : the reason, above all why the other claims do not refute it
    learns : whether it is wrong in what it learns, not in what it plays
    """

    name: str
    change: Change
    fate: str
    why: str
    learns: bool = False

    @property
    def caught_by(self) -> frozenset[str]:
        return frozenset(self.fate.split()) - {"survives", "refused"}

    @property
    def by_conformance_only(self) -> bool:
        """Whether only comparisons with the definition see it: the theorems are true of it."""
        return bool(self.caught_by) and self.caught_by <= {"algorithm-1", "updates"}


def plays(name: str, change: Change, fate: str, why: str) -> Mutant:
    return Mutant(name, change, fate, why)


def learns(name: str, flaw: object, fate: str, why: str) -> Mutant:
    step = flaw if isinstance(flaw, Kernel) else flawed_step(flaw)
    return Mutant(name, updating(step), fate, why, learns=True)


CONTROL = Mutant("control", lambda player, problem: player, "survives", "the right algorithm")

PLAYS = (
    plays("exploration off", predicting(broken.exploration_off), "algorithm-1 bound-9",
          "with a small gap a label may hardly be seen; mistakes only become fewer"),
    plays("neither explores nor hedges", predicting(broken.neither_explores_nor_hedges),
          "algorithm-1 bound-9 lemma-1", "it is as sure of a small margin as of a large one"),
    plays("halved gap map", predicting(broken.halved_gap), "algorithm-1 lemma-1",
          "too sure of the best label; the threshold guards (9) whatever the gap is"),
    plays("gap map of the hinge", predicting(broken.gap_of_the_hinge), "algorithm-1 lemma-1 lemma-2",
          "0 for margins from 1/2 on, where the smooth hinge still costs something"),
    plays("zeta inverted", predicting(broken.zeta_inverted), "algorithm-1 bound-9 lemma-1",
          "explores when it should spread the gap, and the other way round"),
    plays("zeta as printed", predicting(broken.zeta_as_printed), "algorithm-1 bound-9",
          "the paper's line 9 in place of the declared repair, and the paper's gap in (9)"),
    plays("gamma / sqrt(rho)", scaling_gamma(-0.5), "algorithm-1 bound-9",
          "explores less than declared, which costs no mistakes in a round"),
    plays("gamma sqrt(rho)", scaling_gamma(0.5), "algorithm-1 lemma-1",
          "explores more than declared, which is judged by the nominal gamma_t"),
    plays("counter one late", predicting(broken.counter_late), "algorithm-1 lemma-1",
          "gamma / sqrt(n - 1): Lemma 1 is tight where the loss is 0 but for gamma_t"),
    plays("counter one early", predicting(broken.counter_early), "algorithm-1 bound-9",
          "gamma / sqrt(n + 1): (9) is tight for a label that one action observes"),
    plays("counter stopped", predicting(broken.counter_stopped), "algorithm-1 lemma-1",
          "the rate never falls"),
    plays("counts every round", predicting(broken.counts_every_round), "algorithm-1 bound-9",
          "rounds with a revealing best label lower the rate too"),
    plays("rate not capped", predicting(broken.rate_not_capped), "algorithm-1 lemma-1",
          "more than half of a round explores, at the start only"),
    plays("explores when revealing", with_parameters(broken.nothing_reveals),
          "algorithm-1 bound-9 lemma-1 lemma-2",
          "wasted where gamma_t is 0, and it counts these rounds"),
    plays("dominating set lacks a vertex", with_parameters(broken.vertex_missing),
          "algorithm-1 bound-9", "a label is then observed by the best one or by chance only"),
    plays("spreads the gap over S", predicting(broken.spreads_the_gap_over_s),
          "algorithm-1 lemma-1", "labels outside S get too little when the gap is large"),
    plays("plays the runner-up", predicting(broken.plays_the_runner_up),
          "algorithm-1 bound-9 lemma-1 lemma-2", "the mixture leans to the wrong label"),
    plays("ties to the last index", predicting(broken.ties_to_the_last), "survives",
          "a second control: the paper says argmax, and names no index"),
    plays("sum off by 1e-6", predicting(broken.sum_off), "refused",
          "no distribution: the game names the round and stops"),
)  # fmt: skip

LEARNS = (
    learns("weight dropped", broken.weight_dropped, "guarantee-4 updates",
           "believes in the label that is seen more often; no mistake of one round"),
    learns("weight of the action", broken.weight_of_the_action, "guarantee-4 updates",
           "1/p(action) counts a label once for each action that sees it"),
    learns("weight of the best label", broken.weight_of_the_best, "guarantee-4 updates",
           "1/p(y*) is about 1, like no weight at all"),
    learns("weight at most 4", broken.weight_clipped, "updates",
           "a common remedy against large steps; (4) has room for it"),
    learns("gradient sign", broken.gradient_sign, "guarantee-4 lemma-2 updates",
           "climbs; Lemma 2 sees it with full information, elsewhere what it allows grows with v"),
    learns("runner-up frozen", broken.runner_up_frozen, "guarantee-4 lemma-2 updates",
           "no row ever falls, so the ball holds no weights of margin 1 for K = 2"),
    learns("learns from mistakes only", broken.only_mistakes, "guarantee-4 lemma-2 updates",
           "a perceptron: its margins stay small, and their losses add up"),
    learns("half steps", resized_step(0.5), "guarantee-4 lemma-2 updates",
           "the projection takes them for whole ones and shrinks the weights too far"),
    learns("double steps", resized_step(2.0), "updates", "another constant, inside the room of (4)"),
    learns("no projection", UnprojectedDescent.step, "guarantee-4 lemma-2 updates",
           "on the alternating sequence it leaves the declared ball too far to come back"),
    learns("forgets to shrink", broken.never_shrinks, "guarantee-4 lemma-2 updates",
           "takes the norm for projected when the weights are not; alternating labels show it"),
    learns("another optimiser", FollowTheRegularisedLeader.step, "updates",
           "its own h is 6 B; here it keeps to the declared 2 sqrt(2) B as well"),
    learns("believes its guess", broken.believes_its_guess, "updates",
           "unseen labels are taken to be the best one; a small step that (4) has room for"),
    learns("steps without a label", broken.steps_without_a_label, "updates",
           "gets UNSEEN and a gradient of NaN, and so do its weights: nothing else can be judged"),
    Mutant("freezes late", updating_late(frozen_late), "updates",
           "after 450 labels it learns no more, which is too late for many a sum", learns=True),
    Mutant("drops the weight late", updating_late(unweighted_late), "guarantee-4 updates",
           "after 450 labels 1/P is taken for 1", learns=True),
    Mutant("stops projecting late", updating_late(unprojected_late), "updates",
           "after 450 labels no step ends on the ball", learns=True),
    learns("would learn from unseen labels", broken.learns_if_it_can, "survives",
           "impossible: the game hands it UNSEEN and NaN, so it equals the control"),
)  # fmt: skip

MUTANTS = (*PLAYS, *LEARNS)


def settings(mutant: Mutant) -> list[Setting]:
    """The battery, with seed 0: chosen scores for what is played; for what is learnt short games, and three
    longer ones on which (4) leaves little room."""
    moving = Broken(gamma=1.0, name=mutant.name, change=mutant.change)
    exploring = Broken(gamma=100.0, name=mutant.name, change=mutant.change)
    found = []
    for graph in ("bandit", "filtering", "random:density=0.5,seed=2"):
        if not mutant.learns:
            still = Broken(
                optimiser=StandStill(), gamma=2.0, name=mutant.name, change=mutant.change
            )
            found.append(Setting(still, "crafted-scores:n_labels=4", graph, 1500, None, 1))
        found.append(Setting(moving, "one-hot:n_labels=4,noise=0.1", graph, 400, None, 2))
    return [
        *found,
        Setting(moving, "one-hot:n_labels=2", "full", 2000, None, 1),
        Setting(moving, "alternation", "full", 512, 1.0, 1),
        Setting(exploring, Crowd(), CROWDED, 3000, None, 1),
    ]


def judge(mutant: Mutant) -> list[suite.Row]:
    """All rows of the battery."""
    return [
        row
        for setting in settings(mutant)
        for row in suite.judge_job(suite.Job(setting, CLAIMS, users=True), 0)
    ]


def refuting(rows: list[suite.Row]) -> frozenset[str]:
    """Names of the claims that are proved of what the learner declares, and refuted."""
    return frozenset(row.claim.rpartition("/")[2] for row in rows if row.surprising)


def judge_plain(learner: type[broken.Peeker]) -> list[suite.Row]:
    """The same claims of a learner in plain Python, on one short game with seed 0."""
    played = UserLearner(learner, learner.__name__)
    setting = Setting(played, "one-hot:n_labels=4,noise=0.1", "bandit", 60, None, 1)
    return suite.judge_job(suite.Job(setting, CLAIMS, users=True), 0)
