"""Estimates that fool the weak learner about itself and about the best hypothesis in the same rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...algorithms.spec import Checked
from .even import EvenCosts
from .noise import Pair
from .stream import WeakStream, even_costs


@dataclass(frozen=True)
class WorstPair(Checked):
    """Oracles that are always right, a hypothesis that never is, and errors that move both apart by 2b a round.

    Parameters
    ----------
    n_labels : k, at least 2
    delta : probability with which the derivation of the weak learning condition lets each martingale be large
    """

    n_labels: Annotated[int, "[2, inf)"] = 3
    delta: Annotated[float, "(0, 1)"] = 0.01

    def stream(self, horizon: int, seed: int) -> WeakStream:
        labels = EvenCosts(self.n_labels).stream(horizon, seed).labels
        return WeakStream(
            np.zeros((horizon, 0)),
            labels,
            np.ones(horizon),
            even_costs(labels, self.n_labels),
            Pair(1.0),
            (labels + 1) % self.n_labels,
            oracle_edge=1.0,
        )
