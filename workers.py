"""Worker processes that do not outlive whoever started them.

This module imports next to nothing: a worker runs it before anything else.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from functools import cache

SECONDS_BETWEEN_LOOKS = 0.25
SEND_WHEN_PARENT_DIES = 1
"""PR_SET_PDEATHSIG of Linux."""


@cache
def die_with(parent: int) -> None:
    """End this process soon after its parent, the process ``parent``, is gone, however that went, and leave Ctrl-C on
    the terminal to the parent.

    The thread that started this process must live as long as the work. Linux kills at once; elsewhere, and where the
    parent was gone before Linux was told, a thread looks, which has to wait while others import or compile.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SEND_WHEN_PARENT_DIES, signal.SIGKILL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="watch-parent").start()
