"""Gappletron's round in exact arithmetic: the known facts about the losses and the rules."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from boundcheck.algorithms import losses
from boundcheck.errors import UserError
from boundcheck.verify.exact.gappletron import (
    ExactLoss,
    action_probabilities,
    exploration_rate,
    gap,
    gradient_squared_norm,
    margins,
    observation_probability,
    parse,
    smoothness,
    star,
    surrogate,
)
from boundcheck.verify.exact.numbers import Interval, Undecided, intervals


def every(*strategies):
    """Run a test over the strategies, the same examples each time."""
    repeatable = settings(derandomize=True, deadline=None, max_examples=60)
    return lambda test: repeatable(given(*strategies)(test))


LOSSES = ("smooth-hinge", "hinge", "logistic-K", "logistic-2")
RULES = ("printed", "threshold", "mixture")
REPAIRED = ("smooth-hinge", "logistic-2")

score = st.one_of(
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)]),
    st.fractions(min_value=-4, max_value=4, max_denominator=1000),
)
score_vectors = st.lists(score, min_size=2, max_size=5).map(intervals)
chances = st.fractions(min_value=0, max_value=1, max_denominator=1000)

FULL = [[True] * 3] * 3
BANDIT = [[k == j for j in range(3)] for k in range(3)]
FILTER = [[k == 0] * 3 for k in range(3)]
QUERY = [[k == 3] * 3 for k in range(4)]
GRAPHS = ((FULL, (0,)), (BANDIT, (0, 1, 2)), (FILTER, (0,)), (QUERY, (3,)))


def regularity(loss, scores, label):
    """The left side of condition (2)."""
    n = len(scores)
    return ((n - 1) * surrogate(loss, scores, label) + surrogate(loss, scores, star(scores))) / n


def near(x: Interval, value: float, tolerance: float) -> bool:
    return abs(float(x) - value) < tolerance


def test_margins_and_star():
    assert margins(intervals([3, 1, "5/2"])) == intervals(["1/2", -2, "-1/2"])
    assert star(intervals([1, 2, 2])) == 1
    wide = Interval(Fraction(0), Fraction(1))
    assert star([Interval.of(1), wide]) == 0
    with pytest.raises(Undecided, match="labels 0 and 1"):
        star([wide, Interval.of(1)])
    assert star([wide, wide, Interval.of(2)]) == 2


@every(score_vectors)
def test_the_star_is_the_first_of_the_best(scores):
    numbers = [s.lo for s in scores]
    assert star(scores) == numbers.index(max(numbers))
    assert margins(scores)[star(scores)].lo == max(m.lo for m in margins(scores)) >= 0


@pytest.mark.parametrize(
    ("margin", "smooth", "hinge"),
    [(-2, 5, 3), (0, 1, 1), ("1/4", "9/16", "3/4"), ("1/2", "1/4", 0), (1, 0, 0), (7, 0, 0)],
)
def test_hinges_by_their_margin(margin, smooth, hinge):
    scores = intervals([margin, 0])
    assert surrogate(parse("smooth-hinge", 2), scores, 0) == Interval.of(smooth)
    assert surrogate(parse("hinge", 2), scores, 0) == Interval.of(hinge)


def test_hinge_at_a_wide_margin_for_another_label():
    loss, scores = parse("hinge", 3), intervals([2, 0, 0])
    assert [surrogate(loss, scores, k) for k in (0, 1)] == list(intervals([0, 3]))
    assert [gradient_squared_norm(loss, scores, k) for k in (0, 1)] == list(intervals([0, 2]))


@every(score_vectors, st.data())
def test_logistic_agrees_with_high_precision(scores, data):
    label = data.draw(st.integers(0, len(scores) - 1))
    name = data.draw(st.sampled_from(LOSSES[2:]))
    loss = parse(name, len(scores))
    with mpmath.workprec(500):
        s = [mpmath.mpf(x.lo.numerator) / x.lo.denominator for x in scores]
        q = [mpmath.exp(v) / mpmath.fsum(map(mpmath.exp, s)) for v in s]
        unit = mpmath.log(loss.base)
        value = -mpmath.log(q[label]) / unit
        square = mpmath.fsum((p - (k == label)) ** 2 for k, p in enumerate(q)) / unit**2
        for function, exact in ((surrogate, value), (gradient_squared_norm, square)):
            enclosure = function(loss, scores, label)
            number = Fraction(*map(int, mpmath.libmp.to_rational(exact._mpf_)))
            assert enclosure.hi - enclosure.lo < number / 2**270
            assert abs(enclosure.lo - number) < number / 2**270


def test_logistic_is_exact_at_ties_that_are_powers_of_the_base():
    assert surrogate(parse("logistic-K", 3), intervals([0, 0, 0]), 1) == Interval.of(1)
    assert surrogate(parse("logistic-2", 4), intervals([5, 5, 5, 5]), 2) == Interval.of(2)
    assert gap(parse("logistic-2", 4), intervals([5, 5, 5, 5])) == Interval.of(1)
    assert gap(parse("logistic-2", 3), intervals([0, 0, 0])) == Interval.of(1)


def test_logistic_far_from_the_star():
    loss = parse("logistic-2", 2)
    far = surrogate(loss, intervals([10**6, 0]), 1)
    assert Interval.of(10**6).certainly_less(far)
    assert 0 <= gap(loss, intervals([10**6, 0])).hi < Fraction(1, 2**4000)
    assert gap(loss, intervals([300, 0])).lo > 0


def test_gap_is_the_loss_of_the_star():
    scores = intervals([0, "1/4", -1])
    assert gap(parse("smooth-hinge", 3), scores) == Interval.of("9/16")
    assert gap(parse("hinge", 3), scores) == Interval.of("3/4")
    printed = parse("logistic-K", 3)
    assert gap(printed, scores) == surrogate(printed, scores, 1)
    with pytest.raises(Undecided):
        gap(parse("hinge", 2), [Interval(Fraction(0), Fraction(1)), Interval.of(1)])


def test_names():
    assert parse("logistic-K", 7) == ExactLoss("logistic", base=7)
    assert parse("logistic-2", 7) == ExactLoss("logistic", base=2, clipped=True)
    assert parse("hinge", 7).kappa == Fraction(1, 2)
    assert parse("hinge-0.25", 7).kappa == Fraction(1, 4)
    assert parse("hinge-0", 7).kappa == 0
    assert parse("hinge-0.3", 7).kappa == Fraction(0.3), "the float that is played"
    assert parse("logistic-7", 3) == ExactLoss("logistic", base=7, clipped=True)
    for spec in (
        "hinge",
        "hinge-0",
        "hinge-0.99",
        "logistic-2",
        "logistic-9",
        "hinge-0.1234567891",
    ):
        assert losses.parse(spec).spec == spec
    for name in ("hinge-1", "hinge--1", "hinge-x", "hinge-nan", "logistic-1", "logistic-e"):
        with pytest.raises(UserError, match=f"unknown exact loss '{name}'"):
            parse(name, 3)
    with pytest.raises(UserError, match="did you mean 'smooth-hinge'"):
        parse("smooth_hinge", 3)


@pytest.mark.parametrize("n", range(3, 13))
def test_base_k_is_not_regular_from_three_labels_on(n):
    scores = intervals([0, 0, *[-32] * (n - 2)])
    left = regularity(parse("logistic-K", n), scores, 1)
    assert left.certainly_less(1)
    assert near(left, log(2) / log(n), 1e-12)


@every(score_vectors, st.sampled_from(REPAIRED), st.data())
def test_the_smooth_hinge_and_base_two_are_regular(scores, name, data):
    label = data.draw(st.integers(0, len(scores) - 1))
    assume(label != star(scores))
    assert not regularity(parse(name, len(scores)), scores, label).certainly_less(1)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_the_smooth_hinge_is_tight_without_a_margin(n):
    scores = intervals([0, 0, *[-1] * (n - 2)])
    assert regularity(parse("smooth-hinge", n), scores, 1) == Interval.of(1)


def test_two_labels_are_tight_for_logistic_and_too_few_for_the_hinge():
    assert regularity(parse("logistic-2", 2), intervals([0, 0]), 1) == Interval.of(1)
    assert regularity(parse("hinge", 2), intervals(["1/2", 0]), 1) == Interval.of("3/4")


@every(score_vectors, st.sampled_from(LOSSES), st.data())
def test_the_gradient_is_bounded_by_the_loss(scores, name, data):
    label = data.draw(st.integers(0, len(scores) - 1))
    loss = parse(name, len(scores))
    bound = 2 * smoothness(loss) * surrogate(loss, scores, label)
    assert gradient_squared_norm(loss, scores, label).certainly_at_most(bound)


@every(chances)
def test_the_smooth_hinge_meets_its_bound_below_margin_one(margin):
    loss, scores = parse("smooth-hinge", 3), intervals([margin, 0, -1])
    bound = 2 * smoothness(loss) * surrogate(loss, scores, 0)
    assert gradient_squared_norm(loss, scores, 0) == bound


def test_the_hinge_meets_its_bound_just_below_kappa():
    loss = parse("hinge", 2)
    scores = intervals([Fraction(1, 2) - Fraction(1, 10**6), 0])
    ratio = gradient_squared_norm(loss, scores, 0) / (2 * surrogate(loss, scores, 0))
    assert Interval.of("199999/100000").certainly_less(ratio)
    assert ratio.certainly_less(smoothness(loss))
    assert smoothness(loss) == Interval.of(2)


def test_the_logistic_constant_is_sharp():
    loss = parse("logistic-K", 2)
    constant = smoothness(loss) * Interval.of(2).log()
    assert near(constant, 0.407264, 1e-6)
    assert constant.hi - constant.lo < Fraction(1, 2**240)
    q = Interval.of("-1.25643").exp()  # the maximum is here, to five decimals
    scores = [q.log(), (1 - q).log()]
    ratio = gradient_squared_norm(loss, scores, 0) / (2 * surrogate(loss, scores, 0))
    assert ratio.certainly_less(smoothness(loss))
    assert smoothness(loss).certainly_less(ratio * (1 + Fraction(1, 10**9)))


def test_exploration_rate():
    assert exploration_rate(7, 1, True) == Interval.of(0)
    assert exploration_rate(7, 9, False) == Interval.of("1/2")
    assert exploration_rate(Fraction(3, 4), 9, False) == Interval.of("1/4")


@every(st.sampled_from(GRAPHS), st.sampled_from(RULES), chances, chances, st.integers(0, 2))
def test_the_plays_are_a_distribution(graph, rule, gap_value, rate_value, best):
    observes, dominating = graph
    a, rate = Interval.of(gap_value), Interval.of(rate_value / 2)
    p = action_probabilities(rule, a, rate, best, observes, dominating)
    assert sum(p, Interval.of(0)) == Interval.of(1)
    assert all(x.lo >= 0 for x in p)


def test_the_three_rules_on_the_label_efficient_graph():
    a, rate = Interval.of("1/2"), Interval.of("3/20")  # 3 rate <= a < 4 rate
    printed = action_probabilities("printed", a, rate, 1, QUERY, (3,))
    threshold = action_probabilities("threshold", a, rate, 1, QUERY, (3,))
    mixture = action_probabilities("mixture", a, rate, 1, QUERY, (3,))
    assert printed == list(intervals(["1/8", "5/8", "1/8", "1/8"]))
    assert threshold == list(intervals([0, "17/20", 0, "3/20"]))
    assert mixture == list(intervals(["17/120", "17/30", "17/120", "3/20"]))


def test_equality_of_rate_and_gap_spreads_the_gap():
    a = Interval.of("1/3")
    spread = list(intervals(["1/9", "7/9", "1/9"]))
    assert action_probabilities("printed", a, a, 1, FILTER, (0,)) == spread
    assert action_probabilities("threshold", 3 * a, a, 1, FILTER, (0,)) == [a, a, a]


def test_an_uncertain_comparison_is_not_answered():
    a = Interval.of(2).sqrt() / 4
    with pytest.raises(Undecided):
        action_probabilities("printed", a, a, 1, FILTER, (0,))
    with pytest.raises(Undecided):
        action_probabilities("threshold", a, a / 3, 1, FILTER, (0,))
    assert len(action_probabilities("mixture", a, a, 1, FILTER, (0,))) == 3
    with pytest.raises(UserError, match="unknown rule 'mixtur'"):
        action_probabilities("mixtur", Interval.of(1), Interval.of(0), 0, FULL, (0,))


def test_spam_filter_breaks_the_bound_on_observation():
    """One round, K = 2, gamma = gap = 1/10: 1/P = 20 where (9) allows rho / gamma = 10."""
    spam = [[True, True], [False, False]]
    a, rate = Interval.of("1/10"), exploration_rate(Fraction(1, 10), 1, False)
    plays = [action_probabilities(rule, a, rate, 1, spam, (0,)) for rule in RULES]
    printed, threshold, mixture = (1 / observation_probability(p, spam, 1) for p in plays)
    assert printed == Interval.of(20)
    assert threshold == Interval.of(10)
    assert mixture == 1 / Interval.of("29/200")


def test_bandit_and_full_information_observe_as_the_paper_says():
    a, rate = Interval.of("1/10"), Interval.of("1/10")
    p = action_probabilities("printed", a, rate, 0, BANDIT, (0, 1, 2))
    assert 1 / observation_probability(p, BANDIT, 2) == Interval.of(30)
    enclosure = action_probabilities("mixture", a.sqrt(), rate, 0, FULL, (0,))
    assert observation_probability(enclosure, FULL, 2) == Interval.of(1)


def lemma_one(loss, scores, label, rule, rate, graph):
    """The probability of a mistake, and (K - 1) / K times the loss plus the exploration rate."""
    observes, dominating = graph
    p = action_probabilities(rule, gap(loss, scores), rate, star(scores), observes, dominating)
    n = len(scores)
    return 1 - p[label], Fraction(n - 1, n) * surrogate(loss, scores, label) + rate


def test_lemma_one_fails_for_base_k():
    loss, scores = parse("logistic-K", 3), intervals([0, 0, -64])
    error, bound = lemma_one(loss, scores, 1, "printed", Interval.of(0), (FULL, (0,)))
    assert bound.certainly_less(error)
    assert near(error, 0.789690, 1e-6)
    assert near(bound, 0.420620, 1e-6)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", REPAIRED)
@pytest.mark.parametrize("graph", GRAPHS[:3])
def test_lemma_one_holds_for_the_regular_losses(name, rule, graph):
    values = [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(3)]
    for numbers in product(values, repeat=2):
        scores = intervals([*numbers, Fraction(1, 4)])
        for label, rate in product(range(3), (0, Fraction(1, 8), Fraction(1, 2))):
            error, bound = lemma_one(parse(name, 3), scores, label, rule, Interval.of(rate), graph)
            assert not bound.certainly_less(error)


@pytest.mark.parametrize("name", ["hinge-0.3", "logistic-7", "hinge-0.99"])
def test_every_legal_loss_is_played_exactly_as_in_floats(name):
    played, exact = losses.parse(name), parse(name, 4)
    scores = np.random.default_rng(0).normal(size=(50, 4))
    for label in range(4):
        values = played.values(scores, np.full(50, label))
        best = scores.argmax(axis=1)
        shown = np.sort(scores, axis=1)[:, -1] - np.sort(scores, axis=1)[:, -2]
        counts = played.counts_for_comparator(best, shown, np.full(50, label))
        for row, value in zip(scores, np.where(counts, values, 0.0), strict=True):
            found = surrogate(exact, [Interval.of(Fraction(s)) for s in row.tolist()], label)
            assert float(found) == pytest.approx(value, abs=1e-12)


@every(score_vectors)
def test_margins_are_less_the_best_of_the_others(scores):
    for k, margin in enumerate(margins(scores)):
        others = [score.lo for j, score in enumerate(scores) if j != k]
        assert margin.lo == margin.hi == scores[k].lo - max(others)


def test_many_labels_cost_as_many_exponentials(monkeypatch):
    """All losses of a score vector share the logarithm of its partition sum."""
    taken, exp = [], Interval.exp
    monkeypatch.setattr(Interval, "exp", lambda x: taken.append(x) or exp(x))
    scores = intervals([Fraction(k * k % 31, 7) for k in range(40)])
    for label in range(40):
        surrogate(parse("logistic-2", 40), scores, label)
    assert 0 < len(taken) <= 80
