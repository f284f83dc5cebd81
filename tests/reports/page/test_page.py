"""The page: self-contained, well-formed, the same for the same results, readable in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from frontier_numbers import FRONTIER
from page_results import result, write

from boundcheck import __version__
from boundcheck.errors import UserError
from boundcheck.reports.page.build import write_report
from boundcheck.verify.suite import results

VOID = {"meta", "link", "br", "wbr", "img", "hr"}
CERTIFICATE = "certificates/gappletron-lemma-1-printed-0a.json"
DRAWN = {
    ("gappletron/guarantee-4", "repaired"),
    ("gappletron/theorem-4a", "repaired"),
    ("gappletron/theorem-4b", "printed"),
    ("gappletron/theorem-5a", "repaired"),
    ("gappletron/theorem-6", "repaired"),
}
FRAME = """<iframe src="{page}" style="border: 0; width: {width}px; height: 900px"></iframe>
<script>
addEventListener("load", () => {{
  const page = document.querySelector("iframe").contentDocument;
  const plots = [...page.querySelectorAll(".panels svg, .frontiers svg, .plot svg, .whole svg")];
  const smallest = Math.min(...plots.map(plot => Math.floor(plot.getBoundingClientRect().width)));
  const root = page.documentElement;
  document.title = `wide ${{root.clientWidth}}+${{root.scrollWidth - root.clientWidth}}, smallest ${{smallest}}`;
}});
</script>
"""


class Page(HTMLParser):
    """Tags, links, ids and text of a page whose tags all close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.links += [value or "" for key, value in attrs if key in ("href", "src", "xlink:href")]
        self.ids += [value or "" for key, value in attrs if key == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def rows() -> Iterator[dict[str, Any]]:
    """A few claims: with a heat map, with curves, of every verdict, unknown, without any number."""
    losses, graphs = ("smooth-hinge", "logistic-K"), ("bandit", "full", "random:density=0.2,seed=1")
    refuted = {"verdict": "refuted", "expected": "refuted", "certificate": CERTIFICATE}
    for loss, graph in product(losses, graphs):
        learner = f"gappletron:loss={loss},rule=printed"
        bad = {"ratio": 3.8, "headroom": None, **refuted} if loss == "logistic-K" else {}
        yield result(form="printed", learner=learner, loss=loss, graph=graph, **bad)
    yield result("gappletron/guarantee-4", ratio=0.9, flags=["live in 3% of rounds"])
    yield result("gappletron/guarantee-4", "transferred", ratio=None, observed=None, **refuted)
    yield result("gappletron/theorem-7", kind="lower bound", ratio=1.2, verdict="undecided")
    yield result("gappletron/theorem-4a", kind="mean", ratio=0.4, headroom=3.16, runs=64)
    yield result("gappletron/theorem-4b", "printed", kind="mean", runs=64)
    exact = {"graph": "filtering", "kind": "mean", "runs": 0, "headroom": None, **refuted}
    yield result("gappletron/theorem-4b", "printed", **exact)
    tail = {"kind": "tail", "evidence": "delta 0.05: 0 of 64 violate, P <= 0.0457 (95 %)"}
    yield result("gappletron/theorem-5a", ratio=0.3, **tail)
    yield result("gappletron/theorem-5a", graph="full", ratio=0.01, **tail | {"verdict": "vacuous"})
    yield result("gappletron/theorem-6", kind="lower bound", ratio=2.0, learner="uniform")
    yield result("boosting/frontier", "derived", kind="frontier", ratio=0.7, frontier=FRONTIER)
    nothing = {"ratio": None, "observed": None, "envelope": None, "headroom": None}
    yield result("gappletron/lemma-3", "printed", verdict="vacuous", **nothing)
    yield result(
        "gappletron/lemma-3", "printed", verdict="not applicable", expected=None, **nothing
    )
    yield result("mine/claim", "printed", verdict="error", evidence="ValueError: a", **nothing)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of two runs of a few cases, some with curves."""
    curves = [
        (row["claim"], row["form"], row["case"], replicate, t, 0.3 * t + replicate, 20.0, delta)
        for row in rows()
        if (row["claim"], row["form"]) in DRAWN and row["runs"]
        for delta in ([0.05] if row["kind"] == "tail" else [np.nan])
        for replicate, t in product(range(2), (1, 10, 50))
    ]
    return write(tmp_path_factory.mktemp("results"), list(rows()), curves)


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    """The page of these results, as a browser reads it."""
    return Page(write_report(folder)[0].read_text(encoding="utf-8"))


def test_every_claim_verdict_and_number_is_there(page: Page) -> None:
    for row in rows():
        for part in (row["claim"], row["verdict"], row["case"], row["evidence"], *row["flags"]):
            assert part in page.text, part
    for words in ("seed 7", "1.5 s", "numpy 2.0.0", "smallest margin of U", "−0.25", "1 surprise"):
        assert words in page.text, words
    assert "van der Hoeven" in page.text
    assert f"boundcheck replay {CERTIFICATE}" in page.text


def test_the_statements_curves_and_ratios_are_drawn(page: Page) -> None:
    statements, ratios = 10, 8
    runs, mean, tail_and_histogram, vacuous_tail, forced = 1, 2, 2, 1, 1
    frontier = 1
    panels = runs + mean + tail_and_histogram + vacuous_tail + forced + frontier
    assert page.tags["svg"] == statements + ratios + panels


def test_a_theorem_has_its_strength_and_its_level(page: Page) -> None:
    for words in (
        "headroom 3.16: an envelope smaller by that factor would have been refuted by these runs;"
        " 64 runs; a false alarm has probability at most 1e-09",
        "headroom 2: one of these runs reaches an envelope smaller by that factor",
        "2 runs; a refutation would be certified, never a false alarm",
        "nothing could have failed",
        "Strength, in the worst case: without sampling; certified, so that it is no false alarm",
        "5–95 % of the runs",
        "where it is vacuous",
    ):
        assert words in page.text, words
    assert "where it is refuted" not in page.text, "no key for what is not drawn"


def test_the_tables_are_files_beside_the_page(folder: Path, tmp_path: Path) -> None:
    out, *tables = write_report(folder, tmp_path / "page.html")
    links = Page(out.read_text(encoding="utf-8")).links
    found = [tmp_path / link for link in links if link.startswith("tables/")]
    assert found == tables
    assert len(found) == 12
    assert all(path.stat().st_size for path in found)


def test_nothing_is_loaded_from_elsewhere(page: Page) -> None:
    assert page.tags["script"] == page.tags["img"] == 0
    here = ("#", "data:,", "certificates/", "tables/")
    assert [link for link in page.links if not link.startswith(here)] == []


def test_every_link_inside_the_page_has_one_end(page: Page) -> None:
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)


def test_the_same_results_give_the_same_bytes(folder: Path) -> None:
    before = dict(mpl.rcParams)
    first, second = (write_report(folder)[0].read_bytes() for _ in range(2))
    assert first == second
    assert dict(mpl.rcParams) == before


def test_certificates_are_found_from_a_page_elsewhere(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    out = write_report(folder, tmp_path / "deep" / "page.html")[0]
    links = Page(out.read_text(encoding="utf-8")).links
    found = {link for link in links if link.endswith(".json")}
    assert {(out.parent / link).resolve() for link in found} == {(folder / CERTIFICATE).resolve()}


@pytest.mark.parametrize("field", ["case", "learner", "evidence", "graph", "loss", "claim", "form"])
def test_names_are_escaped(tmp_path: Path, field: str) -> None:
    row = result() | {field: r"<script>alert(1)</script>, <svg>$\nosuchmacro$"}
    text = write_report(write(tmp_path, [row], []))[0].read_text(encoding="utf-8")
    assert Page(text).tags["script"] == 0


def test_long_tables_are_cut_and_the_cases_that_matter_come_first(tmp_path: Path) -> None:
    many = [result(adversary=f"stream-{i}") for i in range(450)]
    bad = result(adversary="the-bad-one", verdict="refuted", certificate=CERTIFICATE)
    text = write_report(write(tmp_path, [*many, bad], []))[0].read_text(encoding="utf-8")
    cases = re.findall(r"<td class=\"wide\"><code>.*?\| (\S+) \|", text[text.index("<details>") :])
    assert cases[0] == "the-bad-one"
    assert "51 more in verdicts.json" in text


def test_a_run_without_results_has_a_page(tmp_path: Path) -> None:
    page = Page(write_report(write(tmp_path, [], []))[0].read_text(encoding="utf-8"))
    assert "0 verdicts" in page.text


def test_verdicts_of_another_version_are_named_with_it(tmp_path: Path) -> None:
    path = write(tmp_path, [result()], [])
    sentence = f"made by boundcheck 0.1.0, here {__version__}: they are not to be compared with new"
    assert sentence in write_report(path)[0].read_text(encoding="utf-8")
    file = path / results.VERDICTS
    text = file.read_text(encoding="utf-8").replace(
        '"boundcheck": "0.1.0"', f'"boundcheck": "{__version__}"'
    )
    file.write_text(text, encoding="utf-8")
    assert "not to be compared" not in write_report(path)[0].read_text(encoding="utf-8")


def test_a_page_that_cannot_be_read_or_written(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no results in"):
        write_report(tmp_path)
    with pytest.raises(UserError, match="cannot be written"):
        write_report(folder, folder / "absent" / "page.html")


def test_results_that_are_not_whole_are_refused_in_one_sentence(
    folder: Path, tmp_path: Path
) -> None:
    verdicts, curves = tmp_path / results.VERDICTS, tmp_path / results.CURVES
    document = json.loads((folder / results.VERDICTS).read_text(encoding="utf-8"))
    whole = pd.read_parquet(folder / results.CURVES)

    def refused(match: str, content: Any, frame: pd.DataFrame | None) -> None:
        verdicts.write_text(json.dumps(content), encoding="utf-8")
        curves.unlink(missing_ok=True)
        if frame is not None:
            frame.to_parquet(curves)
        with pytest.raises(UserError, match=match):
            write_report(tmp_path)

    for key in ("schema", "suite", "results"):
        part = {name: value for name, value in document.items() if name != key}
        refused(f"has no '{key}': expected the keys schema, suite, results", part, whole)
    refused("has no 'schema'", [document], whole)
    refused("has schema 99: expected 1", document | {"schema": 99}, whole)
    refused("expected curves.parquet beside verdicts.json", document, None)
    for name in results.CURVE_COLUMNS:
        refused(f"has no column '{name}': expected claim, form", document, whole.drop(columns=name))
    whole.to_parquet(curves)
    assert write_report(tmp_path)
    curves.write_bytes(b"not a table")
    with pytest.raises(UserError, match=r"curves.parquet' is damaged"):
        write_report(tmp_path)
    verdicts.write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match=r"verdicts.json' is damaged"):
        write_report(tmp_path)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Debian's chromium")
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_a_browser(folder: Path, tmp_path: Path, width: int) -> None:
    page = write_report(folder, tmp_path / "page.html")[0]
    frame = tmp_path / "frame.html"  # a window of a desktop browser is never so narrow as a phone
    frame.write_text(FRAME.format(width=width, page=page.name), encoding="utf-8")
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
        "--allow-file-access-from-files",
        "--enable-logging=stderr",
        f"--user-data-dir={tmp_path / 'profile'}",
        f"--window-size={max(width, 500)},900",
        "--dump-dom",
        frame.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    found = re.search(r"<title>wide (\d+)\+(\d+), smallest (\d+)</title>", done.stdout)
    assert found is not None, done.stdout[-1000:]
    visible, hidden, smallest = map(int, found.groups())
    assert width - 20 <= visible <= width, "but for a scroll bar"
    assert hidden == 0, "nothing sticks out to the right"
    assert smallest >= 200, "no picture is too small to read"
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]
