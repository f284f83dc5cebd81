"""What the engine is measured against: the same learner as a NumPy loop and in C, and scikit-learn."""

from __future__ import annotations

import ctypes
import importlib.util
import math
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.adversaries.sequence import Sequence
from boundcheck.verify.games.labels.play import aligned_zeros, game_generator

Weights = NDArray[np.float64]
Result = tuple[float, Weights]
"""Mistakes, and final weights of shape (features, labels)."""


def numpy_loop(sequence: Sequence, seed: int) -> Callable[[int], Result]:
    """The learner as one would write it in NumPy: dense features, one product per round."""
    features, labels = sequence.dense(), sequence.labels.tolist()
    squared_norms = sequence.squared_norms.tolist()

    def play(replicate: int) -> Result:
        n_labels = sequence.n_labels
        weights = np.zeros((n_labels, sequence.n_features))
        uniforms = game_generator(seed, replicate).random(len(labels))
        gradients, mistakes = 0.0, 0
        for t, (x, label) in enumerate(zip(features, labels, strict=True)):
            scores = weights @ x
            best = int(scores.argmax())
            others = scores.copy()
            others[best] = -np.inf
            runner = int(others.argmax())
            gap = max(0.0, 1.0 - (scores[best] - scores[runner])) ** 2
            mixed = max(gap, min(0.5, 1.0 / math.sqrt(t + 1)))
            p = np.full(n_labels, mixed / n_labels)
            p[best] += 1.0 - mixed
            action = min(int(p.cumsum().searchsorted(uniforms[t], "right")), n_labels - 1)
            mistakes += action != label
            rival = runner if label == best else best
            margin = float(scores[label] - scores[rival])
            if action == label and margin < 1.0:
                slope = -2.0 * min(1.0, 1.0 - margin)
                importance = 1.0 / float(p[label])
                gradients += importance**2 * 2.0 * slope**2 * squared_norms[t]
                step = importance / math.sqrt(1e-8 + gradients) * slope * x
                weights[label] -= step
                weights[rival] += step
        return float(mistakes), weights.T

    return play


def c_kernel(sequence: Sequence, seed: int) -> Callable[[int], Result] | None:
    """The learner by hand in C, compiled for this number of labels; None without gcc."""
    if shutil.which("gcc") is None:
        return None
    source = Path(__file__).with_name("gappletron.c")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "gappletron.so"
        flags = f"-O3 -march=native -ffp-contract=off -DKC={sequence.n_labels} -shared -fPIC"
        command = ["gcc", *flags.split(), str(source), "-o", str(library), "-lm"]
        subprocess.run(command, check=True)
        function: Any = ctypes.CDLL(str(library)).play

    def play(replicate: int) -> Result:
        weights = aligned_zeros(sequence.n_features, sequence.n_labels)
        totals = np.zeros(3)
        uniforms = game_generator(seed, replicate).random(sequence.horizon)
        arrays = (
            sequence.indptr,
            sequence.indices,
            sequence.values,
            sequence.squared_norms,
            sequence.labels,
            uniforms,
        )
        function(
            ctypes.c_int64(sequence.horizon),
            *(ctypes.c_void_p(array.ctypes.data) for array in arrays),
            ctypes.c_double(1.0),
            ctypes.c_void_p(weights.ctypes.data),
            ctypes.c_void_p(totals.ctypes.data),
        )
        return float(totals[1]), weights

    return play


def perceptron(sequence: Sequence) -> Callable[[int], Result] | None:
    """One epoch of scikit-learn's Perceptron on the sparse features; None where not installed."""
    if importlib.util.find_spec("sklearn") is None:
        return None
    from sklearn.linear_model import Perceptron

    features, labels = sequence.matrix(), sequence.labels.copy()
    features.indices = features.indices.astype(np.int32)
    features.indptr = features.indptr.astype(np.int32)

    def play(replicate: int) -> Result:
        model = Perceptron(max_iter=1, tol=None, shuffle=False, random_state=replicate)
        model.fit(features, labels)
        return math.nan, model.coef_.T

    return play
