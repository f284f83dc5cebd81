"""The weak-learning game behind the protocol of games: judges that know no game judge it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from boundcheck.verify.author import Cell
from boundcheck.verify.certificates.make import played_certificate
from boundcheck.verify.claim import Claim, Form, Proof, Source
from boundcheck.verify.games.game import checkpoints
from boundcheck.verify.games.weak.case import Case
from boundcheck.verify.games.weak.play import RunTotals
from boundcheck.verify.games.weak.rounds import COLUMNS, Rounds
from boundcheck.verify.judges.decide import decide
from boundcheck.verify.judges.mean import Bound, Mean, MeanSides
from boundcheck.verify.judges.pathwise import Pathwise, Sides
from boundcheck.verify.judges.tail import Tail, TailSides
from boundcheck.verify.outcome import Outcome, Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting

EVEN = Setting("oracle-noise", "even-costs", "bandit", 300)
SETTINGS = (EVEN, Setting("hedge-stump:rate=0.2", "following-costs", "bandit", 300))


@pytest.fixture(scope="module")
def even() -> Case:
    return cased(EVEN)


def cased(setting: Setting) -> Case:
    found = resolve(setting, 0)
    assert isinstance(found, Case)
    return found


def judged(judge: Any, case: Case, runs: int) -> Outcome:
    form = Form("derived", "", Proof.ASSUMED, "")
    claim = Claim("a/claim", "", Source("", "", 2020), (form,), judge, game="weak-learning")
    return decide(judge.examine(Cell(claim, form, case), runs))


def shares(share: float) -> Mean:
    """E[sum w c] <= share sum w; an oracle of edge 0.2 with even costs pays 4/15 of it."""

    def sides(case: Case, form: Form, totals: RunTotals) -> MeanSides:
        bound = share * totals.weights
        return MeanSides(
            totals.paid,
            (Bound(bound, float(bound.max())),),
            np.zeros(totals.runs),
            least=0.0,
            most=totals.rounds / 2,
            guess=totals.rounds / 3,
            non_vacuous="",
        )

    return Mean(sides)


def test_a_statement_about_the_mean_is_judged_by_the_totals(even: Case) -> None:
    true, false = judged(shares(0.3), even, 64), judged(shares(0.1), even, 64)
    assert true.verdict == Verdict.HOLDS
    assert false.verdict == Verdict.REFUTED
    assert false.certificate is not None
    assert len(false.certificate.content["observed"]) == 64
    assert true.curve is not None
    assert sorted(set(true.curve.rounds.tolist())) == checkpoints(300).tolist()


@pytest.mark.parametrize("fresh", [False, True])
def test_a_statement_with_high_probability_is_judged_by_the_totals(even: Case, fresh: bool) -> None:
    def within(share: float) -> Tail:
        def sides(case: Case, form: Form, totals: RunTotals) -> TailSides:
            return TailSides(totals.paid, {0.05: share * totals.weights})

        return Tail(sides, fresh=fresh)

    assert judged(within(0.4), even, 64).verdict == Verdict.HOLDS
    refuted = judged(within(0.25), even, 64)
    assert refuted.verdict == Verdict.REFUTED
    assert "envelopes" in refuted.certificate.content


def largest(share: float) -> Pathwise:
    """w c <= share w in each round."""

    def sides(case: Case, form: Form, rounds: Rounds) -> Sides:
        weights = rounds.column("weight")
        return Sides(rounds.column("paid"), share * weights, 1e-12 * weights)

    return Pathwise(sides)


def summed(share: float) -> Pathwise:
    """sum w c <= share sum w after each round."""

    def sides(case: Case, form: Form, rounds: Rounds) -> Sides:
        weights = rounds.column("weight_so_far")
        return Sides(
            rounds.column("paid_so_far"), share * weights, 1e-12 * weights, cumulative=True
        )

    return Pathwise(sides)


@pytest.mark.parametrize("statement", [largest, summed])
def test_a_pathwise_statement_is_judged_round_for_round_and_played_again(
    even: Case, statement: Any
) -> None:
    true, false = judged(statement(0.6), even, 3), judged(statement(0.4), even, 3)
    assert true.verdict == Verdict.HOLDS
    assert (true.runs, true.rounds) == (3, 900)
    assert false.verdict == Verdict.REFUTED
    content = false.certificate.content
    assert content["kind"] == "played"
    last = content["numbers"]["rounds"][-1]
    assert {"label", "predicted", "weight", "costs", "shown"} < set(last)
    assert last["label"] != last["predicted"]
    form = Form("derived", "", Proof.ASSUMED, "")
    judge = statement(0.4)
    claim = Claim("a/claim", "", Source("", "", 2020), (form,), judge, game="weak-learning")
    again = played_certificate(
        Cell(claim, form, cased(EVEN)), judge.sides, content["replicate"], content["round"]
    )
    assert json.dumps(again.content) == json.dumps(content)


def test_a_statement_that_nothing_can_violate_is_vacuous(even: Case) -> None:
    assert judged(shares(0.5), even, 8).verdict == Verdict.VACUOUS


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_rounds_add_up_to_the_totals_and_are_the_same_in_plain_python(setting: Setting) -> None:
    case, marks = cased(setting), [1, 100, 128, 129, 300]
    totals = case.totals_at(marks, range(4))
    for run in (0, 3):
        played, plain = list(case.play(run)), list(case.play(run, interpreted=True))
        assert [rounds.start for rounds in played] == [0, 128, 256]
        for name in COLUMNS:
            columns = [
                np.concatenate([rounds.column(name) for rounds in blocks])
                for blocks in (played, plain)
            ]
            assert columns[0].tobytes() == columns[1].tobytes(), name
        paid = np.concatenate([rounds.column("paid") for rounds in played])
        so_far = np.concatenate([rounds.column("paid_so_far") for rounds in played])
        assert so_far == pytest.approx(paid.cumsum())
        for mark, each in zip(marks, totals, strict=True):
            assert (each.rounds, each.runs) == (mark, 4)
            assert each.paid[run] == pytest.approx(so_far[mark - 1])
        sums = np.sum([rounds.sums() for rounds in played], axis=0)
        assert sums[0] == pytest.approx(paid.sum())
        assert len(sums) == 2 + 2 * case.n_labels
        short = list(case.play(run, stop=130))
        assert [len(rounds) for rounds in short] == [128, 2]
        assert short[1].at(1) == played[1].at(1)
    assert case.is_adaptive == ("following" in setting.adversary)
    assert case.loss_spec is None


def test_fresh_runs_have_streams_of_their_own(even: Case) -> None:
    streams = [even.with_fresh_stream(run).stream for run in range(4)]
    assert streams[0] is even.stream
    assert len({stream.digest() for stream in streams}) == 4
    marks = [20, 300]
    fresh = even.totals_at(marks, range(4), fresh=True)
    fixed = even.totals_at(marks, range(4))
    again = even.totals_at(marks, range(2, 4), fresh=True)
    for once, twice, same in zip(fresh, again, fixed, strict=True):
        assert once.paid[2:].tolist() == twice.paid.tolist()
        assert once.paid[0] == same.paid[0]
    assert (fresh[1].paid[1:] != fixed[1].paid[1:]).any()


@pytest.mark.parametrize(
    ("runs", "parts"),
    [(3, [3]), (8, [8]), (20, [8, 8, 4]), (64, [8, 8, 16, 32])],
)
def test_a_users_weak_learner_is_played_in_parts(
    even: Case, runs: int, parts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [len(part) for part in even.parts(runs)] == [runs]
    monkeypatch.setattr(type(even.learner), "crowd_for", None, raising=False)
    found = list(even.parts(runs))
    assert [len(part) for part in found] == parts
    assert [run for part in found for run in part] == list(range(runs))
