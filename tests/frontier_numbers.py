"""The numbers of a small frontier, as a result file has them."""

from __future__ import annotations

from typing import Any

FRONTIER: dict[str, Any] = {
    "rounds": 500, "runs": 130, "delta": 0.05, "confidence": 0.95, "anytime": True,
    "edges": [0.0, 0.1, 0.2], "known": [3.5, 4.25, None],
    "low": [1.0, 2.0, 21.5], "middle": [1.5, 3.0, 30.0], "high": [2.5, 4.0, 47.5],
    "end_low": [0.0, 0.0, 15.0], "end_middle": [0.0, 1.0, 20.0], "end_high": [0.0, 2.0, 40.0],
}  # fmt: skip
