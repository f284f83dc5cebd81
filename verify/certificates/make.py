"""Certificates: small JSON files that let anyone check a refutation.

``exact``: the instance alone. Replay derives both sides again in exact arithmetic, without numba, game or
learner. ``played``: the game, down to the replicate and the round; replay plays it again with the plain Python
loop and compares every number bit for bit.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from ...algorithms.spec import tidy
from ...atomic import put
from ...errors import UserError
from ..claim import Claim, Form
from ..exact.numbers import Interval, Undecided
from ..games.labels.case import Case
from ..games.labels.user_learner import source_of
from ..games.weak.case import WeakCase
from .instances import Instance

AnyCase: TypeAlias = Case | WeakCase

SCHEMA = 1


@dataclass(frozen=True)
class Certificate:
    """A refutation.

    Attributes
    ----------
    content : everything in the file but the digest
    values : observed side and envelope, rounded
    where : the place of the violation in a few words
    instance : the instance of an exact certificate
    """

    content: dict[str, Any]
    values: tuple[float, float]
    where: str
    instance: Instance | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return digest_of(self.content)

    @property
    def file_name(self) -> str:
        """A name that tells the claim and is the same for the same content."""
        claim = self.content["claim"].replace("/", "-")
        return f"{claim}-{self.content['form']}-{self.digest[:12]}.json"

    @property
    def text(self) -> str:
        """The content of its file."""
        content = self.content | {"digest": self.digest}
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def write(self, folder: Path) -> Path:
        """Write the certificate into ``folder`` and return its path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.file_name
        put({path: self.text.encode()})
        return path


def _canonical(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def length(instance: Instance) -> int:
    """Of an instance as text, in characters; the shorter one makes the better certificate."""
    return len(_canonical(instance.to_json()))


def digest_of(content: dict[str, Any]) -> str:
    """SHA-256 of a certificate's content, without the digest itself."""
    return hashlib.sha256(_canonical(content).encode()).hexdigest()


def header(kind: str, claim: Claim, form: Form) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "kind": kind,
        "claim": claim.id,
        "form": form.name,
        "statement": form.statement,
        "source": str(claim.source),
    }


def audit_of(claim: Claim, form: Form, case: Case, replicate: int, at: int) -> dict[str, Any]:
    """The head of a certificate that a game is played again for and looked at in one round."""
    return header("audit", claim, form) | {
        "game": game_of(case),
        "sequence": case.digest(),
        "replicate": replicate,
        "round": at,
    }


def violation(claim: Claim, form: Form, instance: Any) -> tuple[Interval, Interval] | None:
    """Observed side and envelope of an instance that violates the claim beyond doubt, or None."""
    assert claim.certify is not None
    try:
        observed, envelope = claim.certify(instance, form)
        return (observed, envelope) if envelope.certainly_less(observed) else None
    except (Undecided, UserError):
        return None


def exact_certificate(claim: Claim, form: Form, instance: Any) -> Certificate | None:
    """The certificate of an instance that violates the claim beyond doubt, or None."""
    if (sides := violation(claim, form, instance)) is None:
        return None
    observed, envelope = sides
    try:
        derived = instance.derived
    except (Undecided, UserError):
        return None
    content = header("exact", claim, form) | {
        "instance_kind": instance.kind,
        "instance": instance.to_json(),
        "derived": derived,
        "sides": {"observed": observed.to_json(), "envelope": envelope.to_json()},
    }
    values = (float(observed), float(envelope))
    return Certificate(content, values, "an exact instance", instance)


def _plain(value: float) -> float | str:
    """A number as JSON can hold it: the weight of a label that is never observed is written "inf"."""
    return float(value) if math.isfinite(value) else repr(float(value))


def game_of(case: AnyCase) -> dict[str, Any]:
    """Everything that is needed to play a case again, in one way of writing it, and what follows from it
    before any round."""
    setting = case.setting
    return {
        "learner": tidy(setting.label("learner")),
        "learner_source": source_of(setting.label("learner")),
        "adversary": tidy(setting.label("adversary")),
        "graph": tidy(setting.graph),
        "horizon": None if setting.horizon is None else int(setting.horizon),
        "radius": None if setting.radius is None else float(setting.radius),
        "seed": int(case.seed),
        "resolved": case.resolved,
    }


def played_certificate(
    claim: Claim, form: Form, case: Case, replicate: int, at: int
) -> Certificate:
    """The certificate of a violation in round ``at`` (from 0) of a replicate, by playing it again."""
    numbers = numbers_at(claim, form, case, replicate, at)
    content = header("played", claim, form) | {
        "game": game_of(case),
        "replicate": int(replicate),
        "round": int(at),
        "numbers": numbers,
    }
    bad = numbers["rounds"][-1]
    values = (float(bad["observed"]), float(bad["envelope"]))
    return Certificate(content, values, f"replicate {replicate}, round {at}")


def violates(played: Certificate) -> bool:
    """Whether the claim is violated in the last round of a played certificate, beyond rounding."""
    observed, envelope = played.values
    return observed - envelope > float(played.content["numbers"]["rounds"][-1]["tolerance"])


def statistical_certificate(
    claim: Claim,
    form: Form,
    case: AnyCase,
    replicates: int,
    values: tuple[float, float],
    evidence: str,
    numbers: dict[str, Any],
) -> Certificate:
    """The certificate of a refutation by sampling, by playing all its runs again."""
    content = header("statistical", claim, form) | {
        "game": game_of(case),
        "replicates": int(replicates),
        "sequence": case.digest(),
        "last_draws": case.draws(replicates - 1),
        **numbers,
    }
    return Certificate(content, values, evidence)


def numbers_at(
    claim: Claim, form: Form, case: Case, replicate: int, at: int, *, shown: int = 10
) -> dict[str, Any]:
    """Play a replicate up to round ``at`` with the plain Python loop and write down what is compared.

    Returns
    -------
    the digest of the sequence, the sums of the recorded columns, and both sides in the last rounds
    """
    totals: list[float] = []
    rows: list[dict[str, Any]] = []
    for rounds in case.replicate(replicate, interpreted=True, stop=at + 1):
        assert claim.sides is not None
        sides = claim.sides(case, form, rounds)
        block = rounds.block
        sums = block.columns.sum(axis=0).tolist() + block.probabilities.sum(axis=0).tolist()
        totals = [a + b for a, b in zip(totals or [0.0] * len(sums), sums, strict=True)]
        rows += [
            {
                "round": block.start + i,
                "label": int(block.labels[i]),
                "probabilities": block.probabilities[i].tolist(),
                "observed": _plain(sides.observed[i]),
                "envelope": _plain(sides.envelope[i]),
                "tolerance": _plain(sides.tolerance[i]),
            }
            for i in range(max(0, len(block) - shown), len(block))
        ]
    return {
        "sequence": case.digest(),
        "first_draws": case.draws(replicate),
        "sums": [repr(total) for total in totals],
        "rounds": rows[-shown:],
    }
