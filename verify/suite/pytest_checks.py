"""Checks of a learner for a test suite, in the habit of scikit-learn's estimator checks."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import SkipTest

from ...errors import UserError
from .. import catalog
from ..claim import OTHER_LEARNERS, is_named
from ..outcome import Certificate
from . import run as suite
from .apart import apart, is_users, name_of
from .request import Request, check_promises, jobs_for

Found = Generator[Any, None, None]
"""What is found, as it is found."""


class RefutedPromise(AssertionError):  # noqa: N818
    """A learner does not satisfy a claim that it promises.

    Attributes
    ----------
    row : the row of the refuted claim
    certificate : the violation; ``certificate.write(folder)`` saves it, and ``boundcheck replay`` plays it again if
        the learner was given as a spec, and with ``--trust`` if it is a class of a file
    """

    def __init__(self, row: suite.Row) -> None:
        self.row = row
        self.certificate: Certificate | None = row.outcome.certificate
        claim = catalog.claims()[row.claim]
        o = row.outcome
        sides = (
            "" if o.observed is None else f"; observed {o.observed:.6g}, envelope {o.envelope:.6g}"
        )
        super().__init__(
            f"{row.claim} ({row.form}: {claim.title}) is {row.verdict.value} for {row.learner}:"
            f" {o.evidence}{sides}; case {row.case}; error.certificate.write(folder) saves the certificate"
        )


def as_learner(learner: Any) -> Any:
    """A learner or weak learner from a spec, a plain Python class, or one of the library's own form.

    Raises
    ------
    UserError
        for anything else
    """
    if isinstance(learner, str):
        return catalog.learner(learner)
    games = catalog.games().values()
    if any(game.plays(learner) for game in games):
        return learner() if inspect.isclass(learner) else learner
    if callable(learner):
        return catalog.user_learner(learner, _spec_of(learner))
    raise UserError(
        f"learner {learner!r}: expected a spec, a class with predict and update, or a learner of the"
        " library."
    )


def _spec_of(factory: Callable[..., Any]) -> str:
    """``FILE.py:Class`` for a class at the top of a file, so that a certificate finds it; else its name."""
    name = getattr(factory, "__name__", type(factory).__name__)
    if not inspect.isclass(factory) or factory.__qualname__ != name:
        return name
    try:
        file = Path(inspect.getfile(factory)).resolve()
    except (OSError, TypeError):
        return name
    if file.suffix != ".py" or not file.is_file():
        return name
    here = Path.cwd()
    return f"{file.relative_to(here) if file.is_relative_to(here) else file}:{name}"


def check_learner(
    learner: Any,
    *,
    claims: Sequence[str] = (),
    graph: str | None = None,
    adversary: str | None = None,
    scale: str = "quick",
    seed: int = 0,
    rounds: int | None = None,
) -> list[suite.Row]:
    """Put the promises of a learner to the test.

    Parameters
    ----------
    learner : a spec such as ``"gappletron:gamma=ones"``, a plain Python class (see ``docs/learners.md``), or a
        learner of the library's own form
    claims : globs of claim ids; all claims by default
    graph, adversary : what to play; a few of each by default
    scale : "quick", "default" or "full"
    seed : root of all randomness
    rounds : the horizon of the games; that of the scale by default

    Returns
    -------
    all rows, those of claims that are not promised too

    Raises
    ------
    RefutedPromise
        for the first promise that is not kept
    UserError
        for a learner that cannot be played, or that ends the process in which it is
    unittest.SkipTest
        if nothing was tested, with the reason; pytest then skips the test

    Warns
    -----
    UserWarning
        of promises that are all about other learners
    """
    asked = _Asked(learner, graph, adversary, scale, seed, rounds)
    shared = None
    if claims and all(isinstance(claim, _Promised) for claim in claims):
        shared = _games_of(asked)
    if shared is None or suite.failures_of_learner(shared.rows):  # another claim's may have failed
        promises, batches = asked.played(claims)
    else:
        promises = shared.promises
        batches = (each for each in [[row for row in shared.rows if row.claim in claims]])
    rows: list[suite.Row] = []
    with closing(batches):  # at once, and not when an exception is forgotten
        for found in batches:
            if failed := suite.failures_of_learner(found):
                raise UserError(failed[0].outcome.evidence)
            for row in found:
                if row.surprising:
                    raise RefutedPromise(row)
            rows += found
    idle = {
        claim: reason if is_named(claim, promises) or claim in promises else "it is not promised"
        for claim, reason in suite.untested(rows, claims or promises).items()
    }
    reasons = "; ".join(f"{claim} ({reason})" for claim, reason in idle.items())
    if not any(suite.nearness(row) == suite.TESTED for row in rows):
        raise SkipTest(
            f"nothing was tested: {reasons or f'{name_of(asked.made)} promises nothing'}"
        )
    for claim, reason in idle.items():
        if reason.startswith(OTHER_LEARNERS):
            warnings.warn(f"promised, but never tested: {claim} ({reason})", stacklevel=2)
    return rows


class _Promised(str):
    """A claim's id from :func:`parametrize_with_claims`: its learner's other promises are to be checked too, so
    that they share their games."""


@dataclass(frozen=True)
class _Asked:
    """The games on which the promises of one learner are checked. The learner is the same object, with the attributes
    that it has now."""

    learner: Any = field(compare=False)
    graph: str | None
    adversary: str | None
    scale: str
    seed: int
    rounds: int | None
    state: tuple[object, ...] = field(init=False)
    kept: tuple[object, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        learner = self.learner
        made = learner if inspect.isclass(learner) else type(learner)
        spaces = [getattr(learner, "__dict__", {}), *(vars(each) for each in made.__mro__)]
        values = [(name, value) for space in spaces for name, value in space.items()]
        own = learner if isinstance(learner, str) else id(learner)
        object.__setattr__(self, "state", (own, *((name, id(value)) for name, value in values)))
        # alive, so that no other object gets one of these ids
        object.__setattr__(self, "kept", tuple(values))

    @property
    def made(self) -> Any:
        """The learner to be played; a spec stays one, so that a certificate says where the learner comes from."""
        return self.learner if isinstance(self.learner, str) else as_learner(self.learner)

    def played(
        self, claims: Sequence[str] | None
    ) -> tuple[tuple[str, ...], Generator[list[suite.Row], None, None]]:
        """Its promises, and the rows of each game of some claims, all of them where empty, or where None of those that
        it promises."""
        made = self.made

        def work() -> Found:
            chosen = self._promised() if claims is None else claims
            request = Request(
                tuple(chosen),
                made,
                graph=self.graph,
                adversary=self.adversary,
                scale=self.scale,
                rounds=self.rounds,
            )
            jobs = jobs_for(request)
            yield request.promises
            yield from suite.run(jobs, self.seed)

        found = _perhaps_apart(work, self.learner, name_of(made))
        return next(found), found

    def _promised(self) -> list[str]:
        promises = _promises_of(self.learner)
        return [name for name in catalog.claims() if is_named(name, promises)]


class _Shared(NamedTuple):
    """The games of all promises of a learner, which their tests share.

    Attributes
    ----------
    promises : globs of the claims that it promises
    rows : rows of all promises; those before the first failure where the learner fails
    """

    promises: tuple[str, ...]
    rows: list[suite.Row]


@lru_cache(maxsize=2)
def _games_of(asked: _Asked) -> _Shared:
    promises, batches = asked.played(None)
    rows: list[suite.Row] = []
    for found in batches:
        rows += found
        if suite.failures_of_learner(found):
            break
    return _Shared(promises, rows)


def promised_claims(learner: Any) -> list[str]:
    """Ids of the claims that a learner promises.

    Raises
    ------
    UserError
        for a promise that names no claim, or if there is none
    """
    who = name_of(learner if isinstance(learner, str) else as_learner(learner))
    (promises,) = _perhaps_apart(
        lambda: (tuple(_promises_of(each)) for each in [learner]), learner, who
    )
    check_promises(promises, who)
    if not promises:
        hidden = (
            ""
            if isinstance(learner, str) or inspect.isclass(learner)
            else " of a class, not of a function,"
        )
        raise UserError(
            f"learner {who} promises nothing, so that no test would be made of it: expected promises{hidden} such as"
            " ('game/*',)."
        )
    return [name for name in catalog.claims() if is_named(name, promises)]


def _promises_of(learner: Any) -> Sequence[str]:
    return getattr(as_learner(learner), "promises", ())


def _perhaps_apart(work: Callable[[], Found], learner: Any, who: str) -> Found:
    """What is done with a learner, in a process of its own if it is the user's."""
    return apart(work, f"learner {who}") if is_users(learner) else work()


def _name_of(learner: Any) -> str:
    return str(getattr(learner, "__name__", None) or as_learner(learner).spec)


def parametrize_with_claims(learners: Sequence[Any]) -> Callable[..., Any]:
    """Give a pytest function one case for each learner and claim that it promises.

    ::

        @parametrize_with_claims([MyLearner])
        def test_promises(learner, claim):
            check_learner(learner, claims=[claim])

    The claims of a learner share the games that they look at, within a process.

    Raises
    ------
    UserError
        when tests are collected, for a learner without promises, or with one that names no claim: there would be no
        test of it
    """
    import pytest

    cases = [
        pytest.param(learner, _Promised(claim), id=f"{_name_of(learner)}-{claim}")
        for learner in learners
        for claim in promised_claims(learner)
    ]
    return pytest.mark.parametrize(("learner", "claim"), cases)
