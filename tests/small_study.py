"""A study that is played in a second."""

from __future__ import annotations

import tomllib
from typing import Any

from boundcheck.verify.studies import study as studies

SMALL = """
seeds = 2
[grid]
adversary = "keywords"
keyword_scale = [1, 2]
noise = 0.1
graph = "bandit"
horizon = 50
[learners]
Guesser = "uniform"
[learners.Gap]
ones = "gappletron:gamma=ones"
theory = "gappletron:gamma=theorem-4a"
"""


def small(**changes: Any) -> studies.Study:
    """The small study with some keys of its file replaced."""
    return studies.parse("small", {**tomllib.loads(SMALL), **changes})
