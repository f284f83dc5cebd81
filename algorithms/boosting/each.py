"""Weak learners of a plain Python class as a crowd, with a check of everything that they return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import FloatArray, IntArray
from ...errors import LearnerError, UserError, call, said, shown
from .weak import Crowd, Setting


@dataclass(frozen=True)
class Each:
    """N weak learners of a class of the user's, checked.

    Parameters
    ----------
    make : called with a :class:`Setting` and the number of the learner, returns an object with
        ``predict(x) -> label`` and ``update(x, cost, weight)``
    """

    make: Callable[[Setting, int], Any]

    def __str__(self) -> str:
        return getattr(self.make, "__name__", type(self.make).__name__)

    def crowd(self, setting: Setting) -> Crowd:
        try:
            learners = [self.make(setting, i) for i in range(setting.n_learners)]
        except (KeyboardInterrupt, UserError):
            raise
        except BaseException as error:
            raise UserError(
                f"weak learner {self} cannot be made: {said(error)}; expected a function of the setting and a"
                " number."
            ) from error
        return _Separate(str(self), learners, setting)


class _Separate:
    draws: ClassVar[bool] = False

    def __init__(self, name: str, learners: list[Any], setting: Setting) -> None:
        self.name, self.learners, self.n_labels = name, learners, setting.n_labels
        self.round = -1

    def predict(self, x: FloatArray, dice: FloatArray) -> IntArray:
        self.round += 1
        return np.array([self._label(i, x.copy()) for i in range(len(self.learners))])

    def _who(self, i: int) -> str:
        return f"weak learner {i} of {self.name}"

    def _label(self, i: int, x: FloatArray) -> int:
        where = f"predict of round {self.round}"
        label = call(self.learners[i].predict, self._who(i), where, x)
        if isinstance(label, int | np.integer) and not isinstance(label, bool):
            number = int.__int__(label) if isinstance(label, int) else int(label)
            if 0 <= number < self.n_labels:
                return number
        raise LearnerError(
            f"{self._who(i)} predicted {shown(label)} in round {self.round}: expected an integer from 0 to"
            f" {self.n_labels - 1}."
        )

    def update(self, x: FloatArray, costs: FloatArray, weights: FloatArray) -> None:
        where = f"update of round {self.round}"
        for i, learner in enumerate(self.learners):
            if weights[i] == 0:
                continue
            given, shown = costs[i].copy(), x.copy()
            call(learner.update, self._who(i), where, shown, given, float(weights[i]))
            for what, now, before in (("cost vector", given, costs[i]), ("features", shown, x)):
                if now.shape != before.shape or now.tobytes() != before.tobytes():
                    raise LearnerError(
                        f"{self._who(i)} changed the {what} it was given from {before.tolist()} to"
                        f" {now.tolist()}: expected it to be left alone."
                    )
