"""Sets of actions that together observe every label: the smallest one, and a greedy one."""

from __future__ import annotations

from math import ceil

import numpy as np
import scipy

from ..arrays import BoolArray
from ..errors import require

#: With more actions than this a smallest set is not searched for; the greedy one serves.
EXACT_ACTIONS = 60


def dominating_set(observes: BoolArray) -> tuple[tuple[int, ...], bool]:
    """Return a set of actions observing every label, and whether it is known to be a smallest one.

    ``observes`` has shape (n_actions, n_labels) and no empty column.
    """
    n_actions, n_labels = observes.shape
    by_need = int(_sole_observers(observes).sum())
    by_size = ceil(n_labels / int(observes.sum(axis=1).max()))
    at_least = max(by_need, by_size)
    if at_least > 1 and n_actions <= EXACT_ACTIONS:
        return minimum_dominating_set(observes), True
    greedy = greedy_dominating_set(observes)
    return greedy, len(greedy) == at_least


def minimum_dominating_set(observes: BoolArray) -> tuple[int, ...]:
    """Return the lexicographically first of the smallest sets of actions observing every label.

    ``observes`` has shape (n_actions, n_labels) and no empty column. Exact, by integer programming.
    """
    taken = _sole_observers(observes)
    allowed = np.ones(len(observes), dtype=np.bool_)
    best = _smallest_cover(observes, taken, allowed)
    for action in np.flatnonzero(~taken):
        if taken.sum() == best.sum():
            break
        if not best[action]:
            tried = taken.copy()
            tried[action] = True
            cover = _smallest_cover(observes, tried, allowed)
            if cover.sum() > best.sum():
                allowed[action] = False
                continue
            best = cover
        taken[action] = True
    return tuple(int(action) for action in np.flatnonzero(best))


def greedy_dominating_set(observes: BoolArray) -> tuple[int, ...]:
    """Return a dominating set by always adding the action that observes most labels still unseen.

    Ties go to the smallest action. Its size is at most (ln K + 1) rho (V. Chvatal, "A Greedy
    Heuristic for the Set-Covering Problem", 1979), but can
    exceed (ln rho + 2) rho.
    """
    unseen = np.ones(observes.shape[1], dtype=np.bool_)
    chosen: list[int] = []
    while unseen.any():
        action = int(np.argmax(observes[:, unseen].sum(axis=1)))
        require(
            bool(observes[action, unseen].any()),
            f"no action observes label {np.flatnonzero(unseen)[0]}: "
            "expected every label to be observed by some action",
        )
        chosen.append(action)
        unseen &= ~observes[action]
    return tuple(sorted(chosen))


def _sole_observers(observes: BoolArray) -> BoolArray:
    """Return which actions alone observe some label, and so are in every dominating set."""
    return np.asarray(observes[:, observes.sum(axis=0) == 1].any(axis=1), dtype=np.bool_)


def _smallest_cover(observes: BoolArray, taken: BoolArray, allowed: BoolArray) -> BoolArray:
    """Return a smallest set of allowed actions, with those taken, observing every label."""
    n_actions, _ = observes.shape
    if taken.any() and observes[taken].any(axis=0).all():
        return taken.copy()
    solution = scipy.optimize.milp(
        np.ones(n_actions),
        integrality=np.ones(n_actions, dtype=np.int64),
        bounds=scipy.optimize.Bounds(taken.astype(np.float64), allowed.astype(np.float64)),
        constraints=scipy.optimize.LinearConstraint(observes.T.astype(np.float64), 1.0, np.inf),
        options={"mip_rel_gap": 0.0},
    )
    if solution.status != 0 or solution.x is None:
        raise RuntimeError(f"no smallest dominating set was found: {solution.message}")
    cover = np.asarray(solution.x > 0.5, dtype=np.bool_)
    if solution.mip_dual_bound <= cover.sum() - 1:
        raise RuntimeError("a dominating set was found, but not shown to be a smallest one")
    return cover
