"""A booster in play: two kernels that combine what the weak learners predict, and say what it cost.

``vote`` turns the labels that the weak learners predict into probabilities, and ``assess`` turns what was revealed into
a cost vector with a weight for each of them. The weak learners are asked and told by whoever plays: by the compiled
loop of the game if they are :class:`~boundcheck.algorithms.boosting.weak.Compiled`, and in plain Python otherwise.

:class:`Boosting` also has the methods of a plain learner: ``predict(x)`` gives the probabilities of the labels,
conditional on what the booster drew for itself, and ``update(x, action, label)`` learns from a round, the label being
None where it was not revealed. Numbers are drawn once a round, by ``predict``, those of the weak learners first, and
what they decided is kept for ``update``. All weak learners predict before the label is drawn.

===========  =====================================================================
symbol       name here
===========  =====================================================================
N            ``n_learners``
WL^i         ``crowd``, all of them
l^i_t        ``labels``, shape (N,)
s^i_t        row i of ``scores``; ``before`` and ``after`` are those of the votes
===========  =====================================================================
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ...arrays import FloatArray, IntArray
from ...compiled import INT, INT_VECTOR, MATRIX, VECTOR, Kernel, Signature, helper
from ...errors import LearnerError
from ..learner import UNSEEN, Problem
from .cache import CACHE, no_cache
from .estimates import check_rate, estimate_losses
from .weak import Compiled, Setting, WeakLearner, check_costs

ROUND, BEST, FOLLOWED, EXPERTS = 0, 1, 2, 3
"""Slots of ``counts``: rounds so far, the label that wins, the expert that is followed, the labels of all experts."""

ALPHA, EXPERT_LOSS, SCALE = 0, 1, 2
"""Rows of ``learners``: weight of the vote, loss so far of the expert, and what the weight of a cost is divided by."""

RHO, REVEALED, LEARNS, RANDOM, HEDGE, STEP = 0, 1, 2, 3, 4, 5
"""Slots of ``parameters``: the exploration rate; whether labels are revealed, weak learners learn and ties are drawn;
the rate of Hedge; the first step of the weights, 0 for that of the paper."""


class Generator(Protocol):
    """A source of numbers in [0, 1)."""

    def random(self, size: int, /) -> FloatArray:
        """Draw ``size`` of them."""


class Parameters(Protocol):
    """The parameters of a booster, as far as it takes to play it; :class:`~.booster.Booster` has the words."""

    @property
    def weak(self) -> WeakLearner: ...

    @property
    def learners(self) -> int: ...

    @property
    def ties(self) -> str: ...

    def check(self, problem: Problem) -> None: ...

    def numbers(self, problem: Problem) -> dict[str, float]: ...

    def crowd_setting(self, problem: Problem, seeds: tuple[int, ...] = ()) -> Setting: ...


class Memory(NamedTuple):
    """The arrays of a booster in play, in the order in which its kernels take them.

    Attributes
    ----------
    parameters : numbers that do not change, slots as above
    labels : labels that the weak learners predict, shape (N,)
    scores : row i has the votes of the first i weak learners, shape (N + 1, k)
    learners : numbers of each weak learner, rows as above, shape (3, N)
    counts : integers, slots as above, shape (3 + N,)
    losses : loss of each label, or its estimate, shape (k,)
    p : probabilities of the labels, shape (k,)
    costs, weights : what the weak learners are told, shapes (N, k) and (N,)
    """

    parameters: FloatArray
    labels: IntArray
    scores: FloatArray
    learners: FloatArray
    counts: IntArray
    losses: FloatArray
    p: FloatArray
    costs: FloatArray
    weights: FloatArray


MEMORY = {
    "parameters": VECTOR,
    "labels": INT_VECTOR,
    "scores": MATRIX,
    "learners": MATRIX,
    "counts": INT_VECTOR,
    "losses": VECTOR,
    "p": VECTOR,
    "costs": MATRIX,
    "weights": VECTOR,
}
VOTE = Signature("void", dice=VECTOR, **MEMORY)
"""Numbers from [0, 1), memory (labels read, the rest filled up to ``p``)."""

ASSESS = Signature("void", action=INT, label=INT, **MEMORY, **CACHE)
"""Action, label or UNSEEN, memory (losses, costs and weights filled, the learners' numbers changed), cache."""


@helper
def highest(scores: FloatArray, die: float, at_random: bool) -> int:
    """The label with the highest score: the lowest one, or one drawn with a number in [0, 1)."""
    best, most, level = 0, scores[0], 1
    for label in range(1, scores.shape[0]):
        if scores[label] > most:
            best, most, level = label, scores[label], 1
        elif scores[label] == most:
            level += 1
    if at_random and level > 1:
        passed = 0
        for label in range(best, scores.shape[0]):
            if scores[label] == most:
                best = label
                passed += 1
                if die * level < passed:
                    break
    return best


@helper
def assess_losses(
    action: int, label: int, best: int, revealed: bool, p: FloatArray, losses: FloatArray
) -> None:
    """Fill the zero-one losses of the labels if the true one is revealed, otherwise their estimates."""
    if not revealed:
        estimate_losses(best, action, action == label, p, losses)
        return
    for r in range(p.shape[0]):
        losses[r] = 0.0 if r == label else 1.0


@helper
def share_out(label: int, scale: float, costs: FloatArray) -> float:
    """Write costs, which are least at ``label``, as a weight times a vector that is 0 there and sums to 1.

    What they miss of being least there by rounding is dropped. The weight is returned, at most 1; it is that of the
    costs over ``scale``.
    """
    least, total = costs[label], 0.0
    for r in range(costs.shape[0]):
        costs[r] = costs[r] - least if costs[r] > least else 0.0
        total += costs[r]
    if total > 0.0:
        for r in range(costs.shape[0]):
            costs[r] /= total
    weight = total / scale
    return 1.0 if weight > 1.0 else weight


class Boosting:
    """A booster in play.

    Attributes
    ----------
    vote, assess : kernels with the signatures ``VOTE`` and ``ASSESS``
    memory, cache : the arrays that they work on
    crowd : the weak learners
    informed : whether the label is always revealed
    learns : whether the weak learners are told anything
    n_dice : numbers from [0, 1) drawn a round, those of the weak learners first
    told : costs (N, k) and weights (N,) that ``update`` told last
    """

    vote: ClassVar[Kernel]
    assess: ClassVar[Kernel]

    def __init__(
        self, booster: Parameters, problem: Problem, generator: Generator, interpreted: bool
    ) -> None:
        booster.check(problem)
        n, k = booster.learners, problem.n_labels
        numbers = booster.numbers(problem)
        self.n_learners, self.n_labels = n, k
        self.generator, self.interpreted = generator, interpreted
        seeds: tuple[int, ...] = ()
        if getattr(booster.weak, "seeded", False):
            seeds = tuple((generator.random(n) * 2.0**53).astype(np.int64).tolist())
        self.crowd = booster.weak.crowd(booster.crowd_setting(problem, seeds))
        self.informed = "rho" not in numbers
        self.learns = bool(getattr(self.crowd, "learns", True))
        self.random_ties = booster.ties == "random"
        self.n_asked = n if self.crowd.draws else 0
        self.told: tuple[FloatArray, FloatArray] | None = None
        if not self.informed:
            check_rate(numbers["rho"], k)
        own = (self.informed, self.learns, self.random_ties)
        self.memory = Memory(
            np.array([numbers.get("rho", 0.0), *map(float, own), numbers.get("hedge", 0.0), 0.0]),
            np.zeros(n, dtype=np.int64),
            np.zeros((n + 1, k)),
            np.zeros((3, n)),
            np.zeros(EXPERTS + n, dtype=np.int64),
            np.zeros(k),
            np.zeros(k),
            np.zeros((n, k)),
            np.zeros(n),
        )
        self.cache = no_cache()

    @property
    def own_dice(self) -> int:
        """Numbers that the booster draws a round beside those of the weak learners."""
        raise NotImplementedError

    @property
    def n_dice(self) -> int:
        return self.n_asked + self.own_dice

    def predict(self, x: FloatArray) -> FloatArray:
        """Probabilities of the labels, shape (k,)."""
        dice = self.generator.random(self.n_dice)
        self.ask(x, dice[: self.n_asked])
        self._form(self.vote)(dice[self.n_asked :], *self.memory)
        return self.p

    def update(self, x: FloatArray, action: int, label: int | None) -> None:
        """Learn from a round in which ``action`` was played."""
        if self.informed and label is None:
            raise LearnerError("the label was not revealed: expected full information.")
        shown = UNSEEN if label is None else label
        self._form(self.assess)(action, shown, *self.memory, *self.cache)
        if self.learns:
            self.told = (self.memory.costs.copy(), self.memory.weights.copy())
            self.tell(x, self.memory.costs, self.memory.weights)

    def ask(self, x: FloatArray, dice: FloatArray, *rest: Any) -> None:
        """Let the weak learners predict, and check what they do."""
        labels = self.crowd.predict(x.copy(), dice)
        legal = (labels >= 0) & (labels < self.n_labels)
        if labels.shape != (self.n_learners,) or not legal.all():
            raise LearnerError(
                f"the weak learners predicted {labels.tolist()}: expected {self.n_learners} labels from 0 to"
                f" {self.n_labels - 1}."
            )
        self.memory.labels[:] = labels

    def tell(self, x: FloatArray, costs: FloatArray, weights: FloatArray, *rest: Any) -> None:
        """Let the weak learners learn; they must leave what they are told as it is."""
        check_costs(costs, weights)
        told = costs.copy(), weights.copy()
        for array in told:
            array.setflags(write=False)
        if hasattr(self.crowd, "right"):
            self.crowd.right = self.found
        try:
            self.crowd.update(x.copy(), *told)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise LearnerError(
                "the weak learners changed the costs or weights that they were told: expected them to be left alone."
            ) from error

    def _form(self, kernel: Kernel) -> Any:
        return kernel.python if self.interpreted else kernel.native

    @property
    def is_compiled(self) -> bool:
        """True if a compiled loop can play it."""
        return isinstance(self.crowd, Compiled) and not self.interpreted

    @property
    def functions(self) -> tuple[Any, Any, Any, Any]:
        """The functions that ask the weak learners, tell them, vote and assess, as the loop of the game calls them."""
        own = self._form(self.vote), self._form(self.assess)
        if isinstance(self.crowd, Compiled):
            return self._form(self.crowd.ask_kernel), self._form(self.crowd.tell_kernel), *own
        return self.ask, self.tell, *own

    @property
    def weak_arrays(self) -> tuple[FloatArray, FloatArray]:
        """Parameters of the weak learners and their states, shape (N, size); empty if they are not compiled."""
        if isinstance(self.crowd, Compiled):
            return self.crowd.parameters, self.crowd.state
        return np.zeros(0), np.zeros((self.n_learners, 0))

    @property
    def round(self) -> int:
        """The number of rounds so far."""
        return int(self.memory.counts[ROUND])

    @round.setter
    def round(self, rounds: int) -> None:
        self.memory.counts[ROUND] = rounds

    @property
    def best(self) -> int:
        """The label that was played unless the booster explored."""
        return int(self.memory.counts[BEST])

    @property
    def found(self) -> int | None:
        """The label that the round has shown to be right, as the losses tell it: all others have one, but for the best
        label where another was played; this is not seen with two labels."""
        without = set(np.flatnonzero(self.memory.losses == 0.0).tolist())
        if len(without) == 2 < self.n_labels and self.best in without:
            without.remove(self.best)
        return without.pop() if len(without) == 1 else None

    @property
    def labels(self) -> IntArray:
        """The labels that the weak learners predicted, shape (N,)."""
        return self.memory.labels.copy()

    @property
    def before(self) -> Any:
        """Scores before the vote of each weak learner, shape (N, k)."""
        return self.memory.scores[:-1].copy()

    @property
    def after(self) -> FloatArray:
        """Scores after the vote of each weak learner, shape (N, k)."""
        return self.memory.scores[1:].copy()

    @property
    def p(self) -> FloatArray:
        """Probabilities of the labels, shape (k,)."""
        return self.memory.p.copy()

    @property
    def losses(self) -> FloatArray:
        """Loss of each label, or its estimate, shape (k,)."""
        return self.memory.losses.copy()
