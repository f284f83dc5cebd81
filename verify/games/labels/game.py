"""The label game: online multiclass classification with a feedback graph.

In a round the adversary shows features, the learner gives a probability to each action, the game draws one, and the
feedback graph says whether it reveals the label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

from .... import adversaries, algorithms
from ....adversaries.reading import Reading
from ....algorithms.discovery import classes
from ....algorithms.graphs import parse
from ....errors import UserError, require
from ... import claims
from ...setting import Setting
from ..game import Game, Measured
from . import resolve
from .adaptive import is_adaptive
from .case import Case
from .compared.exact import margin
from .user_adversary import user_adversary
from .user_learner import UserLearner

OPEN_GRAPHS = ("bandit", "filtering", "full")
"""Graphs that are played when the user replaces another axis."""

OPEN_ROUNDS = {"quick": 300, "default": 2000, "full": 20_000}
OPEN_RUNS = {"quick": 2, "default": 8, "full": 32}

OPEN_LEARNERS = tuple(
    f"gappletron:loss={loss},rule={rule},optimiser=projected,gamma=theorem-4a"
    for loss, rule in product(("smooth-hinge", "logistic-2"), ("printed", "threshold"))
)

TURNING = {
    "bandit": (3, 0.5),
    "filtering": (2, 0.25),
    "full": (2, 2**0.5),
    "label-efficient": (3, 0.2),
}
"""Labels K, and comparator norm B times feature norm X, of one more game for each graph, in which labels change half
way and features are small. Theorem 4 tunes gamma by B X: it is 1 for filtering and label-efficient feedback, and rates
fall from their cap of 1/2 within the rounds of the quick scale for bandits too. With full information there are no
rates, and comparators may have margins of 2."""

TURNING_NORM = 2.0**-7
"""Feature norm X of those games: what is added to keep divisors from 0 is no longer small beside it."""

MOST_LABELS = 100
"""Up to so many labels are tried for a graph file that is to be played on built-in streams."""

NORM_FOR_DATA = 1.0
"""Bound on the comparator's norm when data are given and no bound is."""

Stream = tuple[str, int | None, float | None]
"""Adversary, horizon, bound on the comparator's norm."""


class LabelGame(Game):
    """The game; see the module."""

    name: ClassVar[str] = "labels"
    learner_method: ClassVar[str] = "player"
    adversary_method: ClassVar[str] = "sequence"
    learner_words: ClassVar[str] = (
        "learner: expected a class with predict(x) and update(x, action, label)"
    )
    learners_are: ClassVar[str] = "those that play labels"
    learner_help: ClassVar[str] = (
        "your class, see docs/learners.md. [dim]In the tunings T is the number of rounds, K of labels; X"
        " bounds the norms of the features, B (--radius) that of the comparators[/]"
    )
    adversary_help: ClassVar[str] = (
        "your class with sequence(horizon, seed), or with next(action, seen) if it is adaptive; see"
        " docs/adversaries.md"
    )
    plays_the_rest: ClassVar[bool] = True

    @cache  # noqa: B019 - there is one of it
    def learners(self) -> Mapping[str, type[Any]]:
        """Those of algorithms/, and those that a counterexample brings in the folder of its claim."""
        found = classes(algorithms, "player") | classes(claims, "player")
        return dict(sorted(found.items()))

    @cache  # noqa: B019
    def adversaries(self) -> Mapping[str, type[Any]]:
        """Those of adversaries/, and those that a counterexample brings in the folder of its claim."""
        packages = (adversaries, claims)
        found = {
            name: made
            for package in packages
            for method in ("sequence", "begin")
            for name, made in classes(package, method).items()
        }
        return dict(sorted(found.items()))

    def opposes(self, adversary: Any) -> bool:
        return super().opposes(adversary) or is_adaptive(adversary)

    def resolve(self, setting: Setting, learner: Any, adversary: Any, seed: int) -> Case:
        return resolve.resolve(setting, learner, adversary, seed)

    def user_learner(self, made: Any, spec: str) -> Any:
        return UserLearner(made, spec)

    def user_adversary(self, made: Any, spec: str) -> Any | None:
        return user_adversary(made, spec)

    def opened(self, spec: str) -> Any | None:
        return resolve.recorded(spec) if spec.startswith(resolve.DATA) else None

    def settings(self, request: Any) -> Iterator[tuple[Setting, bool]]:
        yield from ((setting, False) for setting in _product(request))
        given = (request.data, request.adversary, request.comparator_norm)
        if all(x is None for x in given) and not _of_its_own(request):
            yield from ((setting, True) for setting in _turning(request))

    def measured(self, case: Case) -> list[Measured]:
        sequence, comparator = case.sequence, case.comparator
        size = [
            Measured("labels", sequence.n_labels, "number of classes K"),
            Measured("rounds", sequence.horizon, "horizon T"),
        ]
        bound = Measured("comparator norm", case.comparator_norm, "bound B on the norm of U")
        smooth = []
        if case.loss is not None:
            smooth = [Measured("smoothness", case.smoothness, "L of condition (3)")]
        if case.is_adaptive:  # features and labels are not known before play
            largest = case.problem.feature_norm
            declared = Measured("feature norm", largest, "bound X on the norms of feature vectors")
            return [*size, declared, bound, *smooth]
        rows = [
            *size,
            Measured("feature norm", sequence.feature_norm, "largest norm X of a feature vector"),
            Measured("norm of U", comparator.norm, f"norm of the {comparator.how} comparator U"),
            bound,
            Measured(
                "margin", margin(sequence, comparator), "smallest margin of U; separable if > 0"
            ),
        ]
        if case.loss is not None:
            total = float(case.comparator_losses.sum())
            rows.append(Measured("comparator loss", total, f"sum of {case.loss.spec} losses of U"))
        return [*rows, *smooth]

    def warning(self, case: Case) -> str | None:
        """Sentences, a line each, on data that could be read in another way, and on features so large that bounds on
        mistakes, which grow with L B^2, exceed the rounds."""
        lines = list(getattr(case.adversary, "notes", ()))
        bound = case.comparator_norm
        if case.loss is not None and case.smoothness * bound**2 > case.horizon:
            lines.append(
                f"features have norms up to {case.problem.feature_norm:.4g}; with the comparator norm B={bound:g}"
                f" bounds on mistakes grow with L B^2 = {case.smoothness * bound**2:.3g} and are vacuous in"
                f" {case.horizon} rounds: scale the columns, or divide all by that norm"
            )
        return "\n".join(lines) or None

    def check(self, request: Any, case: Case) -> None:
        planted = case.sequence.comparator
        bound = request.comparator_norm
        if request.adversary is None or bound is None or planted is None:
            return
        require(
            resolve.fits(planted, bound),
            f"comparator norm B={bound:g}: the comparator of {request.adversary} has norm"
            f" {planted.norm:.6g}; expected at least that, or none.",
        )


def _streams(request: Any) -> list[Stream]:
    """The user's data or adversary, or a few built-in ones, with as many labels as the user's graph has."""
    rounds = request.rounds or OPEN_ROUNDS[request.scale]
    if request.data is not None:
        reading = Reading(
            request.data, request.label, request.header, request.exact_labels, request.rows
        )
        bound = NORM_FOR_DATA if request.comparator_norm is None else request.comparator_norm
        return [(f"{resolve.DATA}{reading}", request.rounds, bound)]
    if request.adversary is not None:
        # one that knows how many rounds it needs says so
        whole = hasattr(request.made_adversary, "rounds") and request.rounds is None
        return [(request.adversary, None if whole else rounds, request.comparator_norm)]
    if own := _of_its_own(request):
        return [(adversary, rounds, request.comparator_norm) for adversary in own]
    labels = _labels_of(request.graph)
    few, many = (3, 5) if labels is None else (labels, labels)
    return [
        (f"one-hot:n_labels={few},noise=0.05", rounds, request.comparator_norm),
        (
            f"keywords:keyword_scale=1,n_labels={many},noise=0.05",
            rounds,
            request.comparator_norm or 1.0,
        ),
    ]


def _of_its_own(request: Any) -> tuple[str, ...]:
    """The streams of a learner that reads no others."""
    own: tuple[str, ...] = getattr(request.made_learner, "streams", ())
    return own


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


def _product(request: Any) -> Iterator[Setting]:
    """The product of the user's axes and, where they leave one open, of a few built-in ones. Of several streams only
    the first is played with every graph, the others with the first."""
    streams, graphs = _streams(request), _graphs(request, OPEN_GRAPHS)
    for learner, graph in product(_learners(request), graphs):
        for adversary, horizon, bound in streams if graph == graphs[0] else streams[:1]:
            yield Setting(learner, adversary, graph, horizon, bound, OPEN_RUNS[request.scale])


def _turning(request: Any) -> Iterator[Setting]:
    """A game for each graph in which labels change half way and features are small."""
    rounds = request.rounds or OPEN_ROUNDS[request.scale]
    for learner, graph in product(_learners(request), _graphs(request, tuple(TURNING))):
        n_labels, size = TURNING.get(graph, TURNING["bandit"])
        adversary = f"turning:n_labels={_labels_of(graph) or n_labels},norm={TURNING_NORM}"
        bound = size / TURNING_NORM
        yield Setting(learner, adversary, graph, rounds, bound, OPEN_RUNS[request.scale])


def _learners(request: Any) -> tuple[Any, ...]:
    return OPEN_LEARNERS if request.learner is None else (request.learner,)


def _graphs(request: Any, graphs: tuple[str, ...]) -> tuple[str, ...]:
    """The user's graph, or those of ``graphs`` that the user's learner plays, or the label-efficient one where it plays
    none; all of them for a learner that does not say what it plays."""
    if request.graph is not None:
        return (request.graph,)
    learner = request.made_learner
    if not hasattr(learner, "accepts"):
        return graphs
    found = tuple(graph for graph in graphs if learner.accepts(parse(graph, 3)))
    return found or ("label-efficient",)


LABELS = LabelGame()
