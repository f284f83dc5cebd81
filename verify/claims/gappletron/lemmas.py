"""Lemmas 1 and 3: the probability of a mistake is at most a fraction of the surrogate loss plus gamma_t.

==========  =========================================================================
symbol      name here
==========  =========================================================================
p'_t        the probabilities; 1 - p'_t(y_t) is the column ``ERROR``
K           ``uniform_size``: in label-efficient graphs the query is an action, so the printed and the
            threshold rule spread the gap over K + 1 vertices, and K + 1 stands for K
gamma_t     ``rates``, from the declared gamma
L           the factor 4 ||x||^2 of Lemma 3
==========  =========================================================================
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ....algorithms.losses import Hinge
from ...author import Claim, Form, Interval, Pathwise, Proof, Sides, Suspect
from ...exact.numbers import Undecided, rational
from ...games.labels.case import Case
from ...games.labels.record import ERROR, GRADIENT, LOSS
from ...games.labels.rounds import Rounds
from ..papers import GAPPLETRON
from .hypotheses import (
    called_regular,
    called_regular_in,
    is_regular,
    needs,
    not_repaired,
    printed_rule_in,
    refuted_where_crafted,
    regular_in,
)
from .instances import RoundInstance, ScoreInstance
from .rounds import gap_rounding, rates, rounding_of_round, uniform_size
from .settings import lemma_1_settings, round_settings

SAME_LAW = 1e-12
"""Largest deviation of probabilities at which the learner is taken to follow its declared rule."""


def loss_share(loss: str, K: int) -> Fraction:
    """The factor of the loss: (K-1)/K in Lemma 1, max{2/3, (K-1)/K} in Lemma 3, for the hinge loss."""
    least = Fraction(2, 3) if loss == Hinge().spec else Fraction(0)
    return max(least, Fraction(K - 1, K))


def round_instance(case: Case, suspect: Suspect) -> RoundInstance | None:
    """The suspect round as an exact instance, if the learner's probabilities are those of its rule."""
    declared = case.declaration
    if declared.get("rule") is None or declared.loss is None or declared.get("gamma") is None:
        return None
    row = suspect.row
    if not np.isfinite(row.scores).all():  # a user's learner need not show its weights
        return None
    scores = score_instance(case, suspect)
    top, first = max(scores.scores), scores.scores.index(max(scores.scores))
    if row.best != first:
        if case.loss == Hinge(0):  # it costs nothing to be right at a tie
            return None
        tied = (*scores.scores[: row.best], top, *scores.scores[row.best + 1 :])
        scores = replace(scores, scores=tied)
        first = tied.index(top)
    instance = RoundInstance(
        scores,
        declared.get("rule"),  # type: ignore[arg-type]
        rational(declared["gamma"]),
        row.counter,
        tuple(tuple(int(seen) for seen in row) for row in case.graph.observes),
        -1 if row.best == first else row.best,
        rational(row.rounding),
    )
    try:
        law = np.array([float(p) for p in instance.probabilities])
    except Undecided:
        return None
    same = np.abs(law - np.array(row.probabilities)).max() <= SAME_LAW + float(instance.explained)
    return instance if same else None


def score_instance(case: Case, suspect: Suspect) -> ScoreInstance:
    """The suspect's scores and label as an exact instance."""
    assert case.loss is not None
    row = suspect.row
    label = row.label if suspect.label is None else suspect.label
    return ScoreInstance(case.loss.spec, tuple(rational(score) for score in row.scores), label)


def _printed_unmet(case: Case) -> str | None:
    return needs("loss", "gamma")(case) or called_regular(case) or not_repaired(case)


def _repaired_unmet(case: Case) -> str | None:
    others = f"condition (2) fails for the loss {case.loss_name}"
    return needs("loss", "gamma")(case) or (None if is_regular(case) else others)


def _printed_in(instance: RoundInstance) -> str | None:
    return called_regular_in(instance) or printed_rule_in(instance)


def _mistake_sides(case: Case, form: Form, rounds: Rounds) -> Sides:
    losses = rounds.column(LOSS)
    share = loss_share(case.loss_name, uniform_size(case))
    envelope = float(share) * losses + rates(rounds)
    return Sides(
        rounds.column(ERROR), envelope, rounding_of_round(rounds, losses), live=envelope < 1
    )


def _mistake_exact(instance: RoundInstance, form: Form) -> tuple[Interval, Interval]:
    share, label = loss_share(instance.scores.loss, instance.uniform_size), instance.scores.label
    return (
        1 - instance.probabilities[label],
        instance.scores.losses[label] * share + instance.rate + 2 * instance.explained,
    )


_MISTAKE = Pathwise(
    _mistake_sides, instance_of=round_instance, exact=_mistake_exact, instances=(RoundInstance,)
)

LEMMA_1 = Claim(
    id="gappletron/lemma-1",
    title="expected mistake at most (K-1)/K of the loss plus gamma",
    source=GAPPLETRON.at("Lemma 1"),
    forms=(
        Form(
            "printed",
            r"1 - p'_t(y_t) \le \frac{K-1}{K}\,\ell_t(W_t) + \gamma_t"
            r" \quad\text{for regular losses, among them logistic with base } K",
            Proof.FALSE,
            "logistic loss with base K >= 3 is not regular: two equal top scores and the others far"
            " below violate condition (2)",
            _printed_unmet,
            refuted_where_crafted,
            adaptive=True,
            unmet_by=_printed_in,
        ),
        Form(
            "repaired",
            r"1 - p'_t(y_t) \le \frac{K-1}{K}\,\ell_t(W_t) + \gamma_t"
            r" \quad\text{if (2) holds, } 0 \le a_t \le 1, \text{ and } a_t = \ell(W_t,x_t,y^\star_t)"
            r" \text{, or } a_t = 1 \le \ell(W_t,x_t,y) \text{ for all } y",
            Proof.PROVED,
            "with y = y* the proof needs a <= loss(y*), with another y that 1 - a/K <= (K-1)/K loss(y): by (2)"
            " if a = loss(y*), and if a = 1 where loss(y) >= 1. Smooth hinge: a = loss(y*) <= 1. Logistic loss:"
            " base 2 and a = min{1, loss(y*)}, and no label has a smaller loss than y*",
            _repaired_unmet,
            adaptive=True,
            unmet_by=regular_in,
        ),
    ),
    judge=_MISTAKE,
    cases=lemma_1_settings,
)


def _hinge_unmet(case: Case) -> str | None:
    return needs("loss", "gamma")(case) or (None if case.loss == Hinge(0.5) else _OTHER_LOSSES)


_OTHER_LOSSES = "it is about the hinge loss with kappa = 1/2"


def _hinge_in(instance: RoundInstance) -> str | None:
    return None if instance.scores.given_loss == Hinge(0.5) else _OTHER_LOSSES


LEMMA_3 = Claim(
    id="gappletron/lemma-3",
    title="Lemma 1 for the hinge loss",
    source=GAPPLETRON.at("Lemma 3, first part"),
    forms=(
        Form(
            "printed",
            r"1 - p'_t(y_t) \le \max\{\tfrac23, \tfrac{K-1}{K}\}\,\ell_t(W_t) + \gamma_t"
            r" \quad (\kappa = \tfrac12)",
            Proof.PROVED,
            "true; only the proof's sentence with (K-1)/K fails at K = 2",
            _hinge_unmet,
            adaptive=True,
            unmet_by=_hinge_in,
        ),
    ),
    judge=_MISTAKE,
    cases=round_settings,
)


def _lemma_3_gradient_sides(case: Case, form: Form, rounds: Rounds) -> Sides:
    losses = rounds.column(LOSS)
    envelope = 4 * rounds.block.squared_norms * losses
    return Sides(
        rounds.column(GRADIENT),
        envelope,
        1e-12 * (1 + envelope) + 4 * rounds.block.squared_norms * gap_rounding(rounds),
        live=np.asarray(rounds.column(GRADIENT) > 0),
    )


def _lemma_3_gradient_exact(instance: Any, form: Form) -> tuple[Interval, Interval]:
    scores = instance.scores
    return scores.squared_gradient, 4 * (scores.losses[scores.label] + instance.explained)


LEMMA_3_GRADIENT = Claim(
    id="gappletron/lemma-3-gradient",
    title="gradient of the hinge loss at the learner's weights",
    source=GAPPLETRON.at("Lemma 3, second part"),
    forms=(
        Form(
            "printed",
            r"\|\nabla\ell_t(W_t)\|^2 \le 4\,\|x_t\|^2\,\ell_t(W_t)",
            Proof.PROVED,
            "true at W = W_t, the only place where it is used; away from it condition (3) fails",
            _hinge_unmet,
            adaptive=True,
            unmet_by=_hinge_in,
        ),
    ),
    judge=Pathwise(
        _lemma_3_gradient_sides,
        instance_of=round_instance,
        exact=_lemma_3_gradient_exact,
        instances=(RoundInstance,),
    ),
    cases=round_settings,
)
