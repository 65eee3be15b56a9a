"""A clock for limits of time: the same work takes about the same time on a busy machine."""

from __future__ import annotations

import threading
import time
from typing import Any

from numba.core import event


class _Compiling(event.Listener, threading.local):  # type: ignore[misc]
    """CPU seconds of each thread while it compiled kernels, or loaded compiled ones."""

    def __init__(self) -> None:
        self.seconds = self.began = 0.0
        self.depth = 0  # kernels compile the parts that they call

    def on_start(self, _: Any) -> None:
        if self.depth == 0:
            self.began = time.thread_time()
        self.depth += 1

    def on_end(self, _: Any) -> None:
        self.depth = max(self.depth - 1, 0)
        if self.depth == 0:
            self.seconds += time.thread_time() - self.began


_compiling = _Compiling()
event.register("numba:compiler_lock", _compiling)


def working_time() -> float:
    """CPU seconds of this thread, without those that compiling took: differences have a meaning.

    Neither other processes and threads, nor sleep, nor the first call of a kernel count.

    >>> begun = working_time()
    >>> time.sleep(0.1)
    >>> working_time() - begun < 0.1
    True
    """
    return time.thread_time() - _compiling.seconds
