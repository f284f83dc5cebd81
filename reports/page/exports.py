"""The tables of the page as files: CSV for programs, Markdown and LaTeX for people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pandas as pd
from pandas.api.types import is_numeric_dtype

from ...verify.outcome import LOUDEST_FIRST
from ..terminal.tables import number, speaker
from .figures import Result
from .frontiers import frontier_frames

FOLDER = "tables"

NUMBERS = ("observed", "envelope", "ratio", "regret_ratio", "headroom")

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""The beginnings of cells that a spreadsheet evaluates."""

_SPECIAL_IN_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$])")

_PREAMBLE = "% needs \\usepackage{booktabs,longtable}, and a wide page\n"


def verdict_frame(rows: Sequence[Result]) -> pd.DataFrame:
    """One line for each form of each claim: its worst case, and all its cases counted."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for row in sorted(rows, key=lambda row: (row["claim"], row["form"])):
        groups.setdefault((row["claim"], row["form"]), []).append(row)
    lines = []
    for part in groups.values():
        seen = Counter(row["verdict"] for row in part)
        counts = ", ".join(
            f"{seen[verdict]} {verdict}" for verdict in LOUDEST_FIRST if seen[verdict]
        )
        runs = sum(row["runs"] for row in part)
        lines.append(speaker(part) | {"cases": counts, "runs": runs})
    columns = (
        "claim form verdict expected ratio regret_ratio headroom runs flags cases evidence case"
    )
    return _frame(lines, columns.split())


def case_frame(rows: Sequence[Result]) -> pd.DataFrame:
    """One line for each case of each form of each claim."""
    columns = (
        "claim form verdict expected observed envelope ratio regret_ratio headroom runs rounds flags"
        " case evidence certificate"
    )
    return _frame(rows, columns.split())


def _frame(rows: Sequence[Result], columns: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame(
        [row | {"flags": "; ".join(row["flags"])} for row in rows], columns=columns
    )
    numbers = [name for name in NUMBERS if name in columns]
    return frame.astype(dict.fromkeys(numbers, "float64"))


def frames_of(rows: Sequence[Result]) -> dict[str, pd.DataFrame]:
    """The tables by name: verdicts, cases and, where there are any, frontiers."""
    return {"verdicts": verdict_frame(rows), "cases": case_frame(rows)} | frontier_frames(rows)


def files_of(frames: dict[str, pd.DataFrame], folder: Path) -> dict[Path, bytes]:
    """Named tables in each format, as files of ``folder``."""
    return {
        folder / f"{name}.{ending}": to_text(frame).encode()
        for (name, frame), (ending, to_text) in product(frames.items(), FORMATS.items())
    }


def to_csv(frame: pd.DataFrame) -> str:
    """Every number in full; empty where there is none. What a spreadsheet would take for a formula begins with an
    apostrophe."""
    texts = frame.select_dtypes(exclude="number").columns
    frame = frame.assign(**{name: frame[name].map(_no_formula) for name in texts})
    return str(frame.to_csv(index=False, lineterminator="\n"))


def _no_formula(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def to_markdown(frame: pd.DataFrame) -> str:
    """A pipe table whose cells read as they are, whatever they hold."""
    words = _words(frame).map(lambda cell: _SPECIAL_IN_MARKDOWN.sub(r"\\\1", cell))
    align = ["right" if is_numeric_dtype(frame[name]) else "left" for name in frame]
    words.columns = [str(name).replace("_", " ") for name in frame]
    if words.empty:  # for which alignment is an error
        align = []
    text = words.to_markdown(index=False, disable_numparse=True, colalign=align)
    return f"{text}\n"


def to_latex(frame: pd.DataFrame) -> str:
    """A longtable with the rules of booktabs; long cells may break after their commas."""
    wide = ("flags", "cases", "evidence", "case", "certificate")
    numeric = [str(name) for name in frame if is_numeric_dtype(frame[name])]
    kinds = dict.fromkeys(wide, "p{3.5cm}") | dict.fromkeys(numeric, "r")
    words = _words(frame)
    words.columns = [str(name).replace("_", " ") for name in frame]
    text = words.to_latex(
        index=False,
        escape=True,
        longtable=True,
        column_format="".join(kinds.get(str(name), "l") for name in frame),
    )
    # in the old encoding of fonts these three are other characters
    for character, command in (("<", "textless"), (">", "textgreater"), ("|", "textbar")):
        text = text.replace(character, f"\\{command}{{}}")
    return _PREAMBLE + re.sub(r",(?=\S)", r",\\allowbreak{}", text)


def _words(frame: pd.DataFrame) -> pd.DataFrame:
    """Every cell as text on one line: numbers to three digits, a dash where there is nothing."""

    def word(value: object) -> str:
        if isinstance(value, float):
            return number(None if pd.isna(value) else value)
        return "-" if value is None or value == "" else " ".join(str(value).split())

    return frame.astype(object).where(frame.notna(), None).map(word)


FORMATS = {"csv": to_csv, "md": to_markdown, "tex": to_latex}


def file_names(rows: Sequence[Result]) -> list[str]:
    """The names of the files of the tables."""
    return [f"{name}.{ending}" for name, ending in product(frames_of(rows), FORMATS)]
