"""Replaying a certificate: everything in it is derived again and compared.

An exact certificate needs no numba, no game and no learner. A played one plays the game again with the
plain Python loop, a statistical one plays all its runs again, compiled where numba is there. Whatever
number was changed, another disagrees, also when the digest is made to fit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import UserError, require
from .. import catalog
from ..claim import Cell, Claim, Form, RoundByRound
from ..judges.decide import decide
from ..outcome import Certificate, digest_of
from ..resolve import resolve
from ..setting import Setting
from ..user_files.load import only
from . import instances
from .make import EARLIER, SCHEMA, exact_certificate, game_of, header, played_certificate, violates
from .reading import read, too_deep
from .trust import trusted_files


@dataclass(frozen=True)
class Replay:
    """A certificate that was accepted.

    Attributes
    ----------
    claim, form : what is refuted
    observed, envelope : both sides at the violation, rounded
    content : the certificate
    rows : the violation and up to nine rounds before it; a name and a value for each column
    """

    claim: Claim
    form: Form
    observed: float
    envelope: float
    content: dict[str, Any]
    rows: list[dict[str, Any]]


def replay(path: Path, trust: bool = False) -> Replay:
    """Derive a certificate again and return it if every number agrees and the claim is violated.

    Parameters
    ----------
    path : the file
    trust : whether classes of the user's that the certificate names may be run, from files that are as it says

    Raises
    ------
    UserError
        if the file is damaged, anything in it disagrees with what is derived, or something would be run without
        ``trust``
    """
    try:
        content = read(path)
        digest = content.pop("digest")
        require(
            digest == digest_of(content),
            f"certificate '{path}' is damaged: its digest does not fit its content.",
        )
        with only(trusted_files(path, content, trust)):
            return _replay(path, content)
    except RecursionError:
        raise too_deep(path) from None


def _replay(path: Path, content: dict[str, Any]) -> Replay:
    known = catalog.claims()
    require(
        content["claim"] in known,
        f"claim '{content['claim']}' of '{path}' is unknown: a claim of yours is found with"
        " --claims FILE.",
    )
    claim = known[content["claim"]]
    names = [form.name for form in claim.forms]
    require(
        content["form"] in names,
        f"certificate '{path}' is about the form '{content['form']}' of {claim.id}, which this version does not"
        f" have: expected one of {', '.join(names)}; verify again.",
    )
    form = claim.form(content["form"])
    for name, value in header(content["kind"], claim, form, content["schema"]).items():
        if content.get(name) != value:
            raise _changed(path, content) if content["schema"] != SCHEMA else _differs(path, name)
    replays = {"exact": _exact, "played": _played, "audit": _audit, "statistical": _statistical}
    if content["kind"] not in replays:
        raise UserError(
            f"certificate '{path}' has kind '{content['kind']}': expected one of {', '.join(replays)}."
        )
    try:
        return replays[content["kind"]](path, content, claim, form)
    except UserError:
        raise
    except (
        LookupError,
        TypeError,
        AttributeError,
        ValueError,
        ArithmeticError,
        MemoryError,
    ) as error:
        raise UserError(f"certificate '{path}' is damaged: {error!r}.") from None


def _changed(path: Path, content: dict[str, Any]) -> UserError:
    return UserError(
        f"certificate '{path}' was written by {EARLIER[content['schema']]} and quotes '{content['claim']}' in other"
        " words than this version: verify again."
    )


def _differs(path: Path, name: str) -> UserError:
    return UserError(
        f"certificate '{path}' is rejected: '{name}' is not what follows from its other numbers."
    )


def _exact(path: Path, content: dict[str, Any], claim: Claim, form: Form) -> Replay:
    kind, numbers = content["instance_kind"], content["instance"]
    require(bool(claim.judge.instances), f"{claim.id} has no exact certificates.")
    instance = instances.from_json(kind, numbers, claim.judge.instances)
    if (reason := form.unmet_by(instance)) is not None:
        raise UserError(
            f"certificate '{path}' is rejected: {claim.id} ({form.name}) does not speak of its instance: {reason}."
        )
    proof = exact_certificate(claim, form, instance, content["schema"])
    if proof is None:
        raise UserError(
            f"certificate '{path}' is rejected: its instance does not violate {claim.id}."
        )
    _compare(path, content, proof.content)
    observed, envelope = proof.values
    row = content["instance"] | _named(form, proof.values)
    return Replay(claim, form, observed, envelope, content, [row])


LONGEST_GAME, MOST_ROUNDS = 10**7, 10**9
"""The longest game that is played again, and how many rounds of all its runs: some minutes, compiled."""


def _cell_of(path: Path, content: dict[str, Any], claim: Claim, form: Form, runs: int = 1) -> Cell:
    """The cell that a certificate is about."""
    game = content["game"]
    learner, spec, horizon = game["learner"], game["adversary"], game["horizon"]
    setting = Setting(learner, spec, game["graph"], horizon, game["comparator_norm"])
    if not spec.startswith("data:"):  # the rounds of a file are as many as they are
        rounds = getattr(catalog.adversary(spec), "rounds", None) if horizon is None else horizon
        require(
            rounds is None or (rounds <= LONGEST_GAME and rounds * runs <= MOST_ROUNDS),
            f"the game of the certificate has {rounds} rounds and {runs} runs: expected at most"
            f" {LONGEST_GAME:,} rounds and {MOST_ROUNDS:,} in all runs.",
        )
    case = resolve(setting, game["seed"])
    applies = catalog.game_about(claim).name == case.game_name and form.does_not_apply(case) is None
    require(applies, f"{claim.id} does not apply to the game of '{path}'.")
    # before it is played, which may take minutes
    _compare(path, {"game": game}, {"game": game_of(case)})
    holder = content if "sequence" in content else content["numbers"]
    _compare(path, {"sequence": holder["sequence"]}, {"sequence": case.digest()})
    return Cell(claim, form, case)


def _played(path: Path, content: dict[str, Any], claim: Claim, form: Form) -> Replay:
    sides = getattr(claim.judge, "sides", None)
    require(isinstance(claim.judge, RoundByRound), f"{claim.id} is not judged round by round.")
    cell = _cell_of(path, content, claim, form)
    at, run = content["round"], content["replicate"]
    horizon = cell.case.horizon
    require(
        isinstance(at, int) and 0 <= at < horizon,
        f"round {at} of '{path}': expected one of 0 to {horizon - 1}.",
    )
    require(isinstance(run, int) and run >= 0, f"run {run} of '{path}': expected at least 0.")
    written = content.get("comparator")
    comparator = None if written is None else cell.case.comparator_written(written)
    proof = played_certificate(cell, sides, run, at, comparator)
    _compare(path, content, proof.content)
    rows = proof.content["numbers"]["rounds"]
    observed, envelope = proof.values
    require(
        violates(proof),
        f"certificate '{path}' is rejected: round {at} does not violate {claim.id}.",
    )
    return Replay(claim, form, observed, envelope, content, rows)


def _examined(
    path: Path, cell: Cell, runs: int, interpreted: bool, content: dict[str, Any], why: str
) -> tuple[Certificate, Any]:
    """The certificate that the claim's judge makes of the same game, which agrees with the one that is replayed."""
    found = decide(cell.claim.judge.examine(cell, runs, interpreted=interpreted))
    if found.certificate is None:
        raise UserError(f"certificate '{path}' is rejected: {why} {cell.claim.id}.")
    _compare(path, content, found.certificate.content)
    return found.certificate, found


def _audit(path: Path, content: dict[str, Any], claim: Claim, form: Form) -> Replay:
    runs = content["replicate"] + 1
    cell = _cell_of(path, content, claim, form, runs)
    proof, _ = _examined(path, cell, runs, True, content, "its game does not violate")
    names = ("replicate", "round", "before", "after")
    row = {name: content[name] for name in names}
    return Replay(claim, form, *proof.values, content, [row])


def _statistical(path: Path, content: dict[str, Any], claim: Claim, form: Form) -> Replay:
    runs = content["replicates"]
    require(isinstance(runs, int) and runs >= 1, f"replicates {runs}: expected at least 1.")
    cell = _cell_of(path, content, claim, form, runs)
    proof, found = _examined(
        path, cell, runs, not _can_compile(), content, "its runs do not refute"
    )
    row = _told(content, found.rounds // runs, proof.values[1]) | {"evidence": found.evidence}
    row |= _named(form, proof.values)
    return Replay(claim, form, *proof.values, content, [row])


def _named(form: Form, values: tuple[float, float]) -> dict[str, float]:
    return dict(zip(form.names or ("observed", "envelope"), values, strict=True))


def _told(content: dict[str, Any], horizon: int, envelope: float) -> dict[str, Any]:
    """The contents of a statistical certificate about its game and its runs, a value each."""
    game = content["game"]
    row = {name: game[name] for name in ("learner", "adversary", "graph")}
    row |= {"T": horizon, "runs": content["replicates"]}
    if content.get("decisive", horizon) != horizon:
        row["refuted after rounds"] = content["decisive"]
    envelopes, observed = content.get("envelopes"), content.get("observed", [])
    if isinstance(envelopes, dict):
        for delta, bounds in envelopes.items():
            row[f"violations, delta = {delta}"] = _exceeded(observed, bounds)
    elif envelopes is None and observed:
        row["violations"] = _exceeded(observed, [envelope] * len(observed))
    if "violations" in content:
        row["violations"] = content["violations"]
    row |= _numbers(game["resolved"].get("declared", {})) | _numbers(content)
    return row


def _numbers(fields: dict[str, Any]) -> dict[str, float]:
    """The fields that are decimal numbers, by names to show them under."""
    shown = {"log_e_value": "log e-value", "p_value": "p-value"}
    return {
        shown.get(name, name): float(value)
        for name, value in fields.items()
        if isinstance(value, str) and _is_number(value)
    }


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _exceeded(observed: list[str], bounds: list[Any]) -> int:
    """The number of runs whose observed side exceeds its bound."""
    return sum(float(x) > float(y) for x, y in zip(observed, bounds, strict=True))


def _can_compile() -> bool:
    """True if numba is there; the plain Python loop gives the same numbers, but many runs take long."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True


def _compare(path: Path, stored: dict[str, Any], derived: dict[str, Any]) -> None:
    """Raise unless both are the same, down to the last digit."""
    for name in sorted({*stored, *derived}):
        # as text: 1, 1.0 and true are equal, 0.0 and -0.0 as well, but not the same
        if name not in stored or name not in derived or _text(stored[name]) != _text(derived[name]):
            raise _differs(path, name)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
