"""Random labels: a seed gives the labels it always gave, whatever the parameters are called."""

from __future__ import annotations

import pytest

from boundcheck.adversaries.random_labels import RandomLabels
from boundcheck.errors import UserError
from boundcheck.verify import catalog

LABELS = [1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1]
"""Drawn when the norm was called radius."""


@pytest.mark.parametrize("spec", ["random-labels", "random-labels:radius=2"])
def test_a_seed_gives_the_labels_it_always_gave(spec: str) -> None:
    sequence = catalog.adversary(spec).sequence()
    assert sequence.labels.tolist() == LABELS
    assert sequence.name == "random-labels:n_labels=2,comparator_norm=2"
    assert sequence.comparator.norm == 2.0


@pytest.mark.parametrize("given", [{"n_labels": 1}, {"comparator_norm": 1}])
def test_parameters_out_of_range(given: dict[str, int]) -> None:
    (name,) = given
    with pytest.raises(UserError, match=f"{name}=1.*at least 2"):
        RandomLabels(**given)
