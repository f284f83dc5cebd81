"""Boosting in exact arithmetic, written a second time from the paper for certificates.

Nothing here is shared with the learners: a certificate must not depend on what it judges. Scores of the logistic loss
are given by their exponentials, so that its derivatives are fractions.

Source: "Online Multiclass Boosting with Bandit Feedback", sections 2 to 4.

=====================  =========================================================================
symbol                 name here
=====================  =========================================================================
k, rho, gamma          ``n_labels`` or the length of a tuple, ``rho``, ``edge``
yhat, y, ytilde        ``best``, ``label``, ``played``
l^0-1, eq. (4)         ``loss_estimate``; it looks at the true label, which a booster cannot
c-hat, eq. (5)         ``estimate``
phi^y_i(s), eq. (6)    ``potential`` with i = ``remaining``
c^i_t, eq. (8)         ``costs``, after whose vote ``remaining`` are to come
exp(s_r)               ``weights[r]``
=====================  =========================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import comb, lcm
from typing import TypeAlias

from gmpy2 import mpq

from .numbers import rational

Fractions: TypeAlias = tuple[mpq, ...]
Rows: TypeAlias = tuple[Fractions, ...]


def decimal(value: float) -> mpq:
    """A float as the decimal that is written for it, 0.1 being one tenth."""
    return rational(repr(float(value)))


def texts(values: Iterable[mpq]) -> list[str]:
    """Fractions as certificates have them."""
    return [str(value) for value in values]


def exploration(best: int, rho: mpq, n_labels: int) -> Fractions:
    """Probabilities of the labels to play."""
    return tuple(1 - rho if r == best else rho / (n_labels - 1) for r in range(n_labels))


def loss_estimate(best: int, label: int, played: int, p: Fractions) -> Fractions:
    """Equation (4): 1[played = y] / p_y 1[r != y], and for the best label 1[played = best] / p_best 1[best != y]."""
    hit = 1 / p[label] if played == label else mpq(0)
    losses = [mpq(0) if r == label else hit for r in range(len(p))]
    losses[best] = 1 / p[best] if played == best != label else mpq(0)
    return tuple(losses)


def estimate(losses: Fractions, rows: Rows) -> Fractions:
    """Equation (5): the sum of (1 - loss estimate of r) rows[r]."""
    factors = [1 - loss for loss in losses]
    return tuple(
        sum((f * row[entry] for f, row in zip(factors, rows, strict=True)), mpq(0))
        for entry in range(len(rows[0]))
    )


def mean(p: Fractions, values: Iterable[Fractions]) -> Fractions:
    """Expectation over the label played of a tuple of numbers."""
    weighted = [[chance * x for x in value] for chance, value in zip(p, values, strict=True)]
    return tuple(sum(column, mpq(0)) for column in zip(*weighted, strict=True))


def raised(votes: Sequence[int], label: int) -> tuple[int, ...]:
    """The votes with one more for ``label``."""
    return tuple(v + (j == label) for j, v in enumerate(votes))


def potential(votes: Sequence[int], label: int, remaining: int, edge: mpq, ties: str) -> mpq:
    """Equation (6): the probability that ``label`` loses the vote with ``remaining`` votes to come."""
    k, (a, b) = len(votes), edge.as_integer_ratio()
    behind = tuple(sorted(v - votes[label] for j, v in enumerate(votes) if j != label))
    ways = _ways_to_lose(behind, remaining, b - a, b - a + a * k, ties)
    return mpq(ways, _shares(k) * (b * k) ** remaining)


def costs(votes: Sequence[int], label: int, remaining: int, edge: mpq, ties: str) -> Fractions:
    """Equation (8): the potential of ``label`` once each label in turn was voted for."""
    return tuple(
        potential(raised(votes, vote), label, remaining, edge, ties) for vote in range(len(votes))
    )


def _shares(k: int) -> int:
    """A number that 1, ..., k divide, so that a vote shared by equals has a whole number of parts."""
    return lcm(*range(1, k + 1))


@lru_cache(maxsize=1 << 18)
def _ways_to_lose(behind: tuple[int, ...], remaining: int, other: int, own: int, ties: str) -> int:
    """The recursion of (6) in whole numbers; ``behind`` says by how much the others lead, in ascending order, and
    a vote counts ``own`` for the label and ``other`` for another."""
    k = len(behind) + 1
    if behind[-1] > remaining:  # too far ahead
        return int(_shares(k) * (own + (k - 1) * other) ** remaining)
    if behind[-1] + remaining < 0:
        return 0
    if remaining == 0:
        level = behind.count(0)
        kept = _shares(k) // (1 + level) if ties == "random" or not level else 0
        return _shares(k) - kept
    ways = own * _ways_to_lose(tuple(d - 1 for d in behind), remaining - 1, other, own, ties)
    for at, d in enumerate(behind):
        if (
            at + 1 == len(behind) or behind[at + 1] != d
        ):  # of equals the last, so that the order stays
            after = (*behind[:at], d + 1, *behind[at + 1 :])
            ways += behind.count(d) * other * _ways_to_lose(after, remaining - 1, other, own, ties)
    return ways


def potential_at_start(n_labels: int, learners: int, edge: mpq, ties: str) -> mpq:
    """The potential before the first vote, by counting: given that the label gets m of the votes, each other one must
    stay below, or draws level in a tie that is settled at random. Far quicker than the recursion for many votes."""
    k, (a, b) = n_labels, edge.as_integer_ratio()
    other, own = b - a, b - a + a * k
    wins = mpq(0)
    for m in range(learners + 1):
        rest = learners - m
        below = [[1] + [0] * rest]  # ways for the first q others to get d votes, each fewer than m
        for _ in range(k - 1):
            last = below[-1]
            below.append(
                [
                    sum(comb(d, v) * last[d - v] for v in range(min(m - 1, d) + 1))
                    for d in range(rest + 1)
                ]
            )
        ways, taken = mpq(below[k - 1][rest]), 1
        for level in range(1, k if ties == "random" else 1):
            left = rest - level * m
            if left < 0:
                break
            taken *= comb(rest - (level - 1) * m, m)
            ways += mpq(comb(k - 1, level) * taken * below[k - 1 - level][left], 1 + level)
        wins += int(comb(learners, m) * own**m * other**rest) * ways
    return 1 - wins / mpq((b * k) ** learners)


def two_likeliest(n: int, p: mpq) -> mpq:
    """The largest probability of two successive values of a binomial variable of n trials; at n = 0 it is 1."""
    chances = [comb(n, m) * p**m * (1 - p) ** (n - m) for m in range(n + 1)] + [mpq(0)]
    return max(x + y for x, y in pairwise(chances))


def logistic_costs(weights: Fractions) -> Rows:
    """Gradients of the logistic loss, row r if r is the true label: 1 / (1 + exp(s_r - s_l)), at r less their sum."""
    rows = []
    for r, own in enumerate(weights):
        row = [mpq(0) if i == r else w / (w + own) for i, w in enumerate(weights)]
        row[r] = -sum(row, mpq(0))
        rows.append(tuple(row))
    return tuple(rows)


def slopes(shares: Fractions, predicted: int) -> Fractions:
    """Derivatives of the logistic losses along the predicted label l, from q_r = 1 / (1 + exp(s_r - s_l)): entry r is
    q_r if r is the true label, and for l itself less the sum of the 1 - q_r."""
    return tuple(
        -sum((1 - q for j, q in enumerate(shares) if j != predicted), mpq(0))
        if r == predicted
        else share
        for r, share in enumerate(shares)
    )


def curvatures(shares: Fractions, predicted: int) -> Fractions:
    """Second derivatives of the same: q_r (1 - q_r), and for l itself their sum."""
    bends = [q * (1 - q) for q in shares]
    total = sum((b for j, b in enumerate(bends) if j != predicted), mpq(0))
    return tuple(total if r == predicted else bend for r, bend in enumerate(bends))
