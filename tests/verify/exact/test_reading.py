"""Numbers as they are read and written: fractions, decimals, floats, and both ends of an enclosure."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundcheck.verify.exact.numbers import Interval, intervals, rational


def every(*strategies):
    """Run a test over the strategies, the same examples each time."""
    repeatable = settings(derandomize=True, deadline=None, max_examples=60)
    return lambda test: repeatable(given(*strategies)(test))


fractions = st.fractions(min_value=-50, max_value=50, max_denominator=10**6)
floats = st.floats(allow_nan=False, allow_infinity=False, width=64)


@every(st.fractions(min_value=-(10**9), max_value=10**9), st.integers(-200, 200))
def test_the_written_form_contains_the_number(x, shift):
    value = Interval.of(x * Fraction(2) ** shift)
    assert value.to_json() == str(value) == str(value.lo)
    enclosure = value * Interval.of(2).sqrt()
    if enclosure.is_exact:
        return
    written = enclosure.to_json()
    assert isinstance(written, dict)
    lo, hi = Fraction(written["lo"]), Fraction(written["hi"])
    assert lo <= enclosure.lo <= enclosure.hi <= hi
    assert (hi - lo) / abs(hi) < Fraction(1, 10**38)
    assert str(enclosure) == f"[{written['lo']}, {written['hi']}]"


def test_the_written_form_is_fixed():
    assert Interval.of(Fraction(3, 7)).to_json() == "3/7"
    assert json.dumps(Interval.of(2).sqrt().to_json()) == (
        '{"lo": "1.414213562373095048801688724209698078569e+0", '
        '"hi": "1.414213562373095048801688724209698078570e+0"}'
    )
    unit = Interval(Fraction(0), Fraction(1))
    assert unit.to_json() == {"lo": "0", "hi": f"1.{'0' * 39}e+0"}


@every(st.one_of(fractions, floats, st.integers()))
def test_numbers_are_read_as_fractions_read_them(number):
    for written in (number, str(Fraction(number)), rational(number)):
        found = rational(written)
        assert found == Fraction(number)
        assert (hash(found), str(found)) == (hash(Fraction(number)), str(Fraction(number)))


def test_what_is_read_as_a_number():
    assert rational(np.int64(2**62)) == 2**62
    assert rational(np.float64(0.1)) == Fraction(0.1) != Fraction(1, 10)
    assert rational(" 3/7 ") == Fraction(3, 7)
    assert rational("-1.5e3") == -1500
    for text in ("", "1/", "0x10", "inf", "1/2/3", "1.5/2", "one"):
        with pytest.raises(ValueError, match="Invalid"):
            rational(text)
    with pytest.raises(ZeroDivisionError):
        rational("3/0")
    for other in (None, np.float32(0.1), 1j, [1]):
        with pytest.raises(TypeError):
            rational(other)


def test_intervals_reads_fractions():
    assert [x.lo for x in intervals(["3/7", 1, 0.5])] == [Fraction(3, 7), 1, Fraction(1, 2)]
