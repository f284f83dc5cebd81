from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file, load_digits

from boundcheck.adversaries.class_labels import encode
from boundcheck.adversaries.reading import Reading
from boundcheck.adversaries.recorded import load
from boundcheck.errors import UserError

Write = Callable[[str, str], Path]

X = np.array([[1.5, 0.0], [0.0, -2.0], [3.25, 1.0], [0.1, 1e-7]])
Y = np.array(["cat", "ant", "cat", "bee"])


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return to


def table() -> pd.DataFrame:
    return pd.DataFrame({"wing": X[:, 0], "leg": X[:, 1], "kind": Y})


def test_digits_as_pandas_writes_them(tmp_path: Path) -> None:
    digits = load_digits()
    path = tmp_path / "digits.csv"
    pd.DataFrame(digits.data).assign(label=digits.target).to_csv(path, index=False)
    recorded = load(path)
    assert (recorded.spec, recorded.n_labels) == ("digits.csv", 10)
    assert recorded.classes == tuple(range(10))
    sequence = recorded.sequence()
    assert (sequence.horizon, sequence.n_features) == (1797, 64)
    assert np.array_equal(sequence.dense(), digits.data)
    assert np.array_equal(sequence.labels, digits.target)
    for again in (load(path, label="label"), load(path, label=64, header=True)):
        assert again.sequence().digest() == sequence.digest()

    named = tmp_path / "named.csv"
    columns = list(digits.feature_names)
    frame = pd.DataFrame(digits.data, columns=columns)
    frame.insert(0, "digit", digits.target)
    frame.to_csv(named, index=False)
    assert load(named, label="digit").sequence().digest() == sequence.digest()

    bare = tmp_path / "bare.csv"
    pd.DataFrame(digits.data).assign(label=digits.target).to_csv(bare, index=False, header=False)
    assert load(bare).sequence().digest() == sequence.digest()


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "npz"])
def test_formats_agree_and_keep_the_order(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"animals.{ending}"
    if ending == "parquet":
        table().to_parquet(path)
    elif ending == "npz":
        np.savez(path, X=X, y=Y)
    else:
        table().to_csv(path, index=False, sep="," if ending == "csv" else "\t")
    recorded = load(str(path))
    assert recorded.classes == ("ant", "bee", "cat")
    sequence = recorded.sequence()
    assert sequence.name == recorded.spec == path.name
    assert sequence.labels.tolist() == [2, 0, 2, 1]
    assert np.array_equal(sequence.dense(), X)
    assert recorded.sequence(2, seed=9).digest() == sequence.prefix(2).digest()
    with pytest.raises(UserError, match=rf"horizon 5 exceeds the 4 rounds of '{path.name}'"):
        recorded.sequence(5)
    with pytest.raises(UserError, match="horizon is 0"):
        recorded.sequence(0)


@pytest.mark.parametrize("ending", ["svm", "svmlight", "libsvm"])
def test_svmlight(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"data.{ending}"
    dump_svmlight_file(X, np.array([-1, 1, -1, 3]), str(path), zero_based=False)
    recorded = load(path)
    assert recorded.classes == (-1, 1, 3)
    assert np.array_equal(recorded.sequence().dense(), X)
    assert recorded.sequence().labels.tolist() == [0, 1, 0, 2]


def test_svmlight_without_scikit_learn(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(UserError, match=r"needs scikit-learn: install boundcheck\[data\]"):
        load(write("a.svm", "1 1:2\n"))


@pytest.mark.parametrize(
    ("text", "options", "horizon"),
    [
        ("a,b,label\n1,2,x\n3,4,y\n", {}, 2),
        ("1,2,x\n3,4,y\n", {}, 2),
        ("1,2,7\n3,4,8\n", {}, 2),
        ("0,1,label\n1,2,x\n3,4,y\n", {}, 2),
        ("2019,2020,label\n1,2,7\n3,4,8\n", {}, 2),
        ("2019,2020,label\n1,2,x\n3,4,y\n", {"label": "label"}, 2),
        ("5,6,7\n1,2,7\n3,4,8\n", {"header": True}, 2),
        ("0,1,7\n1,2,7\n3,4,8\n", {"header": False}, 3),
        ("x,1,2\ny,3,4\n", {"label": 0}, 2),
        ("x,1,2\ny,3,4\n", {"label": "0"}, 2),
        ("x,1,2\ny,3,4\n", {"label": -3}, 2),
        ('\ufeffa,"b,c",label\n\n1,2,x\n3,4,y\n\n', {"label": "label"}, 2),
    ],
)
def test_headers_and_label_columns(
    write: Write, text: str, options: dict[str, Any], horizon: int
) -> None:
    recorded = load(write("a.csv", text), **options)
    assert recorded.sequence().horizon == horizon
    assert recorded.n_labels == 2
    assert recorded.sequence().dense()[-1].tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([3, -1, 3], (-1, 3)),
        ([0.5, 0.25, 0.5], (0.25, 0.5)),
        ([True, False, True], (False, True)),
        (["10", "9", "10"], ("10", "9")),
        (["x", 2, 1.5], (1.5, 2, "x")),
    ],
)
def test_labels_of_any_type(labels: list[Any], classes: tuple[Any, ...]) -> None:
    codes, found, _ = encode("a.csv", pd.Series(labels, dtype=object))
    assert found == classes
    assert [found[code] for code in codes] == labels


def test_more_labels_than_the_file_shows(write: Write) -> None:
    path = write("a.csv", "1,2,x\n3,4,y\n")
    assert load(path, n_labels=5).n_labels == 5
    three = write("c.csv", "1,2,x\n3,4,y\n5,6,z\n")
    with pytest.raises(UserError, match=r"'c.csv' has 3 classes, expected at most n_labels=2"):
        load(three, n_labels=2)
    with pytest.raises(UserError, match="n_labels is 1, expected an integer >= 2"):
        load(three, n_labels=1)
    assert load(write("b.csv", "1,2,x\n3,4,x\n"), n_labels=2).n_labels == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'a.csv' is empty"),
        ("a,b,label\n", "'a.csv' has a header but no rows"),
        ("1,2,x\n3,y\n", "line 2 of 'a.csv' has 2 fields, expected 3"),
        ("a,b,label\n1,2,x\n3,4,5,y\n", "line 3 of 'a.csv' has 4 fields, expected 3"),
        ("a,b,label\n1,2,x\n3,many,y\n", "row 2, column 'b' of 'a.csv' is 'many'"),
        ("1,2,x\nmany,4,y\n", "row 2, column '0' of 'a.csv' is 'many'"),
        ("many,2,x\n1,4,y\n", "row 1, column '0' of 'a.csv' is 'many'"),
        ("a,b,label\n1,,x\n3,4,y\n", "row 1, column 'b' of 'a.csv' is missing or NaN"),
        ("a,b,label\n1,2,x\nnan,4,y\n", "row 2, column 'a' of 'a.csv' is missing or NaN"),
        ("a,b,label\n1,2,x\n-inf,4,y\n", "row 2, column 'a' of 'a.csv' is -inf"),
        ("a,b,label\n1,1e999,x\n3,4,y\n", "row 1, column 'b' of 'a.csv' is inf"),
        ("a,b,label\n1,1e200,x\n3,4,y\n", "row 1 of 'a.csv' has a squared norm that overflows"),
        ("a,b,label\n1,2,x\n3,4,\n", "row 2 of 'a.csv' has no label in column 'label'"),
        ("a,b,label\n1,2,x\n3,4,x\n", "'a.csv' has the single class 'x'"),
        ("label\nx\ny\n", "'a.csv' has one column only"),
        (",a,label\n0,1,5\n1,2,6\n", "'a.csv' has a column without a name"),
        ('"1,2,x\n3,4,y\n', "'a.csv'"),
    ],
)
def test_bad_tables(write: Write, text: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        load(write("a.csv", text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "classes", "horizon"),
    [
        ("0,1,a 0,1,b 1,1,a", ("a", "b"), 3),  # the first line is data: its label comes again
        ("0,1,2,3 5,6,7,3 5,6,7,4", (3, 4), 2),  # pandas counts columns without names
        ("0,1,a 3,4,x 5,6,y", ("x", "y"), 2),
        ("5,6,x 3,4,7 3,4,x", ("7", "x"), 3),
        ("a,b,l 1,2,01 3,4,02", (1, 2), 2),
        ("a,b,l 1,2,+1 3,4,-1", (-1, 1), 2),
        ("a,b,l 1,2,2.0 3,4,1.5", (1.5, 2.0), 2),
        ("a,b,l 1,2,9007199254740993 3,4,9007199254740992 3,4,1.5",
            (1.5, 9007199254740992, 9007199254740993), 3),
        ("a,b,l 1,2,NA 3,4,null 3,4,DE", ("DE", "NA", "null"), 3),
        ("a,b,l 1,2,inf 3,4,2", ("2", "inf"), 2),
        ("a,b,l 1,2,x 3,4,01 3,4,1", ("01", "1", "x"), 3),
    ],
)  # fmt: skip
def test_labels_of_text_files_are_what_is_written(
    write: Write, lines: str, classes: tuple[Any, ...], horizon: int
) -> None:
    recorded = load(write("a.csv", "\n".join(lines.split()) + "\n"))
    assert recorded.classes == classes
    assert [type(label) for label in recorded.classes] == [type(label) for label in classes]
    assert recorded.sequence().horizon == horizon


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("a,b,l 1,2,01 3,4,1", "the labels '01' and '1', one number written in two ways"),
        ("a,b,l 1,2,10 3,4,1e1 3,4,2", "the labels '10' and '1e1'"),
        ("a,b,l 1,2,1 3,4,NA 3,4,2", "row 2 of 'a.csv' has no label in column 'l'"),
        ('a,b,l 1,2,"x 3,4,"y 1,2,"x 3,4,"y', "a line break that ends in line 3"),
        ('"a,b,l 1,2,"x 3,4,y', "a line break that ends in line 2"),
        ("0,1,2 1,1,2 1,0,0", "the first line of 'a.csv', 0,1,2, may be names or data"),
    ],
)
def test_labels_of_text_files_that_are_in_doubt(write: Write, lines: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        load(write("a.csv", "\n".join(lines.split()) + "\n"))
    assert words in str(caught.value)


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
def test_measurements_are_no_labels(tmp_path: Path, ending: str) -> None:
    def saved(y: Any) -> Path:
        path = tmp_path / f"a.{ending}"
        frame = pd.DataFrame({"x": np.arange(len(y)) % 5, "y": y})
        if ending == "npz":
            np.savez(path, X=frame[["x"]].to_numpy(), y=frame["y"].to_numpy())
        else:
            (frame.to_csv if ending == "csv" else frame.to_parquet)(path, index=False)
        return path

    stars = np.tile(np.arange(20) / 2, 3)
    assert load(saved(stars)).n_labels == 20
    assert load(saved(np.arange(20))).n_labels == 20
    assert load(saved(np.tile(np.arange(30), 2))).n_labels == 30
    with pytest.raises(UserError, match=r"column 'y' of .* has 21 different numbers in 42 rows"):
        load(saved(np.tile(np.arange(21) / 2, 2)))
    with pytest.raises(UserError, match=r"another value in each of its 21 rows.*--label"):
        load(saved(np.arange(21)))


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a.csv", ("a.csv", None)),
        ("a.csv@kind", ("a.csv", "kind")),
        ("a.csv@", ("a.csv", "")),
        ("/data/me@host/a.CSV", ("/data/me@host/a.CSV", None)),
        ("me@b.libsvm", ("me@b.libsvm", None)),
        ("me@b.parquet@at@x.csv", ("me@b.parquet", "at@x.csv")),
        ("me@b.txt", ("me@b.txt", None)),
    ],
)
def test_names_of_files_and_labels_may_have_an_at(name: str, parts: tuple[str, str | None]) -> None:
    reading = Reading.of(name)
    assert (str(reading.path), reading.label) == parts
    assert str(reading) == name


def test_no_such_label_column(write: Write) -> None:
    path = write("a.csv", "wing,leg,kind\n1,2,x\n3,4,y\n")
    with pytest.raises(
        UserError, match=r"\(did you mean 'kind'\?\): expected one of wing, leg, kind\."
    ):
        load(path, label="kin")
    for position in (3, -4, "3", ""):
        with pytest.raises(UserError, match=f"no label column '{position}'"):
            load(path, label=position)
    twice = write("b.csv", "a,a,b\n1,2,3\n4,5,6\n")
    with pytest.raises(UserError, match="2 columns called 'a'"):
        load(twice, label="a")
    wide = write("c.csv", ",".join(map(str, range(100))) + "\n")
    with pytest.raises(UserError, match=r"17, 18, 19, \.\.\. \(100 in all\)"):
        load(wide, label="kind", header=False)


def test_bad_paths(tmp_path: Path, write: Write) -> None:
    with pytest.raises(UserError, match=r"no such file: '.*gone.csv'"):
        load(tmp_path / "gone.csv")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    with pytest.raises(UserError, match="is not a file"):
        load(folder)
    with pytest.raises(
        UserError, match=r"ending '.cvs' \(did you mean '.csv'\?\): expected one of"
    ):
        load(tmp_path / "data.cvs")
    with pytest.raises(UserError, match="has no header to declare"):
        load(write("a.npz", ""), header=True)
    with pytest.raises(UserError, match="has no columns to choose the label 'kind' from"):
        load(write("a.svm", ""), label="kind")


@pytest.mark.parametrize("ending", ["npz", "parquet", "svm", "csv", "tsv"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00nonsense", b"PK\x03\x04broken"])
def test_damaged_files(tmp_path: Path, ending: str, content: bytes) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"'a.{ending}'"):
        load(path)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X": X}, "no array 'y', only: X"),
        ({"y": Y}, "no array 'X', only: y"),
        ({"X": X, "y": Y[:3]}, "X of shape (4, 2) and y of shape (3,)"),
        ({"X": X[:, 0], "y": Y}, "X of shape (4,)"),
        ({"X": X[:0], "y": Y[:0]}, "has no rows"),
        ({"X": X.astype(str), "y": Y}, "X of type <U"),
        ({"X": X.astype(object), "y": Y}, "cannot be read as .npz"),
        ({"X": np.where(X == 1.0, np.nan, X), "y": Y}, "row 3, column 1 of 'a.npz' is nan"),
        ({"X": X, "y": [0, 1, np.inf, 1]}, "column 'y' of 'a.npz' has a label that is infinite"),
        ({"X": X, "y": [0, 1j, 1, 1]}, "has y of type complex128, expected whole numbers or texts"),
        ({"X": X, "y": np.zeros(4, "i4,i4")}, "has y of type [('f0', '<i4'), ('f1', '<i4')]"),
        ({"X": X, "y": Y[:, None]}, "y of shape (4, 1), expected (T, d) and (T,), one label a row"),
        ({"X": X, "y": [0, 1, np.nan, 1]}, "row 3 of 'a.npz' has no label in column 'y'"),
    ],
)
def test_bad_archives(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(UserError) as caught:
        load(tmp_path / "a.npz")
    assert words in str(caught.value)


def test_archives_of_other_machines(tmp_path: Path) -> None:
    big = {"X": X.astype(">f8"), "y": np.array([7, 5, 7, 6], dtype=">i4")}
    np.savez(tmp_path / "a.npz", **big)
    recorded = load(tmp_path / "a.npz")
    assert recorded.classes == (5, 6, 7)
    assert np.array_equal(recorded.sequence().dense(), X)


def test_parquet_columns_that_are_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table().assign(leg=pd.Timestamp("2020-01-01")).to_parquet(path)
    with pytest.raises(UserError, match=r"row 1, column 'leg' of 'a.parquet' is 2020-01-01"):
        load(path)
    table().assign(leg=pd.array([1, None, 2, 3], dtype="Int64")).to_parquet(path)
    with pytest.raises(UserError, match=r"row 2, column 'leg' of 'a.parquet' is missing"):
        load(path)
    table().assign(kind=[[1], [2], [1], [2]]).to_parquet(path)
    with pytest.raises(UserError, match=r"column 'kind' of 'a.parquet' has labels of type ndarray"):
        load(path)
    table().assign(leg=[True, False, True, True]).to_parquet(path)
    assert load(path).sequence().dense()[:, 1].tolist() == [1.0, 0.0, 1.0, 1.0]


def test_damaged_svmlight_values(write: Write) -> None:
    with pytest.raises(UserError, match=r"row 2, column 0 of 'a.svm' is nan"):
        load(write("a.svm", "1 1:2\n2 1:nan\n"))
    with pytest.raises(UserError, match=r"'a.svm' cannot be read as .svm"):
        load(write("a.svm", "1 1:2\n2 one\n"))
