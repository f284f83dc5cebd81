"""The weights move as the declared optimiser says.

========  ==========================================================================
symbol    name here
========  ==========================================================================
W_t       ``weights`` of :class:`Descent`, dense, shape (K, d)
B         ``radius`` of the ball
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
from ...certificates.make import Certificate, audit_of
from ...claim import GAPPLETRON, Claim, Form, Kind, Proof, Verdict
from ...games.labels.case import Case
from ...games.labels.record import BEST, MARGIN, OBSERVED, Block
from ...judges.pathwise import Outcome
from .lemmas import needs
from .settings import update_settings

AGREEMENT = 1e-7
"""Largest difference of scores, as a share of |x| times the largest norm of the weights so far."""

FOLLOWED = 400
"""Rounds of each replicate that are followed."""


@dataclass
class Descent:
    """An optimiser on dense weights, written from the definitions in optimisers.py.

    Attributes
    ----------
    optimiser : spec of it
    radius : B
    weights : W_t, shape (K, d)
    """

    optimiser: str
    radius: float
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
            rate = math.sqrt(2) * self.radius / math.sqrt(self.squares)
            moved = self.weights - rate * gradient
        else:
            moved = -self.radius / (2 * math.sqrt(self.squares)) * self.total
        self.weights = moved * min(1.0, self.radius / max(float(np.linalg.norm(moved)), 1e-300))


def _gradients(loss: Loss, block: Block) -> FloatArray:
    """Score gradients at the scores of the game, shape (rounds, K)."""
    best, margins = block.column(BEST).astype(np.int64), block.column(MARGIN)
    counts = loss.counts_for_comparator(best, margins, block.labels)
    return np.where(counts[:, None], loss.gradients(block.scores, block.labels), 0.0)


def _start(case: Case) -> Descent:
    """The declared optimiser before the first round."""
    optimiser, shape = case.declaration.optimiser, (case.n_labels, case.sequence.n_features)
    assert optimiser is not None
    return Descent(
        optimiser, case.radius, np.eye(*shape) if optimiser == "stand-still" else np.zeros(shape)
    )


def examine(
    claim: Claim, form: Form, case: Case, replicates: int, *, interpreted: bool = False
) -> Outcome:
    """Follow every replicate for a while; stop at the first round in which the scores differ."""
    found = Outcome(Verdict.HOLDS, observed=0.0, envelope=AGREEMENT)
    loss, sequence, observes = case.loss, case.sequence, case.graph.observes.astype(np.float64)
    assert loss is not None
    moves, worst = 0, 0.0
    for replicate in range(replicates):
        descent, size = _start(case), 0.0
        found.runs += 1
        for block in case.game.play(replicate, trace=True, interpreted=interpreted, stop=FOLLOWED):
            gradients = _gradients(loss, block)
            for i in range(len(block)):
                at, label, scores = block.start + i, int(block.labels[i]), block.scores[i]
                x = sequence.row(at)
                size = max(size, float(np.linalg.norm(descent.weights)))
                own = descent.weights @ x
                room = size * math.sqrt(float(block.squared_norms[i]))
                deviation = float(np.abs(scores - own).max())
                share = deviation / room if room > 0 else math.inf if deviation else 0.0
                found.rounds += 1
                if not share <= AGREEMENT:
                    return _refuted(claim, form, case, found, (replicate, at), (scores, own), share)
                worst = max(worst, share)
                if block.columns[i, OBSERVED] > 0:
                    weight = 1 / float(block.probabilities[i] @ observes[:, label])
                    descent.step(weight * np.outer(gradients[i], x))
                    moves += 1
    found.observed, found.ratio = worst, worst / AGREEMENT
    found.evidence = (
        f"{moves} revealed labels followed in {replicates} runs, scores agree to {worst:.1e}"
    )
    if not moves:
        found.verdict, found.evidence = Verdict.VACUOUS, "no label was revealed"
    return found


def _refuted(
    claim: Claim,
    form: Form,
    case: Case,
    found: Outcome,
    place: tuple[int, int],
    scores: tuple[FloatArray, FloatArray],
    share: float,
) -> Outcome:
    replicate, at = place
    share = share if math.isfinite(share) else math.inf
    found.verdict, found.observed, found.ratio = Verdict.REFUTED, share, share / AGREEMENT
    found.evidence = (
        f"certified: replicate {replicate}, round {at}: the scores are not those of the"
        f" {case.declaration.optimiser} optimiser"
    )
    # nine digits of the second implementation: the order in which it adds is the processor's
    content = audit_of(claim, form, case, replicate, at) | {
        "before": [repr(float(score)) for score in scores[0]],
        "after": [f"{score:.9g}" for score in scores[1]],
    }
    found.certificate = Certificate(content, (share, AGREEMENT), found.evidence)
    return found


UPDATES = Claim(
    id="gappletron/updates",
    title="the weights move as the declared optimiser says",
    source=GAPPLETRON.at("Algorithm 1 and Section 6"),
    kind=Kind.EXACT,
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
    cases=update_settings,
    examine=examine,
)
