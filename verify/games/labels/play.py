"""A game made ready, and its runs in progress, played in blocks of rounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Items
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ....adversaries.sequence import Sequence
from ....algorithms.boosting.boosting import Boosting
from ....algorithms.boosting.weak import Compiled
from ....algorithms.graphs import FeedbackGraph
from ....algorithms.horizon import Reading, watched
from ....algorithms.learner import DOUBLE, InPlay, Learner, Player, Problem
from ....arrays import FloatArray
from ....compiled import Kernel, Signature
from ....errors import LearnerError
from ..user_class import own_copy
from .loops.boosted import BOOSTED_FUNCTIONS, play_boosted
from .loops.plain import FUNCTIONS, no_gap, no_rewrite, no_surrogate, play_rounds
from .record import BLOCK, N_COLUMNS, TOTALS, Block, Steps, Votes


def game_generator(seed: int, run: int) -> np.random.Generator:
    """The generator of the uniforms of one run; the same whichever learner plays."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, run)))


def learner_generator(seed: int, run: int) -> np.random.Generator:
    """The generator of a learner's draws in one run, apart from the draws of the game."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2, run)))


def aligned_zeros(rows: int, columns: int) -> FloatArray:
    """Zeros of shape (rows, columns) from the start of a cache line on: vectors seldom cross two."""
    space = np.zeros(rows * columns + 8)
    start = -space.ctypes.data // 8 % 8
    return space[start : start + rows * columns].reshape(rows, columns)


@dataclass(frozen=True)
class Game:
    """A learner, a sequence and a feedback graph, ready to be played in any number of runs.

    Parameters
    ----------
    learner : who plays
    sequence : features and labels
    graph : feedback graph over the sequence's labels
    comparator_norm : bound on the norm of the comparators, for the learner's tuning
    seed : root of all randomness
    feature_norm : bound on the norm of the features that the learner is told; that of the sequence where None
    reading : whether the learner has read the horizon
    """

    learner: Learner
    sequence: Sequence
    graph: FeedbackGraph
    comparator_norm: float = 1.0
    seed: int = 0
    feature_norm: float | None = None
    reading: Reading = field(default_factory=Reading, compare=False, repr=False)

    @property
    def problem(self) -> Problem:
        """The problem as the learner is told it before play."""
        return Problem(
            self.graph,
            self.sequence.n_features,
            self.sequence.horizon,
            self.sequence.feature_norm if self.feature_norm is None else self.feature_norm,
            self.comparator_norm,
        )

    def player(self) -> Player:
        """The learner made ready for this game."""
        return self.learner.player(watched(own_copy(self.problem), self.reading))

    def play(
        self,
        run: int = 0,
        *,
        block: int = BLOCK,
        record: bool = True,
        trace: bool = False,
        interpreted: bool = False,
        stop: int | None = None,
    ) -> Iterator[Block]:
        """Play one run and yield its rounds in blocks.

        Raises :class:`LearnerError` for a learner that raises or whose probabilities are no distribution.

        Parameters
        ----------
        run : number of the run, from 0, which chooses the draws
        block : rounds in a block
        record : whether the columns of the blocks are filled (otherwise they are empty)
        trace : whether scores and probabilities are kept too
        interpreted : run the plain Python form of the loop, bit for bit the same
        stop : play this many rounds only; all of them when None
        """
        playing = Run(self, run, interpreted=interpreted)
        end = self.sequence.horizon if stop is None else min(stop, self.sequence.horizon)
        while playing.position < end:
            try:
                played = playing.advance(
                    min(block, end - playing.position), record=record, trace=trace
                )
                played.check(self.learner.spec)
            except LearnerError as error:
                raise LearnerError(f"run {run}: {error}") from error
            yield played


def _forms(
    kernels: Items[Kernel], signatures: Items[str | Signature], interpreted: bool
) -> tuple[Any, ...]:
    """The kernels as a loop of the game takes them: plain functions, or addresses where it is compiled."""
    if interpreted:
        return tuple(kernel.python for kernel in kernels)
    pairs = zip(kernels, signatures, strict=True)
    return tuple(kernel.address_as(signature) for kernel, signature in pairs)


class Run:
    """One run in progress.

    Attributes
    ----------
    position : rounds played so far
    weights, state, memory : those of the learner, which change in place
    totals : sums of the columns ``TOTALS``
    boosting : a booster in play, or None
    """

    def __init__(self, game: Game, run: int, *, interpreted: bool = False) -> None:
        self.game = game
        self.position = 0
        sequence, player = game.sequence, game.player()
        loss = player.declaration.loss
        n_labels = sequence.n_labels
        self.weights = aligned_zeros(sequence.n_features, n_labels)
        if player.weights is not None:
            self.weights[:] = player.weights
        self.state = player.state.copy()
        self.memory = np.zeros((0, 0, 0)) if player.memory is None else player.memory.copy()
        self.totals = np.zeros(len(TOTALS))
        self._parameters = player.parameters
        self._loss_parameters = loss.parameters(n_labels) if loss else np.zeros(1)
        self._uniforms = game_generator(game.seed, run)
        self._run = run
        self._observers = tuple(game.graph.in_neighbours)
        self._sequence = (
            sequence.indptr,
            sequence.indices.view(np.uint64),  # unsigned: no check for a negative index
            sequence.values,
            sequence.squared_norms,
            sequence.labels,
        )
        self.boosting: Boosting | None = player.boosting and player.boosting(
            self._dice, interpreted
        )
        if self.boosting is not None:
            self.state = self.boosting.memory.learners.ravel()
            self.memory = self.boosting.weak_arrays[1][None]
            interpreted = not self.boosting.is_compiled
        functions = (
            loss.gap if loss else no_gap,
            loss.surrogate if loss else no_surrogate,
            player.predict,
            player.update,
            player.rewrite or no_rewrite,
        )
        interpreted = interpreted or player.live is not None
        self._form = "python" if interpreted else "native"
        self._live: InPlay | None = None
        self._functions = _forms(functions, FUNCTIONS, interpreted)
        if player.live is not None:
            self._live = player.live(self._features, self.weights, self._dice)
            live = self._watched(self._live)
            self._functions = (*self._functions[:2], *live, no_rewrite.python)
        self._shown = -1, np.zeros(0)
        self._norms: list[float] = []
        self._units: list[float] = []
        self._after: list[FloatArray] = []

    @cached_property
    def _dice(self) -> np.random.Generator:
        return learner_generator(self.game.seed, self._run)  # most learners draw nothing

    def _features(self, t: int) -> FloatArray:
        """The features of round ``t``, shape (d,), kept for the round."""
        if self._shown[0] != t:
            self._shown = t, self.game.sequence.row(t)
        return self._shown[1]

    def _watched(self, live: InPlay) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """The functions of a learner in plain Python, with a look at its weights before and after the round."""

        flat = self.weights.ravel()

        def watched_predict(*arguments: Any) -> None:
            self._norms.append(math.sqrt(flat @ flat))
            live.predict(*arguments)
            self._units.append(live.unit)

        def watched_update(*arguments: Any) -> Any:
            moved = live.update(*arguments)
            x = self._features(self.position + len(self._after))
            self._after.append(x @ self.weights)
            return moved

        return watched_predict, watched_update

    def _steps(self, start: int) -> Steps:
        """What was seen of the weights in the rounds from ``start`` on."""
        sequence, end = self.game.sequence, start + len(self._norms)
        features = np.diff(sequence.indptr[start : end + 1])
        norms, after = np.array(self._norms), np.array(self._after)
        size = norms * np.sqrt(sequence.squared_norms[start:end])
        unit = np.array(self._units)
        rounding = 4 * (features + 2) * unit * size
        rounding += np.where(unit > DOUBLE, (self.game.graph.n_actions + 4) * unit, 0.0)
        found = Steps(rounding, norms, after, np.zeros_like(after))
        self._norms, self._units, self._after = [], [], []
        return found

    def advance(
        self,
        rounds: int,
        *,
        record: bool = True,
        trace: bool = False,
        uniforms: FloatArray | None = None,
    ) -> Block:
        """Play up to ``rounds`` more rounds and return them; the draws are those of the run's generator, or
        ``uniforms``, one a round."""
        sequence, graph = self.game.sequence, self.game.graph
        start = self.position
        n = min(rounds, sequence.horizon - start)
        columns = np.empty((n if record else 0, N_COLUMNS))
        scores = np.zeros((n if trace else 0, sequence.n_labels))
        probabilities = np.empty((n if trace else 0, graph.n_actions))
        draws = self._uniforms.random(n) if uniforms is None else uniforms
        votes: Votes | None = None
        if self.boosting is None:
            self._play(draws, columns, scores, probabilities)
        else:
            votes = Votes.room(self.boosting.memory, n if trace else 0)
            self._boost(self.boosting, draws, columns, probabilities, votes)
        self.position = start + n
        window = slice(start, self.position)
        return Block(
            start,
            columns,
            sequence.labels[window],
            sequence.squared_norms[window],
            scores,
            probabilities,
            votes,
            None if self._live is None else self._steps(start),
        )

    def _play(
        self,
        uniforms: FloatArray,
        columns: FloatArray,
        scores: FloatArray,
        probabilities: FloatArray,
    ) -> None:
        getattr(play_rounds, self._form)(
            *self._functions,
            self._sequence,
            self._observers,
            uniforms,
            self.position,
            self.weights,
            self._loss_parameters,
            self._parameters,
            self.state,
            self.memory,
            columns,
            scores,
            probabilities,
            self.totals,
        )

    def _boost(
        self,
        boosting: Boosting,
        uniforms: FloatArray,
        columns: FloatArray,
        probabilities: FloatArray,
        votes: Votes,
    ) -> None:
        sequence, n, crowd = self.game.sequence, len(uniforms), boosting.crowd
        functions: tuple[Any, ...] = boosting.functions
        if isinstance(crowd, Compiled) and boosting.is_compiled:
            kernels = (crowd.ask_kernel, crowd.tell_kernel, boosting.vote, boosting.assess)
            functions = _forms(kernels, BOOSTED_FUNCTIONS, interpreted=False)
        dice = self._dice.random((n, boosting.n_dice))
        played = getattr(play_boosted, self._form)(
            *functions,
            self._sequence,
            self._observers,
            uniforms,
            dice,
            boosting.n_asked,
            self.position,
            np.zeros(sequence.n_features),
            boosting.weak_arrays,
            tuple(boosting.memory),
            tuple(boosting.cache),
            columns,
            probabilities,
            tuple(votes),
            self.totals,
        )
        if played < n:  # to say what is wrong
            boosting.ask(sequence.row(self.position + played), dice[played, : boosting.n_asked])
            raise AssertionError("a label that is none was predicted, and none when asked again")
