"""Verdicts as JUnit XML, for continuous integration."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from ...atomic import put
from ...verify.outcome import Verdict
from ...verify.suite.results import unwritable_file
from ...verify.suite.run import Row


def write_junit(rows: Sequence[Row], path: Path) -> None:
    """Write one test case for each row; a surprise is a failure, an error an error.

    Raises
    ------
    UserError
        if the file cannot be written
    """
    failures = sum(row.surprising and row.verdict != Verdict.ERROR for row in rows)
    errors = sum(row.verdict == Verdict.ERROR for row in rows)
    suite = ET.Element(
        "testsuite",
        name="boundcheck",
        tests=str(len(rows)),
        failures=str(failures),
        errors=str(errors),
    )
    for row in rows:
        case = ET.SubElement(
            suite, "testcase", classname=row.claim, name=f"{row.form} | {row.case}"
        )
        text = f"{row.verdict.value}, expected {row.expected}: {row.outcome.evidence}"
        if row.verdict == Verdict.ERROR:
            ET.SubElement(case, "error", message=text)
        elif row.surprising:
            ET.SubElement(case, "failure", message=text)
        elif row.verdict in (Verdict.NOT_APPLICABLE, Verdict.VACUOUS):
            ET.SubElement(case, "skipped", message=text)
    try:
        put({path: ET.tostring(suite, encoding="utf-8", xml_declaration=True)})
    except OSError as error:
        raise unwritable_file(path, error) from None
