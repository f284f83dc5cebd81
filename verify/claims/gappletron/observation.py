"""Algorithm 1's probabilities, and bound (9) on the importance weights that they allow.

=========  ==================================================================
symbol     name here
=========  ==================================================================
P_t(y)     probability that label y is observed
rho        domination number
q          number of revealing actions, at least 1 in the formula
gamma_T    ``nominal_rates``: min{1/2, gamma / sqrt(number of rounds with y* outside Q)}
d(y)       in-degree: how many actions observe y
=========  ==================================================================

Both speak of every label that the adversary could have shown, so every label is looked at. The theorem
holds for every horizon, so each round is judged with the horizon that ends there.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...author import Claim, Form, Interval, Pathwise, Proof, Sides, Verdict
from ...games.labels.case import Case
from ...games.labels.record import MARGIN
from ...games.labels.rounds import Rounds
from ...games.labels.ties.best_label import CONFORMITY, deviation, gap_map
from ..papers import GAPPLETRON
from .hypotheses import is_crafted, needs, not_repaired, plays_rule, printed_rule_in
from .instances import RoundInstance
from .lemmas import round_instance
from .rounds import gap_rounding, nominal_rates, rates
from .settings import bound_settings, round_settings


def _algorithm_sides(case: Case, form: Form, rounds: Rounds) -> Sides:
    loss, block, room = case.loss, rounds.block, gap_rounding(rounds)
    assert loss is not None
    gap = gap_map(loss, block.scores, block.best, rounds.column(MARGIN))
    found = deviation(case, block.best, gap, rates(rounds), block.probabilities, room)
    return Sides(found, np.zeros(len(rounds)), CONFORMITY + room)


def _rule_unmet(printed: bool, case: Case) -> str | None:
    return needs("loss", "gamma", "rule")(case) or plays_rule(printed, case)


ALGORITHM_1 = Claim(
    id="gappletron/algorithm-1",
    title="the probabilities are those of line 10",
    source=GAPPLETRON.at("Algorithm 1"),
    forms=(
        Form(
            "printed",
            r"p'_t = (1-\zeta_t a_t-(1-\zeta_t)\gamma_t)\,e_{y^\star_t}"
            r" + \zeta_t a_t\tfrac1K\mathbf 1 + (1-\zeta_t)\tfrac{\gamma_t}{\rho}\mathbf 1_S"
            r" \quad\text{up to } 10^{-12}",
            Proof.PROVED,
            "a definition: recomputed from the scores and the count of rounds",
            lambda case: _rule_unmet(True, case),
            adaptive=True,
        ),
        Form(
            "repaired",
            r"\text{the same with } \zeta_t = 1[\tfrac{K}{\rho}\gamma_t \le a_t], \text{ or }"
            r" p'_t = (1-\gamma_t)((1-a_t)e_{y^\star_t}+\tfrac{a_t}{K}\mathbf 1)"
            r"+\tfrac{\gamma_t}{\rho}\mathbf 1_S",
            Proof.PROVED,
            "a definition: line 9 with the threshold, or line 10 as a mixture",
            lambda case: _rule_unmet(False, case),
            adaptive=True,
        ),
    ),
    judge=Pathwise(_algorithm_sides),
    cases=round_settings,
)


def effective_domination(
    form_name: str, rule: str | None, graph_rho: int, k: int, degree: int
) -> Fraction:
    """rho, or in the repaired form of the printed rule the larger of rho and K / min d."""
    if form_name == "printed" or rule in ("threshold", "mixture"):
        return Fraction(graph_rho)
    return max(Fraction(graph_rho), Fraction(k, degree))


def _bound_9_sides(case: Case, form: Form, rounds: Rounds) -> Sides:
    graph = case.graph
    observation = rounds.block.probabilities @ graph.observes.astype(np.float64)
    rarest = np.argmin(observation, axis=1)
    smallest = observation[np.arange(len(rounds)), rarest]
    with np.errstate(divide="ignore"):
        weights = 1 / smallest
        rho = float(
            effective_domination(
                form.name,
                case.declaration.get("rule"),
                graph.domination_number,
                graph.n_actions,
                int(graph.in_degree.min()),
            )
        )
        explored = np.where(rounds.counters > 0, rho / nominal_rates(rounds), 0.0)
    envelope = np.maximum(explored, graph.n_actions / max(1, len(graph.revealing)))
    envelope[~np.isfinite(rounds.block.scores).all(axis=1)] = (
        np.nan
    )  # which rounds count is not known
    share = 1e-9 if case.declaration.get("rule") is None else 1e-12
    # a probability of at least 1/E that is off by r gives a weight of at most E (1 + r E) or so
    finite = np.where(np.isfinite(envelope), envelope, 0.0)
    return Sides(
        weights,
        envelope,
        (share + gap_rounding(rounds) * finite) * envelope,
        live=np.asarray(np.isfinite(envelope)),
        label=rarest.astype(np.int64),
    )


def _bound_9_exact(instance: RoundInstance, form: Form) -> tuple[Interval, Interval]:
    graph = instance.graph
    rho = effective_domination(
        form.name,
        instance.rule,
        graph.domination_number,
        graph.n_actions,
        int(graph.in_degree.min()),
    )
    weight = 1 / (instance.observation(instance.scores.label) + instance.explained)
    revealed = Fraction(graph.n_actions, max(1, len(graph.revealing)))
    if instance.counter == 0:
        return weight, Interval.of(revealed)
    if instance.nominal_rate.hi == 0:
        raise ZeroDivisionError("bound (9) with gamma = 0 is infinite")
    return weight, (rho / instance.nominal_rate).max(revealed)


def _bound_9_printed_expected(case: Case) -> Verdict | None:
    """Refuted where some label is observed by fewer than K / rho actions, and some best label outside
    Q does not observe it."""
    graph = case.graph
    outside = ~case.revealing_mask[: graph.n_labels]
    degree_needed = Fraction(graph.n_actions, graph.domination_number)
    for y in range(graph.n_labels):
        unseen = ~graph.observes[: graph.n_labels, y]
        if graph.in_degree[y] < degree_needed and (outside & unseen).any():
            return Verdict.REFUTED if is_crafted(case) else None
    return Verdict.HOLDS


def _bound_9_printed_unmet(case: Case) -> str | None:
    return needs("gamma")(case) or not_repaired(case)


BOUND_9 = Claim(
    id="gappletron/bound-9",
    title="bound on the importance weights",
    source=GAPPLETRON.at("equation (9)"),
    forms=(
        Form(
            "printed",
            r"\frac{1}{P_t(y)} \le \max\Big\{\frac{\rho}{\gamma_T}, \frac{K}{\max\{1,|Q|\}}\Big\}"
            r" \quad\text{for every label } y \text{ that a round might have had}",
            Proof.FALSE,
            "when zeta_t = 1 a label with d(y) < K/rho is observed with probability a_t d(y)/K only,"
            " and a_t may be as small as gamma_t",
            _bound_9_printed_unmet,
            _bound_9_printed_expected,
            adaptive=True,
            unmet_by=printed_rule_in,
        ),
        Form(
            "repaired",
            r"\frac{1}{P_t(y)} \le \max\Big\{\frac{\rho}{\gamma_T}, \frac{K}{\max\{1,|Q|\}}\Big\}"
            r" \;\text{(repaired rules; printed rule: } \max\{\rho, K/\min_y d(y)\} \text{ for } \rho)",
            Proof.PROVED,
            "line 9 with zeta = 1[(K/rho) gamma <= a] or line 10 as a mixture; or keep the algorithm and pay"
            " K/min d for rho",
            needs("gamma"),
            adaptive=True,
        ),
    ),
    judge=Pathwise(
        _bound_9_sides, instance_of=round_instance, exact=_bound_9_exact, instances=(RoundInstance,)
    ),
    cases=bound_settings,
)
