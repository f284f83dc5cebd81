"""Hoeffding trees as weak learners, by River: the experiments of the paper use them.

A tree learns labels, not costs: it is told the cheapest label as if it were the true one, with the sum of what the
other costs exceed the least by as the weight of the example. Nothing is promised of its edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from ...arrays import FloatArray, IntArray
from ...errors import UserError
from .weak import Crowd, Setting, Spelt


@dataclass(frozen=True)
class HoeffdingTree(Spelt):
    """River's Hoeffding tree classifier, told the cheapest label.

    Parameters
    ----------
    grace_period : examples that a leaf sees between attempts to split, at least 1
    """

    grace_period: Annotated[int, "[1, inf)"] = 200

    def crowd(self, setting: Setting) -> Crowd:
        try:
            from river import tree
        except ImportError as error:
            raise UserError(
                "hoeffding-tree needs River: expected it to be installed, as by pip install river."
            ) from error
        made = tree.HoeffdingTreeClassifier
        return _Trees([made(grace_period=self.grace_period) for _ in range(setting.n_learners)])


class _Trees:
    draws: ClassVar[bool] = False

    def __init__(self, trees: list[Any]) -> None:
        self.trees = trees

    def predict(self, x: FloatArray, dice: FloatArray) -> IntArray:
        shown = dict(enumerate(x.tolist()))
        return np.array([tree.predict_one(shown) or 0 for tree in self.trees])

    def update(self, x: FloatArray, costs: FloatArray, weights: FloatArray) -> None:
        shown = dict(enumerate(x.tolist()))
        excess = weights * (costs - costs.min(axis=1, keepdims=True)).sum(axis=1)
        for tree, label, weight in zip(
            self.trees, costs.argmin(axis=1).tolist(), excess.tolist(), strict=True
        ):
            if weight > 0:
                tree.learn_one(shown, label, w=weight)
