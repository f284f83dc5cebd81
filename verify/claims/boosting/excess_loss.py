"""The excess loss that the derivation of the weak learning condition gives, and its order in the exploration rate.

=========  =====================================================================
symbol     name here
=========  =====================================================================
D1_t       w_t (c_t - c-hat_t) at the predicted label
D2_t       w_t (c-hat_t - c_t) at the label of h*
b          ``bound`` = k/rho, of the estimates
L          ``luck`` = ln(1/delta)
g          ``drift`` = gamma m/k, what richness with edge 2 gamma leaves
=========  =====================================================================

With bounds alone the excess loss is of order b^2. The errors D1 + D2 are large only when the booster explores, so
that their variance V and their largest value D are of order 1/rho, and by Bernstein's condition

    E exp(lambda (D1 + D2 - g)) <= 1,    1/lambda = V/(2g) + D/3,

whence the sum of D1 + D2 - g ever reaches L/lambda with probability at most delta.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import ClassVar

from gmpy2 import mpq

from ....adversaries.weak_learning.noise import Estimate
from ....errors import require
from ...author import Audit, Cell, Claim, Evidence, Form, Interval, Proof, Setting, Verdict
from ...certificates.instances import Instance, Json
from ...certificates.make import exact_certificate
from ...exact import boosting as exact
from ...games.weak.case import Case
from ..papers import BOOSTING


@dataclass(frozen=True)
class OrderInstance(Instance):
    """Numbers that the excess loss depends on.

    Attributes
    ----------
    n_labels : k, at least 2
    edge : gamma, in (0, 1]
    weight : m, in (0, 1]
    delta : in (0, 1)
    rho : exploration rate, in (0, 1); b = k/rho
    """

    n_labels: int
    edge: mpq
    weight: mpq
    delta: mpq
    rho: mpq
    kind: ClassVar[str] = "order"

    def __post_init__(self) -> None:
        require(2 <= self.n_labels <= 50, f"{self.n_labels} labels: expected 2 to 50.")
        for name, value in (("edge", self.edge), ("weight", self.weight)):
            require(0 < value <= 1, f"{name} {value}: expected a number in (0, 1].")
        for name, value in (("delta", self.delta), ("rho", self.rho)):
            require(0 < value < 1, f"{name} {value}: expected a number in (0, 1).")

    @property
    def drift(self) -> mpq:
        """g = gamma m/k."""
        return self.edge * self.weight / self.n_labels

    @cached_property
    def luck(self) -> Interval:
        """L = ln(1/delta)."""
        return Interval.of(1 / self.delta).log()

    @property
    def bound(self) -> mpq:
        """b = k/rho."""
        return self.n_labels / self.rho

    @property
    def limit(self) -> Interval:
        """b^2 L/(2g), the maximum over real T."""
        return Interval.of(self.bound**2) * self.luck / Interval.of(2 * self.drift)

    @cached_property
    def longest(self) -> int:
        """An integer T at which b sqrt(2 T L) - g T is largest: one of the two around b^2 L/(2 g^2)."""
        below = int((self.limit / self.drift).lo)
        return max((below, below + 1), key=lambda T: self._at(T).lo)

    def _at(self, T: int) -> Interval:
        return Interval.of(self.bound) * (2 * T * self.luck).sqrt() - Interval.of(self.drift * T)

    @cached_property
    def excess_loss(self) -> Interval:
        """max over integers T of b sqrt(2 T L) - g T."""
        below = int((self.limit / self.drift).lo)
        return self._at(below).max(self._at(below + 1))

    @cached_property
    def _laws(self) -> list[list[tuple[mpq, mpq]]]:
        """Probability and value of D1 + D2 for each label, predicted label and label of h*."""
        k = self.n_labels
        labels = product(range(min(k, 3)), repeat=3)  # more labels behave like one of three
        return [estimate_errors(k, self.rho, *each) for each in labels]

    @cached_property
    def variance(self) -> mpq:
        """V: the largest variance of D1 + D2."""
        return max(sum((p * d * d for p, d in law), mpq(0)) for law in self._laws)

    @cached_property
    def largest(self) -> mpq:
        """The largest value of D1 + D2."""
        return max(d for law in self._laws for _, d in law)

    @cached_property
    def inverse_rate(self) -> mpq:
        """1/lambda = V/(2g) + max(D1 + D2)/3."""
        return self.variance / (2 * self.drift) + self.largest / 3

    @property
    def smaller_excess_loss(self) -> Interval:
        """L/lambda."""
        return self.luck * Interval.of(self.inverse_rate)

    @property
    def growth(self) -> Interval:
        """The largest E exp(lambda (D1 + D2 - g))."""
        means = [
            sum(
                (p * ((d - self.drift) / Interval.of(self.inverse_rate)).exp() for p, d in law),
                Interval.of(0),
            )
            for law in self._laws
        ]
        largest = means[0]
        for mean in means[1:]:
            largest = largest.max(mean)
        return largest

    @property
    def derived(self) -> Json:
        return {
            "drift": str(self.drift),
            "log": self.luck.to_json(),
            "bound": str(self.bound),
            "longest": self.longest,
            "excess_loss": self.excess_loss.to_json(),
            "variance": str(self.variance),
            "smaller_excess_loss": self.smaller_excess_loss.to_json(),
        }


def estimate_errors(
    k: int, rho: mpq, label: int, predicted: int, best: int
) -> list[tuple[mpq, mpq]]:
    """The law of (c - c-hat) at ``predicted`` plus (c-hat - c) at ``best``, for costs of 1/(k-1) each.

    The booster plays ``predicted`` with probability 1 - rho; equations (4) and (5), in fractions.
    """
    law = []
    cost, p = mpq(1, k - 1), exact.exploration(predicted, rho, k)
    for played, chance in enumerate(p):
        shares = [1 - loss for loss in exact.loss_estimate(predicted, label, played, p)]
        total = sum(shares, mpq(0))
        errors = [cost * (total - shares[r]) - cost * (r != label) for r in (best, predicted)]
        law.append((chance, errors[0] - errors[1]))
    return law


DELTA = mpq(1, 20)


def _order_of(case: Case) -> OrderInstance:
    noise = case.stream.noise
    assert isinstance(noise, Estimate)
    return OrderInstance(
        case.n_labels,
        exact.decimal(case.adversary.edge),
        mpq(case.stream.least_weight),
        DELTA,
        exact.decimal(noise.rho),
    )


def _order_sides(instance: OrderInstance, form: Form) -> tuple[Interval, Interval]:
    if form.name == "repaired":
        return instance.excess_loss, instance.limit
    return replace(instance, rho=instance.rho / 2).excess_loss, 2 * instance.excess_loss


def _linear_sides(instance: OrderInstance, form: Form) -> tuple[Interval, Interval]:
    halved = replace(instance, rho=instance.rho / 2)
    return halved.smaller_excess_loss, 2 * instance.smaller_excess_loss


def _growth_sides(instance: OrderInstance, form: Form) -> tuple[Interval, Interval]:
    return instance.growth, Interval.of(1)


def look_at_order(cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
    """Compare both sides in fractions and enclosures."""
    instance = _order_of(cell.case)
    sides = cell.claim.judge.exact_sides(instance, cell.form)
    assert sides is not None
    observed, envelope = sides
    words = (
        f"at rho = {instance.rho}: S = {float(instance.excess_loss):.6g} at T = {instance.longest},"
        f" and {float(instance.smaller_excess_loss):.6g} with the variance {float(instance.variance):.4g}"
    )
    proof = exact_certificate(cell.claim, cell.form, instance)
    return Evidence(
        float(observed),
        float(envelope),
        ratio=float(observed / envelope),
        refutes=proof is not None,
        enough=observed.certainly_at_most(envelope),
        says=words,
        more={Verdict.REFUTED: f"certified {words}"},
        certify=lambda: proof,
        runs=1,
    )


def _explores(case: Case) -> str | None:
    if case.graph != "bandit" or not isinstance(case.stream.noise, Estimate):
        return "it is about the estimates of a booster that explores (noise estimate, graph bandit)"
    if not getattr(case.adversary, "edge", 0):
        return "it is about costs that are the same for all wrong labels, and an edge above 0"
    return None


def order_settings() -> tuple[Setting, ...]:
    """Three numbers of labels and three exploration rates."""
    streams = [
        f"planted-stump:n_labels={k},noise=estimate+rho={rho}"
        for k, rho in product((3, 5, 10), (0.5, 0.1, 0.02))
    ]
    return Setting.product("hedge-stump", streams, "bandit", 10, runs=1)


ORDER = Claim(
    id="boosting/excess-loss-order",
    title="order of the excess loss in the bound on the estimates",
    source=BOOSTING.at("equation (7)"),
    game="weak-learning",
    forms=(
        Form(
            "reconstructed",
            r"S(b) = \max_T\Big\{b\sqrt{2T\ln\tfrac{1}{\delta}} - \frac{\gamma mT}{k}\Big\} = \tilde O(b),"
            r"\ b = k/\rho: \quad S(2b) \le 2S(b)",
            Proof.FALSE,
            "the maximum grows with the square of b: it quadruples when b doubles",
            _explores,
            lambda case: Verdict.REFUTED,
        ),
        Form(
            "repaired",
            r"S(b) = \max_T\Big\{b\sqrt{2T\ln\tfrac{1}{\delta}} - \frac{\gamma mT}{k}\Big\}"
            r" \le \frac{kb^2\ln(1/\delta)}{2\gamma m} \quad\text{(order } k^3/(\gamma m\rho^2)\text{)}",
            Proof.PROVED,
            "the maximum over real T, met up to the rounding of T",
            _explores,
        ),
    ),
    judge=Audit(look_at_order, exact=_order_sides, instances=(OrderInstance,)),
    cases=order_settings,
)

VARIANCE = Claim(
    id="boosting/excess-loss-variance",
    title="an excess loss of order 1/rho from the variance of the estimates",
    source=BOOSTING.at("equation (7); derived here"),
    game="weak-learning",
    forms=(
        Form(
            "derived",
            r"E\,e^{\lambda(D_1+D_2-\gamma m/k)} \le 1,\ \lambda = \ln\tfrac{1}{\delta}/S(\rho):"
            r" \quad P\Big(\sup_T\Big\{\sum_{t\le T}(D_1+D_2)_t - \frac{\gamma mT}{k}\Big\} \ge S(\rho)\Big)"
            r" \le \delta",
            Proof.PROVED,
            "Bernstein's condition makes a supermartingale; judged over every draw of a booster's label, for costs"
            " 1/(k-1)",
            _explores,
        ),
    ),
    judge=Audit(look_at_order, exact=_growth_sides, instances=(OrderInstance,)),
    cases=order_settings,
)


LINEAR = Claim(
    id="boosting/excess-loss-linear",
    title="order of the excess loss in the exploration rate",
    source=BOOSTING.at("equation (7); derived here"),
    game="weak-learning",
    forms=(
        Form(
            "derived",
            r"S(\rho) = \Big(\frac{kV(\rho)}{2\gamma m} + \frac{D(\rho)}{3}\Big)\ln\tfrac{1}{\delta}:"
            r" \quad S(\rho/2) \le 2S(\rho)",
            Proof.PROVED,
            "the order 1/rho does follow, from the variance V of the errors and their largest value D, both of"
            " order 1/rho for costs 1/(k-1)",
            _explores,
        ),
    ),
    judge=Audit(look_at_order, exact=_linear_sides, instances=(OrderInstance,)),
    cases=order_settings,
)
