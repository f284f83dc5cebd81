"""Types of arrays; their shapes are in the docstrings of those who take them."""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

NUMBERS = (int, float, np.integer, np.floating)


def finite(value: Any) -> bool:
    """True for a number that double precision can hold."""
    try:
        return isinstance(value, NUMBERS) and math.isfinite(value)
    except OverflowError:
        return False


def real(given: Any) -> FloatArray:
    """An array that somebody gave, in double precision.

    Raises
    ------
    TypeError
        for what numpy would take for numbers: imaginary parts, texts, None, masked entries
    OverflowError
        for integers beyond double precision
    """
    array = np.asarray(given)
    if np.ma.is_masked(given):
        raise TypeError("some of its entries are masked")
    numbers = array.dtype.kind in "biuf" or (
        array.dtype.kind == "O" and all(isinstance(each, Real | Decimal) for each in array.flat)
    )
    if not numbers:
        kind = "complex numbers" if array.dtype.kind == "c" else "no numbers"
        raise TypeError(f"it holds {kind}")
    return array.astype(np.float64)
