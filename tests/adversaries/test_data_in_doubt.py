"""Files that could be read in two ways: refused, or read with a note that names the other way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from boundcheck.adversaries.reading import Reading
from boundcheck.adversaries.recorded import load
from boundcheck.errors import UserError

SPECTRA = "0.3,0.8,-1.3,oak 0.9,0.4,0.5,pine 0.1,0.2,0.3,oak 0.4,0.4,0.1,pine"
WHOLE = "3,1,2,oak 5,4,9,pine 1,2,3,oak 4,4,1,pine"


def written(folder: Path, lines: str, name: str = "a.csv") -> Path:
    path = folder / name
    rows = [lines] if name.endswith(".svm") else lines.split(" ")
    path.write_text("\n".join([*rows, ""]), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("lines", "rows", "note"),
    [
        (f"1100,1102,1104,species {SPECTRA}", 4, "was taken for names, since its class 'species'"),
        (f"2022,2021,2020,grade {WHOLE}", 4, "--no-header reads it as a row"),
        (f"1100,1102,1101,species {SPECTRA}", 5, "--header reads it as names"),
        (f"1,2,3,other 1,2,4,oak 1,2,5,oak {WHOLE}", 7, "its class 'other' comes once"),
        (f"7,2,1,oak {WHOLE}", 5, None),
    ],
)
def test_a_first_line_of_numbers_is_read_with_a_note(
    tmp_path: Path, lines: str, rows: int, note: str | None
) -> None:
    path = written(tmp_path, lines)
    recorded = load(path)
    assert recorded.rows.horizon == rows
    assert len(recorded.notes) == (note is not None)
    assert note is None or note in recorded.notes[0]
    for header in (True, False):
        said = load(path, header=header)
        assert said.rows.horizon == len(lines.split()) - header
        assert said.notes == ()


@pytest.mark.parametrize("first", [",,,oak", "NA,null,nan,oak", ",NA,,"])
def test_a_first_row_of_missing_values_is_no_header(tmp_path: Path, first: str) -> None:
    with pytest.raises(UserError, match="row 1"):
        load(written(tmp_path, f"{first} {SPECTRA}"))


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("oak", "oak ", "differ only in spaces around them"),
        ("\toak", "oak", "differ only in spaces around them"),
        ("caf\u00e9", "cafe\u0301", "differ only in how they are encoded"),
        ("\u1ed7", "\u00f4\u0303", "differ only in how they are encoded"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
def test_labels_that_look_alike_are_refused_unless_they_are_exact(
    tmp_path: Path, one: str, other: str, words: str, ending: str
) -> None:
    path = tmp_path / f"a.{ending}"
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [one, other, "pine"]})
    if ending == "npz":
        np.savez(path, X=frame[["x"]].to_numpy(), y=frame["y"].to_numpy(dtype=str))
    else:
        (frame.to_csv if ending == "csv" else frame.to_parquet)(path, index=False)
    with pytest.raises(UserError, match=rf"{words}.*--labels exact"):
        load(path)
    exact = load(path, exact=True)
    assert (exact.n_labels, exact.notes) == (3, ())


@pytest.mark.parametrize(("one", "other"), [("Oak", "oak"), ("TRUE", "True"), ("\u00c9", "\u00e9")])
def test_labels_of_other_case_are_classes_with_a_note(tmp_path: Path, one: str, other: str) -> None:
    path = written(tmp_path, f"a,b,y 1,2,{one} 3,4,{other} 5,6,ash")
    recorded = load(path)
    assert recorded.n_labels == 3
    assert len(recorded.notes) == 1
    assert repr(one) in recorded.notes[0]
    assert repr(other) in recorded.notes[0]


def test_exact_labels_are_texts(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,y 1,2,01 3,4,1 5,6,1.0")
    with pytest.raises(UserError, match="one number written in two ways"):
        load(path)
    assert load(path, exact=True).classes == ("01", "1", "1.0")


@pytest.mark.parametrize(
    ("name", "lines", "words"),
    [
        ("a.csv", "a;b;y 0.1;0.2;1 0.3;0.4;0", "separated by ';': expected fields between commas"),
        ("a.csv", "1,5;0 2,5;1 3,5;0", "by ';' and its decimals by commas"),
        ("a.csv", "a;b;y 0,1;0,2;x 0,3;-0,4;z", "by ';' and its decimals by commas"),
        ("a.tsv", "a,b,y 0.1,0.2,1 0.3,0.4,0", "separated by ',': expected fields between tabs"),
        ("a.csv", "a\tb\ty 0.1\t0.2\t1 0.3\t0.4\t0", "separated by tabs"),
        ("a.csv", "a,b,y, 0.1,0.2,1, 0.3,0.4,0,", "a last column without a name"),
    ],
)
def test_other_separators_are_named(tmp_path: Path, name: str, lines: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        load(written(tmp_path, lines, name))
    assert words in str(caught.value)


def test_a_semicolon_in_labels_is_no_separator(tmp_path: Path) -> None:
    recorded = load(written(tmp_path, "a,b,y 0.1,0.2,1;2 0.3,0.4,2;3 0.3,0.4,2;3"))
    assert recorded.classes == ("1;2", "2;3")


def test_index_levels_of_parquet_with_names_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]})
    frame.index = pd.MultiIndex.from_arrays([[7.0, 8.0, 9.0], [0, 1, 2]], names=["z", None])
    frame.to_parquet(path)
    assert load(path).rows.dense().tolist() == [[7.0, 1.0], [8.0, 2.0], [9.0, 3.0]]
    frame.set_index("y").to_parquet(path)
    assert load(path, label="y").classes == ("a", "b")
    frame.set_index(pd.Index([1, 2, 3], name="x")).to_parquet(path)
    with pytest.raises(UserError, match="called 'x'"):
        load(path)


def test_parquet_columns_of_one_name_and_of_lists(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table([[1.0, 2.0], [3.0, 4.0], ["a", "b"]], names=["x", "x", "y"]), path)
    with pytest.raises(UserError, match="two columns called 'x'"):
        load(path)
    pd.DataFrame({"x": [[1.0], [2.0]], "y": ["a", "b"]}).to_parquet(path)
    with pytest.raises(UserError, match=r"column 'x' of 'a.parquet' is \[1\.\]"):
        load(path)


@pytest.mark.parametrize(
    "labels", [("9007199254740993", "9007199254740992", "3"), ("1e19", "-2e19", "3")]
)
def test_svmlight_labels_that_floats_cannot_tell_apart(
    tmp_path: Path, labels: tuple[str, ...]
) -> None:
    path = written(tmp_path, "\n".join(f"{label} 1:1" for label in labels), "a.svm")
    with pytest.raises(UserError, match=r"expected numbers below 2\^53"):
        load(path)
    near = written(tmp_path, "9007199254740991 1:1\n9007199254740990 1:1", "b.svm")
    assert load(near).classes == (9007199254740990, 9007199254740991)


@pytest.mark.parametrize("index", ["20000000000", "3000000000"])
def test_an_index_beyond_all_features(tmp_path: Path, index: str) -> None:
    with pytest.raises(UserError, match="number the features without gaps"):
        load(written(tmp_path, f"1 1:.5\n2 {index}:1", "a.svm"))


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet", "svm"])
def test_only_so_many_rows_are_read(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 2, 2])
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
    if ending == "npz":
        np.savez(path, X=X, y=y)
    elif ending == "svm":
        lines = [f"{k} 1:{a} 2:{b}" for k, (a, b) in zip(y, X, strict=True)]
        path.write_text("# comment\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    else:
        (frame.to_csv if ending == "csv" else frame.to_parquet)(path, index=False)
    some: Any = load(path, rows=4)
    assert some.rows.digest() == load(path, n_labels=3).rows.prefix(4).digest() or (
        some.rows.dense().tolist() == X[:4].tolist() and some.rows.labels.tolist() == [0, 1, 0, 1]
    )
    assert some.n_labels == 2
    assert load(path, rows=100).rows.horizon == 6


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("a.csv#header=no", Reading(Path("a.csv"), header=False)),
        ("a.csv@y#labels=exact,rows=5", Reading(Path("a.csv"), "y", exact=True, rows=5)),
        ("a#b.csv@y#z", Reading(Path("a#b.csv"), "y#z")),
        ("a.csv@y#header=yes,labels=exact,rows=2", Reading(Path("a.csv"), "y", True, True, 2)),
    ],
)
def test_how_a_file_is_read_may_be_written_behind_it(text: str, reading: Reading) -> None:
    assert Reading.of(text) == reading
    assert str(reading) == text


@pytest.mark.parametrize("option", ["header=maybe", "labels=loose", "rows=0", "rows=-1", "rows=x"])
def test_options_of_reading_have_few_values(option: str) -> None:
    with pytest.raises(UserError, match=f"{option}: expected"):
        Reading.of(f"a.csv#{option}")


def test_a_label_named_in_a_line_that_was_taken_for_a_row(tmp_path: Path) -> None:
    path = written(tmp_path, f"3,1,2,9 {SPECTRA}")
    with pytest.raises(UserError, match="expected --header, which reads it as names"):
        load(path, label="9")
    assert load(path, label="9", header=True).rows.horizon == 4
