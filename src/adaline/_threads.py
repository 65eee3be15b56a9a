"""Rows shared out among threads, in pieces whose number and size depend on the data alone.

The pieces are the same with one thread or many, and their sums are added in their order, so
the bits of an answer do not depend on the machine's load. As many threads are used as BLAS may use:
`threadpoolctl.threadpool_limits` and OMP_NUM_THREADS are honoured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")

_NUMBERS = 2**20  # in a piece, at least: a millisecond of work
_PIECES = 8  # at most: each holds sums of its own
_LARGE = 512  # columns beyond which BLAS has work enough for its own threads


def pieces(n: int, q: int) -> list[tuple[int, int]]:
    """Where to cut n rows of q columns."""
    if q > _LARGE:  # sums too large to hold several of
        return [(0, n)]
    rows = max(_NUMBERS // max(q, 1), -(-n // _PIECES))
    rows = -(-rows // 4096) * 4096
    return [(i, min(i + rows, n)) for i in range(0, n, rows)]


def over_pieces(work: Callable[[int, int], T], n: int, q: int) -> list[T]:
    """work(start, stop) of every piece, in order."""
    cuts = pieces(n, q)
    workers = min(threads(), len(cuts)) if len(cuts) > 1 else 1
    if workers == 1:
        return [work(start, stop) for start, stop in cuts]
    with (
        _controller().limit(limits=1, user_api="blas"),
        ThreadPoolExecutor(workers, thread_name_prefix="adaline") as pool,
    ):
        return list(pool.map(work, *zip(*cuts, strict=True)))


@contextmanager
def calm(q: int) -> Iterator[None]:
    """BLAS on one thread, for small factorisations (q columns, unless many) between two passes.

    Threads of BLAS go on waiting busily after their work, for some hundredths of a second, on the
    very cores that the next pass wants for its own threads: it would take twice as long.
    """
    with _controller().limit(limits=1, user_api="blas") if q <= _LARGE else nullcontext():
        yield


def threads() -> int:
    """How many threads BLAS may use now; one where it does not tell."""
    libraries = [library for library in _controller().info() if library["user_api"] == "blas"]
    return max((library["num_threads"] for library in libraries), default=1)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
