"""Gappletron against numbers of an independent implementation, and by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from boundcheck.adversaries.sequence import Sequence
from boundcheck.algorithms import graphs, losses, updates
from boundcheck.algorithms.gappletron import RATE, Gappletron
from boundcheck.algorithms.learner import SCALE
from boundcheck.verify.play import Game, Run
from boundcheck.verify.record import ACTION, BEST, GAP, LOSS, OBSERVATION, OBSERVED, Block

EXAMPLES = json.loads(
    (Path(__file__).parent / "gappletron_examples.json").read_text(encoding="utf-8")
)


class Scripted:
    """A generator whose uniforms are known beforehand."""

    def __init__(self, uniforms: Iterable[float]) -> None:
        self.left = list(uniforms)

    def random(self, n: int) -> NDArray[np.float64]:
        drawn, self.left = self.left[:n], self.left[n:]
        return np.array(drawn)


def start(
    learner: Gappletron,
    graph: str,
    features: Any,
    labels: Any,
    uniforms: Iterable[float],
    *,
    n_labels: int = 3,
    interpreted: bool = False,
) -> Run:
    """A game about to be played with given features, labels and uniforms."""
    sequence = Sequence.from_dense(np.array(features, dtype=float), labels, n_labels=n_labels)
    run = Run(Game(learner, sequence, graphs.parse(graph, n_labels)), 0, interpreted=interpreted)
    run._uniforms = Scripted(uniforms)  # type: ignore[assignment]
    return run


def gappletron(loss: str, rule: str = "printed", gamma: float | str = 1.0) -> Gappletron:
    return Gappletron(losses.parse(loss), rule, updates.parse("unprojected"), gamma)  # type: ignore[arg-type]


def compare(run: Run, block: Block, expected: dict[str, Any], tolerance: float) -> None:
    """Compare one played round with its expected numbers, every one of them."""

    def close(name: str, value: Any) -> None:
        np.testing.assert_allclose(value, expected[name], rtol=0, atol=tolerance, err_msg=name)

    row = block.columns[0]
    close("scores", block.scores[0])
    close("ystar", row[BEST])
    close("a", row[GAP])
    close("gamma_t", run.state[RATE])
    close("p", block.probabilities[0])
    close("play", row[ACTION])
    close("P", row[OBSERVATION])
    close("observed", row[OBSERVED])
    close("v", block.weights[0])
    if expected["loss"] is not None:  # the learner knows it where the label is revealed only
        close("loss", row[LOSS])
    close("W", (run.state[SCALE] * run.weights).T)
    assert (run.state[RATE] <= row[GAP]) == bool(expected["zeta"])


@pytest.mark.parametrize("interpreted", [False, True], ids=["compiled", "python"])
@pytest.mark.parametrize(
    "game", EXAMPLES["games"], ids=lambda game: f"{game['loss']}-{game['graph']}"
)
def test_the_examples_of_an_independent_implementation(
    game: dict[str, Any], interpreted: bool
) -> None:
    run = start(
        gappletron(game["loss"]),
        game["graph"],
        EXAMPLES["features"],
        EXAMPLES["labels"],
        EXAMPLES["uniforms"],
        interpreted=interpreted,
    )
    assert len(game["rounds"]) == 4
    for expected in game["rounds"]:
        compare(run, run.advance(1, trace=True), expected, 1e-9)
