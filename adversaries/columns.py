"""Columns of a table of recorded data: that of the labels, and numbers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from ..arrays import FloatArray
from ..errors import UserError, require, suggest


def label_position(name: str, names: list[str], label: str | int | None) -> int:
    """The position of the label column, the last where none is named.

    Raises
    ------
    UserError
        for a column that is not there, or there twice
    """
    if label is None:
        return len(names) - 1
    if isinstance(label, str) and label in names:
        require(
            names.count(label) == 1,
            f"'{name}' has {names.count(label)} columns called '{label}', expected one label",
        )
        return names.index(label)
    with suppress(ValueError):
        position = int(label)
        if -len(names) <= position < len(names):
            return position % len(names)
    shown = ", ".join(names[:20]) + (f", ... ({len(names)} in all)" if len(names) > 20 else "")
    raise UserError(
        f"'{name}' has no label column '{label}'{suggest(str(label), names)}: expected one of {shown}."
    )


def numbers(name: str, column_name: str, column: pd.Series[Any]) -> FloatArray:
    """A feature column of the file ``name`` as finite numbers, shape (rows,).

    Raises
    ------
    UserError
        for anything else, naming the row
    """
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        value = column.iloc[bad[0]]
        given = repr(value) if isinstance(value, str) else str(value)
        given = "missing or NaN" if np.ndim(value) == 0 and pd.isna(value) else given
        raise UserError(
            f"row {bad[0] + 1}, column '{column_name}' of '{name}' is {given}, "
            "expected a finite number"
        )
    return values
