"""The page once more: what it calls what is observed, where it goes, and how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from page_results import result, write

from boundcheck.reports.page import build as page_module
from boundcheck.reports.page.build import write_report


def test_what_is_observed_is_called_by_its_name(tmp_path: Path) -> None:
    gap, other = "boosting/asymptotic-error", "gappletron/theorem-5a"
    found = [
        result(gap, "derived", kind="tail", ratio=1.06),
        result(other, kind="tail", ratio=-0.2),
    ]
    curves = [
        (row["claim"], row["form"], row["case"], 0, t, 0.3 * t, 20.0, 0.5)
        for row in found
        for t in (1, 50)
    ]
    (path, *_) = write_report(write(tmp_path, found, curves))
    text = " ".join(path.read_text(encoding="utf-8").split())
    assert text.count("so that one above 1 may still hold") == 2
    assert text.count("Ratios of 0 or less") == 1
    assert 'aria-label="difference of the mistakes at the end"' in text
    assert 'aria-label="mistakes at the end"' in text


def test_large_counts_and_long_names_are_easy_to_read(tmp_path: Path) -> None:
    """Thousands are set apart, a name goes on after its slash, and it is said how many certificates are shown."""
    found = [
        result(adversary=f"stream-{i}", runs=1, verdict="refuted", certificate=f"{i % 7}.json")
        for i in range(1200)
    ]
    (path, *_) = write_report(write(tmp_path, found, []))
    text = " ".join(path.read_text(encoding="utf-8").split())
    assert text.count('class="verdict refuted">1,200 refuted<') == 2
    assert '<td class="n">1,200</td>' in text
    assert "1,200 refuted; <span" in text
    assert ">gappletron/<wbr>lemma-1</a>" in text
    assert "7 certificates, 5 of them shown; from the folder of this page:" in text


def test_a_page_goes_into_a_file_or_a_folder(tmp_path: Path) -> None:
    found = write(tmp_path, [], [])
    (tmp_path / "there.is").mkdir()
    (tmp_path / "old").write_text("<title>boundcheck: an earlier page</title>")
    names = {
        "page.html": "page.html",
        "deep/new": "deep/new/index.html",
        "there.is": "there.is/index.html",
        "old": "old",
    }
    for out, page in names.items():
        assert write_report(found, tmp_path / out)[0] == tmp_path / page
        assert (tmp_path / page).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_progress_is_told_for_each_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []

    @contextmanager
    def progress(total: int, **how: Any) -> Iterator[Any]:
        told.append((total, how["quiet"]))
        yield lambda done, wrong: told.append(done)

    monkeypatch.setattr(page_module, "progress", progress)
    found = [result(), result(adversary="another"), result("gappletron/lemma-2")]
    write_report(write(tmp_path, found, []), quiet=False)
    assert told == [(2, False), 1, 1]
