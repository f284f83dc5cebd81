"""Adaptive adversaries of the label game: they see which actions were played and what those revealed.

An adaptive adversary has ``begin(horizon, seed)`` in place of ``sequence``; it returns an opponent for one run, whose
``next(action, seen)`` gives the features and the label of the next round. It is told the action of the round before
and the label that it revealed, ``None`` where it revealed none; both are ``None`` before the first round. It sees
neither the probabilities nor the coming draw. What it did in a run is a sequence afterwards, and the comparator of the
run is fitted to that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ....adversaries.sequence import Comparator, Sequence
from ....algorithms.losses import SmoothHinge
from ....arrays import FloatArray
from ....errors import LearnerError, UserError, call, shown
from .comparators import fit
from .play import Run
from .record import ACTION, BLOCK, OBSERVED, Block


def is_adaptive(adversary: Any) -> bool:
    """True for an adversary that sees the actions played."""
    return hasattr(adversary, "begin")


def blank(adversary: Any, horizon: int) -> Sequence:
    """A sequence of the sizes that an adaptive adversary declares.

    Raises
    ------
    UserError
        for an adversary that does not declare ``n_labels`` and ``n_features``
    """
    n_labels, n_features = _size(adversary, "n_labels", 2), _size(adversary, "n_features", 1)
    indices = np.tile(np.arange(n_features), horizon)
    return Sequence(
        adversary.spec,
        np.arange(horizon + 1) * n_features,
        indices,
        np.ones(len(indices)),
        np.zeros(horizon, dtype=np.int64),
        n_features,
        n_labels,
    )


def _size(adversary: Any, name: str, least: int) -> int:
    value = getattr(adversary, name, None)
    if not isinstance(value, int) or value < least:
        raise UserError(
            f"{name}={value!r} of adversary {adversary.spec}: expected an integer of at least {least}."
        )
    return value


class _Table:
    """The rounds of a run, written down as they come; what the game reads of them is these arrays."""

    def __init__(self, case: Any) -> None:
        self.sequence = blank(case.adversary, case.horizon)
        self.norm = case.problem.feature_norm
        self.who = f"adversary {case.adversary.spec}"
        d = self.sequence.n_features
        self.features: FloatArray = self.sequence.values.reshape(-1, d)
        for array in (self.sequence.values, self.sequence.labels, self.sequence.squared_norms):
            array.setflags(write=True)
        self.features.setflags(write=True)

    def write(self, t: int, given: Any) -> None:
        """Write down a round.

        Raises
        ------
        LearnerError
            for features or a label that are none
        """
        try:
            x, label = given
            row = np.asarray(x, dtype=np.float64)
            legal = row.shape == self.features[t].shape and bool(np.isfinite(row).all())
            legal &= 0 <= label < self.sequence.n_labels and int(label) == label
        except (TypeError, ValueError):
            legal = False
        norm = float(np.linalg.norm(row)) if legal else 0.0
        if not legal or norm > self.norm * (1 + 1e-9):
            d, K = self.sequence.n_features, self.sequence.n_labels
            raise LearnerError(
                f"{self.who} gave {shown(given)} in round {t}: expected {d} finite features of norm at most"
                f" {self.norm:g}, and a label from 0 to {K - 1}."
            )
        self.features[t] = row
        self.sequence.labels[t] = int(label)
        self.sequence.squared_norms[t] = float(row @ row)

    def finished(self) -> Sequence:
        """The rounds that were played, as a sequence."""
        return Sequence.from_dense(
            self.features.copy(),
            self.sequence.labels.copy(),
            self.sequence.n_labels,
            self.sequence.name,
        )


def play(
    case: Any, run: int, *, interpreted: bool = False, stop: int | None = None
) -> tuple[Any, Iterator[Block]]:
    """Play one run against the adversary of a case, to its end: its comparator depends on all of it.

    Returns
    -------
    the case of this run, with its sequence and the comparator fitted to it, and its rounds in blocks

    Raises
    ------
    LearnerError
        for what the learner or the adversary does wrong
    """
    horizon = case.horizon
    table = _Table(case)
    opponent = call(case.adversary.begin, table.who, "begin", case.horizon, case.seed)
    played = Run(replace(case.game, sequence=table.sequence), run, interpreted=interpreted)
    single: list[Block] = []
    action: int | None = None
    seen: int | None = None
    for t in range(horizon):
        table.write(t, call(opponent.next, table.who, f"next of round {t}", action, seen))
        block = played.advance(1, trace=True)
        block.check(case.learner.spec)
        action = int(block.column(ACTION)[0])
        seen = int(table.sequence.labels[t]) if block.column(OBSERVED)[0] > 0 else None
        single.append(block)
    sequence = table.finished()
    loss = case.loss or SmoothHinge()
    comparator: Comparator = fit(sequence, loss, case.comparator_norm)
    of_run = replace(
        case,
        sequence=sequence,
        comparator=comparator,
        feature_norm=case.problem.feature_norm,
        run=run,
    )
    end = horizon if stop is None else min(stop, horizon)
    blocks = (
        _joined(single[first : min(first + BLOCK, end)], sequence) for first in range(0, end, BLOCK)
    )
    return of_run, blocks


def _joined(blocks: list[Block], sequence: Sequence) -> Block:
    first, end = blocks[0].start, blocks[0].start + len(blocks)
    return Block(
        first,
        np.concatenate([block.columns for block in blocks]),
        sequence.labels[first:end],
        sequence.squared_norms[first:end],
        np.concatenate([block.scores for block in blocks]),
        np.concatenate([block.probabilities for block in blocks]),
    )
