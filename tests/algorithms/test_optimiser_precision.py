"""Optimisers beside long double, step by step over long games, and beside 200 bits over a whole one.

Until 0.3 the projecting optimisers reckoned the norm of the weights from step to step and never looked at the weights:
the ball shrank by 1e-16 a step.
"""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from dataclasses import dataclass

import gmpy2
import numpy as np
import pytest

from boundcheck.adversaries.keywords import Keywords
from boundcheck.adversaries.one_hot import OneHot
from boundcheck.adversaries.sequence import Sequence
from boundcheck.algorithms import graphs, optimisers
from boundcheck.algorithms.gappletron import Gappletron
from boundcheck.algorithms.learner import GRADIENT_SUM, SCALE, UPDATE, Player, Problem
from boundcheck.algorithms.losses import SmoothHinge
from boundcheck.algorithms.optimisers import add_squared_gradient, inner_product, scaled_copy
from boundcheck.compiled import kernel
from boundcheck.verify.games.labels.loops.plain import PASSES
from boundcheck.verify.games.labels.play import Game, Run, game_generator

HORIZON, NORM = 20_000, math.sqrt(2.0)
UNIT = 2.0**-53

wide = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="long double has no more bits than double here"
)


@kernel(UPDATE)
def _reckoned_step(scores, label, weight, squared_norm, gradient, parameters, state, coefficient):
    squared_gradient = (
        0.0 if label < 0 else add_squared_gradient(weight, squared_norm, gradient, state)
    )
    if squared_gradient == 0.0:
        return False
    norm, last = parameters[0], state.shape[0] - 1
    rate = math.sqrt(2.0) * norm / math.sqrt(state[GRADIENT_SUM])
    along = weight * inner_product(gradient, scores)
    squared = state[last] - 2.0 * rate * along + rate * rate * squared_gradient
    scaled_copy(rate * weight / state[SCALE], gradient, coefficient)
    if squared > norm * norm:
        state[SCALE] *= norm / math.sqrt(squared)
        squared = norm * norm
    state[last] = squared
    return True


@dataclass(frozen=True)
class Drifting(Gappletron):
    """Projected descent as it was: it reckons the norm from step to step, in a slot of its own."""

    def player(self, problem: Problem) -> Player:
        usual = super().player(problem)
        state = np.append(usual.state, 0.0)
        return dataclasses.replace(usual, update=_reckoned_step, state=state)


def dense() -> Sequence:
    """Noisy rows of five numbers, whose best weights lie outside the ball."""
    generator = np.random.default_rng(5)
    labels = generator.integers(0, 3, HORIZON)
    rows = 0.3 * generator.standard_normal((HORIZON, 5))
    rows[np.arange(HORIZON), labels] += 1
    return Sequence.from_dense(rows, labels, 3, "noisy rows")


def separable_game(learner: Gappletron) -> Game:
    """The cell of Theorem 4b on the filtering graph, whose comparator lies on the edge of the ball."""
    sequence = OneHot().sequence(HORIZON, 0)
    return Game(learner, sequence, graphs.filtering(3), comparator_norm=NORM)


def next_weights(
    optimiser: str, gradient: np.ndarray, before: tuple[np.ndarray, np.ndarray, float]
) -> np.ndarray:
    """W_{t+1} in long double, from V, its scale and S before the step, and the estimated gradient."""
    v, scale, total = before
    total = total + (gradient**2).sum()
    if optimiser == "unprojected":
        return v * scale - gradient / np.sqrt(np.longdouble(1e-8) + total)
    norm = np.longdouble(NORM)
    if optimiser == "projected":
        moved = v * scale - np.sqrt(np.longdouble(2)) * norm / np.sqrt(total) * gradient
    else:
        moved = norm / (2 * np.sqrt(total)) * (v - gradient)
    return moved * min(np.longdouble(1), norm / np.sqrt((moved**2).sum()))


def worst_step(game: Game, optimiser: str) -> float:
    """The largest error of a step in units of what rounding explains, over a game; at most one if all is well.

    Let u = 2^-53, G the step in W, K labels, n features in a row, and M the steps since V was measured, at most
    PASSES d / n + 1. Rounding explains an error of W_{t+1} of at most

        u ((K + 12) |G| + 2 |W_t| + (M + 8 + (n + K + 10) R) |W_{t+1}|),
        R = sum over the last M steps of |V| |G / scale| + |G / scale|^2 / 2, divided by |V_{t+1}|^2.

    The first term is the step itself: S takes K + 4 roundings, of which the root leaves half, and the coefficient 8
    more. The second rounds the entries of V - c x. The third is the projection, by half of the relative error of the
    squared norm: rounding V changes it by at most 2 u |V|^2 a step, and the change that the learner adds, a sum of
    2 <V, G / scale> and |G / scale|^2, has n + K + 10 roundings (n of the scores); adding it has none that stay.
    """
    sequence = game.sequence
    n, n_labels = int(np.diff(sequence.indptr).max()), sequence.n_labels
    recent: deque[float] = deque(maxlen=math.ceil(PASSES * sequence.n_features / n) + 1)
    run, worst = Run(game, 0), 0.0
    while run.position < sequence.horizon:
        v = run.weights.astype(np.longdouble)
        scale = np.longdouble(run.state[SCALE])
        before = v, scale, np.longdouble(run.state[GRADIENT_SUM])
        x = sequence.row(run.position).astype(np.longdouble)
        block = run.advance(1, trace=True)
        slopes = SmoothHinge().gradients(block.scores, block.labels)[0]
        gradient = np.longdouble(block.weights[0]) * np.outer(x, slopes.astype(np.longdouble))
        if not gradient.any():
            continue
        expected = next_weights(optimiser, gradient, before)
        found = run.weights.astype(np.longdouble) * np.longdouble(run.state[SCALE])
        step, size = norm_of(run.weights - v), norm_of(v)
        recent.append(size * step + step * step / 2)
        reckoned = sum(recent) / norm_of(run.weights) ** 2
        explained = (n_labels + 12) * float(scale) * step + 2 * float(scale) * size
        explained += (len(recent) + 8 + (n + n_labels + 10) * reckoned) * norm_of(expected)
        worst = max(worst, norm_of(found - expected) / (UNIT * explained))
    return worst


def norm_of(array: np.ndarray) -> float:
    return float(np.sqrt((array.astype(np.longdouble) ** 2).sum()))


@wide
@pytest.mark.parametrize("optimiser", ["unprojected", "projected", "ftrl"])
def test_every_step_of_a_long_game_is_that_of_long_double(optimiser: str) -> None:
    learner = Gappletron(optimiser=optimisers.parse(optimiser), gamma="theorem-4b")
    if optimiser == "unprojected":
        learner = Gappletron(optimiser=optimisers.parse(optimiser), gamma=1.0)
    wordy = Keywords(1, 4, 0.1).sequence(HORIZON, 0)
    bandit = Game(learner, wordy, graphs.bandit(4), comparator_norm=NORM)
    assert worst_step(separable_game(learner), optimiser) <= 1
    assert worst_step(bandit, optimiser) <= 1


@wide
def test_a_norm_that_is_only_reckoned_drifts() -> None:
    assert worst_step(separable_game(Drifting(gamma="theorem-4b")), "projected") > 5


def exact_loss(game: Game) -> float:
    """The accumulated loss of :func:`separable_game`, with 200 bits; the game's own draws choose the actions."""
    sequence, n_labels = game.sequence, game.sequence.n_labels
    uniforms = game_generator(game.seed, 0).random(HORIZON)
    with gmpy2.context(precision=200):
        norm, zero = gmpy2.mpfr(NORM), gmpy2.mpfr(0)
        gamma = gmpy2.mpfr(game.player().declaration["gamma"])
        weights = [[zero] * n_labels for _ in range(n_labels)]
        total, squares, counted = zero, zero, 0
        for t in range(HORIZON):
            label = int(sequence.labels[t])
            scores = weights[label]  # the features are the unit vector of the label
            best = max(range(n_labels), key=lambda k: (scores[k], -k))
            others = [k for k in range(n_labels) if k != best]
            gap = max(zero, 1 - scores[best] + max(scores[k] for k in others)) ** 2
            counted += best != 0
            rate = min(0.5, gamma / gmpy2.sqrt(counted)) if best else zero
            uniform = n_labels * rate <= gap
            p = [gap / n_labels if uniform else zero for _ in range(n_labels)]
            p[best] += 1 - (gap if uniform else rate)
            if not uniform:
                p[0] += rate
            rival = max((k for k in range(n_labels) if k != label), key=lambda k: (scores[k], -k))
            margin = scores[label] - scores[rival]
            slope = 2 * min(max(zero, 1 - margin), gmpy2.mpfr(1))
            total += max(zero, 1 - margin) ** 2 if margin >= 0 else 1 - 2 * margin
            if uniforms[t] >= p[0] or slope == 0:  # only action 0 reveals
                continue
            step = slope / p[0]
            squares += 2 * step * step
            step *= gmpy2.sqrt(2) * norm / gmpy2.sqrt(squares)
            scores[label] += step
            scores[rival] -= step
            size = gmpy2.sqrt(sum(w * w for row in weights for w in row))
            if size > norm:
                weights = [[w * norm / size for w in row] for row in weights]
        return float(total)


def loss_of(game: Game) -> float:
    return math.fsum(loss for block in game.play(0) for loss in block.column(2))


def test_the_loss_of_a_separable_game_is_the_exact_one() -> None:
    game = separable_game(Gappletron(gamma="theorem-4b"))
    exact = exact_loss(game)
    assert abs(loss_of(game) - exact) < 1e-9
    drifted = loss_of(separable_game(Drifting(gamma="theorem-4b")))
    assert exact == pytest.approx(12.5907, abs=1e-4)
    assert drifted == pytest.approx(22.35, abs=0.01)
