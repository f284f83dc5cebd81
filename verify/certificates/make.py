"""Certificates are made here: small JSON files that let anyone check a refutation.

``exact``: the instance alone. Replay derives both sides again in exact arithmetic, without numba, game or
learner. ``played``: the game, down to the run and the round; replay plays it again with the plain Python
loop and compares every number bit for bit. ``audit``: a game that is looked at once more in one round.
``statistical``: a game, and what its runs add up to; replay plays all of them again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...algorithms.spec import tidy
from ...errors import UserError
from ..claim import Cell, Claim, Form
from ..exact.numbers import Interval, Undecided
from ..outcome import Certificate, canonical
from ..user_files.load import source_of
from .instances import Instance

SCHEMA = 3

EARLIER = {1: "boundcheck 0.1", 2: "boundcheck 0.2"}
"""Earlier schemas, and who wrote them."""


def length(instance: Instance) -> int:
    """Length of an instance as text, in characters; the shorter one makes the better certificate."""
    return len(canonical(instance.to_json()))


def header(kind: str, claim: Claim, form: Form, schema: int = SCHEMA) -> dict[str, Any]:
    """The first fields of every certificate."""
    return {
        "schema": schema,
        "kind": kind,
        "claim": claim.id,
        "form": form.name,
        "statement": form.statement,
        "source": str(claim.source),
    }


def game_of(case: Any) -> dict[str, Any]:
    """Everything that is needed to play a case again, in one way of writing it, and what follows from it
    before any round."""
    setting = case.setting
    bound, source = setting.comparator_norm, source_of(setting.label("adversary"))
    return {
        "learner": tidy(setting.label("learner")),
        "learner_source": source_of(setting.label("learner")),
        "adversary": tidy(setting.label("adversary")),
        **({} if source is None else {"adversary_source": source}),
        "graph": tidy(setting.graph),
        "horizon": None if setting.horizon is None else int(setting.horizon),
        "comparator_norm": None if bound is None else float(bound),
        "seed": int(case.seed),
        "resolved": case.resolved,
    }


def violation(claim: Claim, form: Form, instance: Any) -> tuple[Interval, Interval] | None:
    """Observed side and envelope of an instance that violates the claim beyond doubt, or None."""
    try:
        if form.unmet_by(instance) is not None:
            return None
        sides = claim.judge.exact_sides(instance, form)
        if sides is None:
            return None
        less, more = sides if claim.judge.relation == ">=" else sides[::-1]
        return sides if less.certainly_less(more) else None
    except (Undecided, UserError):
        return None


def exact_certificate(
    claim: Claim, form: Form, instance: Any, schema: int = SCHEMA
) -> Certificate | None:
    """The certificate of an instance that violates the claim beyond doubt, or None; in an earlier schema if wanted."""
    if (sides := violation(claim, form, instance)) is None:
        return None
    observed, envelope = sides
    try:
        derived = instance.derived
    except (Undecided, UserError):
        return None
    content = header("exact", claim, form, schema) | {
        "instance_kind": instance.kind,
        "instance": instance.to_json(),
        "derived": derived,
        "sides": {"observed": observed.to_json(), "envelope": envelope.to_json()},
    }
    values = (float(observed), float(envelope))
    return Certificate(content, values, "an exact instance", instance)


def shrink(claim: Claim, form: Form, refuting: Iterable[Instance]) -> Certificate | None:
    """The certificate of the shortest of some instances that refute, after its numbers were made simpler, one at a
    time, while it still refutes."""
    found = sorted(refuting, key=length, reverse=True)
    while found:
        shortest = found[-1]
        shorter = (each for each in shortest.simpler() if length(each) < length(shortest))
        better = next((each for each in shorter if violation(claim, form, each)), None)
        if better is None:
            break
        found.append(better)
    proofs = (exact_certificate(claim, form, each) for each in reversed(found))
    return next((proof for proof in proofs if proof is not None), None)


def audit_certificate(
    cell: Cell,
    run: int,
    at: int,
    found: dict[str, Any],
    values: tuple[float, float],
    where: str,
) -> Certificate:
    """The certificate of what was found in round ``at`` (from 0) of a run that is to be looked at once more."""
    content = header("audit", cell.claim, cell.form) | {
        "game": game_of(cell.case),
        "sequence": cell.case.digest(),
        "replicate": run,
        "round": at,
    }
    return Certificate(content | found, values, where)


def played_certificate(
    cell: Cell, sides: Any, run: int, at: int, comparator: Any = None
) -> Certificate:
    """The certificate of a violation in round ``at`` (from 0) of a run, by playing it again.

    Parameters
    ----------
    sides : from case, form and rounds to both sides, each of shape (rounds,)
    comparator : whom the learner is compared with, where it is not the comparator of the case; it is written down
    """
    given = {}
    if comparator is not None:
        given["comparator"] = comparator.written()
        cell = replace(cell, case=cell.case.against(comparator))
    numbers = numbers_at(cell, sides, run, at)
    content = header("played", cell.claim, cell.form) | {
        "game": game_of(cell.case),
        "replicate": int(run),
        "round": int(at),
        "numbers": numbers,
        **given,
    }
    bad = numbers["rounds"][-1]
    values = (float(bad["observed"]), float(bad["envelope"]))
    return Certificate(content, values, f"run {run}, round {at}")


def violates(played: Certificate) -> bool:
    """True if the claim is violated in the last round of a played certificate, beyond rounding."""
    observed, envelope = played.values
    return observed - envelope > float(played.content["numbers"]["rounds"][-1]["tolerance"])


def statistical_certificate(
    cell: Cell, runs: int, values: tuple[float, float], evidence: str, numbers: dict[str, Any]
) -> Certificate:
    """The certificate of a refutation by sampling, by playing all its runs again."""
    content = header("statistical", cell.claim, cell.form) | {
        "game": game_of(cell.case),
        "replicates": int(runs),
        "sequence": cell.case.digest(),
        "last_draws": cell.case.draws(runs - 1),
        **numbers,
    }
    return Certificate(content, values, evidence)


def _plain(value: float) -> float | str:
    """A number as JSON can hold it: the weight of a label that is never observed is written "inf"."""
    return float(value) if math.isfinite(value) else repr(float(value))


def numbers_at(cell: Cell, sides_of: Any, run: int, at: int, *, shown: int = 10) -> dict[str, Any]:
    """Play a run up to round ``at`` with the plain Python loop and write down what is compared.

    Returns
    -------
    the digest of the sequence, the sums of the recorded columns, and both sides in the last rounds
    """
    totals: list[float] = []
    rows: list[dict[str, Any]] = []
    for rounds in cell.case.play(run, interpreted=True, stop=at + 1):
        sides = sides_of(rounds.case, cell.form, rounds)
        sums = rounds.sums()
        totals = [a + b for a, b in zip(totals or [0.0] * len(sums), sums, strict=True)]
        rows += [
            {"round": rounds.start + i}
            | dict(rounds.written(i))
            | {
                "observed": _plain(sides.observed[i]),
                "envelope": _plain(sides.envelope[i]),
                "tolerance": _plain(sides.tolerance[i]),
            }
            for i in range(max(0, len(rounds) - shown), len(rounds))
        ]
    return {
        "sequence": cell.case.digest(),
        "first_draws": cell.case.draws(run),
        "sums": [repr(total) for total in totals],
        "rounds": rows[-shown:],
    }
