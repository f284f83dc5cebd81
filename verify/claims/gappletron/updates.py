"""The weights move as the declared optimiser says.

========  ==========================================================================
symbol    name here
========  ==========================================================================
W_t       ``weights`` of :class:`Descent`, dense, shape (K, d)
B         ``comparator_norm``, the largest norm of the weights
S         ``squares``, sum of the squared norms of the estimated gradients
v_t       importance weight, from the game's own probabilities
========  ==========================================================================

Statements about sums leave room that a wrong step fits into. Here a short game is followed by a second
implementation with dense weights. It takes its gradients at the scores of the game, so that a kink of the
loss cannot send the two apart, and the scores of both must agree in every round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ....algorithms.losses import Loss
from ....arrays import FloatArray
from ...author import Audit, Cell, Claim, Evidence, Form, Proof
from ...games.labels.case import Case
from ...games.labels.record import BEST, MARGIN, OBSERVED, Block
from ...judges.audit import violated_in
from ..papers import GAPPLETRON
from .hypotheses import needs
from .settings import update_settings

AGREEMENT = 1e-7
"""Largest difference of scores, as a share of |x| times the largest norm of the weights so far."""

FOLLOWED = 400
"""Rounds of each run that are followed."""


@dataclass
class Descent:
    """An optimiser on dense weights, written from the definitions in optimisers.py.

    Attributes
    ----------
    optimiser : spec of it
    comparator_norm : B
    weights : W_t, shape (K, d)
    """

    optimiser: str
    comparator_norm: float
    weights: FloatArray
    squares: float = 0.0
    total: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.total = np.zeros_like(self.weights)

    def step(self, gradient: FloatArray) -> None:
        """Move by an estimated gradient, shape (K, d)."""
        squared = float(np.square(gradient).sum())
        if self.optimiser == "stand-still" or squared == 0:
            return
        self.squares += squared
        self.total += gradient
        if self.optimiser == "unprojected":
            self.weights = self.weights - gradient / math.sqrt(1e-8 + self.squares)
            return
        if self.optimiser == "projected":
            rate = math.sqrt(2) * self.comparator_norm / math.sqrt(self.squares)
            moved = self.weights - rate * gradient
        else:
            moved = -self.comparator_norm / (2 * math.sqrt(self.squares)) * self.total
        self.weights = moved * min(
            1.0, self.comparator_norm / max(float(np.linalg.norm(moved)), 1e-300)
        )


def _gradients(loss: Loss, block: Block) -> FloatArray:
    """Score gradients at the scores of the game, shape (rounds, K)."""
    best, margins = block.column(BEST).astype(np.int64), block.column(MARGIN)
    counts = loss.counts_for_comparator(best, margins, block.labels)
    return np.where(counts[:, None], loss.gradients(block.scores, block.labels), 0.0)


def _start(case: Case) -> Descent:
    """The declared optimiser before the first round."""
    optimiser, shape = case.declaration.get("optimiser"), (case.n_labels, case.sequence.n_features)
    assert optimiser is not None
    return Descent(
        optimiser,
        case.comparator_norm,
        np.eye(*shape) if optimiser == "stand-still" else np.zeros(shape),
    )


def follow(cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
    """Follow every run for a while; stop at the first round in which the scores differ."""
    case, found = cell.case, Evidence(observed=0.0, envelope=AGREEMENT, live=0)
    loss, sequence, observes = case.loss, case.sequence, case.graph.observes.astype(np.float64)
    worst = 0.0
    for run in range(runs):
        descent, size = _start(case), 0.0
        found.runs += 1
        for block in case.game.play(run, trace=True, interpreted=interpreted, stop=FOLLOWED):
            gradients = _gradients(loss, block)
            for i in range(len(block)):
                at, label, scores = block.start + i, int(block.labels[i]), block.scores[i]
                x = sequence.row(at)
                size = max(size, float(np.linalg.norm(descent.weights)))
                second = descent.weights @ x
                room = size * math.sqrt(float(block.squared_norms[i]))
                deviation = float(np.abs(scores - second).max())
                share = deviation / room if room > 0 else math.inf if deviation else 0.0
                found.rounds += 1
                if not share <= AGREEMENT:
                    return _differs(cell, found, (run, at), scores, second, share)
                worst = max(worst, share)
                if block.columns[i, OBSERVED] > 0:
                    weight = 1 / float(block.probabilities[i] @ observes[:, label])
                    descent.step(weight * np.outer(gradients[i], x))
                    found.live += 1
    found.observed, found.ratio = worst, worst / AGREEMENT
    found.says = (
        f"{found.live} revealed labels followed in {runs} runs, scores agree to {worst:.1e}"
    )
    if not found.live:
        found.says = "no label was revealed"
    return found


def _differs(
    cell: Cell,
    found: Evidence,
    place: tuple[int, int],
    scores: FloatArray,
    second: FloatArray,
    share: float,
) -> Evidence:
    share = share if math.isfinite(share) else math.inf
    found.live, found.observed, found.ratio = 1, share, share / AGREEMENT
    says = f"the scores are not those of the {cell.case.declaration['optimiser']} optimiser"
    # nine digits of the second implementation: the order in which it adds is the processor's
    content = {
        "before": [repr(float(score)) for score in scores],
        "after": [f"{score:.9g}" for score in second],
    }
    return violated_in(cell, found, place, says, (share, AGREEMENT), content)


UPDATES = Claim(
    id="gappletron/updates",
    title="the weights move as the declared optimiser says",
    source=GAPPLETRON.at("Algorithm 1 and Section 6"),
    forms=(
        Form(
            "printed",
            r"\langle W_t, x_t\rangle \text{ are the scores of the declared optimiser, fed with }"
            r" v_s\nabla\ell_s(W_s),\; s < t \quad\text{up to } 10^{-7}",
            Proof.PROVED,
            "a definition: followed with dense weights, from the game's own probabilities",
            needs("loss", "optimiser"),
        ),
    ),
    judge=Audit(follow),
    cases=update_settings,
)
