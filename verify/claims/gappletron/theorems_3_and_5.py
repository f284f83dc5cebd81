"""Theorems 3 and 5: mistake bounds with high probability.

==========  =====================================================================
symbol      name here
==========  =====================================================================
M_T         realised mistakes
u           L h(U)^2
l_max       largest loss over the ball of the comparators, ``Loss.maximum``
A           u + 5 l_max ln(2/delta) in the first part of Theorem 5
==========  =====================================================================

The learner of Theorem 3 does not know delta: several are judged on the same runs, as one cell. Theorem 5 tunes
gamma by delta, so each delta is a cell of its own.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ...claim import GAPPLETRON, Claim, Form, Kind, Proof
from ...games.labels.case import Case
from ...games.labels.run_sums import Ledger
from ...judges.tail import TailSides, examine_tail
from .lemmas import plays_rule, sees_enough
from .settings import tail_settings
from .theorem_4 import curvature, revealing_count, separable_missing, theorem_missing

DELTAS = (0.5, 0.2, 0.05, 0.01)


def deltas_for(runs: int) -> tuple[float, ...]:
    """Those of ``DELTAS`` that so many runs can hold at all (0.95^n <= 0.05 and the like)."""
    return tuple(d for d in DELTAS if (1 - d) ** runs <= 0.05) or DELTAS[:1]


def _sides_3(separable: bool, case: Case, form: Form, ledger: Ledger) -> TailSides:
    K, u, base = case.n_labels, curvature(case), ledger.comparator_loss
    envelopes = {
        delta: (
            4 * u + 11 / 4 * math.log(1 / delta) + np.zeros(ledger.runs)
            if separable
            else base + K * u + (3 * K + 1) / 2 * math.log(1 / delta)
        )
        for delta in deltas_for(ledger.runs)
    }
    needed = (4 if separable else K) * u + (11 / 4 if separable else (3 * K + 1) / 2) * math.log(2)
    return TailSides(
        ledger.mistakes,
        envelopes,
        np.zeros(ledger.runs) if separable else base,
        f"without loss of the comparator it bites from T = {math.ceil(needed)}",
    )


def _sides_5(separable: bool, case: Case, form: Form, ledger: Ledger) -> TailSides:
    K, T, u = case.n_labels, ledger.rounds, curvature(case)
    rho, q, delta = case.graph.domination_number, revealing_count(case), case.declaration.delta
    loss = case.loss
    assert loss is not None
    log_term = loss.maximum(case.sequence.feature_norm, case.radius, K) * math.log(2 / delta)
    if separable:
        A = (K + 2) * log_term + u
        constant, root, flat = 2 * math.log(2 / delta), 5 * math.sqrt(A * rho), 10 * K / q * A
        base = np.zeros(ledger.runs)
    else:
        A = u + 5 * log_term
        constant, root = (3 * K + 1) * math.log(2 / delta), 5 * math.sqrt(K * rho * A)
        base, flat = ledger.comparator_loss, 7 * K * K * A / q
    return TailSides(
        ledger.mistakes,
        {delta: base + (constant + max(root * math.sqrt(T), flat))},
        base,
        f"without loss of the comparator it bites from T = {first_biting(constant, root, flat)}",
    )


def first_biting(constant: float, root: float, flat: float) -> int:
    """The smallest T that is at least constant + max{root sqrt(T), flat}."""
    return math.ceil(
        max(constant + flat, ((root + math.sqrt(root * root + 4 * constant)) / 2) ** 2)
    )


def _missing_5(tuning: str, printed: bool, case: Case) -> str | None:
    missing = separable_missing if tuning.endswith("b") else theorem_missing
    return missing(tuning, case) or plays_rule(printed, case)


def _forms_5(tuning: str, statement: str) -> tuple[Form, Form]:
    """Both forms of a part of Theorem 5: the same statement, of the printed and of the repaired rules."""
    return (
        Form(
            "printed",
            statement,
            Proof.BROKEN,
            "the proof uses bound (9) and Lemma 4; with a fixed eta it is right for bandit feedback and full"
            " information, and broken where a label is seen by fewer than K/rho actions",
            partial(_missing_5, tuning, True),
            sees_enough,
        ),
        Form(
            "repaired",
            statement,
            Proof.PROVED,
            "with either repair of the exploration rule, delta' = delta/2 and U fixed before gamma",
            partial(_missing_5, tuning, False),
        ),
    )


THEOREM_3A = Claim(
    id="gappletron/theorem-3a",
    title="mistakes with high probability, full information, any comparator",
    source=GAPPLETRON.at("Theorem 3, first part"),
    kind=Kind.TAIL,
    forms=(
        Form(
            "printed",
            r"M_T \le \sum_t\ell_t(U) + KLh(U)^2 + \frac{3K+1}{2}\ln\frac{1}{\delta}"
            r" \quad\text{with probability } 1-\delta",
            Proof.PROVED,
            "true; the proof uses Lemma 4, which is false for a random variance, but a fixed eta = 1/(K-1)"
            " suffices",
            partial(theorem_missing, "theorem-3"),
        ),
    ),
    cases=partial(tail_settings, "3a"),
    examine=partial(examine_tail, partial(_sides_3, False)),
)

THEOREM_3B = Claim(
    id="gappletron/theorem-3b",
    title="mistakes with high probability, full information, separable",
    source=GAPPLETRON.at("Theorem 3, second part"),
    kind=Kind.TAIL,
    forms=(
        Form(
            "printed",
            r"M_T \le 4Lh(U)^2 + \frac{11}{4}\ln\frac{1}{\delta} \quad\text{with probability } 1-\delta",
            Proof.PROVED,
            "true, with the fixed eta = 2",
            partial(separable_missing, "theorem-3"),
        ),
    ),
    cases=partial(tail_settings, "3b"),
    examine=partial(examine_tail, partial(_sides_3, True)),
)

THEOREM_5A = Claim(
    id="gappletron/theorem-5a",
    title="mistakes with high probability, any comparator",
    source=GAPPLETRON.at("Theorem 5, first part"),
    kind=Kind.TAIL,
    forms=_forms_5(
        "theorem-5a",
        r"M_T \le \sum_t\ell_t(U) + (3K+1)\ln\frac{2}{\delta}"
        r" + \max\Big\{5\sqrt{K\rho TA}, \frac{7K^2A}{q}\Big\},"
        r" \quad A = Lh(U)^2+5\ell_{\max}\ln\frac{2}{\delta}",
    ),
    cases=partial(tail_settings, "5a"),
    examine=partial(examine_tail, partial(_sides_5, False)),
)

THEOREM_5B = Claim(
    id="gappletron/theorem-5b",
    title="mistakes with high probability, separable",
    source=GAPPLETRON.at("Theorem 5, second part"),
    kind=Kind.TAIL,
    forms=_forms_5(
        "theorem-5b",
        r"M_T \le 2\ln\frac{2}{\delta} + 5\max\Big\{\sqrt{A\rho T}, \frac{2K}{q}A\Big\},"
        r" \quad A = (K+2)\ell_{\max}\ln\frac{2}{\delta}+Lh(U)^2",
    ),
    cases=partial(tail_settings, "5b"),
    examine=partial(examine_tail, partial(_sides_5, True)),
)
