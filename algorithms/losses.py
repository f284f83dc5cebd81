"""Surrogate losses: value, gradient in the scores, gap map, and the constant of condition (3).

A loss is a function of the scores s = W x and the label y; ``best`` is the label with the highest score and
``runner`` the second one (the lowest index among equals). The gradient in W is the outer product of the
score gradient and x.

==========  ==========================================================================
symbol      name here (paper: Beyond Bandit Feedback in Online Multiclass Classification)
==========  ==========================================================================
m(y)        margin of label y: its score minus the highest other score
m*          margin of the best label
a           gap map: the loss if the best label were the true one
L           ``smoothness``: ||gradient||^2 <= 2 L loss, condition (3)
q           softmax of the scores
X           ``feature_norm``, bound on ||x||
==========  ==========================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from ..arrays import FloatArray, IntArray
from ..compiled import INT, VECTOR, Kernel, Signature, helper, kernel
from ..errors import UserError, require, unknown

GAP = Signature("float64", scores=VECTOR, best=INT, runner=INT, parameters=VECTOR, work=VECTOR)
"""Return the gap; ``work`` has room for K + 1 numbers."""

SURROGATE = Signature(
    "float64",
    **{"scores": VECTOR, "best": INT, "runner": INT, "label": INT},
    **{"parameters": VECTOR, "work": VECTOR, "gradient": VECTOR},
)
"""Return the loss if ``label`` is the true one, and fill its ``gradient`` in the scores."""

LOGISTIC_SMOOTHNESS = 0.40726437759
"""sup over q of (1-q)^2 / (-ln q), rounded up; the maximum lies near q = 0.28467."""


class Loss(Protocol):
    """A surrogate loss, for the game's kernels and, in array form, for fits and reports."""

    gap: ClassVar[Kernel]
    surrogate: ClassVar[Kernel]

    @property
    def spec(self) -> str:
        """Name and parameters, as the command line takes them."""

    def parameters(self, n_labels: int) -> FloatArray:
        """Numbers for the kernels."""

    def smoothness(self, feature_norm: float, n_labels: int) -> float:
        """L of condition (3) for features of norm at most ``feature_norm``."""

    def maximum(self, feature_norm: float, comparator_norm: float, n_labels: int) -> float:
        """Bound on the loss over the ball of radius ``comparator_norm``."""

    def values(self, scores: FloatArray, labels: IntArray) -> FloatArray:
        """Losses of shape (N,) for scores of shape (N, K)."""

    def gradients(self, scores: FloatArray, labels: IntArray) -> FloatArray:
        """Score gradients of shape (N, K)."""

    def counts_for_comparator(
        self, best: IntArray, margins: FloatArray, labels: IntArray
    ) -> NDArray[np.bool_]:
        """In which rounds the loss of a comparator counts, given the learner's own margins."""


def margins(scores: FloatArray, labels: IntArray) -> tuple[FloatArray, IntArray]:
    """Margin of the given labels, shape (N,), and the best other label of each row."""
    rows = np.arange(len(labels))
    others = scores.copy()
    others[rows, labels] = -np.inf
    rivals = np.argmax(others, axis=1).astype(np.int64)
    return scores[rows, labels] - scores[rows, rivals], rivals


def _pair_gradients(slopes: FloatArray, labels: IntArray, rivals: IntArray, n: int) -> FloatArray:
    rows = np.arange(len(labels))
    gradients = np.zeros((len(labels), n))
    gradients[rows, labels] = slopes
    gradients[rows, rivals] = -slopes
    return gradients


@kernel(GAP)
def _smooth_hinge_gap(scores: FloatArray, best: int, runner: int) -> float:
    short = 1.0 - (scores[best] - scores[runner])
    return short * short if short > 0.0 else 0.0


@kernel(SURROGATE)
def _smooth_hinge(
    scores: FloatArray, best: int, runner: int, label: int, gradient: FloatArray
) -> float:
    for k in range(scores.shape[0]):
        gradient[k] = 0.0
    rival = runner if label == best else best
    margin: float = scores[label] - scores[rival]
    if margin >= 1.0:
        return 0.0
    slope = -2.0 if margin <= 0.0 else -2.0 * (1.0 - margin)
    gradient[label] = slope
    gradient[rival] = -slope
    return 1.0 - 2.0 * margin if margin <= 0.0 else (1.0 - margin) * (1.0 - margin)


@dataclass(frozen=True)
class SmoothHinge:
    """Smooth hinge loss: 1 - 2m for m <= 0, (1 - m)^2 on (0, 1), 0 beyond (Rennie and Srebro 2005,
    scaled by 2, the normalisation under which condition (2) holds).

    At ties of the runner-up the gradient is the subgradient of the lowest index.
    """

    gap: ClassVar[Kernel] = _smooth_hinge_gap
    surrogate: ClassVar[Kernel] = _smooth_hinge

    @property
    def spec(self) -> str:
        return "smooth-hinge"

    def parameters(self, n_labels: int) -> FloatArray:
        return np.zeros(1)

    def smoothness(self, feature_norm: float, n_labels: int) -> float:
        return 4.0 * feature_norm * feature_norm

    def maximum(self, feature_norm: float, comparator_norm: float, n_labels: int) -> float:
        return 1.0 + 2.0 * math.sqrt(2.0) * comparator_norm * feature_norm

    def values(self, scores: FloatArray, labels: IntArray) -> FloatArray:
        m, _ = margins(scores, labels)
        return np.where(m <= 0, 1 - 2 * m, np.square(np.clip(1 - m, 0, 1)))

    def gradients(self, scores: FloatArray, labels: IntArray) -> FloatArray:
        m, rivals = margins(scores, labels)
        return _pair_gradients(-2 * np.clip(1 - m, 0, 1), labels, rivals, scores.shape[1])

    def counts_for_comparator(
        self, best: IntArray, margins: FloatArray, labels: IntArray
    ) -> NDArray[np.bool_]:
        return np.ones(len(labels), dtype=bool)


@kernel(GAP)
def _hinge_gap(scores: FloatArray, best: int, runner: int, parameters: FloatArray) -> float:
    margin: float = scores[best] - scores[runner]
    return 1.0 - margin if margin < parameters[0] else 0.0


@kernel(SURROGATE)
def _hinge(
    scores: FloatArray,
    best: int,
    runner: int,
    label: int,
    parameters: FloatArray,
    gradient: FloatArray,
) -> float:
    for k in range(scores.shape[0]):
        gradient[k] = 0.0
    rival = runner if label == best else best
    margin: float = scores[label] - scores[rival]
    if margin >= 1.0 or (label == best and margin >= parameters[0]):
        return 0.0
    gradient[label] = -1.0
    gradient[rival] = 1.0
    return 1.0 - margin


@dataclass(frozen=True)
class Hinge:
    """The paper's multiclass hinge loss, equation (5): max{1 - m(y), 0}, but 0 when the learner's best label
    is the true one with margin at least ``threshold`` (kappa).

    The case depends on the learner's weights, so the loss of a comparator does too
    (``counts_for_comparator``), and condition (3) holds at the learner's weights only.
    """

    threshold: float = 0.5
    gap: ClassVar[Kernel] = _hinge_gap
    surrogate: ClassVar[Kernel] = _hinge

    def __post_init__(self) -> None:
        require(
            0 <= self.threshold < 1,
            f"kappa={self.threshold} of the hinge loss: expected a number in [0, 1).",
        )

    @property
    def spec(self) -> str:
        return (
            "hinge"
            if self.threshold == 0.5
            else "hinge-" + repr(float(self.threshold)).removesuffix(".0")
        )

    def parameters(self, n_labels: int) -> FloatArray:
        return np.array([self.threshold])

    def smoothness(self, feature_norm: float, n_labels: int) -> float:
        return feature_norm * feature_norm / (1.0 - self.threshold)

    def maximum(self, feature_norm: float, comparator_norm: float, n_labels: int) -> float:
        return 1.0 + math.sqrt(2.0) * comparator_norm * feature_norm

    def values(self, scores: FloatArray, labels: IntArray) -> FloatArray:
        m, _ = margins(scores, labels)
        return np.maximum(1 - m, 0)

    def gradients(self, scores: FloatArray, labels: IntArray) -> FloatArray:
        m, rivals = margins(scores, labels)
        return _pair_gradients(np.where(m < 1, -1.0, 0.0), labels, rivals, scores.shape[1])

    def counts_for_comparator(
        self, best: IntArray, margins: FloatArray, labels: IntArray
    ) -> NDArray[np.bool_]:
        return np.asarray((best != labels) | (margins < self.threshold))


@helper
def exponentials(scores: FloatArray, best: int, work: FloatArray) -> float:
    """Fill ``work`` with exp(score - best score) and, behind, its sum without the best label; return that."""
    rest = 0.0
    for k in range(scores.shape[0]):
        work[k] = math.exp(scores[k] - scores[best])
        if k != best:
            rest += work[k]
    work[scores.shape[0]] = rest
    return rest


@kernel(GAP)
def _logistic_gap(scores: FloatArray, best: int, parameters: FloatArray, work: FloatArray) -> float:
    gap = math.log1p(exponentials(scores, best, work)) / parameters[0]
    return gap if gap < 1.0 else 1.0


@kernel(SURROGATE)
def _logistic(
    scores: FloatArray,
    best: int,
    label: int,
    parameters: FloatArray,
    work: FloatArray,
    gradient: FloatArray,
) -> float:
    n_labels = scores.shape[0]
    rest = work[n_labels]
    per_unit = 1.0 / ((1.0 + rest) * parameters[0])
    others = 0.0
    for k in range(n_labels):
        gradient[k] = work[k] * per_unit
        if k != label:
            others += work[k]
    gradient[label] = -others * per_unit
    loss: float = (math.log1p(rest) + (scores[best] - scores[label])) / parameters[0]
    return loss


@dataclass(frozen=True)
class Logistic:
    """Logistic loss -log_b q(y), q the softmax of the scores.

    ``base=None`` is base K with the gap map -log_K q(y*), as the paper prints it: for K >= 3 it fails
    condition (2). ``base=2`` is the repair, with the gap map clipped at one.
    """

    base: int | None = 2
    gap: ClassVar[Kernel] = _logistic_gap
    surrogate: ClassVar[Kernel] = _logistic

    def __post_init__(self) -> None:
        require(
            self.base is None or self.base >= 2,
            f"base={self.base} of the logistic loss: expected 'K' or an integer of at least 2.",
        )

    @property
    def spec(self) -> str:
        return f"logistic-{'K' if self.base is None else self.base}"

    def log_base(self, n_labels: int) -> float:
        """Natural logarithm of the base."""
        return math.log(n_labels if self.base is None else self.base)

    def parameters(self, n_labels: int) -> FloatArray:
        return np.array([self.log_base(n_labels)])

    def smoothness(self, feature_norm: float, n_labels: int) -> float:
        return LOGISTIC_SMOOTHNESS * feature_norm * feature_norm / self.log_base(n_labels)

    def maximum(self, feature_norm: float, comparator_norm: float, n_labels: int) -> float:
        reach = math.sqrt(2.0) * comparator_norm * feature_norm
        return (math.log(n_labels) + reach) / self.log_base(n_labels)

    def values(self, scores: FloatArray, labels: IntArray) -> FloatArray:
        logs = log_softmax(scores, axis=1)
        return -logs[np.arange(len(labels)), labels] / self.log_base(scores.shape[1])

    def gradients(self, scores: FloatArray, labels: IntArray) -> FloatArray:
        gradients = softmax(scores, axis=1)
        gradients[np.arange(len(labels)), labels] -= 1
        return np.asarray(gradients / self.log_base(scores.shape[1]))

    def counts_for_comparator(
        self, best: IntArray, margins: FloatArray, labels: IntArray
    ) -> NDArray[np.bool_]:
        return np.ones(len(labels), dtype=bool)


FORMS = (
    "smooth-hinge",
    "hinge",
    "hinge-KAPPA with KAPPA in [0, 1)",
    "logistic-BASE with an integer of at least 2",
    "logistic-K",
)
"""The names that :func:`parse` reads."""


def parse(spec: str) -> Loss:
    """Read ``smooth-hinge``, ``hinge``, ``hinge-0.3`` (kappa), ``logistic-2`` (base) or ``logistic-K``.

    Raises
    ------
    UserError
        for an unknown loss or value
    """
    if spec == "smooth-hinge":
        return SmoothHinge()
    name, _, value = spec.partition("-")
    try:
        if name == "hinge":
            return Hinge(float(value)) if value else Hinge()
        if name == "logistic":
            return Logistic(None) if value == "K" else Logistic(int(value or 2))
    except UserError:
        raise
    except ValueError:
        raise UserError(
            f"loss '{spec}': expected hinge-KAPPA with a number in [0, 1), or logistic-BASE with"
            " 'K' or an integer of at least 2."
        ) from None
    raise unknown("loss", spec, ("smooth-hinge", "hinge", "logistic-2", "logistic-K"))
