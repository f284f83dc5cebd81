"""Tests of the feedback graphs: the named ones, the user's own, and the sentences for bad ones."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from boundcheck.algorithms import graphs
from boundcheck.algorithms.graphs import FeedbackGraph
from boundcheck.errors import UserError

SPECS = [
    "full",
    "bandit",
    "filtering",
    "filtering:revealing=1+3",
    "label-efficient",
    "cops-and-robbers",
    "random:density=0.3,seed=7",
]


@pytest.mark.parametrize(
    ("graph", "revealing", "dominating", "in_degree"),
    [
        (graphs.full_information(4), (0, 1, 2, 3), (0,), (4, 4, 4, 4)),
        (graphs.bandit(4), (), (0, 1, 2, 3), (1, 1, 1, 1)),
        (graphs.bandit(2), (0, 1), (0,), (2, 2)),
        (graphs.filtering(4), (0,), (0,), (1, 1, 1, 1)),
        (graphs.filtering(4, (3, 1, 3)), (1, 3), (1,), (2, 2, 2, 2)),
        (graphs.label_efficient(3), (3,), (3,), (1, 1, 1)),
        (graphs.cops_and_robbers(4), (0, 1, 2, 3), (0,), (4, 4, 4, 4)),
        (graphs.from_edges([(0, 0), (0, 1), (2, 2), (2, 3)], 4), (), (0, 2), (1, 1, 1, 1)),
    ],
    ids=lambda value: value.name if isinstance(value, FeedbackGraph) else "",
)
def test_the_parts_of_named_graphs(
    graph: FeedbackGraph,
    revealing: tuple[int, ...],
    dominating: tuple[int, ...],
    in_degree: tuple[int, ...],
) -> None:
    assert graph.revealing == revealing
    assert graph.dominating == dominating
    assert graph.domination_number == len(dominating)
    assert graph.exact
    assert tuple(graph.in_degree) == in_degree
    assert graph.is_full_information == (len(revealing) == graph.n_actions)


def test_the_query_comes_after_the_labels_and_they_reveal_nothing() -> None:
    graph = graphs.label_efficient(3)
    assert (graph.n_actions, graph.n_labels) == (4, 3)
    assert not graph.observes[:3].any()
    assert graph.observes[3].all()


def test_the_name_says_which_labels_reveal() -> None:
    assert graphs.filtering(4).name == "filtering"
    assert graphs.filtering(4, (2, 0)).name == "filtering:revealing=0+2"


def test_an_action_missing_one_label_observes_it() -> None:
    graph = graphs.from_matrix([[1, 1, 0], [1, 0, 0], [0, 0, 0]], "mine")
    assert graph.observes.tolist() == [[True] * 3, [True, False, False], [False] * 3]


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    arrays.arrays(
        np.bool_,
        st.tuples(st.integers(2, 7), st.integers(2, 7)).map(lambda s: (max(s), min(s))),
    )
)
def test_the_closure_rule_and_the_neighbours(drawn: NDArray[np.bool_]) -> None:
    n_actions, n_labels = drawn.shape
    matrix = drawn | (np.eye(n_actions, n_labels, dtype=np.bool_) & ~drawn.any(axis=0))
    before = matrix.copy()
    graph = graphs.from_matrix(matrix)
    assert np.array_equal(matrix, before)
    for action, row in enumerate(matrix):
        expected = np.ones(n_labels) if row.sum() >= n_labels - 1 else row
        assert np.array_equal(graph.observes[action], expected)
    assert graphs.from_matrix(graph.observes) == graph
    pointers, actions = graph.in_neighbours
    assert pointers.dtype == actions.dtype == np.int64
    for label in range(n_labels):
        observers = np.flatnonzero(graph.observes[:, label])
        assert np.array_equal(actions[pointers[label] : pointers[label + 1]], observers)
        assert graph.in_degree[label] == observers.size
    assert pointers[-1] == actions.size == graph.observes.sum()


def test_the_probability_of_observing_each_label() -> None:
    graph = graphs.from_edges([(0, 0), (0, 1), (1, 1), (2, 2), (2, 3), (3, 0)], 4)
    p = np.array([0.5, 0.25, 0.125, 0.125])
    assert graph.observation_probability(p).tolist() == [0.625, 0.75, 0.125, 0.125]
    both = graph.observation_probability(np.stack([p, p[::-1]]))
    assert both.tolist() == [[0.625, 0.75, 0.125, 0.125], [0.625, 0.25, 0.25, 0.25]]


def test_random_digraphs_follow_their_density_and_seed() -> None:
    assert graphs.random_digraph(6, 0.4, 1) == graphs.random_digraph(6, 0.4, 1)
    assert graphs.random_digraph(6, 0.4, 1) != graphs.random_digraph(6, 0.4, 2)
    assert np.array_equal(graphs.random_digraph(5, 0, 3).observes, graphs.bandit(5).observes)
    assert graphs.random_digraph(5, 1.0, 3).is_full_information
    drawn = graphs.random_digraph(50, 0.4, 1).observes
    assert drawn.mean() == pytest.approx(0.4, abs=0.04)
    assert not drawn.diagonal().all()


def test_graphs_cannot_be_changed() -> None:
    graph = graphs.bandit(4)
    pointers, actions = graph.in_neighbours
    for array in (graph.observes, graph.in_degree, pointers, actions):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(FrozenInstanceError):
        graph.name = "other"  # type: ignore[misc]
    copy = pickle.loads(pickle.dumps(graph))
    assert copy == graph
    assert not copy.observes.flags.writeable


def test_graphs_are_equal_by_name_and_matrix() -> None:
    graph = graphs.bandit(4)
    assert graph == graphs.from_matrix(np.eye(4), "bandit")
    assert hash(graph) == hash(graphs.from_matrix(np.eye(4), "bandit"))
    assert graph != graphs.from_matrix(np.eye(4), "other")
    assert graph != graphs.bandit(3)
    assert graph != "bandit"


def test_networkx_there_and_back() -> None:
    graph = graphs.random_digraph(6, 0.3, 5)
    assert graphs.from_networkx(graph.to_networkx()) == graph
    query = graphs.label_efficient(3).to_networkx()
    assert sorted(query.edges) == [(3, 0), (3, 1), (3, 2)]
    assert sorted(query.nodes) == [0, 1, 2, 3]


def test_networkx_graphs_of_any_kind_and_labelling() -> None:
    directed = nx.DiGraph([("c", "a"), ("a", "b"), ("a", "d"), ("d", "c")])
    assert graphs.from_networkx(directed).name == "networkx"
    assert np.argwhere(graphs.from_networkx(directed).observes).tolist() == [
        [0, 1],
        [0, 3],
        [2, 0],
        [3, 2],
    ]
    undirected = graphs.from_networkx(nx.cycle_graph(5), "cycle")
    assert undirected.name == "cycle"
    assert np.array_equal(undirected.observes, undirected.observes.T)
    assert undirected.observes.sum() == 10
    # The nodes 0 to K-1 are labels whatever order they were added in.
    assert graphs.from_networkx(nx.DiGraph([(3, 3), (0, 0), (2, 2), (1, 0), (1, 1)])).observes[1, 0]
    assert graphs.from_edges([(10, 10), (9, 9), (2, 2), (9, 10)], 3).revealing == (1,)


@pytest.mark.parametrize("spec", SPECS)
def test_a_name_is_a_spec_of_its_graph(spec: str) -> None:
    graph = graphs.parse(spec, 5)
    assert graph.name == spec
    assert graphs.parse(graph.name, 5) == graph


def test_specs_name_the_graphs() -> None:
    assert graphs.parse("full-information", 3) == graphs.full_information(3)
    assert graphs.parse("filtering:revealing=2+0", 4) == graphs.filtering(4, (0, 2))
    assert graphs.parse("random:seed=7", 4) == graphs.random_digraph(4, 0.3, 7)
    assert graphs.parse("random", 4) == graphs.random_digraph(4, 0.3, 0)
    assert {graphs.parse(name, 4).n_labels for name in graphs.names()} == {4}
    assert "full" in graphs.names()
    assert "full-information" not in graphs.names()


def test_graphs_from_files(tmp_path: Path) -> None:
    matrix = tmp_path / "mine.csv"
    matrix.write_text(
        "\ufeff1, 0,0,0\n0,1,1,0 # two\n\n0,0,0,1\n0,0,0,0\n1,1,1,1\n", encoding="utf-8"
    )
    graph = graphs.parse(str(matrix), 4)
    assert graph.name == str(matrix)
    assert graph.n_actions == 5
    assert graph.revealing == (4,)
    edges = tmp_path / "mine.edgelist"
    edges.write_text("# ours\n1 1\n10,10 {}\n2 2 0.5\n2 3\n3 10\n")
    expected = [[0, 0], [1, 1], [1, 2], [2, 3], [3, 3]]
    assert np.argwhere(graphs.parse(str(edges), 4).observes).tolist() == expected
    nx.write_edgelist(nx.cycle_graph(5, create_using=nx.DiGraph), str(edges))
    assert np.argwhere(graphs.parse(str(edges), 5).observes)[:, 1].tolist() == [1, 2, 3, 4, 0]
    edges.write_text("spam ham\nham eggs\neggs spam\nspam spam\n")
    assert graphs.parse(str(edges), 3).revealing == (2,)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: graphs.bandit(1),
            "the number of labels of graph 'bandit' is 1: expected at least 2",
        ),
        (
            lambda: graphs.bandit(20_001),
            "labels of graph 'bandit' is 20001: expected at least 2 and at most",
        ),
        (lambda: graphs.full_information(-1), "labels of graph 'full' is -1: expected at least 2"),
        (lambda: graphs.label_efficient(0), "graph 'label-efficient' is 0: expected at least 2"),
        (lambda: graphs.from_matrix([[1]], "m"), "labels of graph 'm' is 1: expected at least 2"),
        (
            lambda: graphs.from_matrix([[1, 0, 0, 0]] * 5, "m"),
            "no action of graph 'm' observes label 1, 2, 3: "
            "expected every label from 0 to 3 to be observed by some action",
        ),
        (
            lambda: graphs.from_matrix(np.ones((2, 3)), "m"),
            "graph 'm' has 2 actions (rows) for 3 labels (columns): expected at least 3 actions",
        ),
        (
            lambda: graphs.from_matrix([[1, 0], [0, 2]], "m"),
            "entry (1, 1) of graph 'm' is 2: expected 0 or 1",
        ),
        (
            lambda: graphs.from_matrix([[1.0, np.nan], [0.0, 1.0]]),
            "(0, 1) of graph 'matrix' is nan: ",
        ),
        (lambda: graphs.from_matrix([1, 0]), "graph 'matrix' has an array of shape (2,): expected"),
        (lambda: graphs.from_matrix([["a", "b"]]), "'matrix' is not a matrix of numbers: expected"),
        (
            lambda: graphs.from_matrix([[1, 0], [1]]),
            "'matrix' is not a matrix of numbers: expected",
        ),
        (
            lambda: FeedbackGraph("m", np.array([[3, 0], [0, 1]])),
            "entry (0, 0) of graph 'm' is 3: expected 0 or 1",
        ),
        (
            lambda: graphs.filtering(4, (0, 4)),
            "unknown revealing label 4 of graph 'filtering': expected labels from 0 to 3",
        ),
        (lambda: graphs.filtering(4, (-1,)), "unknown revealing label -1 of graph 'filtering'"),
        (lambda: graphs.filtering(4, ()), "graph 'filtering' has no revealing label: expected"),
        (
            lambda: graphs.random_digraph(4, 1.5, 0),
            "density 1.5 is not legal: expected a number",
        ),
        (lambda: graphs.random_digraph(4, 0.5, -1), "seed -1 is not legal: expected an integer in"),
        (
            lambda: graphs.from_edges([("a", "b"), ("b", "a")], 3),
            "graph 'edges' has 2 nodes, not all among 0 to 2: expected 3 nodes, one for each label",
        ),
        (
            lambda: graphs.from_edges([("a", 1), (1, 2.5)], 3),
            "the nodes of graph 'edges' cannot be sorted: expected all numbers or all text",
        ),
        (
            lambda: graphs.from_edges([(0, 1, 2)], 3),  # type: ignore[list-item]
            "edge (0, 1, 2) of graph 'edges' is not a pair: expected (from, to)",
        ),
        (
            lambda: graphs.from_networkx(nx.DiGraph()),
            "graph 'networkx' is 0: expected at least 2",
        ),
        (
            lambda: graphs.parse("bandti", 3),
            "unknown graph 'bandti' (did you mean 'bandit'?): expected one of",
        ),
        (lambda: graphs.parse("bandit:x=1", 3), "'bandit' takes no parameters, but got 'x=1'"),
        (
            lambda: graphs.parse("random:densty=1", 3),
            "unknown parameter of 'random' 'densty' (did you mean 'density'?): expected one of density, seed.",
        ),
        (
            lambda: graphs.parse("random:density=2", 3),
            "parameter density=2 is not legal: expected a number in [0, 1]",
        ),
        (
            lambda: graphs.parse("filtering:revealing=0+3", 3),
            "parameter revealing=0+3 is not legal: expected integers in [0, 2] joined by +",
        ),
        (
            lambda: graphs.parse("none/such.csv", 3),
            "cannot read graph file 'none/such.csv' (No such file or directory): expected",
        ),
    ],
)
def test_a_bad_graph_gets_one_sentence(build: Callable[[], FeedbackGraph], sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        build()


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("a.csv", b"", "is empty: expected a matrix of 0 and 1"),
        (
            "a.csv",
            b"1,0\n0,1\n",
            "has 2 entries: expected 3, one for each label, separated by",
        ),
        ("a.csv", b"1,0,x\n" * 3, "is not a matrix of numbers: expected rows of 0 and 1"),
        ("a.csv", b"\xff\xfe\xfa", "(not UTF-8 text): expected a text file"),
        ("a.edgelist", b"0 1\n2\n", "line '2' of graph file"),
        ("a.edgelist", b"", "observes label 0, 1, 2: expected every label"),
    ],
)
def test_a_bad_file_gets_one_sentence(
    tmp_path: Path, file: str, content: bytes, sentence: str
) -> None:
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(UserError, match=re.escape(sentence)) as caught:
        graphs.parse(str(path), 3)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
