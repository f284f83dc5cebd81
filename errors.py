"""The one exception class for users' mistakes, and the sentences it carries."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class UserError(ValueError):
    """A mistake in what the user gave us.

    Its message is one sentence that names the value, what was expected and what is legal. The command
    line prints it without a traceback and exits with status 2.
    """


class LearnerError(UserError):
    """A learner that failed in the middle of a run; other runs may still be judged."""


def require(condition: bool, sentence: str) -> None:
    """Raise :class:`UserError` with ``sentence`` unless ``condition`` holds."""
    if not condition:
        raise UserError(sentence)


def suggest(word: str, legal: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the legal word nearest to ``word``, or an empty string."""
    close = get_close_matches(word, list(legal), n=1, cutoff=0.5)
    return f" Did you mean '{close[0]}'?" if close else ""


def unknown(kind: str, word: str, legal: Iterable[str]) -> UserError:
    """Return the error for a name that is not among the legal ones, with the nearest suggested."""
    names = sorted(legal)
    return UserError(
        f"unknown {kind} '{word}': expected one of {', '.join(names)}.{suggest(word, names)}"
    )


def located(error: BaseException) -> str:
    """Type and message of an error, and the file and line that raised it."""
    words = f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    return (
        f"{words} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else words
    )
