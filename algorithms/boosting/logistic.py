"""The logistic loss that the adaptive boosters lower: its costs, its derivative along a label, and the edge they leave.

=====================  =======================================================================
symbol                 name here (paper: Online Multiclass Boosting with Bandit Feedback)
=====================  =======================================================================
l^log_y(s)             ``loss``: the sum over r != y of ln(1 + exp(s_r - s_y))
C^i_t                 ``cost_matrix``; row r is the gradient if the true label is r
f'                     ``slopes``: entry r is the derivative along e_l if the true label is r
gamma_i                ``empirical_edge``
=====================  =======================================================================

Row r has 1/(1 + exp(s_r - s_l)) for l != r, sums to zero and is least at r, where it is at least -(k - 1).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from ...arrays import FloatArray, IntArray


def loss(scores: FloatArray, label: int) -> FloatArray:
    """Logistic loss of scores of shape (..., k) if ``label`` is the true one, shape (...)."""
    terms = np.logaddexp(0, scores - scores[..., label, None])
    terms[..., label] = 0
    total: FloatArray = terms.sum(axis=-1)
    return total


def cost_matrix(scores: FloatArray) -> FloatArray:
    """Gradients of the loss at scores of shape (..., k), for each true label: shape (..., k, k)."""
    costs = expit(scores[..., None, :] - scores[..., :, None])
    diagonal = np.arange(scores.shape[-1])
    costs[..., diagonal, diagonal] = 0
    costs[..., diagonal, diagonal] = -costs.sum(axis=-1)
    return costs


def slopes(scores: FloatArray, labels: IntArray, weights: FloatArray) -> FloatArray:
    """Derivative of the loss along the predicted label, at the scores moved by its weight.

    Parameters
    ----------
    scores : scores before the vote of each weak learner, shape (N, k)
    labels : label that each predicts, shape (N,)
    weights : weight of each vote, shape (N,)

    Returns
    -------
    shape (N, k); entry r is the derivative with respect to the weight if r is the true label
    """
    moved = scores.copy()
    learners = np.arange(len(labels))
    moved[learners, labels] += weights
    at = moved[learners, labels]
    found = expit(at[:, None] - moved)
    found[learners, labels] = 0
    # for the label itself every other label's share falls
    found[learners, labels] = -(expit(moved - at[:, None]).sum(axis=1) - 0.5)
    return found


def empirical_edge(costs: FloatArray, labels: IntArray, true_labels: IntArray) -> float:
    """The cost of the predictions as a share of that of perfect ones, in [-1, 1]; 1 for perfect predictions.

    Parameters
    ----------
    costs : cost vectors for the true labels, shape (T, k)
    labels : predicted labels, shape (T,)
    true_labels : shape (T,)
    """
    rounds = np.arange(len(labels))
    return float(costs[rounds, labels].sum() / costs[rounds, true_labels].sum())
