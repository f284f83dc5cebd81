"""Keep pytest from taking the repository root, which is a package, for a package of tests."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector:
    """Collect every directory as a plain one, so that no module of ours is imported twice."""
    return pytest.Dir.from_parent(parent, path=path)
