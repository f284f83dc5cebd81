"""Two operations on sparse rows that compiled code does in vector registers.

``@kernel`` functions call them like any other; in plain Python they are the loops written here, and both forms round
alike. In compiled code the labels are cut into vectors of four, two and one entries, sixteen labels at a time, which
stay in registers from the first feature to the last. numba by itself would write them to memory after every feature,
and go through a dozen labels one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import FloatArray

BLOCK = 16
"""Labels that are kept in registers at a time."""


def sparse_product(
    values: FloatArray, indices: NDArray[np.uint64], rows: FloatArray, out: FloatArray
) -> None:
    """Fill ``out``, shape (k,), with the sum of ``values[j] * rows[indices[j]]``, added in the order of j."""
    for k in range(out.shape[0]):
        out[k] = 0.0
    for j in range(indices.shape[0]):
        for k in range(out.shape[0]):
            out[k] += values[j] * rows[indices[j], k]


def subtract_outer(
    values: FloatArray, indices: NDArray[np.uint64], vector: FloatArray, rows: FloatArray
) -> None:
    """Subtract ``values[j] * vector``, shape (k,), from ``rows[indices[j]]`` for each j."""
    for j in range(indices.shape[0]):
        for k in range(vector.shape[0]):
            rows[indices[j], k] -= values[j] * vector[k]


def _cut(labels: int) -> list[int]:
    """Sizes of the vectors that so many labels are cut into."""
    return [4] * (labels // 4) + [size for size in (2, 1) if labels & size]


class _Writer:
    """Writes LLVM code for a call with the arguments (values, indices, ``third``, ``fourth``)."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        from llvmlite import ir
        from numba.core import cgutils

        self.builder, self.ir = builder, ir
        self.tools: Any = cgutils
        self.number, self.float = ir.IntType(64), ir.DoubleType()
        self.values, self.indices, self.third, self.fourth = (
            context.make_array(kind)(context, builder, argument)
            for kind, argument in zip(signature.args, arguments, strict=True)
        )

    def of(self, value: int) -> Any:
        """A constant."""
        return self.ir.Constant(self.number, value)

    def size(self, array: Any) -> Any:
        """The number of entries of a one-dimensional array."""
        (size,) = self.tools.unpack_tuple(self.builder, array.shape)
        return size

    def blocks(self, width: Any, write: Callable[[Any, list[int]], None]) -> None:
        """Let ``write`` write the code of each block, from its first label and the sizes of its vectors."""
        builder, block = self.builder, self.of(BLOCK)
        end = builder.mul(builder.udiv(width, block), block)
        whole = self.tools.for_range_slice(builder, self.of(0), end, block, intp=self.number)
        with whole as (base, _):
            write(base, _cut(BLOCK))
        rest = builder.sub(width, end)
        for labels in range(1, BLOCK):
            with builder.if_then(builder.icmp_unsigned("==", rest, self.of(labels))):
                write(end, _cut(labels))

    @contextmanager
    def features(self) -> Iterator[tuple[Any, Any]]:
        """Go through the features, from index and value."""
        builder = self.builder
        with self.tools.for_range(builder, self.size(self.indices), intp=self.number) as loop:
            index, value = (
                builder.load(builder.gep(array.data, [loop.index]))
                for array in (self.indices, self.values)
            )
            yield index, value

    def at(self, rows: Any, row: Any, width: Any, label: Any) -> Any:
        """The address of an entry of a matrix."""
        entry = self.builder.add(self.builder.mul(row, width), label)
        return self.builder.gep(rows.data, [entry])

    def filled(self, value: Any, size: int) -> Any:
        """A vector that has ``value`` everywhere."""
        found = self.ir.Constant(self.ir.VectorType(self.float, size), self.ir.Undefined)
        for i in range(size):
            found = self.builder.insert_element(found, value, self.of(i))
        return found

    def load(self, start: Any, cut: list[int]) -> list[Any]:
        """The vectors of a block."""
        return [self.builder.load(place, align=8) for place in self._places(start, cut)]

    def store(self, vectors: list[Any], start: Any, cut: list[int]) -> None:
        """Put the vectors of a block where they belong."""
        for vector, place in zip(vectors, self._places(start, cut), strict=True):
            self.builder.store(vector, place, align=8)

    def _places(self, start: Any, cut: list[int]) -> list[Any]:
        return [
            self.builder.bitcast(
                self.builder.gep(start, [self.of(sum(cut[:i]))]),
                self.ir.VectorType(self.float, size).as_pointer(),
            )
            for i, size in enumerate(cut)
        ]


def _multiply(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    writer = _Writer(context, builder, signature, arguments)
    rows, out = writer.third, writer.fourth
    width = writer.size(out)

    def write(base: Any, cut: list[int]) -> None:
        zero = writer.ir.Constant(writer.float, 0.0)
        sums = [writer.tools.alloca_once_value(builder, writer.filled(zero, size)) for size in cut]
        for total, size in zip(sums, cut, strict=True):
            builder.store(writer.filled(zero, size), total)
        with writer.features() as (row, value):
            entries = writer.load(writer.at(rows, row, width, base), cut)
            for total, entry, size in zip(sums, entries, cut, strict=True):
                term = builder.fmul(writer.filled(value, size), entry)
                builder.store(builder.fadd(builder.load(total), term), total)
        found = [builder.load(total) for total in sums]
        writer.store(found, builder.gep(out.data, [base]), cut)

    writer.blocks(width, write)
    return context.get_dummy_value()


def _subtract(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    writer = _Writer(context, builder, signature, arguments)
    vector, rows = writer.third, writer.fourth
    width = writer.size(vector)

    def write(base: Any, cut: list[int]) -> None:
        factors = writer.load(builder.gep(vector.data, [base]), cut)
        with writer.features() as (row, value):
            start = writer.at(rows, row, width, base)
            moved = [
                builder.fsub(entry, builder.fmul(writer.filled(value, size), factor))
                for entry, factor, size in zip(writer.load(start, cut), factors, cut, strict=True)
            ]
            writer.store(moved, start, cut)

    writer.blocks(width, write)
    return context.get_dummy_value()


@cache
def teach() -> None:
    """Tell numba what the functions of this module are in compiled code."""
    import numba.extending
    from numba import types

    def typing(context: Any) -> Any:
        return lambda values, indices, third, fourth: types.none

    extending: Any = numba.extending
    for function, lower in ((sparse_product, _multiply), (subtract_outer, _subtract)):
        extending.type_callable(function)(typing)
        extending.lower_builtin(function, *[types.Array] * 4)(lower)
