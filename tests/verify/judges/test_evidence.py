"""The judges of sampled claims, put to the test themselves."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from boundcheck.verify.judges.betting import (
    MOST_RUNS,
    SLACK,
    STAKE_WEIGHTS,
    STAKES,
    binomial_lower_limit,
    binomial_upper_limit,
    headroom_of,
    log_wealths,
    log_wealths_of_violations,
    refutes,
    refuting,
    runs_to_hold,
    runs_to_refute,
)
from boundcheck.verify.judges.decide import decide, exceeds_level
from boundcheck.verify.judges.prefixes import Checkpoints
from boundcheck.verify.judges.tail import count_violations, log_e_values
from boundcheck.verify.outcome import Evidence, Outcome, Verdict


def exact_wealth(stake: Fraction, low: Fraction, high: Fraction, highs: int, runs: int) -> Fraction:
    return (1 + stake * high) ** highs * (1 + stake * low) ** (runs - highs)


@pytest.mark.parametrize("low", [Fraction(-1), Fraction(-1, 2), Fraction(-1, 7)])
@pytest.mark.parametrize("high", [Fraction(1, 3), Fraction(2), Fraction(50)])
def test_expected_wealth_is_at_most_one_on_all_two_point_nulls(
    low: Fraction, high: Fraction
) -> None:
    """E[e_n] <= 1 exactly, in fractions, for n up to 20: the null's mean is at most 0."""
    stakes = [Fraction(stake) for stake in STAKES]
    weights = [Fraction(1, 2)] + [Fraction(1, 20)] * 10
    assert [float(weight) for weight in weights] == STAKE_WEIGHTS.tolist()
    for slack in (Fraction(1), Fraction(3, 4)):
        p = slack * -low / (high - low)  # mean p high + (1 - p) low = (slack - 1) |low| <= 0
        for n in range(1, 21):
            expected = sum(
                math.comb(n, k)
                * p**k
                * (1 - p) ** (n - k)
                * sum(
                    w * exact_wealth(s, low, high, k, n)
                    for w, s in zip(weights, stakes, strict=True)
                )
                for k in range(n + 1)
            )
            assert expected <= 1
            if slack == 1:
                assert expected == 1


def test_wealths_are_those_of_the_definition() -> None:
    z = np.array([0.5, -1.0, 0.25])
    direct = [
        math.log(
            sum(
                w * math.prod(1 + s * x for x in z[: n + 1])
                for w, s in zip(STAKE_WEIGHTS, STAKES, strict=True)
            )
        )
        for n in range(3)
    ]
    assert log_wealths(z) == pytest.approx(direct, abs=1e-12)


@pytest.mark.parametrize("level", [1e-2, 1e-3])
def test_false_alarms_at_equality_stay_below_the_level(level: float) -> None:
    """20,000 nulls whose mean is exactly the bound: alarms not above the level, and not absent."""
    generator, nulls, runs = np.random.default_rng(5), 20_000, 100
    jump = 4.0  # Z = jump with probability 1/(1 + jump), else -1
    z = np.where(generator.random((nulls, runs)) < 1 / (1 + jump), jump, -1.0)
    paths = sum(
        w * np.cumprod(1 + s * z, axis=1) for w, s in zip(STAKE_WEIGHTS, STAKES, strict=True)
    )
    alarms = int((paths.max(axis=1) >= 1 / level).sum())
    assert alarms > 0
    assert binomtest(alarms, nulls, level, alternative="greater").pvalue > 1e-6


@pytest.mark.parametrize(("ratio", "typical", "late"), [(1.3, 99, 127), (2.0, 34, 38)])
def test_power_is_that_of_the_table(ratio: float, typical: int, late: int) -> None:
    """Runs to refute at 1e-9 for a coefficient of variation of 30 %, median and 95 %."""
    generator, needed = np.random.default_rng(6), []
    for _ in range(300):
        observed = ratio * np.maximum(0, 1 + 0.3 * generator.normal(size=300))
        wealths = log_wealths(observed - 1)
        needed.append(int(np.argmax(wealths >= math.log(1e9))) + 1)
        assert wealths.max() >= math.log(1e9)
    assert np.median(needed) == pytest.approx(typical, rel=0.1)
    assert np.quantile(needed, 0.95) == pytest.approx(late, rel=0.15)


def test_wealths_of_violations_are_those_of_their_two_values() -> None:
    violated = np.random.default_rng(4).random((3, 2, 40)) < 0.3
    deltas = np.array([[0.5, 0.05], [0.2, 0.01], [0.5, 0.3]])
    direct = log_wealths((violated - deltas[..., None]) / deltas[..., None])
    assert log_wealths_of_violations(violated, deltas) == pytest.approx(direct, abs=1e-12)


def test_nothing_is_refuted_by_runs_below_the_bound() -> None:
    assert not refutes(np.full(10_000, -0.01))
    assert runs_to_refute(np.full(10, -0.01)) is None


def test_runs_to_refute_are_those_after_which_runs_like_these_do() -> None:
    """Exactly for equal runs, and by the median over sequences of coins."""
    needed = runs_to_refute(np.full(10, 0.3))
    assert needed is not None
    assert refutes(np.full(needed, 0.3))
    assert not refutes(np.full(needed - 1, 0.3))
    seen = np.repeat([1.0, 0.0], [19, 45])
    coins = np.random.default_rng(9).random((400, 400)) < 19 / 64
    runs = [int(np.argmax(log_wealths((c - 0.05) / 0.05) >= math.log(1e9))) + 1 for c in coins]
    assert runs_to_refute((seen - 0.05) / 0.05) == pytest.approx(np.median(runs), rel=0.1)


def test_more_than_a_million_runs_are_not_counted() -> None:
    assert refuting(MOST_RUNS) == "1000000 runs like these would refute"
    assert refuting(MOST_RUNS + 1) == "it would take more than a million runs like these to refute"
    assert refuting(None) == "no number of runs suggests itself"


def outcome_of(violated: dict[float, np.ndarray]) -> Outcome:
    """What the violations of a tail, for each delta one entry a run, come to."""
    bets = Checkpoints((1,), np.ones(1)).found(log_e_values([violated]))
    found = Evidence(refutes=exceeds_level(bets.log_e_value))
    count_violations(found, [violated], bets)
    return decide(found)


@pytest.mark.parametrize(
    ("violations", "runs", "words"),
    [
        (0, 64, "0 of 64 violate, P <= 0.0457 (95 %)"),
        (3, 60, "3 of 60 violate, P <= 0.124 (95 %); 153 runs would settle it"),
        (19, 64, "19 of 64 violate, P <= 0.405 (95 %); 75 runs like these would refute"),
        (
            52,
            1000,
            "52 of 1000 violate, P <= 0.0651 (95 %); within the noise of the envelope, so that no number of runs"
            " suggests itself",
        ),
        (66, 1000, "66 of 1000 violate, P <= 0.0804 (95 %); 9689 runs like these would refute"),
        (8, 8, "8 of 8 violate, P >= 0.688 (95 %)"),
    ],
)
def test_the_evidence_of_a_tail_says_what_is_near(violations: int, runs: int, words: str) -> None:
    """The upper limit and the runs to hold, the runs to refute, or the lower limit of a refuted row."""
    violated = np.random.default_rng(0).permutation(np.arange(runs) < violations)
    assert outcome_of({0.05: violated}).evidence == f"delta 0.05: {words}"
    outcome = outcome_of({0.05: violated, 0.01: violated})
    assert outcome.evidence.count("; delta 0.01: ") == 1
    assert ("P >= " in outcome.evidence) == (outcome.verdict == Verdict.REFUTED)
    assert ("P <= " in outcome.evidence) == (outcome.verdict != Verdict.REFUTED)


def test_a_run_below_its_floor_is_an_error_of_the_harness() -> None:
    with pytest.raises(ValueError, match=r"a run lies below its sure floor: -1\.5 < -1"):
        log_wealths(np.array([0.1, -1.5]))
    with pytest.raises(ValueError, match=r"a run lies below its sure floor: nan < -1"):
        log_wealths(np.array([0.1, np.nan]))


def test_a_run_at_its_floor_may_lie_below_it_by_rounding() -> None:
    sums = 0.1 + 0.1 + 0.1
    assert (0 - sums) / 0.3 < -1
    assert log_wealths(np.array([(0 - sums) / 0.3])) == log_wealths(np.array([-1.0]))
    assert np.isfinite(log_wealths(np.array([-1.0 - SLACK]))).all()
    for below in (2 * SLACK, 1e-12, 1e-6):
        with pytest.raises(ValueError, match="below its sure floor"):
            log_wealths(np.array([-1.0 - below]))


@pytest.mark.parametrize("mean", [0.2, 0.31, 0.8])
def test_headroom_agrees_with_where_refutation_starts(mean: float) -> None:
    generator = np.random.default_rng(8)
    observed = mean * (1 + 0.02 * generator.normal(size=128))
    envelope = np.ones(128)
    headroom = headroom_of(lambda s: float(log_wealths((observed - s * envelope) / s).max()))
    assert headroom is not None
    grid = np.geomspace(0.5, 1.5, 60) / headroom
    refuted = [refutes((observed - s * envelope) / s) for s in grid]
    start = grid[int(np.argmin(refuted))]
    assert refuted[0]
    assert not refuted[-1]
    step = grid[1] / grid[0]
    assert 1 / step <= start * headroom <= step


def test_binomial_limits_against_the_binomial_distribution() -> None:
    assert binomial_upper_limit(0, 128) == pytest.approx(1 - 0.05 ** (1 / 128))
    assert binomial_upper_limit(3, 3) == 1
    assert binomial_lower_limit(0, 9) == 0
    for violations, runs in ((1, 20), (7, 60)):
        upper = binomial_upper_limit(violations, runs)
        assert binomtest(violations, runs, upper, alternative="less").pvalue == pytest.approx(0.05)
        lower = binomial_lower_limit(violations, runs)
        assert binomtest(violations, runs, lower, alternative="greater").pvalue == pytest.approx(
            0.05
        )


def test_runs_to_hold() -> None:
    assert [runs_to_hold(0.05, v) for v in (0, 1, 2)] == [59, 93, 124]
    assert [runs_to_hold(0.01, v) for v in (0, 1, 2)] == [299, 473, 628]
    assert [runs_to_hold(0.5, v) for v in (0, 1, 2)] == [5, 8, 11]
