"""Data of the user's, in the order in which it was recorded.

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
import re
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

from ..arrays import FloatArray
from ..errors import UserError, require, suggest
from .sequence import Sequence, integer_at_least

SEPARATORS = {".csv": ",", ".tsv": "\t"}
SVMLIGHT = (".svm", ".svmlight", ".libsvm")
MISSING = ("", "na", "n/a", "<na>", "nan", "null", "none")
"""The words that stand among numbers where one is missing."""

MOST_FRACTIONS = 20
"""So many different labels that are not all whole numbers may be classes; more are measurements."""

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


def split_label(name: str) -> tuple[str, str | None]:
    """The file and the label column of ``FILE`` or ``FILE@COLUMN``; both may have an @ of their own, a file
    ends with one of ``ENDINGS``."""
    endings = "|".join(map(re.escape, ENDINGS))
    found = re.fullmatch(rf"(.*?(?:{endings}))(?:@(.*))?", name, re.IGNORECASE | re.DOTALL)
    return (found[1], found[2]) if found else (name, None)


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
        f"'{path.name}' has the ending '{ending}'{suggest(ending, ENDINGS)}: expected one of"
        f" {', '.join(ENDINGS)}.",
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
        "expected (T, d) and (T,), one label a row",
    )
    require(len(features) > 0, f"'{path.name}' has no rows")
    require(
        features.dtype.kind in "buif",
        f"'{path.name}' has X of type {features.dtype}, expected numbers",
    )
    require(
        labels.dtype.kind in "buifUS",
        f"'{path.name}' has y of type {labels.dtype}, expected whole numbers or texts",
    )
    labels = labels.astype(labels.dtype.newbyteorder("="))
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
    where = f"column '{labels.name}' of '{path.name}'"
    try:
        codes, found = pd.factorize(labels)
        classes = found.tolist()
        # Classes of several types are sorted within each type.
        order = sorted(range(len(classes)), key=lambda k: (_kind(classes[k]), classes[k]))
    except TypeError:
        raise UserError(
            f"{where} has labels of type {type(labels.iloc[0]).__name__}, expected"
            " whole numbers or texts"
        ) from None
    numbers = np.array([label for label in classes if isinstance(label, float)])
    require(bool(np.isfinite(numbers).all()), f"{where} has a label that is infinite")
    require(
        len(classes) <= MOST_FRACTIONS or bool((numbers == np.floor(numbers)).all()),
        f"{where} has {len(classes)} different numbers in {len(labels)} rows, not all of them whole: "
        "expected labels; another column is chosen with --label",
    )
    require(
        len(classes) <= MOST_FRACTIONS or len(classes) < len(labels),
        f"{where} has another value in each of its {len(labels)} rows: expected labels; another column is "
        "chosen with --label",
    )
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
        f"'{path.name}' has no label column '{label}'{suggest(str(label), names)}: expected one of {shown}."
    )


def _numbers(path: Path, name: str, column: pd.Series[Any]) -> FloatArray:
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
    again: set[int] = set()  # columns in which the first line's field comes again
    for line, fields in _lines(path, separator):
        if first:
            again.update(
                i for i, (a, b) in enumerate(zip(first[0], fields, strict=False)) if a == b
            )
        if len(first) < 2:
            first.append(fields)
        require(
            len(fields) == len(first[0]),
            f"line {line} of '{path.name}' has {len(fields)} fields, "
            f"expected {len(first[0])} as in its first line",
        )
        require(
            not any("\n" in field or "\r" in field for field in fields),
            f"'{path.name}' has a field with a line break that ends in line {line}, "
            "expected each row on a line of its own (a stray quote begins such a field)",
        )
    require(len(first) > 0, f"'{path.name}' is empty")
    if header is None:
        header = _is_header(first, again, label)
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
    position = _label_position(path, names, label)
    texts = [fields[position] for _, fields in _lines(path, separator)][int(header) :]
    require(len(texts) == len(table), f"'{path.name}' cannot be read as rows of fields")
    table.isetitem(position, np.array(_labels(path, texts), dtype=object))
    return table


def _labels(path: Path, texts: list[str]) -> list[Any]:
    """Labels as numbers if all of them are, otherwise as they are written; None where there is none.

    A word such as NA is no label among numbers, and one among words.
    """
    numbers = {text: _number(text) for text in texts}
    words = {text for text, number in numbers.items() if number is None}
    if any(word.strip().lower() not in MISSING for word in words):
        return [text if text.strip() else None for text in texts]
    written: dict[Any, str] = {}
    for text in numbers.keys() - words:
        other = written.setdefault(numbers[text], text)
        require(
            other == text,
            f"'{path.name}' has the labels {' and '.join(map(repr, sorted((text, other))))}, one number "
            "written in two ways: expected one way",
        )
    return [numbers[text] for text in texts]


def _number(text: str) -> int | float | None:
    """The finite number that a text is, an integer where it is written as one."""
    with suppress(ValueError):
        if np.isfinite(number := float(text)):
            with suppress(ValueError):
                return int(text)
            return number
    return None


def _lines(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each line that is not blank, with its number."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, delimiter=separator)
        for fields in reader:
            if fields:
                yield reader.line_num, fields


def _is_header(first: list[list[str]], again: set[int], label: str | int | None) -> bool:
    """True if the first line looks like names.

    It does if it contains the label's name, counts the columns (0, 1, 2, ...), has no number at
    all, or has a word above a number in the label column. A field that comes again in its column
    (``again``) is a label, not the name of the labels.
    """
    names, below = first[0], first[-1]
    if isinstance(label, str) and label in names and not _is_number(label):
        return True
    counted = [str(position) for position in range(len(names))]
    if len(names) > 2 and names[:-1] == counted[:-1]:
        ambiguous = len(names) == 3 and names == counted and 2 in again
        require(
            not ambiguous,
            f"the first line {','.join(names)} may be names or data: expected names that are words",
        )
        return names == counted or len(names) - 1 not in again
    if not any(map(_is_number, names)):
        return True
    with suppress(ValueError, IndexError):
        position = range(len(names))[-1 if label is None else int(label)]
        named = not _is_number(names[position]) and position not in again
        return named and _is_number(below[position])
    return False


def _is_number(text: str) -> bool:
    """True if a field is a number, or missing where a number may stand."""
    try:
        float(text or "nan")
    except ValueError:
        return False
    return True
