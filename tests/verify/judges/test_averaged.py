"""The e-value averaged over checkpoints, put to the test: its expectation, its definition, and its false alarms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np
import pytest
from gmpy2 import mpq
from scipy.stats import binomtest

from boundcheck.verify.judges.betting import STAKE_WEIGHTS, STAKES, log_wealths
from boundcheck.verify.judges.prefixes import Checkpoints

POINTS = ((mpq(3), mpq(1, 4)), (mpq(1), mpq(1, 2)), (mpq(2), mpq(1, 4)))
"""Nulls at three checkpoints: a high value and its chance; the low value is -1. Their means are 0, 0 and below."""
CHANCES = [chance for _, chance in POINTS]


def joint_laws() -> Iterator[list[tuple[mpq, tuple[bool, ...]]]]:
    """Chances of who is high: with the same draw, with the opposite one for the second, and independent."""
    for flipped in (False, True):
        cuts = [0, *sorted({*CHANCES, 1 - CHANCES[1]}), 1]
        yield [
            (
                b - a,
                (
                    a < CHANCES[0],
                    a >= 1 - CHANCES[1] if flipped else a < CHANCES[1],
                    a < CHANCES[2],
                ),
            )
            for a, b in pairwise(cuts)
        ]
    yield [
        (mpq(math.prod(p if h else 1 - p for p, h in zip(CHANCES, high, strict=True))), high)
        for high in product((True, False), repeat=3)
    ]


def exact_e_value(zs: list[mpq]) -> mpq:
    stakes = [mpq(stake) for stake in STAKES.tolist()]
    weights = [mpq(1, 2)] + [mpq(1, 20)] * 10
    grown = [math.prod((1 + s * z for z in zs), start=mpq(1)) for s in stakes]
    return sum((w * g for w, g in zip(weights, grown, strict=True)), mpq(0))


@pytest.mark.parametrize("law", list(joint_laws()), ids=["same", "opposite", "independent"])
def test_the_expected_e_value_is_at_most_one_in_fractions(
    law: list[tuple[mpq, tuple[bool, ...]]],
) -> None:
    """Exactly, over all outcomes of up to three runs, the second checkpoint with two envelopes; an average of the
    maxima over the runs would exceed 1."""
    shares = [mpq(1, 4), mpq(1, 4), mpq(1, 2)]
    assert sum(chance for chance, _ in law) == 1
    for runs in (1, 2, 3):
        average = maxima = mpq(0)
        for outcome in product(law, repeat=runs):
            chance = math.prod((c for c, _ in outcome), start=mpq(1))
            paths = []
            for j, (high, _) in enumerate(POINTS):
                zs = [high if who[j] else mpq(-1) for _, who in outcome]
                path = [exact_e_value(zs[: n + 1]) for n in range(runs)]
                if j == 1:  # against an envelope twice as large
                    other = [(z + 1) / 2 - 1 for z in zs]
                    path = [min(e, exact_e_value(other[: n + 1])) for n, e in enumerate(path)]
                paths.append(path)
            average += chance * sum(w * path[-1] for w, path in zip(shares, paths, strict=True))
            maxima += chance * sum(w * max(path) for w, path in zip(shares, paths, strict=True))
        assert average <= 1
        assert runs < 3 or maxima > 1


def test_the_average_is_that_of_the_definition() -> None:
    z = np.random.default_rng(3).choice([-1.0, 0.5, 2.0], size=(3, 12))
    chosen = Checkpoints((2, 5, 9), np.array([0.25, 0.25, 0.5]))
    direct = [
        math.log(
            sum(
                share * w * math.prod(1 + s * x for x in row[: n + 1])
                for share, row in zip(chosen.shares, z, strict=True)
                for w, s in zip(STAKE_WEIGHTS, STAKES, strict=True)
            )
        )
        for n in range(12)
    ]
    assert chosen.average(log_wealths(z)) == pytest.approx(direct, abs=1e-12)
    bets = chosen.found(log_wealths(z))
    assert bets.log_e_value == pytest.approx(max(direct))
    at = int(np.argmax(direct))
    assert bets.each == pytest.approx(log_wealths(z)[:, at])


@pytest.mark.parametrize("together", [True, False])
def test_false_alarms_at_equality_stay_below_the_level(together: bool) -> None:
    """20,000 nulls whose means are exactly the bounds at four checkpoints, with the same runs and with others: alarms
    not above the levels, and not absent."""
    generator, nulls, runs = np.random.default_rng(7), 20_000, 40
    chosen = Checkpoints((1, 2, 3, 4), np.array([1 / 6, 1 / 6, 1 / 6, 1 / 2]))
    jumps = np.array([9.0, 4.0, 2.0, 1.0])[
        :, None, None
    ]  # Z = jump with probability 1/(1 + jump), else -1
    peaks = []
    for _ in range(20):
        draws = generator.random((1 if together else 4, nulls // 20, runs))
        z = np.where(draws < 1 / (1 + jumps), jumps, -1.0)
        peaks += chosen.average(log_wealths(z)).max(axis=-1).tolist()
    for level in (1e-2, 1e-3):
        alarms = int((np.array(peaks) >= -math.log(level)).sum())
        assert alarms > 0
        assert binomtest(alarms, nulls, level, alternative="greater").pvalue > 1e-6
