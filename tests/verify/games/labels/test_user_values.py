"""Values of users that numpy would quietly take for numbers, or that double precision cannot hold: a sentence each."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck import verify_claims
from boundcheck.adversaries.one_hot import OneHot
from boundcheck.arrays import finite, real
from boundcheck.errors import UserError
from boundcheck.verify.studies import study as studies
from boundcheck.verify.studies.run import play

HUGE = 10**400
N = 3


def learner(**given: Any) -> type[Any]:
    """A learner with attributes, of which ``p`` are its probabilities and ``later`` its weights after the first
    round."""

    class Own:
        promises = ("game/*",)

        def __init__(self, problem: Any) -> None:
            self.weights: Any = np.zeros((problem.n_labels, problem.n_features))
            vars(self).update(given)

        def predict(self, x: Any) -> Any:
            return given.get("p", [1 / N] * N)

        def update(self, x: Any, action: int, label: int | None) -> None:
            if "later" in given:
                self.weights = given["later"]

    return Own


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"p": np.full(N, 1 / N) + 0j}, "holds complex numbers"),
        ({"p": [1 / N + 1j] * N}, "holds complex numbers"),
        ({"p": np.ma.masked_array([0.5, 0.5, 0], [False, False, True])}, "entries are masked"),
        ({"p": ["0.5", "0.5", "0"]}, "holds no numbers"),
        ({"p": [None, 0.5, 0.5]}, "holds no numbers"),
        ({"p": [HUGE, 0, 0]}, "too large to convert"),
        ({"later": None}, "weights of .* are None after round 0: expected an array"),
        ({"later": np.ma.masked_all((N, N))}, "weights after round 0: some of its entries"),
        ({"later": np.zeros((N, N)) + 0j}, "weights after round 0: it holds complex"),
        ({"weights": [["0"] * N] * N}, "weights before play: it holds no numbers"),
        ({"gamma": HUGE}, "gamma=10*.* of .*: expected a finite number"),
        ({"gamma": 1j}, "gamma=1j of .*: expected a finite number"),
        ({"regret_factor": -HUGE}, "regret_factor=-10*.* of .*: expected a finite number"),
        ({"numbers": {"own.c": HUGE}}, "expected finite numbers"),
    ],
)
def test_a_learner_gets_a_sentence(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        verify_claims(
            "game/*", learner=learner(**given), graph="bandit", adversary="one-hot", rounds=5
        )
    assert "Own" in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "given", [{"p": np.ma.masked_array([0.5, 0.5, 0.0])}, {"p": [Fraction(1, 3)] * N}]
)
def test_numbers_in_other_clothes_are_numbers(given: dict[str, Any]) -> None:
    found = verify_claims(
        "game/*", learner=learner(**given), graph="bandit", adversary="one-hot", rounds=5
    )
    assert {row.verdict for row in found.rows} <= {"holds", "not applicable"}


def test_real_and_finite() -> None:
    assert real([Fraction(1, 2), Decimal("0.25"), 1, True]).tolist() == [0.5, 0.25, 1, 1]
    assert real(np.float32([0.5])).dtype == np.float64
    for wrong in (b"1", "1", [{}], np.array(["2020"], dtype="M8[Y]"), [1, None]):
        with pytest.raises(TypeError, match="holds no numbers"):
            real(wrong)
    assert [finite(value) for value in (1, np.float32(1), 1e308, -(10**308))] == [True] * 4
    assert [finite(value) for value in (HUGE, -HUGE, np.inf, np.nan, "1", None, 1j)] == [False] * 7


def test_a_study_holds_the_data_and_little_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scores of the planted comparator, and what the squared norms take, are made block by block."""
    import tracemalloc

    rounds = 100_000
    data = OneHot(4).sequence(rounds, 0)
    size = sum(array.nbytes for array in (data.indptr, data.indices, data.values, data.labels))

    def peak_of(work: Callable[[], Any]) -> float:
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak / size

    monkeypatch.setattr(OneHot, "sequence", lambda *given: data)
    text = {"adversary": "one-hot:n_labels=4", "graph": "bandit", "horizon": rounds}
    study = studies.parse(
        "long", {"seeds": 1, "grid": text, "learners": {"A": "gappletron:gamma=ones"}}
    )
    (case,) = study.cases()
    play(case)  # compile
    assert peak_of(lambda: play(case)) < 1
    assert peak_of(lambda: data.comparator and data.comparator.scores(data)) > 1
