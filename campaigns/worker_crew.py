"""`Crew`: workers of a cluster that can be killed at any moment, and are replaced at once.

A nanny of Dask gives up for ever when its worker dies while it starts, so that a cluster with
nannies runs out of workers when they are killed in quick succession. These workers have none: they
are forked from a server that has imported everything, and a thread starts new ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import random
import signal
import threading
import time

import dask
import distributed

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["distributed", "polars", "slow_blocks", "adaline.data"])


def scheduler() -> distributed.LocalCluster:
    """A scheduler of this process on loopback, without workers, which drops silent ones soon."""
    # Workers on a busy machine may be silent for 12 seconds.
    dask.config.set({"distributed.scheduler.worker-ttl": "30s"})
    return distributed.LocalCluster(
        n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
    )


def _serve(address: str) -> None:
    """Work for a scheduler until killed."""
    import logging

    logging.getLogger("distributed").setLevel(logging.CRITICAL)

    async def serve() -> None:
        async with distributed.Worker(address, nthreads=1, host="127.0.0.1") as worker:
            await worker.finished()

    asyncio.run(serve())


def a_process(function, *args) -> multiprocessing.process.BaseProcess:
    """A process that has begun a function of a module."""
    one = _FORKS.Process(target=function, args=args, daemon=True)
    one.start()
    return one


def slow_command(words: list[str], pause: float, said) -> None:
    """The command `adaline`, which pauses after every part; what it says goes to a file."""
    from adaline.cli import main
    from adaline.data.fitting.chunks import Chunks

    tell = Chunks.tell

    def slowly(self, rows: int) -> None:
        time.sleep(pause)
        tell(self, rows)

    Chunks.tell = slowly
    with open(said, "w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    main(words)


class Crew:
    """So many worker processes of a scheduler; who dies is replaced.

    Attributes
    ----------
    size : int
        Workers that should be there; it may be changed at any time.
    """

    def __init__(self, address: str, size: int) -> None:
        self.address, self.size = address, size
        self._killed: set[int] = set()
        self._processes: list[multiprocessing.process.BaseProcess] = []
        self._closed, self._changing = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._closed.is_set():
            with self._changing:
                self._processes = [one for one in self._processes if one.is_alive()]
                while len(self._processes) < self.size:
                    self._processes.append(a_process(_serve, self.address))
            self._closed.wait(0.05)

    def pids(self) -> list[int]:
        """Of the workers that are alive, which may not have reached the scheduler yet."""
        with self._changing:
            return [one.pid for one in self._processes if one.pid and one.is_alive()]

    @property
    def killed(self) -> int:
        """Processes that were killed so far."""
        return len(self._killed)

    def kill(self, dice: random.Random, but: int | None = None) -> bool:
        """SIGKILL one of them, but not the process `but`; False where nobody is there."""
        pids = [pid for pid in self.pids() if pid != but and pid not in self._killed]
        if pids:
            self._kill(dice.choice(pids))
        return bool(pids)

    def kill_all(self, leaving: int = 0) -> None:
        """SIGKILL all but so many, and replace nobody until `size` says so."""
        self.size = leaving
        for pid in self.pids()[leaving:]:
            self._kill(pid)
        while len(self.pids()) > leaving:
            time.sleep(0.01)

    def _kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)  # a process that nobody has waited for keeps its number
        self._killed.add(pid)

    def close(self) -> None:
        """End all workers."""
        self._closed.set()
        self._thread.join()
        for one in self._processes:
            one.kill()
            one.join(10)


@contextlib.contextmanager
def crew(size: int):
    """A client of its own scheduler, and the crew that works for it."""
    with scheduler() as here, distributed.Client(here, set_as_default=False) as client:
        workers = Crew(client.scheduler.address, size)
        try:
            yield client, workers
        finally:
            workers.close()
