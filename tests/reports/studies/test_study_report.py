"""The report of a study: what it counts, ranks, draws and writes, on finished and on unfinished ones."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from small_study import small

from boundcheck import __version__
from boundcheck.errors import UserError
from boundcheck.reports.cli import main
from boundcheck.reports.page.build import write_report
from boundcheck.reports.studies import figures as study_figures
from boundcheck.reports.studies import section as report
from boundcheck.verify.studies import store
from boundcheck.verify.studies.study import Study

FINDING = """
[[findings]]
says = "nobody is <better> than a guesser"
left = "Gap"
right = "Guesser"
relation = "at most"
tuning = "best"
"""


def written(folder: Path, study: Study, mistakes: dict[str, int], leave: int = 0) -> Path:
    """A study whose learners make so many mistakes by the horizon, plus the seed, and that lacks some cases."""
    cases = study.cases()
    with store.opened(folder / study.name) as opened:
        opened.adopt(study, cases, resume=False)
        for case in cases[: len(cases) - leave]:
            content = case.content
            columns: dict[str, list[Any]] = {field.name: [] for field in store.COLUMNS}
            for name, tuning, _, _ in content["learners"]:
                for rounds in content["checkpoints"]:
                    total = mistakes[f"{name} {tuning}"] + content["seed"]
                    made = round(total * rounds / content["horizon"])
                    guesser = name == "Guesser"
                    row = {
                        "learner": name,
                        "tuning": tuning,
                        "rounds": rounds,
                        "mistakes": made,
                        "best_label_mistakes": made,
                        "expected_mistakes": float(made),
                        "observed_labels": rounds,
                        "surrogate_loss": None if guesser else 2.0 * made,
                        "comparator_loss": None if guesser else 1.0,
                        "regret_envelope": None,
                    }
                    for column, value in row.items():
                        columns[column].append(value)
            opened.finish(case, columns)
    return folder / study.name


HERE = store.provenance()
COUNTS = {"Guesser any": 40, "Gap ones": 20, "Gap theory": 30}


def with_finding() -> Study:
    import tomllib

    return small(**tomllib.loads(FINDING))


def test_the_ranking_is_what_was_written(tmp_path: Path) -> None:
    results = report.load(written(tmp_path, small(), COUNTS))
    assert (results.finished, results.planned, results.stale, results.failed) == (4, 4, 0, 0)
    table = results.ranking("mistakes").set_index(["tuning", "learner"])
    assert table["mean"].to_dict() == pytest.approx(
        {
            ("ones", "Gap"): 20.5 / 50,
            ("ones", "Guesser"): 40.5 / 50,
            ("theory", "Gap"): 30.5 / 50,
            ("theory", "Guesser"): 40.5 / 50,
            ("best", "Gap"): 20.5 / 50,
            ("best", "Guesser"): 40.5 / 50,
        }
    )
    assert table.loc[("ones", "Gap"), ["rank", "wins", "low", "high"]].tolist() == [1, 2, 0.4, 0.42]
    assert table.loc[("ones", "Guesser"), ["rank", "wins"]].tolist() == [2, 0]
    settings = results.settings_table("mistakes")
    row = settings[(settings["learner"] == "Gap") & (settings["tuning"] == "theory")].iloc[0]
    assert row[["keyword_scale", "mean", "min", "max", "count"]].tolist() == [1, 30.5, 30, 31, 2]


def test_findings_are_compared_under_the_best_tuning(tmp_path: Path) -> None:
    results = report.load(written(tmp_path, with_finding(), COUNTS))
    ((_, (row,)),) = results.compared()
    assert row.ratio == pytest.approx(((20 / 40) * (21 / 41)) ** 0.5)
    assert row.seeds == 2
    section = report.section(results)
    assert section["findings"][0]["word"] == row.word
    assert section["findings"][0]["expected"] == "at most 1"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["agrees", "agrees"], "agrees"),
        (["agrees", "undecided"], "undecided"),
        (["agrees", "disagrees", "undecided"], "disagrees"),
        ([], "undecided"),
    ],
)
def test_one_pair_speaks_for_a_finding(words: list[str], expected: str) -> None:
    class Row:
        def __init__(self, word: str) -> None:
            self.word = word

    rows: list[Any] = [Row(word) for word in words]
    assert report.overall(rows) == expected


def page_of(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str]:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["boundcheck", "report", *arguments])
    status = main()
    page = folder / "boundcheck-report" / "index.html"
    return status, page.read_text() if page.exists() else ""


def test_the_page_of_an_unfinished_study_says_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = with_finding()
    place = written(tmp_path / "results", study, COUNTS, leave=1)
    keys = [case.key for case in study.cases()]
    (place / f"{keys[0]}.parquet").write_bytes(b"")
    (place / f"{keys[3]}{store.FAILED}").write_text("{}")
    status, page = page_of(tmp_path, monkeypatch)
    assert status == 0
    assert "2 of 4 cases finished</strong> – unfinished" in page
    assert "1 failed" in page
    assert f"{keys[0]}.parquet is empty." in page
    assert '<a href="#study-small">small</a>, 2 of 4 cases' in page
    assert "nobody is &lt;better&gt; than a guesser" in page
    assert "0 surprises" not in page


def test_the_page_has_pictures_and_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "results", with_finding(), COUNTS)
    status, page = page_of(tmp_path, monkeypatch)
    assert status == 0
    assert "4 of 4 cases finished</strong>." in page
    pictures = page.split("<svg")[1:]
    assert len(pictures) == 1 + 3 + 1 + 1  # the key, a grid for each tuning, curves, regret
    for picture in pictures:
        ET.fromstring("<svg" + picture.split("</svg>")[0] + "</svg>")
    tables = tmp_path / "boundcheck-report" / "tables"
    assert {path.name for path in tables.iterdir()} == {
        f"study-small-{table}.{ending}"
        for table in ("ranking", "settings", "findings")
        for ending in ("csv", "md", "tex")
    }
    for path in tables.iterdir():
        assert f'href="tables/{path.name}"' in page
    ranking = pd.read_csv(tables / "study-small-ranking.csv")
    assert ranking["learner"].tolist() == ["Gap", "Guesser"] * 3
    markdown = (tables / "study-small-settings.md").read_text().splitlines()
    assert len(markdown) == 2 + 2 * 3 * 2
    assert {line.count("|") for line in markdown} == {8}
    latex = (tables / "study-small-settings.tex").read_text()
    assert r"keyword scale & tuning & learner & mean & min & max & count \\" in latex


def test_a_study_that_is_named_has_a_page_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts = tmp_path / "boundcheck-report"
    place = str(written(tmp_path / "results", with_finding(), COUNTS))
    verdicts.mkdir()
    (verdicts / "verdicts.json").write_text("{}")
    (verdicts / "index.html").write_text("the verdicts")
    assert page_of(tmp_path, monkeypatch, "--study", place) == (0, "the verdicts")
    assert 'id="study-small"' in Path(place, "index.html").read_text()
    assert Path(place, "tables").is_dir()
    for asked in ((), ("--study", place, "--results", "boundcheck-report")):
        assert page_of(tmp_path, monkeypatch, *asked)[0] == 2, "these verdicts are damaged"


def test_where_the_page_of_studies_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = str(written(tmp_path / "results", small(), COUNTS))
    second = str(written(tmp_path / "more", replace(small(), name="other"), COUNTS))
    asked: list[Path | None] = []

    def write(folder: Path, out: Path | None, *_: Any, **__: Any) -> list[Path]:
        asked.append(out)
        return []

    monkeypatch.setattr("boundcheck.reports.page.build.write_report", write)
    both = ("--study", first, "--study", second)
    for arguments in (both, (*both, "--out", "mine.html"), (*both, "--results", "verdicts")):
        assert page_of(tmp_path, monkeypatch, *arguments)[0] == 0
    assert asked == [Path("boundcheck-report", "studies.html"), Path("mine.html"), None]


def test_the_same_results_are_the_same_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "results", with_finding(), COUNTS)
    assert page_of(tmp_path, monkeypatch) == page_of(tmp_path, monkeypatch)


def test_rows_are_k_columns_are_d_and_the_noise_lies_inside() -> None:
    grid = {
        "adversary": "keywords",
        "noise": [0.0, 0.1],
        "n_labels": [3, 4],
        "keyword_scale": [1, 2],
        "graph": ["bandit", "full"],
        "horizon": 50,
    }
    place = study_figures.layout(small(grid=grid))
    assert place == study_figures.Layout("n_labels", "keyword_scale", "noise", ("graph",))
    assert study_figures.layout(small()) == study_figures.Layout(None, None, "keyword_scale", ())


@pytest.mark.parametrize("horizon", [40, 200, 100_000])
def test_labels_of_rounds_do_not_lie_upon_each_other(horizon: int) -> None:
    figure = Figure(figsize=study_figures.PANEL, layout="constrained")
    axes = figure.subplots()
    axes.plot([30, horizon], [0.5, 0.2])
    axes.tick_params(labelsize=8)
    study_figures.log_rounds(axes)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    low, high = axes.get_xlim()
    labels = [
        tick.label1.get_window_extent()
        for minor in (False, True)
        for tick in (axes.xaxis.get_minor_ticks() if minor else axes.xaxis.get_major_ticks())
        if low <= tick.get_loc() <= high and tick.label1.get_text()
    ]
    assert labels
    places = sorted((box.x0, box.x1) for box in labels)
    assert all(end < start for (_, end), (start, _) in pairwise(places))


def test_stale_results_are_shown_and_said_to_be_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = written(tmp_path, small(), COUNTS)
    assert report.load(place).staleness is None
    monkeypatch.setattr(store, "provenance", lambda: {**HERE, "sources": "2" * 64})
    stale = report.load(place)
    assert stale.stale == 4
    assert "were made by other sources or libraries than are here now" in str(stale.staleness)


def test_results_of_another_version_are_named_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of 0.2 have other numbers: the norm of projected weights drifted."""
    with monkeypatch.context() as earlier:
        earlier.setattr(store, "provenance", lambda: {**HERE, "boundcheck": "0.2.0"})
        place = written(tmp_path, small(), COUNTS)
    sentence = str(report.load(place).staleness)
    assert sentence.startswith(f"4 of 4 cases were made by boundcheck 0.2.0, here {__version__}: ")
    (page, *_) = write_report(tmp_path, place / "index.html", [report.load(place)])
    assert sentence in page.read_text(encoding="utf-8")


WRONG = {
    "nothing": (
        ["--study", "none"],
        "no study in 'none': expected plan.json, as boundcheck study writes it",
    ),
    "damaged plan": (["--study", "damaged"], "'damaged/plan.json' is damaged"),
    "newer plan": (
        ["--study", "newer"],
        "was written by a newer version of boundcheck, as schema 3",
    ),
    "nothing finished": (
        ["--study", "small"],
        "no finished case in 'small': expected at least one of 4",
    ),
    "no verdicts": ([], "no results in 'boundcheck-report'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_is_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, sentence = WRONG[name]
    written(tmp_path, small(), COUNTS, leave=4)
    for place, text in (("damaged", "{"), ("newer", json.dumps({"schema": 3}))):
        (tmp_path / place).mkdir()
        (tmp_path / place / store.PLAN).write_text(text)
    assert page_of(tmp_path, monkeypatch, *arguments)[0] == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_a_study_that_lost_a_learner_can_still_be_read(tmp_path: Path) -> None:
    place = written(tmp_path, small(), COUNTS)
    plan = json.loads((place / store.PLAN).read_text())
    plan["study"]["learners"]["Guesser"] = "gone"  # a spec that this version does not know
    (place / store.PLAN).write_text(json.dumps(plan))
    assert report.load(place).finished == 4
    plan["study"]["seeds"] = 0
    (place / store.PLAN).write_text(json.dumps(plan))
    with pytest.raises(UserError, match="seeds = 0"):
        report.load(place)
