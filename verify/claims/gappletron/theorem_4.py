"""Theorem 4: mistake bounds in expectation.

========  ================================================================
symbol    name here
========  ================================================================
M_T       mistakes; their conditional expectations are ``errors``
u         L h(U)^2 with L ``smoothness`` and h ``regret_factor``
rho, q    domination number; number of revealing actions, at least 1
N         ``explored``, number of rounds with y* outside Q
========  ================================================================

As printed the maximum of the first part stands outside the expectation, which is stronger when N is
random; as repaired it stands inside. In label-efficient graphs only the mixture rule keeps K.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ....algorithms.gappletron import tuned_gamma
from ....algorithms.losses import Hinge
from ...author import Bound, Claim, Form, Mean, MeanSides, Proof, Verdict
from ...games.labels.case import Case
from ...games.labels.run_sums import RunSums
from ..papers import GAPPLETRON
from ..sampled import guesser
from .concealment.chain import chain_evidence, chain_of, exact_sides
from .concealment.instance import ConcealedInstance
from .hypotheses import is_regular, needs, plays_rule, sees_enough
from .settings import concealed_settings, mean_settings


def curvature(case: Case) -> float:
    """u = L h(U)^2."""
    factor = float(case.declaration["regret_factor"])
    return case.smoothness * factor * factor


def revealing_count(case: Case) -> int:
    """q = max{1, |Q|}."""
    return max(1, len(case.graph.revealing))


def theorem_unmet(tuning: str, case: Case) -> str | None:
    """The hypothesis of Theorems 3 to 5 that a case does not meet: loss, h, rule, and the tuning."""
    if reason := needs("loss", "gamma", "regret_factor")(case):
        return reason
    loss, declared = case.loss, case.declaration
    assert loss is not None
    if not (is_regular(case) or (loss == Hinge(0.5) and case.n_labels >= 3)):
        return f"condition (2) fails for the loss {loss.spec}"
    if case.graph.n_actions > case.n_labels and declared.get("rule") != "mixture":
        return "in label-efficient graphs it needs the mixture rule (K + 1 stands for K otherwise)"
    if case.graph.is_full_information and tuning in ("theorem-3", "theorem-4a", "theorem-4b"):
        return None  # nothing is explored, so gamma plays no part
    if tuning == "theorem-3":
        return "it is about full information"
    prescribed = tuned_gamma(
        tuning, case.problem, loss, declared["regret_factor"], declared.get("delta", 0.05)
    )
    if math.isclose(declared["gamma"], prescribed, rel_tol=1e-9):
        return None
    return f"it prescribes gamma = {prescribed:.6g}, the learner declares {declared['gamma']:.6g}"


def separable_unmet(tuning: str, case: Case) -> str | None:
    """The same for a second part, which needs a comparator with loss zero, exactly."""
    some_loss = "the comparator's loss is not exactly zero"
    return theorem_unmet(tuning, case) or (None if case.separates_exactly else some_loss)


def regret_envelope(case: Case, rounds: int) -> float | None:
    """The first part's bound, as repaired, on expected mistakes minus the comparator's loss after some rounds.

    The number of counted rounds is at most that of all rounds. None where a hypothesis is not met.
    """
    if theorem_unmet("theorem-4a", case) or (plays_rule(False, case) and not sees_enough(case)):
        return None
    flat, spread = _terms_a(case)
    return max(flat, 2 * math.sqrt(spread * (0 if case.graph.is_full_information else rounds)))


def _terms_a(case: Case) -> tuple[float, float]:
    """2 K^2 u / q and rho K u: without loss of the comparator the first part is max{flat, 2 sqrt(spread N)}."""
    K, u = case.n_labels, curvature(case)
    return 2 * K * K * u / revealing_count(case), case.graph.domination_number * K * u


def _unmet_a(printed: bool, case: Case) -> str | None:
    return theorem_unmet("theorem-4a", case) or plays_rule(printed, case)


def _unmet_b(printed: bool, case: Case) -> str | None:
    return separable_unmet("theorem-4b", case) or plays_rule(printed, case)


def _sides_a(case: Case, form: Form, totals: RunSums) -> MeanSides:
    T, compared = totals.rounds, case.compared(totals)
    base = compared.loss
    flat, spread = _terms_a(case)
    roots, top = 2 * np.sqrt(spread * totals.explored), 2 * math.sqrt(spread * T)
    most_base = compared.most
    bounds: tuple[Bound, ...]
    if form.name == "printed":
        bounds = (Bound(base + flat, most_base + flat), Bound(base + roots, most_base + top))
    else:
        bounds = (Bound(base + np.maximum(flat, roots), most_base + max(flat, top)),)
    return MeanSides(
        totals.errors,
        bounds,
        base,
        least=compared.least + flat,
        most=T,
        guess=guesser(case, T),
        non_vacuous=f"without loss of the comparator it is non-vacuous from T = {_first_a(case)}",
        most_base=most_base,
    )


def _sides_b(case: Case, form: Form, totals: RunSums) -> MeanSides:
    K, T, u = case.n_labels, totals.rounds, curvature(case)
    graph = case.graph
    rho, q = graph.domination_number, revealing_count(case)
    halfway = K / 2 < len(graph.revealing) < K
    flat = (8 if form.name == "repaired" and halfway else 4) * K * u / q
    roots = 4 * np.sqrt(rho * u * totals.explored)
    top = 4 * math.sqrt(rho * u * T)
    loss = case.loss
    assert loss is not None
    zero = float(loss.values(np.zeros((1, K)), np.zeros(1, dtype=np.int64))[0])
    return MeanSides(
        totals.errors + totals.learner_loss / K,
        (Bound(np.maximum(flat, roots), max(flat, top)),),
        np.zeros(totals.runs),
        least=flat,
        most=_most_b(case, T),
        guess=guesser(case, T) + T * zero / K,
        non_vacuous=f"mistakes alone reach it from T = {math.ceil(max(16 * rho * u, flat))}",
    )


def _vacuous_a(case: Case) -> str | None:
    """The words for a constant term that alone is as large as all mistakes that the rounds can hold."""
    flat, _ = _terms_a(case)
    if case.horizon > flat:
        return None
    return (
        f"2 K^2 L h(U)^2 / q = {flat:.6g} is at least T, and T rounds hold at most T mistakes: without loss of the"
        f" comparator it is non-vacuous from T = {_first_a(case)}"
    )


def _first_a(case: Case) -> int:
    """The smallest T above the bound of the first part, without loss of the comparator."""
    flat, spread = _terms_a(case)
    return math.ceil(max(4 * spread, flat))


def _most_b(case: Case, rounds: int) -> float:
    """The largest value that the observed side of the second part can have."""
    assert case.loss is not None
    K = case.n_labels
    largest = case.loss.maximum(case.sequence.feature_norm, case.comparator_norm, K)
    return rounds + rounds * largest / K


def _vacuous_b(case: Case) -> str | None:
    """The same for the second part, whose observed side has losses in it."""
    K, u, q = case.n_labels, curvature(case), revealing_count(case)
    flat = 4 * K * u / q
    most = _most_b(case, case.horizon)
    if most > flat:
        return None
    rho = case.graph.domination_number
    return (
        f"4 K L h(U)^2 / q = {flat:.6g} is at least {most:.6g}, the most that mistakes and losses of T rounds can add"
        f" up to: mistakes alone reach it from T = {math.ceil(max(16 * rho * u, flat))}"
    )


def _printed_b_expected(case: Case) -> Verdict | None:
    return Verdict.REFUTED if chain_of(case) is not None else sees_enough(case)


_BROKEN = (
    "true for bandit feedback and full information; where a label is seen by fewer than K/rho actions the"
    " proof uses bound (9), which is false there"
)

THEOREM_4A = Claim(
    id="gappletron/theorem-4a",
    title="expected mistakes, any comparator",
    source=GAPPLETRON.at("Theorem 4, first part"),
    forms=(
        Form(
            "printed",
            r"E[M_T] \le E\Big[\sum_t\ell_t(U)\Big] + \max\Big\{\frac{2K^2Lh(U)^2}{q},"
            r" 2E\big[h(U)\sqrt{\rho KLN}\big]\Big\}",
            Proof.BROKEN,
            _BROKEN,
            partial(_unmet_a, True),
            sees_enough,
            every_horizon=True,
        ),
        Form(
            "repaired",
            r"E[M_T] \le E\Big[\sum_t\ell_t(U) + \max\Big\{\frac{2K^2Lh(U)^2}{q},"
            r" 2h(U)\sqrt{\rho KLN}\Big\}\Big]",
            Proof.PROVED,
            "with either repair of the exploration rule and the maximum inside the expectation",
            partial(_unmet_a, False),
            every_horizon=True,
            vacuous=_vacuous_a,
        ),
    ),
    judge=Mean(_sides_a),
    cases=partial(mean_settings, "4a"),
)

THEOREM_4B = Claim(
    id="gappletron/theorem-4b",
    title="expected mistakes, separable",
    source=GAPPLETRON.at("Theorem 4, second part"),
    forms=(
        Form(
            "printed",
            r"E[M_T] + \frac{1}{K}E\Big[\sum_t\ell_t(W_t)\Big] \le"
            r" E\Big[\max\Big\{4h(U)\sqrt{\rho LN}, \frac{4KLh(U)^2}{q}\Big\}\Big]",
            Proof.FALSE,
            "where one of K labels is revealing the printed rule may see the true label with probability"
            " gamma_t/K only, and the expected mistakes grow like K times the bound; true for bandit feedback"
            " and full information",
            partial(_unmet_b, True),
            _printed_b_expected,
            every_horizon=True,
        ),
        Form(
            "repaired",
            r"E[M_T] + \frac{1}{K}E\Big[\sum_t\ell_t(W_t)\Big] \le"
            r" E\Big[\max\Big\{4h(U)\sqrt{\rho LN}, \frac{cKLh(U)^2}{q}\Big\}\Big]",
            Proof.PROVED,
            "with either repair of the exploration rule; c = 4, and 8 where K/2 < |Q| < K",
            partial(_unmet_b, False),
            every_horizon=True,
            vacuous=_vacuous_b,
        ),
    ),
    judge=Mean(
        _sides_b, computed=chain_evidence, exact=exact_sides, instances=(ConcealedInstance,)
    ),
    cases=lambda: [*mean_settings("4b"), *concealed_settings()],
)
