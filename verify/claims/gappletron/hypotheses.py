"""Hypotheses of the statements about Gappletron, on the learner, its loss and the graph."""

from __future__ import annotations

from collections.abc import Callable

from ....adversaries.crafted import Alternation, CraftedScores
from ....algorithms.losses import Logistic, Loss, SmoothHinge
from ...author import Verdict
from ...games.labels.case import Case
from .instances import RoundInstance, ScoreInstance


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


def regular_loss(loss: Loss | None, n_labels: int) -> bool:
    """True if the loss satisfies condition (2), and the gap map lies in [0, 1] and is the loss of the best label, or 1
    where no label has a loss below 1."""
    if isinstance(loss, Logistic):
        return loss.base == 2 or (loss.base is None and n_labels == 2)
    return isinstance(loss, SmoothHinge)


def is_regular(case: Case) -> bool:
    """The same for the loss of a case."""
    return regular_loss(case.loss, case.n_labels)


def called_regular_loss(loss: Loss | None) -> str | None:
    """The hypothesis that the paper calls the loss regular: smooth hinge, and the logistic loss with base K."""
    if isinstance(loss, SmoothHinge) or loss == Logistic(None):
        return None
    return f"the paper does not call the loss {'none' if loss is None else loss.spec} regular"


def called_regular(case: Case) -> str | None:
    """The same for the loss of a case."""
    return called_regular_loss(case.loss)


def called_regular_in(instance: ScoreInstance | RoundInstance) -> str | None:
    """The same for the loss of an exact instance."""
    return called_regular_loss(_scores(instance).given_loss)


def regular_in(instance: ScoreInstance | RoundInstance) -> str | None:
    """The hypothesis of the repaired forms on the loss of an exact instance."""
    scores = _scores(instance)
    fits = regular_loss(scores.given_loss, scores.n_labels)
    return (
        None
        if fits
        else f"condition (2) fails for the loss {scores.loss} and {scores.n_labels} labels"
    )


def printed_rule_in(instance: RoundInstance) -> str | None:
    """The hypothesis that an exact instance is of the printed rule."""
    return None if instance.rule == "printed" else f"it plays the repaired rule '{instance.rule}'"


def _scores(instance: ScoreInstance | RoundInstance) -> ScoreInstance:
    return instance.scores if isinstance(instance, RoundInstance) else instance


def refuted_where_crafted(case: Case) -> Verdict | None:
    """The verdict expected of what holds for losses with condition (2) only, as printed."""
    if is_regular(case):
        return Verdict.HOLDS
    return Verdict.REFUTED if is_crafted(case) else None
