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
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd
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
    except (OSError, ValueError, BadZipFile, csv.Error) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"'{path.name}' cannot be read as {ending}: {reason}") from error


def _from_table(
    path: Path, table: pd.DataFrame, label: str | int | None, n_labels: int | None
) -> Recorded:
    require(len(table) > 0, f"'{path.name}' has no rows")
    names = [str(name) for name in table.columns]
    position = _label_position(path, names, label)
    require(len(names) > 1, f"'{path.name}' has one column only, expected features and a label")
    codes, classes = _encode(path, table.iloc[:, position])
    others = [column for column in range(len(names)) if column != position]
    features = np.empty((len(table), len(others)))
    for place, column in enumerate(others):
        features[:, place] = _numeric(path, names[column], table.iloc[:, column])
    return _recorded(path, Sequence.from_dense, (features, codes), classes, n_labels)


def _from_npz(path: Path, n_labels: int | None) -> Recorded:
    with np.load(path, allow_pickle=False) as arrays:
        for key in ("X", "y"):
            found = ", ".join(arrays.files)
            require(key in arrays.files, f"'{path.name}' has no array '{key}', only {found}")
        features, labels = arrays["X"], arrays["y"]
    require(
        features.ndim == 2 and labels.shape == features.shape[:1],
        f"'{path.name}' has X of shape {features.shape} and y of shape {labels.shape}, "
        "expected (T, d) and (T,)",
    )
    require(len(features) > 0, f"'{path.name}' has no rows")
    require(
        features.dtype.kind in "buif", f"'{path.name}' has X of type {features.dtype}, not numbers"
    )
    codes, classes = _encode(path, pd.Series(labels, name="y"))
    return _recorded(path, Sequence.from_dense, (features, codes), classes, n_labels)


def _from_svmlight(path: Path, n_labels: int | None) -> Recorded:
    try:
        datasets = import_module("sklearn.datasets")
    except ImportError:
        raise UserError(
            f"reading '{path.name}' needs scikit-learn: install boundcheck[data]"
        ) from None
    features, labels = datasets.load_svmlight_file(str(path), dtype=np.float64)
    require(len(labels) > 0, f"'{path.name}' has no rows")
    features.sort_indices()
    integral = bool((labels == np.floor(labels)).all())
    codes, classes = _encode(path, pd.Series(labels.astype(np.int64) if integral else labels))
    return _recorded(path, _from_matrix, (features, codes), classes, n_labels)


def _from_matrix(
    features: Any, labels: NDArray[np.int64], n_labels: int, name: str
) -> Sequence:
    return Sequence(
        name=name,
        indptr=features.indptr,
        indices=features.indices,
        values=features.data,
        labels=labels,
        n_features=features.shape[1],
        n_labels=n_labels,
    )
