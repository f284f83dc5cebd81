"""Gappletron's round in exact arithmetic, written a second time from the paper for certificates.

Nothing here is shared with the learners: a certificate must not depend on what it judges.
Features have norm one; for others scale ``|gradient|^2`` and the smoothness constant by ``|x|^2``.

Source: "Beyond Bandit Feedback in Online Multiclass Classification", Algorithm 1 and Appendix A.

==================  ===========================================================
the paper's symbol  name here
==================  ===========================================================
K                   number of labels; in line 10 the number of actions
y*                  star
m_t(W, y), m*       margins, the margin of the star
a(W, x)             gap
gamma_t             exploration rate
zeta_t              whether the gap, not the exploration rate, is spread
S, rho              dominating, its length
P_t(y in out(y'))   observation probability
==================  ===========================================================
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from typing import Literal, TypeAlias, get_args

from gmpy2 import mpq

from ...errors import unknown
from .numbers import Interval, Real, Undecided, rational

Scores: TypeAlias = Sequence[Interval]
Observes: TypeAlias = Sequence[Sequence[bool]]
Rule = Literal["printed", "threshold", "mixture"]
Kind = Literal["smooth-hinge", "hinge", "logistic"]

_NOTHING = Interval.of(0)
_CERTAIN = Interval.of(1)


@dataclass(frozen=True)
class ExactLoss:
    """A surrogate loss with its gap map.

    ``base`` is that of the logarithm (logistic only), ``kappa`` the margin from which a right hinge
    prediction costs nothing (hinge only), ``clipped`` says that the gap is the loss or 1 at most.
    """

    kind: Kind
    base: int | None = None
    kappa: mpq | None = None
    clipped: bool = False


def parse(name: str, n_labels: int) -> ExactLoss:
    """Return the loss of a command-line name; base K is as printed, base 2 the repair.

    The kappa of ``hinge-KAPPA`` is the float that is played.
    """
    kind, _, value = name.partition("-")
    with suppress(ValueError):
        if name == "smooth-hinge":
            return ExactLoss("smooth-hinge")
        if name == "logistic-K":
            return ExactLoss("logistic", base=n_labels)
        if kind == "logistic" and (base := int(value)) >= 2:
            return ExactLoss("logistic", base=base, clipped=True)
        if kind == "hinge" and 0 <= (kappa := float(value or 0.5)) < 1:
            return ExactLoss("hinge", kappa=rational(kappa))
    raise unknown("exact loss", name, ("smooth-hinge", "hinge", "logistic-2", "logistic-K"))


def margins(scores: Scores) -> tuple[Interval, ...]:
    """Return each label's score less the best score of the others."""
    return _margins(tuple(scores))


@lru_cache(maxsize=8)
def _margins(scores: tuple[Interval, ...]) -> tuple[Interval, ...]:
    below = [*accumulate(scores, Interval.max)]
    above = [*accumulate(reversed(scores), Interval.max)][::-1]
    rivals = [above[1], *map(Interval.max, below[:-2], above[2:]), below[-2]]
    return tuple(score - rival for score, rival in zip(scores, rivals, strict=True))


def star(scores: Scores) -> int:
    """Return the label of the highest score, of equal ones the first; may raise ``Undecided``."""
    best = max(range(len(scores)), key=lambda k: scores[k].lo)
    for k, score in enumerate(scores):
        certain = score.certainly_less if k < best else score.certainly_at_most
        if k != best and not certain(scores[best]):
            raise Undecided(f"the scores of labels {k} and {best} overlap")
    return best


def surrogate(loss: ExactLoss, scores: Scores, label: int) -> Interval:
    """Return the loss at these scores; the hinge is equation (5) at the learner's own weights."""
    if loss.kind == "logistic":
        return _logistic(loss, scores, label)
    margin = margins(scores)[label]
    if loss.kind == "hinge":
        return _NOTHING if _settled(loss, scores, label) else (1 - margin).max(0)
    return (1 - _unit(margin)).square() + 2 * (-margin).max(0)


def gradient_squared_norm(loss: ExactLoss, scores: Scores, label: int) -> Interval:
    """Return the squared norm of the gradient in the scores (in the weights, for |x| = 1)."""
    if loss.kind == "logistic":
        others = [q for k, q in enumerate(_softmax(scores)) if k != label]
        squares = _total(others).square() + _total(q.square() for q in others)
        return squares / _log_base(loss).square()
    if loss.kind == "hinge":
        return _NOTHING if _settled(loss, scores, label) else Interval.of(2)
    return 8 * (1 - _unit(margins(scores)[label])).square()


def gap(loss: ExactLoss, scores: Scores) -> Interval:
    """Return the gap map: the loss of the star, at most 1 if it is clipped."""
    value = surrogate(loss, scores, star(scores))
    return value.min(1) if loss.clipped else value


def smoothness(loss: ExactLoss) -> Interval:
    """Return the smallest L with |gradient|^2 <= 2 L loss, for |x| = 1 (equation (3))."""
    if loss.kind == "logistic":
        return _logistic_smoothness() / _log_base(loss)
    if loss.kind == "hinge":
        assert loss.kappa is not None
        return 1 / (1 - Interval.of(loss.kappa))
    return Interval.of(4)


def exploration_rate(gamma: Real, counter: int, star_is_revealing: bool) -> Interval:
    """Return lines 5-8: 0, or ``min{1/2, gamma / sqrt(counter)}``; this round is counted."""
    if star_is_revealing:
        return _NOTHING
    return (gamma / Interval.of(counter).sqrt()).min(mpq(1, 2))


def action_probabilities(
    rule: Rule,
    gap: Interval,
    rate: Interval,
    star: int,
    observes: Observes,
    dominating: Collection[int],
) -> list[Interval]:
    """Return lines 9 and 10: with what probability each action is played.

    ``printed`` compares the rate with the gap, ``threshold`` multiplies it by K / rho first, and
    ``mixture`` always explores but spreads the gap over the labels only. An action beyond the
    labels is a query. An uncertain comparison raises ``Undecided``. ``observes`` has a row per
    action and a column per label.
    """
    n_actions, n_labels = len(observes), len(observes[0])
    if rule == "mixture":
        spread = _shift(gap, star, range(n_labels), n_actions)
        share = rate / len(dominating)
        return [(1 - rate) * p + share * (k in dominating) for k, p in enumerate(spread)]
    if rule not in get_args(Rule):
        raise unknown("rule", rule, get_args(Rule))
    factor = mpq(n_actions, len(dominating)) if rule == "threshold" else 1
    if factor * rate <= gap:
        return _shift(gap, star, range(n_actions), n_actions)
    return _shift(rate, star, dominating, n_actions)


def observation_probability(p: Sequence[Interval], observes: Observes, label: int) -> Interval:
    """Return the probability that the action played observes the label."""
    if all(row[label] for row in observes):
        return _CERTAIN
    return _total(chance for chance, row in zip(p, observes, strict=True) if row[label])


def _shift(amount: Interval, star: int, support: Collection[int], n_actions: int) -> list[Interval]:
    """Move so much of the star's probability 1 evenly onto the support."""
    share = amount / len(support)
    leaves = mpq(len(support) - (star in support), len(support))
    return [1 - leaves * amount if k == star else share * (k in support) for k in range(n_actions)]


def _settled(loss: ExactLoss, scores: Scores, label: int) -> bool:
    """True if equation (5) is in its third case: the star is right by a margin of kappa."""
    assert loss.kappa is not None
    return margins(scores)[label] >= loss.kappa and star(scores) == label


def _logistic(loss: ExactLoss, scores: Scores, label: int) -> Interval:
    """Return -log q(label), exactly if all scores tie and their number is a power of the base."""
    top = _top(scores)
    behind = _NOTHING if label == top else (scores[top] - scores[label]) / _log_base(loss)
    return behind + _logistic_of_top(loss, tuple(scores))


@lru_cache(maxsize=8)
def _logistic_of_top(loss: ExactLoss, scores: tuple[Interval, ...]) -> Interval:
    assert loss.base is not None
    top = _top(scores)
    rest = _total(weight for k, weight in enumerate(_weights(scores)) if k != top)
    for power in range(len(scores).bit_length()):
        if Interval.of(loss.base**power) == 1 + rest:
            return Interval.of(power)
    return rest.log1p() / _log_base(loss)


def _top(scores: Scores) -> int:
    return max(range(len(scores)), key=lambda k: scores[k].lo)


def _weights(scores: Scores) -> list[Interval]:
    """Return the softmax before it is normalised, 1 at one of the highest scores."""
    top = _top(scores)
    return [_CERTAIN if k == top else (s - scores[top]).exp() for k, s in enumerate(scores)]


def _softmax(scores: Scores) -> list[Interval]:
    weights = _weights(scores)
    total = _total(weights)
    return [weight / total for weight in weights]


@cache
def _log_base(loss: ExactLoss) -> Interval:
    assert loss.base is not None
    return Interval.of(loss.base).log()


@cache
def _logistic_smoothness() -> Interval:
    """Return the maximum of f(q) = (1 - q)^2 / (-ln q) over 0 < q < 1.

    With q = exp(-u), f = (1 - exp(-u))^2 / u is stationary where exp(u) = 1 + 2u. The difference of
    the two sides is convex and 0 at u = 0 with slope -1, so it has one positive root; f vanishes at
    both ends, so the root is the maximum, and there f = 4u / (1 + 2u)^2, decreasing for u > 1/2.
    """
    low, high = mpq(5, 4), mpq(13, 10)
    assert _excess(low) < 0 < _excess(high)
    for _ in range(250):
        middle = (low + high) / 2
        low, high = (middle, high) if _excess(middle) < 0 else (low, middle)
    below, above = (4 * u / (1 + 2 * u) ** 2 for u in (high, low))
    return Interval(below, above)


def _excess(u: mpq) -> Interval:
    return Interval.of(u).exp() - Interval.of(1 + 2 * u)


def _unit(x: Interval) -> Interval:
    return x.max(0).min(1)


def _total(values: Iterable[Interval]) -> Interval:
    return sum(values, _NOTHING)
