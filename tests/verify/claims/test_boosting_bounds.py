"""The claims about boosters as learners of the game: their formulas derived a second time, and what they refute."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from boundcheck.verify import catalog
from boundcheck.verify.claim import Cell
from boundcheck.verify.claims.boosting import asymptotic_error, majority
from boundcheck.verify.games.labels.case import Case
from boundcheck.verify.games.labels.run_sums import RunSums
from boundcheck.verify.judges.decide import LEVEL, decide
from boundcheck.verify.judges.law import Law, allowed, p_value
from boundcheck.verify.outcome import Kind, Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

MINE = (
    "ada-bandit", "ada-bandit-tuned", "adaboost-olm", "asymptotic-error", "bandit-bbm",
    "bandit-bbm-potential", "bandit-bbm-tuned", "exact-error", "hedge-regret", "hedge-regret-bandit",
    "online-mbbm", "online-mbbm-potential", "sgd-estimates", "sgd-regret", "sgd-regret-bandit",
    "telescoping",
)  # fmt: skip


def bandit(k: int, n: int, edge: float, more: str, horizon: int = 200, runs: int = 4) -> Setting:
    return majority._setting("bandit-bbm", k, n, edge, more, horizon, runs)


def totals_of(case: Case, runs: int) -> RunSums:
    """What some runs add up to at the end."""
    (found,) = case.totals_at([case.horizon], range(runs))
    return found


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
                assert made.forms[0].unmet(case) is None
    bandits = [s for s in majority.exact_settings() if s.learner.startswith("bandit-bbm")]
    assert len(bandits) == 10
    assert all(s.runs * s.horizon >= 160_000 for s in majority.exact_settings())


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
    full = asymptotic_error.counterpart(case)
    wanted = float(enumerated_error(k, n, e, Fraction(0)))
    assert majority.error_rate(full) == pytest.approx(wanted, abs=1e-12)


def test_the_test_of_the_rate_is_exact() -> None:
    """What it refutes has probability at most the level, and the next outcome would bring more."""
    n, rate = 200, Fraction(1, 4)
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


def test_runs_have_sequences_of_their_own_where_the_chance_is_in_the_sequence() -> None:
    """With full information and no ties to draw, runs on the same sequence are the same."""
    case = resolve(majority._setting("online-mbbm", 2, 5, 0.2, "ties=lowest", 400, 6), 0)
    same = totals_of(case, 6).mistakes
    (fresh,) = (each.mistakes for each in case.totals_at([case.horizon], range(6), fresh=True))
    assert len(set(same)) == 1
    assert same[0] == fresh[0]
    assert len(set(fresh)) > 3


def test_exact_error_holds_and_is_refuted_by_another_rate() -> None:
    setting = bandit(3, 6, 0.3, "ties=random,rho=0.2", 600, 14)
    (row,) = rows_of("exact-error", setting)
    assert row.verdict == Verdict.HOLDS, row.outcome.evidence
    claim, case = catalog.claims()["boosting/exact-error"], resolve(setting, 0)
    for factor in (0.7, 1.3):
        off = majority.error_rate(case) * factor
        judge = Law(lambda _, rate=off: rate)
        found = decide(judge.examine(Cell(claim, claim.forms[0], case), 14))
        assert found.verdict == Verdict.REFUTED
        assert found.certificate is not None
    (few,) = rows_of("exact-error", replace(setting, horizon=20, runs=1))
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
    ledger = replace(totals_of(case, 1), rounds=5000)
    potential = case.learner.potentials(3)
    sizes = sum(potential.largest_weight(i, 3 - i) for i in range(4))
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
def test_bounds_by_majority_hold_and_say_from_where_on_they_do(name: str) -> None:
    kind = "online-mbbm" if name.startswith("online") else "bandit-bbm"
    more = "gamma=0.6" if kind == "online-mbbm" else "gamma=0.6,rho=0.1"
    setting = majority._setting(kind, 2, 8, 0.8, more, 200, 14)
    (row,) = rows_of(name, setting)
    assert row.verdict == Verdict.HOLDS, row.outcome.evidence
    (short,) = rows_of(name, replace(setting, horizon=10))
    assert short.verdict == Verdict.VACUOUS
    first = int(short.outcome.evidence.rpartition("T = ")[2].replace(",", ""))
    assert 10 < first < 200
    at = [rows_of(name, replace(setting, horizon=T, runs=14))[0] for T in (first - 2, first + 2)]
    assert at[0].verdict == Verdict.VACUOUS
    assert at[1].verdict != Verdict.VACUOUS
    # what is expected before play turns there too, and names the same horizon
    assert [found.expected for found in (short, *at)] == [Verdict.VACUOUS] * 2 + [Verdict.HOLDS]
    form, case = catalog.claims()[f"boosting/{name}"].forms[0], resolve(setting, 0)
    said = form.vacuous(resolve(replace(setting, horizon=10), 0))
    assert said is not None
    assert said.endswith(f"it is non-vacuous from T = {first:,}")
    assert form.vacuous(case) is None


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
        assert reason in catalog.claims()["boosting/bandit-bbm"].forms[0].unmet(case)
    tied = resolve(majority._setting("online-mbbm", 3, 4, 0.4, "gamma=0.3,ties=random", 50, 1), 0)
    assert "ties=lowest" in catalog.claims()["boosting/online-mbbm"].forms[0].unmet(tied)
    fixed = resolve(bandit(3, 4, 0.4, "gamma=0.3,rho=0.1", 5000), 0)
    assert "prescribes rho" in catalog.claims()["boosting/bandit-bbm-tuned"].forms[0].unmet(fixed)
    lowest = resolve(bandit(3, 4, 0.4, "rho=0.1"), 0)
    assert "at random" in catalog.claims()["boosting/exact-error"].forms[0].unmet(lowest)
    plain = resolve(Setting("banditron", "one-hot", "bandit", 50), 0)
    for claim in MINE:
        reason = catalog.claims()[f"boosting/{claim}"].forms[0].unmet(plain)
        assert reason == f"the learner does not promise boosting/{claim}"


def test_bandit_and_full_information_have_the_same_votes() -> None:
    """Round by round on the same sequence: 1 - p(y) is rho where the vote is right, else 1 - rho/(k - 1)."""
    case = resolve(bandit(3, 6, 0.3, "ties=random,rho=0.2", 300, 2), 0)
    full = asymptotic_error.counterpart(case)
    for replicate in (0, 1):
        (block,) = case.with_fresh_sequence(replicate).play(replicate)
        (other,) = full.with_fresh_sequence(replicate).play(replicate)
        wrong = other.column(0) == 1
        assert 0.1 < wrong.mean() < 0.9
        assert block.column(0) == pytest.approx(np.where(wrong, 0.9, 0.2))
    (row,) = rows_of("asymptotic-error", bandit(3, 20, 0.6, "ties=random,rho=0.1", 300, 14))
    assert row.verdict == Verdict.HOLDS, row.outcome.evidence
    assert "error rates apart by at most" in row.outcome.evidence


def test_kinds_say_how_they_are_judged() -> None:
    kinds = {name: catalog.claims()[f"boosting/{name}"].kind for name in MINE}
    assert {name for name, kind in kinds.items() if kind == Kind.PATHWISE} == {
        "hedge-regret", "sgd-estimates", "sgd-regret", "telescoping"
    }  # fmt: skip
    assert {name for name, kind in kinds.items() if kind == Kind.MEAN} == {
        "exact-error", "hedge-regret-bandit"
    }  # fmt: skip
