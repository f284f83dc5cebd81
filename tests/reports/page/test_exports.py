"""The tables as files: what is in them reads back as it was, whatever characters it has."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from boundcheck.atomic import put
from boundcheck.reports.page.exports import (
    case_frame,
    file_names,
    files_of,
    frames_of,
    to_csv,
    to_latex,
    to_markdown,
    verdict_frame,
)

ODD = r'a|b, <c> & d_e $f$ #g 100% {h} ~i ^j \k *l* [m] `n` "o"'


def result(case: str = ODD, **other: Any) -> dict[str, Any]:
    return {
        "claim": "gappletron/theorem-4a",
        "form": "repaired",
        "kind": "mean",
        "case": case,
        "verdict": "holds",
        "expected": "holds",
        "observed": 1000 / 3,
        "envelope": 1000.0,
        "ratio": 1 / 3,
        "regret_ratio": None,
        "headroom": 2.5,
        "evidence": "log10 e-value -0.20 of 9 needed",
        "runs": 64,
        "rounds": 6400,
        "flags": ["weak", "comparator-dominated"],
        "certificate": None,
        "surprising": False,
    } | other


ROWS = [
    result(),
    result("plain", ratio=0.9, evidence=ODD, flags=[]),
    result("empty", verdict="vacuous", ratio=0.95, headroom=None, runs=1),
    result(
        "other", claim="mine/x_y", form="printed", verdict="refuted", expected=None, ratio=1e-20
    ),
]


def test_a_line_for_each_form_with_its_worst_case_and_all_counted() -> None:
    frame = verdict_frame(ROWS)
    assert frame["claim"].to_list() == ["gappletron/theorem-4a", "mine/x_y"]
    first = frame.iloc[0]
    assert (first["case"], first["ratio"], first["runs"]) == ("plain", 0.9, 129)
    assert first["cases"] == "2 holds, 1 vacuous"
    columns = "claim form verdict expected ratio regret_ratio headroom runs flags evidence"
    assert set(columns.split()) < set(frame.columns)
    assert len(case_frame(ROWS)) == len(ROWS)


def test_csv_keeps_every_number_and_every_character() -> None:
    back = pd.read_csv(io.StringIO(to_csv(case_frame(ROWS))), dtype=str)
    assert [float(ratio) for ratio in back["ratio"]] == [row["ratio"] for row in ROWS]
    assert back["case"].to_list() == [row["case"] for row in ROWS]
    assert back["headroom"].isna().to_list() == [False, False, True, False]
    assert back["flags"][0] == "weak; comparator-dominated"


def test_markdown_cells_read_as_they_are() -> None:
    header, rule, *lines = to_markdown(case_frame(ROWS)).splitlines()
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    names = [name.strip() for name in header.split("|")[1:-1]]
    assert {len(row) for row in cells} == {len(names)} == {rule.count("|") - 1}
    plain = [[re.sub(r"\\([^A-Za-z0-9\s])", r"\1", cell) for cell in row] for row in cells]
    assert plain[0][names.index("case")] == ODD
    assert plain[1][names.index("evidence")] == ODD
    assert plain[3][names.index("claim")] == "mine/x_y"
    assert plain[3][names.index("ratio")] == "1e-20"
    assert plain[2][names.index("headroom")] == "-"
    raw = cells[0][names.index("case")]
    assert re.findall(r"(?<!\\)[|*_`<>$\[\]~]", raw.replace(r"\\", "")) == []


def test_latex_has_no_bare_special_character() -> None:
    text = to_latex(case_frame(ROWS))
    body = text[text.index(r"\endlastfoot") : text.index(r"\end{longtable}")]
    lines = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(lines) == len(ROWS)
    columns = len(case_frame(ROWS).columns)
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {columns - 1}
    for line in lines:
        assert re.findall(r"(?<!\\)[%$#_~^<>|]", line) == []
    for command in (
        r"\textbar",
        r"\textless",
        r"\textasciitilde",
        r"\textasciicircum",
        r"\&",
        r"\%",
    ):
        assert command in lines[0]
    assert r"\textbackslash" in lines[0]
    assert r"mine/x\_y" in lines[3]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_is_set_without_an_error(tmp_path: Path) -> None:
    put(files_of(frames_of(ROWS), tmp_path))
    document = (
        r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs,longtable}"
        r"\begin{document}\input{verdicts.tex}\input{cases.tex}\end{document}"
    )
    (tmp_path / "page.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]


def test_no_rows_are_tables_without_lines(tmp_path: Path) -> None:
    files = files_of(frames_of([]), tmp_path)
    assert [path.name for path in files] == file_names([])
    put(files)
    assert pd.read_csv(tmp_path / "verdicts.csv").empty
    assert b"evidence" in files[tmp_path / "verdicts.md"]
