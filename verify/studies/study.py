"""A study: a grid of settings and seeds, each one stream on which every learner plays with every tuning.

A study is a TOML file; the built-in ones lie in the folder ``studies`` beside this module, and a file put there is
built in. ``[grid]`` gives each axis one value or a list of them: ``adversary``, ``graph``, ``horizon``, ``radius``,
parameters of the adversary, and what learners' specs have places for (see ``grid.py``). ``[learners]`` gives each
learner a spec for each tuning, or one spec for all, and a ``graph`` of its own where it plays another one on the same
stream. ``[twins]`` says whose counterpart with full information is who.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from ...adversaries.sequence import Sequence as Labelled
from ...algorithms import graphs
from ...algorithms.learner import Problem
from ...errors import UserError, check_size, require, unknown
from .. import catalog
from ..games.labels.adaptive import blank, is_adaptive, norm_of
from .digests import digests
from .finding import Finding
from .grid import SETTING_AXES, Grid, Named, Scalar, expanded, filled, places
from .grid import parse as parse_grid
from .learners import ANY, parse_twins
from .learners import parse as parse_learners

FOLDER = Path(__file__).parent

KEYS = ("title", "source", "seeds", "measures", "panels", "grid", "learners", "twins", "findings")
NAME = re.compile(r"\w[\w .+-]*")
MEASURES = ("mistakes", "best_label_mistakes", "expected_mistakes")
MOST_CASES = 1_000_000
CHECKPOINTS_PER_DOUBLING = 2


class IncompatibleError(UserError):
    """A learner that cannot play a cell of a study."""


@dataclass(frozen=True)
class StudyCase:
    """One stream and everyone who plays on it, with everything resolved.

    Attributes
    ----------
    content : what decides every number of the result; plain data, as JSON takes it
    """

    content: Mapping[str, Any]

    @cached_property
    def json(self) -> str:
        """The content as canonical JSON."""
        return json.dumps(self.content, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @cached_property
    def key(self) -> str:
        """The sha256 of the content, in hex; the name of its file."""
        return sha256(self.json.encode()).hexdigest()

    def __str__(self) -> str:
        return f"{_cell_name(self.content['axes'])}, seed={self.content['seed']}"


@dataclass(frozen=True)
class Study:
    """A study as it was read and checked.

    Attributes
    ----------
    name : name of its file
    title, source : what it is about, and where it comes from
    seeds : how many seeds, from 0
    grid : values of each axis
    named : what the names on axes of tables stand for
    learners : spec for each tuning of each learner; under ``ANY`` where all tunings are one
    graphs : the learners that play another graph than that of the cell, and which
    twins : the learner with full information that each of some with bandit feedback is compared with
    measures : columns of the results that figures and tables show
    panels : axes of the rows and columns of panels with curves; the usual ones if empty
    findings : what its source says comes out
    document : the file's content
    """

    name: str
    title: str
    source: str
    seeds: int
    grid: Grid
    named: Named
    learners: Mapping[str, Mapping[str, str]]
    graphs: Mapping[str, str]
    twins: Mapping[str, str]
    measures: tuple[str, ...]
    panels: tuple[str, ...]
    findings: tuple[Finding, ...]
    document: Mapping[str, Any]

    @property
    def tunings(self) -> tuple[str, ...]:
        """All tunings, in order of appearance; ``ANY`` alone if no learner has more than one."""
        found = [tuning for specs in self.learners.values() for tuning in specs]
        return tuple(dict.fromkeys(t for t in found if t != ANY)) or (ANY,)

    @property
    def cells(self) -> list[dict[str, Scalar]]:
        """One value for each axis, in all combinations."""
        return [
            dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())
        ]

    def cases(self, skipped: list[str] | None = None) -> list[StudyCase]:
        """Every cell with every seed; all cells of a seed before the next seed.

        Parameters
        ----------
        skipped : filled with a sentence for each learner that cannot play a cell, which is left out there; None for an
            error in its place

        Raises
        ------
        UserError
            for a cell that cannot be played, with the cell
        """
        cells = [self._resolved(cell, skipped) for cell in self.cells]
        return [
            StudyCase({**content, "seed": seed}) for seed in range(self.seeds) for content in cells
        ]

    def _resolved(
        self, cell: dict[str, Scalar], skipped: list[str] | None = None
    ) -> dict[str, Any]:
        setting = expanded(cell, self.named)
        specs = [
            (name, tuning, filled(f"learner '{name}' of study '{self.name}'", spec, setting))
            for name, tunings in self.learners.items()
            for tuning, spec in tunings.items()
        ]
        written = self._adversary(setting)
        radius = float(setting.get("radius", 1.0))
        horizon: Any = setting.get("horizon")
        recorded = written.startswith("data:")
        try:
            adversary = make_adversary(written)
            # of a sequence that can be made at any length only the sizes are needed
            first = _sizes(adversary, horizon if recorded or horizon is None else 1)
            length = first.horizon if recorded or horizon is None else int(horizon)
            check_size("the rounds of a game", length)
            graph = graphs.parse(str(setting["graph"]), first.n_labels)
            others = {name: graphs.parse(g, first.n_labels) for name, g in self.graphs.items()}
        except UserError as error:
            raise UserError(
                f"cell {_cell_name(cell)} of study '{self.name}' is impossible: {error}"
            ) from None
        norm = norm_of(adversary) if is_adaptive(adversary) else first.feature_norm or 1.0
        problem = Problem(graph, first.n_features, length, norm, radius)
        problems = {name: replace(problem, graph=other) for name, other in others.items()}
        learners = []
        for name, tuning, spec in specs:
            try:
                full = self._checked(name, tuning, spec, problems.get(name, problem), cell)
            except IncompatibleError as error:
                if skipped is None:
                    raise
                skipped.append(str(error))
            else:
                learners.append([name, tuning, spec, full])
        require(
            learners != [], f"no learner can play cell {_cell_name(cell)} of study '{self.name}'."
        )
        names = [str(setting["graph"]), *self.graphs.values()]
        return {
            "axes": {axis: value for axis, value in cell.items() if axis != "horizon"},
            "adversary": written if recorded else adversary.spec,
            "graph": setting["graph"],
            **({"graphs": dict(self.graphs)} if self.graphs else {}),
            "horizon": length,
            "radius": radius,
            "features": first.n_features,
            "labels": first.n_labels,
            "learners": learners,
            "checkpoints": checkpoints(length),
            "files": digests([written, *names, *(spec for _, _, spec, _ in learners)]),
        }

    def _adversary(self, setting: Mapping[str, Scalar]) -> str:
        """The adversary's spec, with what the grid sets and no spec has a place for."""
        spec = str(setting["adversary"])
        placed = places([spec, *(s for specs in self.learners.values() for s in specs.values())])
        own = [
            f"{axis}={value}"
            for axis, value in setting.items()
            if axis not in SETTING_AXES and axis not in placed
        ]
        written = filled(f"the adversary of study '{self.name}'", spec, setting)
        if own:
            written += f"{',' if ':' in written else ':'}{','.join(own)}"
        return written

    def _checked(
        self, name: str, tuning: str, spec: str, problem: Problem, cell: dict[str, Scalar]
    ) -> str:
        """The full spec of a learner that can play the cell."""
        where = f"learner '{name}' of study '{self.name}'"
        try:
            learner = catalog.learner(spec)
        except UserError as error:
            raise UserError(f"{where}, tuning '{tuning}': {error}") from None
        game = catalog.game_of(learner)
        require(
            game.plays_the_rest,
            f"{where} plays the game {game.name}: expected one that plays labels.",
        )
        try:
            with chdir("."):  # a class of the user's may go elsewhere
                learner.player(problem)
        except UserError as error:
            able = ", ".join(_able(problem)) or "none"
            raise IncompatibleError(
                f"{where} cannot play cell {_cell_name(cell)}: {error} The built-in learners that can:"
                f" {able}."
            ) from None
        return str(learner.spec)


def _able(problem: Problem) -> list[str]:
    """Built-in learners that play a problem with their default parameters."""
    found = []
    for name in catalog.learners():
        try:
            catalog.learner(name).player(problem)
        except (UserError, AttributeError):
            continue
        found.append(name)
    return found


def make_adversary(spec: str) -> Any:
    """An adversary, or recorded data for ``data:FILE`` and ``data:FILE@COLUMN``."""
    found = catalog.adversary(spec)
    require(
        hasattr(found, "sequence") or is_adaptive(found),
        f"adversary {spec} makes no labels: expected one that plays them.",
    )
    return found


def _sizes(adversary: Any, horizon: int | None) -> Labelled:
    """A sequence of an adversary, of which only the sizes are needed."""
    if is_adaptive(adversary):
        require(horizon is not None, f"adversary {adversary.spec} is given without a horizon.")
        return blank(adversary, 1)
    found: Labelled = adversary.sequence(horizon, 0)
    return found


def checkpoints(horizon: int) -> list[int]:
    """The rounds at which sums are kept: log-spaced, the last one the horizon."""
    doublings = math.ceil(math.log2(horizon)) if horizon > 1 else 0
    steps = range(doublings * CHECKPOINTS_PER_DOUBLING + 1)
    return sorted({max(1, int(horizon / 2 ** (i / CHECKPOINTS_PER_DOUBLING))) for i in steps})


def _cell_name(cell: Mapping[str, Any]) -> str:
    return ", ".join(f"{axis}={value}" for axis, value in cell.items())


def names() -> list[str]:
    """Names of the built-in studies."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str, rounds: int | None = None) -> Study:
    """Read a built-in study by name, or a file by its path, to be played at the horizon ``rounds`` if given.

    Raises
    ------
    UserError
        for an unknown name, a file that cannot be read, and whatever is wrong in it
    """
    path = Path(name)
    if path.suffix != ".toml":
        if name not in names():
            raise unknown("study", name, names(), f"FILE.toml or one of {', '.join(names())}")
        path = FOLDER / f"{name}.toml"
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UserError(
            f"study '{path}' cannot be read: {error.strerror}; expected a TOML file."
        ) from None
    except ValueError as error:  # also bytes that are no text
        raise UserError(f"study '{path}' is no TOML file: {error}.") from None
    return parse(path.stem, document if rounds is None else _at_horizon(document, rounds))


def _at_horizon(document: Mapping[str, Any], rounds: int) -> dict[str, Any]:
    """The same content with one horizon, without the findings that are about certain ones."""
    grid, findings = document.get("grid"), document.get("findings")
    found = dict(document)
    if isinstance(grid, dict):
        found["grid"] = {**grid, "horizon": rounds}
    if isinstance(findings, list):
        about = [
            {each.get("along"), *each.get("where", {})} if isinstance(each, dict) else set()
            for each in findings
        ]
        pairs = zip(findings, about, strict=True)
        found["findings"] = [each for each, axes in pairs if "horizon" not in axes]
    return found


def parse(name: str, document: Mapping[str, Any]) -> Study:
    """Make a study of the content of its file.

    Raises
    ------
    UserError
        for unknown or missing keys and values of a wrong kind
    """
    where = f"study '{name}'"
    require(
        NAME.fullmatch(name) is not None,
        f"{where}: expected a name of letters, digits, spaces, '_', '.', '+' and '-' that begins with a letter, a digit"
        " or '_', since its folder is called that.",
    )
    for key in document:
        if key not in KEYS:
            raise unknown(f"key of {where}", key, KEYS)
    for key in ("seeds", "grid", "learners"):
        require(key in document, f"{where} has no key '{key}': expected seeds, grid and learners.")
    seeds = document["seeds"]
    require(
        isinstance(seeds, int) and not isinstance(seeds, bool) and seeds >= 1,
        f"{where} has seeds = {seeds!r}: expected how many, an integer of at least 1.",
    )
    grid, named = parse_grid(where, document["grid"])
    learners, own_graphs = parse_learners(where, document["learners"])
    size = seeds * math.prod(map(len, grid.values()))
    require(size <= MOST_CASES, f"{where} has {size} cases: expected at most {MOST_CASES}.")
    measures = document.get("measures", ["mistakes"])
    require(isinstance(measures, list) and measures != [], f"{where}: measures is a list.")
    for measure in measures:
        if measure not in MEASURES:
            raise unknown(f"measure of {where}", str(measure), MEASURES)
    tunings = {tuning for specs in learners.values() for tuning in specs}
    findings = document.get("findings", [])
    require(isinstance(findings, list), f"{where}: findings is a list of tables.")
    for key in ("title", "source"):
        require(isinstance(document.get(key, ""), str), f"{where}: {key} is a text.")
    return Study(
        name,
        document.get("title", name),
        document.get("source", ""),
        seeds,
        grid,
        named,
        learners,
        own_graphs,
        parse_twins(where, document.get("twins", {}), learners),
        tuple(measures),
        _panels(where, document.get("panels", []), grid),
        tuple(
            Finding.parse(where, found, list(learners), tunings, grid, MEASURES)
            for found in findings
        ),
        document,
    )


def _panels(where: str, given: Any, grid: Grid) -> tuple[str, ...]:
    several = [axis for axis, values in grid.items() if len(values) > 1]
    require(
        isinstance(given, list) and len(given) <= 2 and all(axis in several for axis in given),
        f"{where} has panels = {given!r}: expected up to two axes with several values, from"
        f" {', '.join(several) or 'none'}.",
    )
    return tuple(given)
