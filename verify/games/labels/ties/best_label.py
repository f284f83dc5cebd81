"""Which label is the best one y*_t where scores tie: one choice in a run, and every claim reads it.

=========  =================================================================================
symbol     name here
=========  =================================================================================
tau        ``rounding`` of the block: scores that lie no further apart are tied
C_t        the tied labels with which line 10 gives the probabilities of the learner
gamma_t    ``rate``, min{1/2, gamma / sqrt(number of rounds so far with y* outside Q)}
=========  =================================================================================

The paper says argmax and names no label among ties, so each of them is right. The choice is made without y_t, by what
the learner played: y*_t is a label of C_t. A tie may matter for the number of rounds that line 5 counts, and then p_t
often does not tell: at W = 0 the smooth hinge has the gap 1, and p_t is uniform whichever label is best. The learner's
own count shows only where it explores next. So all counts that agree with the play so far are kept, and y*_1, ..., y*_T
are chosen once a single one is left, or the run is over: of all choices whose count agrees with the whole play, the
one with the lowest labels, earlier rounds first. Where C_t is empty, the label of the highest score is kept, and
``algorithm-1`` is refuted.

The kernels of the library are given the first of tied labels, and nothing is chosen for them. The choice needs loss,
rule, gamma and weights. Of a learner in plain Python that declares less the best label is the tied one that it plays
with the largest probability, and of these the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .....algorithms.gappletron import RULES
from .....algorithms.graphs import FeedbackGraph
from .....algorithms.losses import Hinge, Loss
from .....arrays import BoolArray, FloatArray, IntArray
from ..record import BEST, GAP, GRADIENT, LOSS, MARGIN, Block

CONFORMITY = 1e-12
"""Largest deviation of a float probability from the exact one."""

GAP_SLOPE = 2
"""Largest slope of a gap map in the margin."""


def gap_map(loss: Loss, scores: FloatArray, best: IntArray, margins: FloatArray) -> FloatArray:
    """The gap map in array form: the loss if the best label were the true one, at most 1."""
    counts = loss.counts_for_comparator(best, margins, best)
    return np.minimum(1.0, np.where(counts, loss.values(scores, best), 0.0))


def line_10(
    graph: FeedbackGraph, best: IntArray, gap: FloatArray, rate: FloatArray, uniform: BoolArray
) -> FloatArray:
    """Line 10 of Algorithm 1 with zeta given by ``uniform``, shape (rounds, actions)."""
    exploring = np.zeros(graph.n_actions)
    exploring[list(graph.dominating)] = 1 / graph.domination_number
    p = np.where(
        uniform[:, None],
        np.outer(gap, np.full(graph.n_actions, 1 / graph.n_actions)),
        np.outer(rate, exploring),
    )
    p[np.arange(len(best)), best] += 1 - np.where(uniform, gap, rate)
    return p


def mixture(graph: FeedbackGraph, best: IntArray, gap: FloatArray, rate: FloatArray) -> FloatArray:
    """The repaired line 10, which always explores the dominating set, shape (rounds, actions)."""
    labels = np.zeros(graph.n_actions)
    labels[: graph.n_labels] = 1 / graph.n_labels
    exploring = np.zeros(graph.n_actions)
    exploring[list(graph.dominating)] = 1 / graph.domination_number
    p = np.outer((1 - rate) * gap, labels) + np.outer(rate, exploring)
    p[np.arange(len(best)), best] += (1 - rate) * (1 - gap)
    return p


def deviation(
    case: Any,
    best: IntArray,
    gap: FloatArray,
    rate: FloatArray,
    played: FloatArray,
    room: FloatArray,
) -> FloatArray:
    """How far probabilities lie from those of the declared rule, shape (rounds,).

    Parameters
    ----------
    best, gap, rate : best label, gap map and gamma_t, each of shape (rounds,)
    played : the probabilities of the learner, shape (rounds, actions)
    room : bound on the rounding of the learner's gap map, shape (rounds,)
    """
    graph, rule = case.graph, case.declaration.get("rule")
    if rule == "mixture":
        found = np.abs(played - mixture(graph, best, gap, rate)).max(axis=1)
    else:
        threshold = rate
        if rule == "threshold":
            threshold = graph.n_actions / graph.domination_number * rate
        even = threshold <= gap
        first = np.abs(played - line_10(graph, best, gap, rate, even)).max(axis=1)
        # at equality up to rounding either value of zeta is right
        other = np.abs(played - line_10(graph, best, gap, rate, ~even)).max(axis=1)
        tied = np.abs(threshold - gap) <= CONFORMITY + room
        found = np.where(tied, np.minimum(first, other), first)
    return np.where(np.isnan(gap), np.nan, found)  # exploring gives numbers without it


def is_open(case: Any) -> bool:
    """True for a learner that decides for itself which of tied labels is best, and declares how it plays."""
    declared = case.declaration
    named = declared.loss is not None and None not in (declared.get("gamma"), declared.get("rule"))
    return bool(named and declared.weights and case.player.predict not in RULES.values())


def settled(case: Any, blocks: Iterator[Block]) -> Iterator[Block]:
    """The blocks of a whole run, with scores and probabilities, after the best label of each round is chosen."""
    if not is_open(case):
        shown = case.declaration.weights
        yield from (_likeliest(case, block) if shown and block.steps else block for block in blocks)
        return
    choice = _Choice(case)
    for block in blocks:
        choice.see(block)
        if choice.is_sure:
            yield from choice.made()
    yield from choice.made()


def _tied(block: Block) -> BoolArray:
    """The labels with a score within tau of the highest, shape (rounds, K)."""
    highest = block.scores.max(axis=1)
    return np.asarray(block.scores >= (highest - block.rounding)[:, None])


def _likeliest(case: Any, block: Block) -> Block:
    """The block with the likeliest of tied labels as the best ones."""
    played = np.where(_tied(block), block.probabilities[:, : case.n_labels], -1.0)
    best, margins = played.argmax(axis=1), block.column(MARGIN)
    likelier = played.max(axis=1) > played[np.arange(len(block)), block.best]
    changed: list[int] = np.flatnonzero(likelier).tolist()
    return _rewritten(block, case.loss, {i: (int(best[i]), float(margins[i])) for i in changed})


Option = tuple[int, float, int]
"""A label that may be best, its margin, and the counts with which it agrees with the play, this round counted. A set of
counts is an integer: bit n is set if n is one of them."""


class _Choice:
    """The rounds of a run whose best label is not chosen yet.

    Attributes
    ----------
    counts : those that agree with all rounds so far
    """

    def __init__(self, case: Any) -> None:
        self.case, self.counts = case, 1
        self._before = 0
        self._explores: IntArray = (~case.revealing_mask[: case.n_labels]).astype(np.int64)
        self._open: list[tuple[Block, dict[int, list[Option]]]] = []

    @property
    def is_sure(self) -> bool:
        """True if a single count is left."""
        return self.counts & (self.counts - 1) == 0

    def see(self, block: Block) -> None:
        """Take in the next rounds."""
        margins, tied = block.column(MARGIN), _tied(block)
        unsure = tied.sum(axis=1) > 1
        if isinstance(self.case.loss, Hinge):
            unsure |= np.abs(margins - self.case.loss.threshold) <= block.rounding
        steps, i = self._explores[block.best], 0
        options: dict[int, list[Option]] = {}
        while i < len(block):
            if unsure[i] or not self.is_sure:
                options[i] = self._options(block, i, np.flatnonzero(tied[i]).tolist())
                self.counts = 0
                for _, _, counts in options[i]:
                    self.counts |= counts
                i += 1
            else:
                sure = int(np.argmax(unsure[i:])) if unsure[i:].any() else len(block) - i
                self.counts <<= int(steps[i : i + sure].sum())
                i += sure
        self._open.append((block, options))

    def _options(self, block: Block, i: int, tied: list[int]) -> list[Option]:
        margin = float(block.columns[i, MARGIN])
        found = []
        for label in tied:
            for each in _margins(self.case.loss, margin, float(block.rounding[i])):
                counts = self._fitting(block, i, label, each)
                if counts:
                    found.append((label, each, counts))
        best = int(block.best[i])
        return found or [(best, margin, self.counts << int(self._explores[best]))]

    def _fitting(self, block: Block, i: int, label: int, margin: float) -> int:
        """The counts with which a label gives the probabilities of the round."""
        case, declared = self.case, self.case.declaration
        counts, room = self.counts << int(self._explores[label]), GAP_SLOPE * block.rounding[i]
        labels = np.array([label])
        gap = gap_map(case.loss, block.scores[i : i + 1], labels, np.array([margin]))

        def fits(some: list[int]) -> int:
            n, rate = len(some), np.zeros(len(some))
            if self._explores[label]:
                rate = np.minimum(0.5, declared["gamma"] / np.sqrt(np.maximum(some, 1)))
            played = np.tile(block.probabilities[i], (n, 1))
            far = deviation(
                case, np.repeat(labels, n), np.repeat(gap, n), rate, played, np.full(n, room)
            )
            return _set_of([k for k, d in zip(some, far, strict=True) if d <= CONFORMITY + room])

        # up to ``cap`` gamma_t is 1/2, and from ``even`` on the gap is spread: there one count stands for all
        last, found = counts.bit_length(), 0
        cap, even = last, last
        if self._explores[label]:
            cap = min(last, int(4 * declared["gamma"] ** 2))
            share = 1.0
            if declared["rule"] == "threshold":
                share = case.graph.n_actions / case.graph.domination_number
            reach = float(gap[0]) - 2 * (CONFORMITY + room)
            if declared["rule"] != "mixture" and reach > 0:
                even = min(last, int((share * declared["gamma"] / reach) ** 2) + 2)
                even = 0 if share / 2 < reach else even
        for low, high in ((0, min(cap, even)), (even, last)):
            some = counts & ((1 << high) - (1 << low)) if high > low else 0
            if some and fits([max(low, 1)]):
                found |= some
        rest = counts & ((1 << even) - (1 << cap)) if even > cap else 0
        return found | (fits(_members(rest)) if rest else 0)

    def made(self) -> Iterator[Block]:
        """The rounds taken in since the last call, with the best labels that are chosen now."""
        counts = self.counts
        for block, options in reversed(self._open):  # keep what agrees with the later rounds too
            steps, end = self._explores[block.best], len(block)
            for i in sorted(options, reverse=True):
                counts >>= int(steps[i + 1 : end].sum())
                options[i] = [(k, m, n & counts) for k, m, n in options[i] if n & counts]
                counts, end = 0, i
                for label, _, each in options[i]:
                    counts |= each >> int(self._explores[label])
            counts >>= int(steps[:end].sum())
        count = self._before
        for block, options in self._open:
            steps, start, chosen = self._explores[block.best], 0, {}
            for i in sorted(options):
                count += int(steps[start:i].sum())
                label, margin = next(
                    (k, m) for k, m, n in options[i] if (n >> (count + int(self._explores[k]))) & 1
                )
                count, start = count + int(self._explores[label]), i + 1
                chosen[i] = label, margin
            count += int(steps[start:].sum())
            yield _rewritten(block, self.case.loss, chosen)
        self._open, self._before, self.counts = [], count, 1 << count


def _set_of(members: list[int]) -> int:
    found = 0
    for n in members:
        found |= 1 << n
    return found


def _members(counts: int) -> list[int]:
    found = []
    while counts:
        lowest = counts & -counts
        found.append(lowest.bit_length() - 1)
        counts ^= lowest
    return found


def _margins(loss: Loss, margin: float, rounding: float) -> list[float]:
    """The margin of the best label; for the hinge loss, which jumps at kappa, also one on the other side if the
    learner may see it there."""
    if not isinstance(loss, Hinge) or not abs(margin - loss.threshold) <= rounding:
        return [margin]
    below = float(np.nextafter(loss.threshold, -np.inf))
    return [margin, loss.threshold if margin < loss.threshold else below]


def _rewritten(block: Block, loss: Loss | None, chosen: dict[int, tuple[int, float]]) -> Block:
    """The block with other best labels in some rounds, and what depends on them."""
    rows = [i for i in chosen if chosen[i] != (block.best[i], block.columns[i, MARGIN])]
    if not rows:
        return block
    columns, scores, labels = block.columns.copy(), block.scores[rows], block.labels[rows]
    best = np.array([chosen[i][0] for i in rows])
    margins = np.array([chosen[i][1] for i in rows])
    columns[rows, BEST], columns[rows, MARGIN] = best, margins
    if loss is None:
        return replace(block, columns=columns)
    counts = loss.counts_for_comparator(best, margins, labels)
    squares = np.square(loss.gradients(scores, labels)).sum(axis=1) * block.squared_norms[rows]
    columns[rows, GAP] = gap_map(loss, scores, best, margins)
    columns[rows, LOSS] = np.where(counts, loss.values(scores, labels), 0.0)
    columns[rows, GRADIENT] = np.where(counts, squares, 0.0)
    return replace(block, columns=columns)
