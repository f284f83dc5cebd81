"""A case is a learner, an environment, a graph and a comparator with everything resolved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....adversaries.crafted import Alternation, CraftedScores
from ....adversaries.sequence import Comparator, Sequence
from ....algorithms.graphs import FeedbackGraph
from ....algorithms.learner import Declaration, Learner, Player, Problem
from ....algorithms.losses import Hinge, Loss, SmoothHinge, margins
from ....arrays import FloatArray
from .comparators import separates
from .play import Game, game_stream
from .record import BEST, MARGIN, Block


def digits(value: float | None) -> str | None:
    """Twelve digits: what is computed with logarithms may differ in the last one elsewhere."""
    return None if value is None else f"{value:.12g}"


@dataclass(frozen=True)
class Setting:
    """A case before it is resolved: names with parameters, as the command line takes them.

    Attributes
    ----------
    learner : spec of a learner, or a learner
    adversary : spec of an adversary, or an adversary
    graph : spec of a feedback graph
    horizon : rounds; None for as many as recorded data, or an adversary that knows its own, have
    radius : bound on the comparator's norm; None for the norm of the planted comparator, or 1 without one
    replicates : how many streams of draws are played
    """

    learner: Any
    adversary: Any
    graph: str
    horizon: int | None
    radius: float | None = None
    replicates: int = 4

    def label(self, part: str) -> str:
        """The spec of the learner, adversary or graph."""
        value = getattr(self, part)
        return value if isinstance(value, str) else str(value.spec)

    @property
    def key(self) -> str:
        """The whole setting as one line."""
        parts = [self.label("learner"), self.label("adversary"), self.graph]
        parts.append(f"T={self.horizon or 'all'}")
        if self.radius is not None:
            parts.append(f"B={self.radius:g}")
        return " | ".join(parts)


@dataclass(frozen=True)
class Case:
    """A resolved case.

    Attributes
    ----------
    setting : where it came from
    learner, adversary, graph, sequence : what is played
    comparator : whom the learner competes with; it lies in the ball of radius ``radius``
    radius : bound on the comparator's norm, known to the learner
    seed : root of all randomness
    played : sums of the replicates that were played already, at their checkpoints (ledger.py)
    enumerated : rounds of the replicates whose actions were enumerated already
    kept : what claims keep of this case for one another, by what it is and the replicate
    """

    setting: Setting
    learner: Learner
    adversary: Any
    graph: FeedbackGraph
    sequence: Sequence
    comparator: Comparator
    radius: float
    seed: int
    played: dict[int, FloatArray] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    enumerated: dict[int, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    kept: dict[tuple[str, int], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def game(self) -> Game:
        """The game to be played."""
        return Game(self.learner, self.sequence, self.graph, self.radius, self.seed)

    @property
    def problem(self) -> Problem:
        """What the learner is told."""
        return self.game.problem

    @cached_property
    def player(self) -> Player:
        """The learner made ready, to be looked at; every replicate makes its own."""
        return self.game.player()

    @cached_property
    def declaration(self) -> Declaration:
        """What the learner declares; envelopes are computed from this."""
        return self.player.declaration

    @property
    def loss(self) -> Loss | None:
        """The learner's surrogate loss."""
        return self.declaration.loss

    @property
    def loss_name(self) -> str:
        """Spec of the learner's surrogate loss."""
        return "none" if self.loss is None else self.loss.spec

    @property
    def is_crafted(self) -> bool:
        """Whether the sequence was made to refute what can be refuted."""
        return isinstance(self.adversary, CraftedScores | Alternation)

    @property
    def n_labels(self) -> int:
        """K."""
        return self.graph.n_labels

    @property
    def uniform_size(self) -> int:
        """Size of the set that the gap map's uniform part covers: the labels under the mixture rule,
        all actions under the others (they differ in label-efficient graphs only)."""
        mixture = self.declaration.rule == "mixture"
        return self.graph.n_labels if mixture else self.graph.n_actions

    def digest(self) -> str:
        """SHA-256 of the sequence."""
        return self.sequence.digest()

    def draws(self, replicate: int) -> list[float]:
        """The first of what is drawn in a replicate."""
        found: list[float] = game_stream(self.seed, replicate).random(3).tolist()
        return found

    @property
    def resolved(self) -> dict[str, Any]:
        """What follows from the setting before any round, for certificates."""
        graph, declared = self.graph, self.declaration
        return {
            "ball": self.radius,
            "first_draws": self.draws(0),
            "actions": graph.n_actions,
            "observes": sha256(graph.observes.tobytes()).hexdigest(),
            "loss": None if declared.loss is None else declared.loss.spec,
            "gamma": digits(declared.gamma),
            "regret_factor": digits(declared.regret_factor),
            "delta": digits(declared.delta),
        }

    @cached_property
    def reads_features(self) -> bool:
        """Whether the learner computes scores itself, in an order of its own, and not from the game's."""
        return self.player.live is not None or self.player.boosting is not None

    @cached_property
    def smoothness(self) -> float:
        """L of condition (3) for this sequence."""
        assert self.loss is not None
        return self.loss.smoothness(self.sequence.feature_norm, self.n_labels)

    @cached_property
    def revealing_mask(self) -> NDArray[np.bool_]:
        """Which actions are revealing, shape (actions,)."""
        mask = np.zeros(self.graph.n_actions, dtype=bool)
        mask[list(self.graph.revealing)] = True
        return mask

    @cached_property
    def comparator_losses(self) -> FloatArray:
        """Loss of the comparator in each round, shape (T,), where it counts."""
        assert self.loss is not None
        return self.loss.values(self.comparator.scores(self.sequence), self.sequence.labels)

    @cached_property
    def comparator_hinge(self) -> FloatArray:
        """Multiclass hinge loss max{0, 1 - margin} of the comparator in each round, shape (T,), whatever
        the learner's loss is."""
        m, _ = margins(self.comparator.scores(self.sequence), self.sequence.labels)
        return np.maximum(0.0, 1.0 - m)

    def hinge_until(self, rounds: int) -> float:
        """Sum of the comparator's hinge losses in the first ``rounds`` rounds."""
        return float(self.comparator_hinge[:rounds].sum())

    @cached_property
    def separates_exactly(self) -> bool:
        """Whether the comparator has margin at least 1 in every round, in exact arithmetic, and so loss
        zero under the losses of hinge type."""
        if not isinstance(self.loss, SmoothHinge | Hinge) or self.comparator.fractions is None:
            return False
        return separates(self.sequence, self.comparator.fractions)

    def with_fresh_sequence(self, replicate: int) -> Case:
        """The same case on a sequence of the replicate's own, for statements whose probability is over the
        sequence too; that of replicate 0 is the case's."""
        if replicate == 0:
            return self
        words = np.random.SeedSequence(self.seed, spawn_key=(3, replicate)).generate_state(4)
        seed = int.from_bytes(words.tobytes(), "little")
        sequence = self.adversary.sequence(self.sequence.horizon, seed)
        return replace(self, sequence=sequence)

    def replicate(
        self,
        index: int,
        *,
        interpreted: bool = False,
        stop: int | None = None,
        trace: bool = True,
    ) -> Iterator[Rounds]:
        """Play one replicate, up to round ``stop`` if given, and yield its rounds in blocks; with
        scores and probabilities if ``trace``."""
        running: dict[str, _Sum] = {}
        counter = 0
        for block in self.game.play(index, trace=trace, interpreted=interpreted, stop=stop):
            rounds = Rounds(self, block, counter, running)
            yield rounds
            counter = int(rounds.counters[-1])


@dataclass
class _Sum:
    """A compensated running sum (Neumaier) and the running sum of its absolute terms."""

    total: float = 0.0
    correction: float = 0.0
    magnitude: float = 0.0

    def add(self, term: float, magnitude: float) -> None:
        new = self.total + term
        if abs(self.total) >= abs(term):
            self.correction += (self.total - new) + term
        else:
            self.correction += (term - new) + self.total
        self.total = new
        self.magnitude += magnitude


@dataclass(frozen=True)
class Rounds:
    """A block of rounds with what claims need beside it."""

    case: Case
    block: Block
    counter_before: int
    running: dict[str, _Sum] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.block)

    def column(self, index: int) -> FloatArray:
        """One recorded column, shape (rounds,)."""
        return self.block.column(index)

    @property
    def window(self) -> slice:
        """These rounds within the sequence."""
        return slice(self.block.start, self.block.start + len(self.block))

    @property
    def played(self) -> NDArray[np.int64]:
        """How many rounds of the replicate were played up to and including each of these."""
        return np.arange(self.window.start + 1, self.window.stop + 1)

    @cached_property
    def explores(self) -> NDArray[np.bool_]:
        """Rounds whose best label is not revealing: those that Gappletron counts."""
        return ~self.case.revealing_mask[self.block.best]

    @cached_property
    def counters(self) -> NDArray[np.int64]:
        """Number of counted rounds up to and including each round."""
        return self.counter_before + np.cumsum(self.explores, dtype=np.int64)

    @cached_property
    def nominal_rates(self) -> FloatArray:
        """gamma_t as the paper defines it for the declared gamma: min{1/2, gamma / sqrt(counter)},
        whatever the learner did; before the first counted round 1/2."""
        gamma = self.case.declaration.gamma
        assert gamma is not None
        return np.minimum(0.5, gamma / np.sqrt(np.maximum(self.counters, 1)))

    @cached_property
    def rates(self) -> FloatArray:
        """gamma_t: the nominal rate in counted rounds, 0 in the others."""
        return np.where(self.explores, self.nominal_rates, 0.0)

    @cached_property
    def gap_rounding(self) -> FloatArray:
        """Bound on how far the learner's gap map may lie from that of the game's scores, shape (rounds,).

        It is 0 for a learner that is given the scores. One that computes ``W @ x`` adds in another order:
        with n nonzero features each score is off by at most n 2^-53 |W||x|, a margin by twice that in either
        order, and the gap maps have slopes of at most 2. |W| is at most B in the ball; for a learner that
        leaves it, the scores stand in for |W||x|.
        """
        if not self.case.reads_features:
            return np.zeros(len(self))
        sequence, scores = self.case.sequence, np.abs(self.block.scores).max(axis=1)
        features = np.diff(sequence.indptr[self.window.start : self.window.stop + 1])
        size = np.maximum(self.case.radius * np.sqrt(self.block.squared_norms), scores)
        return np.asarray(8 * (features + 2) * 2.0**-53 * size)

    @cached_property
    def comparator_losses(self) -> FloatArray:
        """Loss of the comparator in each round; for the hinge loss it depends on the learner."""
        loss = self.case.loss
        assert loss is not None
        counts = loss.counts_for_comparator(
            self.column(BEST).astype(np.int64), self.column(MARGIN), self.block.labels
        )
        return np.where(counts, self.case.comparator_losses[self.window], 0.0)

    def prefix_sums(self, name: str, terms: FloatArray) -> FloatArray:
        """Sums of ``terms`` from the first round of the replicate to each of these rounds.

        Between blocks the sum is compensated; ``name`` tells the sums of one claim apart.
        """
        total = self.running.setdefault(name, _Sum())
        sums = (total.total + total.correction) + np.cumsum(terms)
        total.add(float(np.sum(terms)), float(np.sum(np.abs(terms))))
        return sums

    def magnitude(self, *names: str) -> float:
        """Sum of the absolute terms of the named sums so far, for rounding bounds."""
        return sum(self.running[name].magnitude for name in names)
