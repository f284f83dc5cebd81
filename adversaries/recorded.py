"""Your own data, in the order in which it was recorded.

| ending | features and label |
|---|---|
| .csv .tsv .parquet | one column is the label (default: the last), all others are features |
| .svm .svmlight .libsvm | the svmlight format, read by scikit-learn |
| .npz | the arrays ``X``, shape (T, d), and ``y``, shape (T,) |

Labels of any type are mapped to 0, ..., K - 1 in sorted order. Every mistake in a file raises
``UserError``; the rows that its sentence names are counted from 1, without the header.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from ..errors import UserError, require, suggest
from .sequence import Floats, Sequence, integer_at_least

SEPARATORS = {".csv": ",", ".tsv": "\t"}
SVMLIGHT = (".svm", ".svmlight", ".libsvm")
ENDINGS = (*SEPARATORS, *SVMLIGHT, ".npz", ".parquet")


@dataclass(frozen=True, eq=False)
class Recorded:
    """A file's rows as one sequence; ``classes[k]`` is what the file calls label k."""

    spec: str
    classes: tuple[Any, ...]
    rows: Sequence

    @property
    def n_labels(self) -> int:
        """The number of labels, K >= 2."""
        return self.rows.n_labels

    def sequence(self, horizon: int | None = None, seed: int = 0) -> Sequence:
        """Return the first ``horizon`` rows, by default all of them; the seed has no effect.

        Raises ``UserError`` if the file has fewer rows.
        """
        return self.rows if horizon is None else self.rows.prefix(horizon)


def load(
    path: str | Path,
    *,
    label: str | int | None = None,
    header: bool | None = None,
    n_labels: int | None = None,
) -> Recorded:
    """Read a file; see the module for the formats.

    ``label`` is the name or the position of the label column (negative: from the right); ``header``
    says whether a text file starts with column names, by default it is detected; ``n_labels`` adds
    labels that the file does not contain. Raises ``UserError``.
    """
    path = Path(path)
    ending = path.suffix.lower()
    require(
        ending in ENDINGS,
        f"'{path.name}' has the ending '{ending}', expected one of {', '.join(ENDINGS)}"
        f".{suggest(ending, ENDINGS)}",
    )
    require(path.exists(), f"no such file: '{path}'")
    require(path.is_file(), f"'{path}' is not a file")
    if ending in SVMLIGHT or ending == ".npz":
        require(label is None, f"'{path.name}' has no columns to choose the label '{label}' from")
    require(header is None or ending in SEPARATORS, f"'{path.name}' has no header to declare")
    try:
        if ending in SVMLIGHT:
            return _from_svmlight(path, n_labels)
        if ending == ".npz":
            return _from_npz(path, n_labels)
        if ending == ".parquet":
            return _from_table(path, pd.read_parquet(path), label, n_labels)
        return _from_table(path, _read_text(path, label, header), label, n_labels)
    except UserError:
        raise
    except (OSError, EOFError, TypeError, ValueError, BadZipFile, csv.Error) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"'{path.name}' cannot be read as {ending}: {reason}") from error


def _from_table(
    path: Path, table: pd.DataFrame, label: str | int | None, n_labels: int | None
) -> Recorded:
    require(len(table) > 0, f"'{path.name}' has no rows")
    names = [str(name) for name in table.columns]
    position = _label_position(path, names, label)
    require(len(names) > 1, f"'{path.name}' has one column only, expected features and a label")
    labels = table.iloc[:, position]
    others = [column for column in range(len(names)) if column != position]
    features = np.empty((len(table), len(others)))
    for place, column in enumerate(others):
        features[:, place] = _numbers(path, names[column], table.iloc[:, column])
    return _recorded(path, features, labels, n_labels)


def _from_npz(path: Path, n_labels: int | None) -> Recorded:
    arrays = np.load(path, allow_pickle=False)
    require(isinstance(arrays, NpzFile), f"'{path.name}' is no npz archive")
    with arrays:
        for key in ("X", "y"):
            found = ", ".join(arrays.files) or "none"
            require(key in arrays.files, f"'{path.name}' has no array '{key}', only: {found}")
        features, labels = arrays["X"], arrays["y"]
    require(
        features.ndim == 2 and labels.shape == features.shape[:1],
        f"'{path.name}' has X of shape {features.shape} and y of shape {labels.shape}, "
        "expected (T, d) and (T,)",
    )
    require(len(features) > 0, f"'{path.name}' has no rows")
    require(
        features.dtype.kind in "buif",
        f"'{path.name}' has X of type {features.dtype}, expected numbers",
    )
    return _recorded(path, features, pd.Series(labels, name="y"), n_labels)


def _from_svmlight(path: Path, n_labels: int | None) -> Recorded:
    try:
        datasets = import_module("sklearn.datasets")
    except ImportError:
        raise UserError(
            f"reading '{path.name}' needs scikit-learn: install boundcheck[data]"
        ) from None
    require(path.stat().st_size > 0, f"'{path.name}' has no rows")
    features, labels = datasets.load_svmlight_file(str(path), dtype=np.float64)
    require(len(labels) > 0, f"'{path.name}' has no rows")
    if np.isfinite(labels).all() and (labels == np.floor(labels)).all():
        labels = labels.astype(np.int64)
    return _recorded(path, features, pd.Series(labels, name="y"), n_labels)


def _recorded(path: Path, features: Any, labels: pd.Series[Any], n_labels: int | None) -> Recorded:
    """Map the labels and put everything together; ``features`` is dense or a scipy csr matrix."""
    codes, classes = _encode(path, labels)
    n = len(classes) if n_labels is None else integer_at_least("n_labels", n_labels, 2)
    require(
        n >= len(classes),
        f"'{path.name}' has {len(classes)} classes, expected at most n_labels={n}",
    )
    require(
        n >= 2, f"'{path.name}' has the single class {classes[0]!r}, expected at least two classes"
    )
    if isinstance(features, np.ndarray):
        sequence = Sequence.from_dense(features, codes, n, path.name)
    else:
        sequence = Sequence(
            name=path.name,
            indptr=features.indptr,
            indices=features.indices,
            values=features.data,
            labels=codes,
            n_features=features.shape[1],
            n_labels=n,
        )
    return Recorded(path.name, classes, sequence)


def _encode(path: Path, labels: pd.Series[Any]) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    """Return labels 0, ..., K - 1 and the classes they stand for, sorted."""
    missing = np.flatnonzero(labels.isna())
    if len(missing):
        raise UserError(
            f"row {missing[0] + 1} of '{path.name}' has no label in column '{labels.name}'"
        )
    codes, found = pd.factorize(labels)
    classes = found.tolist()
    # Classes of several types are sorted within each type.
    order = sorted(range(len(classes)), key=lambda k: (_kind(classes[k]), classes[k]))
    rank = np.empty(len(classes), dtype=np.int64)
    rank[order] = np.arange(len(classes))
    return rank[codes], tuple(classes[k] for k in order)


def _kind(label: object) -> str:
    return "" if isinstance(label, int | float) else type(label).__name__


def _label_position(path: Path, names: list[str], label: str | int | None) -> int:
    if label is None:
        return len(names) - 1
    if isinstance(label, str) and label in names:
        require(
            names.count(label) == 1,
            f"'{path.name}' has {names.count(label)} columns called '{label}', expected one label",
        )
        return names.index(label)
    with suppress(ValueError):
        position = int(label)
        if -len(names) <= position < len(names):
            return position % len(names)
    shown = ", ".join(names[:20]) + (f", ... ({len(names)} in all)" if len(names) > 20 else "")
    raise UserError(
        f"'{path.name}' has no label column '{label}': expected one of {shown}"
        f".{suggest(str(label), names)}"
    )


def _numbers(path: Path, name: str, column: pd.Series[Any]) -> Floats:
    """Return a feature column as finite numbers."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        value = column.iloc[bad[0]]
        given = repr(value) if isinstance(value, str) else str(value)
        given = "missing or NaN" if pd.isna(value) else given
        raise UserError(
            f"row {bad[0] + 1}, column '{name}' of '{path.name}' is {given}, "
            "expected a finite number"
        )
    return values


def _read_text(path: Path, label: str | int | None, header: bool | None) -> pd.DataFrame:
    """Read a csv or tsv file whose lines all have as many fields as the first."""
    separator = SEPARATORS[path.suffix.lower()]
    first: list[list[str]] = []  # the first two lines, to see whether there is a header
    for line, fields in _lines(path, separator):
        if len(first) < 2:
            first.append(fields)
        require(
            len(fields) == len(first[0]),
            f"line {line} of '{path.name}' has {len(fields)} fields, "
            f"expected {len(first[0])} as in its first line",
        )
    require(len(first) > 0, f"'{path.name}' is empty")
    if header is None:
        header = _is_header(first, label)
    names = first[0] if header else [str(position) for position in range(len(first[0]))]
    require(
        all(name.strip() for name in names),
        f"'{path.name}' has a column without a name in its header, expected a name for each "
        "(pandas: to_csv(index=False))",
    )
    require(len(first) > header, f"'{path.name}' has a header but no rows")
    table = pd.read_csv(
        path,
        sep=separator,
        header=0 if header else None,
        index_col=False,
        encoding="utf-8-sig",
        low_memory=False,
    )
    table.columns = pd.Index(names)
    return table


def _lines(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each line that is not blank, with its number."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, delimiter=separator)
        for fields in reader:
            if fields:
                yield reader.line_num, fields


def _is_header(first: list[list[str]], label: str | int | None) -> bool:
    """Whether the first line looks like names.

    It does if it contains the label's name, counts the columns (0, 1, 2, ...), has no number at
    all, or has a word above a number in the label column.
    """
    names, below = first[0], first[-1]
    if isinstance(label, str) and label in names and not _is_number(label):
        return True
    if len(names) > 2 and names[:-1] == [str(position) for position in range(len(names) - 1)]:
        return True
    if not any(map(_is_number, names)):
        return True
    with suppress(ValueError, IndexError):
        position = -1 if label is None else int(label)
        return not _is_number(names[position]) and _is_number(below[position])
    return False


def _is_number(text: str) -> bool:
    """Whether a field is a number, or missing where a number may stand."""
    try:
        float(text or "nan")
    except ValueError:
        return False
    return True
