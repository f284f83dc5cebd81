"""The form in which the game plays a learner, and the signatures of its compiled functions.

Every round the game computes the scores of the labels, asks ``predict`` for a probability vector over
the actions, draws the action itself, looks up in the feedback graph whether the label is revealed, and
calls ``update``. The game owns the weights. A learner sees vectors with one entry per label or action and
its own ``state``; when the label is not revealed it gets ``UNSEEN`` for it and NaN for the gradient.

Weights are kept as ``scale * V`` with V of shape (features, labels): ``update`` fills ``coefficient`` (one entry
per label), the game subtracts the outer product of the features and ``coefficient`` from V, and the learner
may change ``state[SCALE]``. Projection onto a ball and dual averaging then cost no more than a step.

A learner whose steps are no outer products, such as one of second order, gives ``rewrite`` in place of ``update``:
it gets the features as well, and changes the weights and matrices of its own in ``memory``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..arrays import FloatArray
from ..compiled import CUBE, FLOAT, INT, MATRIX, READ_ONLY_VECTOR, VECTOR, Kernel, Signature
from .graphs import FeedbackGraph
from .losses import Loss

UNSEEN = -1
"""The label that ``update`` is told when the label was not revealed."""

SCALE, SQUARED_NORM, REMAINDER, TOUCHED, GRADIENT_SUM, OWN = 0, 1, 2, 3, 4, 5
"""Slots of ``state``: the scale of the weights, the squared norm of V, what rounding left out of it, the features of
steps since the game took it from V, one for the optimiser, then the learner's own."""

_SCORES = {"scores": VECTOR, "best": INT, "runner": INT}
_DRAWN = {"p": VECTOR, "action": INT, "label": INT, "weight": FLOAT}
_ROW = {"features": "Array(uint64, 1, 'C', True)", "x": READ_ONLY_VECTOR}
_NUMBERS = {"parameters": VECTOR, "state": VECTOR}
_GRADIENT = {"gradient": VECTOR}

PREDICT = Signature("void", **_SCORES, gap=FLOAT, **_NUMBERS, p=VECTOR)
"""Fill the probabilities ``p`` of the actions. ``best`` and ``runner`` are the labels with the highest scores."""

UPDATE = Signature(
    "boolean",
    **(_SCORES | _DRAWN | {"squared_norm": FLOAT} | _GRADIENT | _NUMBERS),
    coefficient=VECTOR,
)
"""Fill ``coefficient`` and return whether the weights move. ``label`` is ``UNSEEN`` where it was not revealed,
``weight`` the importance weight, ``squared_norm`` that of the features, ``gradient`` that of the loss in the scores."""

REWRITE = Signature(
    "void",
    **(_SCORES | _DRAWN | _ROW | _GRADIENT | _NUMBERS),
    **{"memory": CUBE, "weights": MATRIX},
)
"""Change ``weights`` and ``memory``; ``features`` are the columns that are not zero, ``x`` their values."""


@dataclass(frozen=True)
class Problem:
    """The problem as a learner may know it before the first round.

    Attributes
    ----------
    graph : the feedback graph, which also says how many labels and actions there are
    n_features : number of features
    horizon : number of rounds
    feature_norm : bound on the Euclidean norm of the feature vectors
    comparator_norm : bound on the Frobenius norm of the comparators competed with
    """

    graph: FeedbackGraph
    n_features: int
    horizon: int
    feature_norm: float = 1.0
    comparator_norm: float = 1.0

    @property
    def n_labels(self) -> int:
        return self.graph.n_labels


@dataclass(frozen=True)
class Declaration(Mapping[str, Any]):
    """The declaration of a learner before play; envelopes are computed from it alone.

    It is a mapping of named numbers and words, for which claims ask: ``gamma``, ``rule``, ``regret_factor``, ``delta``
    and ``optimiser`` where claims of the Gappletron paper are to apply, and ``FAMILY.NAME`` for what the claims of
    another family ask for, such as ``banditron.gamma``.

    Attributes
    ----------
    loss : its surrogate loss, or None
    numbers : the numbers and words by name
    weights : whether the game knows its weights, and so its scores, best label and losses
    """

    loss: Loss | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)
    weights: bool = True

    def __getitem__(self, name: str) -> Any:
        return self.numbers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def number(self, name: str) -> float:
        """The number ``FAMILY.name``, of whatever family.

        Raises
        ------
        KeyError
            where none is declared
        """
        return float(next(self[key] for key in self if key.rpartition(".")[2] == name))


def fresh_state(own: int = 0, *, norm: bool = False) -> FloatArray:
    """The state to start from, with ``own`` slots of the learner's, all zero; ``norm`` says whether the learner
    keeps the squared norm of V, which then starts at zero; it is -1 where nobody does."""
    state = np.zeros(OWN + own)
    state[SCALE] = 1.0
    state[SQUARED_NORM] = 0.0 if norm else -1.0
    return state


DOUBLE, SINGLE = 2.0**-53, 2.0**-24
"""The unit roundoff of numbers in double and in single precision."""


@dataclass
class InPlay:
    """A learner written in plain Python, in a run: the functions to call in place of the kernels.

    Attributes
    ----------
    predict, update : functions with the arguments of ``PREDICT`` and ``UPDATE``
    unit : the unit roundoff of its probabilities, the coarsest so far
    """

    predict: Callable[..., Any]
    update: Callable[..., Any]
    unit: float = DOUBLE


Live = Callable[[Callable[[int], FloatArray], FloatArray, np.random.Generator], InPlay]


@dataclass(frozen=True)
class Player:
    """A learner made ready for one problem: its kernels and their numbers.

    Attributes
    ----------
    predict, update : kernels with the signatures ``PREDICT`` and ``UPDATE``
    parameters : numbers that do not change during play
    state : initial state, ``state[SCALE]`` first
    declaration : see :class:`Declaration`
    weights : initial V of shape (features, labels); zeros where None
    rewrite : kernel with the signature ``REWRITE``, called in place of ``update`` where there is one
    memory : initial matrices of a learner that rewrites, shape (matrices, features, labels)
    live : for a learner written in plain Python: given the features of a round, the game's weights to be kept
        up to date and the stream of what it draws for itself, the learner in play
    boosting : for a booster: given the stream of what it draws for itself and whether its kernels are to run as plain
        Python, the :class:`~.boosting.boosting.Boosting` in play, which the game has a loop of its own for
    """

    predict: Kernel
    update: Kernel
    parameters: FloatArray
    state: FloatArray
    declaration: Declaration = field(default_factory=Declaration)
    weights: FloatArray | None = None
    rewrite: Kernel | None = None
    memory: FloatArray | None = None
    live: Live | None = None
    boosting: Callable[[np.random.Generator, bool], Any] | None = None


class Learner(Protocol):
    """A learner of the library; a user's is described in ``docs/learners.md``.

    A built-in one also has ``source`` and ``graphs``, what it plays, in words, and where it is tuned ``tunings``:
    ``boundcheck list learners`` prints them.
    """

    @property
    def spec(self) -> str:
        """Name and parameters, as the command line takes them."""

    @property
    def promises(self) -> tuple[str, ...]:
        """Globs of the ids of the claims that the learner must satisfy."""

    def player(self, problem: Problem) -> Player:
        """Make the learner ready for ``problem``.

        Raises
        ------
        UserError
            if the learner cannot play it
        """
