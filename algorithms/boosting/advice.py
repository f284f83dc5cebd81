"""A weak learner that follows advice: every feature is a label, and it hedges over whom to believe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ...arrays import FloatArray
from .hedge import HedgeFinite, check_hedge_rate
from .weak import Crowd, Setting, Spelt


def advice(column: int, x: FloatArray) -> int:
    """The label that a column of the features names."""
    return int(x[column])


@dataclass(frozen=True)
class HedgeAdvice(Spelt):
    """Hedge over the columns of the features, each of which names a label.

    Parameters
    ----------
    rate : Hedge rate; that of :func:`hedge_rate` for the horizon and costs of range 1 where None
    """

    rate: float | None = None

    def __post_init__(self) -> None:
        check_hedge_rate("hedge-advice", self.rate)

    @staticmethod
    def n_hypotheses(n_features: int, n_labels: int) -> int:
        """d."""
        return n_features

    def crowd(self, setting: Setting) -> Crowd:
        columns = [partial(advice, column) for column in range(setting.n_features)]
        return HedgeFinite(columns, self.rate).crowd(setting)
