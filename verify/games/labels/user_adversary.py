"""An adversary of the user's: a plain Python class that makes a sequence, or one that sees what was played.

An oblivious one has ``sequence(horizon, seed)``, which returns a :class:`~....adversaries.sequence.Sequence` or a pair
of features, shape (T, d), and labels, shape (T,). An adaptive one has ``next(action, seen)``, is made anew for each run
with ``horizon`` and ``seed``, and declares ``n_labels`` and ``n_features``; see ``adaptive.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ....adversaries.sequence import Sequence
from ....errors import UserError, attribute, call, require, shown


@dataclass(frozen=True, eq=False)
class UserAdversary:
    """A class with ``sequence``, made to fit.

    Parameters
    ----------
    factory : called without arguments
    spec : its name, ``path/to/file.py:Class``
    """

    factory: Any
    spec: str

    @cached_property
    def _made(self) -> Any:
        return call(self.factory, f"adversary {self.spec}", "__init__")

    def sequence(self, horizon: int, seed: int) -> Sequence:
        """Its rounds.

        Raises
        ------
        UserError
            for what are no features and labels
        """
        who = f"adversary {self.spec}"
        given = call(self._made.sequence, who, "sequence", horizon, seed)
        if not isinstance(given, Sequence):
            try:
                X, y = given
                labels = np.asarray(y)
                require(not np.ma.is_masked(y), "some labels are masked")
                n_labels = int(attribute(self._made, "n_labels", who, 0) or labels.max() + 1)
                given = Sequence.from_dense(X, labels, max(2, n_labels), self.spec)
            except UserError as error:
                raise UserError(f"{who}: {error}") from None
            except (TypeError, ValueError, OverflowError) as error:
                raise UserError(
                    f"{who} returned {shown(given)}: expected features of shape ({horizon}, d) and {horizon}"
                    f" labels ({error})."
                ) from None
        if given.horizon != horizon:
            raise UserError(f"{who} returned {given.horizon} rounds: expected {horizon}.")
        return given


@dataclass(frozen=True, eq=False)
class UserAdaptive:
    """A class with ``next``, made to fit.

    Parameters
    ----------
    factory : called with horizon and seed for each run
    spec : its name, ``path/to/file.py:Class``
    """

    factory: Any
    spec: str

    @property
    def n_labels(self) -> Any:
        """K, as the class declares it."""
        return attribute(self.factory, "n_labels", f"adversary {self.spec}")

    @property
    def n_features(self) -> Any:
        """d, as the class declares it."""
        return attribute(self.factory, "n_features", f"adversary {self.spec}")

    @property
    def feature_norm(self) -> Any:
        """The bound on the norm of its features, 1 where it declares none."""
        return attribute(self.factory, "feature_norm", f"adversary {self.spec}", 1.0)

    def begin(self, horizon: int, seed: int) -> Any:
        """The opponent of one run."""
        return self.factory(horizon, seed)


def user_adversary(made: Any, spec: str) -> UserAdversary | UserAdaptive | Any | None:
    """A class of the user's as an adversary of this game, or None if it is none."""
    if isinstance(getattr(made, "spec", None), property):  # in the library's own form
        return made() if hasattr(made, "sequence") or hasattr(made, "begin") else None
    if callable(getattr(made, "sequence", None)):
        return UserAdversary(made, spec)
    return UserAdaptive(made, spec) if callable(getattr(made, "next", None)) else None
