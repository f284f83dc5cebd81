"""The claims about adaptive boosters, whose runs are looked at from inside; certificates of flawed ones."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from boundcheck.algorithms.boosting import logistic
from boundcheck.algorithms.boosting.boosting import EXPERTS
from boundcheck.algorithms.boosting.estimates import exploration, loss_bound, loss_estimate
from boundcheck.errors import LearnerError, UserError
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.claims.boosting import adaptive, descent, hedge
from boundcheck.verify.claims.boosting.runs import Inside, look_inside
from boundcheck.verify.claims.sampled import non_vacuous_from
from boundcheck.verify.games.labels.case import Case
from boundcheck.verify.games.labels.play import Run, learner_generator
from boundcheck.verify.games.labels.record import Block
from boundcheck.verify.outcome import Verdict, digest_of
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite


def rows_of(claim: str, *settings: Setting) -> list[suite.Row]:
    return [r for s in settings for r in suite.judge_job(suite.Job(s, (f"boosting/{claim}",)), 0)]


def inside(learner: str, stream: str, graph: str, horizon: int = 120) -> tuple[Case, Inside]:
    case = resolve(Setting(learner, stream, graph, horizon, None, 1), 0)
    return case, look_inside(case, 0)


EDGES = np.full(4, 0.8)
STUMPS = ("stump-labels:n_labels=3,noise=0.2", "stump-labels:n_labels=2,noise=0.1")


@pytest.mark.parametrize(("name", "graph"), [("adaboost-olm", "full"), ("ada-bandit", "bandit")])
def test_what_is_seen_inside_is_what_the_game_plays(name: str, graph: str) -> None:
    more = ",rho=0.3" if name == "ada-bandit" else ""
    case, run = inside(f"{name}:learners=4,ties=random{more}", STUMPS[0], graph)
    (totals,) = case.totals_at([case.horizon], range(1))
    assert run.mistakes == totals.mistakes[0]
    assert np.abs(run.alphas[1:]).max() > 0
    stream = learner_generator(0, 0)
    alone = case.learner.begin(case.problem, stream)
    for t in range(run.rounds):
        alone.predict(case.sequence.row(t))
        assert run.before[t] == pytest.approx(alone.before, abs=1e-12)
        assert run.best[t] == alone.best
        for name in ("labels", "alphas", "experts", "shares"):
            assert np.array_equal(getattr(run, name)[t], getattr(alone, name)), name
        seen = int(run.truth[t]) if graph == "full" or run.played[t] == run.truth[t] else None
        alone.update(case.sequence.row(t), int(run.played[t]), seen)
    rows = np.arange(run.rounds)
    for i in range(run.learners):
        scores, labels = run.before[:, i], run.labels[:, i]
        costs = logistic.cost_matrix(scores)[rows, run.truth]
        edge = logistic.empirical_edge(costs, labels, run.truth)
        assert run.edges[i] == pytest.approx(edge, rel=1e-12)

        def total(alpha: float, scores: Any = scores, labels: Any = labels) -> float:
            moved = scores.copy()
            moved[rows, labels] += alpha
            return sum(float(logistic.loss(s, y)) for s, y in zip(moved, run.truth, strict=True))

        found = minimize_scalar(total, bounds=(-2, 2), method="bounded", options={"xatol": 1e-9})
        assert run.losses(run.best_alphas)[:, i].sum() == pytest.approx(found.fun, rel=1e-9)
        slopes = logistic.slopes(scores, labels, run.alphas[:, i])[rows, run.truth]
        assert run.slopes(run.alphas)[:, i] == pytest.approx(slopes, abs=1e-12)
        assert total(0.7) == pytest.approx(float(run.losses(np.full(4, 0.7))[:, i].sum()))
    assert (run.regrets <= run.largest_regrets).all()


@pytest.mark.parametrize(("name", "graph"), [("adaboost-olm", "full"), ("ada-bandit", "bandit")])
def test_both_forms_of_the_loop_write_down_the_same(name: str, graph: str) -> None:
    case, native = inside(f"{name}:learners=4,ties=random", STUMPS[0], graph)
    case.kept.clear()
    plain = look_inside(case, 0, interpreted=True)
    for array in ("labels", "alphas", "experts", "shares", "best", "truth", "played"):
        assert np.array_equal(getattr(native, array), getattr(plain, array)), array
    assert not np.array_equal(native.alphas[:-1], native.alphas[1:]), "a round too late is seen"


@pytest.mark.parametrize("ties", ["lowest", "random"])
def test_experts_that_are_not_those_of_the_votes_are_refused(
    ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Run.advance

    def wrong(self: Run, *given: Any, **how: Any) -> Block:
        block = right(self, *given, **how)
        assert block.votes is not None
        block.votes.counts[:, EXPERTS:] = (block.votes.counts[:, EXPERTS:] + 1) % 3
        return block

    monkeypatch.setattr(Run, "advance", wrong)
    with pytest.raises(LearnerError, match=r"reports the experts \[.*\] in round \d+: expected"):
        inside(f"adaboost-olm:learners=4,ties={ties}", STUMPS[0], "full")


def test_estimated_slopes_are_those_of_the_definition() -> None:
    _, run = inside("ada-bandit:learners=3,rho=0.3", STUMPS[0], "bandit")
    found = descent.estimated_slopes(run, 0.3)
    for t in range(run.rounds):
        p = exploration(int(run.best[t]), 0.3, 3)
        played = int(run.played[t])
        losses = loss_estimate(int(run.best[t]), played, played == run.truth[t], p)
        for i in range(3):
            made = logistic.slopes(
                run.before[t, i : i + 1], run.labels[t, i : i + 1], run.alphas[t, i : i + 1]
            )
            assert found[t, i] == pytest.approx(float((1 - losses) @ made[0]), abs=1e-12)  # fmt: skip
    assert np.abs(found).max() <= 2 * 9 / 0.3


def variance_of_a_slope(k: int, rho: float, dice: np.random.Generator) -> float:
    """Of the estimate in a round at scores far apart, given all but the action."""
    best, label, predicted = dice.integers(k, size=3)
    scores = dice.choice([-30.0, 0.0, 30.0], size=(1, k))
    made = logistic.slopes(scores, np.array([predicted]), np.zeros(1))[0]
    p = exploration(int(best), rho, k)
    drawn = np.array([(1 - loss_estimate(int(best), a, a == label, p)) @ made for a in range(k)])
    return float(p @ drawn**2 - (p @ drawn) ** 2)


def test_a_run_is_cut_to_its_first_rounds() -> None:
    _, run = inside("adaboost-olm:learners=3", STUMPS[0], "full")
    short = run.until(50)
    assert run.until(120) is run
    assert (short.rounds, short.learners) == (50, 3)
    assert short.mistakes == int((run.played != run.truth)[:50].sum())
    assert np.array_equal(short.errors, run.wrong[:50].sum(axis=0))
    assert not np.allclose(short.edges, run.edges)


@pytest.mark.parametrize(("k", "least"), [(2, 0.999), (3, 0.4), (5, 0.4)])
def test_no_estimated_slope_varies_by_more_than_is_stated(k: int, least: float) -> None:
    dice = np.random.default_rng(k)
    for rho in (0.02, 0.3, 0.5):
        found = max(variance_of_a_slope(k, rho, dice) for _ in range(1000))
        assert least * descent.slope_variance(k, rho) < found
        assert found <= descent.slope_variance(k, rho) * (1 + 1e-12)


def test_constants_of_the_adaptive_bounds() -> None:
    k, n, T, rho, delta = 3, 4, 900, 0.25, 0.1
    olm = resolve(Setting("adaboost-olm:learners=4", STUMPS[0], "full", T), 0)
    assert descent.full_regret(olm, T) == pytest.approx(4 * math.sqrt(2) * 2 * 30)
    case = resolve(Setting("ada-bandit:learners=4,rho=0.25,hedge=0.01", STUMPS[0], "bandit", T), 0)
    given = resolve(
        Setting("ada-bandit:learners=4,rho=0.25,hedge=0.01,step=0.3", STUMPS[0], "bandit", T), 0
    )
    largest = (k - 1) * ((k - 1) / rho - 1)
    for of, first, size, bound in (
        (olm, math.sqrt(2), k - 1, descent.full_regret(olm, T)),
        (case, rho / k**2, largest, descent.estimated_regret(case, rho, T)),
        (given, 0.3, largest, descent.estimated_regret(given, rho, T)),
    ):
        assert of.declaration.get("boosting.step") == of.learner.step
        assert of.learner.first_step(k, None if of is olm else rho) == pytest.approx(first)
        steps = [first / math.sqrt(t) for t in range(1, T + 1)]
        made = 16 / (2 * steps[-1]) + size**2 / 2 * sum(steps)
        assert made <= bound <= made * 1.03
    assert descent.estimated_regret(case, rho, T) <= 9 * k * k * 30 / rho
    variance, log = 4 * (2 / rho + 1 / (1 - rho)), math.log(2 / delta)
    luck = math.sqrt(2 * 16 * variance * T * log) + 4 * (largest + 2) * log / 3
    stated = descent.bandit_regret(case, rho, T, delta) - descent.estimated_regret(case, rho, T)
    assert stated == pytest.approx(luck)
    rate = math.sqrt(2 * rho * math.log(n) / ((k - 1) * T))
    least = math.sqrt(2 * (k - 1) * T * math.log(n) / rho)
    assert hedge.expected_regret(k, rho, n, rate, T) == pytest.approx(least)
    assert hedge.expected_regret(k, rho, n, 1.0, T) >= T, "the authors' rate says nothing"
    assert hedge.followed(7.0, 1, 0.0, T) == 7

    edges = np.array([0.5, -1.0, 0.25])
    assert adaptive.gains(edges) == pytest.approx([2 / 9, 3 / 4, 0.06])
    assert adaptive.fewest_errors(3, edges, 10.0, 50) == pytest.approx(
        (2 * 50 * (math.log(2) - 1 / 9) + 10) / (math.log(2) + 0.405)
    )
    b, one, half = 2 / rho, math.log(5 / delta), math.sqrt(T / 2 * math.log(5 / delta))
    every = math.log(5 * n / delta)
    errors = adaptive.fewest_errors(
        3, edges, n * descent.bandit_regret(case, rho, T, delta / 5 / n), T
    )
    spread = math.sqrt(2 * (b - 1) * T)
    known = errors + spread * math.sqrt(every) + (b - 1) * every / 3 + math.log(n) / 0.01
    known += min(0.005 * (b * T + b * b * half), 0.01 * b * b * T / 8)
    known += spread * math.sqrt(one) + one / 3 + rho * T + half
    assert adaptive.bandit_envelope(case, edges, T, delta) == pytest.approx(known)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("rho", [0.05, 0.4])
def test_estimated_losses_vary_by_no_more_than_is_stated(k: int, rho: float) -> None:
    """By b - 1 for an expert that errs, and for the mean of such experts under any shares."""
    dice, b = np.random.default_rng(k), loss_bound(k, rho)
    for best, label in product(range(k), repeat=2):
        p = exploration(best, rho, k)
        drawn = np.array([loss_estimate(best, a, a == label, p) for a in range(k)])
        for shares in (*np.eye(k), *dice.dirichlet(np.ones(k), size=50)):
            mean = p @ (drawn @ shares)
            assert mean == pytest.approx(1 - shares[label], abs=1e-12)
            assert p @ (drawn @ shares - mean) ** 2 <= (b - 1) * (1 + 1e-9)


def test_the_first_non_vacuous_horizon_is_where_the_envelope_falls_below_the_horizon() -> None:
    assert non_vacuous_from(lambda T: 5 * math.sqrt(T)) == "it is non-vacuous from T = 26"
    assert non_vacuous_from(lambda T: T + 1) == "it is non-vacuous at no horizon"
    given = "without loss it is non-vacuous from T = 41"
    assert non_vacuous_from(lambda T: 40.0, 5, "without loss ") == given
    where = non_vacuous_from(lambda T: 1e5 * math.sqrt(T) + 0.5 * T)
    assert int(where.rpartition("T = ")[2].replace(",", "")) == pytest.approx(4e10, rel=1e-5)


@pytest.mark.parametrize(
    ("claim", "learner", "stream", "graph", "horizon"),
    [
        ("sgd-regret", "adaboost-olm:learners=4", STUMPS[1], "full", 250),
        ("hedge-regret", "adaboost-olm:learners=4", STUMPS[0], "full", 250),
        ("hedge-regret", "adaboost-olm:learners=4,tuning=theory", STUMPS[0], "full", 250),
        ("telescoping", "adaboost-olm:weak=oracle-noise,learners=20",
         "oracle-labels:n_labels=2,edge=0.9", "full", 250),
    ],
)  # fmt: skip
def test_sums_hold_and_could_fail(
    claim: str, learner: str, stream: str, graph: str, horizon: int
) -> None:
    (row,) = rows_of(claim, Setting(learner, stream, graph, horizon, None, 1))
    assert row.verdict == Verdict.HOLDS, row.outcome.evidence
    assert row.outcome.ratio is not None
    assert 0 < row.outcome.ratio <= 1


def test_hedge_with_the_authors_rate_and_estimates_is_vacuous() -> None:
    tuned, authors = hedge.bandit_settings()
    (row,) = rows_of("hedge-regret-bandit", replace(authors, horizon=200))
    assert row.verdict == row.expected == Verdict.VACUOUS
    assert "it is non-vacuous at no horizon" in row.outcome.evidence
    (row,) = rows_of("hedge-regret-bandit", replace(tuned, horizon=100, runs=32))
    assert row.verdict == Verdict.HOLDS
    assert row.expected == Verdict.HOLDS


FLAWED = """
from dataclasses import replace
from boundcheck.algorithms.boosting.adaptive import AdaboostOLM
from boundcheck.algorithms.boosting.majority import BanditBBM


class Bold(BanditBBM):
    rate = 2.0

    def begin(self, problem, generator, **how):
        played = BanditBBM(self.weak, self.learners, self.ties, rho=self.rate * self.rho)
        return played.begin(problem, generator, **how)


class Rigid(AdaboostOLM):
    def begin(self, problem, generator, **how):
        return AdaboostOLM(self.weak, self.learners, hedge=1e-9).begin(problem, generator, **how)


class BoldOracle(Bold):
    def __init__(self):
        super().__init__("oracle-noise", 6, "random", rho=0.1)


class RigidOracle(Rigid):
    def __init__(self):
        super().__init__("oracle-noise", 30)
"""


@pytest.mark.parametrize(
    ("claim", "name", "graph", "horizon", "runs", "kind"),
    [
        ("exact-error", "BoldOracle", "bandit", 300, 6, "statistical"),
        ("hedge-regret", "RigidOracle", "full", 120, 1, "audit"),
    ],
)
def test_certificates_of_flawed_boosters_replay_until_a_number_is_changed(
    claim: str, name: str, graph: str, horizon: int, runs: int, kind: str, tmp_path: Path
) -> None:
    (tmp_path / "flawed.py").write_text(FLAWED, encoding="utf-8")
    stream = f"oracle-labels:n_labels=2,learners={30 if kind == 'audit' else 6},edge=0.5"
    setting = Setting(f"{tmp_path}/flawed.py:{name}", stream, graph, horizon, None, runs)
    (row,) = rows_of(claim, setting)
    assert row.verdict == Verdict.REFUTED, row.outcome.evidence
    assert row.outcome.certificate is not None
    assert row.outcome.certificate.content["kind"] == kind
    path = row.outcome.certificate.write(tmp_path)
    found = replay(path, trust=True)
    assert found.observed > found.envelope
    if kind == "audit":
        assert float(found.content["after"]) == pytest.approx(found.observed)
        assert float(found.content["before"]) == pytest.approx(found.envelope)
    else:
        assert (
            abs(sum(found.content["mistakes"]) - 1800 * float(found.content["rate"]))
            == found.observed
        )
    content = json.loads(path.read_text(encoding="utf-8"))
    content.pop("digest")
    numbers = [key for key in content if key not in ("schema", "game", "kind", "claim", "form")]
    changed = [content | {key: _other(content[key])} for key in numbers]
    changed += [
        content | {"game": content["game"] | {k: v}}
        for k, v in (("seed", 1), ("comparator_norm", 2.0))
    ]
    for damaged in changed:
        path.write_text(json.dumps(damaged | {"digest": digest_of(damaged)}), encoding="utf-8")
        with pytest.raises(UserError):
            replay(path, trust=True)


def _other(value: Any) -> Any:
    """Something else of the same type."""
    if isinstance(value, list):
        return [*value[:-1], _other(value[-1])]
    return f"{value}1" if isinstance(value, str) else value + 1


@pytest.mark.parametrize(
    ("claim", "bound", "settings", "factor"),
    [
        ("sgd-regret", "full_regret", descent.full_settings, 3.2),
        ("sgd-estimates", "estimated_regret", descent.estimate_settings, 4),
    ],
)
def test_learners_that_turn_leave_a_regret_not_far_below_its_bound(
    claim: str, bound: str, settings: Any, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bound a few times as sharp is refuted there, and in no other setting."""
    known = getattr(descent, bound)
    *others, turning = (replace(setting, runs=1) for setting in settings())
    monkeypatch.setattr(descent, bound, lambda *numbers: known(*numbers) / factor)
    assert [row.verdict for row in rows_of(claim, *others)] == [Verdict.HOLDS] * len(others)
    (row,) = rows_of(claim, turning)
    assert row.verdict == Verdict.REFUTED
    assert "learner" in row.outcome.evidence
