"""Gappletron whose h is the one that its optimiser needs on a sequence, not on all.

Theorem 3 supposes guarantee (4) with some h, and 2 sqrt(2) B is what projected descent needs on the worst sequence that
its proof can think of. Where each of n rounds shows a coordinate of its own, W is 0 on it and loses 1. The regret
against a comparator without loss is n, and the root of the summed squared gradients sqrt(2 L n), so that
h = sqrt(n / (2 L)) will do, a good tenth of 8 B^2 when squared. The cells of ``gappletron/guarantee-4`` with the same
settings put the declared h to the test on the sequence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from ....algorithms.gappletron import Gappletron
from ....algorithms.learner import Player, Problem
from ....algorithms.losses import Hinge, Loss, SmoothHinge
from ....algorithms.spec import Checked, spec_of

LOSSES: dict[str, Loss] = {"smooth-hinge": SmoothHinge(), "hinge": Hinge()}


@dataclass(frozen=True)
class DeclaredRegret(Checked):
    """Gappletron with projected descent, gamma = 1 and a declared h.

    Parameters
    ----------
    loss : surrogate loss
    factor : h(U), above 0, the same for all U

    Raises
    ------
    UserError
        for an unknown loss or a factor that is not above 0
    """

    loss: Annotated[Literal["smooth-hinge", "hinge"], LOSSES] = "smooth-hinge"
    factor: Annotated[float, "(0, inf)"] = 4.0
    source: ClassVar[str] = "our own, to come near the bounds of Theorem 3"
    graphs: ClassVar[str] = "full information"

    @property
    def spec(self) -> str:
        return spec_of(self, every=True)

    @property
    def promises(self) -> tuple[str, ...]:
        """Those of Gappletron whose h holds on every sequence are no promises of this one."""
        return ("gappletron/lemma-*", "gappletron/algorithm-1", "gappletron/updates", "game/*")

    def player(self, problem: Problem) -> Player:
        player = Gappletron(LOSSES[self.loss], gamma=1.0).player(problem)
        values = {**player.declaration, "regret_factor": self.factor}
        return replace(player, declaration=replace(player.declaration, numbers=values))
