"""Exploration, and the unbiased estimates that a bandit booster makes of what it does not see.

The booster plays its best label with probability 1 - rho and each other one with rho / (k - 1), and learns whether
the label it played was right. From that it estimates the zero-one loss of every label, and any quantity that depends
on the true label: the estimate of ``rows[y]`` is the sum of (1 - loss estimate of r) rows[r].

Kernels of the boosters call :func:`explore` and :func:`estimate_losses`, which compute with fractions as well.

=================  ===============================================================================
symbol             name here (paper: Online Multiclass Boosting with Bandit Feedback, section 2)
=================  ===============================================================================
k                  ``n_labels``
rho                ``rho``, the exploration rate
yhat, ytilde       ``best``, ``played``
l^0-1, eq. (4)     ``loss_estimate``
c-hat, eq. (5)     ``estimate``
=================  ===============================================================================

The paper takes the loss estimate to be bounded by k / rho, which is so for rho up to k / (k + 1) and not beyond.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ...compiled import helper
from ...errors import require
from ..spec import SMALLEST_RATE


def largest_rate(n_labels: int) -> float:
    """k / (k + 1), up to which k / rho bounds the loss estimate."""
    return n_labels / (n_labels + 1)


def check_rate(rho: float, n_labels: int) -> None:
    """Raise :class:`UserError` unless ``rho`` lies in [1e-9, k / (k + 1)]."""
    limit = largest_rate(n_labels)
    require(
        SMALLEST_RATE <= rho <= limit,
        f"exploration rate rho={rho}: expected a number in [{SMALLEST_RATE:g}, {limit:.6g}], as the loss estimates"
        f" of {n_labels} labels are bounded by k/rho for rho up to k/(k+1) only.",
    )


@helper
def explore(best: int, rho: float, p: FloatArray) -> None:
    """Play the best label, but with probability ``rho`` one of the others."""
    for label in range(p.shape[0]):
        p[label] = rho / (p.shape[0] - 1)
    p[best] = 1 - rho


@helper
def estimate_losses(
    best: int, played: int, correct: bool, p: FloatArray, losses: FloatArray
) -> None:
    """Fill the estimates of the losses, equation (4)."""
    for r in range(p.shape[0]):
        losses[r] = 0
        if correct and r != best and r != played:
            losses[r] = 1 / p[played]
    if not correct and played == best:
        losses[best] = 1 / p[best]


def exploration(best: int, rho: float, n_labels: int) -> FloatArray:
    """Probabilities of the labels to play, shape (k,)."""
    p = np.full(n_labels, rho)  # of fractions if rho is one
    explore(best, rho, p)
    return p


def loss_estimate(best: int, played: int, correct: bool, p: FloatArray) -> FloatArray:
    """Estimate of the zero-one losses of all labels, shape (k,), from the label played and whether it was right.

    ``p`` are the probabilities that ``played`` was drawn with, those of :func:`exploration` for ``best``. The mean
    over the draw is 1 for every wrong label and 0 for the right one.
    """
    losses = np.zeros_like(p)
    estimate_losses(best, played, correct, p, losses)
    return losses


def estimate(losses: FloatArray, rows: FloatArray) -> FloatArray:
    """Unbiased estimate of ``rows[y]`` for the true label y, from a loss estimate; shape of ``rows[0]``."""
    found: FloatArray = np.tensordot(1 - losses, rows, axes=1)
    return found


def loss_bound(n_labels: int, rho: float) -> float:
    """The largest entry that a loss estimate can have: 1/(1-rho) for two labels, otherwise at least (k-1)/rho."""
    stay = 1 / (1 - rho)
    return stay if n_labels == 2 else max((n_labels - 1) / rho, stay)
