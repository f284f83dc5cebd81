"""The page: self-contained, well-formed, the same for the same results, readable in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from boundcheck.errors import UserError
from boundcheck.reports import figures
from boundcheck.reports.page import write_page
from boundcheck.verify import catalog, plan, results, suite

VOID = {"meta", "link", "br", "img", "hr"}


class Balance(HTMLParser):
    """Collects tags and checks that they close."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [v or "" for k, v in attrs if k in ("href", "src", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a few cases of every claim."""
    folder = tmp_path_factory.mktemp("results")
    jobs = plan.jobs_for(plan.Request(scale="quick"))
    chosen = [job for job in jobs if job.setting.replicates < 20][::31]
    rows = [row for found in suite.run(chosen, 0) for row in found]
    hypothesis = plan.Hypothesis("margin", 0.25, "smallest margin of U")
    results.save(rows, folder, 0, 1.0, [hypothesis])
    return folder


def test_the_page_shows_everything_and_needs_nothing(folder: Path) -> None:
    text = write_page(folder).read_text(encoding="utf-8")
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    assert parser.seen.count("svg") > 10
    assert parser.links
    assert not [link for link in parser.links if re.match(r"(https?:)?//", link)]
    document = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    for row in document["results"]:
        assert row["claim"] in text
    for words in ("refuted", "holds", "smallest margin of U", "boundcheck replay", "regret ratio"):
        assert words in text
    for link in parser.links:
        if link.startswith("certificates/"):
            assert (folder / link).is_file()
    assert len(text) < 5_000_000


def test_the_same_results_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    pages = [write_page(folder, tmp_path / name).read_bytes() for name in ("a.html", "b.html")]
    assert pages[0] == pages[1]


def test_names_are_escaped(folder: Path, tmp_path: Path) -> None:
    document = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    document["results"][0]["case"] = "<script>alert(1)</script>"
    (tmp_path / "verdicts.json").write_text(json.dumps(document), encoding="utf-8")
    shutil.copy(folder / "curves.parquet", tmp_path)
    text = write_page(tmp_path).read_text(encoding="utf-8")
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_a_page_that_cannot_be_written(folder: Path) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        write_page(folder, folder / "absent" / "page.html")


def test_every_statement_can_be_set() -> None:
    for claim in catalog.claims().values():
        for form in claim.forms:
            picture = figures.statement_svg(form.statement)
            assert picture is not None, claim.id
            assert picture.startswith("<svg")
    assert figures.statement_svg(r"\nosuchmacro{") is None


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Debian's chromium")
def test_the_page_opens_in_a_browser_without_errors(folder: Path, tmp_path: Path) -> None:
    page = write_page(folder)
    command = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--enable-logging=stderr",
        f"--user-data-dir={tmp_path}",
        "--dump-dom",
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "</html>" in done.stdout
    assert "gappletron/lemma-1" in done.stdout
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]
