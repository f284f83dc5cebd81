"""boundcheck: pytest for theorems of online learning.

The public names load on first use, so that importing the package compiles nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import UserError as UserError
    from .verify.checks import RefutedPromise as RefutedPromise
    from .verify.checks import check_learner as check_learner
    from .verify.checks import parametrize_with_claims as parametrize_with_claims

#: Each public name and the module that holds it.
_HOMES = {
    "UserError": ".errors",
    "RefutedPromise": ".verify.checks",
    "check_learner": ".verify.checks",
    "parametrize_with_claims": ".verify.checks",
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
