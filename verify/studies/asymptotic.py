"""The share of mistakes that the bound of a booster leaves in the limit of many rounds."""

from __future__ import annotations

import math
from dataclasses import fields
from functools import cache

from ...algorithms.boosting.majority import BanditBBM, OnlineMBBM
from ...algorithms.spec import check_keys, split_spec
from ...errors import UserError
from .. import catalog


@cache
def asymptotic_share(spec: str, n_labels: int) -> float | None:
    """(k - 1) exp(-gamma^2 N / 2) of OnlineMBBM and BanditBBM, if their weak learners have the edge they play with.

    None for other learners. That of the adaptive boosters takes the sum of the squared empirical edges, which is known
    after play only. Source: Online Multiclass Boosting with Bandit Feedback, the section of BanditBBM.
    """
    kind = catalog.learners().get(spec.partition(":")[0])
    if kind not in (OnlineMBBM, BanditBBM):
        return None
    try:  # without the weak learners, which may be of a file
        name, given = split_spec(spec)
        check_keys(name, given, [field.name for field in fields(kind)])
        own = [f"{key}={given[key]}" for key in ("gamma", "learners") if key in given]
        booster = catalog.learner(":".join([name, *([",".join(own)] if own else [])]))
    except UserError:  # of results that another version wrote
        return None
    return (n_labels - 1) * math.exp(-booster.gamma * booster.gamma * booster.learners / 2)
