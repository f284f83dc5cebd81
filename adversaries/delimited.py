"""Tables in text files: fields between commas or tabs, with or without a line of names."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import UserError, require
from .class_labels import MISSING, read_labels
from .columns import label_position
from .reading import SEPARATORS

LOOKED_AT = 20
"""The first lines, by which other separators are recognised."""

DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")


def read(
    path: Path,
    label: str | int | None = None,
    *,
    header: bool | None = None,
    exact: bool = False,
    rows: int | None = None,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """A file whose lines all have as many fields as the first, and notes on how it was read.

    Parameters
    ----------
    path : a file with an ending of ``SEPARATORS``
    label : name or position of the label column
    header : whether the first line has names; where None that is found out
    exact : whether labels are taken as they are written
    rows : the most rows that are read

    Raises
    ------
    UserError
        for anything that is no table
    """
    name, separator = path.name, SEPARATORS[path.suffix.lower()]
    _check_separator(path, separator)
    first: list[list[str]] = []  # the first two lines, to see whether there is a header
    again: set[int] = set()  # columns in which the first line's field comes again
    classes: Counter[str] = (
        Counter()
    )  # fields of the column that has the labels if there is no header
    for line, fields in _lines(path, separator, rows):
        if first:
            again.update(
                i for i, (a, b) in enumerate(zip(first[0], fields, strict=False)) if a == b != ""
            )
        if len(first) < 2:
            first.append(fields)
        with suppress(ValueError, IndexError):
            classes[fields[-1 if label is None else int(label)]] += 1
        require(
            len(fields) == len(first[0]),
            f"line {line} of '{name}' has {len(fields)} fields, "
            f"expected {len(first[0])} as in its first line",
        )
        require(
            not any("\n" in field or "\r" in field for field in fields),
            f"'{name}' has a field with a line break that ends in line {line}, "
            "expected each row on a line of its own (a stray quote begins such a field)",
        )
    require(len(first) > 0, f"'{name}' is empty")
    notes: tuple[str, ...] = ()
    if header is None:
        header, notes = _is_header(name, first, again, label, classes)
    names = first[0] if header else [str(position) for position in range(len(first[0]))]
    require(
        all(field.strip() for field in names),
        f"'{name}' has {_nameless(names)} without a name in its header, expected a name for each "
        "(pandas: to_csv(index=False))",
    )
    require(len(first) > header, f"'{name}' has a header but no rows")
    table = pd.read_csv(
        path,
        sep=separator,
        header=0 if header else None,
        index_col=False,
        encoding="utf-8-sig",
        low_memory=False,
        nrows=rows,
    )
    table.columns = pd.Index(names)
    require(
        header or label not in first[0],
        f"'{name}' has no label column '{label}', since its first line was taken for a row: expected --header, which"
        " reads it as names, or the position of a column, from 0.",
    )
    position = label_position(name, names, label)
    lines = islice(_lines(path, separator, rows), int(header), None)
    texts = [fields[position] for _, fields in lines][:rows]
    require(len(texts) == len(table), f"'{name}' cannot be read as rows of fields")
    labels = read_labels(name, texts, exact=exact)
    table.isetitem(position, np.array(labels, dtype=object))
    return table, notes


def _lines(path: Path, separator: str, rows: int | None) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each line that is not blank, with its number: of a header and so many rows."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, delimiter=separator)
        found = ((reader.line_num, fields) for fields in reader if fields)
        yield from islice(found, None if rows is None else rows + 1)


def _check_separator(path: Path, separator: str) -> None:
    """Refuse a file that another separator cuts into numbers in every line."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = [line.strip() for line in islice(file, LOOKED_AT) if line.strip()]
    for mark, words in ((";", "';'"), ("\t", "tabs"), (",", "','")):
        counts = {line.count(mark) for line in lines[1:]}
        if mark == separator or not lines[1:] or counts in ({0}, set()) or len(counts) > 1:
            continue
        cut = [line.split(mark) for line in lines[1:]]
        if any(separator in line for line in lines[1:]) and not any(
            DECIMAL_COMMA.fullmatch(field) for fields in cut for field in fields
        ):
            continue  # it belongs to the texts of a column
        numbers = [field for fields in cut for field in fields[:-1]]
        if all(_is_number(field) or DECIMAL_COMMA.fullmatch(field) for field in numbers):
            decimals = any(map(DECIMAL_COMMA.fullmatch, numbers))
            raise UserError(
                f"the fields of '{path.name}' seem to be separated by {words}"
                f"{' and its decimals by commas' if decimals else ''}: expected fields between"
                f" {'tabs' if separator == chr(9) else 'commas'}, decimals with a point"
            )


def _nameless(names: list[str]) -> str:
    if not names[-1].strip() and all(name.strip() for name in names[:-1]):
        return "a last column"
    return "a column"


def _is_header(
    name: str,
    first: list[list[str]],
    again: set[int],
    label: str | int | None,
    classes: Counter[str],
) -> tuple[bool, tuple[str, ...]]:
    """Whether the first line looks like names, and a note where it may be read in the other way.

    It does if it contains the label's name, counts the columns (0, 1, 2, ...), has words and no number at all, has a
    word above a number in the label column, or looks like the names that :func:`_in_doubt` knows. A field that comes
    again in its column (``again``) is a label, not the name of the labels.
    """
    names, below = first[0], first[-1]
    if isinstance(label, str) and label in names and not _is_number(label):
        return True, ()
    counted = [str(position) for position in range(len(names))]
    if len(names) > 2 and names[:-1] == counted[:-1]:
        ambiguous = len(names) == 3 and names == counted and 2 in again
        require(
            not ambiguous,
            f"the first line of '{name}', {','.join(names)}, may be names or data: expected --header or --no-header",
        )
        return names == counted or len(names) - 1 not in again, ()
    filled = [field for field in names if field.strip().lower() not in MISSING]
    only_words = bool(filled) and not any(map(_is_number, filled))
    with suppress(ValueError, IndexError):
        position = range(len(names))[-1 if label is None else int(label)]
        if position in again or names[position] not in filled:
            return only_words and position not in again, ()
        if only_words:
            return True, ()
        if not _is_number(names[position]) and _is_number(below[position]):
            return True, ()
        if min(count for text, count in classes.items() if text != names[position]) > 1:
            return _in_doubt(name, first, position)
        return False, ()
    return only_words, ()


def _in_doubt(name: str, first: list[list[str]], position: int) -> tuple[bool, tuple[str, ...]]:
    """The same for a first line of numbers whose label is the only one that comes once: names if the numbers are whole
    and rise or fall, as wavelengths and years do, and those below do not."""
    names, below = first
    line = ",".join(names[:6]) + (",..." if len(names) > 6 else "")
    if _is_progression(names, position) and not _is_progression(below, position):
        return True, (
            f"the first line of '{name}', {line}, was taken for names, since its class {names[position]!r} comes once"
            " and its numbers go one way; --no-header reads it as a row",
        )
    return False, (
        f"the first line of '{name}', {line}, was taken for a row, though its class {names[position]!r} comes once;"
        " --header reads it as names",
    )


def _is_progression(fields: list[str], position: int) -> bool:
    """True if the fields outside the label column are whole numbers that rise or fall."""
    with suppress(ValueError):
        numbers = [int(field) for i, field in enumerate(fields) if i != position]
        steps = [b - a for a, b in pairwise(numbers)]
        return bool(steps) and (min(steps) > 0 or max(steps) < 0)
    return False


def _is_number(text: str) -> bool:
    """True if a field is a number, or missing where a number may stand."""
    try:
        float(text or "nan")
    except ValueError:
        return False
    return True
