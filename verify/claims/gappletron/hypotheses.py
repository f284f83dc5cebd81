"""To whom the statements about Gappletron apply: hypotheses on the learner, its loss and the graph."""

from __future__ import annotations

from collections.abc import Callable

from ....adversaries.crafted import Alternation, CraftedScores
from ....algorithms.losses import Logistic, SmoothHinge
from ...author import Verdict
from ...games.labels.case import Case


def is_crafted(case: Case) -> bool:
    """Whether the sequence was made to refute what can be refuted."""
    return isinstance(case.adversary, CraftedScores | Alternation)


def needs(*names: str) -> Callable[[Case], str | None]:
    """The hypothesis that the learner declares the named things, and that its scores are known."""

    def unmet(case: Case) -> str | None:
        if not case.declaration.weights:
            return "the learner has no attribute 'weights' of shape (labels, features)"
        for name in names:
            if (case.loss if name == "loss" else case.declaration.get(name)) is None:
                return f"the learner declares no {name.replace('_', ' ')}"
        return None

    return unmet


def plays_rule(printed: bool, case: Case) -> str | None:
    """The hypothesis that the learner declares the printed rule, or that it declares a repaired one."""
    if printed != (case.declaration.get("rule") == "printed"):
        return f"the learner plays the rule '{case.declaration.get('rule')}'"
    return None


def not_repaired(case: Case) -> str | None:
    """The hypothesis that the learner does not declare a repaired rule; it need not declare any."""
    if case.declaration.get("rule") in ("threshold", "mixture"):
        return "Algorithm 1 as printed has another exploration rule"
    return None


def sees_enough(case: Case) -> Verdict | None:
    """``holds`` where bound (9) is true of the printed rule too: every label is seen by K / rho actions."""
    graph = case.graph
    safe = int(graph.in_degree.min()) * graph.domination_number >= graph.n_actions
    return Verdict.HOLDS if safe else None


def is_regular(case: Case) -> bool:
    """Whether the loss satisfies condition (2) with a gap map in [0, 1]."""
    loss = case.loss
    if isinstance(loss, Logistic):
        return loss.base == 2 or (loss.base is None and case.n_labels == 2)
    return isinstance(loss, SmoothHinge)


def called_regular(case: Case) -> bool:
    """Whether the paper calls the loss regular: smooth hinge, and the logistic loss with base K."""
    return isinstance(case.loss, SmoothHinge) or case.loss == Logistic(None)
