"""Hypotheses of the statements about Gappletron, on the learner, its loss and the graph."""

from __future__ import annotations

from collections.abc import Callable

from ....adversaries.crafted import Alternation, CraftedScores
from ....algorithms.losses import Logistic, SmoothHinge
from ...author import Verdict
from ...games.labels.case import Case


def is_crafted(case: Case) -> bool:
    """True if the sequence was made to refute what can be refuted."""
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
    """True if the loss satisfies condition (2), and the gap map lies in [0, 1] and is the loss of the best label, or 1
    where no label has a loss below 1."""
    loss = case.loss
    if isinstance(loss, Logistic):
        return loss.base == 2 or (loss.base is None and case.n_labels == 2)
    return isinstance(loss, SmoothHinge)


def called_regular(case: Case) -> str | None:
    """The hypothesis that the paper calls the loss regular: smooth hinge, and the logistic loss with base K."""
    if isinstance(case.loss, SmoothHinge) or case.loss == Logistic(None):
        return None
    return f"the paper does not call the loss {case.loss_name} regular"


def refuted_where_crafted(case: Case) -> Verdict | None:
    """The verdict expected of what holds for losses with condition (2) only, as printed."""
    if is_regular(case):
        return Verdict.HOLDS
    return Verdict.REFUTED if is_crafted(case) else None
