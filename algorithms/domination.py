"""Sets of actions that together observe every label: the smallest one, and a greedy one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from ..errors import require

BoolArray = NDArray[np.bool_]


def minimum_dominating_set(observes: BoolArray) -> tuple[int, ...]:
    """Return the lexicographically first of the smallest sets of actions observing every label.

    ``observes`` has shape (n_actions, n_labels) and no empty column. Exact, by integer programming.
    """
    # An action that alone observes some label is in every dominating set.
    taken = observes[:, observes.sum(axis=0) == 1].any(axis=1)
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
    Heuristic for the Set-Covering Problem", 1979), but can exceed the (ln rho + 2) rho of the paper.
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


def _smallest_cover(observes: BoolArray, taken: BoolArray, allowed: BoolArray) -> BoolArray:
    """Return a smallest set of allowed actions, with those taken, observing every label."""
    n_actions, _ = observes.shape
    if taken.any() and observes[taken].any(axis=0).all():
        return taken.copy()
    solution = milp(
        np.ones(n_actions),
        integrality=np.ones(n_actions),
        bounds=Bounds(taken.astype(np.float64), allowed.astype(np.float64)),
        constraints=LinearConstraint(observes.T.astype(np.float64), 1.0, np.inf),
        options={"mip_rel_gap": 0.0},
    )
    if solution.status != 0 or solution.x is None:
        raise RuntimeError(f"no smallest dominating set was found: {solution.message}")
    return np.asarray(solution.x > 0.5, dtype=np.bool_)
