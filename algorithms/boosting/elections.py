"""Kernels of the potentials: chances in an election whose votes to come are random.

``votes`` are those cast so far, of shape (k,), and n is how many are to come. ``own`` weights the counts of the label
in question among them so that the answers are given that all counts sum to n; ``potentials.py`` has the derivation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiled import helper, kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@helper
def _multiply(
    left: FloatArray, right: FloatArray, first: int, last: int, degree: int, out: FloatArray
) -> None:
    """Add to ``out`` the product of ``left`` and the terms ``first`` to ``last`` of ``right``, up to ``degree``."""
    for i in range(degree + 1):
        total = 0.0
        for v in range(first, last + 1):
            if v > i:
                break
            total += left[i - v] * right[v]
        out[i] += total


@kernel(
    # votes, label, Poisson weights of the label and of another label, nodes of ties, their weights, work (4, n + 1)
    "float64(int64[::1], int64, float64[::1], float64[::1], float64[::1], float64[::1], float64[:, ::1])"
)
def loses(
    votes: IntArray,
    label: int,
    own: FloatArray,
    other: FloatArray,
    nodes: FloatArray,
    node_weights: FloatArray,
    work: FloatArray,
) -> float:
    """Probability that ``label`` loses, by adding up the ways to lose."""
    n = own.shape[0] - 1
    alive, dead, next_alive, next_dead = work[0], work[1], work[2], work[3]
    answer = 0.0
    for x in range(nodes.shape[0]):
        for m in range(n + 1):
            degree = n - m
            for i in range(degree + 1):
                alive[i] = 0.0
                dead[i] = 0.0
            alive[0] = 1.0
            for j in range(votes.shape[0]):
                if j == label:
                    continue
                level = votes[label] + m - votes[j]
                for i in range(degree + 1):
                    next_alive[i] = 0.0
                    next_dead[i] = 0.0
                _multiply(alive, other, 0, level - 1, degree, next_alive)
                _multiply(alive, other, level + 1 if level >= 0 else 0, degree, degree, next_dead)
                if level >= 0:
                    for i in range(level, degree + 1):
                        tied = alive[i - level] * other[level]
                        next_alive[i] += nodes[x] * tied
                        next_dead[i] += (1.0 - nodes[x]) * tied
                _multiply(dead, other, 0, degree, degree, next_dead)
                for i in range(degree + 1):
                    alive[i] = next_alive[i]
                    dead[i] = next_dead[i]
            answer += node_weights[x] * own[m] * dead[degree]
    return answer


@helper
def _representative(votes: IntArray, label: int, row: int) -> int:
    """The first label but ``row`` that has as many votes as ``label``."""
    for vote in range(label):
        if vote != row and votes[vote] == votes[label]:
            return vote
    return label


@helper
def _times(
    work: Any, target: int, source: int, factor_real: FloatArray, factor_imaginary: FloatArray
) -> None:
    """Put the product of the numbers in ``source`` and a factor, both complex, into ``target``."""
    for q in range(factor_real.shape[0]):
        real, imaginary = work[0, source, q], work[1, source, q]
        work[0, target, q] = real * factor_real[q] - imaginary * factor_imaginary[q]
        work[1, target, q] = real * factor_imaginary[q] + imaginary * factor_real[q]


@helper
def _coefficient(work: Any, source: int, powers: Any, degree: int, weights: FloatArray) -> float:
    """The coefficient of z^degree of the polynomial with the values in ``source``."""
    total = 0.0
    for q in range(weights.shape[0]):
        total += weights[q] * (
            work[0, source, q] * powers[0, degree, q] + work[1, source, q] * powers[1, degree, q]
        )
    return total


@helper
def _fill_row(
    votes: IntArray,
    row: int,
    final: int,
    own: FloatArray,
    real: FloatArray,
    imaginary: FloatArray,
    powers: Any,
    weights: FloatArray,
    scale: float,
    work: Any,
    costs: FloatArray,
) -> None:
    """Take from the costs of label ``row`` the probability that it wins with ``final`` votes.

    Of ``work``, entry j is the product of the series of the labels from j on; entry k of none, entry k + 1 of those
    before the label in turn, entry k + 2 of all but that label. None has the series of ``row``.
    """
    k, full = votes.shape[0], own.shape[0]
    used = final - votes[row]
    for q in range(weights.shape[0]):
        work[0, k, q] = work[0, k + 1, q] = 1.0
        work[1, k, q] = work[1, k + 1, q] = 0.0
    for i in range(k):
        j = k - 1 - i
        level = final - votes[j]
        level = full if level > full else level
        if j == row:
            _times(work, j, j + 1, work[0, k], work[1, k])
        else:
            _times(work, j, j + 1, real[level], imaginary[level])
    if used > 0:
        costs[row, row] -= (
            scale * own[used - 1] * _coefficient(work, 0, powers, full - used, weights)
        )
    if used == full:
        return
    for vote in range(k):
        level = final - votes[vote]
        if vote != row and level > 0 and _representative(votes, vote, row) == vote:
            fewer = full if level > full else level - 1
            _times(work, k + 2, k + 1, work[0, vote + 1], work[1, vote + 1])
            _times(work, k + 2, k + 2, real[fewer], imaginary[fewer])
            wins = _coefficient(work, k + 2, powers, full - 1 - used, weights)
            costs[row, vote] -= scale * own[used] * wins
        level = full if level > full else level
        if vote != row:
            _times(work, k + 1, k + 1, real[level], imaginary[level])


@kernel(
    # votes in ascending order, Poisson weights of the label's count, series (2, nodes of ties, n + 2, nodes),
    # powers (2, n + 2, nodes), node weights, weights of ties, work (2, k + 3, nodes), costs (k, k) (filled)
    "void(int64[::1], float64[::1], float64[:, :, :, ::1], float64[:, :, ::1], float64[::1], float64[::1],"
    " float64[:, :, ::1], float64[:, ::1])"
)
def fill_costs(
    votes: IntArray,
    own: FloatArray,
    series: Any,
    powers: Any,
    weights: FloatArray,
    tie_weights: FloatArray,
    work: Any,
    costs: FloatArray,
) -> None:
    k, full = votes.shape[0], own.shape[0]
    for row in range(k):
        if row > 0 and votes[row] == votes[row - 1]:
            for vote in range(k):
                twin = row if vote == row - 1 else (row - 1 if vote == row else vote)
                costs[row, vote] = costs[row - 1, twin]
            continue
        highest = votes[k - 2] if row == k - 1 else votes[k - 1]
        for vote in range(k):
            costs[row, vote] = 1.0
        for used in range(full + 1):
            final = votes[row] + used
            if final < highest:
                continue  # too few, whoever gets the vote
            for x in range(tie_weights.shape[0]):
                _fill_row(
                    votes,
                    row,
                    final,
                    own,
                    series[0, x],
                    series[1, x],
                    powers,
                    weights,
                    tie_weights[x],
                    work,
                    costs,
                )
        for vote in range(k):
            if vote != row:
                costs[row, vote] = costs[row, _representative(votes, vote, row)]
