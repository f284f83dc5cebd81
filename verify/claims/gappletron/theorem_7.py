"""Theorem 7: with full information every learner is forced to order B^2 K surrogate regret.

========  ====================================================================
symbol    name here
========  ====================================================================
M         ``fresh_rounds`` = (B^2 - 1) K^2
value     (B^2 - 1)(K - 1) + (K - 1)/K
U-hat     the comparator of :class:`RandomLabels`, of norm B exactly
========  ====================================================================

With full information p_t is a function of the past labels, and the average of 1 - p_t(y) over the labels is
(K - 1)/K whatever p_t is. So the sequence y_t = argmin p_t(y) forces at least (M + 1)(K - 1)/K expected
mistakes, without sampling, while U-hat loses M (1 - 1/K)^2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ....adversaries.random_labels import RandomLabels
from ...author import Cell, Claim, Evidence, Form, Interval, LowerBound, Proof, Verdict
from ...certificates.make import exact_certificate
from ...games.labels.case import Case
from ..papers import GAPPLETRON
from .instances import HorizonInstance
from .settings import random_label_settings


@dataclass(frozen=True)
class Greedy:
    """A game with greedy labels: expected mistakes, the largest error of the per-round identity, labels."""

    errors: float
    identity: float
    labels: list[int]


def play_greedy(case: Case, horizon: int, *, interpreted: bool = False) -> Greedy:
    """Choose each label as one of least probability given the labels before, and add up 1 - p."""
    design = case.adversary
    assert isinstance(design, RandomLabels)
    K, errors, identity = case.n_labels, 0.0, 0.0
    labels: list[int] = []
    for t in range(horizon):
        sequence = design.with_labels([*labels, *([0] * (horizon - t))])
        game = replace(case, sequence=sequence).game
        blocks = list(game.play(0, trace=True, stop=t + 1, interpreted=interpreted))
        p = blocks[-1].probabilities[-1][:K]
        identity = max(identity, abs(float(np.mean(1 - p)) - (K - 1) / K))
        labels.append(int(np.argmin(p)))
        errors += 1.0 - float(p[labels[-1]])
    return Greedy(errors, identity, labels)


def forced_value(K: int, B: int) -> Fraction:
    """(B^2 - 1)(K - 1) + (K - 1)/K."""
    return Fraction((B * B - 1) * (K - 1)) + Fraction(K - 1, K)


def force(cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
    """Force the value with greedy labels, or show that the horizon is too short for it."""
    case, design = cell.case, cell.case.adversary
    assert isinstance(design, RandomLabels)
    K, B, M, T = design.n_labels, design.comparator_norm, design.fresh_rounds, case.horizon
    value = forced_value(K, B)
    found = Evidence(envelope=float(value), enough=False, runs=1, rounds=T)
    if T <= M:
        proof = exact_certificate(cell.claim, cell.form, HorizonInstance(K, B, T))
        found.says = f"undecided for T = {T}; forced from T = {M + 1} on"
        if proof is not None:
            found.refutes, found.certify = True, lambda: proof
            found.observed, found.ratio = float(T), T / float(value)
            found.says = f"certified: {T} rounds hold at most {T} mistakes, {value} are claimed"
        return found
    greedy = play_greedy(case, M + 1, interpreted=interpreted)
    comparator = M * Fraction(K - 1, K) ** 2
    found.observed = greedy.errors - float(comparator)
    found.ratio = found.observed / float(value)
    found.rounds = M + 1
    tolerance = 1e-12 * (M + 1)
    found.says = (
        f"greedy labels force {found.observed:.6g} of {value} without sampling; per-round identity to"
        f" {greedy.identity:.1e}"
    )
    found.enough = greedy.identity <= 1e-12 and found.observed >= float(value) - tolerance
    return found


def _exact(instance: HorizonInstance, form: Form) -> tuple[Interval, Interval]:
    """The mistakes that so many rounds can hold, and those that are claimed."""
    claimed = forced_value(instance.n_labels, instance.radius)
    return Interval.of(instance.horizon), Interval.of(claimed)


def _unmet(short: bool, case: Any) -> str | None:
    if not isinstance(case.adversary, RandomLabels):
        return "it is about its own environments (adversary random-labels)"
    if not case.graph.is_full_information:
        return "it is about full information"
    if not short and case.horizon <= case.adversary.fresh_rounds:
        return f"it needs T >= {case.adversary.fresh_rounds + 1}"
    return None


def _too_short(instance: HorizonInstance) -> str | None:
    least = instance.fresh_rounds + 1
    return None if instance.horizon >= least else f"it needs T >= {least}"


def _printed_expected(case: Case) -> Verdict | None:
    design, T = case.adversary, case.horizon
    assert isinstance(design, RandomLabels)
    if design.fresh_rounds < T:
        return Verdict.HOLDS
    return Verdict.REFUTED if forced_value(design.n_labels, design.comparator_norm) > T else None


THEOREM_7 = Claim(
    id="gappletron/theorem-7",
    title="full information forces order B^2 K surrogate regret on every learner",
    source=GAPPLETRON.at("Theorem 7"),
    forms=(
        Form(
            "printed",
            r"E[M_T] \ge \min_{\|U\|\le B}\sum_t\ell_t(U) + (B^2-1)(K-1) + \frac{K-1}{K}"
            r" \quad\text{for some sequence } y_1, \dots, y_T\text{, read: for any } T",
            Proof.FALSE,
            "the theorem says nothing about T, which is read as any T: fewer rounds than the right side cannot hold so"
            " many mistakes",
            lambda case: _unmet(True, case),
            _printed_expected,
        ),
        Form(
            "repaired",
            r"E[M_T] \ge \min_{\|U\|\le B}\sum_t\ell_t(U) + (B^2-1)(K-1) + \frac{K-1}{K},"
            r" \quad T \ge (B^2-1)K^2+1",
            Proof.PROVED,
            "the average of 1 - p_t(y) over the labels is (K-1)/K in every round; greedy labels do no worse",
            lambda case: _unmet(False, case),
            unmet_by=_too_short,
        ),
    ),
    judge=LowerBound(force, exact=_exact, instances=(HorizonInstance,)),
    cases=random_label_settings,
)
