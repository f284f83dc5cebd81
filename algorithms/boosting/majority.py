"""Boosting by majority: OnlineMBBM with full information and BanditBBM with bandit feedback.

The label with most votes of the weak learners wins. Learner i is told the potentials of the votes before its own with
one more for each label, N - i votes being still to come; BanditBBM tells an estimate of it.

==============  =====================================================================
symbol          name here
==============  =====================================================================
gamma           ``gamma``, the edge that the potentials count on
w^{i*}          ``scales``: the largest weight, k - 1 (``trivial``) or by enumeration (``exact``)
rho             ``rho``, the exploration rate
==============  =====================================================================

tuning     rho
=========  =====================================================================
default    min{1/2, k^(7/4) N^(1/4) / sqrt(T)}, the paper's
ones       min{1/2, 1 / sqrt(T)}
theory     that of ``default``
=========  =====================================================================

With ties broken at random the potentials count them so, otherwise as an error, which the lowest index can only
improve on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np

from ...arrays import FloatArray, IntArray
from ...compiled import kernel, workspace
from ...errors import check_size
from ..baseline import NOTHING
from ..learner import Player, Problem
from .booster import BanditBooster, Booster, ready
from .boosting import (
    ASSESS,
    BEST,
    LEARNS,
    RANDOM,
    REVEALED,
    RHO,
    ROUND,
    SCALE,
    VOTE,
    Boosting,
    Generator,
    assess_losses,
    highest,
    share_out,
)
from .cache import cache_of, cast_vote, find_costs, open_vote
from .estimates import explore
from .potentials import Potentials

SCALES = ("trivial", "exact")


@dataclass(frozen=True)
class _Majority(Booster):
    gamma: Annotated[float, "[0, 1)"] = 0.1
    scale: Annotated[str, SCALES] = "trivial"

    def potentials(self, n_labels: int) -> Potentials:
        """The potentials, with the tie rule that goes with that of the vote."""
        return Potentials(n_labels, self.gamma, "random" if self.ties == "random" else "error")

    def begin(self, problem: Problem, generator: Generator, *, interpreted: bool = False) -> Voting:
        return Voting(self, problem, generator, interpreted)

    def scales(self, n_labels: int) -> FloatArray:
        """The divisors of the weights of each weak learner, shape (N,)."""
        if self.scale == "trivial":
            return np.full(self.learners, n_labels - 1.0)
        return _largest_weights(self.potentials(n_labels), self.learners)


@lru_cache(maxsize=32)
def _largest_weights(potentials: Potentials, n_learners: int) -> FloatArray:
    return np.array([potentials.largest_weight(i, n_learners - 1 - i) for i in range(n_learners)])


@kernel(VOTE)
def _vote(
    dice: FloatArray,
    parameters: FloatArray,
    labels: IntArray,
    scores: Any,
    counts: IntArray,
    p: FloatArray,
) -> None:
    n, k = labels.shape[0], p.shape[0]
    counts[ROUND] += 1
    for i in range(n):
        for label in range(k):
            scores[i + 1, label] = scores[i, label]
        scores[i + 1, labels[i]] += 1.0
    at_random = parameters[RANDOM] > 0.0
    counts[BEST] = highest(scores[n], dice[0] if at_random else 0.0, at_random)
    explore(counts[BEST], parameters[RHO], p)


@kernel(ASSESS)
def _assess(
    action: int,
    label: int,
    parameters: FloatArray,
    labels: IntArray,
    learners: Any,
    counts: IntArray,
    losses: FloatArray,
    p: FloatArray,
    costs: Any,
    weights: FloatArray,
    ranking: Any,
    places: Any,
    tables: FloatArray,
    tie_weights: FloatArray,
    keys: Any,
    kept: Any,
    work: Any,
) -> None:
    n, k, revealed = labels.shape[0], p.shape[0], parameters[REVEALED] > 0.0
    assess_losses(action, label, counts[BEST], revealed, p, losses)
    if parameters[LEARNS] == 0.0:
        return
    estimate = workspace(k)
    open_vote(ranking)
    for i in range(n):
        slot = find_costs(n - 1 - i, ranking, places, tables, tie_weights, keys, kept, work)
        for rank in range(k):
            estimate[rank] = 0.0
        for row in range(k):
            share = 1.0 - losses[ranking[1, row]]
            if share != 0.0:
                for rank in range(k):
                    estimate[rank] += share * kept[slot, row, rank]
        for rank in range(k):
            costs[i, ranking[1, rank]] = estimate[rank]
        if revealed:
            weights[i] = share_out(label, learners[SCALE, i], costs[i])
        else:
            weights[i] = 1.0
            for r in range(k):
                costs[i, r] /= learners[SCALE, i]
        cast_vote(labels[i], ranking)


class Voting(Boosting):
    """A booster by majority in play."""

    vote, assess = _vote, _assess

    def __init__(
        self, booster: _Majority, problem: Problem, generator: Generator, interpreted: bool
    ) -> None:
        super().__init__(booster, problem, generator, interpreted)
        self.potentials = booster.potentials(self.n_labels)
        if self.learns:
            n, k = self.n_learners, self.n_labels
            check_size(f"costs of {k} labels", k, k)
            nodes = (k + 1) // 2 if self.random_ties else 1
            check_size(f"potentials of learners={n}", n, n, n // 3 + 1, 1 + nodes)
            self.memory.learners[SCALE] = booster.scales(self.n_labels)
            self.cache = cache_of(self.potentials, self.n_learners, interpreted=interpreted)

    @property
    def own_dice(self) -> int:
        return int(self.random_ties)

    @property
    def before(self) -> IntArray:
        """Votes before that of each weak learner, shape (N, k)."""
        return self.memory.scores[:-1].astype(np.int64)


@dataclass(frozen=True)
class OnlineMBBM(_Majority):
    """OnlineMBBM: boosting by majority with full information.

    Parameters
    ----------
    gamma : edge of the weak learners, in [0, 1)
    scale : "trivial" or "exact", what weights are divided by so that they lie in [0, 1]

    Raises
    ------
    UserError
        for a parameter out of range
    """

    tunings: ClassVar[Mapping[str, str]] = NOTHING

    def player(self, problem: Problem) -> Player:
        return ready(self, problem)


@dataclass(frozen=True)
class BanditBBM(BanditBooster, _Majority):
    """BanditBBM: boosting by majority with bandit feedback.

    Parameters
    ----------
    gamma, scale : as those of :class:`OnlineMBBM`

    Raises
    ------
    UserError
        for a parameter out of range
    """

    tunings: ClassVar[Mapping[str, str]] = {
        "default": "rho = min{1/2, k^(7/4) N^(1/4) / sqrt(T)}",
        "ones": "rho = min{1/2, 1/sqrt(T)}",
        "theory": "that of default",
    }

    def numbers(self, problem: Problem) -> dict[str, float]:
        if self.rho is not None:
            return {"rho": self.rho}
        factor = 1.0
        if self.tuning != "ones":
            factor = math.pow(problem.n_labels, 1.75) * math.pow(self.learners, 0.25)
        return {"rho": min(0.5, factor / math.sqrt(problem.horizon))}

    def player(self, problem: Problem) -> Player:
        return ready(self, problem)
