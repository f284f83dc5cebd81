"""Worker processes that do not outlive whoever started them.

This module imports next to nothing: a worker runs it before anything else.
"""

from __future__ import annotations

import os
import threading
import time
from functools import cache

SECONDS_BETWEEN_LOOKS = 0.25


@cache
def die_with(parent: int) -> None:
    """End this process soon after its parent, the process ``parent``, is gone, however that went."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="watch-parent").start()
