"""Outputs are written whole, and never over an input or over a file that is not ours."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from page_results import result, write

from boundcheck import UserError
from boundcheck.reports import outputs
from boundcheck.reports.cli import cli
from boundcheck.reports.page.build import write_report

QUICK = ("verify", "game/*", "--graph", "bandit", "--adversary", "one-hot", "--rounds", "20")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> None:
    assert cli.main(list(arguments), standalone_mode=False) == 0


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("option", ["--json", "--junit"])
@pytest.mark.parametrize(
    "content", ["a,b,y\n1,2,x\n", '{"schema": 1}', "<testsuite/>", "notes of mine\n"]
)
def test_a_file_that_is_not_ours_is_never_written_over(
    here: Path, option: str, content: str
) -> None:
    (here / "mine").write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match="'mine' is there and was not written by boundcheck"):
        run(*QUICK, option, "mine")
    assert (here / "mine").read_text(encoding="utf-8") == content


@pytest.mark.parametrize("option", ["--json", "--junit"])
def test_our_own_and_empty_files_are_written_over(here: Path, option: str) -> None:
    (here / "out").touch()
    for _ in range(2):
        run(*QUICK, option, "out")
        assert (here / "out").stat().st_size > 100


def test_an_input_is_never_written_over(here: Path) -> None:
    data = here / "data.csv"
    data.write_text("a,b,y\n" + "1,2,x\n2,1,z\n" * 30, encoding="utf-8")
    before = data.read_bytes()
    for written in ("data.csv", str(data), "./data.csv"):
        with pytest.raises(UserError, match="is an input of this command"):
            run("verify", "game/*", "--graph", "bandit", "--data", "data.csv", "--json", written)
    assert data.read_bytes() == before
    graph = here / "g.csv"
    graph.write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="is an input"):
        outputs.check(here / "out", graph, None, [graph])


def test_a_link_to_a_file_is_refused_and_a_linked_folder_works(here: Path) -> None:
    (here / "real.json").touch()
    (here / "link.json").symlink_to("real.json")
    with pytest.raises(UserError, match=r"'link.json' is a link to the file"):
        run(*QUICK, "--json", "link.json")
    (here / "folder").mkdir()
    (here / "linked").symlink_to("folder")
    run(*QUICK, "--out", "linked", "--json", "linked/more.json")
    assert {"verdicts.json", "more.json"} <= contents(here / "folder").keys()
    (here / "folder" / "verdicts.json").unlink()
    (here / "folder" / "verdicts.json").symlink_to(here / "real.json")
    with pytest.raises(UserError, match="is a link to the file"):
        run(*QUICK, "--out", "linked")


def test_verdicts_on_standard_output(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(*QUICK, "--json", "-")
    out, err = capfd.readouterr()
    assert json.loads(out) == json.loads((here / "boundcheck-report/verdicts.json").read_bytes())
    assert "no-peeking" in err
    assert not (here / "-").exists()


def test_a_page_of_earlier_verdicts_goes_with_them(here: Path) -> None:
    run(*QUICK)
    run("report")
    folder = here / "boundcheck-report"
    own = folder / "tables" / "mine.csv"
    own.touch()
    assert (folder / "index.html").is_file()
    run(*QUICK)
    left = contents(folder)
    assert "index.html" not in left
    assert [name for name in left if name.startswith("tables")] == ["tables/mine.csv"]


def test_a_page_of_somebody_else_stays(here: Path) -> None:
    folder = here / "boundcheck-report"
    folder.mkdir()
    (folder / "index.html").write_text("<title>mine</title>", encoding="utf-8")
    run(*QUICK)
    with pytest.raises(UserError, match="was not written by boundcheck: expected a page"):
        run("report")
    assert (folder / "index.html").read_text(encoding="utf-8") == "<title>mine</title>"


@pytest.mark.parametrize("failing", range(1, 8, 3))
def test_a_full_disk_leaves_the_earlier_page_and_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    write(tmp_path, [result()], [])
    write_report(tmp_path)
    before = contents(tmp_path)
    calls = 0

    def fsync(_: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == failing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(UserError, match="cannot be written: No space left"):
        write_report(tmp_path)
    assert contents(tmp_path) == before
