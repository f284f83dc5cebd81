"""Results on disk: verdicts.json, the curves behind the figures, and one file for each certificate."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from ...atomic import put
from ...errors import UserError, require
from ..games.game import Measured
from ..judges.bands import Frontiers
from ..judges.decide import LEVEL
from ..outcome import Curve
from .run import Row, is_surprise

SCHEMA = 1

VERDICTS, CURVES, CERTIFICATES = "verdicts.json", "curves.parquet", "certificates"
"""Names inside a result folder."""

LOCK, SECONDS_FOR_ANOTHER = ".lock", 60
"""Held while results are written, and how long to wait for it."""

SUITE_KEYS = (
    "versions", "cpu", "libm", "seed", "level", "sampled_cells", "false_alarm_probability", "seconds",
)  # fmt: skip
ROW_KEYS = (
    "claim", "form", "learner", "loss", "adversary", "graph", "case", "kind", "verdict", "expected",
    "observed", "envelope", "ratio", "regret_ratio", "headroom", "evidence", "runs", "rounds", "flags",
    "certificate",
)  # fmt: skip
"""Keys of verdicts.json for the run, and for each cell; a report needs all of them. A cell with a frontier has one
more key, ``frontier``; ``surprising`` and ``tested_from`` are newer than some results."""

CURVE_COLUMNS = ("claim", "form", "case", *(field.name for field in fields(Curve)))


@dataclass(frozen=True)
class Results:
    """The contents of a result folder.

    Attributes
    ----------
    document : the content of verdicts.json
    curves : columns ``CURVE_COLUMNS``, a line for each point of each run (:class:`~.judge.Curve`); for
        Theorem 6 the mistakes in the environment that forces most
    """

    document: dict[str, Any]
    curves: pd.DataFrame


def check_writable(folder: Path) -> None:
    """Find out before a long run whether results can be written into ``folder``.

    Raises
    ------
    UserError
        if they cannot
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _unwritable(folder, error) from None


def unwritable_file(path: Path, error: OSError) -> UserError:
    """The error for a file that cannot be written."""
    return UserError(
        f"file '{path}' cannot be written: {error.strerror or error}; expected a file in a folder"
        " that exists."
    )


def _unwritable(folder: Path, error: OSError) -> UserError:
    return UserError(
        f"output folder '{folder}' cannot be written: {error.strerror or error}; expected a folder that"
        " can be written."
    )


def document_of(
    rows: Sequence[Row],
    seed: int,
    seconds: float,
    hypotheses: Sequence[Measured] = (),
    claims_file: Path | None = None,
) -> dict[str, Any]:
    """The content of verdicts.json; the file of the user's claims is named if there is one."""
    named = {} if claims_file is None else {"claims_file": str(claims_file)}
    return {
        "schema": SCHEMA,
        "suite": describe_suite(rows, seed, seconds) | named,
        "results": [row.to_json(_certificate(row)) for row in rows],
        "hypotheses": [
            asdict(h) | {"measured": h.measured if math.isfinite(h.measured) else None}
            for h in hypotheses
        ],
    }


def save(rows: Sequence[Row], document: dict[str, Any], folder: Path) -> None:
    """Write rows and their document into ``folder``: verdicts.json, the curves, and a file for each certificate.

    Raises
    ------
    UserError
        if the folder cannot be written
    """
    certificates = {
        f"{CERTIFICATES}/{found.file_name}": found.text.encode()
        for row in rows
        if (found := row.outcome.certificate) is not None
    }
    files = {folder / name: content for name, content in certificates.items()}
    files[folder / CURVES] = _curves(rows).to_parquet(index=False)
    files[folder / VERDICTS] = text_of(document).encode()  # last: it names all others
    try:
        (folder / CERTIFICATES if certificates else folder).mkdir(parents=True, exist_ok=True)
        with FileLock(folder / LOCK, timeout=SECONDS_FOR_ANOTHER):
            old = _of_earlier_runs(folder)
            put(files)
            for path in old - files.keys():
                path.unlink(missing_ok=True)
    except Timeout:
        raise UserError(
            f"output folder '{folder}' is in use by another run of boundcheck: expected it to be done within"
            f" {SECONDS_FOR_ANOTHER} s; choose another folder with --out."
        ) from None
    except OSError as error:
        raise _unwritable(folder, error) from None


def remove(folder: Path) -> None:
    """Remove results, and the folder if nothing else is in it."""
    for path in _of_earlier_runs(folder) | {folder / name for name in (VERDICTS, CURVES, LOCK)}:
        path.unlink(missing_ok=True)
    for place in (folder / CERTIFICATES, folder):
        with suppress(OSError):  # what it does not have, or what is not ours
            place.rmdir()


def text_of(document: dict[str, Any]) -> str:
    """The document as JSON."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_json(document: dict[str, Any], path: Path) -> None:
    """Write a result document.

    Raises
    ------
    UserError
        if the file cannot be written
    """
    try:
        put({path: text_of(document).encode()})
    except OSError as error:
        raise unwritable_file(path, error) from None


def load(folder: Path) -> Results:
    """Read a result folder.

    Raises
    ------
    UserError
        if there are no results in it, or they are damaged
    """
    return Results(load_document(folder / VERDICTS), _load_curves(folder / CURVES))


def load_document(path: Path) -> dict[str, Any]:
    """Read a result document: verdicts.json of a result folder, or what ``verify --json`` wrote.

    Raises
    ------
    UserError
        if it is not there or damaged
    """
    require(not path.is_dir(), f"'{path}' is a folder: expected a file of verdicts there.")
    if not path.is_file():
        raise UserError(
            f"no results in '{path.parent}': expected {path.name}, as boundcheck verify --out writes it."
        )
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise UserError(f"'{path}' is damaged: {error}; verify again.") from None
    found = document if isinstance(document, dict) else {}
    if found.get("schema", SCHEMA) != SCHEMA:
        raise UserError(f"'{path}' has schema {found['schema']}: expected {SCHEMA}.")
    _check_keys(f"'{path}'", document, ("schema", "suite", "results"))
    _check_keys(f"'suite' of '{path}'", document["suite"], SUITE_KEYS)
    if not isinstance(document["results"], list):
        raise UserError(f"'results' of '{path}' is no list: expected one; verify again.")
    for i, row in enumerate(document["results"]):
        _check_keys(f"result {i + 1} of '{path}'", row, ROW_KEYS)
        row.setdefault("surprising", is_surprise(row["expected"], row["verdict"], users=True))
        row.setdefault("tested_from", None)
        if "frontier" in row:
            _check_frontier(f"'frontier' of result {i + 1} of '{path}'", row["frontier"])
    return dict(document)


def _check_keys(where: str, found: Any, keys: Sequence[str]) -> None:
    absent = [key for key in keys if not isinstance(found, dict) or key not in found]
    if absent:
        raise UserError(
            f"{where} has no '{absent[0]}': expected the keys {', '.join(keys)}, as boundcheck verify"
            " writes them."
        )


def _check_frontier(where: str, found: Any) -> None:
    try:
        Frontiers.from_json(found)
    except (LookupError, TypeError, ValueError) as error:
        raise UserError(f"{where} is damaged: {error!r}; verify again.") from None


def _load_curves(path: Path) -> pd.DataFrame:
    require(not path.is_dir(), f"'{path}' is a folder: expected a file of curves there.")
    if not path.is_file():
        raise UserError(
            f"no curves in '{path.parent}': expected {CURVES} beside {VERDICTS}; verify again."
        )
    try:
        curves = pd.read_parquet(path)
    except (ValueError, OSError) as error:
        raise UserError(f"'{path}' is damaged: {error}; verify again.") from None
    if absent := [name for name in CURVE_COLUMNS if name not in curves]:
        raise UserError(
            f"'{path}' has no column '{absent[0]}': expected {', '.join(CURVE_COLUMNS)}; verify again."
        )
    return curves


def _of_earlier_runs(folder: Path) -> set[Path]:
    """The certificates in ``folder`` that its verdicts name, and what runs that were killed left; no other
    file."""
    left = {
        path
        for name in (VERDICTS, CURVES, f"{CERTIFICATES}/*.json")
        for path in (folder / name).parent.glob(f".{Path(name).name}.*.new")
    }
    try:
        document = json.loads((folder / VERDICTS).read_text(encoding="utf-8"))
        named = {row["certificate"] for row in document["results"]} - {None}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return left
    found = [folder / name for name in named if isinstance(name, str)]
    return left | {path for path in found if path.parent == folder / CERTIFICATES}


def _certificate(row: Row) -> str | None:
    certificate = row.outcome.certificate
    return None if certificate is None else f"{CERTIFICATES}/{certificate.file_name}"


def _curves(rows: Sequence[Row]) -> pd.DataFrame:
    """The curves of all rows, one below the other."""
    nothing = pd.DataFrame({name: [] for name in CURVE_COLUMNS})
    parts = [
        pd.DataFrame({"claim": row.claim, "form": row.form, "case": row.case} | vars(curve))
        for row in rows
        if (curve := row.outcome.curve) is not None
    ]
    return pd.concat(parts, ignore_index=True) if parts else nothing


def describe_suite(rows: Sequence[Row], seed: int, seconds: float) -> dict[str, Any]:
    """Versions, seed and machine behind the numbers; only ``seconds`` may differ between two equal runs."""
    sampled = sum(row.outcome.sampled for row in rows)
    libraries = ("boundcheck", "numpy", "scipy", "numba")
    return {
        "versions": {name: version(name) for name in libraries}
        | {"python": platform.python_version()},
        "cpu": _cpu_model(),
        "libm": "-".join(platform.libc_ver()),
        "seed": seed,
        "level": LEVEL,
        "sampled_cells": sampled,
        "false_alarm_probability": sampled * LEVEL,
        "seconds": round(seconds, 2),
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
