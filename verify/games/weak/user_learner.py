"""A weak learner of the user's: a plain Python class, judged like those of the library.

The class needs no base and no import of ours, only ``__init__(problem)``, ``predict(x)``, which returns a label, and
``update(x, cost, weight)``, by whose parameters it is recognised; ``docs/learners.md`` describes these and what it
declares.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ....algorithms.boosting.each import Each
from ....algorithms.boosting.problem import WeakDeclaration, WeakProblem
from ....algorithms.boosting.weak import Crowd, Setting
from ....algorithms.horizon import changed, handed_on
from ....arrays import NUMBERS
from ....errors import UserError, attribute, require, said
from ..user_class import globs_of, made

DECLARED = ("edge", "delta", "excess_loss")
DECLARED_CLAIMS = (
    *(f"boosting/{name}-wlc{end}" for name in ("bandit", "online") for end in ("", "-anytime")),
    "boosting/frontier",
)
"""The claims that a weak learner promises by declaring its numbers, unless it says otherwise."""

LARGEST = 1e300
"""The largest number that anything sensible could declare; an integer may be larger than a float can hold."""

SAMPLE = WeakProblem(3, 4, 1000, 0.3, 1.0, 1.0)
"""The problem that one is made for to see whether it declares anything."""


def boosted_problem(setting: Setting) -> WeakProblem:
    """The problem of one in a booster, but for its seed: no rule is known to have an edge there."""
    size = setting.n_labels, setting.n_features
    rest = 0.0, setting.least_weight, setting.cost_range
    return handed_on(setting, lambda horizon: WeakProblem(*size, horizon, *rest))


def learns_costs(factory: Any, spec: str) -> bool:
    """True if the ``update`` of a class has the parameters ``cost`` and ``weight``, as that of a weak learner.

    Raises
    ------
    UserError
        for one of them without the other, or in another order
    """
    try:
        names = list(inspect.signature(factory.update).parameters)
    except KeyboardInterrupt:
        raise
    except BaseException:  # said where one is made
        return False
    found = {"cost", "weight"} & set(names)
    nearly = {"costs", "weights"} & set(names)
    if not (found or nearly):
        return False
    if len(found) == 2 and names.index("cost") < names.index("weight"):
        return True
    raise UserError(
        f"update({', '.join(names)}) of {spec}: expected update(x, cost, weight) of a weak learner, or"
        " update(x, action, label) of a learner."
    )


def _numbers_of(learner: Any, spec: str) -> dict[str, Any]:
    """The numbers that a weak learner declares, None where it does not."""
    try:
        return {name: getattr(learner, name, None) for name in (*DECLARED, "anytime")}
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise UserError(
            f"{spec} cannot say what it declares: {said(error)}; expected numbers."
        ) from error


def _undeclared(numbers: Mapping[str, Any]) -> list[str]:
    """The numbers that a weak learner does not declare."""
    return [name for name in DECLARED if numbers[name] is None]


@dataclass(frozen=True)
class UserWeakLearner:
    """A class of the user's, made to fit the weak-learning game, and boosters.

    Parameters
    ----------
    factory : called with a :class:`WeakProblem`, returns the weak learner
    spec : its name, ``path/to/file.py:Class`` where it came from a file
    """

    factory: Callable[[WeakProblem], Any]
    spec: str
    seeded: ClassVar[bool] = True

    def __str__(self) -> str:
        return self.spec

    @cached_property
    def promises(self) -> tuple[str, ...]:
        """Globs of claim ids: those of the class, or what its numbers stand for; none without either."""
        given = attribute(self.factory, "promises", f"weak learner {self.spec}")
        if given is not None:
            return globs_of(given, self.spec)
        try:
            numbers = _numbers_of(self._make(SAMPLE), self.spec)
        except UserError:
            # another problem may suit it; if none does, it is told where it is played
            return DECLARED_CLAIMS
        if _undeclared(numbers):
            return ()
        return tuple(
            name for name in DECLARED_CLAIMS if numbers["anytime"] or not name.endswith("-anytime")
        )

    def _make(self, problem: WeakProblem) -> Any:
        return made(self.factory, problem, f"weak learner {self.spec}", "update(x, cost, weight)")

    def declare(self, problem: WeakProblem, stream: Any) -> WeakDeclaration | str:
        """Its declaration for a problem; of the stream it knows no more than that."""
        return self.declared(problem)

    def declared(self, problem: WeakProblem) -> WeakDeclaration | str:
        """Its declaration for a problem, or which numbers it does not declare, as a phrase.

        Raises
        ------
        UserError
            for numbers out of range
        """
        first, second = (self._declaration(changed(problem, seed=seed)) for seed in (0, 1))
        require(
            first == second,
            f"weak learner {self.spec} declares {second} where it declared {first}: expected numbers that do not"
            " depend on problem.seed or chance.",
        )
        return first

    def _declaration(self, problem: WeakProblem) -> WeakDeclaration | str:
        numbers = _numbers_of(self._make(problem), self.spec)
        if undeclared := _undeclared(numbers):
            return f"the weak learner does not declare {' and '.join(undeclared)}"
        for name in DECLARED:
            require(
                isinstance(numbers[name], NUMBERS)
                and not (numbers[name] > LARGEST or numbers[name] < -LARGEST),
                f"{name}={numbers[name]!r:.40} of {self.spec}: expected a number.",
            )
        anytime = False if numbers["anytime"] is None else numbers["anytime"]
        require(
            isinstance(anytime, bool),
            f"anytime={anytime!r} of {self.spec}: expected True or False.",
        )
        edge, delta, excess_loss = (float(numbers[name]) for name in DECLARED)
        return WeakDeclaration(edge, delta, excess_loss, anytime, self.spec)

    def crowd_for(self, problem: WeakProblem, seeds: Sequence[int]) -> Crowd:
        """One of them for each seed."""

        def make(setting: Setting, i: int) -> Any:
            return self._make(changed(problem, seed=seeds[i]))

        make.__name__ = self.spec
        size = len(seeds), problem.n_labels, problem.n_features
        return Each(make).crowd(handed_on(problem, lambda horizon: Setting(*size, horizon)))

    def crowd(self, setting: Setting) -> Crowd:
        """Those of a booster, one for each of the seeds of the setting."""
        return self.crowd_for(boosted_problem(setting), setting.seeds)
