"""Result folders that a page is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from boundcheck.verify.suite import results

SUITE = {
    "versions": {"boundcheck": "0.1.0", "numpy": "2.0.0"},
    "cpu": "a processor",
    "libm": "a library",
    "seed": 7,
    "level": 1e-9,
    "sampled_cells": 3,
    "false_alarm_probability": 3e-9,
    "seconds": 1.5,
}


def result(
    claim: str = "gappletron/lemma-1", form: str = "repaired", **other: Any
) -> dict[str, Any]:
    """A row of verdicts.json."""
    row = {
        "claim": claim,
        "form": form,
        "learner": "gappletron:loss=smooth-hinge,rule=threshold,gamma=2",
        "loss": "smooth-hinge",
        "adversary": "one-hot:noise=0.1",
        "graph": "bandit",
        "kind": "pathwise",
        "verdict": "holds",
        "expected": "holds",
        "observed": 0.5,
        "envelope": 1.0,
        "ratio": 0.5,
        "regret_ratio": None,
        "headroom": 2.0,
        "evidence": "100 rounds in 2 runs",
        "runs": 2,
        "rounds": 100,
        "flags": [],
        "certificate": None,
    } | other
    return {"case": f"{row['learner']} | {row['adversary']} | {row['graph']} | T=50"} | row


def write(folder: Path, found: list[dict[str, Any]], curves: list[tuple[Any, ...]]) -> Path:
    """A result folder."""
    document = {
        "schema": results.SCHEMA,
        "suite": SUITE,
        "results": found,
        "hypotheses": [{"name": "margin", "measured": -0.25, "meaning": "smallest margin of U"}],
    }
    results.write_json(document, folder / results.VERDICTS)
    pd.DataFrame(curves, columns=results.CURVE_COLUMNS).to_parquet(
        folder / results.CURVES, index=False
    )
    return folder
