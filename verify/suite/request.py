"""From a request, as the command line makes it, to the jobs of a run.

Without a replaced axis the built-in suite is played: the settings that the claims name themselves. A
learner, data, a graph or an adversary of the user's replaces that axis of a small product, and all claims
look at all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from ...algorithms.graphs import parse
from ...errors import UserError, require, suggest
from .. import catalog
from ..certificates.make import AnyCase
from ..claim import Claim, is_named
from ..claims.gappletron import settings
from ..games.labels import user_learner as plain
from ..games.labels.case import Case, Setting
from ..games.labels.comparators import margin
from ..games.labels.resolve import fits
from ..games.weak import settings as weak_plan
from .run import Job

OWN_GRAPHS = ("bandit", "filtering", "full")
"""Graphs that are played when the user replaces another axis."""

OWN_ROUNDS = {"quick": 300, "default": 2000, "full": 20_000}
OWN_REPLICATES = {"quick": 2, "default": 8, "full": 32}
OWN_SAMPLED_RUNS = {"quick": 64, "default": 128, "full": 512}

SMALL_BALL = 0.5
"""Radius of one more stream for the claims about single rounds: gamma, which is tuned by the radius, is small
there, and exploration rates fall from their cap of 1/2 within the rounds of the quick scale."""

MOST_LABELS = 100
"""Up to so many labels are tried for a graph file that is to be played on built-in streams."""

Stream = tuple[str, int | None, float | None]
"""Adversary, horizon, radius."""

RADIUS_OF_DATA = 1.0
"""Bound on the comparator's norm when data are given and no radius is."""


@dataclass(frozen=True)
class Request:
    """What is to be verified.

    Attributes
    ----------
    claims : globs of claim ids; all claims when empty
    learner : spec of a learner, ``FILE.py:Class``, or a learner
    adversary : spec of an adversary
    graph : spec of a feedback graph
    data : file with recorded data
    label : name or position of its label column
    radius : bound on the comparator's norm
    scale : "quick", "default" or "full"
    claims_file : Python file with claims of the user's
    runs : runs of claims that are judged by sampling; those of the scale when None
    """

    claims: tuple[str, ...] = ()
    learner: Any = None
    adversary: str | None = None
    graph: str | None = None
    data: Path | None = None
    label: str | None = None
    radius: float | None = None
    scale: str = "default"
    claims_file: Path | None = None
    runs: int | None = None

    @property
    def own(self) -> bool:
        """Whether an axis of the built-in suite is replaced."""
        axes = (self.learner, self.adversary, self.graph, self.data, self.radius)
        return any(axis is not None for axis in axes)


def jobs_for(request: Request) -> list[Job]:
    """The jobs of a request, those of the built-in suite or a product of the user's axes.

    Raises
    ------
    UserError
        for anything unknown or that does not fit together
    """
    require(
        request.scale in settings.SCALES,
        f"scale '{request.scale}': expected one of {', '.join(settings.SCALES)}.",
    )
    require(
        request.data is None or request.adversary is None,
        "both --data and --adversary are given: expected one of them.",
    )
    require(
        request.label is None or request.data is not None,
        f"label column '{request.label}' is given without --data.",
    )
    require(request.runs is None or request.runs >= 1, f"runs={request.runs}: expected at least 1.")
    chosen = claims_of(request)
    _check_promises(request)
    if not request.own:
        jobs = built_in_jobs(chosen, request.scale)
        require(
            bool(jobs),
            f"{', '.join(claim.id for claim in chosen)}: no settings are built in; expected --learner,"
            " --adversary, --graph or --data.",
        )
        return (
            jobs if request.runs is None else [replace(j, sampled_runs=request.runs) for j in jobs]
        )
    ids = tuple(claim.id for claim in chosen)
    sampled = request.runs or OWN_SAMPLED_RUNS[request.scale]
    if weak_plan.is_weak(request.learner, request.adversary):
        return [Job(setting, ids, True, sampled) for setting in _weak_settings(request)]
    jobs = [Job(setting, ids, True, sampled) for setting in own_settings(request, streams(request))]
    in_rounds = tuple(claim.id for claim in chosen if claim.sides is not None)
    if in_rounds and all(x is None for x in (request.data, request.adversary, request.radius)):
        one_hot, rounds, _ = streams(request)[0]
        small = own_settings(request, [(one_hot, rounds, SMALL_BALL)])
        jobs += [Job(setting, in_rounds, True, sampled) for setting in small]
    return jobs


def _weak_settings(request: Request) -> list[Setting]:
    """What is played of a weak learner."""
    for name in ("data", "radius"):
        require(
            getattr(request, name) is None,
            f"--{name} is given for a weak learner: expected --adversary or --graph.",
        )
    replicates = OWN_REPLICATES[request.scale]
    return list(
        weak_plan.settings(
            request.learner, request.adversary, request.graph, request.scale, replicates
        )
    )


def promises_of(request: Request) -> tuple[str, ...]:
    """Globs of the claims that the user's learner promises; none without such a learner."""
    if request.learner is None:
        return ()
    learner = request.learner
    made = catalog.learner(learner) if isinstance(learner, str) else learner
    return tuple(getattr(made, "promises", ()))


def _check_promises(request: Request) -> None:
    """Refuse a promise that names no claim: it would never be judged."""
    known = catalog.claims()
    for glob in promises_of(request):
        if not any(is_named(name, [glob]) for name in known):
            who = request.learner if isinstance(request.learner, str) else request.learner.spec
            raise UserError(
                f"promises of {who} name the unknown claim '{glob}'{suggest(glob, catalog.names_and_groups())}:"
                " expected globs of ids that 'boundcheck list claims' shows."
            )


def check_radius(request: Request, case: AnyCase) -> None:
    """Refuse a ball that leaves out the comparator of the adversary that the user chose.

    Raises
    ------
    UserError
        naming the norm of that comparator
    """
    if request.adversary is None or request.radius is None or not isinstance(case, Case):
        return
    planted = case.sequence.comparator
    if planted is None:
        return
    require(
        fits(planted, request.radius),
        f"radius B={request.radius:g}: the comparator of {request.adversary} has norm"
        f" {planted.norm:.6g}; expected at least that, or no radius.",
    )


def claims_of(request: Request) -> list[Claim]:
    """The claims that a request asks for."""
    if request.claims_file is None:
        return catalog.select(request.claims)
    add_claims(request.claims_file)
    return catalog.select(request.claims)


def add_claims(path: Path) -> None:
    """Make the claims of a Python file known."""
    catalog.add_claims(load_claims(path))


def built_in_jobs(claims: Sequence[Claim], scale: str = "default") -> list[Job]:
    """One job for each setting of the claims; a setting that several claims share is played once."""
    watching: dict[Setting, list[str]] = {}
    for claim in claims:
        for setting in claim.cases():
            if (sized := settings.scaled(setting, scale)) is not None:
                watching.setdefault(sized, []).append(claim.id)
    return [Job(setting, tuple(ids)) for setting, ids in watching.items()]


def streams(request: Request) -> list[Stream]:
    """The user's data or adversary, or a few built-in ones, with as many labels as the user's graph has."""
    rounds = OWN_ROUNDS[request.scale]
    if request.data is not None:
        column = "" if request.label is None else f"@{request.label}"
        ball = RADIUS_OF_DATA if request.radius is None else request.radius
        return [(f"data:{request.data}{column}", None, ball)]
    if request.adversary is not None:
        whole = hasattr(
            catalog.adversary(request.adversary), "rounds"
        )  # it knows how many it needs
        return [(request.adversary, None if whole else rounds, request.radius)]
    few, many = (3, 5) if (labels := _labels_of(request.graph)) is None else (labels, labels)
    return [
        (f"one-hot:n_labels={few},noise=0.05", rounds, request.radius),
        (f"keywords:keyword_scale=1,n_labels={many},noise=0.05", rounds, request.radius or 1.0),
    ]


def _labels_of(graph: str | None) -> int | None:
    """The least number of labels with which a graph file can be played; None for other graphs, and for a file
    that cannot be."""
    if graph is None or not Path(graph).suffix:
        return None
    for n_labels in range(2, MOST_LABELS + 1):
        with suppress(UserError):
            parse(graph, n_labels)
            return n_labels
    return None


def own_settings(request: Request, streams: Sequence[Stream]) -> Iterator[Setting]:
    """The product of the user's axes and, where they leave one open, of a few built-in ones."""
    replicates = OWN_REPLICATES[request.scale]
    learners: tuple[Any, ...] = (request.learner,)
    if request.learner is None:
        learners = tuple(
            settings.gappletron(loss, rule, "projected", "theorem-4a")
            for loss, rule in product(("smooth-hinge", "logistic-2"), ("printed", "threshold"))
        )
    for learner in learners:
        graphs = own_graphs(learner) if request.graph is None else (request.graph,)
        for graph, (adversary, horizon, radius) in product(graphs, streams):
            yield Setting(learner, adversary, graph, horizon, radius, replicates)


def own_graphs(learner: Any) -> tuple[str, ...]:
    """The graphs of ``OWN_GRAPHS`` that a learner plays, or the label-efficient one where it plays none; all of
    them for a learner that does not say what it plays."""
    made = catalog.learner(learner) if isinstance(learner, str) else learner
    if not hasattr(made, "accepts"):
        return OWN_GRAPHS
    found = tuple(graph for graph in OWN_GRAPHS if made.accepts(parse(graph, 3)))
    return found or ("label-efficient",)


def load_claims(path: Path) -> list[Claim]:
    """Claims defined in a Python file of the user's.

    Raises
    ------
    UserError
        if the file is missing, does not import, or has no claims
    """
    module = plain.load_module(path, "claims")
    found = [value for value in vars(module).values() if isinstance(value, Claim)]
    require(
        bool(found), f"claims file '{path}' has no Claim: expected at least one at its top level."
    )
    return found


@dataclass(frozen=True)
class Hypothesis:
    """Something a theorem supposes of the data, and what was measured."""

    name: str
    measured: float
    meaning: str


def measured_hypotheses(case: AnyCase) -> list[Hypothesis]:
    """What the data of a case are like: one row for each hypothesis of the theorems."""
    assert isinstance(case, Case)
    sequence, comparator = case.sequence, case.comparator
    rows = [
        Hypothesis("labels", sequence.n_labels, "number of classes K"),
        Hypothesis("rounds", sequence.horizon, "horizon T"),
        Hypothesis("feature norm", sequence.feature_norm, "largest norm X of a feature vector"),
        Hypothesis("comparator norm", comparator.norm, f"of the {comparator.how} comparator U"),
        Hypothesis("radius", case.radius, "bound B on the norm of U"),
        Hypothesis(
            "margin", margin(sequence, comparator), "smallest margin of U; separable if > 0"
        ),
    ]
    if case.loss is not None:
        total = float(case.comparator_losses.sum())
        rows += [
            Hypothesis("comparator loss", total, f"sum of {case.loss.spec} losses of U"),
            Hypothesis("smoothness", case.smoothness, "L of condition (3)"),
        ]
    return rows


def warning_about_scale(case: AnyCase) -> str | None:
    """What to say of features so large that bounds on mistakes, which grow with L B^2, exceed the rounds."""
    assert isinstance(case, Case)
    if case.loss is None or case.smoothness * case.radius**2 <= case.sequence.horizon:
        return None
    norm = case.sequence.feature_norm
    return (
        f"features have norms up to {norm:.4g}; with the ball B={case.radius:g} bounds on mistakes grow with"
        f" L B^2 = {case.smoothness * case.radius**2:.3g} and say nothing in {case.sequence.horizon} rounds:"
        " scale the columns, or divide all by that norm"
    )
