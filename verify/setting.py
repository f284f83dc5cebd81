"""A wish for a game: names with parameters, as the command line takes them, before anything is made."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

SCALES = ("quick", "default", "full")

LONGER = 8
"""The runs of the full scale as a multiple of those of the default one."""


@dataclass(frozen=True)
class Setting:
    """A game by the names of its parts; :mod:`.resolve` makes a case of it.

    Attributes
    ----------
    learner : spec of a learner, or a learner
    adversary : spec of an adversary, or an adversary
    graph : what is shown of a round: spec of a feedback graph, or another word that the game knows
    horizon : rounds; None for as many as recorded data, or an adversary that knows its own, have
    comparator_norm : bound B on the norm of the comparator; None for that of the planted one, or 1 without one
    runs : how many runs are played, each with draws of its own
    fewest : the fewest runs that a quick run plays, where fewer could refute nothing
    scales : the scales of the built-in suite that it is part of
    """

    learner: Any
    adversary: Any
    graph: str
    horizon: int | None
    comparator_norm: float | None = None
    runs: int = 4
    fewest: int = field(default=1, compare=False)
    scales: tuple[str, ...] = field(default=SCALES, compare=False)

    @classmethod
    def product(
        cls, learners: Any, adversaries: Any, graphs: Any, horizons: Any, **more: Any
    ) -> tuple[Setting, ...]:
        """A setting for each combination of its parts, the last part first to change.

        A part is a list or a tuple, or a single one; ``more`` is the same in all settings.
        """
        parts = (learners, adversaries, graphs, horizons)
        axes = (part if isinstance(part, list | tuple) else [part] for part in parts)
        return tuple(cls(*each, **more) for each in product(*axes))

    def at_scale(self, scale: str) -> Setting | None:
        """The setting with half of its runs for ``quick`` and several times as many for ``full``, or None where it is
        no part of that scale."""
        if scale not in self.scales:
            return None
        runs = {"quick": max((self.runs + 1) // 2, self.fewest), "full": self.runs * LONGER}
        return replace(self, runs=runs.get(scale, self.runs))

    def label(self, part: str) -> str:
        """The spec of the learner, adversary or graph."""
        value = getattr(self, part)
        return value if isinstance(value, str) else str(value.spec)

    @property
    def key(self) -> str:
        """The whole setting as one line."""
        parts = [self.label("learner"), self.label("adversary"), self.graph]
        parts.append(f"T={self.horizon or 'all'}")
        if self.comparator_norm is not None:
            parts.append(f"B={self.comparator_norm:g}")
        return " | ".join(parts)
