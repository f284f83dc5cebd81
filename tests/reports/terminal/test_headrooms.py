"""``boundcheck list headrooms``: the sharpest cell of each claim and form, and what is marked."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_results import SUITE, result

from boundcheck.reports.cli import main
from boundcheck.verify.suite import results

ROWS = [
    result("a/first", "printed", headroom=12.5, learner="sharp"),
    result("a/first", "printed", headroom=400.0, learner="dull"),
    result("a/first", "repaired", headroom=10.0),
    result("a/second", "derived", headroom=11.0, learner="blunt", flags=["weak"]),
    result("a/second", "derived", headroom=None, verdict="refuted"),
    result("a/third", "derived", headroom=3.0, verdict="undecided"),
    result("a/fourth", "derived", headroom=None),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    document = {"schema": results.SCHEMA, "suite": SUITE, "results": ROWS}
    results.write_json(document, tmp_path / results.VERDICTS)
    return tmp_path


def listed(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["boundcheck", "list", *arguments])
    monkeypatch.setenv("COLUMNS", "100")
    return main()


def test_the_sharpest_cell_speaks_for_its_form_and_large_headrooms_are_marked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in (folder, folder / results.VERDICTS):  # no curves are needed
        assert listed(monkeypatch, "headrooms", str(place)) == 0
        head, *lines, last = capsys.readouterr().out.splitlines()
        assert head.split() == ["claim", "form", "headroom", "cells"]
        assert [line.split() for line in lines[::2]] == [
            ["a/first", "printed", "12.5", "above", "10", "2"],
            ["a/second", "derived", "11", "above", "10", "1"],
            ["a/first", "repaired", "10", "1"],
        ]
        assert lines[1].startswith("    sharp | ")
        assert lines[3].endswith("T=50; weak")
        assert last.startswith("3 forms with a headroom, 2 above 10;")


def test_the_folder_of_verify_is_the_default(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert listed(monkeypatch, "headrooms") == 2
    words = "no results in 'boundcheck-report': expected verdicts.json"
    assert words in capsys.readouterr().err
    Path("boundcheck-report").mkdir()
    Path(results.VERDICTS).rename(Path("boundcheck-report", results.VERDICTS))
    assert listed(monkeypatch, "headrooms") == 0
    assert listed(monkeypatch, "learners", "boundcheck-report") == 2
    assert "unknown name in list learners 'boundcheck-report'" in capsys.readouterr().err
