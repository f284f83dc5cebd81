"""--header, --labels exact and --rows of ``boundcheck verify``, and the notes on data that could be read otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from boundcheck.reports.api import verify_claims
from boundcheck.reports.cli import main

SPECTRA = "1100,1102,1104,species\n" + "0.3,0.8,-1.3,oak\n0.9,0.4,0.5,pine\n" * 10
SPELT = "a,b,y\n" + "0.1,0.2,oak\n0.3,0.1,oak \n0.5,0.2,Oak\n" * 10


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("spectra.csv").write_text(SPECTRA, encoding="utf-8")
    Path("spelt.csv").write_text(SPELT, encoding="utf-8")
    return tmp_path


def verify(monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    command = ["boundcheck", "verify", "gappletron/lemma-1", "--graph", "bandit", "--quick"]
    monkeypatch.setattr("sys.argv", [*command, *options])
    return main()


def rounds(folder: Path) -> str:
    row = json.loads((folder / "boundcheck-report" / "verdicts.json").read_bytes())["results"][0]
    return str(row["case"])


@pytest.mark.parametrize(
    ("options", "found", "note"),
    [
        ((), 20, "--no-header reads it as a row"),
        (("--header",), 20, None),
        (("--no-header",), 21, None),
        (("--rows", "7"), 7, "--no-header reads it as a row"),
        (("--header", "--rows", "7"), 7, None),
    ],
)
def test_a_header_is_found_said_or_denied(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    found: int,
    note: str | None,
) -> None:
    assert verify(monkeypatch, "--data", "spectra.csv", *options) == 0
    printed = capsys.readouterr().out
    assert f" {found} " in next(line for line in printed.splitlines() if "horizon T" in line)
    notes = [line for line in printed.splitlines() if line.startswith("warning the first line")]
    assert len(notes) == (note is not None)
    assert note is None or note in notes[0]
    assert ("#" in rounds(here)) == bool(options)


def test_labels_that_look_alike_need_a_word(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(monkeypatch, "--data", "spelt.csv") == 2
    assert "--labels exact" in capsys.readouterr().err
    assert verify(monkeypatch, "--data", "spelt.csv", "--labels", "exact") == 0
    printed = capsys.readouterr().out
    assert "two classes" in printed
    found = verify_claims(
        ["game/*"], graph="bandit", data="spelt.csv", exact_labels=True, rows=9, quick=True
    )
    assert "#labels=exact,rows=9" in found.rows[0].case


@pytest.mark.parametrize(
    "options", [("--header",), ("--no-header",), ("--labels", "exact"), ("--rows", "5")]
)
def test_options_of_data_need_data(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
) -> None:
    assert verify(monkeypatch, *options) == 2
    assert "without --data" in capsys.readouterr().err
