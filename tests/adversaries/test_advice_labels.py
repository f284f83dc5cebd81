"""Advice is rich for every weighting: counted round by round, and by the exact cost of the best adviser."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from boundcheck.adversaries.advice_labels import AdviceLabels
from boundcheck.errors import UserError

KINDS = (
    AdviceLabels(),
    AdviceLabels(2, 5, 1, 2, 0.15),
    AdviceLabels(3, 12, 2, 0, 0.3),
    AdviceLabels(4, 20, 1, 7, 0.0),
)


@pytest.mark.parametrize("made", KINDS, ids=str)
def test_each_wrong_label_is_named_by_the_same_share_of_the_panel(made: AdviceLabels) -> None:
    sequence = made.sequence(400, 1)
    shown = sequence.dense().astype(int)
    assert shown.shape == (400, made.advisers)
    share = (1 - Fraction(made.edge).limit_denominator(1000)) / made.n_labels
    for t, label in enumerate(sequence.labels.tolist()):
        panel, false = shown[t, : made.panel], shown[t, made.panel :]
        counts = np.bincount(panel, minlength=made.n_labels).tolist()
        wrong = counts[:label] + counts[label + 1 :]
        assert wrong == [made.each] * (made.n_labels - 1)
        assert Fraction(made.each, made.panel) == share
        assert label not in false
    assert len(set(sequence.labels.tolist())) == made.n_labels


@pytest.mark.parametrize("made", KINDS, ids=str)
def test_some_adviser_is_good_enough_for_any_weights_and_costs(made: AdviceLabels) -> None:
    """In fractions: weights and costs that blame each adviser in turn, and random ones."""
    rounds, k = 60, made.n_labels
    sequence = made.sequence(rounds, 2)
    shown, generator = sequence.dense().astype(int), np.random.default_rng(3)
    share = Fraction(made.each, made.panel)
    for blamed in range(made.advisers + 10):
        paid = np.full(made.advisers, Fraction(0), dtype=object)
        total = Fraction(0)
        for t, label in enumerate(sequence.labels.tolist()):
            costs = [Fraction(0)] * k
            if blamed < made.advisers:
                weight = Fraction(int(shown[t, blamed] != label))
                costs[shown[t, blamed]] = weight
            else:
                weight = Fraction(int(generator.integers(10)), 9)
                parts = [int(n) for n in generator.integers(8, size=k)]
                parts[label] = 0
                parts[(label + 1) % k] += 1
                costs = [weight * Fraction(part, sum(parts)) for part in parts]
            paid += np.array([costs[said] for said in shown[t]], dtype=object)
            total += weight
        assert paid[: made.panel].sum() == made.panel * share * total
        assert paid.min() <= share * total


def test_the_leaders_err_together_in_the_hard_rounds_and_nowhere_else() -> None:
    made = AdviceLabels(3, 8, 1, 1, 0.2)
    sequence = made.sequence(20_000, 4)
    wrong = sequence.dense() != sequence.labels[:, None]
    assert (wrong[:, 0] == wrong[:, 1]).all()
    assert binomtest(int(wrong[:, 0].sum()), 20_000, 0.2).pvalue > 1e-7
    for other in range(2, 8):
        assert binomtest(int(wrong[:, other].sum()), 20_000, 0.8 * 2 / 6).pvalue > 1e-7


def test_the_panel_must_be_large_enough() -> None:
    for given, least in (((2, 2), 3), ((3, 3), 4), ((3, 7, 2), 8)):
        with pytest.raises(UserError, match=f"expected at least {least} for"):
            AdviceLabels(*given)
    with pytest.raises(UserError, match="hard"):
        AdviceLabels(hard=1.5)
