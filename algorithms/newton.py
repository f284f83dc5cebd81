"""Newtron with diagonal matrices (PNewtron): follow the leader on quadratic lower bounds of the logistic loss.

======  ======================================================================
symbol  name here
======  ======================================================================
q       ``state[CHANCES:]``, softmax of alpha times the scores
kappa   ``trust``, p(y) after a right guess, 1 after a wrong one
c       ``size`` (e_action - 1/K), the estimated score gradient; its mean over the draw is q - e_y
G       the estimated gradient, the outer product of the features and c
b       ``memory[LINEAR]``, sum of (1 - kappa beta <G, W>) G, shape (features, labels)
A       ``memory[DIAGONAL]``, 1/D plus the sum of kappa beta G * G, same shape
D       ``radius`` of the ball of the weights
lambda  ``state[SHIFT]``, the multiplier of the ball
======  ======================================================================

After every round W = argmin over ||W||_F <= D of (1/2) sum A W^2 + <b, W>, that is W = -b / (A + lambda) with
lambda = 0 if this lies in the ball, and with ||W||_F = D otherwise. All entries change with lambda, so a round costs
a few passes over them. ``projection=exact`` solves for lambda, ``euclid`` scales -b / A back to the ball and
``sphere`` scales it to norm D in any case (as the authors' code does; undefined at b = 0, which is left alone).

=========  ============================================================
tuning     gamma; alpha = 10, beta = 0.01 and D = 1 in each
=========  ============================================================
default    0.01
ones       min{1/2, T^(-1/2)}
theory     min{1/2, K sqrt(d ln T / (2 beta T))}
=========  ============================================================

Of the authors' code not taken over: there entry y of c is -1/K in place of -(K-1)/K and so biased, and rounds of
exploration lack the term in <G, W>.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from ..arrays import FloatArray
from ..compiled import Kernel, helper, kernel
from .baseline import Baseline, observes_itself
from .graphs import FeedbackGraph
from .learner import OWN, PREDICT, REWRITE, Declaration, Player, Problem, fresh_state
from .optimisers import StandStill

LINEAR, DIAGONAL = 0, 1
"""Matrices of ``memory``."""

SHIFT, SLOPE, PASSES, CHANCES = OWN, OWN + 1, OWN + 2, OWN + 3
"""Slots of ``state``: lambda, sum of (W/D)^2 / (A + lambda), passes over the matrices so far, then q."""

ALPHA, BETA, RADIUS, GAMMA, LEAST = range(5)
"""Slots of ``parameters``; with ``LEAST`` = 1 weights inside the ball stay, with 0 they are scaled as well."""

TOLERANCE = 1e-12
"""The largest distance of the norm of projected weights from D, relative to D."""


@kernel(PREDICT)
def _predict(
    scores: FloatArray, best: int, parameters: FloatArray, state: FloatArray, p: FloatArray
) -> None:
    n_labels = scores.shape[0]
    gamma = parameters[GAMMA]
    total = 0.0
    for k in range(n_labels):
        state[CHANCES + k] = math.exp(parameters[ALPHA] * (scores[k] - scores[best]))
        total += state[CHANCES + k]
    for k in range(n_labels):
        state[CHANCES + k] /= total
        p[k] = (1.0 - gamma) * state[CHANCES + k] + gamma / n_labels


@helper
def add_lower_bound(
    scores: FloatArray,
    p: FloatArray,
    action: int,
    label: int,
    features: Any,
    x: FloatArray,
    parameters: FloatArray,
    state: FloatArray,
    memory: FloatArray,
) -> None:
    """Add the round to b and A.

    The label counts only if it was guessed: with two labels it is always revealed.
    """
    n_labels = scores.shape[0]
    chance = state[CHANCES + action]
    size, trust = chance / p[action], 1.0
    if label == action:
        size, trust = -(1.0 - chance) / p[action], p[action]
    mean = 0.0
    for k in range(n_labels):
        mean += scores[k]
    mean /= n_labels
    curvature = trust * parameters[BETA] * size
    step = (1.0 - curvature * (scores[action] - mean)) * size
    curvature *= size
    for j in range(x.shape[0]):
        f = features[j]
        for k in range(n_labels):
            share = -1.0 / n_labels
            if k == action:
                share += 1.0
            memory[LINEAR, f, k] += step * share * x[j]
            memory[DIAGONAL, f, k] += curvature * share * x[j] * (share * x[j])


@helper
def fill_weights(
    shift: float, radius: float, memory: FloatArray, weights: FloatArray, state: FloatArray
) -> float:
    """W = -b / (A + shift); returns ||W||_F / D and leaves the sum of (W/D)^2 / (A + shift) in the state."""
    squares, slope, per_radius = 0.0, 0.0, 1.0 / radius
    for f in range(weights.shape[0]):
        for k in range(weights.shape[1]):
            inverse = 1.0 / (memory[DIAGONAL, f, k] + shift)
            weights[f, k] = -memory[LINEAR, f, k] * inverse
            square = weights[f, k] * per_radius
            square *= square
            squares += square
            slope += square * inverse
    state[SLOPE] = slope
    state[PASSES] += 1.0
    return math.sqrt(squares)


@helper
def inside_bracket(below: float, above: float, radius: float, memory: FloatArray) -> float:
    """A lambda between those known to be too small and too large; zero, or the largest possible, if not yet tried."""
    if below < 0.0:
        return 0.0
    if above < math.inf:
        return math.sqrt(below) * math.sqrt(above) if below > 0.0 else above / 1024.0
    largest = 0.0
    for f in range(memory.shape[1]):
        for k in range(memory.shape[2]):
            entry = memory[LINEAR, f, k] / radius
            largest += entry if entry > 0.0 else -entry
    return largest


@helper
def project_exactly(
    memory: FloatArray, weights: FloatArray, radius: float, state: FloatArray
) -> None:
    """Set W to the minimiser over the ball, starting the search from the last lambda.

    Newton's steps on D / ||W||, which is concave and nearly a straight line in lambda. Where one leaves the
    bracket or squares overflow, and every other time once eight were not enough, the bracket is halved instead,
    on a logarithmic scale.
    """
    below, above = -1.0, math.inf
    shift = state[SHIFT]
    halving = False
    for done in range(200):
        state[SHIFT] = shift
        ratio = fill_weights(shift, radius, memory, weights, state)
        if ratio <= 1.0 + TOLERANCE and (shift == 0.0 or ratio >= 1.0 - TOLERANCE):
            return
        if ratio > 1.0:
            below = shift
        else:
            above = shift
        slope = state[SLOPE]
        halving = slope == 0.0 or (done >= 8 and not halving)
        if not halving:
            shift += (ratio - 1.0) * (ratio * ratio / slope)
            halving = shift < 0.0 or not below < shift < above
        if halving:
            shift = inside_bracket(below, above, radius, memory)


@kernel(REWRITE)
def _rewrite_exactly(
    scores: FloatArray,
    p: FloatArray,
    action: int,
    label: int,
    features: Any,
    x: FloatArray,
    parameters: FloatArray,
    state: FloatArray,
    memory: FloatArray,
    weights: FloatArray,
) -> None:
    add_lower_bound(scores, p, action, label, features, x, parameters, state, memory)
    project_exactly(memory, weights, parameters[RADIUS], state)


@kernel(REWRITE)
def _rewrite_scaled(
    scores: FloatArray,
    p: FloatArray,
    action: int,
    label: int,
    features: Any,
    x: FloatArray,
    parameters: FloatArray,
    state: FloatArray,
    memory: FloatArray,
    weights: FloatArray,
) -> None:
    add_lower_bound(scores, p, action, label, features, x, parameters, state, memory)
    fill_weights(0.0, parameters[RADIUS], memory, weights, state)
    largest = 0.0
    for f in range(weights.shape[0]):
        for k in range(weights.shape[1]):
            entry = weights[f, k] if weights[f, k] > 0.0 else -weights[f, k]
            largest = entry if entry > largest else largest
    if largest == 0.0:
        return
    squares = 0.0  # of entries over the largest, which cannot overflow
    for f in range(weights.shape[0]):
        for k in range(weights.shape[1]):
            entry = weights[f, k] / largest
            squares += entry * entry
    ratio = largest / parameters[RADIUS] * math.sqrt(squares)
    if ratio > parameters[LEAST]:
        for f in range(weights.shape[0]):
            for k in range(weights.shape[1]):
                weights[f, k] /= ratio


PROJECTIONS: dict[str, tuple[Kernel, float]] = {
    "exact": (_rewrite_exactly, 1.0),
    "euclid": (_rewrite_scaled, 1.0),
    "sphere": (_rewrite_scaled, 0.0),
}


@dataclass(frozen=True)
class Newtron(Baseline):
    """Diagonal Newtron (PNewtron): quadratic bounds of the logistic loss, minimised over a ball.

    Parameters
    ----------
    alpha : inverse temperature of the predictions, above 0
    beta : curvature of the quadratic bounds, above 0
    radius : radius D of the ball of the weights, above 0
    gamma : probability of exploring, in (0, 1], or None for the tuning's
    projection : "exact", "euclid" or "sphere" (see the module)

    Raises
    ------
    UserError
        for a number out of range or an unknown projection
    """

    alpha: Annotated[float, "(0, inf)"] = 10.0
    beta: Annotated[float, "(0, inf)"] = 0.01
    radius: Annotated[float, "(0, inf)"] = 1.0
    gamma: Annotated[float | None, "(0, 1]"] = None
    projection: Annotated[str, PROJECTIONS] = "exact"
    source: ClassVar[str] = (
        "E. Hazan and S. Kale (2011), NEWTRON: an Efficient Bandit Algorithm for Online Multiclass"
        " Prediction"
    )
    graphs: ClassVar[str] = "bandit"
    tunings: ClassVar[Mapping[str, str]] = {
        "default": "gamma = 0.01",
        "ones": "gamma = min{1/2, T^(-1/2)}",
        "theory": "gamma = min{1/2, K (d ln T / (2 beta T))^(1/2)}, d features",
    }

    def accepts(self, graph: FeedbackGraph) -> bool:
        return observes_itself(graph)

    def numbers(self, problem: Problem) -> dict[str, float]:
        fixed = {"alpha": self.alpha, "beta": self.beta, "radius": self.radius}
        if self.gamma is not None:
            return {**fixed, "gamma": self.gamma}
        horizon, d = problem.horizon, problem.n_features
        log = math.log(max(horizon, 2))  # a horizon of one would not explore
        theory = problem.n_labels * math.sqrt(d * log / (2 * self.beta * horizon))
        rates = {"default": 0.01, "ones": horizon**-0.5, "theory": theory}
        return {**fixed, "gamma": min(0.5, rates[self.tuning])}

    def player(self, problem: Problem) -> Player:
        self.check_graph(problem.graph)
        numbers = self.numbers(problem)
        rewrite, least = PROJECTIONS[self.projection]
        memory = np.zeros((2, problem.n_features, problem.n_labels))
        memory[DIAGONAL] = 1 / self.radius
        return Player(
            predict=_predict,
            update=StandStill.step,
            parameters=np.array([*numbers.values(), least]),
            state=fresh_state(CHANCES - OWN + problem.n_labels),
            declaration=Declaration(numbers=self.declared(numbers)),
            rewrite=rewrite,
            memory=memory,
        )
