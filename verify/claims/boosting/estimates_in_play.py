"""Rounds of boosters in play: each label and each action is tried from the same position.

=================  =======================================================
symbol             name here
=================  =======================================================
s^{i-1}_t          ``before``, shape (N, k)
N - i              ``remaining``
c-hat^i_t          ``told``, before it is divided by ``scales``
=================  =======================================================

The booster plays a few rounds of its sequence, and the last of them is enumerated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....algorithms.boosting.adaptive import LIMIT
from ....arrays import FloatArray
from ...author import Check
from ...exact.boosting import costs, decimal
from ...games.labels.case import Case
from .enumerated import ROUNDING, most_remaining
from .hypotheses import booster, divides_by_most, explores, votes

ROUNDS = 6
"""The most rounds that are played."""


@dataclass(frozen=True)
class Branch:
    """A round of a booster with a label and an action.

    Attributes
    ----------
    label, action, probability : which, and how likely the action is
    before, boosting : the booster between prediction and update, and after the round
    """

    label: int
    action: int
    probability: float
    before: Any
    boosting: Any


def branches(case: Case) -> Iterator[Branch]:
    """The last of a few rounds with each label in turn, and each action that can be drawn."""
    sequence, graph = case.sequence, case.graph
    last = min(sequence.horizon, ROUNDS) - 1
    dice = np.random.default_rng(case.seed)
    boosting: Any = booster(case).begin(case.problem, np.random.default_rng(case.seed))
    for t in range(last + 1):
        x = sequence.row(t)
        p = boosting.predict(x)
        if t < last:
            action, label = int(dice.choice(len(p), p=p)), int(sequence.labels[t])
            boosting.update(x, action, label if graph.observes[action, label] else None)
            continue
        for label in range(case.n_labels):
            for action in np.flatnonzero(p > 0).tolist():
                after = deepcopy(boosting)
                after.update(x, action, label if graph.observes[action, label] else None)
                yield Branch(label, action, float(p[action]), boosting, after)


def told_checks(case: Case) -> Iterator[Check]:
    """The mean of what the weak learners are told, over the draw, against the costs of the true label; nothing where
    they learn nothing."""
    means: dict[int, FloatArray] = {}
    boosting = None
    for branch in branches(case):
        boosting = branch.boosting
        if boosting.told is None:
            return
        told, weights = boosting.told
        size = told if explores(case) is None else told * weights[:, None]
        means[branch.label] = means.get(branch.label, 0.0) + branch.probability * size
    assert boosting is not None
    k = case.n_labels
    size = 1.0 if explores(case) is not None else k / case.declaration.number("rho")
    for label, mean in means.items():
        for i, row in enumerate(mean):
            stated = _stated(case, boosting, i, label)
            if stated is None:
                continue
            if explores(case) is not None:  # full information: the costs less that of the label
                stated = stated - stated[label]
            what = f"the mean cost that weak learner {i} is told for label {label}"
            yield Check(what, row.tolist(), stated.tolist(), ROUNDING * size)


def _stated(case: Case, boosting: Any, i: int, label: int) -> FloatArray | None:
    """The costs divided by their scale; None where too many votes are to come."""
    k, before = case.n_labels, boosting.before[i].tolist()
    if votes(case) is not None:
        return np.array(_gradient(before, label)) / (k * (k - 1))
    remaining = boosting.n_learners - 1 - i
    if remaining > most_remaining(k):
        return None
    made = booster(case).potentials(k)
    exact = costs(before, label, remaining, decimal(made.edge), made.ties)
    scale = k - 1.0 if divides_by_most(case) else float(booster(case).scales(k)[i])
    return np.array([float(c) for c in exact]) / scale


def step_checks(case: Case) -> Iterator[Check]:
    """The mean move of the weights of AdaBandit, over the draw, against the slope for the true label."""
    k, rho = case.n_labels, case.declaration.number("rho")
    moves: dict[int, FloatArray] = {}
    start, clipped = None, np.zeros(0, dtype=bool)
    for branch in branches(case):
        start, after = branch.before, branch.boosting.alphas
        moved = branch.probability * (after - start.alphas)
        moves[branch.label] = moves.get(branch.label, 0.0) + moved
        clipped = (np.abs(after) >= LIMIT) | (clipped if clipped.size else np.zeros_like(after) > 0)
    assert start is not None
    step = booster(case).first_step(k, rho) / math.sqrt(start.round)
    for label, moved in moves.items():
        for i in np.flatnonzero(~clipped).tolist():
            at, predicted = start.before[i].tolist(), int(start.labels[i])
            at[predicted] += float(start.alphas[i])
            what = f"the mean step of the weight of weak learner {i} for label {label}"
            stated = -step * _gradient(at, label)[predicted]
            yield Check(what, [float(moved[i])], [stated], ROUNDING * step * k * k / rho)


def _gradient(scores: list[float], label: int) -> list[float]:
    """Gradient of the logistic loss, in floats."""
    found = [1 / (1 + math.exp(scores[label] - s)) for s in scores]
    found[label] = -(math.fsum(found) - 0.5)
    return found
