"""A stranger's learner: a plain Python class, judged like any other.

The class needs no base and no import of ours, only ``__init__(problem)``, ``predict(x)`` and
``update(x, action, label)``; ``docs/learners.md`` describes these and all that it may declare.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ....algorithms import losses, optimisers
from ....algorithms.gappletron import RULES
from ....algorithms.learner import Declaration, Player, Problem, fresh_state
from ....algorithms.spec import own_file
from ....algorithms.uniform import Uniform
from ....arrays import FloatArray
from ....errors import LearnerError, UserError, attribute, call, require, said, shown, unknown
from ...user_class import NUMBERS, globs_of, made
from ..weak.user_learner import PlainWeakLearner, learns_costs
from .record import TOLERANCE


@dataclass(frozen=True)
class PlainLearner:
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
        names = ("loss", "gamma", "rule", "regret_factor", "optimiser")
        loss, gamma, rule, factor, optimiser = (
            attribute(learner, name, self._who) for name in names
        )
        require(
            loss is None or isinstance(loss, str) or hasattr(loss, "surrogate"),
            f"loss={loss!r} of {self.spec}: expected the name of a loss, such as 'smooth-hinge', 'hinge' or"
            " 'logistic-2'.",
        )
        if rule is not None and not (isinstance(rule, str) and rule in RULES):
            raise unknown(f"exploration rule of {self.spec}", str(rule), RULES)
        for name, value in (("gamma", gamma), ("regret_factor", factor)):
            require(
                value is None or (isinstance(value, NUMBERS) and 0 <= float(value) < math.inf),
                f"{name}={value} of {self.spec}: expected a finite number of at least 0.",
            )
        delta = attribute(learner, "delta", self._who, Declaration.delta)
        require(
            isinstance(delta, NUMBERS) and 0 < float(delta) < 1,
            f"delta={delta} of {self.spec}: expected a number in (0, 1).",
        )
        return Declaration(
            losses.parse(loss) if isinstance(loss, str) else loss,
            gamma,
            rule,
            factor,
            float(delta),
            None if optimiser is None else optimisers.parse(str(optimiser)).spec,
            weights=attribute(learner, "weights", self._who) is not None,
        )


def _array_of(learner: Any) -> FloatArray | None:
    own = getattr(learner, "weights", None)
    return None if own is None else np.asarray(own, dtype=np.float64)


def _weights_of(learner: Any, problem: Problem, spec: str, when: str) -> FloatArray:
    """The learner's weights as the game keeps them, shape (features, labels); NaN if it has none."""
    own = call(_array_of, f"learner {spec}", f"weights {when}", learner)
    shape = (problem.n_labels, problem.n_features)
    if own is None:
        return np.full(shape[::-1], np.nan)
    require(
        own.shape == shape,
        f"weights of {spec} have shape {own.shape} {when}: expected (labels, features) = {shape}.",
    )
    require(
        bool(np.isfinite(own).all()),
        f"weights of {spec} are not finite {when}: expected finite numbers.",
    )
    return np.ascontiguousarray(own.T)


def _live(
    learner: Any,
    problem: Problem,
    spec: str,
    features: Callable[[int], FloatArray],
    weights: FloatArray,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The learner's two functions in the form that the game calls."""
    position, who = 0, f"learner {spec}"
    has_weights = attribute(learner, "weights", who) is not None

    def predict(
        scores: Any, best: int, runner: int, gap: float, parameters: Any, state: Any, p: Any
    ) -> None:
        where = f"predict of round {position}"
        given = call(learner.predict, who, where, features(position).copy())
        p[:] = _checked(given, problem.graph.n_actions, spec, position)

    def update(
        scores: Any,
        best: int,
        runner: int,
        p: Any,
        action: int,
        label: int,
        weight: float,
        squared_norm: float,
        gradient: Any,
        parameters: Any,
        state: Any,
        coefficient: Any,
    ) -> bool:
        nonlocal position
        seen = None if label < 0 else int(label)
        where = f"update of round {position}"
        call(learner.update, who, where, features(position).copy(), int(action), seen)
        if has_weights:
            try:
                weights[:] = _weights_of(learner, problem, spec, f"after round {position}")
            except UserError as error:
                raise LearnerError(str(error)) from error
        position += 1
        return False

    return predict, update


def _checked(given: Any, n_actions: int, spec: str, at: int) -> FloatArray:
    try:
        p = np.asarray(given, dtype=np.float64)
    except KeyboardInterrupt:
        raise
    except BaseException:
        p = np.zeros(0)
    if p.shape != (n_actions,):
        raise LearnerError(
            f"learner {spec} returned {shown(given)} in round {at}: expected {n_actions} probabilities."
        )
    if not (np.isfinite(p).all() and (p >= 0).all()):
        raise LearnerError(
            f"learner {spec} returned the probabilities {p.tolist()} in round {at}: expected numbers of"
            " at least 0."
        )
    if abs(float(p.sum()) - 1.0) > TOLERANCE:
        raise LearnerError(
            f"learner {spec} returned probabilities that sum to {float(p.sum())!r} in round {at}:"
            " expected 1."
        )
    return p


def load(spec: str) -> PlainLearner | PlainWeakLearner | Any:
    """Load ``path/to/file.py:Class``.

    Returns
    -------
    the class as a learner, or as a weak learner if its ``update`` takes costs; if the class has a method
    ``player`` or ``crowd`` it is one in the library's own form, and an instance made without arguments is returned

    Raises
    ------
    UserError
        for a file that is missing or does not import, or a class that is not in it
    """
    name, _, class_name = spec.rpartition(":")
    module = load_module(Path(name), "learner")
    classes = {
        key
        for key, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    }
    if class_name not in classes:
        raise unknown(f"class of {name}", class_name, classes)
    found = getattr(module, class_name)
    if hasattr(found, "player") or hasattr(found, "crowd"):
        return found()
    return PlainWeakLearner(found, spec) if learns_costs(found, spec) else PlainLearner(found, spec)


def source_of(spec: str) -> str | None:
    """SHA-256 of the file that a learner is from, or its weak learners; None where there is none."""
    file = own_file(spec)
    there = file is not None and Path(file).is_file()
    return sha256(Path(str(file)).read_bytes()).hexdigest() if there else None


def load_module(path: Path, role: str) -> ModuleType:
    """Import a Python file of the user's that holds a learner or claims; it may import its neighbours.

    Raises
    ------
    UserError
        for a file that is missing or does not import
    """
    require(path.is_file(), f"{role} file '{path}': no such file; expected a Python file.")
    name = f"_{role}_{path.stem}_{sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    definition = importlib.util.spec_from_file_location(name, path)
    if definition is None or definition.loader is None:
        raise UserError(f"{role} file '{path}': expected a Python file, NAME.py.")
    module = importlib.util.module_from_spec(definition)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        definition.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise UserError(f"{role} file '{path}' does not import: {said(error)}.") from error
    finally:
        sys.path.remove(folder)
    return module
