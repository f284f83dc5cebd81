"""boundcheck: pytest for theorems of online learning.

The public names load on first use, so that importing the package compiles nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import UserError as UserError
    from .verify.suite.pytest_checks import RefutedPromise as RefutedPromise
    from .verify.suite.pytest_checks import check_learner as check_learner
    from .verify.suite.pytest_checks import parametrize_with_claims as parametrize_with_claims

#: Each public name and the module that holds it.
_HOMES = {
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
