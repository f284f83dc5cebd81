"""Replaying damaged certificates: one sentence whatever is in them, and nothing unbound in a game."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from without_numba import replay_without_numba

from boundcheck.algorithms.spec import tidy
from boundcheck.errors import UserError
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.claims.gappletron.settings import gappletron
from boundcheck.verify.outcome import Certificate, digest_of
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

LEARNERS = '''
import numpy as np, sys

class Peeker:
    """Takes the label out of the game's own frame."""

    promises = ("*",)

    def __init__(self, problem):
        pass

    def predict(self, x):
        frame = sys._getframe()
        while "label" not in frame.f_locals:
            frame = frame.f_back
        return np.eye(2)[frame.f_locals["label"]]

    def update(self, x, action, label):
        pass

class Wrong:
    """Never plays the label of the one feature that is not zero."""

    promises = ("*",)
    loss, gamma, rule, regret_factor = "smooth-hinge", 1.0, "threshold", 0.25

    def __init__(self, problem):
        self.k = problem.n_labels
        self.weights = np.zeros((self.k, problem.n_features))

    def predict(self, x):
        return np.eye(self.k)[(int(np.argmax(x)) + 1) % self.k]

    def update(self, x, action, label):
        pass
'''

DAMAGE = (None, [], {}, "abc", "1/0", "nan", True, 1.5, -3, 2**70, [1], {"a": 1})


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The content of a certificate of each kind, without the digest."""
    folder = tmp_path_factory.mktemp("learners")
    file = folder / "learners.py"
    file.write_text(LEARNERS, encoding="utf-8")
    crafted = Setting(
        gappletron("logistic-K", "printed", "stand-still", "2"), "crafted-scores", "full", 400
    )
    toy = Setting(f"{file}:Wrong", "one-hot:noise=0.1", "full", 60, None, 60)
    segments = Setting(f"{file}:Peeker", "segments:n=5", "filtering:revealing=1", None, 2.5, 2)
    jobs = {
        "exact": suite.Job(crafted, ("gappletron/lemma-1",)),
        "played": suite.Job(replace(toy, runs=1), ("gappletron/lemma-1",)),
        "audit": suite.Job(segments, ("gappletron/theorem-6",)),
        "statistical": suite.Job(toy, ("gappletron/theorem-4a",)),
    }
    contents = {}
    for kind, job in jobs.items():
        (found,) = (c for row in suite.judge_job(job, 0) if (c := row.outcome.certificate))
        assert found.content["kind"] == kind
        contents[kind] = json.loads(json.dumps(found.content))
    return contents


def write(content: dict[str, Any], folder: Path) -> Path:
    """A certificate file with a digest that fits."""
    file = folder / "certificate.json"
    file.write_text(json.dumps(content | {"digest": digest_of(content)}), encoding="utf-8")
    return file


def leaves(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to everything inside a JSON value."""
    items = content.items() if isinstance(content, dict) else ()
    items = enumerate(content) if isinstance(content, list) else items
    for key, value in items:
        yield (*path, key)
        yield from leaves(value, (*path, key))


def changed(content: dict[str, Any], path: tuple[Any, ...], new: Any) -> dict[str, Any]:
    copy = deepcopy(content)
    place: Any = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    return copy


@pytest.mark.parametrize(("kind", "share"), [("exact", 3), ("played", 5), ("audit", 7)])
def test_whatever_stands_in_a_field_the_answer_is_one_sentence(
    kind: str, share: int, certificates: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    content = certificates[kind]
    replay(write(content, tmp_path), trust=True)
    tried = 0
    for path in leaves(content):
        for i, new in enumerate(DAMAGE):
            # every field of the first two levels, of the deeper ones some
            if len(path) > 2 and (i + len(str(path))) % share:
                continue
            damaged = changed(content, path, new)
            if damaged == content:
                continue
            with pytest.raises(UserError) as raised:
                replay(write(damaged, tmp_path), trust=True)
            assert "\n" not in str(raised.value)
            tried += 1
    assert tried > 100


@pytest.mark.parametrize("kind", ["played", "audit", "statistical"])
@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("comparator_norm", (3.5, 2.5000000000000004, 0.0, -1.0, 1)),
        ("horizon", (3, 0, -2, 61)),
        ("seed", (1, -1, 2**40)),
    ],
)
def test_everything_that_a_game_is_made_of_is_bound(
    kind: str,
    field: str,
    values: tuple[Any, ...],
    certificates: dict[str, dict[str, Any]],
    tmp_path: Path,
) -> None:
    """Also what this learner does not look at: its certificate speaks of one game and no other."""
    content = certificates[kind]
    for value in values:
        with pytest.raises(UserError):
            replay(write(changed(content, ("game", field), value), tmp_path), trust=True)


@pytest.mark.parametrize("kind", ["played", "audit", "statistical"])
def test_a_game_is_written_in_one_way(
    kind: str, certificates: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    content = certificates[kind]
    game = content["game"]
    changes: list[tuple[tuple[Any, ...], Any]] = [
        (("game", "seed"), 0.0),
        (("game", "seed"), False),
        (("game", "adversary"), game["adversary"].replace(":", ": ")),
        (("game", "adversary"), f" {game['adversary']}"),
        (("game", "adversary"), game["adversary"].replace("=", "=0").replace("=00.", "=0.0")),
        (("game", "adversary"), game["adversary"].replace("0.1", "0.10").replace("n=5", "n=+5")),
        (("game", "graph"), f"{game['graph']} "),
    ]
    if game["horizon"] is not None:
        changes.append((("game", "horizon"), float(game["horizon"])))
    changes += [((name,), new) for name in ("replicate", "round") if name in content
                for new in (float(content[name]), bool(content[name])) if content[name] < 2]  # fmt: skip
    for path, new in changes:
        damaged = changed(content, path, new)
        if json.dumps(damaged) != json.dumps(content):
            with pytest.raises(UserError):
                replay(write(damaged, tmp_path), trust=True)


def test_zero_has_one_sign(certificates: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    content = certificates["played"]
    tried = 0
    for path in leaves(content):
        place: Any = content
        for key in path:
            place = place[key]
        if isinstance(place, float) and place == 0.0:
            with pytest.raises(UserError, match="rejected"):
                replay(write(changed(content, path, -0.0), tmp_path), trust=True)
            tried += 1
    assert tried > 0


@pytest.mark.parametrize(
    ("spec", "same"),
    [
        ("one-hot", "one-hot"),
        (" one-hot : n_labels = 03 , noise=0.050 ", "one-hot:n_labels=3,noise=0.05"),
        ("gappletron:gamma=2.0,rule=printed", "gappletron:gamma=2,rule=printed"),
        ("filtering:revealing=0+02", "filtering:revealing=0+2"),
        ("x:a=1e-3,b=inf,c=9007199254740993", "x:a=0.001,b=inf,c=9007199254740993"),
        ("data:a b.csv@c d", "data:a b.csv@c d"),
        ("my file.py:Mine", "my file.py:Mine"),
        ("graphs/g 1.csv", "graphs/g 1.csv"),
        ("g.csv", "g.csv"),
    ],
)
def test_a_spec_has_one_way_of_writing_it(spec: str, same: str) -> None:
    assert tidy(spec) == same == tidy(same)


def test_runs_that_refute_by_sampling_replay_with_and_without_numba(
    certificates: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    content = certificates["statistical"]
    file = write(content, tmp_path)
    found = replay(file, trust=True)
    assert found.observed > found.envelope
    (told,) = found.rows
    assert (told["T"], told["runs"], told["observed"]) == (60, 60, found.observed)
    assert told["log e-value"] == float(content["log_e_value"])
    assert replay_without_numba([file]) == [(found.claim.id, found.observed, found.envelope)]
    for path, new in (
        (("replicates",), 59),
        (("observed", 3), "1.0"),
        (("envelopes", 0, 7), "1.0"),
        (("last_draws", 1), 0.5),
        (("log_e_value",), "40"),
    ):
        with pytest.raises(UserError):
            replay(write(changed(content, path, new), tmp_path), trust=True)


def test_equal_content_has_an_equal_name(certificates: dict[str, dict[str, Any]]) -> None:
    one, two = (Certificate(deepcopy(certificates["exact"]), (1.0, 0.0), "") for _ in range(2))
    assert one.file_name == two.file_name
    other = Certificate(changed(certificates["exact"], ("form",), "repaired"), (1.0, 0.0), "")
    assert one.file_name != other.file_name


DEAF = """
import numpy as np

class Deaf:
    promises = ("gappletron/bound-9",)
    gamma = 1.0

    def __init__(self, problem):
        self.n = problem.graph.n_actions
        self.weights = np.zeros((problem.n_labels, problem.n_features))

    def predict(self, x):
        return np.eye(self.n)[0]

    def update(self, x, action, label):
        pass
"""


def test_the_infinite_weight_of_a_label_never_observed_is_json(tmp_path: Path) -> None:
    (tmp_path / "deaf.py").write_text(DEAF, encoding="utf-8")
    setting = Setting(f"{tmp_path}/deaf.py:Deaf", "one-hot", "bandit", 20, None, 1)
    row, *_ = suite.judge_job(suite.Job(setting, ("gappletron/bound-9",), users=True), 0)
    assert row.outcome.certificate is not None
    file = row.outcome.certificate.write(tmp_path)

    def refuse(token: str) -> None:
        raise AssertionError(token)

    content = json.loads(file.read_text(encoding="utf-8"), parse_constant=refuse)
    content.pop("digest")
    assert content["numbers"]["rounds"][-1]["observed"] == "inf"
    found = replay(file, trust=True)
    assert found.observed == float("inf")
    assert found.envelope < 100
    for path, values in (
        (("observed",), ("1e9", "-inf", "nan", "infinity", 1e9, None)),
        (("envelope",), (1.0, "inf", "1.0")),
        (("tolerance",), (1.0, "inf", "0")),
    ):
        for new in values:
            damaged = changed(content, ("numbers", "rounds", -1, *path), new)
            with pytest.raises(UserError, match="rejected"):
                replay(write(damaged, tmp_path), trust=True)
    text = file.read_text(encoding="utf-8").replace('"inf"', "Infinity")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="Infinity is no number of JSON"):
        replay(file, trust=True)


def test_a_game_that_would_take_hours_is_not_played(
    certificates: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    for kind, path, value in (
        ("played", ("game", "horizon"), 10**9),
        ("audit", ("game", "horizon"), 10**9),
        ("audit", ("replicate",), 10**9),
        ("audit", ("game", "adversary"), "segments:n=100000"),
        ("statistical", ("game", "horizon"), 10**8),
        ("statistical", ("replicates",), 10**9),
    ):
        with pytest.raises(UserError, match="expected at most 10,000,000 rounds and 1,000,000,000"):
            replay(write(changed(certificates[kind], path, value), tmp_path), trust=True)
