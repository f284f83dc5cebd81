"""The verdict: evidence in, one word out. Nothing else in the program decides one.

A verdict is never louder than its evidence, and the quieter words are asked for first:

1. ``not applicable``: a hypothesis turned out not to be met.
2. ``vacuous``: nothing that was looked at could have failed, whatever the learner did.
3. ``refuted``: violated in exact arithmetic or by a game that can be played again, or with an e-value (a p-value for a
   law) beyond the level of a sampled cell. It comes with a certificate.
4. ``error``: it looks violated, and the violation does not come back when it is played again.
5. ``holds``: not refuted, with enough evidence by the rule of the kind; ``undecided`` without.
"""

from __future__ import annotations

import math

from ..outcome import Evidence, Outcome, Verdict

LEVEL = 1e-9
"""False-alarm level of one sampled cell."""


def exceeds_level(log_e_value: float, level: float = LEVEL) -> bool:
    """True if an e-value, by its logarithm, refutes at this level."""
    return log_e_value >= -math.log(level)


def verdict_of(found: Evidence) -> Verdict:
    """The verdict that evidence supports; see the module."""
    if found.unmet is not None:
        return Verdict.NOT_APPLICABLE
    if found.live == 0:
        return Verdict.VACUOUS
    if found.refutes:
        return Verdict.REFUTED
    if found.trouble is not None:
        return Verdict.ERROR
    return Verdict.HOLDS if found.enough else Verdict.UNDECIDED


def decide(found: Evidence) -> Outcome:
    """The outcome of a cell, with its certificate where the statement is refuted."""
    verdict = verdict_of(found)
    words = found.unmet or found.says
    if verdict == Verdict.ERROR:
        words = found.trouble or ""
    open_ = verdict in (Verdict.HOLDS, Verdict.UNDECIDED)
    return Outcome(
        verdict,
        found.observed,
        found.envelope,
        found.ratio,
        found.regret_ratio,
        found.headroom if open_ else None,
        found.more.get(verdict, words),
        found.runs,
        found.rounds,
        found.flags,
        found.certify() if verdict == Verdict.REFUTED else None,
        found.tested_from,
        found.sampled,
        found.curve,
        found.frontiers,
    )
