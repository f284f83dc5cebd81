"""Feedback graphs: which action observes which label.

The definitions follow D. van der Hoeven, F. Fusco and N. Cesa-Bianchi, "Beyond Bandit Feedback in
Online Multiclass Classification" (2021), Section 2, whose symbols are here called

========  ============================================================
symbol    name
========  ============================================================
G         the feedback graph, a relation ``observes[action, label]``
K         ``n_labels``
out(y')   the row of an action: the labels it observes
Q         ``revealing``, the actions that observe every label
S         ``dominating``, actions that together observe every label
rho       ``domination_number``, the size of a smallest such set
d(y)      ``in_degree``, how many actions observe a label
========  ============================================================

There may be more actions than labels: the first K actions predict the labels, the others only ask.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import BoolArray
from ..errors import UserError, require, unknown
from .domination import dominating_set
from .spec import check_keys, read_float, read_int, read_ints, split_spec

if TYPE_CHECKING:
    import networkx as nx


MOST_LABELS = 20_000
"""A graph is kept as a matrix, and the game keeps a few vectors over the labels on the stack."""

Array = TypeVar("Array", BoolArray, NDArray[np.int64])


@dataclass(frozen=True, eq=False)
class FeedbackGraph:
    """An immutable relation between actions and the labels they observe.

    ``observes`` has shape (n_actions, n_labels) with n_actions >= n_labels >= 2 and entries 0 or 1. It is kept after
    the closure rule: an action that observes all labels but one observes that one as well, since it learns whether
    the label is among the others. Graphs are equal when their names and matrices are.

    Raises :class:`UserError` for another shape or entry, and for a label that no action observes.
    """

    name: str
    observes: BoolArray = field(repr=False)

    def __post_init__(self) -> None:
        observes = _zero_one(self.name, self.observes)
        n_actions, n_labels = observes.shape
        _check_labels(self.name, n_labels)
        require(
            n_actions >= n_labels,
            f"graph '{self.name}' has {n_actions} actions (rows) for {n_labels} labels (columns): "
            f"expected at least {n_labels} actions, the first of which are the labels",
        )
        observes[observes.sum(axis=1) == n_labels - 1] = True
        unobserved = np.flatnonzero(~observes.any(axis=0))
        require(
            unobserved.size == 0,
            f"no action of graph '{self.name}' observes label {', '.join(map(str, unobserved))}: "
            f"expected every label from 0 to {n_labels - 1} to be observed by some action",
        )
        object.__setattr__(self, "observes", _frozen(observes))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeedbackGraph):
            return NotImplemented
        return self.name == other.name and np.array_equal(self.observes, other.observes)

    def __hash__(self) -> int:
        return hash((self.name, self.observes.shape, self.observes.tobytes()))

    def __reduce__(self) -> tuple[type[FeedbackGraph], tuple[str, BoolArray]]:
        # An array loses its write protection in a pickle; rebuilding restores it.
        return FeedbackGraph, (self.name, self.observes)

    @property
    def n_actions(self) -> int:
        """The number of actions, at least ``n_labels``."""
        return len(self.observes)

    @property
    def n_labels(self) -> int:
        """The number of labels K, at least 2."""
        return int(self.observes.shape[1])

    @property
    def is_full_information(self) -> bool:
        """True if every action observes every label."""
        return bool(self.observes.all())

    @cached_property
    def revealing(self) -> tuple[int, ...]:
        """The actions that observe every label, in increasing order."""
        return tuple(int(action) for action in np.flatnonzero(self.observes.all(axis=1)))

    @cached_property
    def in_degree(self) -> NDArray[np.int64]:
        """Shape (n_labels,): how many actions observe each label, at least 1."""
        return _frozen(self.observes.sum(axis=0, dtype=np.int64))

    @cached_property
    def in_neighbours(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pointers (n_labels + 1,) and actions (nnz,), as in CSR.

        Label y is observed by ``actions[pointers[y]:pointers[y + 1]]``, in increasing order.
        """
        pointers = np.concatenate(([0], np.cumsum(self.in_degree))).astype(np.int64)
        actions = np.nonzero(self.observes.T)[1].astype(np.int64)
        return _frozen(pointers), _frozen(actions)

    @property
    def exact(self) -> bool:
        """True if ``dominating`` is known to be a smallest dominating set."""
        return self._domination[1]

    @property
    def dominating(self) -> tuple[int, ...]:
        """Actions that together observe every label, in increasing order.

        Up to 60 actions, and where one action observes all, the first in lexicographic order of the
        smallest such sets; otherwise the greedy one.
        """
        return self._domination[0]

    @property
    def domination_number(self) -> int:
        """The size of ``dominating``; the domination number itself if ``exact``."""
        return len(self.dominating)

    @cached_property
    def _domination(self) -> tuple[tuple[int, ...], bool]:
        return dominating_set(self.observes)

    def observation_probability(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the chance, shape (..., n_labels), that each label would be observed.

        ``probabilities`` of the actions has shape (..., n_actions).
        """
        return np.asarray(probabilities @ self.observes, dtype=np.float64)

    def to_networkx(self) -> nx.DiGraph[int]:
        """Return the directed graph with a node per action and edges to the labels it observes."""
        import networkx as nx  # loading it takes longer than most graphs need

        graph: nx.DiGraph[int] = nx.DiGraph(name=self.name)
        graph.add_nodes_from(range(self.n_actions))
        graph.add_edges_from((int(a), int(y)) for a, y in np.argwhere(self.observes))
        return graph


def full_information(n_labels: int) -> FeedbackGraph:
    """Return the graph in which every action observes every label."""
    return FeedbackGraph("full", ~_nothing("full", n_labels))


def bandit(n_labels: int) -> FeedbackGraph:
    """Return the graph in which an action observes its own label; full information if K = 2."""
    return FeedbackGraph("bandit", _loops("bandit", n_labels))


def filtering(n_labels: int, revealing: Iterable[int] = (0,)) -> FeedbackGraph:
    """Return the graph in which the given labels observe every label and the others none."""
    chosen = sorted(set(revealing))
    require(bool(chosen), "graph 'filtering' has no revealing label: expected at least one")
    observes = _nothing("filtering", n_labels)
    for label in chosen:
        require(
            0 <= label < n_labels,
            f"unknown revealing label {label} of graph 'filtering': "
            f"expected labels from 0 to {n_labels - 1}",
        )
        observes[label] = True
    suffix = "" if chosen == [0] else f":revealing={'+'.join(map(str, chosen))}"
    return FeedbackGraph(f"filtering{suffix}", observes)


def label_efficient(n_labels: int) -> FeedbackGraph:
    """Return the graph of K + 1 actions in which the last one, the query, observes every label.

    Predicting a label observes nothing.
    """
    nothing = _nothing("label-efficient", n_labels)
    return FeedbackGraph("label-efficient", np.vstack([nothing, np.ones(n_labels, dtype=np.bool_)]))


def cops_and_robbers(n_labels: int) -> FeedbackGraph:
    """Return the graph in which an action observes all labels but its own.

    By the closure rule this is full information.
    """
    return FeedbackGraph("cops-and-robbers", ~_loops("cops-and-robbers", n_labels))


def random_digraph(n_labels: int, density: float, seed: int) -> FeedbackGraph:
    """Return a graph whose K x K edges are drawn independently with probability ``density``.

    A label that no action was drawn to observe is observed by its own action, so that density 0
    gives the bandit graph. Raises :class:`UserError` for a density outside [0, 1] or a seed < 0.
    """
    require(0 <= density <= 1, f"density {density} is not legal: expected a number in [0, 1]")
    require(seed >= 0, f"seed {seed} is not legal: expected an integer in [0, inf)")
    name = f"random:density={density},seed={seed}"
    loops = _loops(name, n_labels)
    drawn = np.random.default_rng(seed).random((n_labels, n_labels)) < density
    return FeedbackGraph(name, drawn | (loops & ~drawn.any(axis=0)))


def from_matrix(matrix: ArrayLike, name: str = "matrix") -> FeedbackGraph:
    """Return the graph of a 0/1 matrix of shape (n_actions, n_labels)."""
    return FeedbackGraph(name, _zero_one(name, matrix))


def from_networkx(graph: nx.Graph[Any], name: str | None = None) -> FeedbackGraph:
    """Return the graph whose every node is a label and its action; an edge (a, b): a observes b.

    An undirected edge observes both ways. Nodes other than 0 to K-1 are numbered in sorted order. The name is the
    one given, or the graph's own, or ``networkx``.
    """
    name = name or str(graph.name) or "networkx"
    n_labels = graph.number_of_nodes()
    index = _number(name, graph.nodes, n_labels)
    edges = [(index[a], index[b]) for a, b in graph.to_directed().edges()]
    return from_edges(edges, n_labels, name)


def from_edges(
    edges: Iterable[tuple[Hashable, Hashable]], n_labels: int, name: str = "edges"
) -> FeedbackGraph:
    """Return the graph of the directed edges (a, b): predicting a observes b.

    Nodes other than 0 to K-1 are numbered in sorted order, and must then be ``n_labels`` many.
    """
    pairs = [tuple(edge) for edge in edges]
    for pair in pairs:
        require(len(pair) == 2, f"edge {pair} of graph '{name}' is not a pair: expected (from, to)")
    index = _number(name, (node for pair in pairs for node in pair), n_labels)
    observes = _nothing(name, n_labels)
    for a, b in pairs:
        observes[index[a], index[b]] = True
    return FeedbackGraph(name, observes)


def parse(spec: str, n_labels: int) -> FeedbackGraph:
    """Return the graph over ``n_labels`` labels that the command line's ``spec`` names.

    Legal are ``full``, ``bandit``, ``filtering[:revealing=0+2]``, ``label-efficient``, ``cops-and-robbers``,
    ``random[:density=0.3,seed=7]``, a file ``*.csv`` holding a 0/1 matrix of ``n_labels`` columns and a file
    ``*.edgelist`` holding two nodes a line. Except for a file's, a graph's name is a spec of that graph. Raises
    :class:`UserError` for anything else.
    """
    if (read := _FILES.get(Path(spec).suffix.lower())) is not None:
        return read(Path(spec), n_labels)
    name, parameters = split_spec(spec)
    if name not in _NAMES:
        raise unknown("graph", name, [*_NAMES, *(f"FILE{suffix}" for suffix in _FILES)])
    legal, build = _NAMES[name]
    check_keys(name, parameters, legal)
    return build(n_labels, parameters)


def names() -> tuple[str, ...]:
    """Return the names :func:`parse` knows, one for each kind of graph."""
    return tuple(name for name in _NAMES if name != "full-information")


_NAMES: Mapping[str, tuple[tuple[str, ...], Callable[[int, Mapping[str, str]], FeedbackGraph]]] = {
    "full": ((), lambda n, _: full_information(n)),
    "full-information": ((), lambda n, _: full_information(n)),
    "bandit": ((), lambda n, _: bandit(n)),
    "filtering": (
        ("revealing",),
        lambda n, given: filtering(n, read_ints(given, "revealing", (0,), f"[0, {n - 1}]")),
    ),
    "label-efficient": ((), lambda n, _: label_efficient(n)),
    "cops-and-robbers": ((), lambda n, _: cops_and_robbers(n)),
    "random": (
        ("density", "seed"),
        lambda n, given: random_digraph(
            n,
            read_float(given, "density", 0.3, "[0, 1]"),
            read_int(given, "seed", 0, "[0, inf)"),
        ),
    ),
}


def _read_matrix(path: Path, n_labels: int) -> FeedbackGraph:
    rows = [line.split(",") for line in _read_lines(path)]
    for row in rows:
        require(
            len(row) == n_labels,
            f"a row of graph file '{path}' has {len(row)} entries: expected {n_labels}, "
            "one for each label, separated by commas",
        )
    require(bool(rows), f"graph file '{path}' is empty: expected a matrix of 0 and 1")
    return from_matrix(rows, str(path))


def _read_edges(path: Path, n_labels: int) -> FeedbackGraph:
    edges = [tuple(line.replace(",", " ").split()[:2]) for line in _read_lines(path)]
    for edge in edges:
        require(
            len(edge) == 2,
            f"line '{' '.join(edge)}' of graph file '{path}' is not an edge: expected two nodes",
        )
    numbered = all(node.isdecimal() for edge in edges for node in edge)
    convert: Callable[[str], Hashable] = int if numbered else str
    return from_edges([(convert(a), convert(b)) for a, b in edges], n_labels, str(path))


def _read_lines(path: Path) -> list[str]:
    """Return the lines of a file without comments (from ``#`` on) and blank lines."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        message = f"cannot read graph file '{path}' ({reason}): expected a text file"
        raise UserError(message) from None
    return [bare for line in text.splitlines() if (bare := line.partition("#")[0].strip())]


_FILES: Mapping[str, Callable[[Path, int], FeedbackGraph]] = {
    ".csv": _read_matrix,
    ".edgelist": _read_edges,
}


def _zero_one(name: str, matrix: ArrayLike) -> BoolArray:
    """Return a new matrix of truth values, or raise for anything but a matrix of 0 and 1."""
    try:
        values = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        message = f"graph '{name}' is not a matrix of numbers: expected rows of 0 and 1"
        raise UserError(message) from None
    require(
        values.ndim == 2,
        f"graph '{name}' has an array of shape {values.shape}: expected (n_actions, n_labels)",
    )
    for action, label in np.argwhere((values != 0) & (values != 1)):
        raise UserError(
            f"entry ({action}, {label}) of graph '{name}' is {values[action, label]:g}: "
            "expected 0 or 1"
        )
    return values.astype(np.bool_)


def _number(name: str, nodes: Iterable[Hashable], n_labels: int) -> dict[Any, int]:
    """Return the label of each node: itself if all are labels, its sorted position otherwise."""
    distinct: set[Any] = set(nodes)
    if distinct <= set(range(n_labels)):
        return {label: label for label in range(n_labels)}
    require(
        len(distinct) == n_labels,
        f"graph '{name}' has {len(distinct)} nodes, not all among 0 to {n_labels - 1}: "
        f"expected {n_labels} nodes, one for each label",
    )
    try:
        return {node: label for label, node in enumerate(sorted(distinct))}
    except TypeError:
        raise UserError(
            f"the nodes of graph '{name}' cannot be sorted: expected all numbers or all text"
        ) from None


def _check_labels(name: str, n_labels: int) -> None:
    require(
        2 <= n_labels <= MOST_LABELS,
        f"the number of labels of graph '{name}' is {n_labels}: expected at least 2 and at most"
        f" {MOST_LABELS:,}",
    )


def _nothing(name: str, n_labels: int) -> BoolArray:
    _check_labels(name, n_labels)
    return np.zeros((n_labels, n_labels), dtype=np.bool_)


def _loops(name: str, n_labels: int) -> BoolArray:
    _check_labels(name, n_labels)
    return np.eye(n_labels, dtype=np.bool_)


def _frozen(array: Array) -> Array:
    array.setflags(write=False)
    return array
