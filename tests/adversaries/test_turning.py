from __future__ import annotations

import numpy as np
import pytest

from boundcheck.adversaries.turning import Turning
from boundcheck.errors import UserError


@pytest.mark.parametrize(("n_labels", "norm", "horizon"), [(2, 1.0, 300), (3, 2.0**-7, 301)])
def test_the_label_is_the_class_and_then_the_next(n_labels: int, norm: float, horizon: int) -> None:
    sequence = Turning(n_labels, norm).sequence(horizon, 2)
    dense = sequence.dense()
    assert sequence.feature_norm == norm
    assert ((dense == norm).sum(axis=1) == 1).all()
    ahead = (sequence.labels - dense.argmax(axis=1)) % n_labels
    half = (horizon + 1) // 2
    assert (ahead[:half] == 0).all()
    assert (ahead[half:] == 1).all()
    assert set(sequence.labels[:half]) == set(sequence.labels[half:]) == set(range(n_labels))


def test_seeds_differ_and_bad_input_is_refused() -> None:
    assert Turning().spec == "turning:n_labels=3,norm=1.0"
    one, other = Turning().sequence(50, 0), Turning().sequence(50, 1)
    assert not np.array_equal(one.labels, other.labels)
    with pytest.raises(UserError, match=r"norm=0\.0 of turning: expected a finite number above 0"):
        Turning(3, 0.0)
    with pytest.raises(UserError, match="n_labels=1 of turning"):
        Turning(1)
