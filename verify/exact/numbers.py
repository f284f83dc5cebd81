"""Exact arithmetic for certificates: rational numbers, and rigorous enclosures where those end.

An :class:`Interval` stands for one real number that lies in ``[lo, hi]``. While both ends agree the
number is known exactly and ``+ - * /`` stay exact; roots, exponentials and logarithms give an
enclosure, rounded outwards to 300 significant bits. A comparison is answered only if it is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import isqrt
from numbers import Integral
from typing import Any, TypeAlias

from mpmath import libmp

Real: TypeAlias = "Interval | int | float | Fraction"

PRECISION = 300  # significant bits of the ends of an enclosure
FINEST = 4096  # no end of an enclosure is finer than 2^-FINEST, no exact fraction longer than this
DIGITS = 40  # significant decimal digits of an enclosure on paper
_WORKING = 400  # bits of the exponential and the logarithm inside, of which 60 are a margin
_MARGIN = Fraction(1, 2**340)
_LARGEST_EXPONENT = 2**20


class Undecided(ArithmeticError):  # noqa: N818 (a state of knowledge, not a mistake)
    """A comparison of two enclosures that overlap, so that neither answer is certain."""


@dataclass(frozen=True)
class Interval:
    """A real number known to lie between two rational ones, ends included.

    The result of an operation encloses every value it takes on the operands. A float operand is the
    dyadic number it stores, so that ``0.1`` is not one tenth. ``<`` compares the numbers and may
    raise :class:`Undecided`; ``==`` compares the enclosures.
    """

    lo: Fraction
    hi: Fraction

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise ValueError(f"the ends of an interval are out of order: {self.lo} > {self.hi}")

    @staticmethod
    def of(value: Real | str) -> Interval:
        """Return the number itself; a string is read as a fraction (``3/7``) or exact decimal."""
        if isinstance(value, Interval):
            return value
        exact = Fraction(int(value) if isinstance(value, Integral) else value)
        return Interval(exact, exact)

    @property
    def is_exact(self) -> bool:
        """Whether the number is known exactly."""
        return self.lo == self.hi

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __abs__(self) -> Interval:
        return self.max(-self).max(0)

    def __add__(self, other: Real) -> Interval:
        other = Interval.of(other)
        return _rounded(self.lo + other.lo, self.hi + other.hi)

    __radd__ = __add__

    def __sub__(self, other: Real) -> Interval:
        return self + -Interval.of(other)

    def __rsub__(self, other: Real) -> Interval:
        return -self + other

    def __mul__(self, other: Real) -> Interval:
        other = Interval.of(other)
        if self.is_exact and other.is_exact:
            return _rounded(self.lo * other.lo, self.lo * other.lo)
        products = [a * b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return _rounded(min(products), max(products))

    __rmul__ = __mul__

    def __truediv__(self, other: Real) -> Interval:
        other = Interval.of(other)
        if other.lo <= 0 <= other.hi:
            raise ZeroDivisionError(f"division by {other}, which may be zero")
        quotients = [a / b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return _rounded(min(quotients), max(quotients))

    def __rtruediv__(self, other: Real) -> Interval:
        return Interval.of(other) / self

    def square(self) -> Interval:
        """Return the square, never below zero (``x * x`` forgets that both factors agree)."""
        size = abs(self)
        return _rounded(size.lo**2, size.hi**2)

    def sqrt(self) -> Interval:
        """Return the square root: exact for squares of fractions, else good to 300 bits."""
        if self.lo < 0:
            raise ValueError(f"the square root of {self}, which may be negative")
        return self._increasing(_sqrt_bounds)

    def exp(self) -> Interval:
        """Return the exponential (exact at 0); numbers above 2^20 raise ``OverflowError``."""
        return self._increasing(_exp_bounds)

    def log(self) -> Interval:
        """Return the natural logarithm (exact at 1)."""
        if self.lo <= 0:
            raise ValueError(f"the logarithm of {self}, which may not be positive")
        return self._increasing(_log_bounds)

    def log1p(self) -> Interval:
        """Return ln(1 + x), to full relative precision also for tiny x."""
        if self.lo <= -1:
            raise ValueError(f"the logarithm of 1 + {self}, which may not be positive")
        return self._increasing(lambda x: _log_bounds(1 + x))

    def min(self, other: Real) -> Interval:
        """Return the smaller of two numbers; needs no decision which one it is."""
        other = Interval.of(other)
        return Interval(min(self.lo, other.lo), min(self.hi, other.hi))

    def max(self, other: Real) -> Interval:
        """Return the larger of two numbers; needs no decision which one it is."""
        other = Interval.of(other)
        return Interval(max(self.lo, other.lo), max(self.hi, other.hi))

    def certainly_less(self, other: Real) -> bool:
        """Whether this number is below the other for sure."""
        return self.hi < Interval.of(other).lo

    def certainly_at_most(self, other: Real) -> bool:
        """Whether this number is below the other, or equal to it, for sure."""
        return self.hi <= Interval.of(other).lo

    def __lt__(self, other: Real) -> bool:
        other = Interval.of(other)
        return _decide(self.certainly_less(other), other.certainly_at_most(self), self, other)

    def __le__(self, other: Real) -> bool:
        other = Interval.of(other)
        return _decide(self.certainly_at_most(other), other.certainly_less(self), self, other)

    def __gt__(self, other: Real) -> bool:
        return Interval.of(other) < self

    def __ge__(self, other: Real) -> bool:
        return Interval.of(other) <= self

    def __float__(self) -> float:
        return float((self.lo + self.hi) / 2)

    def __str__(self) -> str:
        if self.is_exact:
            return str(self.lo)
        return f"[{_decimal(self.lo, ROUND_FLOOR)}, {_decimal(self.hi, ROUND_CEILING)}]"

    def to_json(self) -> str | dict[str, str]:
        """Return ``"3/7"``, or both ends to 40 significant digits, rounded outwards."""
        if self.is_exact:
            return str(self.lo)
        return {"lo": _decimal(self.lo, ROUND_FLOOR), "hi": _decimal(self.hi, ROUND_CEILING)}

    def _increasing(self, bounds: Callable[[Fraction], tuple[Fraction, Fraction]]) -> Interval:
        """Apply an increasing function, given by a lower and an upper bound of its value."""
        below, above = bounds(self.lo)
        return _rounded(below, above if self.is_exact else bounds(self.hi)[1])


def intervals(values: Iterable[Real | str]) -> tuple[Interval, ...]:
    """Return each value as an :class:`Interval`."""
    return tuple(Interval.of(value) for value in values)


_ZERO = Fraction(0)


def _decide(yes: bool, no: bool, left: Interval, right: Interval) -> bool:
    if yes or no:
        return yes
    raise Undecided(f"{left} and {right} overlap")


def _rounded(lo: Fraction, hi: Fraction) -> Interval:
    """Return ``[lo, hi]``, rounded outwards unless it is one fraction of reasonable length."""
    if lo == hi and max(lo.numerator.bit_length(), lo.denominator.bit_length()) <= FINEST:
        return Interval(lo, hi)
    return Interval(
        _floor(lo, min(_places(lo, PRECISION), FINEST)),
        -_floor(-hi, min(_places(hi, PRECISION), FINEST)),
    )


def _exponent(x: Fraction) -> int:
    """Return the e with 2^e <= |x| < 2^(e+1)."""
    size, unit = abs(x.numerator), x.denominator
    e = size.bit_length() - unit.bit_length()
    return e if size << max(-e, 0) >= unit << max(e, 0) else e - 1


def _places(x: Fraction, bits: int) -> int:
    """Return how many binary places after the point give ``x`` so many significant bits."""
    return bits - 1 - _exponent(x) if x else 0


def _floor(x: Fraction, places: int) -> Fraction:
    """Return the largest multiple of 2^-places that is at most ``x``."""
    if places < 0:
        return Fraction((x.numerator // (x.denominator << -places)) << -places)
    return Fraction((x.numerator << places) // x.denominator, 1 << places)


def _sqrt_bounds(x: Fraction) -> tuple[Fraction, Fraction]:
    root = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    if root**2 == x:
        return root, root
    shift = max(0, _WORKING - _exponent(x) // 2)
    below = isqrt((x.numerator << 2 * shift) // x.denominator)
    return Fraction(below, 1 << shift), Fraction(below + 1, 1 << shift)


def _exp_bounds(x: Fraction) -> tuple[Fraction, Fraction]:
    if not x:
        return Fraction(1), Fraction(1)
    if x < -FINEST:
        return _ZERO, Fraction(1, 2**FINEST)
    if x > _LARGEST_EXPONENT:
        raise OverflowError("the exponential of a number above 2^20 is too large")
    return _library_bounds(libmp.mpf_exp, x, _WORKING)


def _log_bounds(x: Fraction) -> tuple[Fraction, Fraction]:
    if x == 1:
        return _ZERO, _ZERO
    # Near 1 the logarithm keeps only the bits by which its argument differs from 1.
    return _library_bounds(libmp.mpf_log, x, _WORKING + max(0, -_exponent(x - 1)))


def _library_bounds(
    function: Callable[[Any, int], Any], x: Fraction, bits: int
) -> tuple[Fraction, Fraction]:
    """Bound an increasing function of mpmath, which is good to a few units of the last of ``bits``.

    The argument is rounded down and up; the margin of 2^-340 is 2^60 times the library's error.
    """
    places = _places(x, bits)
    below, above = (_value(function, e, bits) for e in (_floor(x, places), -_floor(-x, places)))
    return below - abs(below) * _MARGIN, above + abs(above) * _MARGIN


def _value(function: Callable[[Any, int], Any], x: Fraction, bits: int) -> Fraction:
    dyadic = libmp.from_man_exp(x.numerator, 1 - x.denominator.bit_length())
    numerator, denominator = libmp.to_rational(function(dyadic, bits))
    return Fraction(int(numerator), int(denominator))


def _decimal(x: Fraction, rounding: str) -> str:
    if not x:
        return "0"
    context = Context(prec=DIGITS, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return f"{context.divide(Decimal(x.numerator), Decimal(x.denominator)):.{DIGITS - 1}e}"
