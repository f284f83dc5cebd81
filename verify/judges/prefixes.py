"""Prefixes of runs: a statement for every T, about a learner that does not use T, is judged at several T at once.

The checkpoints t_1 < ... < t_m = T and their shares of the wealth are fixed before play: half of it is bet on the
horizon, the rest in equal shares on the prefixes whose envelope a learner can exceed at all. E_{j,n} is the e-value of
checkpoint j after n whole runs, so the average of all E_{j,n} by these shares is an e-value after every run, and one
may stop looking at any run. Maxima over the runs must not be averaged: their expectations exceed 1.

A learner that reads T before the first round is judged at T alone. Of one that reads T in play the prefixes are
dropped, and the half stays at T: until it reads T it plays as it would with the horizon t_j, so that what is dropped is
an e-value times the indicator that nothing was read so far, and no more than an e-value.

The prefixes that hold are not only those that do not refute: where a mean, or a number of violations, is above what is
stated at some t_j by more than its noise, there is no ``holds``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import FloatArray
from ..claim import Cell
from .betting import NOISE, log_sum
from .decide import LEVEL

HALF = 0.5
"""The share of the horizon, where prefixes are judged too."""


@dataclass(frozen=True)
class Checkpoints:
    """Where runs are judged, and how much is bet there.

    Attributes
    ----------
    rounds : t_1 < ... < t_m, the last one the horizon
    shares : of the wealth, shape (m,); they sum to 1, or to less where prefixes were dropped
    alone : why no prefix is judged, as a clause; empty where some are
    """

    rounds: tuple[int, ...]
    shares: FloatArray
    alone: str = ""

    @classmethod
    def before_play(cls, cell: Cell, exceedable: Mapping[int, bool]) -> Checkpoints:
        """The checkpoints of a cell.

        Parameters
        ----------
        exceedable : for each number of rounds whether a learner could exceed the envelope, by the formula alone
        """
        horizon = max(exceedable)
        prefixes = sorted(t for t, can in exceedable.items() if can and t < horizon)
        alone = ""
        if not cell.form.every_horizon:
            alone = "the form is not stated for every T alike"
        elif cell.case.is_tuned_to_horizon:
            alone = "the learner uses T"
        elif not prefixes:
            alone = "no learner could exceed the envelope of a shorter game"
        if alone:
            return cls((horizon,), np.ones(1), alone)
        shares = [(1 - HALF) / len(prefixes)] * len(prefixes)
        return cls((*prefixes, horizon), np.array([*shares, HALF]))

    def after_play(self, case: Any) -> Checkpoints:
        """The same, without the prefixes if the learner read T in play."""
        if len(self.rounds) == 1 or not case.has_read_horizon:
            return self
        return Checkpoints(self.rounds[-1:], self.shares[-1:], "the learner reads T in play")

    def average(self, log_e_values: FloatArray) -> FloatArray:
        """The logarithm of the averaged e-value after each run, from those of shape (m, ..., n)."""
        shares = np.log(self.shares).reshape(-1, *(1,) * (log_e_values.ndim - 1))
        return log_sum(log_e_values + shares)

    def found(self, log_e_values: FloatArray) -> Found:
        """The largest averaged e-value over the runs, and where it comes from."""
        path = self.average(log_e_values)
        after = int(np.argmax(path))
        each = log_e_values[:, after]
        return Found(self, float(path[after]), each, int(np.argmax(each + np.log(self.shares))))

    def level_at(self, j: int) -> float:
        """The level at which the e-value of one checkpoint alone refutes."""
        return float(LEVEL * self.shares[j])

    @property
    def noise(self) -> float:
        """The level of the limits on noise at each checkpoint, at ``NOISE`` for all of them."""
        return NOISE / len(self.rounds)

    @property
    def says(self) -> str:
        """The smallest T tested, in words."""
        if self.alone:
            return f"tested at T = {self.rounds[-1]} only, since {self.alone}"
        return f"tested from T = {self.rounds[0]} on"


@dataclass(frozen=True)
class Found:
    """The evidence of the checkpoints.

    Attributes
    ----------
    checkpoints : where it was looked for
    log_e_value : logarithm of the averaged e-value, at its largest over the runs
    each : those of the checkpoints after the same run, shape (m,)
    decisive : index of the checkpoint that adds most to it
    """

    checkpoints: Checkpoints
    log_e_value: float
    each: FloatArray
    decisive: int

    @property
    def says(self) -> str:
        """The e-value in words, with the prefix that it comes from where that is not the whole game."""
        words = f"log10 e-value {self.log_e_value / math.log(10):.2f} of {-math.log10(LEVEL):.0f} needed"
        return f"{words}{self.where}"

    @property
    def where(self) -> str:
        """The decisive checkpoint where it is a prefix, in words."""
        rounds = self.checkpoints.rounds
        if self.decisive == len(rounds) - 1:
            return ""
        return f", by the first {rounds[self.decisive]} rounds of {rounds[-1]}"

    @property
    def numbers(self) -> dict[str, Any]:
        """Content of a certificate: the checkpoints with their shares and e-values."""
        rounds, shares = self.checkpoints.rounds, self.checkpoints.shares.tolist()
        each = zip(rounds, shares, self.each.tolist(), strict=True)
        listed = [
            {"rounds": t, "share": repr(share), "log_e_value": f"{log:.9g}"}
            for t, share, log in each
        ]
        prefixes: dict[str, Any] = {}
        if len(rounds) > 1 or shares != [1.0]:
            prefixes = {"checkpoints": listed, "decisive": rounds[self.decisive]}
        return prefixes | {"log_e_value": f"{self.log_e_value:.9g}"}
