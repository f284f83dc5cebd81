"""Documents with keywords, the synthetic data of the Gappletron paper.

Source: van der Hoeven, Fusco, Cesa-Bianchi, "Beyond Bandit Feedback in Online Multiclass
Classification", 2021, Appendix F.

| symbol | name |
|---|---|
| d' | ``keyword_scale`` |
| d = 40 d' | number of features: 10 d' keyword bits, then 30 d' bits of unrelated words |
| K | ``n_labels`` |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ..arrays import BoolArray
from .sequence import (
    Comparator,
    Sequence,
    Spelt,
    generator_of,
    integer_at_least,
    noisy_classes,
    read_only,
)

BLOCK = 4096  # rounds drawn at once, so that the working set stays in the cache


@dataclass(frozen=True)
class Keywords(Spelt):
    """Each class owns 1 d' to 5 d' of the 10 d' keyword bits.

    A round shows a uniform class's keywords and 5 d' of the 30 d' unrelated bits; with probability
    ``noise`` its label is then drawn again, uniformly. Features are 0 or 1. A shorter horizon gives
    a prefix of the longer one.
    """

    keyword_scale: Annotated[int, "[1, inf)"] = 2
    n_labels: Annotated[int, "[2, inf)"] = 6
    noise: Annotated[float, "[0, 1]"] = 0.0

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Return ``horizon`` documents; the comparator is planted if the classes differ."""
        integer_at_least("horizon", horizon, 1)
        rng = generator_of(seed, self.spec)
        keywords = self._keywords(rng)
        blocks = list(self._blocks(rng, keywords, horizon))
        indptr = np.zeros(horizon + 1, dtype=np.int64)
        np.cumsum(np.concatenate([counts for _, counts, _ in blocks]), out=indptr[1:])
        labels = np.concatenate([labels for _, _, labels in blocks])
        indices = np.concatenate([indices for indices, _, _ in blocks], dtype=np.int64)
        del blocks
        return Sequence(
            name=self.spec,
            indptr=read_only(indptr),
            indices=read_only(indices),
            values=read_only(np.ones(len(indices))),
            labels=read_only(labels),
            n_features=40 * self.keyword_scale,
            n_labels=self.n_labels,
            comparator=planted(keywords, self.keyword_scale),
        )

    def _keywords(self, rng: np.random.Generator) -> BoolArray:
        """Draw the keyword bits of every class, shape (K, 10 d')."""
        scale = self.keyword_scale
        keywords = np.zeros((self.n_labels, 10 * scale), dtype=np.bool_)
        for row in keywords:
            row[rng.permutation(10 * scale)[: rng.integers(scale, 5 * scale, endpoint=True)]] = True
        return keywords

    def _blocks(
        self, rng: np.random.Generator, keywords: BoolArray, horizon: int
    ) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]]:
        """Yield column indices, row lengths and labels, block by block."""
        scale = self.keyword_scale
        for start in range(0, horizon, BLOCK):
            uniforms = rng.random((min(BLOCK, horizon - start), 3 + 5 * scale))
            classes, labels = noisy_classes(uniforms[:, :3], self.n_labels, self.noise)
            bits = np.hstack((keywords[classes], subsets(uniforms[:, 3:], 30 * scale)))
            yield np.nonzero(bits)[1].astype(np.int32), bits.sum(axis=1), labels


def subsets(uniforms: NDArray[np.float64], size: int) -> BoolArray:
    """Return, for each row of uniforms, a uniform subset of ``size`` bits, one bit per uniform.

    Robert Floyd's sampling without replacement: Bentley, Programming Pearls, CACM 30(9), 1987.
    """
    n_rows, n_chosen = uniforms.shape
    chosen = np.zeros((n_rows, size), dtype=np.bool_)
    rows = np.arange(n_rows)
    for column, last in zip(uniforms.T, range(size - n_chosen, size), strict=True):
        bit = (column * (last + 1)).astype(np.int64)
        chosen[rows, np.where(chosen[rows, bit], last, bit)] = True
    return chosen


def planted(keywords: BoolArray, keyword_scale: int) -> Comparator | None:
    """Return weights of margin exactly 1 on every noiseless round, or None if two classes agree.

    Every round has 5 d' unrelated words, so equal weights on their bits make a bias. The score of
    class k on a document of class j becomes c (|v_j|^2 - |v_j - v_k|^2), v the keyword bits, and c
    makes the smallest difference 1. Subtracting the mean over classes leaves all margins alone and
    makes the norm smaller.
    """
    v = keywords.astype(np.int64)
    n_labels = len(v)
    distances = (v[:, None, :] != v[None, :, :]).sum(axis=2)
    closest = int(distances[~np.eye(n_labels, dtype=np.bool_)].min())
    if closest == 0:
        return None
    unrelated = 5 * keyword_scale
    sizes = v.sum(axis=1)
    # In integers: K times the value minus the sum over the classes; divided below.
    words = (2 * (n_labels * v - v.sum(axis=0))).tolist()
    biases = (sizes.sum() - n_labels * sizes).tolist()
    return Comparator.exact(
        [
            [Fraction(entry, n_labels * closest) for entry in row]
            + [Fraction(bias, n_labels * closest * unrelated)] * (30 * keyword_scale)
            for row, bias in zip(words, biases, strict=True)
        ]
    )
