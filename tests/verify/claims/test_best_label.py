"""Ties of labels: every right choice of the best label passes, and no wrong one does."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from right_learners import (
    RIGHT,
    AnyTied,
    AnyTiedAsPrinted,
    AveragedRunnersUp,
    LastIndex,
    LastIndexHinge,
    Leader,
    Right,
)

from boundcheck import RefutedPromise, check_learner
from boundcheck.adversaries.sequence import Comparator, Sequence
from boundcheck.verify.games.labels.record import BEST, MARGIN, N_COLUMNS, Block, Steps
from boundcheck.verify.games.labels.ties import best_label
from boundcheck.verify.games.labels.user_learner import UserLearner
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

KEYWORDS = "keywords:keyword_scale=1,n_labels=5,noise=0.05"
ONE_HOT = "one-hot:n_labels=4,noise=0.05"


def case_of(learner: Any, adversary: Any = KEYWORDS, graph: str = "filtering", horizon: int = 60):
    return resolve(Setting(UserLearner(learner, "own"), adversary, graph, horizon, 1.0, 1), 0)


def verdicts(
    learner: Any, adversary: Any, *claims: str, graph: str = "filtering"
) -> dict[str, Any]:
    """The last row of each claim, of a game of 60 rounds."""
    setting = Setting(UserLearner(learner, "own"), adversary, graph, 60, None, 1)
    names = tuple(f"gappletron/{claim}" for claim in claims)
    rows = suite.judge_job(suite.Job(setting, names, users=True), 0)
    return {row.claim.removeprefix("gappletron/"): row for row in rows}


@pytest.mark.parametrize("learner", RIGHT)
def test_right_learners_keep_their_promises(learner) -> None:
    rows = check_learner(learner, graph="filtering", adversary=ONE_HOT)
    held = {row.claim for row in rows if row.verdict == "holds"}
    of_loss = {"lemma-3"} if learner.loss == "hinge" else {"lemma-1"}
    stated = {"algorithm-1", "bound-9", "lemma-2", "guarantee-4", "updates"} | of_loss
    assert {f"gappletron/{name}" for name in stated} <= held


@pytest.mark.parametrize(
    ("learner", "graph"), [(AnyTied, "full"), (AveragedRunnersUp, "bandit"), (Leader, "full")]
)
def test_any_subgradient_is_right_on_other_graphs(learner, graph: str) -> None:
    claims = ["gappletron/updates", "gappletron/guarantee-4"]
    rows = check_learner(learner, claims=claims, graph=graph, adversary=KEYWORDS)
    assert {row.claim for row in rows if row.verdict == "holds"} == set(claims)


# The best label


class Constant:
    """Two feature vectors in turn: on the first a learner may see a tie, on the second it explores."""

    n_labels, spec = 3, "constant"

    def sequence(self, horizon: int, seed: int) -> Sequence:
        features = np.eye(2)[np.arange(horizon) % 2]
        comparator = Comparator.exact([[Fraction(0)] * 2] * 3)
        labels = np.arange(horizon) % 3
        return Sequence.from_dense(
            features, labels, n_labels=3, name="constant", comparator=comparator
        )


def slanted(lead: float) -> type[Right]:
    """A learner that never moves. Label 0 leads label 2 by so much, and it takes label 2 for the best."""

    class Slanted(Right):
        optimiser = "stand-still"

        def __init__(self, problem: Any) -> None:
            super().__init__(problem)
            self.gamma = 0.25
            self.weights[:] = [[1, -1], [-1, 1], [1 - lead, -1]]

        def best_of(self, scores: Any) -> int:
            return 1 if scores[1] > scores[0] else 2

        def update(self, x: Any, action: int, label: int | None) -> None:
            pass

    return Slanted


ROUNDED = 4 * (1 + 2) * 2.0**-53 * np.sqrt(6)
"""tau of the first rounds of :class:`Constant`: one feature that is not 0, and weights of norm sqrt(6)."""


def test_scores_within_the_bound_are_tied_and_a_thousand_bounds_off_they_are_not() -> None:
    (first, *_) = case_of(slanted(0.0), Constant()).play(0)
    assert first.block.rounding.tolist() == pytest.approx([ROUNDED] * 60, rel=1e-12)
    for lead, verdict in ((0.0, "holds"), (0.9 * ROUNDED, "holds"), (1000 * ROUNDED, "refuted")):
        learner = slanted(lead)
        found = verdicts(learner, Constant(), "algorithm-1")["algorithm-1"]
        assert found.verdict == verdict
        rounds = next(case_of(learner, Constant()).play(0))
        best = 2 if verdict == "holds" else 0
        assert rounds.block.best.tolist() == [best, 1] * 30
        assert int(rounds.counters[-1]) == (60 if best == 2 else 30)  # label 0 is revealing


def test_the_choice_does_not_look_at_the_labels() -> None:
    case = case_of(AnyTiedAsPrinted, ONE_HOT, horizon=600)
    blocks = list(case.game.play(0, trace=True))
    found = [block.best for block in best_label.settled(case, iter(blocks))]
    assert any((new != block.best).any() for new, block in zip(found, blocks, strict=True))
    others = [replace(block, labels=(block.labels + 1) % case.n_labels) for block in blocks]
    again = [block.best for block in best_label.settled(case, iter(others))]
    assert np.array_equal(np.concatenate(found), np.concatenate(again))


def test_the_choice_counts_as_the_learner_does() -> None:
    made: list[Any] = []

    class Watched(AnyTiedAsPrinted):
        def __init__(self, problem: Any) -> None:
            super().__init__(problem)
            made.append(self)
            self.counts: list[int] = []

        def update(self, x: Any, action: int, label: int | None) -> None:
            super().update(x, action, label)
            self.counts.append(self.explored)

    case = case_of(Watched, ONE_HOT, horizon=1500)
    counters = np.concatenate([rounds.counters for rounds in case.play(0)])
    learner = max(made, key=lambda each: len(each.counts))
    assert counters[-1] == learner.counts[-1]
    assert (counters != learner.counts).mean() < 0.05  # before it explored


@pytest.mark.parametrize("rule", ["printed", "threshold", "mixture"])
@pytest.mark.parametrize("gamma", [0.1, 0.7, 3.0])
def test_counts_that_agree_are_those_of_line_10_one_by_one(rule: str, gamma: float) -> None:
    made = {"rule": rule, "__init__": lambda self, problem: Right.__init__(self, problem)}
    dice, partly = np.random.default_rng(0), 0
    for graph in ("filtering", "random:density=0.3,seed=4", "label-efficient"):
        case = case_of(type("Own", (Right,), made), ONE_HOT, graph, 10)
        numbers = {**case.declaration.numbers, "gamma": gamma}
        case.__dict__["declaration"] = replace(case.declaration, numbers=numbers)
        share = case.graph.n_actions / case.graph.domination_number if rule == "threshold" else 1
        for _ in range(40):
            scores = dice.choice([0.0, 0.3, 0.5, 0.9, 1.0], size=4)
            label, margin = int(np.argmax(scores)), float(np.ptp(np.sort(scores)[-2:]))
            explores = int(not case.revealing_mask[label])
            best, gap = np.array([label]), np.array([(1 - margin) ** 2])
            rate = np.minimum(0.5, gamma / np.sqrt(dice.integers(1, 60, size=1))) * explores
            p = best_label.mixture(case.graph, best, gap, rate)
            if rule != "mixture":
                p = best_label.line_10(case.graph, best, gap, rate, share * rate <= gap)
            columns = np.zeros((1, N_COLUMNS))
            columns[0, [BEST, MARGIN]] = label, margin
            one = np.ones(1)
            steps = Steps(1e-15 * one, one, scores[None], scores[None])
            block = Block(0, columns, best, one, scores[None], p, None, steps)
            choice = best_label._Choice(case)
            choice.counts = int(dice.integers(1, 2**62))
            found = choice._fitting(block, 0, label, margin)
            stated = 0
            for n in range(64):
                rate = np.array([min(0.5, gamma / np.sqrt(max(n, 1)))]) * explores
                far = best_label.deviation(case, best, gap, rate, p, 2e-15 * one)
                stated |= int(far[0] <= best_label.CONFORMITY + 2e-15) << n
            stated &= choice.counts << explores
            assert found == stated
            partly += found not in (0, choice.counts << explores)
    assert partly


def test_of_all_choices_that_agree_the_lowest_labels_are_taken() -> None:
    class FirstAsPrinted(Right):
        rule = "printed"

    case = case_of(FirstAsPrinted, ONE_HOT, horizon=600)
    assert np.array_equal(next(case.play(0)).block.columns, next(case.game.play(0)).columns)


def test_a_game_that_is_cut_short_has_the_same_choices() -> None:
    class LastAsPrinted(LastIndex):
        rule = "printed"

    case = case_of(LastAsPrinted, ONE_HOT, horizon=600)
    whole = next(case.play(0)).block
    short = next(case.play(0, stop=7)).block
    assert len(short) == 7
    assert np.array_equal(short.columns, whole.columns[:7])
    (rounds,) = case.play(0, trace=False)
    assert np.array_equal(rounds.block.columns, whole.columns)


def test_a_learner_without_a_rule_shows_its_best_label_by_playing_it() -> None:
    class Banditron(LastIndex):
        rule = gamma = loss = None

        def __init__(self, problem: Any) -> None:
            self.weights = np.zeros((problem.n_labels, problem.n_features))

        def predict(self, x: Any) -> Any:
            p = np.full(len(self.weights), 0.2 / len(self.weights))
            p[self.best_of(self.scores(x))] += 0.8
            return p

        def update(self, x: Any, action: int, label: int | None) -> None:
            pass

    for trace in (True, False):
        (rounds,) = case_of(Banditron, graph="bandit").play(0, trace=trace)
        assert set(rounds.block.best.tolist()) == {4}


class TakesTheLowest(Right):
    """At a tie of all it is as right as any."""

    def best_of(self, scores: Any) -> int:
        return int(np.argmin(scores))

    def gap(self, margin: float) -> float:
        return min(1.0, super().gap(margin))


class HalfTheGap(LastIndex):
    def gap(self, margin: float) -> float:
        return super().gap(margin) / 2


@pytest.mark.parametrize("learner", [TakesTheLowest, HalfTheGap])
def test_probabilities_of_no_tied_label_are_refuted(learner) -> None:
    with pytest.raises(RefutedPromise, match="algorithm-1"):
        check_learner(learner, claims=["gappletron/algorithm-1"], graph="filtering")


def test_the_hinge_may_be_seen_on_either_side_of_its_jump() -> None:
    """Added up from the left the margin is just below 1/2 and from the right it is 1/2, or the other way round."""
    values = [k / 100 for k in range(1, 40)]
    below = 0.5 - 2.0**-54
    found = [
        w for w in itertools.product(values, repeat=3) if {sum(w), sum(w[::-1])} == {0.5, below}
    ]
    assert found
    for weights in (found[0], found[0][::-1]):

        class OnTheJump(LastIndexHinge):
            optimiser = "stand-still"

            def __init__(self, problem: Any, weights: Any = weights) -> None:
                super().__init__(problem)
                self.weights[1, :3] = weights

            def scores(self, x: Any) -> Any:
                return np.array([sum(row[::-1]) for row in (self.weights * x).tolist()])

            def update(self, x: Any, action: int, label: int | None) -> None:
                pass

        class Ones(Constant):
            def sequence(self, horizon: int, seed: int) -> Sequence:
                zero = Comparator.exact([[Fraction(0)] * 3] * 3)
                features, labels = np.ones((horizon, 3)), np.ones(horizon, dtype=np.int64)
                return Sequence.from_dense(
                    features, labels, n_labels=3, name="ones", comparator=zero
                )

        claims = ("algorithm-1", "lemma-3", "lemma-3-gradient")
        rows = verdicts(OnTheJump, Ones(), *claims, graph="full")
        assert {name: rows[name].verdict for name in ("algorithm-1", "lemma-3")} == {
            "algorithm-1": "holds",
            "lemma-3": "holds",
        }
        assert rows["lemma-3-gradient"].verdict in ("holds", "vacuous")
