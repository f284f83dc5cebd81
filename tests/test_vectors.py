"""Sparse rows in vector registers: the compiled form rounds as the plain loops do, for every number of labels."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from boundcheck.arrays import FloatArray
from boundcheck.compiled import kernel
from boundcheck.vectors import BLOCK, sparse_product, subtract_outer

SIGNATURE = "void(float64[::1], uint64[::1], {third}, {fourth})"


@cache
def product() -> Any:
    @kernel(SIGNATURE.format(third="float64[:, ::1]", fourth="float64[::1]"))
    def compiled(values: FloatArray, indices: Any, rows: FloatArray, out: FloatArray) -> None:
        sparse_product(values, indices, rows, out)

    return compiled.native


@cache
def subtraction() -> Any:
    @kernel(SIGNATURE.format(third="float64[::1]", fourth="float64[:, ::1]"))
    def compiled(values: FloatArray, indices: Any, vector: FloatArray, rows: FloatArray) -> None:
        subtract_outer(values, indices, vector, rows)

    return compiled.native


@pytest.mark.parametrize("n_labels", range(1, 2 * BLOCK + 4))
def test_both_forms_agree_to_the_last_bit(n_labels: int) -> None:
    generator = np.random.default_rng(n_labels)
    for terms in (0, 1, 7):
        indices = generator.choice(9, terms, replace=False).astype(np.uint64)
        values = generator.standard_normal(terms)
        rows = generator.standard_normal((9, n_labels))
        native, plain = np.full(n_labels + 1, 7.0), np.full(n_labels + 1, 7.0)
        product()(values, indices, rows, native[:n_labels])
        sparse_product(values, indices, rows, plain[:n_labels])
        assert native.tobytes() == plain.tobytes()
        assert np.allclose(plain[:n_labels], values @ rows[indices])
        vector = generator.standard_normal(n_labels)
        moved = rows.copy()
        subtraction()(values, indices, vector, moved)
        subtract_outer(values, indices, vector, rows)
        assert moved.tobytes() == rows.tobytes()


def test_a_subtraction_changes_the_given_rows_alone() -> None:
    rows = np.zeros((4, 3))
    subtraction()(np.array([2.0, -1.0]), np.array([1, 3], dtype=np.uint64), np.arange(3.0), rows)
    assert rows.tolist() == [[0, 0, 0], [0, -2, -4], [0, 0, 0], [0, 1, 2]]
