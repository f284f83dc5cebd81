"""Interruptions: Ctrl-C and SIGTERM end a command alike, with what is finished kept."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SECONDS_TO_END = 5.0
"""For so long after an interruption further ones are not heard, so that a second Ctrl-C loses nothing."""

NOTHING_DONE = "results of earlier runs are as they were."

_heard: float | None = None


class Interrupted(KeyboardInterrupt):
    """An interruption; its message says what is kept, and how to go on."""


def _stop(number: int, frame: Any) -> None:
    global _heard
    now = time.monotonic()
    if _heard is None or now - _heard > SECONDS_TO_END:
        _heard = now
        raise KeyboardInterrupt


@contextmanager
def heard() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` for both signals until the end of the block; in other threads than the first, leave
    them as they are."""
    global _heard
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _heard = None
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, _stop) for number in numbers]
    try:
        yield
    finally:
        _heard = None
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def heed() -> None:
    """Raise ``KeyboardInterrupt`` once more if a library swallowed it, as callbacks from machine code do."""
    if _heard is not None:
        raise KeyboardInterrupt


@contextmanager
def shielded() -> Iterator[None]:
    """Start processes in this block that Ctrl-C on the terminal does not reach: whoever starts them ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
