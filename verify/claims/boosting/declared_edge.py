"""The declarations of a user's weak learners, as the bounds of boosting by majority take them.

=============  ====================================================================================
symbol         name here
=============  ====================================================================================
gamma'         ``edge`` of the declaration, at least the ``gamma`` that the booster counts on
S, delta'      ``excess_loss`` and ``delta`` of the declaration
s^i            ``scales`` of the booster: the costs of learner i over s^i are what it is told
=============  ====================================================================================

Each keeps to (1 - gamma')/k, in units of its scale, up to S with probability 1 - delta', so that in place of
S sum_i w^{i*} there is S sum_i s^i, and N delta' of the delta is spent. With bandit feedback a cost vector is told as
an estimate of weight times cost, up to a constant, with weight 1; the declaration is about the true weight and cost.
"""

from __future__ import annotations

from ....algorithms.boosting.booster import Booster
from ....algorithms.boosting.problem import WeakDeclaration
from ...games.labels.case import Case
from ...games.weak.user_learner import DECLARED, UserWeakLearner, boosted_problem
from ..sampled import DELTAS


def are_users(case: Case) -> bool:
    """True if the weak learners of a booster are a class of the user's."""
    return isinstance(getattr(case.learner, "weak", None), UserWeakLearner)


def declared(case: Case) -> WeakDeclaration | str:
    """The declaration of each of them, or what is missing in it, as a phrase."""
    key = ("declaration of the weak learners", 0)
    if key not in case.kept:
        assert isinstance(case.learner, Booster)
        weak = case.learner.weak
        assert isinstance(weak, UserWeakLearner)
        case.kept[key] = weak.declared(boosted_problem(case.learner.crowd_setting(case.problem)))
    found: WeakDeclaration | str = case.kept[key]
    return found


def declaration_of(case: Case) -> WeakDeclaration | None:
    """The declaration of weak learners that are the user's and declare all; None for others."""
    found = declared(case) if are_users(case) else None
    return found if isinstance(found, WeakDeclaration) else None


def declaration_unmet(gamma: float, n_learners: int, case: Case) -> str | None:
    """The hypothesis that the declaration serves a booster that counts on gamma."""
    found = declared(case)
    if isinstance(found, str):
        return f"{found} in a booster: expected the numbers {', '.join(DECLARED)}, on the class or set in __init__"
    if found.edge < gamma:
        return f"the booster counts on gamma = {gamma}, more than the edge {found.edge} that its weak learners declare"
    if not n_learners * found.delta < max(DELTAS):
        return (
            f"{n_learners} weak learners may each fail with probability {found.delta}: expected a sum below"
            f" {max(DELTAS)}"
        )
    return None
