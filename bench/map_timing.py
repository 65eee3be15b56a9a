"""CPU seconds of ours and a peer's calls in turns, in a process that has a limit of time."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np


def cpu(work: Callable[[], Any]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def in_turns(ours: Any, peer: Any, repeats: int) -> tuple[float, float]:
    """Medians; a call of some microseconds is repeated until it can be measured."""
    first = max(cpu(ours), 1e-6)
    many = int(np.clip(0.003 / first, 1, 1000))
    rounds = repeats * (4 if first < 0.05 else 1)  # short ones are disturbed more, and cost little

    def times(work: Any) -> None:
        for _ in range(many):
            work()

    pairs = [(cpu(partial(times, ours)), cpu(partial(times, peer))) for _ in range(rounds)]
    a, b = (statistics.median(side) / many for side in zip(*pairs, strict=True))
    return a, b


def limited(work: Any, limit: float, *given: Any) -> list[Any]:
    """What a process of its own told within the limit."""
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    process = fork.Process(target=work, args=(*given, answers))
    process.start()
    told, end = [], time.monotonic() + limit
    while time.monotonic() < end and not (told and told[-1][0] == "done"):
        try:
            told.append(answers.get(timeout=0.2))
        except multiprocessing.queues.Empty:
            if not process.is_alive() and answers.empty():
                break
    process.kill()
    process.join()
    return told
