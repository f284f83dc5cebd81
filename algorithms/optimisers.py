"""Online convex optimisers for Gappletron, each with its regret factor h or the statement that none exists.

Guarantee (4) of the paper asks that for every comparator U of the domain

    sum_t (estimated loss at W_t - estimated loss at U)  <=  h(U) sqrt(sum_t ||estimated gradient_t||^2).

======  ==============================================================
symbol  name here
======  ==============================================================
h(U)    ``regret_factor``
B       ``comparator_norm``, the radius of the ball that is the domain
S       ``state[GRADIENT_SUM]``, sum of squared norms of the estimated gradients
v_t     ``weight``, the importance weight
======  ==============================================================

Each step is a kernel with the signature ``UPDATE`` of learner.py; parameters[0] is B.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ..arrays import FloatArray
from ..compiled import Kernel, helper, kernel
from ..errors import unknown
from .learner import GRADIENT_SUM, REMAINDER, SCALE, SQUARED_NORM, UPDATE


class Optimiser(Protocol):
    """An online convex optimiser; ``needs_norm`` says whether its step looks at ``state[SQUARED_NORM]``."""

    step: ClassVar[Kernel]
    needs_norm: ClassVar[bool]

    @property
    def spec(self) -> str:
        """Name, as the command line takes it."""

    def parameters(self, comparator_norm: float) -> FloatArray:
        """Numbers for the kernel, for a domain that holds every U with ||U|| <= ``comparator_norm``."""

    def regret_factor(self, comparator_norm: float, norm: float) -> float | None:
        """h(U) for ||U|| = ``norm``; None where no finite h exists."""

    def weights(self, n_features: int, n_labels: int) -> FloatArray | None:
        """Weights to start from, shape (features, labels); None for zeros."""


@helper
def add_squared_gradient(
    weight: float, squared_norm: float, gradient: FloatArray, state: FloatArray
) -> float:
    """Add the squared norm of the estimated gradient to its sum and return it."""
    total = 0.0
    for k in range(gradient.shape[0]):
        total += gradient[k] * gradient[k]
    total = weight * weight * total * squared_norm
    state[GRADIENT_SUM] += total
    return total


@helper
def inner_product(a: FloatArray, b: FloatArray) -> float:
    """Inner product, summed in index order."""
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@helper
def scaled_copy(factor: float, gradient: FloatArray, coefficient: FloatArray) -> None:
    """Fill ``coefficient`` with ``factor * gradient``."""
    for k in range(gradient.shape[0]):
        coefficient[k] = factor * gradient[k]


@kernel(UPDATE)
def _unprojected_step(
    label: int,
    weight: float,
    squared_norm: float,
    gradient: FloatArray,
    state: FloatArray,
    coefficient: FloatArray,
) -> bool:
    if label < 0 or add_squared_gradient(weight, squared_norm, gradient, state) == 0.0:
        return False
    scaled_copy(weight / math.sqrt(1e-8 + state[GRADIENT_SUM]), gradient, coefficient)
    return True


@helper
def add_to_squared_norm(change: float, state: FloatArray) -> None:
    """Add to the squared norm of V, and keep what the sum rounds away: in later rounds it would add up."""
    before = state[SQUARED_NORM]
    change += state[REMAINDER]
    total = before + change
    kept = total - before
    state[REMAINDER] = (before - (total - kept)) + (change - kept)
    state[SQUARED_NORM] = total


@helper
def step_in_ball(
    weight: float,
    squared_norm: float,
    scores: FloatArray,
    gradient: FloatArray,
    parameters: FloatArray,
    state: FloatArray,
    coefficient: FloatArray,
) -> bool:
    """Move against the estimated gradient and project onto the ball."""
    squared_gradient = add_squared_gradient(weight, squared_norm, gradient, state)
    if squared_gradient == 0.0:
        return False
    comparator_norm = parameters[0]
    rate = math.sqrt(2.0) * comparator_norm / math.sqrt(state[GRADIENT_SUM])
    along = weight * inner_product(gradient, scores)
    scale = state[SCALE]
    change = rate * rate * squared_gradient - 2.0 * rate * along
    inverse = 1.0 / scale
    add_to_squared_norm(change * inverse * inverse, state)
    squared = scale * state[SQUARED_NORM] * scale
    scaled_copy(rate * weight * inverse, gradient, coefficient)
    if squared > comparator_norm * comparator_norm:
        state[SCALE] *= comparator_norm / math.sqrt(squared)
    return True


@kernel(UPDATE)
def _projected_step(
    scores: FloatArray,
    label: int,
    weight: float,
    squared_norm: float,
    gradient: FloatArray,
    parameters: FloatArray,
    state: FloatArray,
    coefficient: FloatArray,
) -> bool:
    if label < 0:
        return False
    return step_in_ball(weight, squared_norm, scores, gradient, parameters, state, coefficient)


@kernel(UPDATE)
def _ftrl_step(
    scores: FloatArray,
    label: int,
    weight: float,
    squared_norm: float,
    gradient: FloatArray,
    parameters: FloatArray,
    state: FloatArray,
    coefficient: FloatArray,
) -> bool:
    if label < 0:
        return False
    squared_gradient = add_squared_gradient(weight, squared_norm, gradient, state)
    if squared_gradient == 0.0:
        return False
    # V is minus the sum of the estimated gradients, so <gradient, sum> = -<gradient, scores> / scale
    comparator_norm = parameters[0]
    along = weight * inner_product(gradient, scores) / state[SCALE]
    add_to_squared_norm(squared_gradient - 2.0 * along, state)
    squared = state[SQUARED_NORM]
    scale = comparator_norm / (2.0 * math.sqrt(state[GRADIENT_SUM]))
    if squared * scale * scale > comparator_norm * comparator_norm:
        scale = comparator_norm / math.sqrt(squared)
    state[SCALE] = scale
    scaled_copy(weight, gradient, coefficient)
    return True


@kernel(UPDATE)
def _standing_still() -> bool:
    return False


@dataclass(frozen=True)
class UnprojectedDescent:
    """Gradient descent of the paper's experiments: rate (1e-8 + S)^(-1/2), no projection (Section 6).

    No finite h(0) exists: on K = 2 labels, features of norm 0.1/sqrt(T) and labels that switch half
    way, the regret against U = 0 exceeds 0.08 T sqrt(S).
    """

    step: ClassVar[Kernel] = _unprojected_step
    spec: ClassVar[str] = "unprojected"
    needs_norm: ClassVar[bool] = False

    def parameters(self, comparator_norm: float) -> FloatArray:
        return np.array([math.inf])

    def regret_factor(self, comparator_norm: float, norm: float) -> float | None:
        return None

    def weights(self, n_features: int, n_labels: int) -> FloatArray | None:
        return None


@dataclass(frozen=True)
class ProjectedDescent:
    """Gradient descent on the ball of radius B with rate sqrt(2) B / sqrt(S), started at 0.

    h(U) = (B + ||U||)^2 / (2 sqrt(2) B) + sqrt(2) B, which is 2 sqrt(2) B on the sphere: telescoping with
    ||W_t - U|| <= B + ||U|| and sum_t ||g_t||^2 / sqrt(S_t) <= 2 sqrt(S_T).
    """

    step: ClassVar[Kernel] = _projected_step
    spec: ClassVar[str] = "projected"
    needs_norm: ClassVar[bool] = True

    def parameters(self, comparator_norm: float) -> FloatArray:
        return np.array([comparator_norm])

    def regret_factor(self, comparator_norm: float, norm: float) -> float | None:
        B = comparator_norm
        return (B + norm) ** 2 / (2 * math.sqrt(2) * B) + math.sqrt(2) * B

    def weights(self, n_features: int, n_labels: int) -> FloatArray | None:
        return None


@dataclass(frozen=True)
class FollowTheRegularisedLeader:
    """Follow the regularised leader (SOLO FTRL, Orabona and Pal 2018) on the ball of radius B:
    W_{t+1} = argmin <G_t, W> + (1/B) sqrt(S_t) ||W||^2 with G_t the sum of the estimated gradients.

    h(U) = ||U||^2 / B + B + 4 B, which is 6 B on the sphere: per round the smaller of ||g||^2 B / (4 sqrt(S_{t-1}))
    and 2 B ||g||, split by whether S_t <= 4 S_{t-1}.
    """

    step: ClassVar[Kernel] = _ftrl_step
    spec: ClassVar[str] = "ftrl"
    needs_norm: ClassVar[bool] = True

    def parameters(self, comparator_norm: float) -> FloatArray:
        return np.array([comparator_norm])

    def regret_factor(self, comparator_norm: float, norm: float) -> float | None:
        return norm * norm / comparator_norm + 5.0 * comparator_norm

    def weights(self, n_features: int, n_labels: int) -> FloatArray | None:
        return None


@dataclass(frozen=True)
class StandStill:
    """The optimiser that never moves from the identity: the scores are the first K features.

    Lemmas about one round hold for any weights; with this the features choose the scores. It has no
    regret factor.
    """

    step: ClassVar[Kernel] = _standing_still
    spec: ClassVar[str] = "stand-still"
    needs_norm: ClassVar[bool] = False

    def parameters(self, comparator_norm: float) -> FloatArray:
        return np.zeros(1)

    def regret_factor(self, comparator_norm: float, norm: float) -> float | None:
        return None

    def weights(self, n_features: int, n_labels: int) -> FloatArray | None:
        return np.eye(n_features, n_labels)


NAMES: dict[str, Optimiser] = {
    optimiser.spec: optimiser
    for optimiser in (
        UnprojectedDescent(),
        ProjectedDescent(),
        FollowTheRegularisedLeader(),
        StandStill(),
    )
}
"""The optimisers by name."""


def parse(spec: str) -> Optimiser:
    """Read the name of an optimiser.

    Raises
    ------
    UserError
        for an unknown name
    """
    if spec not in NAMES:
        raise unknown("optimiser", spec, NAMES)
    return NAMES[spec]
