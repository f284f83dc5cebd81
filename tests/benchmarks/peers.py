"""Other programs that learn online from the same documents: Vowpal Wabbit and River, where installed.

None of them does the same work, so each comes with what it does less and what it does more. Documents are put into a
program's own form (lines of text, dictionaries) before the clock starts; every round is a few calls from Python.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from yardsticks import Result

from boundcheck.adversaries.sequence import Sequence
from boundcheck.verify.games.labels.play import game_generator


@dataclass(frozen=True)
class Peer:
    """A program and what it does in a round.

    Attributes
    ----------
    package : what has to be importable
    less, more : what its round lacks beside the engine's, and what it has beyond it
    prepare : given the documents and the seed of the draws, the function that plays a replicate
    """

    package: str
    less: str
    more: str
    prepare: Callable[[Sequence, int], Callable[[int], Result]]

    @property
    def installed(self) -> bool:
        return importlib.util.find_spec(self.package) is not None


def _documents(sequence: Sequence) -> list[dict[int, float]]:
    """The features of every round that are not zero."""
    bounds = sequence.indptr
    return [
        {int(i): float(x) for i, x in zip(sequence.indices[a:b], sequence.values[a:b], strict=True)}
        for a, b in pairwise(bounds)
    ]


def _texts(sequence: Sequence) -> list[str]:
    """Documents as Vowpal Wabbit reads them."""
    return [
        "| " + " ".join(f"{i}:{x!r}" for i, x in document.items())
        for document in _documents(sequence)
    ]


def _vowpal_bandit(sequence: Sequence, seed: int) -> Callable[[int], Result]:
    from vowpalwabbit import Workspace

    texts, labels = _texts(sequence), sequence.labels.tolist()

    def play(replicate: int) -> Result:
        workspace = Workspace(f"--cb_explore {sequence.n_labels} --epsilon 0.01 --quiet")
        uniforms = game_generator(seed, replicate).random(len(labels)).tolist()
        mistakes = 0
        for text, label, u in zip(texts, labels, uniforms, strict=True):
            chances = workspace.predict(text)
            action, cumulative = 0, chances[0]
            while u >= cumulative and action < len(chances) - 1:
                action += 1
                cumulative += chances[action]
            cost = float(action != label)
            mistakes += action != label
            workspace.learn(f"{action + 1}:{cost}:{chances[action]} {text}")
        workspace.finish()
        return float(mistakes), np.zeros(0)

    return play


def _vowpal_labels(sequence: Sequence, seed: int) -> Callable[[int], Result]:
    from vowpalwabbit import Workspace

    labels = (sequence.labels + 1).tolist()
    texts = [f"{y} {text}" for y, text in zip(labels, _texts(sequence), strict=True)]

    def play(replicate: int) -> Result:
        workspace = Workspace(f"--oaa {sequence.n_labels} --quiet")
        mistakes = 0
        for text, label in zip(texts, labels, strict=True):
            example = workspace.parse(text)
            workspace.learn(example)  # keeps the prediction made before the step
            mistakes += example.get_multiclass_prediction() != label
            workspace.finish_example(example)
        workspace.finish()
        return float(mistakes), np.zeros(0)

    return play


def _river(make: Callable[[], Any]) -> Callable[[Sequence, int], Callable[[int], Result]]:
    def prepare(sequence: Sequence, seed: int) -> Callable[[int], Result]:
        documents, labels = _documents(sequence), sequence.labels.tolist()

        def play(replicate: int) -> Result:
            model = make()
            mistakes = 0
            for document, label in zip(documents, labels, strict=True):
                mistakes += model.predict_one(document) != label
                model.learn_one(document, label)
            return float(mistakes), np.zeros(0)

        return play

    return prepare


def _one_vs_rest(name: str) -> Callable[[], Any]:
    def make() -> Any:
        from river import linear_model, multiclass

        return multiclass.OneVsRestClassifier(getattr(linear_model, name)())

    return make


def _softmax() -> Any:
    from river import linear_model

    return linear_model.SoftmaxRegression()


_LABELS = "full information, hence no p and no draw; counts mistakes only"
_DICTIONARIES = "dictionaries whose keys may grow; a step for every label in every round"
_STEPS = "hashes features; adaptive, normalised and invariant steps"

PEERS = {
    "VW --cb_explore": Peer(
        "vowpalwabbit",
        "bandit feedback alone; single precision; counts mistakes only",
        f"parses the text twice; {_STEPS}; the draw is made in Python",
        _vowpal_bandit,
    ),
    "VW --oaa": Peer(
        "vowpalwabbit",
        f"{_LABELS}; single precision",
        f"parses the text once; {_STEPS}, one for every label in every round",
        _vowpal_labels,
    ),
    "River, Perceptron": Peer("river", _LABELS, _DICTIONARIES, _river(_one_vs_rest("Perceptron"))),
    "River, PAClassifier": Peer(
        "river", _LABELS, _DICTIONARIES, _river(_one_vs_rest("PAClassifier"))
    ),
    "River, SoftmaxRegression": Peer(
        "river", _LABELS, f"exponentials; {_DICTIONARIES}", _river(_softmax)
    ),
}


def check_learning(name: str, mistakes: float, sequence: Sequence) -> None:
    """Exit if a peer does no better than guessing: it would not have been told the labels rightly."""
    guessing = sequence.horizon * (1 - 1 / sequence.n_labels)
    if not mistakes < guessing - 6 * math.sqrt(sequence.horizon):
        raise SystemExit(
            f"{name} made {mistakes:,.0f} mistakes, and guessing makes {guessing:,.0f}"
        )
