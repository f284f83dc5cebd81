"""The frontier of a weak learning condition: for each edge gamma the smallest excess loss S, with confidence.

In one run G(gamma) is the largest excess sum w c_l - (1 - gamma)/k sum w after any round, and the condition
holds at level delta for just those S that are at least S(gamma), the (1 - delta)-quantile of G(gamma). Both are
nondecreasing in gamma. Limits on the quantile are order statistics: the number of runs with G at most the
quantile is binomial with a success probability of at least 1 - delta, the number below it with one of at most that,
whatever the law of G. At half of level/m to either side they hold at m edges at once, and between the edges by
monotony.

=====================  =======================================================================
symbol                 name here
=====================  =======================================================================
gamma, S               ``edge``, excess loss
G(gamma)               ``reached``: one number for each run and edge, shape (R, m)
1 - level              ``confidence``: with which the limits hold at all edges at once
=====================  =======================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from ...arrays import FloatArray
from ...errors import require

CONFIDENCE = 0.95
"""Probability with which a band holds at all edges at once."""


def ranks(runs: int, delta: float, level: float) -> tuple[int, int]:
    """Which of the values of so many runs, in order and counted from 1, are a lower and an upper limit on their
    (1 - delta)-quantile, each wrong with probability at most ``level``.

    Returns
    -------
    0 for a lower limit that no run gives, ``runs + 1`` for such an upper one
    """
    counts = np.arange(runs)
    low = np.count_nonzero(scipy.stats.binom.cdf(counts, runs, 1 - delta) <= level)
    high = 1 + np.count_nonzero(scipy.stats.binom.sf(counts, runs, 1 - delta) > level)
    return int(low), int(high)


def runs_for_limits(delta: float, edges: int, confidence: float = CONFIDENCE) -> int:
    """Fewest runs with which a band over so many edges is finite above: ln((1 - confidence)/(2m)) / ln(1 - delta),
    rounded up."""
    level = (1 - confidence) / (2 * edges)
    return math.ceil(math.log(level) / math.log1p(-delta))


def lower_limits(reached: FloatArray, delta: float, level: float) -> FloatArray:
    """Lower limits on the quantiles that are all right with probability at least 1 - ``level``, shape (m,).

    Parameters
    ----------
    reached : G of each run at each edge, shape (R, m)
    """
    runs, edges = reached.shape
    low, _ = ranks(runs, delta, level / edges)
    found: FloatArray = _ordered(reached)[low]
    return found


def _ordered(reached: FloatArray) -> FloatArray:
    """The values at each edge in order, between 0 and infinity; shape (R + 2, m)."""
    padding = np.zeros((1, reached.shape[1]))
    return np.concatenate([padding, np.sort(reached, axis=0), padding + np.inf])


@dataclass(frozen=True, eq=False)
class Band:
    """A band: limits on the smallest excess loss S(gamma) at m edges; each array has shape (m,).

    Attributes
    ----------
    edges : increasing
    low, high : limits on S, nondecreasing; ``high`` is infinite where the runs are too few
    middle : the quantile of the runs
    delta, runs, confidence : of what the limits are made
    """

    edges: FloatArray
    low: FloatArray
    middle: FloatArray
    high: FloatArray
    delta: float
    runs: int
    confidence: float = CONFIDENCE

    @classmethod
    def of(
        cls,
        reached: FloatArray,
        edges: FloatArray,
        delta: float,
        confidence: float = CONFIDENCE,
    ) -> Band:
        """The frontier of runs that reached G, at least 0, at each edge; shape (R, m).

        Raises
        ------
        UserError
            for edges that do not increase within [0, 1], or a delta outside (0, 1)
        """
        edges = np.asarray(edges, dtype=np.float64)
        legal = edges.size > 0 and bool((np.diff(edges) > 0).all())
        require(
            legal and edges[0] >= 0 and edges[-1] <= 1,
            f"edges {edges.tolist()}: expected increasing numbers in [0, 1].",
        )
        require(0 < delta < 1, f"delta={delta}: expected a number in (0, 1).")
        runs, m = reached.shape
        low, high = ranks(runs, delta, (1 - confidence) / (2 * m))
        # with rounding 1 - delta of the runs may come out above a whole number
        middle = math.ceil((1 - delta) * runs - 1e-9)
        ordered = _ordered(reached)
        return cls(edges, ordered[low], ordered[middle], ordered[high], delta, runs, confidence)

    @property
    def runs_needed(self) -> int:
        """Fewest runs with which the upper limits are finite."""
        return runs_for_limits(self.delta, len(self.edges), self.confidence)

    def edges_at(self, excess_loss: float) -> tuple[float, float]:
        """Limits on the largest edge for which the condition holds with this S: -inf where none is known to be
        small enough, inf where none is known to be too large."""
        held, refuted = self.high <= excess_loss, self.low > excess_loss
        least = float(self.edges[held][-1]) if held.any() else -math.inf
        return least, float(self.edges[refuted][0]) if refuted.any() else math.inf


@dataclass(frozen=True, eq=False)
class Frontiers:
    """The frontiers of a weak learner on a stream, beside the excess losses that are known.

    Attributes
    ----------
    any_time : of the largest excess after any round
    at_end : of the excess after the last round, at least 0
    known : the S that is known for each edge, NaN where none is, shape (m,)
    anytime : whether that is for all rounds at once, and not for each number of rounds by itself
    rounds : T
    """

    any_time: Band
    at_end: Band
    known: FloatArray
    anytime: bool
    rounds: int

    @property
    def judged(self) -> Band:
        """The frontier that the known S is about."""
        return self.any_time if self.anytime else self.at_end

    @property
    def edges(self) -> FloatArray:
        """The grid, shape (m,)."""
        return self.any_time.edges

    def to_json(self) -> dict[str, Any]:
        """Its numbers, under the keys of the result file; null for what is not known or infinite."""
        any_time = self.any_time
        columns = {name: getattr(any_time, name) for name in _LIMITS}
        columns |= {f"end_{name}": getattr(self.at_end, name) for name in _LIMITS}
        columns |= {"known": self.known}
        return {
            "rounds": self.rounds,
            "runs": any_time.runs,
            "delta": any_time.delta,
            "confidence": any_time.confidence,
            "anytime": self.anytime,
            "edges": self.edges.tolist(),
        } | {
            name: [x if math.isfinite(x) else None for x in column.tolist()]
            for name, column in columns.items()
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Frontiers:
        """The frontiers that :meth:`to_json` wrote; LookupError, TypeError or ValueError for anything else."""

        def column(name: str, absent: float) -> FloatArray:
            values = [absent if x is None else x for x in found[name]]
            if len(values) != len(found["edges"]):
                raise ValueError(f"{len(values)} {name} for {len(found['edges'])} edges")
            if not all(_is_number(x) for x in values):
                raise ValueError(f"{name} has a value that is no number")
            return np.array(values, dtype=np.float64)

        def number(name: str, legal: type | tuple[type, ...] = (int, float)) -> Any:
            if isinstance(found[name], bool) != (legal is bool) or not isinstance(
                found[name], legal
            ):
                raise ValueError(f"{name}={found[name]!r} is not of its type")
            return found[name]

        def limits(prefix: str) -> Band:
            low, middle, high = (column(prefix + name, np.inf) for name in _LIMITS)
            if not (np.isfinite(middle).all() and (low <= middle).all() and (middle <= high).all()):
                raise ValueError(f"{prefix}low, {prefix}middle and {prefix}high are not in order")
            edges, delta = column("edges", np.nan), float(number("delta"))
            if not (np.diff(edges) > 0).all() or not edges.size or np.isnan(edges).any():
                raise ValueError("edges do not increase")
            runs, confidence = number("runs", int), float(number("confidence"))
            return Band(edges, low, middle, high, delta, runs, confidence)

        known = column("known", np.nan)
        return cls(
            limits(""), limits("end_"), known, number("anytime", bool), number("rounds", int)
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_LIMITS = ("low", "middle", "high")
