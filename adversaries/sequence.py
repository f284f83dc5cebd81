"""The sequence that an adversary hands over: features, labels, and the comparator it planted, fixed before play.

Features are stored in compressed sparse rows. Rounds and rows are counted from 0 in code and from 1
in sentences. Randomness comes from :func:`generator_of` alone, so a sequence depends on the seed and the
adversary's spec and on nothing else.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Sequence as Items
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import chain
from typing import Any, Protocol, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from ..algorithms.spec import Checked, spec_of
from ..arrays import FloatArray, IntArray, real
from ..errors import UserError, require

Scalar = TypeVar("Scalar", bound=np.generic)

NAMED = "named"

BLOCK = 16384  # rounds of which intermediate results are held at once

ADVERSARY_KEY = 0  # first word of the spawn key: the game and the learner have other ones


class Adversary(Protocol):
    """A source of sequences that are fixed before play."""

    @property
    def spec(self) -> str:
        """Its name and every parameter, as the command line writes them."""

    @property
    def n_labels(self) -> int:
        """The number of labels, K >= 2."""

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Return ``horizon`` rounds, the same ones for the same ``seed``.

        Raises ``UserError`` unless ``horizon`` >= 1 and ``seed`` >= 0.
        """


class Spelt(Checked):
    """An adversary whose parameters are the fields of a frozen dataclass."""

    @property
    def spec(self) -> str:
        """Its name and every parameter."""
        return spec_of(self, every=True)


@dataclass(frozen=True, eq=False)
class Comparator:
    """The fixed weights U that a learner is compared with.

    ``weights`` has shape (n_labels, n_features); ``how`` says where they come from ("planted",
    "fitted", "zero" or, of a certificate, "named"). ``fractions`` holds the exact entries where
    ``weights`` only rounds them.
    """

    weights: FloatArray
    how: str
    fractions: tuple[tuple[Fraction, ...], ...] | None = None

    def __post_init__(self) -> None:
        weights = _read_only(self.weights, np.float64)
        require(
            weights.ndim == 2, f"comparator weights have shape {weights.shape}, expected (K, d)"
        )
        bad = np.argwhere(~np.isfinite(weights))
        if len(bad):
            label, column = bad[0]
            raise UserError(
                f"comparator weight of label {label}, feature {column} is "
                f"{weights[label, column]}, expected a finite number"
            )
        if self.fractions is not None:
            exact = _rounded(self.fractions).reshape(weights.shape)
            require(bool((exact == weights).all()), "comparator weights do not round its fractions")
        object.__setattr__(self, "weights", weights)

    @classmethod
    def exact(cls, fractions: Items[Items[Fraction]], how: str = "planted") -> Comparator:
        """Return the comparator with these exact entries, one row per label."""
        rows = tuple(tuple(row) for row in fractions)
        return cls(_rounded(rows), how, rows)

    @cached_property
    def norm(self) -> float:
        """The Frobenius norm, to one rounding or two."""
        if self.fractions is not None:
            return math.sqrt(self.squared_norm)
        return math.sqrt(math.fsum((self.weights * self.weights).ravel().tolist()))

    @cached_property
    def squared_norm(self) -> Fraction:
        """The sum of the squares of the exact entries; equal entries that are one object are squared once."""
        entries = [*chain.from_iterable(self.fractions or ())]
        distinct, counts = {id(entry): entry for entry in entries}, Counter(map(id, entries))
        return sum((n * distinct[i] * distinct[i] for i, n in counts.items()), Fraction(0))

    def written(self) -> list[list[str]]:
        """Return the weights as certificates hold them: hexadecimal, one row per label, to the last bit."""
        return [[entry.hex() for entry in row] for row in self.weights.tolist()]

    def scores(self, sequence: Sequence, start: int = 0, end: int | None = None) -> FloatArray:
        """Return the scores <U_k, x_t> of some rounds, shape (rounds, K)."""
        self.check(sequence)
        return np.asarray(sequence.matrix(start, end) @ self.weights.T, dtype=np.float64)

    def check(self, sequence: Sequence) -> None:
        """Raise ``UserError`` unless the weights have the shape that ``sequence`` needs."""
        expected = (sequence.n_labels, sequence.n_features)
        require(
            self.weights.shape == expected,
            f"comparator has shape {self.weights.shape}, expected {expected} (labels, features)",
        )


def _rounded(rows: Items[Items[Fraction]]) -> FloatArray:
    """The entries as floats; of millions of fractions most are often one object, which is divided once."""
    distinct = {id(entry): entry for row in rows for entry in row}
    values = {i: float(entry) for i, entry in distinct.items()}
    return np.array([[values[id(entry)] for entry in row] for row in rows])


def zero_comparator(n_labels: int, n_features: int) -> Comparator:
    """Return the comparator U = 0."""
    return Comparator(np.zeros((n_labels, n_features)), "zero")


@dataclass(frozen=True, eq=False)
class Sequence:
    """T rounds of features and labels; every array is read-only.

    Row t of the features has the values ``values[indptr[t]:indptr[t+1]]`` in the columns
    ``indices[indptr[t]:indptr[t+1]]``, which increase; labels are 0, ..., ``n_labels`` - 1.
    Raises ``UserError`` for a label out of range, a value that is not finite, K < 2 or T < 1.
    """

    name: str
    indptr: IntArray
    indices: IntArray
    values: FloatArray
    labels: IntArray
    n_features: int
    n_labels: int
    comparator: Comparator | None = None

    def __post_init__(self) -> None:
        integer_at_least("n_labels", self.n_labels, 2)
        integer_at_least("n_features", self.n_features, 1)
        for field in ("indptr", "indices"):
            object.__setattr__(self, field, _read_only(getattr(self, field), np.int64))
        object.__setattr__(self, "values", _read_only(self.values, np.float64))
        object.__setattr__(self, "labels", _checked_labels(self.labels, self.n_labels))
        self._check_rows()
        self._check_values()
        if self.comparator is not None:
            self.comparator.check(self)

    @classmethod
    def from_dense(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        n_labels: int,
        name: str,
        comparator: Comparator | None = None,
    ) -> Sequence:
        """Return the sequence with the rows of ``X``, shape (T, d), and the labels ``y``."""
        features = real(X)
        require(
            features.ndim == 2, f"features have shape {features.shape}, expected (rounds, features)"
        )
        rows, columns = np.nonzero(features)
        return cls(
            name=name,
            indptr=_offsets(np.bincount(rows, minlength=len(features))),
            indices=columns.astype(np.int64),
            values=features[rows, columns],
            labels=np.asarray(y),
            n_features=features.shape[1],
            n_labels=n_labels,
            comparator=comparator,
        )

    @property
    def horizon(self) -> int:
        """The number of rounds T."""
        return len(self.labels)

    @cached_property
    def squared_norms(self) -> FloatArray:
        """The squared norms of the features, |x_t|^2, shape (T,)."""
        sums = np.empty(self.horizon)
        for start in range(0, self.horizon, BLOCK):  # so that no more than the data is in memory
            ends = self.indptr[start : start + BLOCK + 1]
            values, counts = self.values[ends[0] : ends[-1]], np.diff(ends)
            rows = np.repeat(np.arange(len(counts)), counts)
            sums[start : start + BLOCK] = np.bincount(
                rows, weights=values * values, minlength=len(counts)
            )
        return read_only(sums)

    @property
    def feature_norm(self) -> float:
        """The largest norm of a feature vector."""
        return math.sqrt(self.squared_norms.max())

    def prefix(self, horizon: int) -> Sequence:
        """Return the first ``horizon`` rounds."""
        integer_at_least("horizon", horizon, 1)
        require(
            horizon <= self.horizon,
            f"horizon {horizon} exceeds the {self.horizon} rounds of '{self.name}'",
        )
        end = self.indptr[horizon]
        return replace(
            self,
            indptr=self.indptr[: horizon + 1],
            indices=self.indices[:end],
            values=self.values[:end],
            labels=self.labels[:horizon],
        )

    def row(self, t: int) -> FloatArray:
        """Return the features x_t of a round, shape (d,)."""
        x = np.zeros(self.n_features)
        part = slice(self.indptr[t], self.indptr[t + 1])
        x[self.indices[part]] = self.values[part]
        return x

    def matrix(self, start: int = 0, end: int | None = None) -> Any:
        """Return the features of some rounds as a scipy ``csr_array``, shape (rounds, d)."""
        ends = self.indptr[start : None if end is None else end + 1]
        part = slice(ends[0], ends[-1])
        shape = (len(ends) - 1, self.n_features)
        return csr_array((self.values[part], self.indices[part], ends - ends[0]), shape=shape)

    def dense(self) -> FloatArray:
        """Return the features, shape (T, d)."""
        return np.asarray(self.matrix().toarray(), dtype=np.float64)

    def with_comparator(self, comparator: Comparator | None) -> Sequence:
        """Return the same rounds with another comparator."""
        return replace(self, comparator=comparator)

    def relabelled(self, labels: ArrayLike) -> Sequence:
        """Return the same features, and the same comparator, with other labels."""
        return replace(self, labels=np.asarray(labels))

    def digest(self) -> str:
        """Return the sha256 of sizes, features and labels, in hex.

        Two sequences that play alike have the same digest: name and comparator do not enter.
        """
        sizes = f"{self.horizon} {self.n_features} {self.n_labels} {len(self.values)}\n"
        total = sha256(sizes.encode())
        for array, kind in (
            (self.indptr, "<i8"),
            (self.indices, "<i8"),
            (self.values, "<f8"),
            (self.labels, "<i8"),
        ):
            total.update(np.ascontiguousarray(array, dtype=kind).tobytes())
        return total.hexdigest()

    def _check_rows(self) -> None:
        ends, columns = self.indptr, self.indices
        require(
            len(ends) == self.horizon + 1
            and ends[0] == 0
            and bool((np.diff(ends) >= 0).all())
            and ends[-1] == len(columns) == len(self.values),
            f"'{self.name}' has row offsets that do not fit {self.horizon} labels "
            f"and {len(self.values)} values",
        )
        outside = np.flatnonzero((columns < 0) | (columns >= self.n_features))
        if len(outside):
            raise UserError(
                f"row {self._row_of(outside[0])} of '{self.name}' has column "
                f"{columns[outside[0]]}, expected 0 to {self.n_features - 1}"
            )
        rising = columns[1:] > columns[:-1]
        starts = ends[1:-1]
        rising[starts[(starts > 0) & (starts < len(columns))] - 1] = True
        if not rising.all():
            raise UserError(
                f"row {self._row_of(np.argmin(rising) + 1)} of '{self.name}' has columns that "
                "repeat or are not sorted, expected increasing columns"
            )

    def _check_values(self) -> None:
        bad = np.flatnonzero(~np.isfinite(self.values))
        if len(bad):
            raise UserError(
                f"row {self._row_of(bad[0])}, column {self.indices[bad[0]]} of '{self.name}' is "
                f"{self.values[bad[0]]}, expected a finite number"
            )
        with np.errstate(over="ignore"):
            large = np.flatnonzero(~np.isfinite(self.squared_norms))
        if len(large):
            raise UserError(
                f"row {large[0] + 1} of '{self.name}' has a squared norm that overflows, "
                "expected features below 1e150"
            )

    def _row_of(self, entry: np.intp) -> int:
        return int(np.searchsorted(self.indptr, entry, side="right"))


def generator_of(seed: int, spec: str) -> np.random.Generator:
    """Return the random stream that belongs to ``seed`` and to the adversary named ``spec``."""
    integer_at_least("seed", seed, 0)
    words = np.frombuffer(sha256(spec.encode()).digest(), dtype=">u4").tolist()
    key = np.random.SeedSequence(entropy=seed, spawn_key=(ADVERSARY_KEY, *words))
    return np.random.Generator(np.random.PCG64(key))


def integer_at_least(name: str, value: object, least: int) -> int:
    """Return ``value`` as an integer, or raise ``UserError`` if it is none or below ``least``."""
    if not isinstance(value, SupportsIndex):
        raise UserError(f"{name} is {value!r}, expected an integer >= {least}")
    number = operator.index(value)
    require(number >= least, f"{name} is {number}, expected an integer >= {least}")
    return number


def noisy_classes(uniforms: FloatArray, n_labels: int, noise: float) -> tuple[IntArray, IntArray]:
    """Return uniform classes, and labels that equal them but for the noise, each of shape (T,).

    With probability ``noise`` the label is drawn again, uniformly over all classes, so that it may
    stay the same. ``uniforms`` has shape (T, 3).
    """
    classes = (uniforms[:, 0] * n_labels).astype(np.int64)
    drawn = (uniforms[:, 2] * n_labels).astype(np.int64)
    return classes, np.where(uniforms[:, 1] < noise, drawn, classes)


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return an array that nobody else has, and which nobody can write to from now on."""
    array.flags.writeable = False
    return array


def _read_only(array: ArrayLike, dtype: type[Scalar]) -> NDArray[Scalar]:
    """Return ``array`` contiguous and read-only; copied only if someone could write to it."""
    given = np.asarray(array)
    result = np.ascontiguousarray(given, dtype=dtype).reshape(given.shape)
    if result.flags.writeable and np.may_share_memory(result, given):
        result = result.copy()
    result.flags.writeable = False
    return result


def _offsets(counts: NDArray[np.intp]) -> IntArray:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def _checked_labels(labels: ArrayLike, n_labels: int) -> IntArray:
    given = np.asarray(labels)
    require(given.ndim == 1, f"labels have shape {given.shape}, expected one label per round")
    require(len(given) >= 1, "the sequence has 0 rounds, expected a horizon of at least 1")
    require(given.dtype.kind in "buif", f"labels have type {given.dtype}, expected integers")
    legal = (given >= 0) & (given < n_labels) & (given == np.floor(given))
    if not legal.all():
        row = int(np.argmin(legal))
        raise UserError(
            f"label of row {row + 1} is {given[row]}, expected an integer from 0 to {n_labels - 1}"
        )
    return _read_only(given, np.int64)
