"""Kernels of the potentials: chances in an election whose votes to come are random.

``votes`` are those cast so far, of shape (k,), and n is how many are to come. ``own`` weights the counts of the label
in question among them so that the answers are given that all counts sum to n; ``potentials.py`` has the derivation.

The costs need many numbers for each n. They lie one after the other in a ``table``: n + 1 weights ``own``, then with Q
nodes on the circle Q node weights, (2, n + 2, Q) powers and, for each node of ties, (2, n + 2, Q) series, real parts
first.
"""

from __future__ import annotations

from typing import Any

from ...arrays import FloatArray, IntArray
from ...compiled import helper, kernel


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
    work: Any, target: int, source: int, real_factor: FloatArray, imaginary_factor: FloatArray
) -> None:
    """Put the product of the numbers in ``source`` and a factor, both complex, into ``target``."""
    for q in range(real_factor.shape[0]):
        real, imaginary = work[0, source, q], work[1, source, q]
        work[0, target, q] = real * real_factor[q] - imaginary * imaginary_factor[q]
        work[1, target, q] = real * imaginary_factor[q] + imaginary * real_factor[q]


@helper
def _times_series(
    work: Any, target: int, source: int, series: FloatArray, level: int, n: int, nodes: int
) -> None:
    """The same with the series that is cut off at ``level``."""
    real = level * nodes
    imaginary = real + (n + 2) * nodes
    _times(
        work,
        target,
        source,
        series[real : real + nodes],
        series[imaginary : imaginary + nodes],
    )


@helper
def _coefficient(
    work: Any, source: int, powers: FloatArray, degree: int, n: int, weights: FloatArray
) -> float:
    """The coefficient of z^degree of the polynomial with the values in ``source``."""
    nodes = weights.shape[0]
    real = degree * nodes
    imaginary = real + (n + 2) * nodes
    total = 0.0
    for q in range(nodes):
        total += weights[q] * (
            work[0, source, q] * powers[real + q] + work[1, source, q] * powers[imaginary + q]
        )
    return total


@helper
def _fill_row(
    votes: IntArray,
    row: int,
    final: int,
    own: FloatArray,
    weights: FloatArray,
    powers: FloatArray,
    series: FloatArray,
    scale: float,
    work: Any,
    costs: Any,
) -> None:
    """Take from the costs of label ``row`` the probability that it wins with ``final`` votes.

    Of ``work``, entry j is the product of the series of the labels from j on; entry k of none, entry k + 1 of those
    before the label in turn, entry k + 2 of all but that label. None has the series of ``row``.
    """
    k, full, nodes = votes.shape[0], own.shape[0], weights.shape[0]
    n, used = full - 1, final - votes[row]
    for q in range(nodes):
        work[0, k, q] = work[0, k + 1, q] = 1.0
        work[1, k, q] = work[1, k + 1, q] = 0.0
    for i in range(k):
        j = k - 1 - i
        level = final - votes[j]
        level = full if level > full else level
        if j == row:
            for q in range(nodes):
                work[0, j, q], work[1, j, q] = work[0, j + 1, q], work[1, j + 1, q]
        else:
            _times_series(work, j, j + 1, series, level, n, nodes)
    if used > 0:
        wins = _coefficient(work, 0, powers, full - used, n, weights)
        costs[row, row] -= scale * own[used - 1] * wins
    if used == full:
        return
    for vote in range(k):
        level = final - votes[vote]
        if vote != row and level > 0 and _representative(votes, vote, row) == vote:
            fewer = full if level > full else level - 1
            _times(work, k + 2, k + 1, work[0, vote + 1, :nodes], work[1, vote + 1, :nodes])
            _times_series(work, k + 2, k + 2, series, fewer, n, nodes)
            wins = _coefficient(work, k + 2, powers, full - 1 - used, n, weights)
            costs[row, vote] -= scale * own[used] * wins
        level = full if level > full else level
        if vote != row:
            _times_series(work, k + 1, k + 1, series, level, n, nodes)


@helper
def fill_costs(
    votes: IntArray,
    n: int,
    nodes: int,
    table: FloatArray,
    tie_weights: FloatArray,
    work: Any,
    costs: Any,
) -> None:
    """Fill the costs of the next vote, after which ``n`` are to come, for votes in ascending order.

    ``table`` starts with the numbers for n, ``work`` has room for (2, k + 3, nodes), costs are (k, k).
    """
    k, full, block = votes.shape[0], n + 1, 2 * (n + 2) * nodes
    own, weights = table[:full], table[full : full + nodes]
    first = full + nodes
    powers = table[first : first + block]
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
                start = first + (x + 1) * block
                series, scale = table[start : start + block], tie_weights[x]
                _fill_row(votes, row, final, own, weights, powers, series, scale, work, costs)
        for vote in range(k):
            if vote != row:
                costs[row, vote] = costs[row, _representative(votes, vote, row)]
            cost = costs[row, vote]
            cost = 0.0 if cost < 0.0 else cost
            costs[row, vote] = 1.0 if cost > 1.0 else cost


@kernel(
    # votes in ascending order, votes to come, nodes, table, weights of ties, work, costs (filled)
    "void(int64[::1], int64, int64, float64[::1], float64[::1], float64[:, :, ::1], float64[:, ::1])"
)
def costs_of(
    votes: IntArray,
    n: int,
    nodes: int,
    table: FloatArray,
    tie_weights: FloatArray,
    work: Any,
    costs: FloatArray,
) -> None:
    fill_costs(votes, n, nodes, table, tie_weights, work, costs)
