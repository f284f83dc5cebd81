"""The learners of a study: specs by tuning, graphs of single learners, and pairs to be compared."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ...errors import require, unknown

ANY = "any"
"""The tuning of a learner that has only one."""

BEST = "best"
"""The tuning of a learner that makes fewer mistakes on average, chosen anew in each setting."""


def parse(where: str, given: Any) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """The specs of each learner by tuning, and the graphs of those that have their own.

    Raises
    ------
    UserError
        for what is no learner, and a tuning with a name that means something else
    """
    require(
        isinstance(given, dict) and given != {},
        f"{where}: learners is a table of at least one learner, as in [learners].",
    )
    found, own_graphs = {}, {}
    for name, specs in given.items():
        tunings = {ANY: specs} if isinstance(specs, str) else specs
        require(
            isinstance(tunings, dict)
            and {*tunings} - {"graph"} != set()
            and all(isinstance(spec, str) for spec in tunings.values()),
            f"learner '{name}' of {where} is {specs!r}: expected a spec, or a spec for each tuning.",
        )
        require(
            BEST not in tunings,
            f"learner '{name}' of {where} has the tuning '{BEST}': the report gives this name to the"
            " better one of its tunings; expected another.",
        )
        found[name] = {tuning: spec for tuning, spec in tunings.items() if tuning != "graph"}
        if "graph" in tunings:
            own_graphs[name] = tunings["graph"]
    return found, own_graphs


def parse_twins(where: str, given: Any, learners: Collection[str]) -> dict[str, str]:
    """For each learner in the table the one that it is compared with.

    Raises
    ------
    UserError
        for names that the study does not have, and a learner compared with itself
    """
    require(isinstance(given, dict), f"{where}: twins is a table, as in [twins].")
    for name, twin in given.items():
        for learner in (name, twin):
            if learner not in learners:
                raise unknown(f"learner in the twins of {where}", str(learner), learners)
        require(name != twin, f"learner '{name}' of {where} is its own twin: expected another.")
    return dict(given)
