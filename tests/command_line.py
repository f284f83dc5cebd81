"""The command line as a test runs it, and a learner that breaks its promise."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from boundcheck.reports.cli import main

BROKEN = '''
import numpy as np

class Flipped:
    """Plays the worst label, and says that it is Gappletron."""

    promises = ("gappletron/lemma-1",)
    loss, gamma, rule = "smooth-hinge", 0.1, "threshold"

    def __init__(self, problem):
        self.graph = problem.graph
        self.weights = np.zeros((problem.n_labels, problem.n_features))

    def predict(self, x):
        p = np.zeros(self.graph.n_actions)
        p[np.argmin(self.weights @ x)] = 1
        return p

    def update(self, x, action, label):
        if label is not None:
            self.weights[label] += x
'''


def boundcheck(*arguments: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> int:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["boundcheck", *arguments])
    return main()
