"""Adaptive adversaries of the label game: what they see, and what is judged against them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from boundcheck.algorithms.losses import SmoothHinge
from boundcheck.verify import catalog
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.claims.gappletron.settings import gappletron
from boundcheck.verify.games.labels.case import Case
from boundcheck.verify.games.labels.compared.fit import fit
from boundcheck.verify.games.labels.game import LABELS
from boundcheck.verify.games.labels.record import ACTION, BLOCK, GRADIENT, LOSS, OBSERVED
from boundcheck.verify.games.labels.user_adversary import UserAdaptive, user_adversary
from boundcheck.verify.outcome import Kind, Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

LEARNER = gappletron("smooth-hinge", "threshold", "projected", "theorem-4a")
REASON = "it is about oblivious adversaries, and this one sees what was played"
PATHWISE = ("gappletron/lemma-1", "gappletron/guarantee-4", "gappletron/lemma-2")
SAMPLED = tuple(f"gappletron/theorem-{part}" for part in ("3a", "3b", "4a", "4b", "5a", "5b"))


class Evading:
    """The features name the label, but in a fifth of the rounds it is the one that was played least often so far."""

    n_labels, n_features, feature_norm = 3, 3, 2.0
    size = 1.5

    def __init__(self, horizon: int, seed: int) -> None:
        self.draw, self.played = np.random.default_rng(seed), np.zeros(4)
        self.row = np.zeros(3)

    def next(self, action: int | None, seen: int | None) -> tuple[Any, Any]:
        if action is not None:
            self.played[action] += 1
        named = int(self.draw.integers(3))
        self.row[:] = 0.0  # the same array in every round
        self.row[named] = self.size
        follows = self.draw.random() < 0.2
        return self.row, int(self.played[:3].argmin()) if follows else named


class Recording(Evading):
    """The same, which writes down what it is told and what it gives."""

    runs: ClassVar[list[Recording]] = []

    def __init__(self, *made: Any) -> None:
        super().__init__(*made)
        self.made, self.told, self.given = made, [], []
        self.runs.append(self)

    def next(self, *told: Any, **named: Any) -> tuple[Any, Any]:
        assert not named
        self.told.append(told)
        x, label = super().next(*told)
        self.given.append((x.tolist(), label))
        return x, label


def case_of(made: type, graph: str, horizon: int = 300, learner: Any = LEARNER) -> Case:
    adversary = user_adversary(made, f"mine.py:{made.__name__}")
    assert isinstance(adversary, UserAdaptive)
    found = resolve(Setting(learner, adversary, graph, horizon, 1.5, 3), 7)
    assert found.is_adaptive
    return found


@pytest.mark.parametrize(
    "graph", ["bandit", "full", "filtering", "label-efficient", "cops-and-robbers"]
)
@pytest.mark.parametrize("learner", ["gappletron:rule=mixture", "uniform"])
def test_it_is_told_actions_and_what_they_revealed_and_nothing_else(
    graph: str, learner: str
) -> None:
    case = case_of(Recording, graph, learner=learner)
    Recording.runs.clear()
    seen = 0
    for run in (0, 1, 2):
        blocks = [rounds.block for rounds in case.play(run)]
        columns = np.concatenate([block.columns for block in blocks])
        labels = np.concatenate([block.labels for block in blocks]).tolist()
        opponent = Recording.runs[-1]
        assert opponent.made == (300, 7)
        actions = columns[:, ACTION].astype(int).tolist()
        revealed = [
            label if observed else None
            for label, observed in zip(labels, columns[:, OBSERVED] > 0, strict=True)
        ]
        told = [(None, None), *zip(actions, revealed, strict=True)]
        assert opponent.told == told[:-1], "nothing of the last round, nor of the coming one"
        assert {type(word) for each in opponent.told for word in each} <= {int, type(None)}
        assert [case.graph.observes[a, y] for a, y in zip(actions, labels, strict=True)] == [
            each is not None for each in revealed
        ]
        assert [label for _, label in opponent.given] == labels
        seen += sum(each is not None for each in revealed)
        # played again, compiled or not, all is the same
        for interpreted in (False, True):
            again = [rounds.block for rounds in case.play(run, interpreted=interpreted)]
            assert Recording.runs[-1] is not opponent
            assert Recording.runs[-1].told == opponent.told
            assert np.concatenate([b.columns for b in again]).tobytes() == columns.tobytes()
    first, other = Recording.runs[0], Recording.runs[-1]
    assert (seen < 900) == (graph in ("bandit", "filtering", "label-efficient"))
    assert (first.given != other.given) == (first.told != other.told)
    assert first.told != other.told, "runs have draws of their own"


def test_a_run_is_a_case_of_its_own_with_the_comparator_fitted_to_it() -> None:
    horizon = BLOCK + 100
    case = case_of(Recording, "bandit", horizon)
    weights = []
    for run in (0, 2):
        blocks = list(case.play(run))
        assert [len(rounds) for rounds in blocks] == [BLOCK, 100]
        (of_run,) = {id(rounds.case): rounds.case for rounds in blocks}.values()
        rows, labels = zip(*Recording.runs[-1].given, strict=True)
        assert of_run.sequence.dense().tolist() == list(rows), "as they were when they were given"
        assert of_run.sequence.labels.tolist() == list(labels)
        assert (of_run.run, of_run.horizon, of_run.n_labels) == (run, horizon, 3)
        fitted = fit(of_run.sequence, SmoothHinge(), 1.5)
        assert np.array_equal(of_run.comparator.weights, fitted.weights)
        assert (of_run.comparator.how, of_run.comparator_norm) == ("fitted", 1.5)
        assert 0.1 < of_run.comparator.norm <= 1.5
        # the learner is told the same before the first round and afterwards
        assert of_run.problem == case.problem
        assert case.problem.feature_norm == Evading.feature_norm
        weights.append(of_run.comparator.weights)
        # the part of a run that is played for a certificate has the comparator of the whole
        (part,) = case.play(run, stop=50)
        assert len(part) == 50
        assert np.array_equal(part.case.comparator.weights, fitted.weights)
        assert np.array_equal(part.block.columns, blocks[0].block.columns[:50])
    assert not np.array_equal(*weights)
    assert not case.comparator.weights.any()
    assert case.digest() != case_of(Evading, "bandit", horizon).digest(), "another adversary"


def judged(case: Case, *claims: str, runs: int = 2) -> list[suite.Row]:
    setting = replace(case.setting, runs=runs)
    return suite.judge_job(suite.Job(setting, claims, users=True), case.seed)


def test_pathwise_claims_are_judged_against_the_comparator_of_the_run() -> None:
    case = case_of(Evading, "bandit", 2000)
    rows = {row.claim: row for row in judged(case, *PATHWISE, runs=1) if row.form == "repaired"}
    assert {name: row.verdict for name, row in rows.items()} == dict.fromkeys(
        PATHWISE, Verdict.HOLDS
    )
    (rounds,) = case.play(0)
    weights, fitted = rounds.block.weights, rounds.case.comparator
    losses = {
        how: SmoothHinge().values(scores, rounds.block.labels)
        for how, scores in (
            ("fitted", fitted.scores(rounds.case.sequence)),
            ("zero", np.zeros((2000, 3))),
        )
    }
    regrets = {
        how: float((weights * (rounds.column(LOSS) - loss)).sum()) for how, loss in losses.items()
    }
    assert abs(regrets["fitted"] - regrets["zero"]) > 1
    # the comparator of the end is fitted to the run as well, and makes loss and regret term together no larger
    root = float(np.sqrt((weights * weights * rounds.column(GRADIENT)).sum()))
    factor, found = rounds.case.regret_factor, rows["gappletron/guarantee-4"].outcome
    assert found.observed is not None
    assert found.envelope is not None
    for how, norm in (("fitted", fitted.norm), ("zero", 0.0)):
        assert found.envelope - found.observed <= factor(norm) * root - regrets[how]


def test_means_and_tails_do_not_apply_and_say_why() -> None:
    for graph in ("bandit", "full"):
        case = case_of(Evading, graph)
        found = judged(case, *SAMPLED, "game/no-peeking", "gappletron/updates")
        assert {row.claim for row in found} == {*SAMPLED, "game/no-peeking", "gappletron/updates"}
        for row in found:
            assert (row.verdict, row.outcome.evidence) == (Verdict.NOT_APPLICABLE, REASON)
            assert row.expected is None


def test_only_statements_about_every_round_are_about_adaptive_adversaries() -> None:
    """Others would be judged on the rounds that the case does not have."""
    case, adaptive = case_of(Evading, "bandit"), set()
    for claim in catalog.claims().values():
        if catalog.game_about(claim) is not LABELS:
            continue
        for form in claim.forms:
            if form.adaptive:
                adaptive.add(claim.id)
                assert hasattr(claim.judge, "watch"), claim.id
                assert claim.kind in (Kind.PATHWISE, Kind.EXACT)
                assert form.does_not_apply(case) != REASON
            else:
                assert form.does_not_apply(case) == REASON
    assert adaptive >= {*PATHWISE, "gappletron/bound-9", "perceptron/mistake-bound"}


@pytest.mark.parametrize(
    ("learner", "graph", "claim"),
    [
        ("perceptron", "full", "perceptron/mistake-bound"),
        ("gaptron", "full", "gaptron/theorem"),
        ("gaptron", "full", "gaptron/per-round"),
        ("gaptron:gamma=0.3", "bandit", "gaptron/per-round"),
    ],
)
def test_bounds_on_every_sequence_are_judged_too(learner: str, graph: str, claim: str) -> None:
    """By the norm of the features that the learner is told of, not by that of rounds that are not there yet."""
    short = type("Short", (Evading,), {"size": 1.0, "feature_norm": 1.0})
    (row,) = judged(case_of(short, graph, 1500, learner), claim)
    assert row.verdict == Verdict.HOLDS, row.outcome.evidence
    assert row.outcome.ratio is not None
    assert row.outcome.ratio > 0


def test_what_is_measured_before_play_is_what_is_declared() -> None:
    case = case_of(Evading, "bandit")
    measured = {each.name: each.measured for each in LABELS.measured(case)}
    assert measured == {
        "labels": 3, "rounds": 300, "feature norm": 2.0, "comparator norm": 1.5, "smoothness": 16.0,
    }  # fmt: skip
    assert LABELS.warning(case) is None
    large = type("Large", (Evading,), {"feature_norm": 1e3})
    words = LABELS.warning(case_of(large, "bandit"))
    assert words is not None
    assert "norms up to 1000;" in words


def test_a_violation_by_chosen_scores_is_an_exact_certificate(tmp_path: Path) -> None:
    """An instance knows nothing of the adversary that led to it."""

    class Leading(Evading):
        def next(self, action: int | None, seen: int | None) -> tuple[Any, Any]:
            return [1.0, 0.0, 0.0], 0 if action in (None, 0) else 1

    learner = gappletron("logistic-K", "printed", "projected", "2")
    rows = judged(case_of(Leading, "full", 400, learner), "gappletron/condition-2")
    refuted = [row for row in rows if row.verdict == Verdict.REFUTED]
    for row in refuted:
        assert row.outcome.certificate is not None
        assert row.outcome.certificate.content["kind"] == "exact"
        replay(row.outcome.certificate.write(tmp_path))
    assert refuted
