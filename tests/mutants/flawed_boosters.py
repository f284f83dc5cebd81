"""Broken boosters: each declares itself like the right one and plays or learns otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from boundcheck.algorithms.boosting.adaptive import LIMIT, Following
from boundcheck.algorithms.boosting.booster import Booster
from boundcheck.algorithms.boosting.boosting import (
    ASSESS,
    BEST,
    EXPERT_LOSS,
    EXPERTS,
    HEDGE,
    RANDOM,
    REVEALED,
    RHO,
    ROUND,
    SCALE,
    STEP,
    VOTE,
    Boosting,
    assess_losses,
    highest,
    share_out,
)
from boundcheck.algorithms.boosting.cache import cast_vote, find_costs, open_vote
from boundcheck.compiled import Kernel, helper, kernel, workspace

Change = Callable[[Any, dict[str, Any], Any, Any, bool], Boosting]
"""From the right kind, its parameters, problem, generator and form to a booster in play."""

Spoil = Callable[[Any, np.ndarray, np.ndarray], None]


def flawed(right: Booster, name: str, change: Change) -> Booster:
    """The booster ``right``, changed after it has declared itself."""
    kind = type(right)
    given = {field.name: getattr(right, field.name) for field in fields(right)}

    def begin(self: Any, problem: Any, generator: Any, *, interpreted: bool = False) -> Boosting:
        return change(kind, given, problem, generator, interpreted)

    own = {"begin": begin, "spec": property(lambda self: f"flawed-{name}")}
    made: Booster = type(f"Flawed{kind.__name__}", (kind,), own)(**given)
    return made


def unchanged(kind: Any, given: Any, problem: Any, generator: Any, interpreted: bool) -> Boosting:
    return kind(**given).begin(problem, generator, interpreted=interpreted)


def with_other(**numbers: Any) -> Change:
    """Other parameters than the declared ones."""

    def change(kind: Any, given: Any, problem: Any, generator: Any, interpreted: bool) -> Boosting:
        return unchanged(kind, given | numbers, problem, generator, interpreted)

    return change


def with_slot(slot: int, number: float) -> Change:
    """Another number in a slot of ``parameters`` than the declared one."""

    def change(kind: Any, given: Any, problem: Any, generator: Any, interpreted: bool) -> Boosting:
        found = unchanged(kind, given, problem, generator, interpreted)
        found.memory.parameters[slot] = number
        return found

    return change


def with_kernels(**kernels: Any) -> Change:
    """Kernels in place of those that vote and assess."""

    def change(kind: Any, given: Any, problem: Any, generator: Any, interpreted: bool) -> Boosting:
        found = unchanged(kind, given, problem, generator, interpreted)
        vars(found).update(kernels)
        return found

    return change


def with_spoiled_assess(before: Spoil | None = None, after: Spoil | None = None) -> Change:
    """``before(boosting, alphas, losses of the experts)`` and ``after``, with the same numbers, around what it learns.

    They are in plain Python, so the booster is played in this form.
    """

    def change(kind: Any, given: Any, problem: Any, generator: Any, interpreted: bool) -> Boosting:
        found: Any = unchanged(kind, given, problem, generator, True)
        right = found.assess

        def assess(*arguments: Any) -> None:
            numbers = found.alphas, found.losses_of_experts
            if before is not None:
                before(found, *numbers)
            right.python(*arguments)
            if after is not None:
                after(found, *numbers)

        found.assess = Kernel(assess, str(ASSESS))
        return found

    return change


def _vote(share_out: Callable[..., None]) -> Any:
    """The vote of the boosters by majority, with another way to explore."""
    inner = helper(share_out)

    @kernel(VOTE)
    def vote(dice, parameters, labels, scores, counts, p):
        n, k = labels.shape[0], p.shape[0]
        counts[ROUND] += 1
        for i in range(n):
            for label in range(k):
                scores[i + 1, label] = scores[i, label]
            scores[i + 1, labels[i]] += 1.0
        at_random = parameters[RANDOM] > 0.0
        counts[BEST] = highest(scores[n], dice[0] if at_random else 0.0, at_random)
        for label in range(k):
            p[label] = 0.0
        inner(counts[BEST], parameters[RHO], p)

    return vote


def _on_the_next_label(best, rho, p):
    p[(best + 1) % p.shape[0]] = rho
    p[best] = 1.0 - rho


def _on_the_first_other_label(best, rho, p):
    p[1 if best == 0 else 0] = rho
    p[best] = 1.0 - rho


explores_the_next = with_kernels(vote=_vote(_on_the_next_label))
explores_the_first = with_kernels(vote=_vote(_on_the_first_other_label))


@kernel(ASSESS)
def _assess_another(action, label, parameters, labels, scores, counts, losses, p):
    """The estimates of a booster by majority, for another label with as many votes as the one that won."""
    k, last = p.shape[0], labels.shape[0]
    for more in range(1, k):
        other = (counts[BEST] + more) % k
        if scores[last, other] == scores[last, counts[BEST]]:
            counts[BEST] = other
            break
    assess_losses(action, label, counts[BEST], parameters[REVEALED] > 0.0, p, losses)


redraws_ties = with_kernels(assess=_assess_another)


def _climb(boosting: Any, alphas: np.ndarray, losses: np.ndarray) -> None:
    boosting.alphas = np.clip(2 * alphas - boosting.alphas, -LIMIT, LIMIT)


def _blame_the_neighbour(boosting: Any, alphas: np.ndarray, losses: np.ndarray) -> None:
    boosting.memory.learners[EXPERT_LOSS] = losses + np.roll(boosting.losses_of_experts - losses, 1)


def follows_the_first(
    kind: Any, given: Any, problem: Any, generator: Any, interpreted: bool
) -> Boosting:
    """So far ahead at the start that no other expert is followed."""
    found = unchanged(kind, given, problem, generator, interpreted)
    found.memory.learners[EXPERT_LOSS, 0] = -1e6
    return found


def _stand_still(boosting: Any, alphas: np.ndarray, losses: np.ndarray) -> None:
    boosting.alphas = np.ones(len(alphas))


def _redraw_experts(boosting: Any, alphas: np.ndarray, losses: np.ndarray) -> None:
    """Other labels of the experts with as high scores, as if their ties had been drawn again."""
    for i, scores in enumerate(boosting.after):
        level = np.flatnonzero(scores == scores.max())
        at = int(np.argmax(level == boosting.experts[i]))
        boosting.memory.counts[EXPERTS + i] = level[(at + 1) % len(level)]


climbs = with_spoiled_assess(after=_climb)
blames_the_neighbour = with_spoiled_assess(after=_blame_the_neighbour)
never_moves = with_spoiled_assess(after=_stand_still)
steps_up = with_slot(STEP, -3.0)
explores_too_often = with_slot(RHO, 0.5)
draws_any_expert = with_slot(HEDGE, 0.0)
redraws_experts = with_spoiled_assess(before=_redraw_experts)


MISTOLD = (
    "nothing",
    "transposed",
    "wrong sign",
    "no importance weight",
    "costs of no votes",
    "told nothing",
)
"""What can be wrong with the costs that a booster by majority tells, by the number of :func:`tells`."""


@kernel(ASSESS)
def _assess_and_tell(
    action, label, parameters, labels, learners, counts, losses, p, costs, weights,
    ranking, places, tables, tie_weights, keys, kept, work,
):  # fmt: skip
    """That of the boosters by majority, with the flaw whose number comes after the parameters."""
    flaw, n, k, revealed = parameters[-1], labels.shape[0], p.shape[0], parameters[REVEALED] > 0.0
    assess_losses(action, label, counts[BEST], revealed, p, losses)
    estimate = workspace(k)
    open_vote(ranking)
    for i in range(n):
        slot = find_costs(n - 1 - i, ranking, places, tables, tie_weights, keys, kept, work)
        for rank in range(k):
            estimate[rank] = 0.0
        for row in range(k):
            loss = losses[ranking[1, row]]
            if flaw == 3.0:
                loss = 1.0 if loss > 0.0 else 0.0
            for rank in range(k):
                entry = kept[slot, rank, row] if flaw == 1.0 else kept[slot, row, rank]
                estimate[rank] += (1.0 - loss) * entry
        for rank in range(k):
            costs[i, ranking[1, rank]] = 0.0 if flaw == 5.0 else estimate[rank]
        if revealed:
            weights[i] = share_out(label, learners[SCALE, i], costs[i])
        else:
            weights[i] = 1.0
        for r in range(k):
            if not revealed:
                costs[i, r] /= learners[SCALE, i]
            costs[i, r] *= -1.0 if flaw == 2.0 else 1.0
        if flaw != 4.0:
            cast_vote(labels[i], ranking)


_assess_adaptively = helper(Following.assess.function)


@kernel(ASSESS)
def _adapt_and_tell(
    action, label, parameters, labels, scores, learners, counts, losses, p, costs, weights,
    ranking, places, tables, tie_weights, keys, kept, work,
):  # fmt: skip
    """That of the adaptive boosters, with one of the first three flaws; compiled only."""
    flaw, n, k, revealed = parameters[-1], labels.shape[0], p.shape[0], parameters[REVEALED] > 0.0
    _assess_adaptively(
        action, label, parameters, labels, scores, learners, counts, losses, p, costs, weights,
        ranking, places, tables, tie_weights, keys, kept, work,
    )  # fmt: skip
    for i in range(n):
        if flaw == 1.0:
            for r in range(k):
                costs[i, r] = 0.0
            for row in range(k):
                for r in range(k):
                    if r != row:
                        slope = 1.0 / (1.0 + math.exp(scores[i, r] - scores[i, row]))
                        costs[i, r] += (1.0 - losses[row]) * slope
                        costs[i, row] -= (1.0 - losses[row]) * slope
            if revealed:
                weights[i] = share_out(label, learners[SCALE, i], costs[i])
            else:
                for r in range(k):
                    costs[i, r] /= learners[SCALE, i]
        if flaw == 2.0:
            for r in range(k):
                costs[i, r] *= -1.0


def tells(flaw: str) -> Change:
    """A booster that tells its weak learners other costs, one of ``MISTOLD``, an adaptive one of the first three."""

    def change(kind: Any, given: Any, problem: Any, generator: Any, interpreted: bool) -> Boosting:
        found: Any = unchanged(kind, given, problem, generator, interpreted)
        found.assess = _adapt_and_tell if isinstance(found, Following) else _assess_and_tell
        parameters = np.append(found.memory.parameters, float(MISTOLD.index(flaw)))
        found.memory = found.memory._replace(parameters=parameters)
        return found

    return change
