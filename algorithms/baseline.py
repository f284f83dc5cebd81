"""The base of the learners that Gappletron is compared with: tunings, accepted graphs and simple steps.

A tuning names how the parameters are chosen that were not given as numbers: ``default`` as the source or its
reference code does, ``ones`` from the horizon alone, every other quantity taken to be 1, and ``theory`` from
all that is known before play, as the bound asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ..arrays import FloatArray
from ..compiled import helper, kernel
from ..errors import UserError, unknown
from .graphs import FeedbackGraph
from .learner import PREDICT, Problem
from .spec import Checked, command_name

NOTHING: Mapping[str, str] = dict.fromkeys(("default", "ones", "theory"), "nothing to tune")
"""The tunings of a learner without parameters."""


@dataclass(frozen=True)
class Baseline(Checked):
    """Tuning, spec and accepted graphs of a learner.

    Attributes
    ----------
    tuning : "default", "ones" or "theory"; a parameter given as a number wins over it
    source : authors, year and title
    graphs : the feedback graphs it plays, in words
    tunings : what each tuning sets, in words

    Raises
    ------
    UserError
        for an unknown tuning
    """

    tuning: str = field(default="default", kw_only=True)
    source: ClassVar[str]
    graphs: ClassVar[str] = "full information"
    tunings: ClassVar[Mapping[str, str]] = NOTHING

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tuning not in self.tunings:
            raise unknown(f"tuning of {command_name(type(self))}", self.tuning, self.tunings)

    @property
    def promises(self) -> tuple[str, ...]:
        return (f"{command_name(type(self))}/*", "game/*")

    def numbers(self, problem: Problem) -> dict[str, float]:
        """The parameters that it plays ``problem`` with, by name."""
        return {}

    def declared(self, numbers: Mapping[str, float]) -> dict[str, float]:
        """The numbers as claims of the learner's own family ask for them."""
        family = self.promises[0].partition("/")[0]
        return {f"{family}.{name}": value for name, value in numbers.items()}

    def accepts(self, graph: FeedbackGraph) -> bool:
        """True if the learner can play ``graph``."""
        return graph.is_full_information

    def check_graph(self, graph: FeedbackGraph) -> None:
        """Raise :class:`UserError`, naming what is accepted, for a graph the learner cannot play."""
        if not self.accepts(graph):
            raise UserError(
                f"{self.spec} cannot play graph '{graph.name}' with {graph.n_labels} labels:"
                f" expected {self.graphs}."
            )


def observes_itself(graph: FeedbackGraph) -> bool:
    """True if the actions are the labels, and playing a label tells whether it is the true one."""
    return graph.n_actions == graph.n_labels and bool(graph.observes.diagonal().all())


@helper
def put_all_on(action: int, p: FloatArray) -> None:
    """Play ``action`` for certain."""
    for k in range(p.shape[0]):
        p[k] = 0.0
    p[action] = 1.0


@helper
def step_towards(label: int, rival: int, size: float, coefficient: FloatArray) -> None:
    """Add ``size`` times the features to the weights of ``label`` and subtract it from those of ``rival``."""
    for k in range(coefficient.shape[0]):
        coefficient[k] = 0.0
    coefficient[label] -= size
    coefficient[rival] += size


@kernel(PREDICT)
def best_label(best: int, p: FloatArray) -> None:
    put_all_on(best, p)
