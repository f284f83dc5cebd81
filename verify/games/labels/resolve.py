"""From a setting to a case: learner, adversary, graph, sequence and comparator are made."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ....adversaries.sequence import Comparator, Sequence
from ....algorithms import graphs
from ....algorithms.learner import Problem
from ....algorithms.losses import Loss, SmoothHinge
from ....errors import UserError, require
from ... import catalog
from . import comparators
from .case import Case, Setting

if TYPE_CHECKING:
    from ....adversaries.recorded import Recorded


def radius_around(comparator: Comparator) -> float:
    """The smallest float that is at least the exact norm of the comparator, or 1 for U = 0."""
    if comparator.fractions is None:
        return comparator.norm * (1 + 2**-40) or 1.0
    squared = sum((u * u for row in comparator.fractions for u in row), Fraction(0))
    radius = math.sqrt(squared)
    while Fraction(radius) ** 2 < squared:
        radius = math.nextafter(radius, math.inf)
    return radius or 1.0


def fits(comparator: Comparator, radius: float) -> bool:
    """Whether the comparator lies in the ball, exactly where its entries are known exactly."""
    if comparator.fractions is None:
        return comparator.norm <= radius
    squared = sum((u * u for row in comparator.fractions for u in row), Fraction(0))
    return squared <= Fraction(radius) ** 2


@lru_cache(maxsize=16)
def _sequence(adversary: str, horizon: int | None, seed: int) -> tuple[object, Sequence]:
    made = catalog.adversary(adversary)
    require(
        hasattr(made, "sequence"),
        f"adversary {adversary} is one of weak learners, and has no labels to play: expected one of"
        f" {', '.join(catalog.adversary_classes())}.",
    )
    return made, made.sequence(horizon, seed)


@lru_cache(maxsize=4)
def _recorded(adversary: str) -> tuple[str, Recorded]:
    """The file that an adversary ``data:...`` names, and what it holds."""
    from ....adversaries import recorded  # with pandas, which nobody else needs to resolve

    path, label = recorded.split_label(adversary.removeprefix("data:"))
    return path, recorded.load(Path(path), label=label)


FEW_LABELS = 20
"""Up to so many labels, rows may be as few as there are labels."""

MOST_WEIGHTS = 10**8
"""Weights of a learner, labels times features: 800 MB."""

SMALLEST, LARGEST = 1e-75, 1e75
"""Norms of features and comparators whose products, squared, are still floats."""


def _check_data(path: str, sequence: Sequence) -> None:
    """Refuse recorded data that no learner can sensibly be played on."""
    n_labels, rows, d = sequence.n_labels, sequence.horizon, sequence.n_features
    require(
        n_labels <= max(FEW_LABELS, rows // 2),
        f"the labels of '{path}' have {n_labels} different values in {rows} rows: expected classes that come"
        " up again; name their column with --label.",
    )
    require(
        n_labels * d <= MOST_WEIGHTS,
        f"'{path}' has {d} features and {n_labels} labels: expected at most {MOST_WEIGHTS:,} weights; number"
        " the features without gaps.",
    )
    require(
        sequence.feature_norm == 0 or SMALLEST <= sequence.feature_norm <= LARGEST,
        f"the largest norm of a row of '{path}' is {sequence.feature_norm:g}: expected one of {SMALLEST:g} to"
        f" {LARGEST:g}; scale the features.",
    )


class _SequenceKey:
    """A sequence as a key of a cache."""

    def __init__(self, sequence: Sequence) -> None:
        self.sequence = sequence
        self.digest = sequence.digest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SequenceKey) and self.digest == other.digest


@lru_cache(maxsize=32)
def _fitted(key: _SequenceKey, loss: Loss, radius: float) -> Comparator:
    return comparators.fit(key.sequence, loss, radius)


def resolve(setting: Setting, seed: int) -> Case:
    """Make everything that a setting names.

    Recorded data are written ``data:FILE`` or ``data:FILE@COLUMN`` in place of an adversary.

    Raises
    ------
    UserError
        for anything unknown, or parts that do not fit together
    """
    require(
        setting.horizon is None or setting.horizon >= 1,
        f"horizon T={setting.horizon}: expected at least 1.",
    )
    require(setting.replicates >= 1, f"replicates={setting.replicates}: expected at least 1 run.")
    require(
        setting.radius is None or SMALLEST <= setting.radius <= LARGEST,
        f"radius B={setting.radius}: expected a number above 0, from {SMALLEST:g} to {LARGEST:g}.",
    )
    if isinstance(setting.adversary, str) and setting.adversary.startswith("data:"):
        path, made = _recorded(setting.adversary)
        adversary: object = made
        sequence = made.sequence(setting.horizon)
        _check_data(path, sequence)
    elif isinstance(setting.adversary, str):
        adversary, sequence = _sequence(setting.adversary, setting.horizon, seed)
    else:
        adversary = setting.adversary
        sequence = setting.adversary.sequence(setting.horizon, seed)
    try:
        graph = graphs.parse(setting.graph, sequence.n_labels)
    except UserError as error:
        if not Path(setting.graph).suffix:
            raise
        who = f"{setting.label('adversary')} has {sequence.n_labels} labels"
        raise UserError(f"{str(error).rstrip('.')}; {who}.") from None
    learner = (
        catalog.learner(setting.learner) if isinstance(setting.learner, str) else setting.learner
    )
    require(
        not catalog.is_weak(learner),
        f"learner {setting.label('learner')} is a weak one: expected one that plays labels.",
    )
    planted = sequence.comparator
    radius = setting.radius
    if radius is None:
        radius = 1.0 if planted is None else radius_around(planted)
    if planted is not None and fits(planted, radius):
        comparator = planted
    else:
        problem = Problem(
            graph, sequence.n_features, sequence.horizon, sequence.feature_norm, radius
        )
        # the bounds of learners without a surrogate loss are about margins below one as well
        loss = learner.player(problem).declaration.loss or SmoothHinge()
        comparator = _fitted(_SequenceKey(sequence), loss, radius)
    if not np.isfinite(comparator.weights).all():
        raise UserError("the comparator has entries that are not finite.")
    return Case(setting, learner, adversary, graph, sequence, comparator, radius, seed)
