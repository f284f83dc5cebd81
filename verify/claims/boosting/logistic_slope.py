"""Slope and curvature of the logistic loss along a label, which the weights of the votes descend, and the estimate of
the slope.

=====================  ===========================================================================
symbol                 name here
=====================  ===========================================================================
l                      ``predicted``, the label along which a score moves
q_r                    ``shares[r]`` = 1 / (1 + exp(s_r - s_l)); 0 and 1 are the limits, 1/2 stands at l
f_r', f_r''            ``slopes``, ``curvatures``: entry r if r is the true label
f-hat'                 the estimate of f' by equation (5)
=====================  ===========================================================================

Slope and curvature are linear in each q_r or q_r (1 - q_r), whatever the scores of the other labels are, and any q in
(0, 1) belongs to some scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import ClassVar

import numpy as np
from gmpy2 import mpq

from ....algorithms.boosting import estimates, logistic
from ....errors import require
from ...author import Check, Claim, Exact, Form, Interval, Proof
from ...certificates.instances import Json
from ...exact import boosting as exact
from ...exact.boosting import Fractions, texts
from ...games.labels.case import Case
from ...judges.exact import worst
from ..papers import BOOSTING
from .enumerated import Exploration, adaptive_settings, deviation, few, grid, rates, rho_of
from .estimates_bounded import exceeded, slope_limit
from .estimates_in_play import step_checks
from .hypotheses import adapts, explores
from .logistic import EXACTLY, WEIGHTS

HALF = mpq(1, 2)
INSIDE = (HALF, mpq(1, 100), mpq(99, 100))
"""Shares that scores can have."""


@dataclass(frozen=True)
class SlopeInstance(Exploration):
    """A round of exploration, and where the scores stand along the predicted label.

    Attributes
    ----------
    predicted : the label whose score moves
    shares : q_r, from 0 to 1; 1/2 at the predicted label
    """

    predicted: int
    shares: Fractions
    kind: ClassVar[str] = "slope"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(all(0 <= q <= 1 for q in self.shares), "shares: expected numbers from 0 to 1.")
        require(self.shares[self.predicted] == HALF, "shares: expected 1/2 at the predicted label.")

    @property
    def n_labels(self) -> int:
        return len(self.shares)

    @property
    def labels(self) -> tuple[int, ...]:
        return *super().labels, self.predicted

    @cached_property
    def slopes(self) -> Fractions:
        return exact.slopes(self.shares, self.predicted)

    @cached_property
    def curvatures(self) -> Fractions:
        return exact.curvatures(self.shares, self.predicted)

    def estimated(self, values: Fractions, played: int) -> mpq:
        """Equation (5) for numbers, had a label been played."""
        (found,) = exact.estimate(self.losses_if(played), tuple((value,) for value in values))
        return found

    @cached_property
    def mean_slope(self) -> mpq:
        """Expectation of the estimated slope."""
        drawn = ((self.estimated(self.slopes, a),) for a in range(self.n_labels))
        return exact.mean(self.probabilities, drawn)[0]

    @property
    def derived(self) -> Json:
        return super().derived | {
            "slopes": texts(self.slopes),
            "curvatures": texts(self.curvatures),
            "slope": str(self.estimated(self.slopes, self.played)),
        }


def _extreme(instance: SlopeInstance, sign: int, ends: tuple[mpq, mpq]) -> SlopeInstance:
    """The shares at which the estimated slope is largest, or least for a negative sign: in each it is linear, with the
    sum of the factors of r and of the predicted label before it."""
    losses, at = instance.losses, instance.predicted
    shares = tuple(
        HALF if r == at else ends[sign * (2 - loss - losses[at]) > 0]
        for r, loss in enumerate(losses)
    )
    return replace(instance, shares=shares)


def _level(case: Case, rho: mpq) -> Iterator[SlopeInstance]:
    """Equal scores; the best label is 0, the true one 0 or 1, as the names of labels change nothing."""
    k = case.n_labels
    for label, played, predicted in product(range(2), few(k), few(k)):
        yield SlopeInstance(rho, 0, label, played, predicted, (HALF,) * k)


def _slopes(case: Case, form: Form) -> Iterator[SlopeInstance]:
    """Equal and extreme scores; for the repaired form the limits of scores far apart as well."""
    ends = [(mpq(1, 100), mpq(99, 100))]
    if form.name == "repaired":
        ends.append((mpq(0), mpq(1)))
    for rho in sorted(rates(case), reverse=True):
        for level in _level(case, rho):
            yield level
            for sign, each in product((-1, 1), ends):
                yield _extreme(level, sign, each)


def _bounded_slope(instance: SlopeInstance, form: Form) -> tuple[Interval, Interval]:
    k, rho = instance.n_labels, instance.rho
    if form.name == "reconstructed":
        envelope = 2 * k * k / rho
    else:
        envelope = slope_limit(k, rho)
        if rho <= mpq(k, k + 1):
            envelope = min(envelope, k * k / rho)
    return Interval.of(abs(instance.estimated(instance.slopes, instance.played))), Interval.of(
        envelope
    )


SLOPE_BOUNDED = Claim(
    id="boosting/slope-estimate-bounded",
    title="how large the estimated derivative in a weight can be",
    source=BOOSTING.at("AdaBandit (Algorithm 3), weights of the votes"),
    forms=(
        Form(
            "reconstructed",
            r"|\hat f^{i\prime}_t(\alpha)| \le \frac{2k^2}{\rho} \quad\text{for every exploration rate } \rho",
            Proof.FALSE,
            "true for rho up to k/(k+1), where half of it suffices; false where 1 - rho is small",
            explores,
            lambda case: exceeded(case, slope_limit, lambda k, rho: 2 * k * k / rho),
        ),
        Form(
            "repaired",
            r"|\hat f^{i\prime}_t(\alpha)| \le (k-1)\max\Big\{\Big(\frac{k-1}{\rho}-1\Big)1[k \ge 3],"
            r" \frac{\rho}{1-\rho}, 1\Big\} \quad\Big(\le \frac{k^2}{\rho} \text{ for } \rho \le \frac{k}{k+1}\Big)",
            Proof.PROVED,
            "the exact supremum: the slope is linear in each of k - 1 shares between 0 and 1",
            explores,
        ),
    ),
    judge=Exact(
        _slopes,
        _bounded_slope,
        lambda case: f"{len(rates(case))} rates, every label played",
        instances=(SlopeInstance,),
    ),
    cases=adaptive_settings,
)


def _bends(case: Case, form: Form) -> Iterator[SlopeInstance]:
    """Equal scores, and a grid of them."""
    k, rho = case.n_labels, rho_of(case)
    yield from _level(case, rho)
    for others in grid(INSIDE, k - 1)[:100]:
        for label, played in product(range(2), few(k)):
            yield SlopeInstance(rho, 0, label, played, 0, (HALF, *others))


def _convex_and_unbiased(instance: SlopeInstance, form: Form) -> tuple[Interval, Interval]:
    y = instance.label
    unbiased = deviation((instance.mean_slope,), (instance.slopes[y],))
    return worst((-instance.curvatures[y], 0), (unbiased, 0))


def _slope_checks(case: Case) -> Iterator[Check]:
    """The derivatives in floats, at votes of some weights, and the mean of their estimates."""
    k, rho = case.n_labels, float(rho_of(case))
    for seed, predicted in product(range(6), few(k)):
        exponentials = [WEIGHTS[(seed * (j + 1) + j) % 3] for j in range(k)]
        factor = mpq(3, 2 + seed)
        moved = exponentials[predicted] * factor
        shares = tuple(
            HALF if j == predicted else moved / (moved + w) for j, w in enumerate(exponentials)
        )
        stated = exact.slopes(shares, predicted)
        found = logistic.slopes(
            np.log([[float(w) for w in exponentials]]),
            np.array([predicted]),
            np.log([float(factor)]),
        )[0]
        where = f"along label {predicted} at exponentials {', '.join(map(str, exponentials))}"
        yield Check(f"the slope {where}", found.tolist(), stated, EXACTLY * k)
        best, label = seed % k, (seed + predicted) % k
        p = estimates.exploration(best, rho, k)
        drawn = [
            p[a] * estimates.estimate(estimates.loss_estimate(best, a, a == label, p), found)
            for a in range(k)
        ]
        what = f"the mean of the estimated slope {where} for label {label}"
        yield Check(what, [float(sum(drawn))], [stated[label]], EXACTLY * k * k / rho)


def _slope_and_step_checks(case: Case) -> Iterator[Check]:
    yield from _slope_checks(case)
    if adapts(case) is None:
        yield from step_checks(case)


SLOPE_UNBIASED = Claim(
    id="boosting/slope-estimate-unbiased",
    title="the loss is convex in a weight, and its estimated slope is right on average",
    source=BOOSTING.at("AdaBandit (Algorithm 3), weights of the votes"),
    forms=(
        Form(
            "reconstructed",
            r"f^{i\prime\prime}_t(\alpha) \ge 0, \quad E_{\tilde y}\,\hat f^{i\prime}_t(\alpha)"
            r" = f^{i\prime}_t(\alpha)",
            Proof.PROVED,
            "a sum of q (1 - q); stochastic descent needs no more than this and a bound on the estimated slope: the"
            " estimate of f itself need not be convex",
            explores,
        ),
    ),
    judge=Exact(
        _bends,
        _convex_and_unbiased,
        lambda case: f"slopes at rho = {rho_of(case)}, every label played",
        _slope_and_step_checks,
        instances=(SlopeInstance,),
    ),
    cases=adaptive_settings,
)
