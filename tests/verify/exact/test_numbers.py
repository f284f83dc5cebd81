"""Rigour of interval arithmetic: enclosure, inclusion, rounding outwards, certain comparisons."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import factorial, isqrt

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundcheck.verify.exact.numbers import (
    FINEST,
    PRECISION,
    Interval,
    Undecided,
)


def every(*strategies):
    """Run a test over the strategies, the same examples each time."""
    repeatable = settings(derandomize=True, deadline=None, max_examples=60)
    return lambda test: repeatable(given(*strategies)(test))


fractions = st.fractions(min_value=-50, max_value=50, max_denominator=10**6)
floats = st.floats(allow_nan=False, allow_infinity=False, width=64)
operations = st.sampled_from(["add", "sub", "mul", "truediv"])


@st.composite
def enclosures(draw, low=-50, high=50):
    """An interval and a rational number inside it."""
    bounded = st.fractions(min_value=low, max_value=high, max_denominator=10**4)
    lo, inside, hi = sorted(draw(st.tuples(bounded, bounded, bounded)))
    return Interval(lo, hi), inside


def apply(operation, left, right):
    return getattr(left, f"__{operation}__")(right)


def contains(outer: Interval, inner: Interval | Fraction) -> bool:
    inner = Interval.of(inner)
    return outer.lo <= inner.lo and inner.hi <= outer.hi


def relative_width(x: Interval) -> Fraction:
    return (x.hi - x.lo) / max(abs(x.lo), abs(x.hi))


def high_precision(name: str, x: Fraction) -> tuple[Fraction, Fraction]:
    """The value of a function to 700 bits, give or take 2^-600 of it."""
    with mpmath.workprec(1000):
        value = getattr(mpmath, name)(mpmath.mpf(x.numerator) / x.denominator)
        exact = Fraction(*map(int, mpmath.libmp.to_rational(value._mpf_)))
    slack = abs(exact) / 2**600
    return exact - slack, exact + slack


def encloses(value: Interval, below: Fraction, above: Fraction) -> bool:
    """Whether an enclosure contains all of much finer bounds, or an exact number meets them."""
    if value.is_exact:
        return below <= value.lo <= above
    return value.lo <= below <= above <= value.hi


def taylor_exp(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of exp on [-1, 1] from its series: after 100 terms the rest is below 3 / 100!."""
    value = sum((x**n / factorial(n) for n in range(100)), Fraction(0))
    return value - Fraction(3, factorial(100)), value + Fraction(3, factorial(100))


@every(operations, fractions, fractions)
def test_exact_operands_give_exact_results(operation, a, b):
    left, right = Interval.of(a), Interval.of(b)
    if operation != "truediv" or b:
        assert apply(operation, left, right) == Interval.of(apply(operation, a, b))


@every(fractions, st.lists(st.tuples(operations, st.booleans(), fractions), max_size=12))
def test_exact_expressions_agree_with_fractions(start, steps):
    value, wanted = Interval.of(start), start
    for operation, from_the_right, operand in steps:
        divisor = wanted if from_the_right else operand
        if operation == "truediv" and not divisor:
            continue
        name = f"__r{operation}__" if from_the_right else f"__{operation}__"
        value, wanted = getattr(value, name)(operand), getattr(wanted, name)(operand)
        assert value.is_exact
        assert (value.lo, value.hi) == (wanted, wanted)
        assert str(value) == value.to_json() == str(wanted)
        assert (float(value), hash(value.lo)) == (float(wanted), hash(wanted))
        assert (value < operand, value <= operand) == (wanted < operand, wanted <= operand)
        assert abs(value).lo == abs(wanted)
        assert value.max(operand).lo == max(wanted, operand)
        assert value.min(operand).lo == min(wanted, operand)


@every(
    st.fractions(min_value=Fraction(1, 10), max_value=9, max_denominator=1000),
    st.lists(
        st.sampled_from(["sqrt", "exp", "log1p", "add", "mul", "truediv"]), min_size=1, max_size=8
    ),
    st.fractions(min_value=Fraction(1, 10), max_value=2, max_denominator=1000),
)
def test_expressions_enclose_the_value_at_high_precision(start, steps, operand):
    value = Interval.of(start)
    with mpmath.workprec(2000):
        wanted = mpmath.mpf(start.numerator) / start.denominator
        other = mpmath.mpf(operand.numerator) / operand.denominator
        for step in steps:
            if step in ("add", "mul", "truediv"):
                value = apply(step, value, operand)
                wanted = apply(step, wanted, other)
            elif step != "exp" or wanted < 100:
                value = getattr(value, step)()
                wanted = getattr(mpmath, step)(wanted)
        true = Fraction(*map(int, mpmath.libmp.to_rational(wanted._mpf_)))
    assert encloses(value, true - true / 2**1500, true + true / 2**1500)
    assert value.is_exact or relative_width(value) < Fraction(1, 2**250)


@every(operations, enclosures(), enclosures(), st.sampled_from([-60, 0, 60]))
def test_the_true_results_lie_inside(operation, left, right, move):
    (a, x), (b, y) = left, right
    b, y = Interval(b.lo + move, b.hi + move), y + move
    if operation == "truediv" and b.lo <= 0 <= b.hi:
        with pytest.raises(ZeroDivisionError, match="may be zero"):
            apply(operation, a, b)
        return
    for p, q in product((a.lo, x, a.hi), (b.lo, y, b.hi)):
        assert contains(apply(operation, a, b), apply(operation, p, q))


@every(enclosures(), enclosures())
def test_square_abs_min_and_max_contain_the_true_result(left, right):
    (a, x), (b, y) = left, right
    assert contains(a.square(), x**2)
    assert a.square().lo >= 0
    assert contains(abs(a), abs(x))
    assert abs(a).lo >= 0
    assert contains(a.min(b), min(x, y))
    assert contains(a.max(b), max(x, y))
    assert contains(-a, -x)


@every(operations, enclosures(1, 50), enclosures(1, 50), enclosures(0, 1), enclosures(0, 1))
def test_inclusion_is_monotone(operation, left, right, more_left, more_right):
    inner = (left[0], right[0])
    outer = tuple(
        Interval(x.lo - more.hi / 4, x.hi + more.lo)
        for x, (more, _) in zip(inner, (more_left, more_right), strict=True)
    )
    assert contains(apply(operation, *outer), apply(operation, *inner))
    for function in ("sqrt", "exp", "log", "log1p", "square"):
        assert contains(getattr(outer[0], function)(), getattr(inner[0], function)())


@every(st.fractions(min_value=-300, max_value=300, max_denominator=10**9))
def test_exp_encloses_the_value_tightly(x):
    value = Interval.of(x).exp()
    below, above = high_precision("exp", x)
    assert encloses(value, below, above)
    assert relative_width(value) < Fraction(1, 2 ** (PRECISION - 4))


@every(st.fractions(min_value=-1, max_value=1, max_denominator=1000))
def test_exp_agrees_with_its_series(x):
    below, above = taylor_exp(x)
    value = Interval.of(x).exp()
    assert encloses(value, below, above)


@every(st.floats(min_value=1e-300, max_value=1e300))
def test_log_encloses_the_value_tightly(x):
    value = Interval.of(x).log()
    below, above = high_precision("log", Fraction(x))
    assert encloses(value, below, above)
    if x != 1:
        assert relative_width(value) < Fraction(1, 2 ** (PRECISION - 4))


@every(st.fractions(min_value=Fraction(1, 100), max_value=100, max_denominator=10**6))
def test_log_undoes_exp(x):
    assert contains(Interval.of(x).log().exp(), x)
    assert contains(Interval.of(x).exp().log(), x)


@pytest.mark.parametrize("bits", [200, 500, 1000, 3000])
def test_log1p_keeps_its_precision_near_zero(bits):
    for x in (Fraction(1, 2**bits), Fraction(-1, 3 * 2**bits)):
        value = Interval.of(x).log1p()
        assert encloses(value, x - x**2 / 2 + x**3 / 3 - abs(x) ** 4, x - x**2 / 2 + x**3 / 3)
        assert relative_width(value) < Fraction(1, 2 ** (PRECISION - 4))


@every(st.fractions(min_value=0, max_value=10**6, max_denominator=10**6))
def test_sqrt_is_exact_for_squares_and_tight_otherwise(x):
    root = Interval.of(x).sqrt()
    assert root.lo**2 <= x <= root.hi**2
    assert Interval.of(x**2).sqrt() == Interval.of(x)
    square = isqrt(x.numerator) ** 2 == x.numerator and isqrt(x.denominator) ** 2 == x.denominator
    assert root.is_exact == square
    assert root.is_exact or relative_width(root) < Fraction(1, 2**256)


@pytest.mark.parametrize("bits", [100, 500, 1000, 3000])
def test_log_keeps_its_precision_near_one(bits):
    for x in (Fraction(1, 2**bits), Fraction(-1, 3 * 2**bits)):
        value = Interval.of(1 + x).log()
        assert value == Interval.of(x).log1p()
        assert relative_width(value) < Fraction(1, 2 ** (PRECISION - 4))


def test_logarithms_and_roots_of_far_numbers():
    for shift in (40_000, -40_000):
        value = Interval.of(Fraction(2) ** shift)
        assert contains(value.log() / Interval.of(2).log(), shift)
        assert contains(value.sqrt(), Fraction(2) ** (shift // 2))
        assert contains((3 * value).sqrt().square(), 3 * Fraction(2) ** shift)


def test_special_values_are_exact():
    assert Interval.of(0).exp() == Interval.of(1)
    assert Interval.of(1).log() == Interval.of(0)
    assert Interval.of(0).log1p() == Interval.of(0)
    assert Interval.of(Fraction(4, 9)).sqrt() == Interval.of("2/3")
    assert Interval.of(0.1) != Interval.of("1/10")


@every(floats)
def test_a_float_is_its_dyadic_number(x):
    for value in (x, np.float64(x)):
        assert (value + Interval.of(0)).lo == Fraction(x)
        assert (0 + Interval.of(value)).lo == Fraction(x)
        assert float(Interval.of(value)) == x


def test_numpy_scalars_and_fractions_work_from_the_left():
    half = Interval.of(Fraction(1, 2))
    assert np.float64(2) * half == Interval.of(1)
    assert np.float64(2) > half
    assert (half + np.int64(2**62) + np.int64(2**62)).lo == 2**63 + Fraction(1, 2)
    assert Fraction(1, 3) - half == Interval.of(Fraction(-1, 6))
    assert 1 / half == Interval.of(2)


@every(st.fractions(min_value=Fraction(1, 1000), max_value=1000))
def test_ends_round_outwards_to_the_last_bit(x):
    rounded = Interval(x, 2 * x) + 0
    for end, error in ((x, x - rounded.lo), (2 * x, rounded.hi - 2 * x)):
        assert 0 <= error / end < Fraction(1, 2 ** (PRECISION - 1))


@every(
    st.integers(-(2**700), 2**700), st.integers(1, 2**700), st.sampled_from([-4200, -3700, 0, 2000])
)
def test_ends_are_the_nearest_of_300_bits(above, below, shift):
    x = Fraction(above, below) * Fraction(2) ** shift
    rounded = Interval(x, x + 1) + 0
    assert 0 <= x - rounded.lo < spacing(rounded.lo, x)
    assert 0 <= rounded.hi - (x + 1) < spacing(rounded.hi, x + 1)
    for end in (rounded.lo, rounded.hi):
        assert significant_bits(end) <= PRECISION
        assert (end * 2**FINEST).denominator == 1


def spacing(end: Fraction, x: Fraction) -> Fraction:
    """The distance of two numbers with 300 bits around the smaller of two numbers, by size."""
    size, exponent = min(abs(end), abs(x)), -FINEST
    while size >= Fraction(2) ** (exponent + PRECISION):
        exponent += 1
    return Fraction(2) ** exponent


def significant_bits(end: Fraction) -> int:
    odd = int(abs(end.numerator))
    while odd and odd % 2 == 0:
        odd //= 2
    return odd.bit_length()


def test_ends_stay_short():
    value = Interval.of(2).sqrt()
    for _ in range(100):
        value = (value * value / 2 + 1).sqrt()
        assert value.lo.denominator.bit_length() <= FINEST + 1
    assert contains(value.square(), 2)
    assert relative_width(value) < Fraction(1, 2**290)


def test_a_long_exact_fraction_becomes_an_enclosure():
    x = Interval.of(Fraction(1, 3))
    for _ in range(20):
        x = x * x
    assert not x.is_exact
    assert contains(x, Fraction(1, 3) ** 2**20)
    y = Interval.of(Fraction(10, 3))
    for _ in range(14):
        y = y * y
    assert contains(y, Fraction(10, 3) ** 2**14)
    assert relative_width(y) < Fraction(1, 2 ** (PRECISION - 20))


def test_far_exponentials():
    assert Interval.of(-(10**400)).exp().lo == 0
    assert 0 < Interval.of(-(10**400)).exp().hi <= Fraction(1, 2**FINEST)
    with pytest.raises(OverflowError, match="too large"):
        Interval.of(10**400).exp()


@pytest.mark.parametrize(("name", "low"), [("sqrt", -1), ("log", 0), ("log1p", -1)])
def test_outside_the_domain(name, low):
    with pytest.raises(ValueError, match="may"):
        getattr(Interval(Fraction(low), Fraction(3)), name)()


def test_ends_must_be_in_order_and_finite():
    with pytest.raises(ValueError, match="out of order"):
        Interval(Fraction(1), Fraction(0))
    with pytest.raises(OverflowError):
        Interval.of(float("inf"))
    with pytest.raises(ValueError, match="NaN"):
        Interval.of(float("nan"))


@every(enclosures(), enclosures())
def test_comparisons_are_true_of_every_point_or_undecided(left, right):
    (a, x), (b, y) = left, right
    for compare in ("__lt__", "__le__", "__gt__", "__ge__"):
        try:
            answer = getattr(a, compare)(b)
        except Undecided:
            assert a.lo <= b.hi
            assert b.lo <= a.hi
            assert not (a.is_exact and b.is_exact)
        else:
            assert answer == getattr(x, compare)(y)
    assert not a.certainly_less(b) or x < y
    assert not a.certainly_at_most(b) or x <= y


@every(fractions, fractions)
def test_exact_numbers_are_always_comparable(x, y):
    a, b = Interval.of(x), Interval.of(y)
    assert (a < b, a <= b, a > b, a >= b) == (x < y, x <= y, x > y, x >= y)
    assert (a.certainly_less(b), a.certainly_at_most(b)) == (x < y, x <= y)


def test_touching_enclosures():
    a, b = Interval(Fraction(0), Fraction(1)), Interval(Fraction(1), Fraction(2))
    assert a.certainly_at_most(b)
    assert not a.certainly_less(b)
    assert a <= b
    assert not b < a
    with pytest.raises(Undecided, match="overlap"):
        _ = a < b
