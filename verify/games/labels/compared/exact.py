"""What is asked of a comparator without rounding: its norm, its margin, and whether it separates the rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from collections.abc import Sequence as Items
from fractions import Fraction

import numpy as np

from .....adversaries.sequence import Comparator, Sequence
from .....arrays import FloatArray

EXACT = 2.0**52  # whole numbers below it are floats, and so are their sums and differences


def is_within(weights: FloatArray, bound: float) -> bool:
    """True if the Frobenius norm of these floats is at most the bound, in exact arithmetic."""
    squares = sum(Fraction(entry) ** 2 for entry in weights.ravel().tolist())
    return squares <= Fraction(bound) ** 2


def margin(sequence: Sequence, comparator: Comparator) -> float:
    """Return the smallest margin, the label's score minus the highest other one, in any round."""
    scores = comparator.scores(sequence)
    rounds = np.arange(sequence.horizon)
    own = scores[rounds, sequence.labels]
    scores[rounds, sequence.labels] = -np.inf
    return float((own - scores.max(axis=1)).min())


def whole_numbers(rows: Iterable[Items[Fraction]]) -> tuple[int, list[list[int]]]:
    """The least common denominator of fractions, and the fractions in units of one over it."""
    given = [tuple(row) for row in rows]
    unit = math.lcm(*(u.denominator for row in given for u in row))
    return unit, [[u.numerator * (unit // u.denominator) for u in row] for row in given]


def separates(sequence: Sequence, rows: Items[Items[Fraction]]) -> bool:
    """True if the weights ``rows``, one row per label, have margin at least 1 in every round, exactly.

    Floats with a bound on their rounding decide first; only rounds within it are added up, in whole numbers.
    """
    kinds = {row: i for i, row in enumerate(dict.fromkeys(tuple(row) for row in rows))}
    kind_of = np.array([kinds[tuple(row)] for row in rows])
    unit, whole = whole_numbers(kinds)
    # in units of 1 / unit the weights are whole numbers, and floats where they are not too large
    are_floats = max((abs(u) for row in whole for u in row), default=0) < EXACT
    weights = np.array(whole if are_floats else list(kinds), dtype=np.float64)
    least = float(unit if are_floats else 1)
    matrix, labels = sequence.matrix(), sequence.labels
    scores = np.asarray(matrix @ weights.T)
    sizes = np.asarray(abs(matrix) @ np.abs(weights).T)
    most = np.diff(sequence.indptr).max(initial=0)
    rounding = sizes * (int(most) + 4) * 2.0**-52
    if are_floats and sizes.max(initial=0.0) < EXACT and (sequence.values % 1 == 0).all():
        rounding = np.zeros_like(sizes)  # sums of whole numbers that are all floats
    at, own = np.arange(sequence.horizon), kind_of[labels]
    lone = np.bincount(kind_of)[own] == 1  # no other label has the same weights
    margins = []
    for rivals in (scores + rounding, scores - rounding):
        rivals[at[lone], own[lone]] = -np.inf
        margins.append(scores[at, own] - rivals.max(axis=1))
    room = rounding[at, own]
    if (margins[1] + room < least).any():
        return False
    seen = set()
    for t in np.flatnonzero(margins[0] - room < least):
        window = slice(int(sequence.indptr[t]), int(sequence.indptr[t + 1]))
        indices, values = sequence.indices[window].tolist(), sequence.values[window].tolist()
        key = (*indices, *values, int(own[t]))
        if key in seen:
            continue
        seen.add(key)
        ratios = [value.as_integer_ratio() for value in values]
        part = max((below for _, below in ratios), default=1)  # all are powers of two
        x = [above * (part // below) for above, below in ratios]
        exact = [sum(row[i] * v for i, v in zip(indices, x, strict=True)) for row in whole]
        others = [score for i, score in enumerate(exact) if i != own[t] or not lone[t]]
        if exact[own[t]] - max(others) < unit * part:
            return False
    return True
