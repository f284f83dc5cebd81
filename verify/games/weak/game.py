"""The weak-learning game: a weak learner against a stream of weights and costs.

In a round the weak learner predicts a label and is then told a cost vector, or an estimate of it, with a weight. The
weak learners are those that the boosters combine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

from .... import adversaries
from ....algorithms.boosting.booster import weak_learners
from ....algorithms.discovery import classes
from ...setting import Setting
from ..game import Game
from .case import Case
from .resolve import resolve
from .settings import settings
from .user_adversary import user_adversary
from .user_learner import UserWeakLearner, learns_costs


class WeakGame(Game):
    """The game; see the module."""

    name: ClassVar[str] = "weak-learning"
    learner_method: ClassVar[str] = "crowd"
    learners_are: ClassVar[str] = (
        "weak ones, which predict a label and learn from costs and weights"
    )
    adversary_method: ClassVar[str] = "stream"
    learner_words: ClassVar[str] = (
        "weak learner: expected a class with predict(x) and update(x, cost, weight)"
    )
    learner_noun: ClassVar[str] = "weak learner"
    adversary_noun: ClassVar[str] = "adversary of weak learners"
    learner_help: ClassVar[str] = (
        "your class, whose update takes cost and weight; see docs/learners.md. [dim]Weak learners predict a label;"
        " boosters take theirs as weak=hedge-stump+rate=0.1 or weak=FILE.py:Class[/]"
    )
    adversary_help: ClassVar[str] = (
        "your class with stream(horizon, seed), and with costs(t, predicted) if it is adaptive; see"
        " docs/adversaries.md"
    )

    def learners(self) -> Mapping[str, type[Any]]:
        return weak_learners()

    @cache  # noqa: B019 - there is one of it
    def adversaries(self) -> Mapping[str, type[Any]]:
        return classes(adversaries, "stream")

    def resolve(self, setting: Setting, learner: Any, adversary: Any, seed: int) -> Case:
        oracles = [
            name for name, made in self.learners().items() if getattr(made, "reads_oracles", False)
        ]
        return resolve(setting, learner, adversary, seed, oracles)

    def plays(self, learner: Any) -> bool:
        return super().plays(learner) or hasattr(learner, "crowd_for")

    def recognises(self, made: Any, spec: str) -> bool:
        return learns_costs(made, spec)

    def user_learner(self, made: Any, spec: str) -> Any:
        return UserWeakLearner(made, spec)

    def user_adversary(self, made: Any, spec: str) -> Any | None:
        return user_adversary(made, spec)

    def settings(self, request: Any) -> Iterator[tuple[Setting, bool]]:
        for setting in settings(request, self.learners(), self.adversaries()):
            yield setting, False


WEAK = WeakGame()
