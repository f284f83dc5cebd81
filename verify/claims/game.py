"""The rules of the game itself: a learner must not use a label that was not revealed to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...arrays import FloatArray
from ...errors import LearnerError
from ..author import Audit, Cell, Claim, Evidence, Form, Proof
from ..games.labels.case import Case
from ..games.labels.record import ACTION, OBSERVED
from ..judges.audit import violated_in
from .gappletron.settings import audit_settings
from .papers import GAPPLETRON


def _relabelled(
    case: Case, actions: NDArray[np.int64], observed: NDArray[np.bool_]
) -> tuple[Case, int]:
    """The case with unseen labels replaced by others that the same action would not show either, and
    how many were."""
    graph, labels = case.graph, case.sequence.labels.copy()
    changed = 0
    for t in np.flatnonzero(~observed):
        unseen = np.flatnonzero(~graph.observes[actions[t]])
        unseen = unseen[unseen != labels[t]]
        if unseen.size:
            labels[t] = unseen[(labels[t] + t) % unseen.size]
            changed += 1
    return replace(case, sequence=case.sequence.relabelled(labels)), changed


def _same_again(case: Case, run: int, before: FloatArray, interpreted: bool) -> None:
    """Play with the original labels once more: only a learner that repeats itself can be accused.

    Raises
    ------
    LearnerError
        where the probabilities are others than ``before``, shape (rounds, actions)
    """
    again = list(case.game.play(run, trace=True, interpreted=interpreted))
    same = (np.concatenate([block.probabilities for block in again]) == before).all(axis=1)
    if not same.all():
        raise LearnerError(
            f"learner {case.learner.spec} played run {run} twice and gave other probabilities in"
            f" round {int(np.argmin(same))}: expected it to be deterministic, with randomness from a seed and"
            " no state shared between instances."
        )


def audit(cell: Cell, runs: int, *, interpreted: bool = False) -> Evidence:
    """Play, change the labels that were not revealed, play again with the same draws, and compare."""
    case = cell.case
    found = Evidence(observed=0.0, envelope=0.0, live=0)
    for run in range(runs):
        first = list(case.game.play(run, trace=True, interpreted=interpreted))
        columns = np.concatenate([block.columns for block in first])
        actions = columns[:, ACTION].astype(np.int64)
        other, here = _relabelled(case, actions, columns[:, OBSERVED] > 0)
        again = list(other.game.play(run, trace=True, interpreted=interpreted))
        before = np.concatenate([block.probabilities for block in first])
        after = np.concatenate([block.probabilities for block in again])
        found.runs += 2
        found.rounds += 2 * len(columns)
        found.live += here
        different = np.flatnonzero((before != after).any(axis=1))
        if different.size:
            at = int(different[0])
            _same_again(case, run, before, interpreted)
            found.observed = float(np.abs(before[at] - after[at]).max())
            content = {
                "before": before[at].tolist(),
                "after": after[at].tolist(),
                "labels_changed": here,
            }
            says, values = "p depends on labels that were not revealed", (found.observed, 0.0)
            return violated_in(cell, found, (run, at), says, values, content)
    found.says = (
        f"{found.live} unseen labels changed in {runs} runs, p the same bit for bit"
        if found.live
        else "no label was hidden that could have been another"
    )
    return found


NO_PEEKING = Claim(
    id="game/no-peeking",
    title="probabilities depend on revealed labels only",
    source=GAPPLETRON.at("Section 1, the protocol"),
    forms=(
        Form(
            "printed",
            r"p_t(y_1,\dots,y_{t-1}) = p_t(y'_1,\dots,y'_{t-1}) \text{ whenever the feedback is the same}",
            Proof.PROVED,
            "the protocol: labels that give the same feedback must leave the same learner",
        ),
    ),
    judge=Audit(audit),
    cases=audit_settings,
)
