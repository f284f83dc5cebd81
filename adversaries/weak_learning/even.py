"""Costs that are the same for every wrong label: with oracles, the tight control of the weak learning conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...algorithms.spec import Checked
from ..sequence import generator_of
from . import noise as noises
from .stream import WeakStream, check_rounds, even_costs

NOISES = tuple(noises.KINDS)


@dataclass(frozen=True)
class EvenCosts(Checked):
    """Uniform labels, weights and costs always the same, and predictions drawn for the weak learner ``oracle-noise``.

    Parameters
    ----------
    n_labels : k, at least 2
    edge : the edge of the predictions drawn for each oracle, 2 gamma
    weight : weight of every round
    noise : how the costs are estimated in the bandit setting
    """

    n_labels: Annotated[int, "[2, inf)"] = 3
    edge: Annotated[float, "[0, 1]"] = 0.2
    weight: Annotated[float, "[0, 1]"] = 1.0
    noise: str = "two-point"

    def __post_init__(self) -> None:
        super().__post_init__()
        noises.parse(str(self.noise))

    def stream(self, horizon: int, seed: int) -> WeakStream:
        check_rounds(horizon, self.n_labels)
        labels = generator_of(seed, self.spec).integers(self.n_labels, size=horizon)
        return WeakStream(
            np.zeros((horizon, 0)),
            labels,
            np.full(horizon, float(self.weight)),
            even_costs(labels, self.n_labels),
            noises.parse(str(self.noise)),
            oracle_edge=self.edge,
        )
