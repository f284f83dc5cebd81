"""The deviation of the estimates, where a rich class that can be learnt makes a weak learner for bandit feedback.

=========  =====================================================================
symbol     name here
=========  =====================================================================
D1_t       w_t (c_t - c-hat_t) at the predicted label
D2_t       w_t (c-hat_t - c_t) at the label of h*
b          bound on the estimates' errors, 1 here
=========  =====================================================================

The derivation meets both D1 and D2, which are martingales with increments in [-b, b]. The printed excess loss has the
deviation of one of them. In the worst pair both are the same coin times b, and their law is binomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import ClassVar

from gmpy2 import mpq

from ....adversaries.weak_learning.worst_pair import WorstPair
from ....errors import require
from ...author import Audit, Cell, Claim, Evidence, Form, Interval, Proof, Setting, Verdict
from ...certificates.instances import Instance, Json
from ...certificates.make import exact_certificate
from ...exact.boosting import decimal
from ...games.weak.case import Case
from ..papers import BOOSTING


@dataclass(frozen=True)
class PairInstance(Instance):
    """The worst pair of martingales: T tosses of a coin, and the probability that each may be large with.

    Attributes
    ----------
    horizon : T, at least 1
    delta : in (0, 1)
    """

    horizon: int
    delta: mpq
    kind: ClassVar[str] = "pair"

    def __post_init__(self) -> None:
        require(1 <= self.horizon <= 2000, f"horizon {self.horizon}: expected 1 to 2000.")
        require(0 < self.delta < 1, f"delta {self.delta}: expected a number in (0, 1).")

    @cached_property
    def squared_deviation(self) -> Interval:
        """2 T ln(1/delta), for b = 1."""
        return 2 * self.horizon * Interval.of(1 / self.delta).log()

    def heads(self, factor: int) -> int:
        """The least number of heads with which D1 + D2 = 2 (heads - tails) exceeds ``factor`` deviations."""
        level = self.squared_deviation * factor**2
        low, high = self.horizon // 2, self.horizon + 1
        while high - low > 1:
            middle = (low + high) // 2
            above = level < (2 * (2 * middle - self.horizon)) ** 2
            low, high = (low, middle) if above else (middle, high)
        return high

    def probability(self, factor: int) -> mpq:
        """P(D1 + D2 > factor b sqrt(2 T ln(1/delta)))."""
        ways = sum(comb(self.horizon, h) for h in range(self.heads(factor), self.horizon + 1))
        return mpq(ways, 2**self.horizon)

    @property
    def derived(self) -> Json:
        return {
            "squared_deviation": self.squared_deviation.to_json(),
            "heads": [self.heads(1), self.heads(2)],
            "allowed": str(3 * self.delta),
        }


def _pair_sides(instance: PairInstance, form: Form) -> tuple[Interval, Interval]:
    if form.name == "reconstructed":
        return Interval.of(instance.probability(1)), Interval.of(3 * instance.delta)
    return Interval.of(instance.probability(2)), Interval.of(instance.delta)


def look_at_pairs(cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
    """Compare binomial sums: at T for the printed form, at every T up to it for the repaired one."""
    form, case = cell.form, cell.case
    assert isinstance(case.adversary, WorstPair)
    delta = decimal(case.adversary.delta)
    horizons = [case.horizon] if form.name == "reconstructed" else range(1, case.horizon + 1)
    pairs = [PairInstance(T, delta) for T in horizons]
    worst = max(pairs, key=lambda pair: _pair_sides(pair, form)[0].lo)
    observed, envelope = _pair_sides(worst, form)
    number = str(observed) if worst.horizon <= 60 else "a binomial sum"
    words = f"exactly {number} = {float(observed):.4g} at T = {worst.horizon}"
    if len(pairs) > 1:
        words += f", the largest for T up to {case.horizon}"
    proof = exact_certificate(cell.claim, form, worst)
    return Evidence(
        float(observed),
        float(envelope),
        ratio=float(observed / envelope),
        refutes=proof is not None,
        says=words,
        more={Verdict.REFUTED: f"certified: {words}"},
        certify=lambda: proof,
        runs=len(pairs),
        rounds=sum(pair.horizon for pair in pairs),
    )


def _is_pair(case: Case) -> str | None:
    if isinstance(case.adversary, WorstPair) and case.graph == "bandit":
        return None
    return "it is about its own pair of martingales (adversary worst-pair, graph bandit)"


FALSE_PAIRS = ((0.01, 3), (0.01, 100), (0.01, 400), (0.05, 2))
"""Pairs of delta and T at which the printed deviation is exceeded too often; 3 and 2 are the least T for them."""

TRUE_PAIRS = ((0.05, 100), (0.05, 400))


def pair_settings() -> tuple[Setting, ...]:
    """Both confidence parameters, few and many rounds."""
    return tuple(
        Setting("oracle-noise", WorstPair(delta=delta).spec, "bandit", T, runs=1)
        for delta, T in (*FALSE_PAIRS, *TRUE_PAIRS)
    )


def _printed_pair(case: Case) -> Verdict:
    false = (case.adversary.delta, case.horizon) in FALSE_PAIRS
    return Verdict.REFUTED if false else Verdict.HOLDS


_SUM = r"\sum_t w_t(c_t-\hat c_t)_{l_t} + \sum_t w_t(\hat c_t-c_t)_{h^*(x_t)}"

DERIVATION = Claim(
    id="boosting/wlc-derivation",
    title="deviation of the estimates in the derivation of the weak learning condition",
    source=BOOSTING.at("equation (7)"),
    game="weak-learning",
    forms=(
        Form(
            "reconstructed",
            _SUM + r" \le b\sqrt{2T\ln(1/\delta)} \quad\text{with probability } 1-3\delta",
            Proof.FALSE,
            "that is the deviation of one of two martingales; of the worst pair of them the sum exceeds it with"
            " probability about 0.07 at delta = 0.01, and at delta = 0.05 after two rounds with 0.25",
            _is_pair,
            _printed_pair,
            ("P(violation), exact", "3 delta"),
        ),
        Form(
            "repaired",
            _SUM + r" \le 2b\sqrt{2T\ln(1/\delta)} \quad\text{with probability } 1-\delta",
            Proof.PROVED,
            "the increments of the sum have range 4 b; judged at every T up to that of the case",
            _is_pair,
            names=("P(violation), exact", "delta"),
        ),
    ),
    judge=Audit(look_at_pairs, exact=_pair_sides, instances=(PairInstance,)),
    cases=pair_settings,
)
