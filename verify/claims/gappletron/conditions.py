"""Conditions (2) and (3) on surrogate losses: facts about score vectors, whoever plays.

=======  =============================================================
symbol   name here
=======  =============================================================
y*       best label
L        ``smoothness`` of the loss for features of norm one
K        number of labels
=======  =============================================================

They are looked at on the scores of every round, for every label, and certified in exact arithmetic.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ....algorithms.losses import Hinge
from ...author import Claim, Form, Interval, Kind, Pathwise, Proof, Sides
from ...exact import gappletron as exact
from ...games.labels.case import Case
from ...games.labels.rounds import Rounds
from ..papers import GAPPLETRON
from .hypotheses import (
    called_regular,
    called_regular_in,
    is_regular,
    needs,
    refuted_where_crafted,
    regular_in,
)
from .instances import ScoreInstance
from .lemmas import score_instance
from .settings import condition_settings


def _all_losses(case: Case, rounds: Rounds) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Loss of every label in every round, shape (rounds, K)."""
    scores = rounds.block.scores
    assert case.loss is not None
    losses = [
        case.loss.values(scores, np.full(len(scores), y, dtype=np.int64))
        for y in range(case.n_labels)
    ]
    return np.stack(losses, axis=1)


def _condition_2_sides(case: Case, form: Form, rounds: Rounds) -> Sides:
    K, n = case.n_labels, np.arange(len(rounds))
    losses, best = _all_losses(case, rounds), rounds.block.scores.argmax(axis=1)
    others = losses.copy()
    others[n, best] = np.inf
    label = np.argmin(others, axis=1)
    combined = (K - 1) / K * others[n, label] + losses[n, best] / K
    return Sides(
        np.ones(len(rounds)), combined, 1e-12 * (1 + combined), label=label.astype(np.int64)
    )


def _condition_2_exact(instance: ScoreInstance, form: Form) -> tuple[Interval, Interval]:
    K = instance.n_labels
    if instance.label == instance.star:
        return Interval.of(0), Interval.of(1)
    return Interval.of(1), (
        instance.losses[instance.label] * Fraction(K - 1, K) + instance.losses[instance.star] / K
    )


def _printed_unmet(case: Case) -> str | None:
    return needs("loss")(case) or called_regular(case)


def _repaired_unmet(case: Case) -> str | None:
    others = f"the loss {case.loss_name} is not among the repaired ones"
    return needs("loss")(case) or (None if is_regular(case) else others)


CONDITION_2 = Claim(
    id="gappletron/condition-2",
    title="regular losses dominate the zero-one loss",
    source=GAPPLETRON.at("equation (2)"),
    forms=(
        Form(
            "printed",
            r"1 \le \frac{K-1}{K}\,\ell(W,x,y) + \frac1K\,\ell(W,x,y^\star),\; y \ne y^\star"
            r" \quad\text{for smooth hinge and logistic with base } K",
            Proof.FALSE,
            "for the logistic loss it holds exactly when the base is at most 2; base K >= 3 fails at two"
            " equal top scores",
            _printed_unmet,
            refuted_where_crafted,
            adaptive=True,
            unmet_by=called_regular_in,
        ),
        Form(
            "repaired",
            r"1 \le \frac{K-1}{K}\,\ell(W,x,y) + \frac1K\,\ell(W,x,y^\star),\; y \ne y^\star"
            r" \quad\text{for smooth hinge and logistic with base } 2",
            Proof.PROVED,
            "smooth hinge in the normalisation 1 - 2m, (1 - m)^2; logistic loss with the best possible base"
            " 2",
            _repaired_unmet,
            adaptive=True,
            unmet_by=regular_in,
        ),
    ),
    judge=Pathwise(
        _condition_2_sides,
        instance_of=score_instance,
        exact=_condition_2_exact,
        kind=Kind.EXACT,
        instances=(ScoreInstance,),
    ),
    cases=condition_settings,
)


def _condition_3_sides(case: Case, form: Form, rounds: Rounds) -> Sides:
    loss, scores, n = case.loss, rounds.block.scores, np.arange(len(rounds))
    assert loss is not None
    losses = _all_losses(case, rounds)
    squares = np.stack(
        [
            np.square(loss.gradients(scores, np.full(len(scores), y, dtype=np.int64))).sum(axis=1)
            for y in range(case.n_labels)
        ],
        axis=1,
    )
    bounds = 2 * loss.smoothness(1.0, case.n_labels) * losses
    label = np.argmax(squares - bounds, axis=1)
    envelope = bounds[n, label]
    return Sides(
        squares[n, label],
        envelope,
        1e-12 * (1 + envelope),
        live=np.asarray(squares[n, label] > 0),
        label=label.astype(np.int64),
    )


def _condition_3_exact(instance: ScoreInstance, form: Form) -> tuple[Interval, Interval]:
    smoothness = exact.smoothness(instance.exact_loss)
    return instance.squared_gradient, 2 * smoothness * instance.losses[instance.label]


HINGE = "the hinge loss has it at the learner's weights only (Lemma 3)"


def _smooth_unmet(case: Case) -> str | None:
    return needs("loss")(case) or (HINGE if isinstance(case.loss, Hinge) else None)


def _smooth_in(instance: ScoreInstance) -> str | None:
    return HINGE if isinstance(instance.given_loss, Hinge) else None


CONDITION_3 = Claim(
    id="gappletron/condition-3",
    title="squared gradient at most 2L times the loss",
    source=GAPPLETRON.at("equation (3); L derived here"),
    forms=(
        Form(
            "derived",
            r"\|\nabla\ell_t(W)\|^2 \le 2L\,\ell_t(W), \quad L = 4\|x\|^2 \text{ (smooth hinge)},\;"
            r" 0.40727\,\|x\|^2/\ln b \text{ (logistic, base } b)",
            Proof.PROVED,
            "with the sharp constants; tight for the smooth hinge at every margin in [0, 1)",
            _smooth_unmet,
            adaptive=True,
            unmet_by=_smooth_in,
        ),
    ),
    judge=Pathwise(
        _condition_3_sides,
        instance_of=score_instance,
        exact=_condition_3_exact,
        kind=Kind.EXACT,
        instances=(ScoreInstance,),
    ),
    cases=condition_settings,
)
