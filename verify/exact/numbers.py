"""Exact arithmetic for certificates: rational numbers, and rigorous enclosures where those end.

An :class:`Interval` stands for one real number that lies in ``[lo, hi]``. While both ends agree the
number is known exactly and ``+ - * /`` stay exact; roots, exponentials and logarithms give an
enclosure, rounded outwards to 300 significant bits. A comparison is answered only if it is certain.

The rational numbers are those of GMP (``mpq`` of gmpy2), the functions those of MPFR, which returns
the exact value of a function rounded in the direction that it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from operator import index
from typing import Literal, TypeAlias

import gmpy2
from gmpy2 import mpfr, mpq

Real: TypeAlias = "Interval | int | float | Fraction | mpq"
Function: TypeAlias = Literal["sqrt", "exp", "log", "log1p"]

PRECISION = 300  # significant bits of the ends of an enclosure
FINEST = 4096  # no end of an enclosure is finer than 2^-FINEST, no exact fraction longer than this
DIGITS = 40  # significant decimal digits of an enclosure on paper
LARGEST_POWER = 4096  # largest exponent of 10 in a decimal number, either way
_WORKING = 400  # bits of the argument of a function, and of its value before that is rounded
_LARGEST_EXPONENT = 2**20

_DOWN, _UP = (
    gmpy2.context(precision=PRECISION, round=towards, emin=1 - FINEST, subnormalize=True)
    for towards in (gmpy2.RoundDown, gmpy2.RoundUp)
)
_BELOW, _ABOVE = (
    gmpy2.context(precision=_WORKING, round=towards, emin=-_LARGEST_EXPONENT)
    for towards in (gmpy2.RoundDown, gmpy2.RoundUp)
)


class Undecided(ArithmeticError):  # noqa: N818 (a state of knowledge, not a mistake)
    """A comparison of two enclosures that overlap, so that neither answer is certain."""


@dataclass(frozen=True)
class Interval:
    """A real number known to lie between two rational ones, ends included.

    The result of an operation encloses every value it takes on the operands. A float operand is the
    dyadic number it stores, so that ``0.1`` is not one tenth. ``<`` compares the numbers and may
    raise :class:`Undecided`; ``==`` compares the enclosures.
    """

    lo: mpq
    hi: mpq

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise ValueError(f"the ends of an interval are out of order: {self.lo} > {self.hi}")

    @staticmethod
    def of(value: Real | str) -> Interval:
        """Return the number itself; a string is read as a fraction (``3/7``) or exact decimal."""
        if isinstance(value, Interval):
            return value
        exact = rational(value)
        return Interval(exact, exact)

    @property
    def is_exact(self) -> bool:
        """True if the number is known exactly."""
        return bool(self.lo == self.hi)

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
        return self._increasing("sqrt")

    def exp(self) -> Interval:
        """Return the exponential (exact at 0); numbers above 2^20 raise ``OverflowError``."""
        if self.hi > _LARGEST_EXPONENT:
            raise OverflowError("the exponential of a number above 2^20 is too large")
        return self._increasing("exp")

    def log(self) -> Interval:
        """Return the natural logarithm (exact at 1)."""
        if self.lo <= 0:
            raise ValueError(f"the logarithm of {self}, which may not be positive")
        return self._increasing("log")

    def log1p(self) -> Interval:
        """Return ln(1 + x), to full relative precision also for tiny x."""
        if self.lo <= -1:
            raise ValueError(f"the logarithm of 1 + {self}, which may not be positive")
        return self._increasing("log1p")

    def min(self, other: Real) -> Interval:
        """Return the smaller of two numbers; needs no decision which one it is."""
        other = Interval.of(other)
        return Interval(min(self.lo, other.lo), min(self.hi, other.hi))

    def max(self, other: Real) -> Interval:
        """Return the larger of two numbers; needs no decision which one it is."""
        other = Interval.of(other)
        return Interval(max(self.lo, other.lo), max(self.hi, other.hi))

    def certainly_less(self, other: Real) -> bool:
        """True if this number is certainly below the other."""
        return bool(self.hi < Interval.of(other).lo)

    def certainly_at_most(self, other: Real) -> bool:
        """True if this number is certainly at most the other."""
        return bool(self.hi <= Interval.of(other).lo)

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

    def _increasing(self, name: Function) -> Interval:
        """Apply an increasing function."""
        return _rounded(_value(name, self.lo, _BELOW), _value(name, self.hi, _ABOVE))


def rational(value: int | float | Fraction | mpq | str) -> mpq:
    """Return the exact number; a string is read as a fraction (``3/7``) or exact decimal, a float is
    the dyadic number it stores.

    Raises
    ------
    ValueError
        for a string that is no number, or has an exponent beyond ``LARGEST_POWER``, whose digits would fill the memory
    """
    if isinstance(value, mpq):
        return value
    if isinstance(value, str):
        exponent = re.search(r"e([+-]?\d[\d_]*)\s*\Z", value, re.IGNORECASE)
        if exponent is not None and abs(int(exponent[1])) > LARGEST_POWER:
            raise ValueError(f"{value[:40]!r} has an exponent beyond {LARGEST_POWER:,}")
        return mpq(Fraction(value))
    return mpq(value if isinstance(value, int | float | Fraction) else index(value))


def intervals(values: Iterable[Real | str]) -> tuple[Interval, ...]:
    """Return each value as an :class:`Interval`."""
    return tuple(Interval.of(value) for value in values)


def _decide(yes: bool, no: bool, left: Interval, right: Interval) -> bool:
    if yes or no:
        return yes
    raise Undecided(f"{left} and {right} overlap")


def _rounded(lo: mpq, hi: mpq) -> Interval:
    """Return ``[lo, hi]``, rounded outwards unless it is one fraction of reasonable length."""
    if lo == hi and max(lo.numerator.bit_length(), lo.denominator.bit_length()) <= FINEST:
        return Interval(lo, hi)
    return Interval(mpq(mpfr(lo, context=_DOWN)), mpq(mpfr(hi, context=_UP)))


def _value(name: Function, x: mpq, context: gmpy2.context) -> mpq:
    """Return a bound of an increasing function: argument and value are rounded in one direction."""
    if name == "sqrt" and gmpy2.is_square(x.numerator) and gmpy2.is_square(x.denominator):
        return mpq(gmpy2.isqrt(x.numerator), gmpy2.isqrt(x.denominator))
    if name == "log" and abs(x - 1) < mpq(1, 2):
        name, x = "log1p", x - 1  # which keeps the bits by which x differs from 1
    return mpq(getattr(context, name)(mpfr(x, context=context)))


def _decimal(x: mpq, rounding: str) -> str:
    if not x:
        return "0"
    context = Context(prec=DIGITS, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return (
        f"{context.divide(Decimal(int(x.numerator)), Decimal(int(x.denominator))):.{DIGITS - 1}e}"
    )
