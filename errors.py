"""The one exception class for users' mistakes, and the sentences it carries."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

LARGEST = 10**8
"""The most numbers in an array, 0.8 GB."""

LONGEST = 400
"""The most characters of a sentence with words of the user's."""


class UserError(ValueError):
    """A mistake in what the user gave us.

    Its message is one sentence that names the value, what was expected and what is legal. The command
    line prints it without a traceback and exits with status 2. Characters that a terminal would obey are escaped.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(printable(sentence))


class LearnerError(UserError):
    """A learner that failed in the middle of a run; other runs may still be judged.

    Its sentence has words of the learner's and is cut to one short line.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(one_line(sentence, LONGEST))


def printable(text: str) -> str:
    """The text with every character escaped that is not printable, such as those that move a cursor, reverse the
    direction of writing or are no text; line breaks stay."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def require(condition: bool, sentence: str) -> None:
    """Raise :class:`UserError` with ``sentence`` unless ``condition`` holds."""
    if not condition:
        raise UserError(sentence)


def check_size(what: str, *shape: int) -> None:
    """Raise :class:`UserError` for an array of more numbers than fit into memory on most machines."""
    require(
        math.prod(shape) <= LARGEST,
        f"{what}, {' x '.join(map(str, shape))} numbers: expected at most {LARGEST:.0e}.",
    )


def suggest(word: str, legal: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the legal word nearest to ``word``, or an empty string."""
    close = get_close_matches(word, list(legal), n=1, cutoff=0.5)
    return f" (did you mean '{close[0]}'?)" if close else ""


def unknown(kind: str, word: str, legal: Iterable[str], expected: str = "") -> UserError:
    """Return the error for a name that is not among the legal ones, with the nearest suggested.

    ``expected`` says what is, where the legal names are too many to be listed or are not all.
    """
    names = sorted(legal)
    expected = expected or f"one of {', '.join(names)}"
    return UserError(f"unknown {kind} '{word}'{suggest(word, names)}: expected {expected}.")


def one_line(text: str, most: int) -> str:
    """The text on one line of at most so many characters, without its middle if it has more."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    half = (most - 5) // 2
    return line if len(line) <= most else f"{line[:half]} ... {line[-half:]}"


def message_of(error: BaseException) -> str:
    """The message of a user's error, on one short line."""
    return _text(str, error, "no message") or "no message"


def said(error: BaseException) -> str:
    """Type and message of a user's error, on one short line."""
    return f"{type(error).__name__}: {message_of(error)}"


def shown(value: Any) -> str:
    """A value that a user's class returned, as Python writes it, on one short line."""
    return _text(repr, value, f"an object of {type(value).__name__}")


def _text(write: Callable[[Any], str], value: Any, otherwise: str) -> str:
    """The words of a user's object about itself, on one short line; ``otherwise`` where that fails."""
    try:
        return one_line(write(value), LONGEST // 2)
    except KeyboardInterrupt:
        raise
    except BaseException:  # its own method raises anything, or it has too many digits
        return otherwise


def call(function: Callable[..., Any], who: str, where: str, *arguments: Any) -> Any:
    """Call a function of the user's.

    Raises
    ------
    LearnerError
        for whatever it raises; an interruption from the keyboard passes
    """
    try:
        return function(*arguments)
    except (KeyboardInterrupt, LearnerError):
        raise
    except BaseException as error:
        raise LearnerError(
            f"{who} raised {type(error).__name__} in {where}: {message_of(error)}."
        ) from error


def attribute(owner: Any, name: str, who: str, default: Any = None) -> Any:
    """The attribute of a user's object, or the default.

    Raises
    ------
    LearnerError
        for whatever a property raises, as :func:`call` does; an ``AttributeError`` means that there is none
    """
    return call(getattr, who, name, owner, name, default)


def located(error: BaseException) -> str:
    """Type and message of an error, and the file and line that raised it."""
    words = said(error)
    frames = traceback.extract_tb(error.__traceback__)
    return (
        f"{words} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else words
    )
