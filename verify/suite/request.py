"""From a request, as the command line makes it, to the jobs of a run.

Without a replaced axis the built-in suite is played: the settings that the claims name themselves. A
learner, data, a graph or an adversary of the user's replaces that axis of a small product, and all claims
look at all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ...errors import UserError, require, suggest
from .. import catalog
from ..claim import Claim, is_named
from ..games.game import Game
from ..setting import SCALES, Setting
from .judging import trouble_in
from .run import Job

SAMPLED_RUNS = {"quick": 64, "default": 128, "full": 512}
"""Runs of claims that are judged by sampling, where an axis is replaced."""


@dataclass(frozen=True)
class Request:
    """A request for verdicts, as the command line or a function call makes it.

    Attributes
    ----------
    claims : globs of claim ids; all claims when empty
    learner : spec of a learner, ``FILE.py:Class``, or a learner
    adversary : spec of an adversary, or ``FILE.py:Class``
    graph : spec of a feedback graph
    data : file with recorded data
    label : name or position of its label column
    comparator_norm : bound B on the comparator's norm
    scale : "quick", "default" or "full"
    claims_file : Python file with claims of the user's
    runs : runs of claims that are judged by sampling; those of the scale when None
    rounds : the horizon of what is played; that of the scale when None, in the built-in suite that of each setting
    header : whether the data begin with names of columns; found out when None
    exact_labels : whether labels of the data are classes as they are written, however alike
    rows : the most rows of the data that are read; all when None
    """

    claims: tuple[str, ...] = ()
    learner: Any = None
    adversary: str | None = None
    graph: str | None = None
    data: Path | None = None
    label: str | None = None
    comparator_norm: float | None = None
    scale: str = "default"
    claims_file: Path | None = None
    runs: int | None = None
    rounds: int | None = None
    header: bool | None = None
    exact_labels: bool = False
    rows: int | None = None

    @property
    def replaces_an_axis(self) -> bool:
        """True if an axis of the built-in suite is replaced."""
        axes = (self.learner, self.adversary, self.graph, self.data, self.comparator_norm)
        return any(axis is not None for axis in axes)

    @cached_property
    def made_learner(self) -> Any:
        """The learner; None where none is given."""
        return catalog.learner(self.learner) if isinstance(self.learner, str) else self.learner

    @cached_property
    def made_adversary(self) -> Any:
        """The adversary; None where none is given."""
        return None if self.adversary is None else catalog.adversary(self.adversary)

    @property
    def game(self) -> Game:
        """The game that is played: the learner's, the adversary's, or that of classes which no game recognises."""
        if self.learner is not None:
            return catalog.game_of(self.made_learner)
        games = catalog.games().values()
        if self.adversary is not None:
            return next(game for game in games if game.opposes(self.made_adversary))
        return next(game for game in games if game.plays_the_rest)

    @property
    def promises(self) -> tuple[str, ...]:
        """Globs of the claims that the user's learner promises; none without such a learner."""
        return tuple(getattr(self.made_learner, "promises", ()))


def jobs_for(request: Request) -> list[Job]:
    """The jobs of a request, those of the built-in suite or a product of the user's axes.

    Raises
    ------
    UserError
        for anything unknown or that does not fit together
    """
    _check(request)
    chosen = claims_of(request)
    _check_promises(request)
    if not request.replaces_an_axis:
        jobs = built_in_jobs(chosen, request.scale, request.claims_file, request.rounds)
        require(
            bool(jobs),
            f"{', '.join(claim.id for claim in chosen)}: no settings are built in; expected --learner,"
            " --adversary, --graph or --data.",
        )
        return (
            jobs if request.runs is None else [replace(j, sampled_runs=request.runs) for j in jobs]
        )
    every = tuple(claim.id for claim in chosen)
    unsampled = tuple(claim.id for claim in chosen if not claim.judge.sampled)
    sampled = request.runs or SAMPLED_RUNS[request.scale]
    jobs = [
        Job(setting, unsampled if few else every, True, sampled, request.claims_file)
        for setting, few in request.game.settings(request)
        if unsampled or not few
    ]
    require(
        bool(jobs),
        f"the game {request.game.name} plays nothing with what is given: expected another learner, adversary or graph.",
    )
    return jobs


def _check(request: Request) -> None:
    require(
        request.scale in SCALES, f"scale '{request.scale}': expected one of {', '.join(SCALES)}."
    )
    require(
        request.data is None or request.adversary is None,
        "both --data and --adversary are given: expected one of them.",
    )
    require(
        request.label is None or request.data is not None,
        f"label column '{request.label}' is given without --data.",
    )
    of_data = {
        "--header": request.header is not None,
        "--labels exact": request.exact_labels,
        "--rows": request.rows is not None,
    }
    for option, given in of_data.items():
        require(not given or request.data is not None, f"{option} is given without --data.")
    for name in ("runs", "rounds", "rows"):
        value = getattr(request, name)
        require(value is None or value >= 1, f"{name}={value}: expected at least 1.")


def _check_promises(request: Request) -> None:
    """Refuse a promise that names no claim: it would never be judged."""
    if request.learner is not None:
        who = request.learner if isinstance(request.learner, str) else request.learner.spec
        check_promises(request.promises, who)


def check_promises(promises: Sequence[str], who: str) -> None:
    """Raise :class:`UserError` for a promise that names no claim."""
    known = catalog.claims()
    for glob in promises:
        if not any(is_named(name, [glob]) for name in known):
            raise UserError(
                f"promises of {who} name the unknown claim '{glob}'{suggest(glob, catalog.names_and_groups())}:"
                " expected globs of ids that 'boundcheck list claims' shows."
            )


def claims_of(request: Request) -> list[Claim]:
    """The claims that a request asks for."""
    if request.claims_file is not None:
        catalog.add_file(request.claims_file)
    return catalog.select(request.claims)


def built_in_jobs(
    claims: Sequence[Claim],
    scale: str = "default",
    claims_file: Path | None = None,
    rounds: int | None = None,
) -> list[Job]:
    """One job for each setting of the claims; a setting that several claims share is played once.

    With ``rounds`` the settings are others, of which the suite expects nothing but what their learners promise. Games
    whose adversary sets the horizon keep it.
    """
    watching: dict[Setting, dict[str, None]] = {}
    for claim in claims:
        for setting in _cases_of(claim):
            if (sized := setting.at_scale(scale)) is None:
                continue
            if rounds is not None and sized.horizon is not None:
                sized = replace(sized, horizon=rounds)
            watching.setdefault(sized, {})[claim.id] = None
    return [
        Job(setting, tuple(ids), rounds is not None, claims_file=claims_file)
        for setting, ids in watching.items()
    ]


def _cases_of(claim: Claim) -> list[Setting]:
    try:
        return list(claim.cases())
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"the cases of claim '{claim.id}' cannot be listed: {trouble_in(claim, error)}; expected settings."
        ) from error
