"""A file of recorded data and how it is to be read, in one line of text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import require

SEPARATORS = {".csv": ",", ".tsv": "\t"}
"""Endings of text files, and what stands between their fields."""

SVMLIGHT = (".svm", ".svmlight", ".libsvm")

ENDINGS = (*SEPARATORS, *SVMLIGHT, ".npz", ".parquet")

YES_OR_NO = {"yes": True, "no": False}


@dataclass(frozen=True)
class Reading:
    """A file and how it is to be read, which is written ``FILE@COLUMN#header=no,labels=exact,rows=1000``; all but the
    file may be left out.

    Attributes
    ----------
    path : the file
    label : name or position of the label column; the last where None
    header : whether a text file begins with names of columns; found out where None
    exact : whether labels are classes as they are written, however alike
    rows : the most rows that are read; all where None
    """

    path: Path
    label: str | None = None
    header: bool | None = None
    exact: bool = False
    rows: int | None = None

    @classmethod
    def of(cls, written: str) -> Reading:
        """What is written; the file and the column may have an @ of their own, a file ends with one of ``ENDINGS``.

        Raises
        ------
        UserError
            for an option with another value than those that it may have
        """
        written, options = _split_options(written)
        endings = "|".join(map(re.escape, ENDINGS))
        found = re.fullmatch(rf"(.*?(?:{endings}))(?:@(.*))?", written, re.IGNORECASE | re.DOTALL)
        path, label = (found[1], found[2]) if found else (written, None)
        header, labels, rows = (options.get(name) for name in ("header", "labels", "rows"))
        require(header is None or header in YES_OR_NO, f"header={header}: expected one of yes, no.")
        require(labels in (None, "exact"), f"labels={labels}: expected exact.")
        require(
            rows is None or (rows.isdecimal() and int(rows) > 0),
            f"rows={rows}: expected a whole number of at least 1.",
        )
        return cls(
            Path(path),
            label,
            None if header is None else YES_OR_NO[header],
            labels == "exact",
            None if rows is None else int(rows),
        )

    def __str__(self) -> str:
        options = []
        if self.header is not None:
            options.append(f"header={'yes' if self.header else 'no'}")
        if self.exact:
            options.append("labels=exact")
        if self.rows is not None:
            options.append(f"rows={self.rows}")
        column = "" if self.label is None else f"@{self.label}"
        return f"{self.path}{column}{'#' if options else ''}{','.join(options)}"


def _split_options(written: str) -> tuple[str, dict[str, str]]:
    """What is written before the options, and the options."""
    option = r"(?:header|labels|rows)=[^,#=]*"
    found = re.fullmatch(rf"(.*)#({option}(?:,{option})*)", written, re.DOTALL)
    if found is None:
        return written, {}
    return found[1], dict(each.split("=") for each in found[2].split(","))
