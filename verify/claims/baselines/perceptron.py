"""The multiclass Perceptron: its step, and the mistake bound with the hinge loss of any comparator.

=========  =================================================================
symbol     name here
=========  =================================================================
M          ``mistakes``, the sum of 1 - p(y); the Perceptron does not randomise
L(U)       sum of the hinge losses max{0, 1 - margin} of the comparator U
X          bound on the norm of the features
yhat       ``best``
=========  =================================================================

A mistake moves two rows by x, so a step has the squared norm 2 |x|^2, twice that of the binary Perceptron.
On a mistake <W, step> <= 0 and <U, step> >= 1 - loss(U). Hence M - L(U) <= <U, W> <= |U| |W| <= |U| X sqrt(2 M), after
every round of every sequence; solved for M it is the bound.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...author import Claim, Comparison, Form, OneRound, Pathwise, Proof, Setting, Sides, Source
from ...games.labels.branches import Round
from ...games.labels.case import Case
from ...games.labels.record import ERROR
from ...games.labels.rounds import Rounds
from .hypotheses import about, enumerable, largest_step, solved, sums

SOURCE = Source(
    "Crammer and Singer", "Ultraconservative Online Algorithms for Multiclass Problems", 2003
)


def bound_settings() -> tuple[Setting, ...]:
    """Streams on which the bound is non-vacuous: separable, noisy, and one that attains it."""
    streams = (
        ("one-hot:n_labels=3", 1000),
        ("one-hot:n_labels=3,noise=0.05", 3000),
        ("one-hot:n_labels=8,noise=0.02", 3000),
        ("keywords:keyword_scale=1,n_labels=3", 3000),
        ("keywords:keyword_scale=1,n_labels=3,noise=0.05", 3000),
    )
    return tuple(Setting("perceptron", stream, "full", T, runs=1) for stream, T in streams)


def step_settings() -> tuple[Setting, ...]:
    """Short games with several labels."""
    streams = ["one-hot:n_labels=4,noise=0.2", "keywords:keyword_scale=1,n_labels=3,noise=0.2"]
    return Setting.product("perceptron", streams, "full", 400, runs=1)


def mistake_sides(case: Case, form: Form, rounds: Rounds) -> Sides:
    """Expected mistakes and the Perceptron's bound, after each round."""
    mistakes = rounds.prefix_sums("perceptron-mistakes", rounds.column(ERROR))
    base = rounds.prefix_sums("perceptron-hinge", case.comparator_hinge[rounds.window])
    return sums(mistakes, solved(base, largest_step(case)), rounds.played, base)


MISTAKE_BOUND = Claim(
    id="perceptron/mistake-bound",
    title="mistakes on any sequence, any comparator",
    source=SOURCE.at(
        "mistake bound of the multiclass Perceptron; with the hinge loss: derived here"
    ),
    forms=(
        Form(
            "derived",
            r"M \le L(U) + c + \sqrt{c^2 + 2c\,L(U)}, \quad c = X^2\|U\|^2,"
            r" \quad L(U) = \sum_t\max\{0, 1 - m_t(U)\}",
            Proof.PROVED,
            "M - L(U) is at most <U, W>, and |W|^2 at most 2 X^2 M; solved for M; 2 X^2 |U|^2 if U separates",
            about("perceptron/mistake-bound"),
            adaptive=True,
        ),
    ),
    judge=Pathwise(mistake_sides),
    cases=bound_settings,
)


def _step(case: Case, form: Form, each: Round) -> Iterator[Comparison]:
    yield Comparison("the step", each.mean_change(), each.outer(each.label, each.best), each.size)


STEP = Claim(
    id="perceptron/step",
    title="a mistake moves two rows by the features",
    source=SOURCE.at("the multiclass Perceptron"),
    forms=(
        Form(
            "printed",
            r"W_{t+1} - W_t = (e_{y_t} - e_{\hat y_t})\,x_t^\top",
            Proof.PROVED,
            "a definition; zero where the best label is the true one",
            enumerable("perceptron/step"),
        ),
    ),
    judge=OneRound(_step),
    cases=step_settings,
)
