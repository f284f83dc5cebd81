"""Data of the user's, in the order in which it was recorded.

| ending | features and label |
|---|---|
| .csv .tsv .parquet | one column is the label (default: the last), all others are features |
| .svm .svmlight .libsvm | the svmlight format, read by scikit-learn |
| .npz | the arrays ``X``, shape (T, d), and ``y``, shape (T,) |

Index levels of a Parquet file that have names are columns, before all others. Labels of any type are mapped to
0, ..., K - 1 in sorted order. Every mistake in a file raises ``UserError``; the rows that its sentence names are
counted from 1, without the header.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd
from numpy.lib.npyio import NpzFile

from ..errors import UserError, require, suggest
from .class_labels import encode
from .columns import label_position, numbers
from .delimited import read
from .reading import ENDINGS, SEPARATORS, SVMLIGHT
from .sequence import Sequence, integer_at_least


@dataclass(frozen=True, eq=False)
class Recorded:
    """A file's rows as one sequence.

    Attributes
    ----------
    spec : name of the file
    classes : ``classes[k]`` is what the file calls label k
    rows : the sequence
    notes : sentences on what could be read in another way
    """

    spec: str
    classes: tuple[Any, ...]
    rows: Sequence
    notes: tuple[str, ...] = ()

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
    exact: bool = False,
    rows: int | None = None,
    n_labels: int | None = None,
) -> Recorded:
    """Read a file; see the module for the formats.

    Parameters
    ----------
    path : the file
    label : name or position of the label column (negative: from the right)
    header : whether a text file begins with names of columns; found out where None
    exact : whether labels are classes as they are written, even where they differ in spaces around them only
    rows : the most rows that are read
    n_labels : a number of labels that is larger than what the file has

    Raises
    ------
    UserError
        for a file that cannot be read so
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
    notes: tuple[str, ...] = ()
    try:
        if ending in SVMLIGHT:
            features, labels = _from_svmlight(path, rows)
        elif ending == ".npz":
            features, labels = _from_npz(path, rows)
        elif ending == ".parquet":
            features, labels = _from_table(path, _read_parquet(path, rows), label)
        else:
            table, notes = read(path, label, header=header, exact=exact, rows=rows)
            features, labels = _from_table(path, table, label)
        return _recorded(path, features, labels, n_labels, exact, notes)
    except UserError:
        raise
    except (
        *(OSError, EOFError, TypeError, ValueError, OverflowError, BadZipFile),
        csv.Error,
    ) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"'{path.name}' cannot be read as {ending}: {reason}") from error


def _from_table(
    path: Path, table: pd.DataFrame, label: str | int | None
) -> tuple[Any, pd.Series[Any]]:
    require(len(table) > 0, f"'{path.name}' has no rows")
    names = [str(name) for name in table.columns]
    position = label_position(path.name, names, label)
    require(len(names) > 1, f"'{path.name}' has one column only, expected features and a label")
    others = [column for column in range(len(names)) if column != position]
    features = np.empty((len(table), len(others)))
    for place, column in enumerate(others):
        features[:, place] = numbers(path.name, names[column], table.iloc[:, column])
    return features, table.iloc[:, position]


def _read_parquet(path: Path, rows: int | None) -> pd.DataFrame:
    pq, pa = import_module("pyarrow.parquet"), import_module("pyarrow")
    with pq.ParquetFile(path) as file:
        twice = [name for name, n in Counter(file.schema_arrow.names).items() if n > 1]
        require(
            not twice,
            f"'{path.name}' has two columns called '{next(iter(twice), '')}', expected a name for each",
        )
        if rows is None:
            table = file.read()
        else:
            batches = list(islice(file.iter_batches(batch_size=rows), 1))
            table = pa.Table.from_batches(batches, file.schema_arrow)
    found: pd.DataFrame = table.to_pandas()
    levels = [name for name in found.index.names if name is not None]
    again = [str(name) for name in levels if name in found.columns]
    require(
        not again,
        f"'{path.name}' has a column and a level of its index that are called '{next(iter(again), '')}', expected"
        " a name for each",
    )
    return found.reset_index(level=levels) if levels else found


def _from_npz(path: Path, rows: int | None) -> tuple[Any, pd.Series[Any]]:
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
    return features[:rows], pd.Series(labels[:rows], name="y")


def _from_svmlight(path: Path, rows: int | None) -> tuple[Any, pd.Series[Any]]:
    try:
        datasets = import_module("sklearn.datasets")
    except ImportError:
        raise UserError(
            f"reading '{path.name}' needs scikit-learn: install boundcheck[data]"
        ) from None
    require(path.stat().st_size > 0, f"'{path.name}' has no rows")
    source: Any = str(path)
    if rows is not None:
        with path.open("rb") as file:
            filled = (line for line in file if line.partition(b"#")[0].strip())
            source = BytesIO(b"".join(islice(filled, rows)))
    try:
        features, labels = datasets.load_svmlight_file(source, dtype=np.float64)
    except OverflowError:
        raise UserError(
            f"'{path.name}' has an index of a feature that is no 32-bit number: number the features without gaps."
        ) from None
    require(len(labels) > 0, f"'{path.name}' has no rows")
    whole = np.isfinite(labels).all() and (labels == np.floor(labels)).all()
    if whole and (np.abs(labels) < 2.0**53).all():
        labels = labels.astype(np.int64)
    return features, pd.Series(labels, name="y")


def _recorded(
    path: Path,
    features: Any,
    labels: pd.Series[Any],
    n_labels: int | None,
    exact: bool,
    notes: tuple[str, ...],
) -> Recorded:
    """Map the labels and put everything together; ``features`` is dense or a scipy csr matrix."""
    codes, classes, more = encode(path.name, labels, exact=exact)
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
    return Recorded(path.name, classes, sequence, (*notes, *more))
