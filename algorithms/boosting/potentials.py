"""Potentials of boost-by-majority, exactly and in polynomial time.

The potential of label y at the votes s with n weak learners to come is the probability that y loses the vote when
every one of them votes for y with probability (1 - gamma)/k + gamma and for each other label with (1 - gamma)/k. The
cost of a label is the potential of y once one more vote is given to that label.

The counts of the votes to come are independent Poisson variables given that their sum is n, and given the final count
of y each other label only has to stay below it. Hence a potential is a coefficient of a product of k - 1 truncated
exponential series, one product for each final count. Two forms are computed:

* :meth:`Potentials.potential` multiplies the series out and adds the ways of losing, all of them positive, so that it
  has a small relative error however small it is. It takes O(k n^3) steps.
* :meth:`Potentials.cost_matrix` reads the coefficients off the values on the unit circle, so that the products which
  leave two labels out are shared. All k^2 costs take O(k^2 n^2) steps, with an absolute error near 1e-14.

A label that draws level wins with probability 0 (``error``) or 1 / (1 + labels level with it) (``random``). Since 1 /
(1 + j) is the mean of x^j for x uniform in [0, 1], both are means over nodes x of products in which a series counts
being level with weight x: the single node 0, or ceil(k / 2) Gauss-Legendre nodes, which are exact.

=====================  =======================================================================
symbol                 name here (paper: Online Multiclass Boosting with Bandit Feedback)
=====================  =======================================================================
k                      ``n_labels``
gamma                  ``edge``
s                      ``votes``, integers of shape (k,)
phi^y_i(s), eq. (6)    ``potential``, with i = ``remaining``
c^i_t, eq. (8)         ``costs``; row r of ``cost_matrix`` is the cost vector if the true label is r
=====================  =======================================================================
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated

import numpy as np
import scipy

from ...arrays import FloatArray, IntArray
from ..spec import check_fields
from .elections import costs_of, loses

TIES = ("error", "random")
ALIASED = 1e-20
"""Probability that is allowed to fall beyond the coefficients that the nodes on the circle tell apart."""


@dataclass(frozen=True)
class _Tables:
    """Numbers of the kernels for n votes to come; those for the circle are made when they are asked for."""

    n_labels: int
    edge: float
    ties: str
    remaining: int

    @property
    def _rate(self) -> float:
        return self.remaining * (1 - self.edge) / self.n_labels

    @cached_property
    def tie_nodes(self) -> tuple[FloatArray, FloatArray]:
        if self.ties == "error":
            return np.zeros(1), np.ones(1)
        nodes, weights = np.polynomial.legendre.leggauss((self.n_labels + 1) // 2)
        return (nodes + 1) / 2, weights / 2

    @cached_property
    def own(self) -> FloatArray:
        """Weights of the label's own count, given that all counts sum to n."""
        n = self.remaining
        rate = self._rate + n * self.edge
        given: FloatArray = scipy.stats.poisson.pmf(
            np.arange(n + 1), rate
        ) / scipy.stats.poisson.pmf(n, n)
        return given

    @cached_property
    def other(self) -> FloatArray:
        weights: FloatArray = scipy.stats.poisson.pmf(np.arange(self.remaining + 1), self._rate)
        return weights

    @cached_property
    def circle(self) -> tuple[int, FloatArray]:
        """The number of nodes in the upper half of the unit circle, and the table that elections.py describes."""
        n = self.remaining
        beyond = scipy.stats.poisson.sf(np.arange(4 * n + 60), n) < ALIASED
        half = max(n, int(beyond.argmax())) // 2 + 1
        angles = np.pi * np.arange(half + 1) / half
        powers = np.exp(1j * np.outer(np.arange(n + 2), angles))
        terms = self.other[:, None] * powers[: n + 1]
        nothing = np.zeros((1, half + 1))
        below = np.concatenate([nothing, np.cumsum(terms, axis=0)])
        level = np.concatenate([terms, nothing])
        series = [below + node * level for node in self.tie_nodes[0]]
        weights = np.full(half + 1, 1 / half)
        weights[[0, -1]] /= 2
        parts = [part.ravel() for each in (powers, *series) for part in (each.real, each.imag)]
        return half + 1, np.concatenate([self.own, weights, *parts])


_tables = lru_cache(maxsize=1024)(_Tables)


@lru_cache(maxsize=1 << 16)
def _sorted_costs(
    n_labels: int, edge: float, ties: str, remaining: int, votes: tuple[int, ...]
) -> FloatArray:
    tables = _tables(n_labels, edge, ties, remaining)
    nodes, table = tables.circle
    costs = np.empty((n_labels, n_labels))
    work = np.empty((2, n_labels + 3, nodes))
    costs_of.native(np.array(votes), remaining, nodes, table, tables.tie_nodes[1], work, costs)
    costs.setflags(write=False)
    return costs


@dataclass(frozen=True)
class Potentials:
    """Potentials and costs for k labels, an edge and a tie rule.

    Parameters
    ----------
    n_labels : number of labels, at least 2
    edge : by how much a vote favours the true label, in [0, 1)
    ties : "error", where a label that draws level loses, or "random", where it wins as often as each of its equals

    Raises
    ------
    UserError
        for numbers out of range or an unknown tie rule
    """

    n_labels: Annotated[int, "[2, inf)"]
    edge: Annotated[float, "[0, 1)"]
    ties: Annotated[str, TIES] = "error"

    def __post_init__(self) -> None:
        check_fields(self)

    def potential(self, votes: Sequence[int] | IntArray, label: int, remaining: int) -> float:
        """Probability that ``label`` loses the vote with ``remaining`` votes to come, in [0, 1]; equation (6)."""
        tables = _tables(self.n_labels, self.edge, self.ties, remaining)
        work = np.empty((4, remaining + 1))
        lost: float = loses.native(
            np.asarray(votes, dtype=np.int64),
            label,
            tables.own,
            tables.other,
            *tables.tie_nodes,
            work,
        )
        return lost

    @property
    def tie_weights(self) -> FloatArray:
        """Weights of the nodes of ties in the tables."""
        return _tables(self.n_labels, self.edge, self.ties, 0).tie_nodes[1]

    def table(self, remaining: int) -> tuple[int, FloatArray]:
        """Number of nodes on the circle and the table for ``remaining`` votes to come; elections.py describes it."""
        return _tables(self.n_labels, self.edge, self.ties, remaining).circle

    def cost_matrix(self, votes: IntArray, remaining: int) -> FloatArray:
        """Costs of shape (k, k) of the next vote, after which ``remaining`` are to come; equation (8).

        Row r holds the potential of label r once label l was voted for, in column l: the cost vector if r is
        the true label.
        """
        order = np.argsort(votes, kind="stable")
        ascending = votes[order]
        key = tuple((ascending - ascending[0]).tolist())
        found = _sorted_costs(self.n_labels, self.edge, self.ties, remaining, key)
        rank = np.empty_like(order)
        rank[order] = np.arange(self.n_labels)
        return found[rank[:, None], rank]

    def costs(self, votes: IntArray, label: int, remaining: int) -> FloatArray:
        """Costs of shape (k,) of the next vote if ``label`` is the true one; its own is the least."""
        row: FloatArray = self.cost_matrix(votes, remaining)[label]
        return row

    def largest_weight(self, cast: int, remaining: int) -> float:
        """The largest weight over all votes of ``cast`` weak learners and all labels, by enumeration.

        The weight of a cost vector is the sum of what its entries exceed that of the label by.
        """
        return max(
            float((costs.sum(axis=1) - self.n_labels * np.diag(costs)).max())
            for votes in partitions(cast, self.n_labels)
            for costs in [self.cost_matrix(np.array(votes), remaining)]
        )

    def bound(self, remaining: int) -> float:
        """(k - 1) exp(-gamma^2 n / 2), which the potential of every label is below before the first vote."""
        return (self.n_labels - 1) * math.exp(-self.edge * self.edge * remaining / 2)


def partitions(total: int, parts: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """The ways to write ``total`` as a sum of ``parts`` integers of at least 0 in descending order."""
    most = total if largest is None else min(total, largest)
    if parts == 1:
        if total <= most:
            yield (total,)
        return
    for first in range(most, -1, -1):
        if first * parts < total:
            break
        for rest in partitions(total - first, parts - 1, first):
            yield (first, *rest)
