"""The weights move as the declared optimiser says.

========  ==========================================================================
symbol    name here
========  ==========================================================================
W_t       ``state[SCALE]`` times ``matrix``, shape (d, K)
B         ``comparator_norm``, the largest norm of the weights
S         ``state[SQUARES]``, sum of the squared norms of the estimated gradients
v_t       importance weight, from the game's own probabilities
========  ==========================================================================

Statements about sums leave room that a wrong step fits into. Here every round of a game is followed by a second
implementation. It takes its gradients at the scores of the game, so that a kink of the loss cannot send the two apart;
where runners-up tie, any subgradient is right, and the one is taken that explains the next weights. The scores of both
must agree in every round.
"""

from __future__ import annotations

import math

import numpy as np

from ....arrays import FloatArray, IntArray
from ....compiled import kernel
from ...author import Audit, Cell, Claim, Evidence, Form, Proof
from ...games.labels.case import Case
from ...games.labels.record import OBSERVED
from ...games.labels.rounds import Rounds
from ...games.labels.ties.subgradient import gradients
from ...judges.audit import violated_in
from ..papers import GAPPLETRON
from .hypotheses import needs
from .settings import update_settings

AGREEMENT = 1e-7
"""Largest difference of scores, as a share of |x| times the largest norm of the weights so far."""

OPTIMISERS = ("stand-still", "unprojected", "projected", "ftrl")
"""As numbers for the kernel."""

SCALE, SQUARED_NORM, SQUARES, STEPS, LARGEST = range(5)
"""Slots of the state: scale and squared norm of the matrix, S, steps since the last look at the whole matrix, and the
largest norm of the weights so far."""

ANCHOR = 512.0
"""Steps between two looks at the whole matrix."""


@kernel(
    "void(int64, float64, Array(int64, 1, 'C', True), Array(int64, 1, 'C', True), Array(float64, 1, 'C', True),"
    " float64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1], float64[::1])"
)
def _follow(
    optimiser: int,
    bound: float,
    pointers: IntArray,
    indices: IntArray,
    values: FloatArray,
    gradients: FloatArray,
    matrix: FloatArray,
    state: FloatArray,
    scores: FloatArray,
    largest: FloatArray,
) -> None:
    """The optimisers from the definitions in optimisers.py: the scores in some rounds, and the steps after each by the
    estimated gradients in the scores, 0 where no label was revealed. A step costs no more than its features do."""
    K = scores.shape[1]
    for i in range(scores.shape[0]):
        squared = 0.0
        for k in range(K):
            scores[i, k] = 0.0
            squared += gradients[i, k] * gradients[i, k]
        features = 0.0
        for j in range(pointers[i], pointers[i + 1]):
            features += values[j] * values[j]
            for k in range(K):
                scores[i, k] += state[SCALE] * matrix[indices[j], k] * values[j]
        norm = state[SCALE] * math.sqrt(state[SQUARED_NORM])
        state[LARGEST] = norm if norm > state[LARGEST] else state[LARGEST]
        largest[i] = state[LARGEST]
        squared *= features
        if optimiser == 0 or squared == 0.0:
            continue
        state[SQUARES] += squared
        state[STEPS] += 1.0
        rate = 1.0
        if optimiser == 1:
            rate = 1.0 / math.sqrt(1e-8 + state[SQUARES])
        elif optimiser == 2:
            rate = math.sqrt(2.0) * bound / math.sqrt(state[SQUARES]) / state[SCALE]
        for j in range(pointers[i], pointers[i + 1]):
            for k in range(K):
                old = matrix[indices[j], k]
                new = old - rate * gradients[i, k] * values[j]
                matrix[indices[j], k] = new
                state[SQUARED_NORM] += new * new - old * old
        if state[STEPS] >= ANCHOR or state[SQUARED_NORM] < 0.0:
            total = 0.0
            for f in range(matrix.shape[0]):
                for k in range(K):
                    if optimiser == 2:  # whose scale becomes smaller and smaller
                        matrix[f, k] *= state[SCALE]
                    total += matrix[f, k] * matrix[f, k]
            state[SCALE], state[SQUARED_NORM], state[STEPS] = 1.0, total, 0.0
        if optimiser == 3:
            state[SCALE] = bound / (2.0 * math.sqrt(state[SQUARES]))
        norm = state[SCALE] * math.sqrt(state[SQUARED_NORM])
        if optimiser >= 2 and norm > bound:
            state[SCALE] *= bound / norm


class Descent:
    """The declared optimiser of a case, from before the first round on."""

    def __init__(self, case: Case, *, interpreted: bool = False) -> None:
        declared, shape = case.declaration["optimiser"], (case.sequence.n_features, case.n_labels)
        self._kind, self._bound = OPTIMISERS.index(declared), case.comparator_norm
        self._matrix = np.eye(*shape) if declared == "stand-still" else np.zeros(shape)
        self._state = np.array([1.0, np.square(self._matrix).sum(), 0.0, 0.0, 0.0])
        self._form = _follow.python if interpreted else _follow.native

    def follow(self, rounds: Rounds) -> tuple[FloatArray, FloatArray]:
        """The scores in the next rounds, shape (rounds, K), and the largest norm of weights up to each."""
        case, block, loss = rounds.case, rounds.block, rounds.case.loss
        chances = (block.probabilities @ case.graph.observes)[np.arange(len(block)), block.labels]
        seen = block.column(OBSERVED) > 0
        weights = np.divide(1.0, chances, out=np.zeros(len(block)), where=seen)
        sequence, scores, largest = case.sequence, np.empty_like(block.scores), np.empty(len(block))
        self._form(
            self._kind,
            self._bound,
            sequence.indptr[block.start : block.start + len(block) + 1],
            sequence.indices,
            sequence.values,
            weights[:, None] * gradients(loss, block),
            self._matrix,
            self._state,
            scores,
            largest,
        )
        return scores, largest


def follow(cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
    """Follow every round of every run; stop at the first in which the scores differ."""
    case, found = cell.case, Evidence(observed=0.0, envelope=AGREEMENT, live=0)
    worst = 0.0
    for run in range(runs):
        descent = Descent(case, interpreted=interpreted)
        found.runs += 1
        for rounds in case.play(run, interpreted=interpreted):
            block = rounds.block
            second, largest = descent.follow(rounds)
            room = largest * np.sqrt(block.squared_norms)
            deviation = np.abs(block.scores - second).max(axis=1)
            share = np.where(deviation == 0, 0.0, np.inf)
            np.divide(deviation, room, out=share, where=room > 0)
            agrees = share <= AGREEMENT  # false for NaN
            if not agrees.all():
                i = int(np.argmin(agrees))
                found.rounds += i + 1
                place = run, block.start + i
                return _differs(cell, found, place, block.scores[i], second[i], float(share[i]))
            worst = max(worst, float(share.max()))
            found.rounds += len(block)
            found.live += int(np.count_nonzero(block.column(OBSERVED)))
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
