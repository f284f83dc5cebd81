"""Gappletron's round in exact arithmetic, written a second time from the paper for certificates.

Nothing here is shared with the learners: a certificate is worth its independence from what it judges.
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

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from ..errors import unknown
from .interval import Interval

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
    kappa: Fraction | None = None
    clipped: bool = False


def parse(name: str, n_labels: int) -> ExactLoss:
    """Return the loss of a command-line name; ``base=K`` is printed, ``base=2`` the repair."""
    losses = {
        "smooth-hinge": ExactLoss("smooth-hinge"),
        "hinge": ExactLoss("hinge", kappa=Fraction(1, 2)),
        "logistic:base=K": ExactLoss("logistic", base=n_labels),
        "logistic:base=2": ExactLoss("logistic", base=2, clipped=True),
    }
    if name not in losses:
        raise unknown("exact loss", name, losses)
    return losses[name]


def margins(scores: Scores) -> tuple[Interval, ...]:
    """Return each label's score less the best score of the others."""
    return tuple(
        score - _largest([*scores[:k], *scores[k + 1 :]]) for k, score in enumerate(scores)
    )


def star(scores: Scores) -> int:
    """Return the label of the highest score, of equal ones the first; may raise ``Undecided``."""
    best = max(range(len(scores)), key=lambda k: scores[k].lo)
    beaten = [scores[k] < scores[best] for k in range(best)]
    matched = [scores[k] <= scores[best] for k in range(best + 1, len(scores))]
    assert all(beaten + matched)
    return best
