"""The store: whole files or none, the same bytes again, and every bad file named."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_study import small

from boundcheck.errors import UserError
from boundcheck.verify.studies import run as sweep
from boundcheck.verify.studies import store
from boundcheck.verify.studies.study import StudyCase


@pytest.fixture
def cases() -> list[StudyCase]:
    return small().cases()


@pytest.fixture
def columns(cases: list[StudyCase]) -> dict[str, list[Any]]:
    """Numbers of the right shape, which no one played."""
    rows = [
        (name, tuning, checkpoint)
        for name, tuning, _, _ in cases[0].content["learners"]
        for checkpoint in cases[0].content["checkpoints"]
    ]
    learner, tuning, rounds = (list(column) for column in zip(*rows, strict=True))
    numbers = [float(i) for i in range(len(rows))]
    found: dict[str, list[Any]] = {"learner": learner, "tuning": tuning, "rounds": rounds}
    for field in store.COLUMNS:
        found.setdefault(field.name, [int(n) if field.type == pa.int64() else n for n in numbers])
    return found


def test_a_case_comes_back_as_it_was_written(
    tmp_path: Path, cases: list[StudyCase], columns: dict[str, list[Any]]
) -> None:
    store.write(tmp_path, cases[0], columns)
    found = store.read(tmp_path / f"{cases[0].key}.parquet")
    assert found.case == json.loads(cases[0].json)
    assert found.provenance == store.provenance()
    assert found.table.to_pydict() == columns
    assert [path.name for path in tmp_path.iterdir()] == [f"{cases[0].key}.parquet"]


def test_the_same_numbers_are_the_same_bytes(
    tmp_path: Path, cases: list[StudyCase], columns: dict[str, list[Any]]
) -> None:
    path = tmp_path / f"{cases[0].key}.parquet"
    store.write(tmp_path, cases[0], columns)
    first = path.read_bytes()
    path.unlink()
    store.write(tmp_path, cases[0], columns)
    assert path.read_bytes() == first


def test_columns_of_another_kind_are_refused(
    tmp_path: Path, cases: list[StudyCase], columns: dict[str, list[Any]]
) -> None:
    with pytest.raises((pa.ArrowException, KeyError)):
        store.write(tmp_path, cases[0], {"learner": columns["learner"]})


def foreign(path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2]}), path)


def short(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(table.slice(0, 3), path)


def columns_missing(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["mistakes"]), path)


def other_number(path: Path) -> None:
    table = pq.read_table(path)
    changed = table.column("mistakes").to_pylist()
    changed[-1] += 1
    index = table.schema.get_field_index("mistakes")
    pq.write_table(table.set_column(index, "mistakes", pa.array(changed)), path)


def with_metadata(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    table = pq.read_table(path)
    content = json.loads(table.schema.metadata[store.METADATA])
    change(content)
    metadata = {store.METADATA: json.dumps(content).encode()}
    pq.write_table(table.replace_schema_metadata(metadata), path)


def stale(path: Path) -> None:
    with_metadata(path, lambda content: content["provenance"].update(sources="0" * 64))


def another_case(path: Path) -> None:
    with_metadata(path, lambda content: content["case"].update(seed=99))


BAD: dict[str, tuple[Callable[[Path], Any], str]] = {
    "empty": (lambda path: path.write_bytes(b""), "is empty"),
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:-20]), "is damaged"),
    "halved": (lambda path: path.write_bytes(path.read_bytes()[:900]), "is damaged"),
    "other number": (other_number, "is damaged (its numbers are not"),
    "text": (lambda path: path.write_text("hello"), "is damaged"),
    "foreign": (foreign, "was not written by boundcheck"),
    "short": (short, "has rows missing"),
    "columns": (columns_missing, "has other columns"),
    "stale": (stale, "was made by sources 0000000000000000, here"),
    "another case": (another_case, "holds another case than its name says"),
    "no case": (lambda path: with_metadata(path, lambda c: c.pop("case")), "is damaged"),
    "a list": (lambda path: with_metadata(path, lambda c: c.update(case=[])), "is damaged"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_named_and_never_count(
    name: str, tmp_path: Path, cases: list[StudyCase], columns: dict[str, list[Any]]
) -> None:
    make, sentence = BAD[name]
    path = tmp_path / f"{cases[0].key}.parquet"
    store.write(tmp_path, cases[0], columns)
    store.write(tmp_path, cases[1], columns)
    with store.opened(tmp_path) as opened:
        assert opened.take_stock(cases) == ({cases[0].key, cases[1].key}, [])
        make(path)
        done, (note,) = opened.take_stock(cases)
        assert done == {cases[1].key}
        assert note.startswith(f"{path.name} {sentence}")
        assert note.endswith(": replaced.")
        opened.finish(cases[0], columns)
        assert opened.take_stock(cases) == ({cases[0].key, cases[1].key}, [])


def test_no_flipped_byte_changes_a_number_unseen(
    tmp_path: Path, cases: list[StudyCase], columns: dict[str, list[Any]]
) -> None:
    path = tmp_path / f"{cases[0].key}.parquet"
    store.write(tmp_path, cases[0], columns)
    whole, content = store.read(path), path.read_bytes()
    seen = 0
    for position in range(0, len(content), 41):
        path.write_bytes(
            content[:position] + bytes([content[position] ^ 0x55]) + content[position + 1 :]
        )
        try:
            found = store.read(path)
        except (store.DamagedError, UserError):
            seen += 1
        else:
            assert (found.case, found.table) == (whole.case, whole.table)
    assert seen > len(content) / 41 / 2


def test_a_foreign_file_of_another_name_is_left_alone(
    tmp_path: Path, cases: list[StudyCase], columns: dict[str, list[Any]]
) -> None:
    foreign(tmp_path / "mine.parquet")
    (tmp_path / ".left.parquet.new").write_text("half a file of a run that was killed")
    store.write(tmp_path, cases[0], columns)
    with store.opened(tmp_path) as opened:
        done, notes = opened.take_stock(cases)
    assert done == {cases[0].key}
    assert notes == [
        "mine.parquet was not written by boundcheck: left alone, it is no case of this study."
    ]
    assert not (tmp_path / ".left.parquet.new").exists()


def test_files_of_a_newer_version_are_refused(
    tmp_path: Path, cases: list[StudyCase], columns: dict[str, list[Any]]
) -> None:
    store.write(tmp_path, cases[0], columns)
    path = tmp_path / f"{cases[0].key}.parquet"
    with_metadata(path, lambda content: content.update(schema=store.SCHEMA + 1))
    before = path.read_bytes()
    with (
        store.opened(tmp_path) as opened,
        pytest.raises(UserError, match="was written by a newer version of boundcheck, as schema 2"),
    ):
        opened.take_stock(cases)
    assert path.read_bytes() == before


def test_a_plan_of_a_newer_version_is_refused(tmp_path: Path, cases: list[StudyCase]) -> None:
    (tmp_path / store.PLAN).write_text(json.dumps({"schema": 7, "layout": "another"}))
    with (
        store.opened(tmp_path) as opened,
        pytest.raises(UserError, match=r"plan.json' was written by a newer version .* schema 7"),
    ):
        opened.adopt(small(), cases, resume=True)


def test_another_study_of_the_same_name_needs_resume(
    tmp_path: Path, cases: list[StudyCase]
) -> None:
    with store.opened(tmp_path) as opened:
        opened.adopt(small(), cases, resume=False)
        opened.adopt(small(), cases, resume=False)
        more = small(seeds=3)
        with pytest.raises(
            UserError, match=r"another study called 'small', with 4 of the 6 cases .* --resume"
        ):
            opened.adopt(more, more.cases(), resume=False)
        opened.adopt(more, more.cases(), resume=True)
        opened.adopt(more, more.cases(), resume=False)
        (tmp_path / store.PLAN).write_text("{")
        opened.adopt(more, more.cases(), resume=False)
    plan = store.load_plan(tmp_path)
    assert plan is not None
    assert plan["cases"] == [case.key for case in more.cases()]


def test_the_folder_is_locked(tmp_path: Path) -> None:
    with (
        store.opened(tmp_path),
        pytest.raises(UserError, match="is in use by another run of boundcheck"),
        store.opened(tmp_path),
    ):
        pass
    with store.opened(tmp_path):
        pass


@pytest.mark.parametrize(("code", "call"), [(errno.ENOSPC, "fsync"), (errno.EROFS, "replace")])
def test_a_full_disk_or_a_read_only_folder_is_one_sentence_and_loses_nothing(
    code: int,
    call: str,
    tmp_path: Path,
    cases: list[StudyCase],
    columns: dict[str, list[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with store.opened(tmp_path) as opened:
        opened.finish(cases[0], columns)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

        def fail(*arguments: Any) -> None:
            raise OSError(code, os.strerror(code))

        with monkeypatch.context() as patch:
            patch.setattr(os if call == "fsync" else Path, call, fail)
            with pytest.raises(
                UserError, match=f"cannot be written: {os.strerror(code)}; finished"
            ):
                opened.finish(cases[1], columns)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
        assert opened.take_stock(cases)[0] == {cases[0].key}


def test_failures_are_kept_until_the_case_is_finished(
    tmp_path: Path, cases: list[StudyCase], columns: dict[str, list[Any]]
) -> None:
    with store.opened(tmp_path) as opened:
        opened.fail(cases[0], "ValueError: lost", "Traceback ...")
        assert opened.take_stock(cases) == (set(), [])
        (path,) = tmp_path.glob("*.failed.json")
        failure = json.loads(path.read_text())
        assert (failure["error"], failure["traceback"]) == ("ValueError: lost", "Traceback ...")
        assert failure["case"] == json.loads(cases[0].json)
        opened.finish(cases[0], columns)
        assert not path.exists()


def test_what_is_stored_is_what_is_played(tmp_path: Path, cases: list[StudyCase]) -> None:
    """Sums of the rounds themselves, for one learner."""
    import numpy as np

    from boundcheck.algorithms import graphs
    from boundcheck.verify import catalog
    from boundcheck.verify.games.labels import record
    from boundcheck.verify.games.labels.play import Game

    content = cases[2].content
    store.write(tmp_path, cases[2], sweep.play(cases[2]))
    table = store.read(tmp_path / f"{cases[2].key}.parquet").table.to_pandas()
    own = table[(table["learner"] == "Gap") & (table["tuning"] == "theory")]
    sequence = catalog.adversary(content["adversary"]).sequence(content["horizon"], content["seed"])
    graph = graphs.parse(content["graph"], sequence.n_labels)
    learner = catalog.learner("gappletron:gamma=theorem-4a")
    (block,) = Game(learner, sequence, graph, 1.0, content["seed"]).play()
    at = own["rounds"].to_numpy() - 1
    sums = np.cumsum(block.columns, axis=0)[at]
    assert (own["mistakes"] == sums[:, record.MISTAKE]).all()
    assert (own["observed_labels"] == sums[:, record.OBSERVED]).all()
    assert np.allclose(own["expected_mistakes"], sums[:, record.ERROR], rtol=1e-12)
    assert np.allclose(own["surrogate_loss"], sums[:, record.LOSS], rtol=1e-12)
    assert (own["best_label_mistakes"] == np.cumsum(block.best != block.labels)[at]).all()
    loss = learner.player(Game(learner, sequence, graph).problem).declaration.loss
    assert loss is not None
    assert sequence.comparator is not None
    losses = loss.values(sequence.comparator.scores(sequence), sequence.labels)
    assert np.allclose(own["comparator_loss"], np.cumsum(losses)[at], rtol=1e-12)
    assert own["comparator_loss"].iloc[-1] > 0
    assert own["regret_envelope"].isna().all()  # the planted comparator lies outside the ball
    guesser = table[table["learner"] == "Guesser"]
    assert guesser["surrogate_loss"].isna().all()
    assert guesser["comparator_loss"].isna().all()
