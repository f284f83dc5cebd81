"""Exploration rates of Gappletron in a block of rounds, and the rounding of its gap map.

=========  =========================================================================
symbol     name here
=========  =========================================================================
gamma_t    ``rates``
a_t        gap map, a function of the scores
=========  =========================================================================
"""

from __future__ import annotations

import numpy as np

from ....arrays import FloatArray
from ...games.labels.case import Case
from ...games.labels.rounds import Rounds
from ...games.labels.ties.best_label import GAP_SLOPE


def nominal_rates(rounds: Rounds) -> FloatArray:
    """gamma_t as the paper defines it for the declared gamma, shape (rounds,): min{1/2, gamma / sqrt(counter)},
    whatever the learner did; before the first counted round 1/2."""
    gamma = rounds.case.declaration["gamma"]
    return np.asarray(np.minimum(0.5, gamma / np.sqrt(np.maximum(rounds.counters, 1))))


def rates(rounds: Rounds) -> FloatArray:
    """gamma_t, shape (rounds,): the nominal rate in counted rounds, 0 in the others."""
    return np.where(rounds.explores, nominal_rates(rounds), 0.0)


def gap_rounding(rounds: Rounds) -> FloatArray:
    """Bound on how far the learner's gap map may lie from that of the game's scores, shape (rounds,).

    It is 0 for a learner that is given the scores. For one that computes them, margins differ by at most tau, the
    distance within which scores are tied.
    """
    return GAP_SLOPE * rounds.block.rounding


def rounding_of_round(rounds: Rounds, losses: FloatArray) -> FloatArray:
    """Bound on the rounding error of one round's sides; absolute, since 1 - p(y) is."""
    case = rounds.case
    share = 1e-9 if case.declaration.get("rule") is None else 1e-13 * (case.n_labels + 2)
    return np.asarray(share * (1 + losses) + 2 * gap_rounding(rounds))


def uniform_size(case: Case) -> int:
    """Size of the set that the gap map's uniform part covers: the labels under the mixture rule,
    all actions under the others (they differ in label-efficient graphs only)."""
    mixture = case.declaration.get("rule") == "mixture"
    return case.graph.n_labels if mixture else case.graph.n_actions
