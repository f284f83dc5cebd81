"""Checks of a learner for a test suite, in the habit of scikit-learn's estimator checks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest import SkipTest

from ...errors import UserError
from .. import catalog
from ..claim import is_named
from ..outcome import Certificate, Verdict
from . import run as suite
from .request import Request, jobs_for


class RefutedPromise(AssertionError):  # noqa: N818
    """A learner does not satisfy a claim that it promises.

    Attributes
    ----------
    row : the row of the refuted claim
    certificate : the violation; ``certificate.write(folder)`` saves it, and ``boundcheck replay`` plays it again if
        the learner was given as a spec or is a class of a file
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
        for a learner that cannot be played
    unittest.SkipTest
        if ``claims`` are given and none of them is about this learner; pytest then skips the test
    """
    # a spec stays one, so that a certificate says where the learner comes from
    played = learner if isinstance(learner, str) else as_learner(learner)
    request = Request(
        tuple(claims), played, graph=graph, adversary=adversary, scale=scale, rounds=rounds
    )
    shared = None
    if claims and all(isinstance(claim, _Promised) for claim in claims):
        shared = _games_of(_Asked(learner, graph, adversary, scale, seed, rounds))
    if shared is None or suite.failures_of_learner(shared):  # another claim's games may have failed
        batches: Iterable[list[suite.Row]] = suite.run(jobs_for(request), seed)
    else:
        batches = [[row for row in shared if row.claim in claims]]
    rows = []
    for found in batches:
        if failed := suite.failures_of_learner(found):
            raise UserError(failed[0].outcome.evidence)
        for row in found:
            if row.surprising:
                raise RefutedPromise(row)
        rows += found
    if claims and all(row.verdict == Verdict.NOT_APPLICABLE for row in rows):
        raise SkipTest(f"{', '.join(claims)} not applicable: {rows[0].outcome.evidence}")
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


@lru_cache(maxsize=2)
def _games_of(asked: _Asked) -> list[suite.Row]:
    """Rows of all promises of a learner; those before the first failure where it fails."""
    learner = asked.learner
    played = learner if isinstance(learner, str) else as_learner(learner)
    request = Request(
        tuple(promised_claims(learner)),
        played,
        graph=asked.graph,
        adversary=asked.adversary,
        scale=asked.scale,
        rounds=asked.rounds,
    )
    rows: list[suite.Row] = []
    for found in suite.run(jobs_for(request), asked.seed):
        rows += found
        if suite.failures_of_learner(found):
            break
    return rows


def promised_claims(learner: Any) -> list[str]:
    """Ids of the claims that a learner promises."""
    promises = getattr(as_learner(learner), "promises", ())
    return [name for name in catalog.claims() if is_named(name, promises)]


def _name_of(learner: Any) -> str:
    return str(getattr(learner, "__name__", None) or as_learner(learner).spec)


def parametrize_with_claims(learners: Sequence[Any]) -> Callable[..., Any]:
    """Give a pytest function one case for each learner and claim that it promises.

    ::

        @parametrize_with_claims([MyLearner])
        def test_promises(learner, claim):
            check_learner(learner, claims=[claim])

    The claims of a learner share the games that they look at, within a process.
    """
    import pytest

    cases = [
        pytest.param(learner, _Promised(claim), id=f"{_name_of(learner)}-{claim}")
        for learner in learners
        for claim in promised_claims(learner)
    ]
    return pytest.mark.parametrize(("learner", "claim"), cases)
