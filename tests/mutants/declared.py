"""All mutants that are declared."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

import explores
import flawed_baselines
import learns
import mutant_boosters
import plays
import steps
import weak
from judged import Mutant

from boundcheck.verify.suite.pytest_checks import as_learner


def _classes(module: ModuleType, family: str, group: str) -> list[Mutant]:
    """The classes of a file that declare by what they are caught."""
    return [
        Mutant(
            re.sub("(?<!^)(?=[A-Z])", " ", name).lower(),
            family,
            as_learner(made),
            frozenset(
                claim if "/" in claim else f"{group}/{claim}" for claim in made.caught_by.split()
            ),
            inspect.getdoc(made) or "",
            getattr(made, "kind", "caught"),
        )
        for name, made in vars(module).items()
        if inspect.isclass(made) and "caught_by" in vars(made)
    ]


GAPPLETRON = [
    mutant
    for module in (plays, explores, learns, steps)
    for mutant in _classes(module, f"gappletron, {module.__name__}", "gappletron")
]
WEAK = _classes(weak, "weak learner", "boosting")
MUTANTS = [*GAPPLETRON, *flawed_baselines.MUTANTS, *mutant_boosters.MUTANTS, *WEAK]
