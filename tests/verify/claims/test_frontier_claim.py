"""The frontier of weak learners: those of the library within what is known, one of the user's refuted, and drawn where
nothing is declared."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.author import Cell
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.claims.boosting import frontier
from boundcheck.verify.claims.boosting.weak_learning import stumps
from boundcheck.verify.games.weak.case import Case
from boundcheck.verify.games.weak.play import Paths
from boundcheck.verify.games.weak.user_learner import DECLARED_CLAIMS
from boundcheck.verify.judges.bands import Frontiers
from boundcheck.verify.judges.decide import decide
from boundcheck.verify.outcome import Verdict, digest_of
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

LEARNERS = '''
class Late:
    """Wrong where the planted stump is right for 60 rounds, then the stump."""

    edge, delta, excess_loss, anytime = 0.3, 0.05, 5.0, True

    def __init__(self, problem):
        self.k, self.round = problem.n_labels, 0

    def predict(self, x):
        label = self.k - 1 if x[0] > 0 else 0
        return label if self.round >= 60 else (label + 1) % self.k

    def update(self, x, cost, weight):
        self.round += 1

class LateAtFirst(Late):
    anytime = False

class Silent(Late):
    excess_loss = None

class Promising(Silent):
    promises = "boosting/frontier"

class Sure(Late):
    excess_loss = 1e6

class Rash(Late):
    delta = 0.3

class Modest(Late):
    edge, excess_loss = 0.31, 20.0
'''

SMALL = 128


@pytest.fixture(scope="module")
def learners(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("learners") / "late.py"
    path.write_text(LEARNERS, encoding="utf-8")
    return path


@cache
def judged(learner: str, horizon: int = 160, runs: int = 64) -> suite.Row:
    """The row of a weak learner of the user's."""
    setting = Setting(learner, "planted-stump", "bandit", horizon, None, 8)
    (row,) = suite.judge_job(suite.Job(setting, ("boosting/frontier",), True, runs), 0)
    return row


def resolved(setting: Setting) -> Case:
    case = resolve(setting, 0)
    assert isinstance(case, Case)
    return case


@pytest.fixture(scope="module")
def oracle() -> Case:
    """The tight control; its runs are played once."""
    return resolved(Setting("oracle-noise", "even-costs", "bandit", 2000))


def examined(case: Case, runs: int = SMALL) -> Any:
    claim = frontier.FRONTIER
    return decide(claim.judge.examine(Cell(claim, claim.forms[0], case), runs))


def test_the_known_losses_of_oracles_with_even_costs_lie_inside_the_band(oracle: Case) -> None:
    """Up to an edge from which on 2000 rounds are too few for the largest excess."""
    found = examined(oracle)
    assert found.verdict == Verdict.HOLDS
    assert found.sampled
    band, known = found.frontiers.any_time, found.frontiers.known
    assert (band.delta, band.runs, len(band.edges)) == (0.05, SMALL, frontier.COARSE)
    below = band.edges < 0.2 - 1e-9
    assert np.isnan(known[~below]).all()
    # r = 1/2, drift (edge - gamma)/3
    assert known[below] == pytest.approx(0.25 * math.log(20) * 3 / (8 * (0.2 - band.edges[below])))
    early = band.edges <= 0.165
    assert early.sum() == 10
    assert ((band.low <= known) & (known <= band.high))[early].all()
    # most of what is known is needed: less than that by a factor 2 is refuted
    assert 1 < found.headroom < 2
    assert "inside the band at 1" in found.evidence


def test_the_known_loss_of_hedging_is_nowhere_below_the_band() -> None:
    case = resolved(stumps("planted-stump", "bandit", 1000))
    found = examined(case)
    assert found.verdict == Verdict.HOLDS
    known = found.frontiers.known
    at = int(np.abs(found.frontiers.edges - case.word.edge).argmin())
    assert known[at] == pytest.approx(case.word.excess_loss)
    assert np.isfinite(known[: at + 1]).all()
    assert (np.diff(known[np.isfinite(known)]) > 0).all()
    assert (known[: at + 1] > 10 * found.frontiers.any_time.high[: at + 1]).all()


def scaled(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    known = frontier.known_excess_loss
    monkeypatch.setattr(frontier, "known_excess_loss", lambda *args: factor * known(*args))


def test_a_known_loss_below_the_limit_of_the_alarm_level_is_refuted(
    oracle: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    headroom = examined(oracle).headroom
    scaled(monkeypatch, 0.999 / headroom)
    found = examined(oracle)
    assert found.verdict == Verdict.REFUTED
    assert found.observed > found.envelope
    assert found.ratio == pytest.approx(found.observed / found.envelope)
    assert found.certificate is not None
    scaled(monkeypatch, 1.002)
    assert examined(oracle).verdict == Verdict.UNDECIDED


def test_a_known_loss_between_the_two_limits_is_undecided(
    oracle: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = examined(oracle)
    scaled(monkeypatch, 0.99 * first.ratio)
    found = examined(oracle)
    assert found.verdict == Verdict.UNDECIDED
    assert "below the band, but not refuted" in found.evidence
    assert found.headroom > 1


def test_too_few_runs_are_undecided_and_say_how_many_are_needed(oracle: Case) -> None:
    found = examined(oracle, 20)
    assert found.verdict == Verdict.UNDECIDED
    assert found.frontiers.any_time.delta == 0.1
    assert found.evidence.endswith("upper limits need 62 runs")


@pytest.mark.parametrize(
    ("runs", "delta", "edges"), [(64, 0.1, 17), (128, 0.05, 17), (512, 0.05, 49), (800, 0.01, 49)]
)
def test_more_runs_go_to_a_smaller_delta_first(
    oracle: Case, runs: int, delta: float, edges: int
) -> None:
    assert frontier.delta_of(oracle, runs) == delta
    assert len(frontier.edges_of(oracle, delta, runs)) == edges


def test_the_excess_is_followed_over_the_rounds_of_each_run() -> None:
    rng = np.random.default_rng(1)
    costs, weights = 0.3 * rng.random((5, 9)), rng.random((5, 9))
    whole = Paths(costs.cumsum(axis=1), weights.cumsum(axis=1), 3)
    parts = [
        Paths(whole.costs[:2], whole.weights[:2], 3),
        Paths(whole.costs[2:], whole.weights[2:], 3),
    ]
    edges = np.array([0.0, 0.25, 0.7])
    any_time, at_end = frontier.reached_by(parts, edges)
    for r in range(5):
        for j, edge in enumerate(edges):
            excess, seen = 0.0, [0.0]
            for t in range(9):
                excess += costs[r, t] - (1 - edge) / 3 * weights[r, t]
                seen.append(excess)
            assert any_time[r, j] == pytest.approx(max(seen))
            assert at_end[r, j] == pytest.approx(max(seen[-1], 0))
    assert (any_time > at_end + 0.01).any()
    assert (at_end == 0).any()


def test_a_user_who_declares_too_little_is_refuted(learners: Path, tmp_path: Path) -> None:
    row = judged(f"{learners}:Late")
    assert (row.verdict, row.expected) == (Verdict.REFUTED, Verdict.HOLDS)
    assert row.surprising
    assert "64 of 64 runs exceed the declared S = 5" in row.outcome.evidence
    certificate = row.outcome.certificate
    assert certificate is not None
    accepted = replay(certificate.write(tmp_path), trust=True)
    assert (accepted.observed, accepted.envelope) == certificate.values
    assert accepted.envelope == 5
    (told,) = accepted.rows
    assert (told["lower limit on S"], told["known S"]) == (accepted.observed, 5)
    names = ("edge", "delta", "violations", "runs", "T")
    content = certificate.content
    assert [told[name] for name in names[:2]] == [float(content[n]) for n in ("edge", "delta")]
    assert [told[name] for name in names[2:]] == [64, 64, content["game"]["horizon"]]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the numbers of a certificate are, written as text or not."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else list(enumerate(value))[:2]
        for key, each in items:
            yield from paths(each, (*path, key))
    elif isinstance(value, int | float) or re.fullmatch(r"[\d.]+", str(value)):
        yield path


def test_no_number_of_its_certificate_may_be_another(learners: Path, tmp_path: Path) -> None:
    certificate = judged(f"{learners}:Late", horizon=80, runs=12).outcome.certificate
    assert certificate is not None
    places = [path for path in paths(certificate.content) if path != ("schema",)]
    assert {"delta", "edge", "violations", "reached", "replicates"} <= {path[0] for path in places}
    for path in places:
        content = json.loads(json.dumps(certificate.content))
        parent = content
        for key in path[:-1]:
            parent = parent[key]
        old = parent[path[-1]]
        parent[path[-1]] = repr(float(old) + 0.25) if isinstance(old, str) else old + 1
        file = tmp_path / "changed.json"
        file.write_text(json.dumps(content | {"digest": digest_of(content)}), encoding="utf-8")
        with pytest.raises(UserError):
            replay(file, trust=True)


def test_a_word_about_each_number_of_rounds_is_judged_at_the_end(learners: Path) -> None:
    row = judged(f"{learners}:LateAtFirst")
    assert row.verdict == Verdict.HOLDS
    found = row.outcome.frontiers
    assert found is not None
    assert not found.anytime
    assert found.any_time.low.min() > 5 > found.at_end.high[found.edges <= 0.3].max()
    assert "at T = 160" in row.outcome.evidence


def test_what_is_declared_serves_smaller_edges_and_larger_deltas_only(learners: Path) -> None:
    found = judged(f"{learners}:Modest").outcome.frontiers
    assert found is not None
    assert found.any_time.delta == 0.1
    assert 0.31 in found.edges
    assert (found.known[found.edges <= 0.31] == 20).all()
    assert np.isnan(found.known[found.edges > 0.31]).all()
    case = resolved(Setting(f"{learners}:Modest", "planted-stump", "bandit", 160))
    assert frontier.known_excess_loss(case, 0.31, 0.05) == 20
    assert math.isnan(frontier.known_excess_loss(case, 0.31, 0.04))
    rash = judged(f"{learners}:Rash").outcome.frontiers
    assert rash is not None
    assert rash.any_time.delta == 0.3


@pytest.mark.parametrize(
    ("name", "verdict", "words"),
    [
        ("Modest", Verdict.HOLDS, "nowhere below the band"),
        ("Silent", Verdict.UNDECIDED, "the weak learner does not declare excess_loss"),
        ("Sure", Verdict.VACUOUS, "no weak learner can exceed the declared S in 160 rounds"),
    ],
)
def test_the_frontier_is_drawn_whatever_is_declared(
    learners: Path, name: str, verdict: Verdict, words: str
) -> None:
    row = judged(f"{learners}:{name}")
    assert row.verdict == verdict
    assert words in row.outcome.evidence
    assert "the smallest S on this stream up to T = 160 lies in [" in row.outcome.evidence
    found = Frontiers.from_json(row.to_json()["frontier"])
    # all runs do the same, so the limits are what it does
    assert (found.any_time.low == found.any_time.high).all()
    assert found.any_time.low.max() > 10


def test_who_declares_nothing_promises_nothing_unless_it_says_so(learners: Path) -> None:
    """The rows say what to declare; the frontier is drawn and nothing is expected of it."""
    silent, speaking = (catalog.learner(f"{learners}:{name}") for name in ("Silent", "Promising"))
    assert (silent.promises, speaking.promises) == ((), ("boosting/frontier",))
    row = judged(f"{learners}:Silent")
    assert (row.verdict, row.expected) == (Verdict.UNDECIDED, None)
    assert judged(f"{learners}:Promising").expected == Verdict.HOLDS
    setting = Setting(f"{learners}:Silent", "planted-stump", "bandit", 160)
    rows = suite.judge_job(suite.Job(setting, DECLARED_CLAIMS, users=True), 0)
    words = "does not declare excess_loss: expected the numbers edge, delta, excess_loss, on the"
    told = [row for row in rows if row.verdict == Verdict.NOT_APPLICABLE and not row.expected]
    assert len(told) == 4
    assert all(words in row.outcome.evidence for row in told)
    assert suite.untested(rows, silent.promises) == {}
    spoken = replace(setting, learner=f"{learners}:Promising")
    rows = suite.judge_job(suite.Job(spoken, DECLARED_CLAIMS, users=True), 0)
    assert suite.untested(rows, speaking.promises) == {}
