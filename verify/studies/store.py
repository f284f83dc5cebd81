"""Finished cases on disk: one Parquet file for each, and nothing in it that a rerun would change.

The folder of a study::

    plan.json            the study, and the key of every case in it
    KEY.parquet          a finished case, KEY the sha256 of the resolved case
    KEY.failed.json      a case that raised, with its traceback; it never counts as done
    log.jsonl            what happened when, where and how fast
    .lock                held while someone writes

A file is written beside, flushed and renamed, so that it is whole or not there. Its schema metadata holds the case and
where the numbers come from: versions and the fingerprint of the sources.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from ...atomic import put
from ...compiled import source_fingerprint
from ...errors import UserError
from .study import Study, StudyCase

SCHEMA = 1
PLAN, LOG, LOCK, FAILED = "plan.json", "log.jsonl", ".lock", ".failed.json"
METADATA = b"boundcheck"

COLUMNS = pa.schema(
    [
        ("learner", pa.string()),
        ("tuning", pa.string()),
        ("rounds", pa.int64()),
        ("mistakes", pa.int64()),
        ("best_label_mistakes", pa.int64()),
        ("expected_mistakes", pa.float64()),
        ("observed_labels", pa.int64()),
        ("surrogate_loss", pa.float64()),
        ("comparator_loss", pa.float64()),
        ("regret_envelope", pa.float64()),
    ]
)
"""One row for each learner, tuning and checkpoint, with sums from the first round to the checkpoint: realised mistakes;
mistakes that the label with the highest score would have made, or the likeliest label of a learner without scores;
1 - p(y); labels revealed; surrogate losses of the learner and of the planted comparator, null where there is none;
Theorem 4's bound on expected mistakes minus the comparator's loss, null where its hypotheses are not met."""


class DamagedError(Exception):
    """A file that holds no finished case; the message says what is wrong with it."""


@cache
def provenance() -> dict[str, str]:
    """The origin of the numbers that this process makes: versions and sources."""
    libraries = ("boundcheck", "numpy", "numba", "scipy", "pyarrow")
    return {
        **{name: version(name) for name in libraries},
        "python": platform.python_version(),
        "machine": platform.machine(),
        "libm": "-".join(platform.libc_ver()),
        "sources": source_fingerprint(),
    }


def difference(theirs: Mapping[str, str]) -> str | None:
    """The first way in which other numbers were made differently from ours, in words."""
    for name, ours in provenance().items():
        other = theirs.get(name, "nothing")
        if other != ours:
            return f"{name} {other[:16]}, here {ours[:16]}"
    return None


@dataclass(frozen=True)
class Finished:
    """A finished case: the resolved case, where its numbers come from, and the numbers."""

    case: dict[str, Any]
    provenance: dict[str, str]
    table: pa.Table


def write(folder: Path, case: StudyCase, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write a finished case, whole or not at all.

    Raises
    ------
    OSError
        if the folder cannot be written
    """
    content = {
        "schema": SCHEMA,
        "case": case.content,
        "provenance": provenance(),
        "digest": digest_of({field.name: list(columns[field.name]) for field in COLUMNS}),
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    table = pa.table(dict(columns), COLUMNS.with_metadata({METADATA: text.encode()}))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    put({folder / f"{case.key}.parquet": sink.getvalue().to_pybytes()})


def digest_of(columns: Mapping[str, Sequence[Any]]) -> str:
    """The sha256 of the numbers, in hex: not every damage makes a Parquet file unreadable."""
    return sha256(json.dumps(columns, sort_keys=True).encode()).hexdigest()


def read(path: Path) -> Finished:
    """Read a finished case.

    Raises
    ------
    DamagedError
        if the file is none, or not whole
    UserError
        if a newer version wrote it
    """
    try:
        if path.is_dir():
            raise DamagedError("is a folder, and no file")
        if path.stat().st_size == 0:
            raise DamagedError("is empty")
        metadata = (pq.read_schema(path).metadata or {}).get(METADATA)
        if metadata is None:
            raise DamagedError("was not written by boundcheck")
        content = json.loads(metadata)
        check_schema(path, content)
        table = pq.read_table(path)
        if not table.schema.remove_metadata().equals(COLUMNS):
            raise DamagedError("has other columns")
        case, made = content["case"], content["provenance"]
        if table.num_rows != len(case["learners"]) * len(case["checkpoints"]):
            raise DamagedError("has rows missing")
        if digest_of(table.to_pydict()) != content["digest"]:
            raise DamagedError("is damaged (its numbers are not those that were written)")
    except UserError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"is damaged ({' '.join(str(error).split())[:80]})") from None
    if StudyCase(case).key != path.stem:
        raise DamagedError("holds another case than its name says")
    return Finished(case, made, table)


def check_schema(path: Path, content: Any) -> None:
    """Raise :class:`UserError` for a file of a newer version."""
    found = content["schema"]
    if found > SCHEMA:
        raise UserError(
            f"'{path}' was written by a newer version of boundcheck, as schema {found}: expected at"
            f" most {SCHEMA}; use that version, or another folder with --results."
        )


@dataclass(frozen=True)
class Store:
    """The folder of one study, locked; see :func:`opened`.

    Attributes
    ----------
    folder : where everything is
    """

    folder: Path

    def adopt(self, study: Study, cases: Sequence[StudyCase], *, resume: bool) -> None:
        """Make this the folder of a study.

        A folder that holds the same study is continued; one that holds another study of the same name only with
        ``resume``, and then what the two share is kept.

        Raises
        ------
        UserError
            if the folder holds another study, cannot be written, or a newer version wrote it
        """
        path = self.folder / PLAN
        keys = [case.key for case in cases]
        if path.exists():
            plan = load_plan(self.folder)
            if plan is not None and plan["study"] != dict(study.document) and not resume:
                shared = len({*keys} & {*plan["cases"]})
                raise UserError(
                    f"folder '{self.folder}' holds another study called '{study.name}', with {shared} of"
                    f" the {len(keys)} cases of this one: expected --resume to keep what they share, or"
                    " another folder with --results."
                )
        content = {"schema": SCHEMA, "name": study.name, "study": study.document, "cases": keys}
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        with _writing(self.folder):
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                put({path: text.encode()})

    def take_stock(self, cases: Sequence[StudyCase]) -> tuple[set[str], list[str]]:
        """Keys of the cases that are finished, and a sentence for each file that must be replaced or is no case.

        Raises
        ------
        UserError
            if a newer version wrote a file
        """
        wanted = {case.key for case in cases}
        done, notes = set(), []
        for path in sorted(self.folder.glob("*.parquet")):
            try:
                reason = difference(read(path).provenance)
                reason = reason and f"was made by {reason}"
            except DamagedError as error:
                reason = str(error)
            if reason is None:
                done.add(path.stem)
            elif path.stem in wanted:
                notes.append(f"{path.name} {reason}: replaced.")
            else:
                notes.append(f"{path.name} {reason}: left alone, it is no case of this study.")
        with _writing(self.folder):
            for beside in self.folder.glob(".*.new"):
                beside.unlink()
        return done & wanted, notes

    def finish(self, case: StudyCase, columns: Mapping[str, Sequence[Any]]) -> None:
        """Write a finished case; an earlier failure of it is forgotten."""
        with _writing(self.folder):
            write(self.folder, case, columns)
            (self.folder / f"{case.key}{FAILED}").unlink(missing_ok=True)

    def fail(self, case: StudyCase, error: str, traceback: str) -> None:
        """Write that a case raised."""
        content = {
            "schema": SCHEMA,
            "case": case.content,
            "provenance": provenance(),
            "error": error,
            "traceback": traceback,
        }
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        with _writing(self.folder):
            put({self.folder / f"{case.key}{FAILED}": text.encode()})

    def log(self, **event: Any) -> None:
        """Add a line to the log."""
        with _writing(self.folder), (self.folder / LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps(event, ensure_ascii=False) + "\n")


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Say in one sentence that the folder cannot be written."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"results folder '{folder}' cannot be written: {error.strerror or error}; finished cases in it"
            " are intact, and the same command continues once there is space and permission."
        ) from None


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """The store of a folder, which is made if it is not there, locked until the end of the block.

    Raises
    ------
    UserError
        if the folder cannot be written, or somebody else writes into it
    """
    lock = FileLock(folder / LOCK, timeout=0)
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout:
            raise UserError(
                f"results folder '{folder}' is in use by another run of boundcheck: expected to be alone;"
                " wait for it, or choose another folder with --results."
            ) from None
    try:
        yield Store(folder)
    finally:
        lock.release()


def load_plan(folder: Path) -> dict[str, Any] | None:
    """The content of plan.json; None if it is damaged.

    Raises
    ------
    UserError
        if a newer version wrote it
    """
    path = folder / PLAN
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
        check_schema(path, plan)
        return {"name": plan["name"], "study": plan["study"], "cases": list(plan["cases"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, UserError):
            raise
        return None
