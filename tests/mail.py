"""Files as somebody else may send them, which leave a mark when they are run, and printed lines that are run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from command_line import boundcheck

from boundcheck.verify import catalog
from boundcheck.verify.outcome import digest_of
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import run as suite

MARK = "open({!r}, 'a').write('ran')\n"

LEARNER = """
import numpy as np

class Wrong:
    promises = ("*",)
    loss, gamma, rule, regret_factor = "smooth-hinge", 1.0, "threshold", 0.25

    def __init__(self, problem):
        self.k = problem.n_labels
        self.weights = np.zeros((self.k, problem.n_features))

    def predict(self, x):
        return np.eye(self.k)[(int(np.argmax(x)) + 1) % self.k]

    def update(self, x, action, label):
        pass
"""

ADVERSARY = """
import numpy as np

class Waves:
    n_labels, n_features, feature_norm = 3, 3, 1.0

    def sequence(self, horizon, seed):
        labels = np.arange(horizon) % 3
        return np.eye(3)[labels], labels

class Switch:
    n_labels, n_features, feature_norm = 2, 1, 1.0

    def sequence(self, horizon, seed):
        return np.full((horizon, 1), 2.0**-7), (np.arange(horizon) >= horizon // 2).astype(int)
"""


class Mail:
    """A folder with files that leave a mark when they are run, as somebody else may send them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.mark = folder, folder / "ran"
        for name, text in (("evil.py", LEARNER), ("adv.py", ADVERSARY)):
            (folder / name).write_text(MARK.format(str(self.mark)) + text, encoding="utf-8")

    @property
    def ran(self) -> bool:
        found = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return found

    def certificate(self, learner: str, adversary: str, claim: str, runs: int = 1) -> Path:
        """A genuine certificate of a game of these."""
        setting = Setting(learner, adversary, "full", 100, 1.0, runs)
        rows = suite.judge_job(suite.Job(setting, (claim,)), 0)
        found = next(c for row in rows if (c := row.outcome.certificate) is not None)
        assert self.ran
        return found.write(self.folder)

    def changed(self, path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
        """The same certificate with its game changed, and the digest to fit."""
        content = json.loads(path.read_text("utf-8"))
        del content["digest"]
        change(content["game"])
        other = self.folder / "changed.json"
        other.write_text(json.dumps(content | {"digest": digest_of(content)}), encoding="utf-8")
        return other


def shell(line: str, **here: Any) -> int:
    """Run a line as it was printed."""
    program, *arguments = shlex.split(line)
    assert program == "boundcheck"
    catalog.claims.cache_clear()  # as in a process of its own
    try:
        return boundcheck(*arguments, **here)
    finally:
        catalog.claims.cache_clear()
