"""A weak learner that follows advice: every feature is a label, and it hedges over whom to believe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...arrays import FloatArray, IntArray
from .hedge import HedgeFinite, Hedging
from .weak import Crowd, Setting


def advice(column: int, x: FloatArray) -> int:
    """The label that a column of the features names."""
    return int(x[column])


@dataclass(frozen=True)
class HedgeAdvice(Hedging):
    """Hedge over the columns of the features, each of which names a label.

    Parameters
    ----------
    rate : Hedge rate; that of :func:`hedge_rate` for the horizon and costs of range 1 where None
    """

    streams: ClassVar[tuple[str, ...]] = ("planted-advice:edge=0.4",)

    @staticmethod
    def reads(features: FloatArray, n_labels: int) -> bool:
        """True if every feature is a label."""
        return bool(np.isin(features, np.arange(n_labels)).all())

    @staticmethod
    def n_hypotheses(n_features: int, n_labels: int) -> int:
        """d."""
        return n_features

    def contains(self, planted: IntArray, features: FloatArray) -> bool:
        return bool((features == planted[:, None]).all(axis=0).any())

    def least_costs(self, crowd: Any) -> FloatArray:
        found: FloatArray = crowd.costs.min(axis=1)
        return found

    def mean_costs(self, crowd: Any, x: FloatArray, costs: FloatArray) -> FloatArray:
        found: FloatArray = (crowd.probabilities(x) * costs[:, crowd.labels(x)]).sum(axis=1)
        return found

    def crowd(self, setting: Setting) -> Crowd:
        columns = [partial(advice, column) for column in range(setting.n_features)]
        return HedgeFinite(columns, self.rate).crowd(setting)
