"""A case of the label game: a learner, a sequence, a feedback graph and a comparator, with everything resolved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np

from ....adversaries.sequence import NAMED, Comparator
from ....adversaries.sequence import Sequence as Labelled
from ....algorithms import optimisers
from ....algorithms.graphs import FeedbackGraph
from ....algorithms.horizon import Reading
from ....algorithms.learner import Declaration, Learner, Player, Problem
from ....algorithms.losses import Hinge, Loss, SmoothHinge, margins
from ....arrays import BoolArray, FloatArray
from ....errors import require
from ...setting import Setting
from . import adaptive
from .branches import Round, enumerated
from .compared.chosen import Chosen, Side
from .compared.exact import is_within, separates
from .compared.fit import Regret
from .play import Game, Run, game_generator
from .rounds import Rounds
from .run_sums import RunSums, add_up
from .ties import best_label, subgradient


def digits(value: Any) -> Any:
    """Twelve digits of a number: what is computed with logarithms may differ in the last one elsewhere."""
    return value if isinstance(value, str) else f"{value:.12g}"


@dataclass(frozen=True)
class Case:
    """A resolved case.

    Attributes
    ----------
    setting : where it came from
    learner, adversary, graph, sequence : what is played; against an adaptive adversary ``sequence`` has the sizes only,
        and each run has a case of its own
    comparator : whom the learner competes with
    comparator_norm : bound B on the norm of the comparator, known to the learner
    seed : root of all randomness
    feature_norm : bound on the norm of the features that the learner is told; that of the sequence where None
    run : the run that this case is about, against an adaptive adversary
    reading : whether the learner has read the horizon in any run
    may_refit : whether statements about all comparators may try others; not in a certificate, which names one
    kept : what claims keep of this case for one another
    """

    setting: Setting
    learner: Learner
    adversary: Any
    graph: FeedbackGraph
    sequence: Labelled
    comparator: Comparator
    comparator_norm: float
    seed: int
    feature_norm: float | None = None
    run: int | None = None
    reading: Reading = field(default_factory=Reading, repr=False, compare=False)
    may_refit: bool = True
    kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    game_name: ClassVar[str] = "labels"

    @property
    def horizon(self) -> int:
        """T."""
        return self.sequence.horizon

    @property
    def is_adaptive(self) -> bool:
        """True for an adversary that sees the actions played."""
        return adaptive.is_adaptive(self.adversary)

    @cached_property
    def game(self) -> Game:
        """The game to be played."""
        return Game(
            self.learner,
            self.sequence,
            self.graph,
            self.comparator_norm,
            self.seed,
            self.feature_norm,
            self.reading,
        )

    @cached_property
    def is_tuned_to_horizon(self) -> bool:
        """True for a learner that reads T before the first round."""
        reading = Reading()
        Run(replace(self.game, reading=reading), 0, interpreted=True)
        return reading.happened

    @property
    def has_read_horizon(self) -> bool:
        """True if the learner has read T in any of the runs so far."""
        return self.reading.happened

    @property
    def problem(self) -> Problem:
        """The problem as the learner is told it."""
        return self.game.problem

    @cached_property
    def player(self) -> Player:
        """The learner made ready, to be looked at; every run makes its own."""
        return self.game.player()

    @cached_property
    def declaration(self) -> Declaration:
        """The declaration of the learner, from which envelopes are computed."""
        return self.player.declaration

    @property
    def loss(self) -> Loss | None:
        """The learner's surrogate loss."""
        return self.declaration.loss

    @property
    def loss_spec(self) -> str | None:
        """Spec of the learner's surrogate loss, where it has one."""
        return None if self.loss is None else self.loss.spec

    @property
    def loss_name(self) -> str:
        """The same in words."""
        return self.loss_spec or "none"

    @property
    def n_labels(self) -> int:
        """K."""
        return self.graph.n_labels

    def against(self, comparator: Comparator) -> Case:
        """The same case with this comparator, and no other."""
        named = Comparator(comparator.weights, NAMED, comparator.fractions)
        return replace(self, comparator=named, may_refit=False)

    def comparator_written(self, rows: list[list[str]]) -> Comparator:
        """The comparator that a certificate names.

        Raises
        ------
        UserError
            for one of another shape, or outside the ball of radius B, in exact arithmetic
        """
        found = Comparator(np.array([[float.fromhex(u) for u in row] for row in rows]), NAMED)
        found.check(self.sequence)
        require(
            is_within(found.weights, self.comparator_norm),
            f"the comparator of the certificate has norm {found.norm!r}: expected at most {self.comparator_norm!r}.",
        )
        return found

    @cached_property
    def regret_factor(self) -> Callable[[float], float]:
        """h of guarantee (4) as a function of the norm of U: that of the optimiser that the learner names, if what it
        declares is the h of that at the norm B; the declared number otherwise."""
        declared, bound = float(self.declaration["regret_factor"]), self.comparator_norm
        optimiser = optimisers.NAMES.get(self.declaration.get("optimiser", ""))
        known = None if optimiser is None else optimiser.regret_factor(bound, bound)
        if optimiser is None or known is None or not math.isclose(declared, known, rel_tol=1e-9):
            return lambda norm: declared
        factor = optimiser.regret_factor
        return lambda norm: factor(bound, norm) or declared

    def digest(self) -> str:
        """SHA-256 of the sequence; of its sizes and the adversary's spec where it is adaptive."""
        if self.is_adaptive and self.run is None:
            sizes = (self.horizon, self.sequence.n_features, self.n_labels, self.seed)
            return sha256(f"{self.setting.label('adversary')} {sizes}".encode()).hexdigest()
        return self.sequence.digest()

    def draws(self, run: int) -> list[float]:
        """The first of what is drawn in a run."""
        found: list[float] = game_generator(self.seed, run).random(3).tolist()
        return found

    @property
    def resolved(self) -> dict[str, Any]:
        """Numbers that follow from the setting before any round, for certificates."""
        graph, declared = self.graph, self.declaration
        return {
            "comparator_norm": self.comparator_norm,
            "first_draws": self.draws(0),
            "actions": graph.n_actions,
            "observes": sha256(graph.observes.tobytes()).hexdigest(),
            "loss": self.loss_spec,
            "declared": {name: digits(declared[name]) for name in sorted(declared)},
        }

    @cached_property
    def reads_features(self) -> bool:
        """True for a learner that computes scores from the features itself, not from the game's scores."""
        return self.player.live is not None or self.player.boosting is not None

    @cached_property
    def smoothness(self) -> float:
        """L of condition (3) for this sequence."""
        assert self.loss is not None
        return self.loss.smoothness(self.problem.feature_norm, self.n_labels)

    @cached_property
    def revealing_mask(self) -> BoolArray:
        """Mask of the revealing actions, shape (actions,)."""
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
        """True if the comparator has margin at least 1 in every round, in exact arithmetic, and so loss
        zero under the losses of hinge type."""
        if not isinstance(self.loss, SmoothHinge | Hinge) or self.comparator.fractions is None:
            return False
        return separates(self.sequence, self.comparator.fractions)

    def with_fresh_sequence(self, run: int) -> Case:
        """The same case on a sequence of the run's own, for statements whose probability is over the
        sequence too; that of run 0 is the case's."""
        if run == 0 or self.is_adaptive:
            return self
        words = np.random.SeedSequence(self.seed, spawn_key=(3, run)).generate_state(4)
        seed = int.from_bytes(words.tobytes(), "little")
        return replace(self, sequence=self.adversary.sequence(self.horizon, seed))

    def play(
        self, run: int, *, interpreted: bool = False, stop: int | None = None, trace: bool = True
    ) -> Iterator[Rounds]:
        """Play one run, up to round ``stop`` if given, and yield its rounds in blocks; with scores and
        probabilities if ``trace``. What is best where scores tie may only show later, so a run is played on until
        it does. One that is stopped is for a certificate, which names its comparator."""
        case, end, last = self, self.horizon, None
        if stop is not None:
            case, end = replace(self, may_refit=False), stop
            last = None if best_label.is_open(self) else stop
        trace = trace or best_label.is_open(self) or self.player.live is not None
        if self.is_adaptive:
            case, blocks = adaptive.play(case, run, interpreted=interpreted, stop=last)
        else:
            blocks = self.game.play(run, trace=trace, interpreted=interpreted, stop=last)
        rounds: Rounds | None = None
        for block in subgradient.explained(case, best_label.settled(case, blocks)):
            if block.start >= end:
                break
            rounds = Rounds.after(rounds, case, block.until(end))
            yield rounds

    def totals_at(
        self, marks: Sequence[int], runs: range, *, interpreted: bool = False, fresh: bool = False
    ) -> list[RunSums]:
        """Play the given runs, in order, and add each up after some numbers of rounds.

        Claims about the same case share its runs. With ``fresh`` every run has a sequence of its own.
        """
        found = []
        for run in runs:
            key = ("sums", fresh, run, tuple(marks))
            if key not in self.kept:
                case = self.with_fresh_sequence(run) if fresh else self
                played = case.play(run, trace=False, interpreted=interpreted)
                plain = interpreted or self.player.live is not None
                chosen = None if fresh else self._chosen(interpreted)
                self.kept[key] = add_up(played, marks, chosen, interpreted=plain)
            found.append(self.kept[key])
        return RunSums.of(marks, np.stack(found))

    def _chosen(self, interpreted: bool) -> Chosen | None:
        """The comparators whose losses depend on the run, where they do; the others need no run."""
        depend = isinstance(self.loss, Hinge) and not self.is_adaptive
        return Chosen.of(self, interpreted) if depend else None

    def compared(self, totals: RunSums, regret: Regret | None = None) -> Side:
        """What the right side of a statement about means or probabilities holds of the comparator that makes it small,
        its loss and a regret term, chosen by the sequence alone."""
        side = Chosen.of(self).side(totals.rounds, totals.tried, regret)
        return side if totals.tried.size else replace(side, loss=np.repeat(side.loss, totals.runs))

    def parts(self, runs: int) -> Iterator[range]:
        """All runs at once."""
        yield range(runs)

    def branches(self, run: int, *, interpreted: bool = False) -> list[tuple[int, Round]]:
        """All branches of some rounds of a run; claims about a case share them."""
        key = ("branches", run)
        if key not in self.kept:
            self.kept[key] = enumerated(self.game, run, interpreted=interpreted)
        found: list[tuple[int, Round]] = self.kept[key]
        return found
