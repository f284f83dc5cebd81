"""Real data that come with scikit-learn, for a study without a file of the user's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Annotated, Any

import numpy as np

from ..arrays import FloatArray, IntArray
from ..errors import UserError
from .sequence import Sequence, Spelt, generator_of, integer_at_least

NAMES = ("breast-cancer", "digits", "iris", "wine")
FORMS = ("recorded", "binary")


@dataclass(frozen=True)
class Bundled(Spelt):
    """A recorded data set in random order, passed over again in a new order until the horizon.

    A shorter horizon gives a prefix of the longer one.

    Parameters
    ----------
    name : "digits", "wine", "iris" or "breast-cancer"
    form : "recorded", or "binary": 1 where a feature is above its median, otherwise 0, as stumps ask

    Raises
    ------
    UserError
        for an unknown name, or without scikit-learn
    """

    name: Annotated[str, NAMES] = "digits"
    form: Annotated[str, FORMS] = "recorded"

    @property
    def n_labels(self) -> int:
        """The number of classes."""
        return int(_rows(self.name)[1].max()) + 1

    def sequence(self, horizon: int | None = None, seed: int = 0) -> Sequence:
        """Return ``horizon`` rounds, by default each row once."""
        features, labels = _rows(self.name)
        length = len(labels) if horizon is None else integer_at_least("horizon", horizon, 1)
        if self.form == "binary":
            features = (features > np.median(features, axis=0)).astype(np.float64)
        generator = generator_of(seed, self.spec)
        passes = [generator.permutation(len(labels)) for _ in range(-(-length // len(labels)))]
        order = np.concatenate(passes)[:length]
        return Sequence.from_dense(features[order], labels[order], self.n_labels, self.spec)


@lru_cache(maxsize=len(NAMES))
def _rows(name: str) -> tuple[FloatArray, IntArray]:
    """Features of shape (rows, d) and labels of a data set."""
    try:
        datasets = import_module("sklearn.datasets")
    except ImportError:
        raise UserError(
            f"bundled data set '{name}' needs scikit-learn, which is not installed: expected pip install"
            " scikit-learn."
        ) from None
    load: Callable[..., Any] = getattr(datasets, f"load_{name.replace('-', '_')}")
    features, labels = load(return_X_y=True)
    return np.asarray(features, dtype=np.float64), np.asarray(labels, dtype=np.int64)
