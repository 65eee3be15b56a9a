"""Ctrl-C: this process stops in order, and those it has started are left alone until it does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path

from adaline.cli.printing.errors import Stopped


@contextmanager
def interrupts(checkpoint: str | None, jobs: int) -> Iterator[None]:
    """Say where the checkpoint is when Ctrl-C ends the block."""
    try:
        if jobs > 1:
            with _for_us_only():
                yield
        else:
            yield
    except KeyboardInterrupt:
        raise Stopped(_where(checkpoint)) from None


@contextmanager
def _for_us_only() -> Iterator[None]:
    """Hold SIGINT back in this thread: processes it starts inherit that, and print no traceback.

    Another thread takes the signal, and Python hands it to this one all the same.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which would let SIGINT through again where it starts
    over = threading.Event()
    threading.Thread(target=over.wait, daemon=True).start()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        over.set()


def _where(checkpoint: str | None) -> str:
    if checkpoint is None:
        return "Nothing was written; with --checkpoint DIR the same command could go on from here."
    if not any(Path(checkpoint).glob("*.checkpoint")):
        return f"Nothing was learned yet, and the checkpoint {checkpoint} is empty."
    return (
        f"What was learned so far is in the checkpoint {checkpoint}: the same command goes on "
        "from there."
    )
