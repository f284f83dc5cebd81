"""A learner of the user's: a plain Python class, judged like any other.

The class needs no base and no import of ours, only ``__init__(problem)``, ``predict(x)`` and
``update(x, action, label)``; ``docs/learners.md`` describes these and all that it may declare.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....algorithms import losses
from ....algorithms.gappletron import DECLARABLE
from ....algorithms.graphs import FeedbackGraph
from ....algorithms.learner import (
    DOUBLE,
    PREDICT,
    SINGLE,
    UPDATE,
    Declaration,
    InPlay,
    Player,
    Problem,
    fresh_state,
)
from ....algorithms.uniform import Uniform
from ....arrays import FloatArray, finite, real
from ....errors import LearnerError, UserError, attribute, call, message_of, require, shown
from ..user_class import globs_of, made
from .record import TOLERANCE


@dataclass(frozen=True)
class UserLearner:
    """A class of the user's, made to fit the game.

    Parameters
    ----------
    factory : called with a :class:`Problem`, returns the learner
    spec : its name, ``path/to/file.py:Class`` where it came from a file
    """

    factory: Callable[[Problem], Any]
    spec: str

    @property
    def promises(self) -> tuple[str, ...]:
        return globs_of(attribute(self.factory, "promises", self._who, ()), self.spec)

    def accepts(self, graph: FeedbackGraph) -> bool:
        """True for a graph that the class plays: any, unless its own ``accepts(graph)`` says otherwise."""
        own = attribute(self.factory, "accepts", self._who)
        return own is None or bool(call(own, self._who, "accepts", graph))

    @property
    def _who(self) -> str:
        return f"learner {self.spec}"

    def player(self, problem: Problem) -> Player:
        learner = made(self.factory, problem, self._who, "update(x, action, label)")
        require(
            globs_of(attribute(learner, "promises", self._who, ()), self.spec) == self.promises,
            f"{self._who} sets promises in __init__: expected them on the class.",
        )
        idle = Uniform().player(problem)
        return Player(
            idle.predict,
            idle.update,
            np.zeros(1),
            fresh_state(),
            self._declaration(learner),
            weights=_weights_of(learner, problem, self.spec, "before play"),
            live=lambda features, weights, dice: _live(
                learner, problem, self.spec, features, weights
            ),
        )

    def _declaration(self, learner: Any) -> Declaration:
        loss = attribute(learner, "loss", self._who)
        require(
            loss is None or isinstance(loss, str) or hasattr(loss, "surrogate"),
            f"loss={loss!r} of {self.spec}: expected the name of a loss, such as 'smooth-hinge', 'hinge' or"
            " 'logistic-2'.",
        )
        return Declaration(
            losses.parse(loss) if isinstance(loss, str) else loss,
            self._numbers(learner) | self._words(learner),
            weights=attribute(learner, "weights", self._who) is not None,
        )

    def _words(self, learner: Any) -> dict[str, Any]:
        """Its declarations for the claims of the Gappletron paper."""
        found = {}
        for name, (read, expected) in DECLARABLE.items():
            if (given := attribute(learner, name, self._who)) is None:
                continue
            try:
                value = read(given)
            except UserError as error:
                raise UserError(f"{self.spec} declares the {error}") from None
            require(
                value is not None, f"{name}={shown(given)} of {self.spec}: expected {expected}."
            )
            found[name] = value
        return found

    def _numbers(self, learner: Any) -> dict[str, float]:
        """Its declarations for the claims of another family: ``numbers = {"banditron.gamma": 0.1}``."""
        given = attribute(learner, "numbers", self._who, {})
        legal = isinstance(given, Mapping) and all(
            isinstance(name, str) and "." in name and finite(value) for name, value in given.items()
        )
        require(
            legal,
            f"numbers={shown(given)} of {self.spec}: expected finite numbers by FAMILY.NAME, such as"
            " {'banditron.gamma': 0.1}.",
        )
        return {name: float(value) for name, value in given.items()}


def _array_of(learner: Any) -> FloatArray | None:
    given = getattr(learner, "weights", None)
    return None if given is None else real(given)


def _weights_of(
    learner: Any, problem: Problem, spec: str, when: str, *, had: bool = False
) -> FloatArray:
    """The learner's weights as the game keeps them, shape (features, labels); NaN if it has none. One that ``had`` some
    before may not lose them."""
    given = call(_array_of, f"learner {spec}", f"weights {when}", learner)
    shape = (problem.n_labels, problem.n_features)
    if given is None:
        require(not had, f"weights of {spec} are None {when}: expected an array, as before play.")
        return np.full(shape[::-1], np.nan)
    require(
        given.shape == shape,
        f"weights of {spec} have shape {given.shape} {when}: expected (labels, features) = {shape}.",
    )
    require(
        bool(np.isfinite(given).all()),
        f"weights of {spec} are not finite {when}: expected finite numbers.",
    )
    return np.ascontiguousarray(given.T)


def _live(
    learner: Any,
    problem: Problem,
    spec: str,
    features: Callable[[int], FloatArray],
    weights: FloatArray,
) -> InPlay:
    """The learner's two functions in the form that the game calls."""
    position, who = 0, f"learner {spec}"
    has_weights = attribute(learner, "weights", who) is not None

    def predict(p: FloatArray) -> None:
        where = f"predict of round {position}"
        given = call(learner.predict, who, where, features(position).copy())
        p[:], unit = _checked(given, problem.graph.n_actions, spec, position)
        found.unit = max(found.unit, unit)

    def update(action: int, label: int) -> bool:
        nonlocal position
        seen = None if label < 0 else int(label)
        where = f"update of round {position}"
        call(learner.update, who, where, features(position).copy(), int(action), seen)
        if has_weights:
            try:
                when = f"after round {position}"
                weights[:] = _weights_of(learner, problem, spec, when, had=True)
            except UserError as error:
                raise LearnerError(str(error)) from error
        position += 1
        return False

    found = InPlay(PREDICT.completed(predict), UPDATE.completed(update))
    return found


def _checked(given: Any, n_actions: int, spec: str, at: int) -> tuple[FloatArray, float]:
    """The probabilities and their unit roundoff.

    Those in single precision may miss one by n units, which they do if they were divided by their sum, and are divided
    by it once more.
    """
    try:
        p, why = real(given), ""
        unit = SINGLE if getattr(given, "dtype", None) == np.float32 else DOUBLE
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        p, unit, why = np.zeros(0), DOUBLE, f" ({message_of(error)})"
    if p.shape != (n_actions,):
        raise LearnerError(
            f"learner {spec} returned {shown(given)} in round {at}: expected {n_actions} probabilities{why}."
        )
    if not (np.isfinite(p).all() and (p >= 0).all()):
        raise LearnerError(
            f"learner {spec} returned the probabilities {p.tolist()} in round {at}: expected numbers of"
            " at least 0."
        )
    total = float(p.sum())
    single = TOLERANCE + n_actions * SINGLE
    if abs(total - 1.0) > (single if unit == SINGLE else TOLERANCE):
        raise LearnerError(
            f"learner {spec} returned probabilities that sum to {total!r} in round {at}: expected 1 up to"
            f" {TOLERANCE:g}, or {single:.2g} for an array of float32; divide by the sum in float64."
        )
    return (p / total if unit == SINGLE else p), unit
