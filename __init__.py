"""boundcheck: pytest for theorems of online learning.

The public names load on first use, so that importing the package compiles nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import UserError as UserError
    from .reports.api import run_study as run_study
    from .reports.api import verify_claims as verify_claims
    from .reports.api import write_report as write_report
    from .verify.suite.pytest_checks import RefutedPromise as RefutedPromise
    from .verify.suite.pytest_checks import check_learner as check_learner
    from .verify.suite.pytest_checks import parametrize_with_claims as parametrize_with_claims

_AUTHOR = (
    "Audit", "Bound", "Cell", "Check", "Claim", "Comparison", "Evidence", "Exact", "Form", "Frontier", "Instance",
    "Interval", "Kind", "Known", "Law", "LowerBound", "Mean", "MeanSides", "OneRound", "Pathwise", "PerRun", "Proof",
    "Reached", "RunSides", "Setting", "Sides", "Source", "Suspect", "Tail", "TailSides", "Verdict",
)  # fmt: skip
"""The names that the author of a claim needs; verify/author.py has the same."""

#: Each public name and the module that holds it.
_HOMES = {
    **dict.fromkeys(_AUTHOR, ".verify.author"),
    "run_study": ".reports.api",
    "verify_claims": ".reports.api",
    "write_report": ".reports.api",
    "UserError": ".errors",
    "RefutedPromise": ".verify.suite.pytest_checks",
    "check_learner": ".verify.suite.pytest_checks",
    "parametrize_with_claims": ".verify.suite.pytest_checks",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    """Load the public ``name`` from its module (PEP 562)."""
    if name == "__version__":
        return version(__name__)
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
