"""The labels of recorded data: classes in sorted order, and spellings that are probably one class."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..errors import UserError, require

MISSING = ("", "na", "n/a", "<na>", "nan", "null", "none")
"""The words that stand among numbers where one is missing."""

MOST_FRACTIONS = 20
"""So many different labels that are not all whole numbers may be classes; more are measurements."""

EXACT = 2.0**53
"""Whole numbers below it are floats; from it on two of them may be one float."""

KEEP_APART = "keep them apart with --labels exact"


def encode(
    name: str, labels: pd.Series[Any], *, exact: bool = False
) -> tuple[NDArray[np.int64], tuple[Any, ...], tuple[str, ...]]:
    """Labels 0, ..., K - 1, the classes that they stand for, sorted, and notes on what may be one class.

    Parameters
    ----------
    name : that of the file, for errors
    labels : one a row
    exact : whether classes whose names differ only in spaces around them or in how an accent is encoded are allowed

    Raises
    ------
    UserError
        for a label that is missing, infinite or no class
    """
    missing = np.flatnonzero(labels.isna())
    if len(missing):
        raise UserError(f"row {missing[0] + 1} of '{name}' has no label in column '{labels.name}'")
    where = f"column '{labels.name}' of '{name}'"
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
        bool((np.abs(numbers) < EXACT).all()),
        f"{where} has the label {numbers[np.argmax(np.abs(numbers))] if len(numbers) else 0:.17g}: expected numbers"
        " below 2^53, since above it several whole numbers are read as one",
    )
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
    notes = spellings(where, [label for label in classes if isinstance(label, str)], exact=exact)
    rank = np.empty(len(classes), dtype=np.int64)
    rank[order] = np.arange(len(classes))
    return rank[codes], tuple(classes[k] for k in order), notes


def spellings(where: str, words: Iterable[str], *, exact: bool = False) -> tuple[str, ...]:
    """Notes on words that are equal but for upper and lower case, which may be classes of their own.

    Raises
    ------
    UserError
        for words that are equal but for spaces around them, or for accents that are one character in one and two in
        the other, unless they are to be taken exactly
    """
    words = sorted(words)
    if not exact:
        for one, other in _alike(words, _settled):
            why = "spaces around them" if one.strip() == other.strip() else "how they are encoded"
            raise UserError(
                f"{where} has the labels {one!a} and {other!a}, which differ only in {why}: expected one"
                f" way of writing a class; {KEEP_APART}"
            )
    return tuple(
        f"{where} has the labels {one!r} and {other!r}, which differ in upper and lower case only; they are two classes"
        for one, other in _alike(words, lambda word: _settled(word).casefold())
        if _settled(one) != _settled(other)
    )


def _alike(words: Iterable[str], form: Callable[[str], str]) -> list[tuple[str, str]]:
    """Pairs of words of one form, each with the first of that form."""
    first: dict[str, str] = {}
    pairs = ((first.setdefault(form(word), word), word) for word in words)
    return [(one, other) for one, other in pairs if one != other]


def _settled(word: str) -> str:
    return unicodedata.normalize("NFC", word.strip())


def _kind(label: object) -> str:
    return "" if isinstance(label, int | float) else type(label).__name__


def read_labels(name: str, texts: list[str], *, exact: bool = False) -> list[Any]:
    """Labels of a text file as numbers if all of them are, otherwise as they are written; None where there is none.

    A word such as NA is no label among numbers, and one among words. If they are to be taken ``exact``, all are words.

    Raises
    ------
    UserError
        for one number that is written in two ways
    """
    numbers = {text: None if exact else _number(text) for text in texts}
    words = {text for text, number in numbers.items() if number is None}
    if any(exact or word.strip().lower() not in MISSING for word in words):
        return [text if text.strip() else None for text in texts]
    written: dict[Any, str] = {}
    for text in numbers.keys() - words:
        other = written.setdefault(numbers[text], text)
        require(
            other == text,
            f"'{name}' has the labels {' and '.join(map(repr, sorted((text, other))))}, one number written in two ways:"
            f" expected one way; {KEEP_APART}",
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
