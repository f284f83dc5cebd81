"""The weights move as the declared optimiser says.

========  ==========================================================================
symbol    name here
========  ==========================================================================
W_t       ``scale`` times ``matrix`` of :class:`Descent`, shape (K, d)
B         ``comparator_norm``, the largest norm of the weights
S         ``squares``, sum of the squared norms of the estimated gradients
v_t       importance weight, from the game's own probabilities
========  ==========================================================================

Statements about sums leave room that a wrong step fits into. Here every round of a game is followed by a second
implementation. It takes its gradients at the scores of the game, so that a kink of the loss cannot send the two apart;
where runners-up tie, any subgradient is right, and the one is taken that explains the next weights. The scores of both
must agree in every round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ....arrays import FloatArray, IntArray
from ...author import Audit, Cell, Claim, Evidence, Form, Proof
from ...games.labels.case import Case
from ...games.labels.record import OBSERVED
from ...judges.audit import violated_in
from ..papers import GAPPLETRON
from .hypotheses import needs
from .settings import update_settings
from .subgradient import AGREEMENT, gradients

ANCHOR = 512
"""Steps between two looks at the norm of the whole matrix."""


@dataclass
class Descent:
    """An optimiser written from the definitions in optimisers.py. A step costs no more than its features do.

    Attributes
    ----------
    optimiser : spec of it
    comparator_norm : B
    matrix : W_t = ``scale`` times it; of the leader it is minus the sum of the gradients; shape (K, d)
    """

    optimiser: str
    comparator_norm: float
    matrix: FloatArray
    scale: float = 1.0
    squares: float = 0.0
    steps: int = 0
    squared_norm: float = field(init=False)

    def __post_init__(self) -> None:
        self.squared_norm = float(np.square(self.matrix).sum())

    @property
    def norm(self) -> float:
        """|W_t|."""
        return self.scale * math.sqrt(max(self.squared_norm, 0.0))

    def scores(self, features: IntArray, x: FloatArray) -> FloatArray:
        """Scores of features that are zero but for some, shape (K,)."""
        return np.asarray(self.scale * (self.matrix[:, features] @ x))

    def step(self, gradient: FloatArray, features: IntArray, x: FloatArray) -> None:
        """Move by an estimated gradient in the scores, shape (K,)."""
        squared = float(gradient @ gradient) * float(x @ x)
        if self.optimiser == "stand-still" or squared == 0:
            return
        self.squares += squared
        rate = 1.0
        if self.optimiser == "unprojected":
            rate = 1 / math.sqrt(1e-8 + self.squares)
        elif self.optimiser == "projected":
            rate = math.sqrt(2) * self.comparator_norm / math.sqrt(self.squares) / self.scale
        self._subtract(np.outer(rate * gradient, x), features)
        if self.optimiser == "unprojected":
            return
        if self.optimiser == "ftrl":
            self.scale = self.comparator_norm / (2 * math.sqrt(self.squares))
        self.scale *= min(1.0, self.comparator_norm / max(self.norm, 1e-300))

    def _subtract(self, change: FloatArray, features: IntArray) -> None:
        self.steps += 1
        old = self.matrix[:, features]
        new = old - change
        self.matrix[:, features] = new
        self.squared_norm += float(np.square(new).sum() - np.square(old).sum())
        if self.steps % ANCHOR == 0:
            if self.optimiser == "projected":  # which makes the scale smaller and smaller
                self.matrix *= self.scale
                self.scale = 1.0
            self.squared_norm = float(np.square(self.matrix).sum())


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
    """Follow every round of every run; stop at the first in which the scores differ."""
    case, found = cell.case, Evidence(observed=0.0, envelope=AGREEMENT, live=0)
    loss, sequence, observes = case.loss, case.sequence, case.graph.observes.astype(np.float64)
    assert loss is not None
    worst = 0.0
    for run in range(runs):
        descent, size = _start(case), 0.0
        found.runs += 1
        for rounds in case.play(run, interpreted=interpreted):
            block = rounds.block
            slopes = gradients(loss, block)
            chances = (block.probabilities @ observes)[np.arange(len(block)), block.labels]
            revealed = (block.column(OBSERVED) > 0).tolist()
            for i in range(len(block)):
                at, scores = block.start + i, block.scores[i]
                window = slice(sequence.indptr[at], sequence.indptr[at + 1])
                features, x = sequence.indices[window], sequence.values[window]
                size = max(size, descent.norm)
                second = descent.scores(features, x)
                room = size * math.sqrt(float(block.squared_norms[i]))
                deviation = float(np.abs(scores - second).max())
                share = deviation / room if room > 0 else math.inf if deviation else 0.0
                found.rounds += 1
                if not share <= AGREEMENT:
                    return _differs(cell, found, (run, at), scores, second, share)
                worst = max(worst, share)
                if revealed[i]:
                    descent.step(slopes[i] / chances[i], features, x)
                    found.live += 1
    found.observed, found.ratio = worst, worst / AGREEMENT
    found.says = (
        f"{found.live} revealed labels in {found.rounds} rounds of {runs} runs followed, scores"
        f" agree to {worst:.1e}"
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
            "a definition: every round is followed, from the game's own probabilities",
            needs("loss", "optimiser"),
        ),
    ),
    judge=Audit(follow),
    cases=update_settings,
)
