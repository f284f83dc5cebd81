"""Costs of boost-by-majority inside a kernel: computed once for each state of the vote, and kept in plain arrays.

The costs depend on the votes only through their differences in ascending order and on how many votes are to come. A
slot holds those numbers as its key beside the costs, so what is found is right whatever else was kept, and costs that
are computed again have the same bits.
"""

from __future__ import annotations

import math
import threading
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...arrays import FloatArray, IntArray
from ...compiled import CUBE, INT_MATRIX, VECTOR, helper
from .elections import fill_costs
from .potentials import Potentials

BYTES = 1 << 26
"""Memory for the costs kept, at most; pages that no costs were put into take none."""

SLOTS = 1 << 16
PROBES = 8
"""Slots that are looked at before costs are given up for others."""


class Cache(NamedTuple):
    """The arrays, in the order in which kernels take them.

    Attributes
    ----------
    ranking : of the votes so far: them in ascending order, which label is there, and where each label is; shape (3, k)
    places : where the table for n votes to come starts in ``tables``, and its number of nodes; shape (N, 2)
    tables : the tables that elections.py describes
    tie_weights : weights of the nodes of ties
    keys : votes to come plus 1, or 0 for an empty slot, then the differences; shape (slots, k + 1)
    kept : costs of ranked labels, shape (slots, k, k)
    work : room for the computation
    """

    ranking: IntArray
    places: IntArray
    tables: FloatArray
    tie_weights: FloatArray
    keys: IntArray
    kept: FloatArray
    work: FloatArray


CACHE = {
    "ranking": INT_MATRIX,
    "places": INT_MATRIX,
    "tables": VECTOR,
    "tie_weights": VECTOR,
    "keys": INT_MATRIX,
    "kept": CUBE,
    "work": CUBE,
}


def cache_of(potentials: Potentials, n_learners: int, *, interpreted: bool = False) -> Cache:
    """The costs for votes of ``n_learners``, shared by all that this thread plays with the same potentials.

    What plain Python and compiled code computed is kept apart, so that they can be compared.
    """
    return _cache_of(potentials, n_learners, interpreted, threading.get_ident())


@lru_cache(maxsize=4)
def _cache_of(potentials: Potentials, n_learners: int, interpreted: bool, thread: int) -> Cache:
    k = potentials.n_labels
    found = [potentials.table(n) for n in range(n_learners)]
    sizes = [len(table) for _, table in found]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    nodes = [count for count, _ in found]
    slots = min(SLOTS, 1 << int(math.log2(BYTES / (8 * (k * k + k + 1)))))
    return Cache(
        np.zeros((3, k), dtype=np.int64),
        np.stack([starts, np.array(nodes)], axis=1).astype(np.int64),
        np.concatenate([table for _, table in found]),
        potentials.tie_weights,
        np.zeros((slots, k + 1), dtype=np.int64),
        np.zeros((slots, k, k)),
        np.empty((2, k + 3, max(nodes))),
    )


def no_cache() -> Cache:
    """For boosters that need no potentials."""
    flat, square, cube = np.zeros(0), np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0, 0))
    return Cache(square, square, flat, flat, square, cube, cube)


@helper
def open_vote(ranking: IntArray) -> None:
    """Set all votes to 0."""
    for label in range(ranking.shape[1]):
        ranking[0, label] = 0
        ranking[1, label] = label
        ranking[2, label] = label


@helper
def cast_vote(label: int, ranking: IntArray) -> None:
    """Count a vote for ``label``, which passes the labels that it was level with."""
    before = ranking[2, label]
    after = before
    while after + 1 < ranking.shape[1] and ranking[0, after + 1] == ranking[0, before]:
        after += 1
    passed = ranking[1, after]
    ranking[1, before], ranking[2, passed] = passed, before
    ranking[1, after], ranking[2, label] = label, after
    ranking[0, after] += 1


@helper
def find_costs(
    remaining: int,
    ranking: IntArray,
    places: IntArray,
    tables: FloatArray,
    tie_weights: FloatArray,
    keys: IntArray,
    kept: Any,
    work: Any,
) -> int:
    """The slot with the costs of the next vote, after which ``remaining`` are to come."""
    k, mask = ranking.shape[1], keys.shape[0] - 1
    mixed = remaining + 1
    for rank in range(1, k):
        mixed = (mixed * 1_000_003 + ranking[0, rank] - ranking[0, 0]) & 0xFFFFFFFF
    home: int = (mixed ^ (mixed >> 15)) & mask
    for probe in range(PROBES):
        slot: int = (home + probe) & mask
        same = keys[slot, 0] == remaining + 1
        if same:
            for rank in range(k):
                if keys[slot, rank + 1] != ranking[0, rank] - ranking[0, 0]:
                    same = False
        if same:
            return slot
        if keys[slot, 0] == 0:
            break
        slot = home
    keys[slot, 0] = remaining + 1
    for rank in range(k):
        keys[slot, rank + 1] = ranking[0, rank] - ranking[0, 0]
    start, nodes = places[remaining, 0], places[remaining, 1]
    fill_costs(ranking[0], remaining, nodes, tables[start:], tie_weights, work, kept[slot])
    return slot
