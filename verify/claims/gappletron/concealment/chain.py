"""Theorem 4, second part, without sampling: the game of :class:`Leaping` against :class:`Concealed`.

=========  ==================================================================
symbol     name here
=========  ==================================================================
S_t        ``unseen``, probability that nothing was revealed before round t
gamma_t    ``rates``
=========  ==================================================================

The learner is in one of two states, so that the expectation of its mistakes is a sum: before the first reveal it
stands at W_1, where label 1 wins by the margin c_t = 1 - sqrt(gamma_t) and the gap is gamma_t; after it
stands at U, whose loss and gap are zero, and errs with probability gamma_t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .....arrays import FloatArray
from .....errors import UserError
from ....author import Cell, Evidence, Form, Interval, Verdict
from ....certificates.make import exact_certificate
from ....exact.numbers import rational
from ....games.labels.case import Case
from .concealed import Concealed
from .instance import ConcealedInstance
from .leaping import Leaping

ROUNDING = 1e-6
"""Relative error granted to the sums in floats; the roundings of T <= 10^9 rounds add up to less."""


@dataclass(frozen=True)
class Chain:
    """A case whose expectations are sums, and the probabilities of its rounds, each of shape (T,).

    Attributes
    ----------
    case : the case
    rates : gamma_t
    reveals, errs : probabilities of a reveal and of a mistake before the first reveal
    """

    case: Case
    rates: FloatArray
    reveals: FloatArray
    errs: FloatArray

    @property
    def losses(self) -> FloatArray:
        """The loss before the first reveal, shape (T,)."""
        return 1 + 2 * (1 - np.sqrt(self.rates))

    @property
    def unseen(self) -> FloatArray:
        """Probability that nothing was revealed before each round, shape (T,)."""
        return np.concatenate(([1.0], np.cumprod(1 - self.reveals)[:-1]))

    @property
    def observed(self) -> float:
        """E[M_T] + (1/K) E[sum of the losses]."""
        before = self.errs + self.losses / self.case.n_labels
        return float(np.sum(self.unseen * before + (1 - self.unseen) * self.rates))

    @property
    def largest(self) -> float:
        """The observed side of a learner that never learns."""
        return float(np.sum(1 + self.losses / self.case.n_labels))


def chain_of(case: Case) -> Chain | None:
    """The chain of a case, or None where another learner, sequence or graph is played."""
    learner, adversary = case.learner, case.adversary
    if not isinstance(learner, Leaping) or not isinstance(adversary, Concealed):
        return None
    K, gamma = case.n_labels, case.declaration.get("gamma")
    assert gamma is not None
    blind = np.zeros((K, K), dtype=bool)
    blind[0] = True
    same = (learner.along, learner.across) == (adversary.along, adversary.across)
    if not (
        same
        and case.graph.observes.shape == (K, K)
        and (case.graph.observes == blind).all()
        and math.isclose(gamma, adversary.rate, rel_tol=1e-12)
    ):
        return None
    rates = np.minimum(0.5, gamma / np.sqrt(np.arange(1, case.horizon + 1)))
    if learner.rule == "printed":
        return Chain(case, rates, rates / K, 1 - rates / K)
    if learner.rule == "threshold":
        return Chain(case, rates, rates, np.ones_like(rates))
    spread = (1 - rates) * rates / K
    return Chain(case, rates, rates + spread, 1 - spread)


def instance_of(chain: Chain) -> ConcealedInstance:
    """The same game with gamma = 2 h(U) and features on the circle, both exactly."""
    learner = chain.case.learner
    assert isinstance(learner, Leaping)
    factor, along, across = (
        rational(repr(number)) for number in (learner.factor, learner.along, learner.across)
    )
    return ConcealedInstance(chain.case.n_labels, chain.case.horizon, factor, (along, across))


def exact_sides(instance: ConcealedInstance, form: Form) -> tuple[Interval, Interval]:
    """Both sides of an exact instance; it speaks of the printed rule."""
    if form.name != "printed":
        raise UserError("the instance speaks of the printed rule, not of its repairs.")
    return Interval.of(instance.mistakes), instance.envelope


def chain_evidence(cell: Cell) -> Evidence | None:
    """Both expectations of a chain, and an exact certificate where the printed rule is refuted; None for other
    cases."""
    if (chain := chain_of(cell.case)) is None:
        return None
    T, K = chain.case.horizon, chain.case.n_labels
    u = chain.case.smoothness * chain.case.declaration["regret_factor"] ** 2
    observed, envelope = chain.observed, max(4 * math.sqrt(u * T), 4 * K * u)
    found = Evidence(
        observed,
        envelope,
        ratio=observed / envelope,
        regret_ratio=observed / envelope,
        headroom=envelope / observed,
        enough=observed * (1 + ROUNDING) <= envelope,
        says=f"the expectation is {observed:.6g}, as a sum over {T} rounds without sampling",
        rounds=T,
    )
    if envelope >= chain.largest:
        found.live = 0
        found.says = (
            f"the envelope is at least {chain.largest:g}; it is non-vacuous from T ="
            f" {math.ceil(max(16 * u, 4 * K * u))}"
        )
        return found
    proof = None
    if cell.form.name == "printed":
        try:
            proof = exact_certificate(cell.claim, cell.form, instance_of(chain))
        except UserError as error:
            found.says += f"; no certificate: {error}"
    if proof is not None:
        found.refutes, found.certify = True, lambda: proof
        found.more[Verdict.REFUTED] = (
            f"certified: {proof.values[0]:.6g} mistakes are expected before anything is revealed, whatever the"
            f" optimiser does afterwards; {found.says}"
        )
    return found
