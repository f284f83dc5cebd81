"""The label-efficient Perceptron: it asks for the label the more often the less sure it is.

With m* the margin of the best label, it asks with probability b / (b + m*), and after an answer that shows a mistake
takes the Perceptron's step. Asking is the action K of the graph; its cost is told by the record: asking is a
mistake in the column MISTAKE, and in BEST it is free.

=========  =====================================================================
symbol     name here
=========  =====================================================================
b          ``smoothing``
m*         ``margin`` of the best label
=========  =====================================================================

tuning     smoothing
=========  =====================================================================
default    1
ones       1
theory     X^2, where X is ``problem.feature_norm``
=========  =====================================================================

The expected mistakes are at most (b + X^2) / b L + |U|^2 (b + X^2)^2 / (2b), least for L = 0 at b = X^2. A step moves
two rows and has the squared norm 2 |x|^2, with two labels too; the paper's learner of two classes has one vector of
weights and steps of squared norm |x|^2, and its bound has X^2 / 2 for X^2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from ..arrays import FloatArray
from ..compiled import kernel
from .baseline import Baseline, step_towards
from .graphs import FeedbackGraph
from .learner import PREDICT, UPDATE, Declaration, Player, Problem, fresh_state


@kernel(PREDICT)
def _predict(
    scores: FloatArray, best: int, runner: int, parameters: FloatArray, p: FloatArray
) -> None:
    n_labels = scores.shape[0]
    margin = scores[best] - scores[runner]
    query = parameters[0] / (parameters[0] + margin)
    for k in range(n_labels):
        p[k] = 0.0
    p[best] = 1.0 - query
    p[n_labels] = query


@kernel(UPDATE)
def _update(
    scores: FloatArray, best: int, action: int, label: int, coefficient: FloatArray
) -> bool:
    if action != scores.shape[0] or label == best:
        return False
    step_towards(label, best, 1.0, coefficient)
    return True


@dataclass(frozen=True)
class LabelEfficientPerceptron(Baseline):
    """Label-efficient Perceptron: asks with probability b / (b + margin), and learns from the answers alone.

    Parameters
    ----------
    smoothing : b, finite and above 0; set by the tuning where None

    Raises
    ------
    UserError
        for an illegal smoothing
    """

    smoothing: Annotated[float | None, "(0, inf)"] = None
    source: ClassVar[str] = (
        "N. Cesa-Bianchi, C. Gentile and L. Zaniboni (2006),"
        " Worst-Case Analysis of Selective Sampling for Linear Classification"
    )
    graphs: ClassVar[str] = "label-efficient: a single action beyond the labels, which reveals all"
    tunings: ClassVar[Mapping[str, str]] = {
        "default": "smoothing = 1",
        "ones": "smoothing = 1",
        "theory": "smoothing = X^2",
    }

    def accepts(self, graph: FeedbackGraph) -> bool:
        return graph.n_actions == graph.n_labels + 1 and bool(graph.observes[-1].all())

    def numbers(self, problem: Problem) -> dict[str, float]:
        if self.smoothing is not None:
            return {"smoothing": self.smoothing}
        squared = problem.feature_norm * problem.feature_norm or 1.0  # for X = 0 any number will do
        return {"smoothing": squared if self.tuning == "theory" else 1.0}

    def player(self, problem: Problem) -> Player:
        self.check_graph(problem.graph)
        numbers = self.numbers(problem)
        return Player(
            _predict,
            _update,
            np.array([numbers["smoothing"]]),
            fresh_state(),
            Declaration(numbers=self.declared(numbers)),
        )
