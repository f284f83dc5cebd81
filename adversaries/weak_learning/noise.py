"""Estimates that a weak learner is shown in place of the true costs: with their mean, within a bound b.

=====================  =======================================================================
symbol                 name here (paper: Online Multiclass Boosting with Bandit Feedback)
=====================  =======================================================================
c_t, c-hat_t           ``costs``, what ``shown`` returns
b                      ``bound``: the largest entry of c-hat - c
rho                    ``rho``, the booster's exploration rate
=====================  =======================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Protocol

import numpy as np

from ...algorithms.spec import (
    SMALLEST_RATE,
    Checked,
    check_keys,
    command_name,
    nested,
    read_float,
    split_nested,
)
from ...arrays import FloatArray, IntArray
from ...errors import require, unknown

MOST_LABELS = 200
"""For which all estimates of a cost vector are written out."""


class Noise(Protocol):
    """A way of estimating costs.

    Attributes
    ----------
    follows : whether an estimate depends on what was predicted in its round
    """

    follows: ClassVar[bool]

    def shown(
        self, costs: FloatArray, label: int, predicted: IntArray, uniforms: FloatArray
    ) -> FloatArray:
        """Estimates of costs of R runs, shape (R, k), made once the labels ``predicted`` are known.

        ``uniforms`` are numbers in [0, 1) drawn for each run and label, shape (R, k); over these the mean
        is ``costs``.
        """

    def bound(self, costs: FloatArray, label: int) -> float:
        """The largest absolute error that an estimate of the cost vector ``costs`` can have."""

    def spread(self, costs: FloatArray, label: int) -> float:
        """The largest difference between two entries of an estimate of ``costs``, or a bound on it."""


class _Spelt(Checked):
    """Written inside the parameters of an adversary: ``two-point+size=0.5``."""

    follows: ClassVar[bool] = False

    def __str__(self) -> str:
        return nested(self.spec)


@dataclass(frozen=True)
class Exact(_Spelt):
    """The true costs."""

    def shown(
        self, costs: FloatArray, label: int, predicted: IntArray, uniforms: FloatArray
    ) -> FloatArray:
        return costs.copy()

    def bound(self, costs: FloatArray, label: int) -> float:
        return 0.0

    def spread(self, costs: FloatArray, label: int) -> float:
        return float(np.ptp(costs))


@dataclass(frozen=True)
class Estimate(_Spelt):
    """The estimates that a bandit booster makes of one bit, equations (4) and (5).

    It plays the predicted label with probability 1 - rho and each other one with rho / (k - 1), and learns whether
    that was right. Its cost vector for another true label r has the entries of r and of the true label exchanged.

    Parameters
    ----------
    rho : exploration rate in [1e-9, 1)
    """

    rho: Annotated[float, f"[{SMALLEST_RATE:g}, 1)"] = 0.5
    follows: ClassVar[bool] = True

    def shown(
        self, costs: FloatArray, label: int, predicted: IntArray, uniforms: FloatArray
    ) -> FloatArray:
        n_labels, rows = costs.shape[1], np.arange(len(costs))
        explores = uniforms[:, 0] >= 1 - self.rho
        away = 1 + np.minimum((uniforms[:, 1] * (n_labels - 1)).astype(np.int64), n_labels - 2)
        played = np.where(explores, (predicted + away) % n_labels, predicted)
        chance = np.where(explores, self.rho / (n_labels - 1), 1 - self.rho)
        correct = played == label
        losses = np.where(correct, 1 / chance, 0.0)[:, None].repeat(n_labels, axis=1)
        losses[rows, predicted] = np.where(correct | explores, 0.0, 1 / chance)
        losses[rows[correct], label] = 0
        shares = 1 - losses
        found: FloatArray = costs * (shares.sum(axis=1, keepdims=True) - shares)
        found[:, label] = (shares * costs).sum(axis=1)
        return found

    def _outcomes(self, costs: FloatArray, label: int) -> FloatArray:
        """Every estimate that can come out, whatever was predicted and played."""
        k = len(costs)
        require(
            k <= MOST_LABELS,
            f"{k} labels: expected at most {MOST_LABELS} with the noise estimate, whose k^3 outcomes are looked at.",
        )
        predicted = np.repeat(np.arange(k), k)
        # one draw without exploration, and one for each other label
        uniforms = np.tile(
            [[0.0, 0.0]] + [[1 - self.rho / 2, (j + 0.5) / (k - 1)] for j in range(k - 1)], (k, 1)
        )
        return self.shown(np.tile(costs, (k * k, 1)), label, predicted, uniforms)

    def bound(self, costs: FloatArray, label: int) -> float:
        return float(np.abs(self._outcomes(costs, label) - costs).max())

    def spread(self, costs: FloatArray, label: int) -> float:
        return float(np.ptp(self._outcomes(costs, label), axis=1).max())


@dataclass(frozen=True)
class _Bounded(_Spelt):
    """Errors within a bound, whatever the costs are."""

    size: Annotated[float, "[0, inf)"] = 1.0

    def bound(self, costs: FloatArray, label: int) -> float:
        return self.size

    def spread(self, costs: FloatArray, label: int) -> float:
        return float(np.ptp(costs)) + 2 * self.size


@dataclass(frozen=True)
class TwoPoint(_Bounded):
    """Each entry is off by ``size`` to either side, by the toss of a coin.

    Parameters
    ----------
    size : the error b, at least 0
    """

    def shown(
        self, costs: FloatArray, label: int, predicted: IntArray, uniforms: FloatArray
    ) -> FloatArray:
        found: FloatArray = costs + self.size * np.where(uniforms < 0.5, -1.0, 1.0)
        return found


@dataclass(frozen=True)
class Push(_Bounded):
    """Makes a wrong label look cheap and the true one dear in nine of ten rounds, and the reverse in the tenth.

    The wrong label is the one after the true one. The errors of the tenth round are b, the others b / 9.

    Parameters
    ----------
    size : the largest error b, at least 0
    """

    def shown(
        self, costs: FloatArray, label: int, predicted: IntArray, uniforms: FloatArray
    ) -> FloatArray:
        error = np.where(uniforms[:, 0] < 0.1, -self.size, self.size / 9)
        found = costs.copy()
        found[:, label] += error
        found[:, (label + 1) % costs.shape[1]] -= error
        return found


@dataclass(frozen=True)
class Pair(_Bounded):
    """The predicted label looks dearer by b and all others cheaper by b, or the reverse, by the toss of a coin.

    What the predicted label really costs exceeds what it seems to, and what another one seems to cost exceeds what
    it does, by the same b in the same rounds.

    Parameters
    ----------
    size : the error b, at least 0
    """

    follows: ClassVar[bool] = True

    def shown(
        self, costs: FloatArray, label: int, predicted: IntArray, uniforms: FloatArray
    ) -> FloatArray:
        sign = np.where(uniforms[:, 0] < 0.5, -self.size, self.size)
        found: FloatArray = costs + sign[:, None]
        found[np.arange(len(costs)), predicted] -= 2 * sign
        return found


KINDS: Mapping[str, type[Any]] = {
    command_name(kind): kind for kind in (Exact, Estimate, TwoPoint, Push, Pair)
}


def parse(text: str) -> Noise:
    """Make a noise model from its name with parameters, ``estimate+rho=0.5``.

    Raises
    ------
    UserError
        for an unknown name or parameter, or an illegal value
    """
    name, given = split_nested(text)
    if name not in KINDS:
        raise unknown("noise", name, KINDS)
    made = KINDS[name]
    check_keys(name, given, [field.name for field in fields(made)])
    found: Noise = made(**{key: read_float(given, key) for key in given})
    return found
