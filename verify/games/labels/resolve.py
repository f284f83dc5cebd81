"""From a setting to a case of the label game: graph, sequence and comparator are made."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....adversaries.reading import Reading
from ....adversaries.sequence import Comparator, Sequence, zero_comparator
from ....algorithms import graphs
from ....algorithms.learner import Problem
from ....algorithms.losses import Loss, SmoothHinge
from ....errors import UserError, check_size, require
from ...setting import Setting
from . import adaptive
from .case import Case
from .compared.fit import fit

if TYPE_CHECKING:
    from ....adversaries.recorded import Recorded


def norm_around(comparator: Comparator) -> float:
    """The smallest float that is at least the exact norm of the comparator, or 1 for U = 0."""
    if comparator.fractions is None:
        return comparator.norm * (1 + 2**-40) or 1.0
    squared = comparator.squared_norm
    bound = math.sqrt(squared)
    while Fraction(bound) ** 2 < squared:
        bound = math.nextafter(bound, math.inf)
    return bound or 1.0


def fits(comparator: Comparator, bound: float) -> bool:
    """True if the norm of the comparator is at most the bound, exactly where its entries are known exactly."""
    if comparator.fractions is None:
        return comparator.norm <= bound
    return comparator.squared_norm <= Fraction(bound) ** 2


@lru_cache(maxsize=16)
def _sequence(adversary: Any, horizon: int | None, seed: int) -> Sequence:
    found: Sequence = adversary.sequence(horizon, seed)
    return found


DATA = "data:"
"""Prefix of the spec of recorded data: ``data:FILE``, ``data:FILE@COLUMN`` and so on; see ``Reading``."""


@lru_cache(maxsize=4)
def recorded(spec: str) -> Recorded:
    """The rounds in a file of recorded data."""
    from ....adversaries.recorded import load  # with pandas, which nobody else needs to resolve

    how = _reading(spec)
    return load(how.path, label=how.label, header=how.header, exact=how.exact, rows=how.rows)


def _reading(spec: str) -> Reading:
    """The file that a spec of recorded data names, and how it is read."""
    return Reading.of(spec.removeprefix(DATA))


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
def _fitted(key: _SequenceKey, loss: Loss, bound: float) -> Comparator:
    return fit(key.sequence, loss, bound)


def _sequence_of(setting: Setting, adversary: Any, seed: int) -> Sequence:
    """The sequence of an adversary; the sizes of one that is adaptive."""
    if setting.horizon is not None:
        check_size("the rounds of a game", setting.horizon)
    if adaptive.is_adaptive(adversary):
        require(setting.horizon is not None, "an adaptive adversary is given without a horizon T.")
        assert setting.horizon is not None
        return adaptive.blank(adversary, setting.horizon)
    if isinstance(setting.adversary, str) and setting.adversary.startswith(DATA):
        sequence: Sequence = adversary.sequence(setting.horizon)
        _check_data(str(_reading(setting.adversary).path), sequence)
        return sequence
    if isinstance(adversary, Hashable):
        return _sequence(adversary, setting.horizon, seed)
    found: Sequence = adversary.sequence(setting.horizon, seed)
    return found


def _graph_of(setting: Setting, n_labels: int) -> graphs.FeedbackGraph:
    try:
        return graphs.parse(setting.graph, n_labels)
    except UserError as error:
        if not Path(setting.graph).suffix:
            raise
        who = f"{setting.label('adversary')} has {n_labels} labels"
        raise UserError(f"{str(error).rstrip('.')}; {who}.") from None


def _comparator_of(
    sequence: Sequence, learner: Any, graph: graphs.FeedbackGraph, bound: float | None
) -> tuple[Comparator, float]:
    """The planted comparator where its norm is at most the bound, otherwise a fitted one, and the bound."""
    planted = sequence.comparator
    if bound is None:
        bound = 1.0 if planted is None else norm_around(planted)
    if planted is not None and fits(planted, bound):
        return planted, bound
    problem = Problem(graph, sequence.n_features, sequence.horizon, sequence.feature_norm, bound)
    # the bounds of learners without a surrogate loss are about margins below one as well
    loss = learner.player(problem).declaration.loss or SmoothHinge()
    return _fitted(_SequenceKey(sequence), loss, bound), bound


def resolve(setting: Setting, learner: Any, adversary: Any, seed: int) -> Case:
    """Make everything that a setting names.

    Raises
    ------
    UserError
        for parts that do not fit together
    """
    bound = setting.comparator_norm
    require(
        bound is None or SMALLEST <= bound <= LARGEST,
        f"comparator norm B={bound}: expected a number above 0, from {SMALLEST:g} to {LARGEST:g}.",
    )
    sequence = _sequence_of(setting, adversary, seed)
    graph = _graph_of(setting, sequence.n_labels)
    feature_norm = None
    if adaptive.is_adaptive(adversary):
        feature_norm, bound = adaptive.norm_of(adversary), bound or 1.0
        comparator = zero_comparator(sequence.n_labels, sequence.n_features)
    else:
        comparator, bound = _comparator_of(sequence, learner, graph, bound)
    if not np.isfinite(comparator.weights).all():
        raise UserError("the comparator has entries that are not finite.")
    return Case(setting, learner, adversary, graph, sequence, comparator, bound, seed, feature_norm)
