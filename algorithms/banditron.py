"""Banditron: the Perceptron's step, estimated from an action that sometimes explores.

It plays the best label, and with probability gamma an action drawn uniformly from those it explores. Two
estimates of the Perceptron's step have its mean:

* ``original`` moves in every round: down for the best label, and up by 1/p(y) for a true label that was played.
  It explores all labels and needs to know whether its guess was right.
* ``importance`` moves when the true label is seen and is not the best: up for it and down for the best, by
  the importance weight. It explores the revealing actions, or a dominating set where there are none, which is all
  labels in the bandit graph.

=========  =====================================================================
symbol     name here
=========  =====================================================================
gamma      ``gamma``, the exploration probability
yhat       ``best``
X          ``problem.feature_norm``
B          ``problem.comparator_norm``
n          how many explored actions are needed to see any label: K for ``original``, 1 where
           an action reveals all, the domination number otherwise
=========  =====================================================================

tuning     gamma
=========  =====================================================================
default    0.01
ones       min{1/2, T^(-1/3)}
theory     min{1/2, (n X^2 B^2 / T)^(1/3)}
=========  =====================================================================

Kakade et al. state the bandit form. In the filtering experiments of "Beyond Bandit Feedback in Online Multiclass
Classification" the minimum is printed as a maximum, which would explore in at least half of all rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from ..arrays import FloatArray
from ..compiled import Kernel, kernel
from .baseline import Baseline, observes_itself, step_towards
from .graphs import FeedbackGraph
from .learner import PREDICT, UPDATE, Declaration, Player, Problem, fresh_state

GAMMA, SHARES = 0, 1
"""Slots of ``parameters``; from ``SHARES`` on the exploration distribution, one entry per action."""


@kernel(PREDICT)
def _predict(best: int, parameters: FloatArray, p: FloatArray) -> None:
    for k in range(p.shape[0]):
        p[k] = parameters[GAMMA] * parameters[SHARES + k]
    p[best] += 1.0 - parameters[GAMMA]


@kernel(UPDATE)
def _original(best: int, p: FloatArray, action: int, label: int, coefficient: FloatArray) -> bool:
    for k in range(coefficient.shape[0]):
        coefficient[k] = 0.0
    coefficient[best] = 1.0
    if label == action:
        coefficient[label] -= 1.0 / p[label]
    return True


@kernel(UPDATE)
def _importance(best: int, label: int, weight: float, coefficient: FloatArray) -> bool:
    if label < 0 or label == best:
        return False
    step_towards(label, best, weight, coefficient)
    return True


ESTIMATORS: dict[str, Kernel] = {"original": _original, "importance": _importance}


@dataclass(frozen=True)
class Banditron(Baseline):
    """Banditron: the Perceptron's step estimated under exploration, as printed or by importance weights.

    Parameters
    ----------
    estimator : "original" or "importance" (see the module)
    gamma : exploration probability in (0, 1]; set by the tuning where None

    Raises
    ------
    UserError
        for an unknown estimator or an illegal gamma
    """

    estimator: Annotated[str, ESTIMATORS] = "original"
    gamma: Annotated[float | None, "(0, 1]"] = None
    source: ClassVar[str] = (
        "S. M. Kakade, S. Shalev-Shwartz and A. Tewari (2008),"
        " Efficient Bandit Algorithms for Online Multiclass Prediction"
    )
    graphs: ClassVar[str] = "bandit, or any graph with estimator=importance"
    tunings: ClassVar[Mapping[str, str]] = {
        "default": "gamma = 0.01",
        "ones": "gamma = min{1/2, T^(-1/3)}",
        "theory": "gamma = min{1/2, (n X^2 B^2 / T)^(1/3)}, n = K for original;"
        " importance: 1 with a revealing action, else the domination number",
    }

    def accepts(self, graph: FeedbackGraph) -> bool:
        return self.estimator == "importance" or observes_itself(graph)

    def explored(self, graph: FeedbackGraph) -> tuple[int, ...]:
        """The actions that exploration draws from."""
        if self.estimator == "original":
            return tuple(range(graph.n_labels))
        return graph.revealing or graph.dominating

    def numbers(self, problem: Problem) -> dict[str, float]:
        if self.gamma is not None or self.tuning == "default":
            return {"gamma": 0.01 if self.gamma is None else self.gamma}
        needed = 1.0
        if self.tuning == "theory":
            size = problem.feature_norm * problem.comparator_norm
            revealed = self.estimator == "importance" and problem.graph.revealing
            needed = size * size * (1 if revealed else len(self.explored(problem.graph)))
        return {"gamma": min(0.5, (needed / problem.horizon) ** (1 / 3))}

    def player(self, problem: Problem) -> Player:
        self.check_graph(problem.graph)
        numbers, explored = self.numbers(problem), self.explored(problem.graph)
        shares = np.zeros(problem.graph.n_actions)
        shares[list(explored)] = 1 / len(explored)
        return Player(
            _predict,
            ESTIMATORS[self.estimator],
            np.concatenate([[numbers["gamma"]], shares]),
            fresh_state(),
            Declaration(numbers=self.declared(numbers)),
        )
