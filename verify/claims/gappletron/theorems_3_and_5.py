"""Theorems 3 and 5: mistake bounds with high probability.

==========  =====================================================================
symbol      name here
==========  =====================================================================
M_T         realised mistakes
u           L h(U)^2
l_max       largest loss of a comparator of norm at most B, ``Loss.maximum``
A           u + 5 l_max ln(2/delta) in the first part of Theorem 5
==========  =====================================================================

The learner of Theorem 3 does not know delta: several are judged on the same runs, as one cell. Theorem 5 tunes
gamma by delta, so each delta is a cell of its own.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ...author import Claim, Form, Proof, Tail, TailSides
from ...games.labels.case import Case
from ...games.labels.run_sums import RunSums
from ..papers import GAPPLETRON
from ..sampled import deltas_for, guesser
from .hypotheses import plays_rule, sees_enough
from .settings import tail_settings
from .theorem_4 import curvature, revealing_count, separable_unmet, theorem_unmet


def _sides_3(separable: bool, case: Case, form: Form, totals: RunSums) -> TailSides:
    K = case.n_labels

    def regret(norm: float) -> float:
        """The term of the comparator: nothing is tuned with full information, so h may depend on U."""
        return K * case.smoothness * case.regret_factor(norm) ** 2

    if separable:
        base, constant, luck, least = np.zeros(totals.runs), 4 * curvature(case), 11 / 4, 0.0
    else:
        compared = case.compared(totals, regret)
        base, constant, luck = compared.loss, compared.regret, (3 * K + 1) / 2
        least = compared.least
    deltas = deltas_for(totals.runs)
    first = math.ceil(
        (constant if separable else regret(case.comparator_norm)) + luck * math.log(2)
    )
    return TailSides(
        totals.mistakes,
        {delta: base + constant + luck * math.log(1 / delta) for delta in deltas},
        base,
        f"without loss of the comparator it is non-vacuous from T = {first}",
        guess=guesser(case, totals.rounds),
        least=least + constant + luck * math.log(1 / max(deltas)),
    )


def _terms_5(separable: bool, case: Case) -> tuple[float, float, float]:
    """Constant, root and flat of the envelope constant + max{root sqrt(T), flat}, without loss of the comparator."""
    K, u = case.n_labels, curvature(case)
    rho, q = case.graph.domination_number, revealing_count(case)
    luck = math.log(2 / case.declaration.get("delta", 0.05))
    assert case.loss is not None
    largest = case.loss.maximum(case.sequence.feature_norm, case.comparator_norm, K) * luck
    if separable:
        A = (K + 2) * largest + u
        return 2 * luck, 5 * math.sqrt(A * rho), 10 * K / q * A
    A = u + 5 * largest
    return (3 * K + 1) * luck, 5 * math.sqrt(K * rho * A), 7 * K * K * A / q


def _sides_5(separable: bool, case: Case, form: Form, totals: RunSums) -> TailSides:
    T, delta = totals.rounds, case.declaration.get("delta", 0.05)
    constant, root, flat = _terms_5(separable, case)
    base = np.zeros(totals.runs) if separable else case.compared(totals).loss
    return TailSides(
        totals.mistakes,
        {delta: base + (constant + max(root * math.sqrt(T), flat))},
        base,
        f"without loss of the comparator it is non-vacuous from T = {first_non_vacuous(constant, root, flat)}",
        guess=guesser(case, T),
        least=constant + max(root * math.sqrt(T), flat),
    )


def first_non_vacuous(constant: float, root: float, flat: float) -> int:
    """The smallest T that is at least constant + max{root sqrt(T), flat}."""
    return math.ceil(
        max(constant + flat, ((root + math.sqrt(root * root + 4 * constant)) / 2) ** 2)
    )


def _vacuous_5(separable: bool, case: Case) -> str | None:
    """The words for a bound as large as all mistakes that the rounds can hold, even without loss of the comparator."""
    first = first_non_vacuous(*_terms_5(separable, case))
    if case.horizon >= first:
        return None
    return (
        "constant + max{root sqrt(T), flat} is above T, and T rounds hold at most T mistakes: without loss of the"
        f" comparator it is non-vacuous from T = {first}"
    )


def _unmet_5(tuning: str, printed: bool, case: Case) -> str | None:
    unmet = separable_unmet if tuning.endswith("b") else theorem_unmet
    return unmet(tuning, case) or plays_rule(printed, case)


def _forms_5(tuning: str, statement: str) -> tuple[Form, Form]:
    """Both forms of a part of Theorem 5: the same statement, of the printed and of the repaired rules. Its gamma
    depends on delta and not on T, so the same learner is promised the bound of each T."""
    return (
        Form(
            "printed",
            statement,
            Proof.BROKEN,
            "the proof uses bound (9) and Lemma 4; with a fixed eta it is right for bandit feedback and full"
            " information, and broken where a label is seen by fewer than K/rho actions",
            partial(_unmet_5, tuning, True),
            sees_enough,
            every_horizon=True,
        ),
        Form(
            "repaired",
            statement,
            Proof.PROVED,
            "with either repair of the exploration rule, delta' = delta/2 and U fixed before gamma",
            partial(_unmet_5, tuning, False),
            every_horizon=True,
            vacuous=partial(_vacuous_5, tuning.endswith("b")),
        ),
    )


THEOREM_3A = Claim(
    id="gappletron/theorem-3a",
    title="mistakes with high probability, full information, any comparator",
    source=GAPPLETRON.at("Theorem 3, first part"),
    forms=(
        Form(
            "printed",
            r"M_T \le \sum_t\ell_t(U) + KLh(U)^2 + \frac{3K+1}{2}\ln\frac{1}{\delta}"
            r" \quad\text{with probability } 1-\delta",
            Proof.PROVED,
            "true; the proof uses Lemma 4, which is false for a random variance, but a fixed eta = 1/(K-1)"
            " suffices",
            partial(theorem_unmet, "theorem-3"),
            every_horizon=True,
        ),
    ),
    judge=Tail(partial(_sides_3, False)),
    cases=partial(tail_settings, "3a"),
)

THEOREM_3B = Claim(
    id="gappletron/theorem-3b",
    title="mistakes with high probability, full information, separable",
    source=GAPPLETRON.at("Theorem 3, second part"),
    forms=(
        Form(
            "printed",
            r"M_T \le 4Lh(U)^2 + \frac{11}{4}\ln\frac{1}{\delta} \quad\text{with probability } 1-\delta",
            Proof.PROVED,
            "true, with the fixed eta = 2",
            partial(separable_unmet, "theorem-3"),
            every_horizon=True,
        ),
    ),
    judge=Tail(partial(_sides_3, True)),
    cases=partial(tail_settings, "3b"),
)

THEOREM_5A = Claim(
    id="gappletron/theorem-5a",
    title="mistakes with high probability, any comparator",
    source=GAPPLETRON.at("Theorem 5, first part"),
    forms=_forms_5(
        "theorem-5a",
        r"M_T \le \sum_t\ell_t(U) + (3K+1)\ln\frac{2}{\delta}"
        r" + \max\Big\{5\sqrt{K\rho TA}, \frac{7K^2A}{q}\Big\},"
        r" \quad A = Lh(U)^2+5\ell_{\max}\ln\frac{2}{\delta}",
    ),
    judge=Tail(partial(_sides_5, False)),
    cases=partial(tail_settings, "5a"),
)

THEOREM_5B = Claim(
    id="gappletron/theorem-5b",
    title="mistakes with high probability, separable",
    source=GAPPLETRON.at("Theorem 5, second part"),
    forms=_forms_5(
        "theorem-5b",
        r"M_T \le 2\ln\frac{2}{\delta} + 5\max\Big\{\sqrt{A\rho T}, \frac{2K}{q}A\Big\},"
        r" \quad A = (K+2)\ell_{\max}\ln\frac{2}{\delta}+Lh(U)^2",
    ),
    judge=Tail(partial(_sides_5, True)),
    cases=partial(tail_settings, "5b"),
)
