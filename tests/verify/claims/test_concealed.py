"""Theorem 4, second part, as printed: the game that refutes it is the one that the certificate speaks of."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.certificates.make import exact_certificate
from boundcheck.verify.claims.gappletron.concealment.chain import chain_of, instance_of
from boundcheck.verify.claims.gappletron.concealment.instance import LONGEST, ConcealedInstance
from boundcheck.verify.claims.gappletron.settings import RULES, concealed_settings
from boundcheck.verify.claims.gappletron.theorem_4 import _sides_b
from boundcheck.verify.games.labels.case import Case
from boundcheck.verify.games.labels.record import BEST, ERROR, LOSS, OBSERVATION, OBSERVED
from boundcheck.verify.outcome import Verdict
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

CLAIM = catalog.claims()["gappletron/theorem-4b"]
T = 60


def small(rule: str, horizon: int = T) -> Case:
    """The same game with so few labels and rounds that it can be played in plain Python."""
    learner = f"leaping:rule={rule},factor=1.1194"
    setting = Setting(learner, "concealed:n_labels=5,rate=2.2388", "filtering", horizon)
    return resolve(setting, 0)


def columns(case: Case, replicate: int) -> np.ndarray:
    return np.concatenate([block.columns for block in case.game.play(replicate)])


@pytest.mark.parametrize("rule", RULES)
def test_the_game_has_the_probabilities_of_the_chain(rule: str) -> None:
    case = small(rule)
    chain = chain_of(case)
    assert chain is not None
    first_reveals = set()
    for replicate in range(12):
        played = columns(case, replicate)
        reveals = np.flatnonzero(played[:, OBSERVED])
        first = int(reveals[0]) if reveals.size else T - 1
        first_reveals.add(first)
        before, after = slice(0, first + 1), slice(first + 1, T)
        assert (played[before, BEST] == 1).all()
        assert (played[after, BEST] == 2).all()
        near = {"rtol": 1e-9, "atol": 1e-12}
        np.testing.assert_allclose(played[before, OBSERVATION], chain.reveals[before], **near)
        np.testing.assert_allclose(played[before, ERROR], chain.errs[before], **near)
        np.testing.assert_allclose(played[before, LOSS], chain.losses[before], **near)
        np.testing.assert_allclose(played[after, ERROR], chain.rates[after], **near)
        assert (played[after, LOSS] == 0).all()
    assert len(first_reveals) > 3


def test_the_plain_loop_leaps_bit_for_bit_alike() -> None:
    case = small("printed")
    for replicate in (0, 3):
        blocks = case.game.play(replicate, interpreted=True)
        plain = np.concatenate([block.columns for block in blocks])
        assert plain.tobytes() == columns(case, replicate).tobytes()


def test_the_refuted_game_itself_follows_the_chain() -> None:
    case = resolve(concealed_settings()[0], 0)
    chain = chain_of(case)
    assert chain is not None
    played = columns(case, 0)
    first = int(np.argmax(played[:, OBSERVED]))
    assert 1000 < first < 100_000
    path = chain.errs[: first + 1].sum() + chain.rates[first + 1 :].sum()
    assert played[:, ERROR].sum() == pytest.approx(path, rel=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_the_expectation_is_that_of_all_paths(rule: str) -> None:
    """A path is decided by its first reveal: T + 1 of them, each with its own sum."""
    chain = chain_of(small(rule))
    assert chain is not None
    before = chain.errs + chain.losses / 5
    total, unseen = 0.0, 1.0
    for first in range(T):
        path = before[: first + 1].sum() + chain.rates[first + 1 :].sum()
        total += unseen * chain.reveals[first] * path
        unseen *= 1 - chain.reveals[first]
    assert chain.observed == pytest.approx(total + unseen * before.sum(), rel=1e-12)


def test_runs_have_the_mean_of_the_chain() -> None:
    """Hoeffding at a false-alarm rate below 1e-9 for each of two sides; the seed is fixed anyway."""
    case, runs = small("printed"), 400
    chain = chain_of(case)
    assert chain is not None
    (totals,) = case.totals_at([T], range(runs))
    mean = float((totals.errors + totals.learner_loss / 5).mean())
    assert abs(mean - chain.observed) < chain.largest * math.sqrt(math.log(2e9) / (2 * runs))
    assert (totals.explored == T).all()
    bound = _sides_b(case, CLAIM.form("printed"), totals).bounds[0].values
    assert bound == pytest.approx(float(instance_of(chain).envelope), rel=1e-6)


def test_survival_is_a_sharp_lower_bound() -> None:
    factor, comparator = Fraction("1.1194"), (Fraction("0.77377"), Fraction("0.80885"))
    for n_labels, horizon in ((3, 1), (5, 7), (20, 3000), (300, 20_000)):
        instance = ConcealedInstance(n_labels, horizon, factor, comparator)
        rates = np.minimum(0.5, 2.2388 / np.sqrt(np.arange(1, horizon + 1)))
        total = np.cumprod(1 - rates / n_labels).sum()
        assert total - 0.01 - 1e-6 < float(instance.mistakes) < total + 1e-9
    exactly = ConcealedInstance(4, 3, factor, comparator)  # gamma_t = 1/2 in all three rounds
    true = sum(Fraction(7, 8) ** t for t in (1, 2, 3))
    assert 0 <= true - Fraction(exactly._sums[0], 2**80) < Fraction(1, 2**70)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_labels": 2}, "at least 3"),
        ({"horizon": 0}, "expected one of 1 to"),
        ({"horizon": LONGEST + 1}, "expected one of 1 to"),
        ({"regret_factor": Fraction("1.1193")}, "at least the norm of U"),
        ({"comparator": (Fraction("0.77377"), Fraction("0.8088"))}, "round 1 is not at least 1"),
        ({"horizon": 10**6}, "round 1000000 is not at least 1"),
        ({"comparator": (Fraction(1), Fraction(0)), "regret_factor": Fraction(1)}, r"\(4\)"),
    ],
)
def test_an_instance_meets_every_hypothesis(change: dict, words: str) -> None:
    good = ConcealedInstance(
        300, 450_000, Fraction("1.1194"), (Fraction("0.77377"), Fraction("0.80885"))
    )
    assert not good.holds_for_every_sequence
    assert replace(good, regret_factor=Fraction("1.501")).holds_for_every_sequence
    with pytest.raises(UserError, match=words):
        replace(good, **change)


def test_the_printed_form_is_refuted_and_the_repairs_hold() -> None:
    seen = set()
    for setting in concealed_settings():
        (row,) = suite.judge_job(suite.Job(setting, (CLAIM.id,)), 0)
        rule = setting.learner.partition("rule=")[2].partition(",")[0]
        seen.add(rule)
        assert not row.surprising
        assert not row.outcome.sampled
        if rule == "printed":
            assert (row.form, row.verdict) == ("printed", Verdict.REFUTED)
            assert row.expected == Verdict.REFUTED
            least, envelope = row.outcome.certificate.values
            assert least > 1.4 * envelope
            assert row.outcome.ratio > least / envelope
        else:
            assert (row.form, row.verdict) == ("repaired", Verdict.HOLDS)
            assert row.outcome.ratio < 0.5
    assert seen == set(RULES)


def test_few_labels_refute_nothing() -> None:
    chain = chain_of(small("printed", 3000))
    assert chain is not None
    assert exact_certificate(CLAIM, CLAIM.form("printed"), instance_of(chain)) is None
    (row,) = suite.judge_job(suite.Job(chain.case.setting, (CLAIM.id,)), 0)
    assert row.verdict == Verdict.HOLDS
    assert row.surprising, "the suite expects a refutation there"
    (short,) = suite.judge_job(suite.Job(small("printed").setting, (CLAIM.id,)), 0)
    assert short.verdict == Verdict.VACUOUS
    assert "is non-vacuous from T = 101" in short.outcome.evidence


@pytest.mark.parametrize(
    "change",
    [
        {"graph": "filtering:revealing=1"},
        {"graph": "bandit"},
        {"adversary": "concealed:n_labels=5,rate=2.5"},
        {"adversary": "concealed:n_labels=5,rate=2.2388,along=0.8"},
        {"learner": "gappletron:rule=printed,gamma=2.2388"},
    ],
)
def test_another_game_is_not_taken_for_this_one(change: dict) -> None:
    setting = replace(small("printed").setting, **change)
    assert chain_of(resolve(setting, 0)) is None


def test_the_learner_knows_what_it_can_play() -> None:
    with pytest.raises(UserError, match="expected the adversary concealed"):
        resolve(Setting("leaping", "one-hot", "filtering", 10), 0).game.player()
    for spec, words in (("leaping:factor=0", "factor=0.0"), ("leaping:rule=prited", "'printed'")):
        with pytest.raises(UserError, match=words):
            catalog.learner(spec)
    with pytest.raises(UserError, match=r"rate=-1\.0"):
        catalog.adversary("concealed:rate=-1")
