"""The instance that refutes Theorem 4, second part, for the printed rule, in integers and fractions.

=========  ======================================================================
symbol     name here
=========  ======================================================================
K, T       ``n_labels``, ``horizon``
U          label 2 has the weights ``comparator``, every other label 0
W_1        label 1 has the weights (1, 0), every other label 0
h(U)       ``regret_factor``, so gamma = 2 h(U), as L = 4 and rho = 1
c_t        1 - sqrt(gamma_t); the features are (c_t, sqrt(1 - c_t^2))
S_t        probability that nothing was revealed in the first t rounds
=========  ======================================================================

Filtering with label 0 revealing, smooth hinge, true label 2 in every round. While W_1 stands, label 1 is best, its
gap is gamma_t exactly, so zeta_t = 1 and p_t gives gamma_t / K to label 0 and to label 2 alike: a round passes
without a reveal, and without a hit, with probability 1 - gamma_t / K. An optimiser that moves on nonzero gradients
only stands until the first reveal, so E[M_T] >= S_1 + ... + S_T whatever it does later. N <= T in the envelope.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import ClassVar

from gmpy2 import isqrt, mpq, mpz

from .....errors import require
from ....author import Instance, Interval
from ....certificates.instances import Json
from ....exact.numbers import intervals

BITS = 80
"""Binary places of the survival probabilities, which are rounded down."""

LONGEST = 2_000_000
"""Rounds that a certificate may have; each is derived again, about three million a second."""


@dataclass(frozen=True)
class ConcealedInstance(Instance):
    """A sequence and a learner that meet every hypothesis; see the module.

    Attributes
    ----------
    n_labels, horizon : K >= 3 and T >= 1
    regret_factor : h(U) >= ||U||, at which guarantee (4) holds
    comparator : weights of label 2, with margin at least 1 in every round
    """

    n_labels: int
    horizon: int
    regret_factor: mpq
    comparator: tuple[mpq, mpq]
    kind: ClassVar[str] = "concealed"
    constant: ClassVar[Json] = {
        "rule": "printed",
        "loss": "smooth-hinge",
        "graph": "filtering:revealing=0",
    }

    def __post_init__(self) -> None:
        require(self.n_labels >= 3, f"{self.n_labels} labels: expected at least 3.")
        require(
            1 <= self.horizon <= LONGEST, f"horizon {self.horizon}: expected one of 1 to {LONGEST}."
        )
        h = self.regret_factor
        require(
            h > 0 and h * h >= self.squared_norm,
            f"h(U) = {h}: expected at least the norm of U, the root of {self.squared_norm}.",
        )
        # the only loss that counts before the leap is 1 + 2 c < 3, with a gradient of norm sqrt(8)
        require(
            self.holds_for_every_sequence or 8 * h * h >= 9,
            f"h(U) = {h}: guarantee (4) is not met.",
        )
        for t in (1, self.horizon):
            require(
                Interval.of(1).certainly_at_most(self.margin(t)),
                f"the margin of U in round {t} is not at least 1 for sure.",
            )

    @property
    def squared_norm(self) -> mpq:
        """||U||^2."""
        return sum((weight * weight for weight in self.comparator), mpq(0))

    @property
    def holds_for_every_sequence(self) -> bool:
        """True if (4) holds at U for all convex losses: h(U) >= ||U - W_1||, for the optimiser that stands
        at W_1 until the first nonzero gradient and at U ever after."""
        return bool(self.regret_factor**2 >= self.squared_norm + 1)

    def rate(self, t: int) -> Interval:
        """gamma_t."""
        return (Interval.of(2 * self.regret_factor) / Interval.of(t).sqrt()).min(mpq(1, 2))

    def margin(self, t: int) -> Interval:
        """Score of label 2 under U in round t; along the circle it is concave, so the least margin is in the
        first or the last round."""
        cosine = 1 - self.rate(t).sqrt()
        along, across = intervals(self.comparator)
        return along * cosine + across * (1 - cosine.square()).sqrt()

    @cached_property
    def _sums(self) -> tuple[int, int]:
        """S_1 + ... + S_T and S_T in units of 2^-BITS, rounded down."""
        one, h = mpz(1) << BITS, self.regret_factor
        most = ceil(mpq(one, 2 * self.n_labels))
        squared = mpz(ceil((2 * h / self.n_labels * one) ** 2))
        survival, total = one, mpz(0)
        for t in range(1, self.horizon + 1):
            reveal = min(most, isqrt(squared // t) + 1)
            survival = survival * (one - reveal) >> BITS
            total += survival
        return int(total), int(survival)

    @property
    def mistakes(self) -> mpq:
        """A lower bound on E[M_T], to two decimals, rounded down."""
        return mpq(self._sums[0] * 100 >> BITS, 100)

    @property
    def envelope(self) -> Interval:
        """max{4 h sqrt(rho L T), 4 K L h^2 / q}."""
        h = Interval.of(self.regret_factor)
        return (8 * h * Interval.of(self.horizon).sqrt()).max(16 * self.n_labels * h * h)

    @property
    def derived(self) -> Json:
        return {
            "squared_norm": str(self.squared_norm),
            "squared_distance": str(self.squared_norm + 1),
            "guarantee_4": "every sequence" if self.holds_for_every_sequence else "this sequence",
            "gamma": str(2 * self.regret_factor),
            "last_rate": self.rate(self.horizon).to_json(),
            "margins": [self.margin(t).to_json() for t in (1, self.horizon)],
            "survival": f"{self._sums[1]}/2^{BITS}",
        }
