"""Streams for boosters: the edge of the shown labels is exact, and the planted stump is what it says."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from boundcheck.adversaries.oracle_labels import LAWS, OracleLabels
from boundcheck.adversaries.stump_labels import StumpLabels
from boundcheck.adversaries.turning_labels import TurningLabels
from boundcheck.errors import UserError
from boundcheck.verify import catalog
from boundcheck.verify.resolve import resolve
from boundcheck.verify.setting import Setting


@pytest.mark.parametrize("law", LAWS)
def test_shown_labels_have_the_edge_whatever_the_label(law: str) -> None:
    k, edge = 4, 0.3
    sequence = OracleLabels(k, 6, edge, law).sequence(20_000, 3)
    shown = sequence.dense().astype(int)
    assert shown.shape == (20_000, 6)
    for y in np.unique(sequence.labels):
        rows = shown[sequence.labels == y]
        for label in range(k):
            chance = (1 - edge) / k + edge * (label == y)
            hits = int((rows == label).sum())
            assert binomtest(hits, rows.size, chance).pvalue > 1e-7
    right = shown == sequence.labels[:, None]
    together = int((right[:, 0] & right[:, 1]).sum())  # independent given the label
    assert binomtest(together, len(right), ((1 - edge) / k + edge) ** 2).pvalue > 1e-7


@pytest.mark.parametrize(("law", "chances"), [
    ("uniform", (1 / 3, 1 / 3, 1 / 3)), ("skewed", (4 / 7, 2 / 7, 1 / 7)), ("constant", (1, 0, 0)),
])  # fmt: skip
def test_laws_of_the_labels(law: str, chances: tuple[float, ...]) -> None:
    labels = OracleLabels(3, 1, 0.5, law).sequence(20_000, 0).labels
    for label, chance in enumerate(chances):
        assert binomtest(int((labels == label).sum()), len(labels), chance).pvalue > 1e-7


def test_edges_of_zero_and_one() -> None:
    sure = OracleLabels(3, 2, 1.0).sequence(200, 0)
    assert (sure.dense() == sure.labels[:, None]).all()
    blind = OracleLabels(2, 1, 0.0).sequence(20_000, 0)
    hits = int((blind.dense()[:, 0] == blind.labels).sum())
    assert binomtest(hits, 20_000, 0.5).pvalue > 1e-7


@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_the_stump_labels_tells_the_label_but_for_noise(n_labels: int) -> None:
    adversary = StumpLabels(n_labels, 3, 0.25)
    sequence = adversary.sequence(20_000, 1)
    x = sequence.dense()
    assert set(np.unique(x)) == {-1, 1}
    stump = (x[:, 0] > 0).astype(int)
    wrong = int((stump != sequence.labels).sum())
    assert binomtest(wrong, 20_000, 0.25 * (1 - 1 / n_labels)).pvalue > 1e-7
    assert adversary.sequence(50, 1).digest() == sequence.prefix(50).digest()
    scores = adversary.comparator().scores(sequence)
    own = scores[np.arange(len(stump)), stump]
    scores[np.arange(len(stump)), stump] = -np.inf
    assert (own - scores.max(axis=1) == 1).all()
    squared = Fraction(1, 2) if n_labels == 2 else Fraction(2)
    assert adversary.comparator().norm == math.sqrt(squared)


def test_a_spec_names_every_parameter() -> None:
    for made in (OracleLabels(4, 3, 0.25, "skewed"), StumpLabels(4, 2, 0.5)):
        assert catalog.adversary(made.spec) == made
        a, b = made.sequence(30, 0), made.sequence(30, 0)
        assert a.digest() == b.digest() != made.sequence(30, 1).digest()


def test_a_replicate_can_have_a_sequence_of_its_own() -> None:
    case = resolve(Setting("uniform", "oracle-labels", "bandit", 40, None, 1), 5)
    digests = [case.with_fresh_sequence(r).sequence.digest() for r in (0, 1, 2)]
    assert digests[0] == case.sequence.digest()
    assert len(set(digests)) == 3
    assert digests == [case.with_fresh_sequence(r).sequence.digest() for r in (0, 1, 2)]
    other = resolve(Setting("uniform", "oracle-labels", "bandit", 40, None, 1), 6)
    assert other.with_fresh_sequence(1).sequence.digest() not in digests


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("oracle-labels:edge=1.5", "edge=1.5 of oracle-labels: expected a number in [0, 1]"),
        ("oracle-labels:learners=0", "learners=0 of oracle-labels: expected an integer of at least 1"),
        ("oracle-labels:n_labels=1", "n_labels=1 of oracle-labels: expected an integer of at least 2"),
        ("oracle-labels:law=unifrom", "unknown law of oracle-labels 'unifrom' (did you mean 'uniform'?): expected one"
         " of constant, skewed, uniform."),
        ("stump-labels:noise=-0.1", "noise=-0.1 of stump-labels: expected a number in [0, 1]"),
        ("stump-labels:features=0", "features=0 of stump-labels: expected an integer of at least 1"),
        ("stump-labels:n_labels=1", "n_labels=1 of stump-labels: expected an integer of at least 2"),
    ],
)  # fmt: skip
def test_a_bad_parameter_is_named(spec: str, sentence: str) -> None:
    with pytest.raises(UserError) as told:
        catalog.adversary(spec)
    assert str(told.value).rstrip(".") == sentence.rstrip(".")


def test_too_few_columns_are_named() -> None:
    setting = Setting(
        "bandit-bbm:weak=oracle-noise,learners=5", "oracle-labels:learners=4", "bandit", 10
    )
    with pytest.raises(UserError, match="4 features: oracle-noise expects its 5 labels"):
        resolve(setting, 0).player  # noqa: B018


@pytest.mark.parametrize(("learners", "majority", "errs"), [(42, 3, 22), (6, 5, 5), (7, 1, 4)])
def test_learners_turn_by_a_majority_and_the_last_one_always(
    learners: int, majority: int, errs: int
) -> None:
    sequence = TurningLabels(3, learners, majority, 40).sequence(100, 5)
    right = sequence.dense() == sequence.labels[:, None]
    assert right[:60].all()
    assert not right[60:, -1].any()
    assert ((~right[60:, :-1]).sum(axis=1) == errs).all()
    wrong = sequence.dense()[60:][~right[60:]]
    assert np.isin(wrong, range(3)).all()
    if errs < learners - 1:
        assert len(np.unique(right[60:, :-1], axis=0)) > 10, "drawn anew in each round"
    short = TurningLabels(3, learners, majority, 40).sequence(9, 0)
    assert (short.dense()[:, -1] != short.labels).all()
