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

from ....adversaries.sequence import NAMED, Comparator, Sequence
from ....algorithms.losses import SmoothHinge
from ....arrays import FloatArray, finite, real
from ....errors import LearnerError, UserError, call, check_size, require, shown
from .compared.fit import fit
from .play import Game, Run
from .record import ACTION, BLOCK, OBSERVED, Block, Steps


def is_adaptive(adversary: Any) -> bool:
    """True for an adversary that sees the actions played."""
    return hasattr(adversary, "begin")


def blank(adversary: Any, horizon: int) -> Sequence:
    """A sequence of the sizes that an adaptive adversary declares.

    Raises
    ------
    UserError
        for an adversary that does not declare ``n_labels`` and ``n_features``, or more than fits into memory
    """
    n_labels, n_features = _size(adversary, "n_labels", 2), _size(adversary, "n_features", 1)
    check_size(f"features of adversary {adversary.spec}", horizon, n_features)
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


def norm_of(adversary: Any) -> float:
    """The bound on the norm of the features that an adaptive adversary declares, 1 where it declares none.

    Raises
    ------
    UserError
        for one that is no finite number above 0
    """
    value = getattr(adversary, "feature_norm", 1.0)
    legal = finite(value) and bool(value > 0)
    require(
        legal,
        f"feature_norm={shown(value)} of adversary {adversary.spec}: expected a finite number above 0.",
    )
    return float(value)


def _size(adversary: Any, name: str, least: int) -> int:
    value = getattr(adversary, name, None)
    if not isinstance(value, int) or value < least:
        raise UserError(
            f"{name}={value!r} of adversary {adversary.spec}: expected an integer of at least {least}."
        )
    return value


class _Table:
    """The rounds of a run, written down as they come; what the game reads of them is these arrays."""

    def __init__(self, adversary: Any, horizon: int, norm: float) -> None:
        self.sequence = blank(adversary, horizon)
        self.norm = norm
        self.who = f"adversary {adversary.spec}"
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
            row = real(x)
            legal = row.shape == self.features[t].shape and bool(np.isfinite(row).all())
            legal &= 0 <= label < self.sequence.n_labels and int(label) == label
        except Exception:  # whatever the objects of a user's class raise
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


class AdaptiveRun:
    """One run against an adaptive adversary, in progress; it advances as any other run does.

    Parameters
    ----------
    game : the game, whose sequence has the sizes only and whose ``feature_norm`` bounds the features
    adversary : who makes the rounds
    run : which stream of draws to use, from 0

    Raises
    ------
    LearnerError
        for an adversary that cannot begin
    """

    def __init__(self, game: Game, adversary: Any, run: int, *, interpreted: bool = False) -> None:
        self._table = _Table(adversary, game.sequence.horizon, game.problem.feature_norm)
        self._learner = game.learner
        self._opponent = call(
            adversary.begin, self._table.who, "begin", game.sequence.horizon, game.seed
        )
        self._run = Run(replace(game, sequence=self._table.sequence), run, interpreted=interpreted)
        self._action: int | None = None
        self._seen: int | None = None

    @property
    def position(self) -> int:
        """Rounds played so far."""
        return self._run.position

    @property
    def totals(self) -> FloatArray:
        """The sums that a run keeps."""
        return self._run.totals

    @property
    def sequence(self) -> Sequence:
        """The rounds that were played, as a sequence like any other, once all have been."""
        return self._table.finished()

    def advance(self, rounds: int, *, trace: bool = True) -> Block:
        """Play some more rounds and return them.

        Raises
        ------
        LearnerError
            for what the learner or the adversary does wrong
        """
        return _joined([self._next() for _ in range(rounds)])

    def _next(self) -> Block:
        t = self._run.position
        where = f"next of round {t}"
        given = call(self._opponent.next, self._table.who, where, self._action, self._seen)
        self._table.write(t, given)
        block = self._run.advance(1, trace=True)
        block.check(self._learner.spec)
        self._action = int(block.column(ACTION)[0])
        observed = block.column(OBSERVED)[0] > 0
        self._seen = int(self._table.sequence.labels[t]) if observed else None
        return replace(block, labels=block.labels.copy(), squared_norms=block.squared_norms.copy())


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
    played = AdaptiveRun(case.game, case.adversary, run, interpreted=interpreted)
    horizon = case.horizon
    blocks = [played.advance(min(BLOCK, horizon - first)) for first in range(0, horizon, BLOCK)]
    sequence = played.sequence
    comparator: Comparator = case.comparator
    if comparator.how != NAMED:
        comparator = fit(sequence, case.loss or SmoothHinge(), case.comparator_norm)
    norm = case.problem.feature_norm
    of_run = replace(case, sequence=sequence, comparator=comparator, feature_norm=norm, run=run)
    end = horizon if stop is None else min(stop, horizon)
    return of_run, (block.until(end) for block in blocks if block.start < end)


def _joined(blocks: list[Block]) -> Block:
    """Consecutive blocks as one."""
    names = ("columns", "labels", "squared_norms", "scores", "probabilities")
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(block, name) for block in blocks]) for name in names
    }
    steps = [block.steps for block in blocks if block.steps is not None]
    seen = Steps._make(np.concatenate(each) for each in zip(*steps, strict=True)) if steps else None
    return Block(blocks[0].start, **joined, steps=seen)
