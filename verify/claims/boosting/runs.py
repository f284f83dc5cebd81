"""Runs of adaptive boosters, looked at from inside: what each weak learner and each expert did in every round.

=========  =====================================================================
symbol     name here
=========  =====================================================================
l^i_t      ``labels``, shape (T, N)
alpha^i_t  ``alphas``, the weights that the votes of the round had, shape (T, N)
yhat^i_t   ``experts``, shape (T, N)
v^i_t      ``shares``, by which Hedge followed the experts, shape (T, N)
yhat_t     ``best``, the label of the expert that was followed, shape (T,)
M_i        ``errors``: mistakes of expert i, shape (N,)
gamma_i    ``edges``, shape (N,)
W_i        ``weights``, what perfect predictions would have earned by the costs of the true label, shape (N,)
f^i_t      the logistic loss of the scores before vote i with ``alpha`` more for its label
=========  =====================================================================

Scores, losses and edges are computed here, from labels and weights alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from scipy.special import expit

from ....algorithms.boosting.adaptive import LIMIT
from ....algorithms.boosting.booster import Booster
from ....algorithms.boosting.boosting import ALPHA, BEST, EXPERT_LOSS, EXPERTS, HEDGE
from ....algorithms.boosting.logistic import cost_matrix, loss
from ....arrays import FloatArray, IntArray
from ....errors import LearnerError
from ...author import RunSides
from ...games.labels.case import Case
from ...games.labels.play import Run
from ...games.labels.record import ACTION

HALVINGS = 45
"""Bisections for the best weight: to 4 / 2^45."""


def numbers_at(case: Case, horizon: float) -> Mapping[str, float]:
    """The numbers that the booster would declare for another horizon, where its tuning sets other rates."""
    assert isinstance(case.learner, Booster)
    return case.learner.numbers(replace(case.problem, horizon=math.ceil(horizon)))


@dataclass(frozen=True)
class Inside:
    """One run; see the module for the arrays.

    Attributes
    ----------
    truth, played : the true labels and those played, shape (T,)
    """

    n_labels: int
    labels: IntArray
    alphas: FloatArray
    experts: IntArray
    shares: FloatArray
    best: IntArray
    truth: IntArray
    played: IntArray

    def until(self, rounds: int) -> Inside:
        """The first so many rounds of it."""
        if rounds == self.rounds:
            return self
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        cut = {name: x[:rounds] for name, x in arrays.items() if name != "n_labels"}
        return replace(self, **cut)

    @property
    def rounds(self) -> int:
        """T."""
        return len(self.truth)

    @property
    def learners(self) -> int:
        """N."""
        return int(self.labels.shape[1])

    @property
    def mistakes(self) -> int:
        """Rounds in which a wrong label was played."""
        return int((self.played != self.truth).sum())

    @cached_property
    def wrong(self) -> FloatArray:
        """1 where expert i errs, shape (T, N)."""
        return np.asarray(self.experts != self.truth[:, None], dtype=np.float64)

    @cached_property
    def errors(self) -> FloatArray:
        return np.asarray(self.wrong.sum(axis=0))

    @cached_property
    def before(self) -> FloatArray:
        """Scores before each vote, shape (T, N, k)."""
        votes = self.alphas[..., None] * (self.labels[..., None] == np.arange(self.n_labels))
        return np.asarray(votes.cumsum(axis=1) - votes)

    @cached_property
    def edges(self) -> FloatArray:
        """Cost of the predictions over that of perfect ones, by the costs of the true label."""
        costs = self._costs_of_truth
        told = np.take_along_axis(costs, self.labels[..., None], axis=2)[..., 0]
        return np.asarray(-told.sum(axis=0) / self.weights)

    @cached_property
    def weights(self) -> FloatArray:
        least = np.take_along_axis(self._costs_of_truth, self._truth[..., None], axis=2)[..., 0]
        return np.asarray(-least.sum(axis=0))

    @cached_property
    def _costs_of_truth(self) -> FloatArray:
        rows = np.arange(self.rounds)
        return np.stack(
            [cost_matrix(self.before[:, i])[rows, self.truth] for i in range(self.learners)],
            axis=1,
        )

    @cached_property
    def _truth(self) -> IntArray:
        return np.broadcast_to(self.truth[:, None], self.labels.shape)

    @cached_property
    def _leads(self) -> FloatArray:
        """Score of each label minus that of the true one, shape (T, N, k); -inf at the true one."""
        at = np.take_along_axis(self.before, self._truth[..., None], axis=2)
        leads = self.before - at
        np.put_along_axis(leads, self._truth[..., None], -np.inf, axis=2)
        return np.asarray(leads)

    def losses(self, alphas: FloatArray) -> FloatArray:
        """f^i_t at weights of shape (N,) or (T, N), shape (T, N)."""
        given = np.broadcast_to(alphas, self.labels.shape)
        votes = given[..., None] * (self.labels[..., None] == np.arange(self.n_labels))
        moved = self.before + votes
        total = np.zeros(self.labels.shape)
        for y in range(self.n_labels):
            mine = self.truth == y
            total[mine] = loss(moved[mine], y)
        return total

    def slopes(self, alphas: FloatArray) -> FloatArray:
        """Derivatives of f^i_t at weights of shape (N,) or (T, N), shape (T, N)."""
        given = np.broadcast_to(alphas, self.labels.shape)
        right = self.labels == self._truth
        lead = np.take_along_axis(self._leads, self.labels[..., None], axis=2)[..., 0]
        falls = -expit(self._leads - given[..., None]).sum(axis=2)
        return np.where(right, falls, expit(lead + given))

    @cached_property
    def best_alphas(self) -> FloatArray:
        """The weight in [-2, 2] with the least sum of losses, for each learner, shape (N,); the sum is convex."""
        low, high = np.full(self.learners, -LIMIT), np.full(self.learners, LIMIT)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            rises = self.slopes(middle).sum(axis=0) > 0
            low, high = np.where(rises, low, middle), np.where(rises, middle, high)
        return np.asarray((low + high) / 2)

    @cached_property
    def regrets(self) -> FloatArray:
        """Loss of the weights of the run beyond that of the best weight, shape (N,)."""
        least = self.losses(self.best_alphas).sum(axis=0)
        return np.asarray(self.losses(self.alphas).sum(axis=0) - least)

    @cached_property
    def largest_regrets(self) -> FloatArray:
        """The largest regrets that any weights in [-2, 2] could have on these votes, shape (N,)."""
        ends = np.maximum(
            self.losses(np.full(self.learners, LIMIT)), self.losses(np.full(self.learners, -LIMIT))
        )
        least = self.losses(self.best_alphas).sum(axis=0)
        return np.asarray(ends.sum(axis=0) - least)


def look_inside(case: Case, replicate: int, *, interpreted: bool = False) -> Inside:
    """Play a replicate, with the draws that the game would make, and write down what the booster did."""
    key = ("inside", replicate)
    if key not in case.kept:
        case.kept[key] = _play(case, replicate, interpreted)
    found: Inside = case.kept[key]
    return found


def inside(sides: Callable[[Case, Inside], RunSides]) -> Callable[[Case, int, bool], RunSides]:
    """Both sides of a statement about a run that is seen from inside, as a judge of runs asks for them."""
    return lambda case, run, interpreted: sides(
        case, look_inside(case, run, interpreted=interpreted)
    )


def _play(case: Case, run: int, interpreted: bool) -> Inside:
    learner, in_play = case.learner, Run(case.game, run, interpreted=interpreted)
    block = in_play.advance(case.horizon, trace=True)
    block.check(learner.spec)
    votes, truth = block.votes, block.labels
    assert votes is not None
    assert in_play.boosting is not None
    alphas, best = votes.learners[:, ALPHA], votes.counts[:, BEST]
    experts = _experts(case, votes.labels, alphas, votes.counts[:, EXPERTS:])
    chances = block.probabilities[np.arange(len(block)), best]
    most = block.probabilities.max(axis=1)
    if (chances < most).any():
        t = int(np.argmax(chances < most))
        raise LearnerError(
            f"{learner.spec} plays its best label {best[t]} with probability {chances[t]} in round {t}:"
            f" expected the largest, {most[t]}."
        )
    shares = _shares(votes.learners[:, EXPERT_LOSS], in_play.boosting.memory.parameters[HEDGE])
    played = block.column(ACTION).astype(np.int64)
    return Inside(case.n_labels, votes.labels, alphas, experts, shares, best, truth, played)


def _shares(losses: FloatArray, rate: float) -> FloatArray:
    """The probabilities that Hedge follows each expert, from their losses so far, shape (T, N)."""
    weights = np.exp(-rate * (losses - losses.min(axis=1, keepdims=True)))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _experts(case: Case, labels: IntArray, alphas: FloatArray, reported: IntArray) -> IntArray:
    """The labels with the highest scores after each vote, shape (T, N); of those that are level the one reported."""
    assert isinstance(case.learner, Booster)
    votes = alphas[..., None] * (labels[..., None] == np.arange(case.n_labels))
    scores = votes.cumsum(axis=1)
    found = scores.argmax(axis=2)
    if case.learner.ties == "random":
        legal = (reported >= 0) & (reported < case.n_labels)
        named = np.where(legal, reported, 0)[..., None]
        level = legal & (np.take_along_axis(scores, named, axis=2)[..., 0] == scores.max(axis=2))
        found = np.where(level, reported, found)
    wrong = (found != reported).any(axis=1)
    if wrong.any():
        t = int(np.argmax(wrong))
        raise LearnerError(
            f"{case.learner.spec} reports the experts {reported[t].tolist()} in round {t}: expected"
            f" {found[t].tolist()}, the labels with the highest scores."
        )
    return np.asarray(found)
