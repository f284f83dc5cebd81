"""Replays in a process that cannot compile."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

PROGRAM = """
import json, sys
sys.modules["numba"] = None
from pathlib import Path
from boundcheck.verify.certificates.replay import replay
found = [replay(Path(name), trust=True) for name in sys.argv[1:]]
assert sys.modules["numba"] is None
print(json.dumps([(each.claim.id, each.observed, each.envelope) for each in found]))
"""


def replay_without_numba(certificates: Iterable[Path]) -> list[tuple[str, float, float]]:
    """Claim, observed side and envelope of certificates that are accepted where numba cannot be imported."""
    command = [sys.executable, "-P", "-c", PROGRAM, *map(str, certificates)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [tuple(row) for row in json.loads(done.stdout)]


COMMAND = """
import sys
sys.modules["numba"] = None
from boundcheck.reports.cli import main
sys.argv[0] = "boundcheck"
status = main()
assert sys.modules["numba"] is None
sys.exit(status)
"""


def command_without_numba(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a fresh process where numba cannot be imported."""
    command = [sys.executable, "-P", "-c", COMMAND, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)
