"""Hoeffding trees as weak learners, by River: the experiments of the paper use them.

A tree learns labels, not costs: it is told the cheapest label as if it were the true one, with the sum of what the
other costs exceed the least by as the weight of the example. Nothing is promised of its edge.

Estimated costs are often least at several labels at once: where another label than the best one was played and was
right, the two of them cost the same at equal votes. With ``ties=lowest`` the trees are told the first of them, with
``random`` one that is drawn, and with ``played`` the one that was played if it was right, else one that is drawn. Only
the last tells the right label from the booster's. An estimate is also large where the booster explores little, and
``clip`` bounds it. The authors prefer the played label, and clip at 100, before costs are divided by the largest weight
as here. A clip below the size of the estimates makes more ties; an example whose costs all become equal is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from ...arrays import FloatArray, IntArray
from ...errors import UserError
from .weak import Crowd, Setting, Spelt

TIES = ("lowest", "random", "played")


@dataclass(frozen=True)
class HoeffdingTree(Spelt):
    """River's Hoeffding tree classifier, told the cheapest label.

    A leaf splits if the best attribute leads the next by more than sqrt(R^2 ln(1/delta) / (2 n)), n being the weight
    that it has seen and R the logarithm of the number of its labels to the base 2, or if that is below
    ``tie_threshold``.

    Parameters
    ----------
    grace_period : weight that a leaf sees between attempts to split, at least 1
    delta : probability of a wrong split, in (0, 1)
    tie_threshold : leads below it are no reason to wait, in [0, inf)
    ties : of several cheapest labels the one "played" if it was right, otherwise one at "random"; always one at
        "random"; or the "lowest"
    clip : costs are clipped to [-clip, clip], above 0; not at all where None
    weight : what the weight of an example is multiplied with, above 0
    """

    grace_period: Annotated[int, "[1, inf)"] = 200
    delta: Annotated[float, "(0, 1)"] = 1e-7
    tie_threshold: Annotated[float, "[0, inf)"] = 0.05
    ties: Annotated[str, TIES] = "played"
    clip: Annotated[float | None, "(0, inf)"] = None
    weight: Annotated[float, "(0, inf)"] = 1.0

    @property
    def seeded(self) -> bool:
        """True if ties are drawn."""
        return self.ties != "lowest"

    def crowd(self, setting: Setting) -> Crowd:
        try:
            from river import tree
        except ImportError as error:
            raise UserError(
                "hoeffding-tree needs River: expected it to be installed, as by pip install river."
            ) from error
        trees = [
            tree.HoeffdingTreeClassifier(
                grace_period=self.grace_period, delta=self.delta, tau=self.tie_threshold
            )
            for _ in range(setting.n_learners)
        ]
        return _Trees(self, trees, setting.seeds or tuple(range(setting.n_learners)))


class _Trees:
    """Trees in progress.

    Attributes
    ----------
    right : the label that has shown to be right in the round that is told next, or None
    """

    draws: ClassVar[bool] = False

    def __init__(self, made: HoeffdingTree, trees: list[Any], seeds: tuple[int, ...]) -> None:
        self.made, self.trees = made, trees
        self.generators = [np.random.default_rng(seed) for seed in seeds]
        self.right: int | None = None

    def predict(self, x: FloatArray, dice: FloatArray) -> IntArray:
        shown = dict(enumerate(x.tolist()))
        return np.array([tree.predict_one(shown) or 0 for tree in self.trees])

    def update(self, x: FloatArray, costs: FloatArray, weights: FloatArray) -> None:
        shown = dict(enumerate(x.tolist()))
        limit = np.inf if self.made.clip is None else self.made.clip
        size = weights * self.made.weight
        clipped = np.clip(costs, -limit, limit)
        excess = size * (clipped - clipped.min(axis=1, keepdims=True)).sum(axis=1)
        for i, (tree, weight) in enumerate(zip(self.trees, excess.tolist(), strict=True)):
            if weight > 0:
                tree.learn_one(shown, self._cheapest(i, clipped[i]), w=weight)

    def _cheapest(self, i: int, costs: FloatArray) -> int:
        """The label that tree i is told."""
        if self.made.ties == "lowest":
            return int(costs.argmin())
        level = np.flatnonzero(costs == costs.min())
        if self.made.ties == "played" and self.right is not None and self.right in level:
            return self.right
        return int(self.generators[i].choice(level))
