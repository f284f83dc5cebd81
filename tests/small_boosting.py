"""A study of boosters that is played in a second: tables on an axis, places in specs, graphs of their own, twins."""

from __future__ import annotations

import tomllib
from typing import Any

from boundcheck.verify.studies import study as studies

BOOSTING = """
seeds = 2
measures = ["best_label_mistakes"]
panels = ["data", "N"]
[grid]
N = [1, 4]
graph = "bandit"
horizon = 300
[[grid.data]]
name = "edge"
adversary = "oracle-labels:n_labels=3,learners=4,edge=0.5"
weak = "oracle-noise"
gamma = 0.5
[[grid.data]]
name = "wine"
adversary = "bundled:name=wine,form=binary"
weak = "hedge-stump+rate=1"
gamma = 0.1
[learners.Full]
graph = "full"
any = "online-mbbm:learners={N},gamma={gamma},weak={weak}"
[learners.Bandit]
low = "bandit-bbm:learners={N},gamma={gamma},weak={weak},rho=0.1"
high = "bandit-bbm:learners={N},gamma={gamma},weak={weak},rho=0.4"
[twins]
Bandit = "Full"
"""


def boosting(**changes: Any) -> studies.Study:
    """The study of boosters with some keys of its file replaced."""
    return studies.parse("boosters", {**tomllib.loads(BOOSTING), **changes})
