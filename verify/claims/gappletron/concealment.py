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
from fractions import Fraction

import numpy as np

from ....adversaries.concealed import Concealed
from ....algorithms.leaping import Leaping
from ....arrays import FloatArray
from ....errors import UserError
from ...certificates.make import exact_certificate
from ...claim import Claim, Form, Verdict
from ...exact.concealed import ConcealedInstance
from ...exact.numbers import Interval
from ...games.labels.case import Case
from ...judges.pathwise import Outcome

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
        """What a learner that never learns would get."""
        return float(np.sum(1 + self.losses / self.case.n_labels))


def chain_of(case: Case) -> Chain | None:
    """The chain of a case, or None where another learner, sequence or graph is played."""
    learner, adversary = case.learner, case.adversary
    if not isinstance(learner, Leaping) or not isinstance(adversary, Concealed):
        return None
    K, gamma = case.n_labels, case.declaration.gamma
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
    rates = np.minimum(0.5, gamma / np.sqrt(np.arange(1, case.sequence.horizon + 1)))
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
        Fraction(repr(number)) for number in (learner.factor, learner.along, learner.across)
    )
    return ConcealedInstance(
        chain.case.n_labels, chain.case.sequence.horizon, factor, (along, across)
    )


def exact_sides(instance: ConcealedInstance, form: Form) -> tuple[Interval, Interval]:
    """Both sides of an exact instance; it speaks of the printed rule."""
    if form.name != "printed":
        raise UserError("the instance speaks of the printed rule, not of its repairs.")
    return Interval.of(instance.mistakes), instance.envelope


def examine_chain(claim: Claim, form: Form, chain: Chain) -> Outcome:
    """Refute with a certificate, or compare the two expectations."""
    T, K = chain.case.sequence.horizon, chain.case.n_labels
    factor = chain.case.declaration.regret_factor
    assert factor is not None
    u = chain.case.smoothness * factor * factor
    observed, envelope = chain.observed, max(4 * math.sqrt(u * T), 4 * K * u)
    found = Outcome(
        Verdict.UNDECIDED,
        observed=observed,
        envelope=envelope,
        ratio=observed / envelope,
        regret_ratio=observed / envelope,
        rounds=T,
        evidence=f"the expectation is {observed:.6g}, as a sum over {T} rounds without sampling",
    )
    if envelope >= chain.largest:
        bites = math.ceil(max(16 * u, 4 * K * u))
        found.verdict = Verdict.VACUOUS
        found.evidence = f"the envelope is at least {chain.largest:g}; it bites from T = {bites}"
        return found
    if form.name == "printed":
        try:
            found.certificate = exact_certificate(claim, form, instance_of(chain))
        except UserError as error:
            found.evidence += f"; no certificate: {error}"
    if found.certificate is not None:
        found.verdict = Verdict.REFUTED
        least, _ = found.certificate.values
        found.evidence = (
            f"certified: {least:.6g} mistakes are expected before anything is revealed, whatever the"
            f" optimiser does afterwards; {found.evidence}"
        )
    elif observed * (1 + ROUNDING) <= envelope:
        found.verdict, found.headroom = Verdict.HOLDS, envelope / observed
    return found
