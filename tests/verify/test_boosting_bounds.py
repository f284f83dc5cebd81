"""The claims about boosters as learners of the game: their formulas derived a second time, and what they refute."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from boundcheck.algorithms.boosting import logistic
from boundcheck.algorithms.boosting.estimates import exploration, loss_estimate
from boundcheck.errors import UserError
from boundcheck.verify import catalog, suite
from boundcheck.verify.case import Case, Setting
from boundcheck.verify.certificate import digest_of
from boundcheck.verify.claim import Kind, Verdict
from boundcheck.verify.claims.boosting import adaptive, descent, hedge, majority
from boundcheck.verify.claims.boosting.runs import Inside, first_bite, look_inside
from boundcheck.verify.equality import allowed, p_value
from boundcheck.verify.evidence import LEVEL
from boundcheck.verify.ledger import play_ledgers, play_runs
from boundcheck.verify.replay import replay
from boundcheck.verify.resolve import resolve

MINE = (
    "ada-bandit", "ada-bandit-tuned", "adaboost-olm", "asymptotic-error", "bandit-bbm",
    "bandit-bbm-potential", "bandit-bbm-tuned", "exact-error", "hedge-regret", "hedge-regret-bandit",
    "online-mbbm", "online-mbbm-potential", "sgd-estimates", "sgd-regret", "sgd-regret-bandit",
    "telescoping",
)  # fmt: skip


def bandit(k: int, n: int, edge: float, more: str, horizon: int = 200, runs: int = 4) -> Setting:
    return majority._setting("bandit-bbm", k, n, edge, more, horizon, runs)


def rows_of(claim: str, *settings: Setting) -> list[suite.Row]:
    return [r for s in settings for r in suite.judge_job(suite.Job(s, (f"boosting/{claim}",)), 0)]


def test_boosters_promise_all_of_them_and_each_has_cases() -> None:
    for name in ("online-mbbm", "bandit-bbm", "adaboost-olm", "ada-bandit"):
        promised = {c.id for c in catalog.select(catalog.learner(name).promises)}
        assert {f"boosting/{claim}" for claim in MINE} <= promised
    for claim in MINE:
        made = catalog.claims()[f"boosting/{claim}"]
        for setting in made.cases():
            case = resolve(replace(setting, horizon=200), 0)
            if not claim.endswith("-tuned"):  # prescribed for the whole horizon
                assert made.forms[0].missing(case) is None
    bandits = [s for s in majority.exact_settings() if s.learner.startswith("bandit-bbm")]
    assert len(bandits) == 10
    assert all(s.replicates * s.horizon >= 160_000 for s in majority.exact_settings())


# the exact probability of a mistake


def enumerated_error(k: int, n: int, edge: Fraction, rho: Fraction) -> Fraction:
    """By every combination of predictions, every winner of a tie and every action; the label is 0."""
    total = Fraction(0)
    for votes in product(range(k), repeat=n):
        chance = Fraction(1)
        for vote in votes:
            chance *= (1 - edge) / k + edge * (vote == 0)
        counts = [votes.count(label) for label in range(k)]
        winners = [label for label in range(k) if counts[label] == max(counts)]
        for winner in winners:
            right = 1 - rho if winner == 0 else rho / (k - 1)
            total += chance / len(winners) * (1 - right)
    return total


@pytest.mark.parametrize(
    ("k", "n", "edge", "rho"),
    [(2, 6, "1/5", "3/10"), (3, 5, "3/10", "1/5"), (4, 4, "2/5", "1/4")],
)
def test_the_error_rate_is_that_of_the_enumeration(k: int, n: int, edge: str, rho: str) -> None:
    e, r = Fraction(edge), Fraction(rho)
    case = resolve(bandit(k, n, float(e), f"ties=random,rho={float(r)}"), 0)
    assert majority.error_rate(case) == pytest.approx(
        float(enumerated_error(k, n, e, r)), abs=1e-12
    )
    full = majority.counterpart(case)
    wanted = float(enumerated_error(k, n, e, Fraction(0)))
    assert majority.error_rate(full) == pytest.approx(wanted, abs=1e-12)


def test_the_test_of_the_rate_is_exact() -> None:
    """What it refutes has probability at most the level, and the next outcome would bring more."""
    n, rate = 60, Fraction(1, 4)
    chances = [math.comb(n, x) * rate**x * (1 - rate) ** (n - x) for x in range(n + 1)]
    fewest, most = allowed(n, float(rate))
    low, high = sum(chances[:fewest]), sum(chances[most + 1 :])
    assert max(low, high) <= LEVEL / 2
    assert low + chances[fewest] > LEVEL / 2
    assert high + chances[most] > LEVEL / 2
    for x in range(n + 1):
        stated = float(min(Fraction(1), 2 * min(sum(chances[: x + 1]), sum(chances[x:]))))
        assert p_value(x, n, float(rate)) == pytest.approx(stated, rel=1e-9)
        assert (fewest <= x <= most) == (stated > LEVEL)


def test_exact_error_holds_and_is_refuted_by_another_rate() -> None:
    setting = bandit(3, 6, 0.3, "ties=random,rho=0.2", 600, 8)
    (row,) = rows_of("exact-error", setting)
    assert row.verdict == Verdict.HOLDS, row.outcome.evidence
    claim, case = catalog.claims()["boosting/exact-error"], resolve(setting, 0)
    for factor in (0.7, 1.3):
        off = majority.error_rate(case) * factor
        examine = majority.examine_rate
        found = examine(lambda _, rate=off: rate, claim, claim.forms[0], case, 8)
        assert found.verdict == Verdict.REFUTED
        assert found.certificate is not None
    (few,) = rows_of("exact-error", replace(setting, horizon=20, replicates=1))
    assert few.verdict == Verdict.UNDECIDED
    assert "more rounds are needed" in few.outcome.evidence


# the bounds of the boosters by majority


@pytest.mark.parametrize("k", [2, 3, 5])
def test_small_weights_leave_the_excess_loss_alone(k: int) -> None:
    """E exp(lambda w (c - (1 - gamma)/k)) <= 1 for lambda = 8 (edge - gamma)/k, any weight and any cost vector."""
    rng = np.random.default_rng(k)
    corners = np.eye(k)[1:]
    mixed = rng.dirichlet(np.ones(k - 1), size=40)
    costs = np.concatenate([corners, np.pad(mixed, ((0, 0), (1, 0)))])
    tight = 0.0
    for edge, share in product((0.05, 0.4, 0.9, 1.0), (0.0, 0.5, 0.9)):
        gamma = edge * share
        chances = np.full(k, (1 - edge) / k)
        chances[0] += edge
        for weight in (1e-6, 0.01, 0.3, 1.0):
            rate = 8 * (edge - gamma) / k
            grows = np.exp(rate * weight * (costs - (1 - gamma) / k)) @ chances
            assert (grows <= 1 + 1e-15).all()
            tight = max(tight, float(grows.max()))
    assert tight > 0.99
    case = resolve(bandit(k, 4, 0.4, "gamma=0.3,rho=0.1"), 0)
    rate = 8 * (0.4 - 0.3) / k
    assert math.exp(-rate * majority.excess_loss(case, 0.05)) == pytest.approx(0.05)


def test_constants_of_the_bounds_by_majority() -> None:
    case = resolve(bandit(3, 4, 0.6, "gamma=0.4,rho=0.1", 5000, 1), 0)
    ledger = replace(play_runs(case, range(1)), rounds=5000)
    potential = case.learner.potentials(3)
    sizes = sum(case.learner.scales(3)) if case.learner.scale == "exact" else sum(
        potential.largest_weight(i, 3 - i) for i in range(4)
    )  # fmt: skip
    assert sizes <= 2 * 2 * math.sqrt(4)
    excess = 3 * math.log(5 / 0.5) / (8 * 0.2) * sizes
    rest = 0.1 * 5000 + math.sqrt(2500 * math.log(5 / 0.5))
    for exact, rate in (
        (False, 2 * math.exp(-0.16 * 4 / 2)),
        (True, potential.potential([0, 0, 0], 0, 4)),
    ):
        sides = majority._sides(exact, False, case, None, ledger)
        assert sides.envelopes[0.5][0] == pytest.approx(rate * 5000 + excess + rest)
    tuned = resolve(bandit(3, 4, 0.6, "gamma=0.4", 5000, 1), 0)
    found = majority._sides(False, True, tuned, None, ledger).envelopes[0.5][0]
    rest = 3**1.75 * 4**0.25 * math.sqrt(5000) + math.sqrt(2500 * math.log(10))
    assert found == pytest.approx(2 * math.exp(-0.32) * 5000 + excess + rest)


@pytest.mark.parametrize("name", ["bandit-bbm", "bandit-bbm-potential", "online-mbbm-potential"])
def test_bounds_by_majority_hold_and_say_from_where_on_they_bite(name: str) -> None:
    kind = "online-mbbm" if name.startswith("online") else "bandit-bbm"
    more = "gamma=0.6" if kind == "online-mbbm" else "gamma=0.6,rho=0.1"
    setting = majority._setting(kind, 2, 8, 0.8, more, 200, 8)
    (row,) = rows_of(name, setting)
    assert row.verdict == Verdict.HOLDS, row.outcome.evidence
    (short,) = rows_of(name, replace(setting, horizon=10))
    assert short.verdict == Verdict.VACUOUS
    bites = int(short.outcome.evidence.rpartition("T = ")[2].replace(",", ""))
    assert 10 < bites < 200
    at = [
        rows_of(name, replace(setting, horizon=T, replicates=8))[0] for T in (bites - 2, bites + 2)
    ]
    assert at[0].verdict == Verdict.VACUOUS
    assert at[1].verdict != Verdict.VACUOUS


def test_what_the_bounds_by_majority_do_not_speak_of() -> None:
    reasons = {
        "gamma=0.4,rho=0.1": "not less than the edge 0.4",
        "gamma=0.3,rho=0.1,weak=hedge-stump": "weak learners of a known edge",
    }
    for more, reason in reasons.items():
        setting = bandit(3, 4, 0.4, more)
        learner = setting.learner
        if "hedge" in more:
            learner = learner.replace("weak=oracle-noise,", "")
        case = resolve(replace(setting, learner=learner), 0)
        assert reason in catalog.claims()["boosting/bandit-bbm"].forms[0].missing(case)
    tied = resolve(majority._setting("online-mbbm", 3, 4, 0.4, "gamma=0.3,ties=random", 50, 1), 0)
    assert "ties=lowest" in catalog.claims()["boosting/online-mbbm"].forms[0].missing(tied)
    fixed = resolve(bandit(3, 4, 0.4, "gamma=0.3,rho=0.1", 5000), 0)
    assert "prescribes rho" in catalog.claims()["boosting/bandit-bbm-tuned"].forms[0].missing(fixed)
    lowest = resolve(bandit(3, 4, 0.4, "rho=0.1"), 0)
    assert "at random" in catalog.claims()["boosting/exact-error"].forms[0].missing(lowest)
    plain = resolve(Setting("banditron", "one-hot", "bandit", 50), 0)
    for claim in MINE:
        reason = catalog.claims()[f"boosting/{claim}"].forms[0].missing(plain)
        assert reason == f"the learner does not promise boosting/{claim}"


def test_bandit_and_full_information_have_the_same_votes() -> None:
    """Round by round on the same sequence: 1 - p(y) is rho where the vote is right, else 1 - rho/(k - 1)."""
    case = resolve(bandit(3, 6, 0.3, "ties=random,rho=0.2", 300, 2), 0)
    full = majority.counterpart(case)
    for replicate in (0, 1):
        (block,) = case.with_fresh_sequence(replicate).replicate(replicate)
        (other,) = full.with_fresh_sequence(replicate).replicate(replicate)
        wrong = other.column(0) == 1
        assert 0.1 < wrong.mean() < 0.9
        assert block.column(0) == pytest.approx(np.where(wrong, 0.9, 0.2))
    (row,) = rows_of("asymptotic-error", bandit(3, 20, 0.6, "ties=random,rho=0.1", 300, 6))
    assert row.verdict == Verdict.HOLDS, row.outcome.evidence
    assert "error rates apart by at most" in row.outcome.evidence


# runs of the adaptive boosters, from inside


def inside(learner: str, stream: str, graph: str, horizon: int = 120) -> tuple[Case, Inside]:
    case = resolve(Setting(learner, stream, graph, horizon, None, 1), 0)
    return case, look_inside(case, 0)


STUMPS = ("stump-labels:n_labels=3,noise=0.2", "stump-labels:n_labels=2,noise=0.1")


@pytest.mark.parametrize(("name", "graph"), [("adaboost-olm", "full"), ("ada-bandit", "bandit")])
def test_what_is_seen_inside_is_what_the_game_plays(name: str, graph: str) -> None:
    more = ",rho=0.3" if name == "ada-bandit" else ""
    case, run = inside(f"{name}:learners=4,ties=random{more}", STUMPS[0], graph)
    (ledger,) = play_ledgers(case, range(1))[-1:]
    assert run.mistakes == ledger.mistakes[0]
    assert np.abs(run.alphas[1:]).max() > 0
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


def test_constants_of_the_adaptive_bounds() -> None:
    k, n, T, rho, delta = 3, 4, 900, 0.25, 0.1
    assert descent.full_regret(k, T) == pytest.approx(4 * math.sqrt(2) * 2 * 30)
    steps = [2 * math.sqrt(2) / ((k - 1) * math.sqrt(t)) for t in range(1, T + 1)]
    assert 16 / (2 * steps[-1]) + (k - 1) ** 2 / 2 * sum(steps) <= descent.full_regret(k, T)
    steps = [rho / (k * k * math.sqrt(t)) for t in range(1, T + 1)]
    largest = 2 * k * k / rho
    made = 16 / (2 * steps[-1]) + largest**2 / 2 * sum(steps)
    assert made <= descent.estimated_regret(k, rho, T) <= made * 1.02
    luck = 8 * largest * math.sqrt(T / 2 * math.log(2 / delta))
    stated = descent.bandit_regret(k, rho, T, delta) - descent.estimated_regret(k, rho, T)
    assert stated == pytest.approx(luck)
    rate = hedge.best_rate(k, rho, n, T)
    least = math.sqrt(2 * (k - 1) * T * math.log(n) / rho)
    assert hedge.expected_regret(k, rho, n, rate, T) == pytest.approx(least)
    assert hedge.expected_regret(k, rho, n, 1.0, T) >= T, "the authors' rate says nothing"
    assert hedge.followed(7.0, 1, 0.0, T) == 7

    case = resolve(Setting("ada-bandit:learners=4,rho=0.25,hedge=0.01", STUMPS[0], "bandit", T), 0)
    b, log5, half = 2 / rho, math.log(5 / delta), math.sqrt(T / 2)
    rest = rho * T + half * math.sqrt(log5) + math.log(4) / 0.01
    rest += 0.005 * (b * T + b * b * half * math.sqrt(log5))
    rest += b * half * (math.sqrt(math.log(20 / delta)) + math.sqrt(log5))
    constant = 12 + 8 * math.sqrt(2 * math.log(40 / delta))
    general = 4 / 2.5 * (2 * T * math.log(2) + n * constant * 9 * 30 / rho) + rest
    assert adaptive.bandit_envelope(False, case, 2.5, T, delta) == pytest.approx(general)
    epsilon = 4 - 2 * math.log(2) * 2 / 3
    published = 24 / 2.5 * T + 2 / epsilon * 27 * 16 * constant**2 / (rho * rho * 2.5) + rest
    assert adaptive.bandit_envelope(True, case, 2.5, T, delta) == pytest.approx(published)
    assert published >= general, "the published shape follows from the general one"


@pytest.mark.parametrize("claim", ["ada-bandit", "ada-bandit-tuned"])
def test_the_bound_of_adabandit_says_nothing_in_any_game(claim: str) -> None:
    made = catalog.claims()[f"boosting/{claim}"]
    rows = rows_of(claim, *(replace(setting, replicates=1) for setting in made.cases()))
    assert rows
    for row in rows:
        assert row.verdict == row.expected == Verdict.VACUOUS
        assert row.outcome.runs == 1
        where = row.outcome.evidence.rpartition("T = ")[2].replace(",", "")
        assert int(where) > 1e7


def test_a_bite_is_where_the_envelope_falls_below_the_horizon() -> None:
    assert first_bite(lambda T: 5 * math.sqrt(T)) == "it bites from T = 26"
    assert first_bite(lambda T: T + 1) == "it does not bite at any horizon"
    where = first_bite(lambda T: 1e5 * math.sqrt(T) + 0.5 * T)
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
    assert "does not bite" in row.outcome.evidence
    (row,) = rows_of("hedge-regret-bandit", replace(tuned, horizon=100, replicates=32))
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
    found = replay(path)
    assert found.observed > found.envelope
    content = json.loads(path.read_text(encoding="utf-8"))
    content.pop("digest")
    numbers = [key for key in content if key not in ("schema", "game", "kind", "claim", "form")]
    changed = [content | {key: _other(content[key])} for key in numbers]
    changed += [
        content | {"game": content["game"] | {k: v}} for k, v in (("seed", 1), ("radius", 2.0))
    ]
    for damaged in changed:
        path.write_text(json.dumps(damaged | {"digest": digest_of(damaged)}), encoding="utf-8")
        with pytest.raises(UserError):
            replay(path)


def _other(value: Any) -> Any:
    """Something else of the same type."""
    if isinstance(value, list):
        return [*value[:-1], _other(value[-1])]
    return f"{value}1" if isinstance(value, str) else value + 1


def test_kinds_say_how_they_are_judged() -> None:
    kinds = {name: catalog.claims()[f"boosting/{name}"].kind for name in MINE}
    assert {name for name, kind in kinds.items() if kind == Kind.PATHWISE} == {
        "hedge-regret", "sgd-estimates", "sgd-regret", "telescoping"
    }  # fmt: skip
    assert {name for name, kind in kinds.items() if kind == Kind.MEAN} == {
        "exact-error", "hedge-regret-bandit"
    }  # fmt: skip
