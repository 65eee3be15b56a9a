"""`Workers`: an executor that hands branches of the merge tree to the workers of a cluster.

A task is a pure function of descriptors that lead back to the files, so that a worker which dies
takes nothing with it. No state is kept on workers: no actors, no scattered data. The parts are
taken in the order of the descriptors, and few tasks are under way at a time, so that this process
stays small however many there are.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from adaline.distributed._tasks import Task
from adaline.errors import DataError, MissingExtra

TIMEOUT = 300.0  # seconds without any worker after which a run ends
PATIENCE = 60.0  # seconds after which a silent task is handed out once more, at least
_AHEAD = 2  # tasks under way for each thread of a worker
_FEWEST = 4  # tasks under way where no worker is there yet
_LARGEST = 32  # descriptors of a task, at most: what a dying worker loses
_SHARE = 4  # a task is at most one in so many of the descriptors done for each thread
_LOOK = 2.0  # seconds between two looks at who is there
_SLOW = 8.0  # times the usual duration that a task may take before it is handed out once more


class Workers:
    """The workers of a Dask cluster, as `mapreduce` wants them.

    Parameters
    ----------
    client : distributed.Client
    timeout : float
        Seconds without any worker, or without the scheduler, after which TimeoutError is raised.
    patience : float
        Seconds, at least, after which a task that nothing is heard of is given to another worker,
        too.
    """

    def __init__(self, client: Any, *, timeout: float = TIMEOUT, patience: float = PATIENCE):
        self.client, self.timeout, self.patience = checked_client(client), timeout, patience
        self._there: dict[str, int] = {}  # threads by worker
        self._silent: dict[str, float] = {}  # workers of which nothing was heard, and until when
        self._looked, self._alone = -1e9, None  # type: float, float | None
        self._spent, self._done = 0.0, 0  # seconds of workers, and descriptors

    def parts(
        self,
        function: Callable[[Any], Any],
        descriptors: Iterator[Any],
        merge: Callable[[Any, Any], Any],
        start: int,
    ) -> Iterator[tuple[Any, int]]:
        """Merged branches in order."""
        under_way: deque[Task] = deque()
        count = start
        try:
            while True:
                self._look()
                while len(under_way) < max(_AHEAD * self.threads, _FEWEST):
                    size = branch_size(count, self.threads)
                    some = list(islice(descriptors, size))
                    for part in _branches(some, count):
                        task = Task(function, merge, part)
                        task.submit(self.client, self._others())
                        under_way.append(task)
                    count += len(some)
                    if len(some) < size:
                        break
                if not under_way:
                    return
                part = self._taken(under_way)
                yield part, len(under_way.popleft().descriptors)
        finally:
            for task in under_way:
                with suppress(Exception):  # the scheduler may be gone
                    task.release()

    def _taken(self, under_way: deque[Task]) -> Any:
        """The result of the first task, whatever happens to who works on it."""
        task = under_way[0]
        while True:
            self._wait(task)
            self._look()
            for future in list(task.futures):
                if future.status == "finished":
                    found = self._result(future)
                    if found is not None:
                        task.release()
                        return found[0] if task.is_lazy else self._timed(task, *found[0])
                elif future.status == "error":
                    self._begin_anew(task, future, future.exception())
                elif future.status in ("cancelled", "lost"):
                    self._begin_anew(task, future, None)
            if self.threads and time.monotonic() - task.began > self._enough(task):
                self._hand_out_again(under_way)

    def _wait(self, task: Task) -> None:
        """Until something is known of a task, or a moment has passed."""
        from distributed import CancelledError, TimeoutError, wait

        if any(future.status != "pending" for future in task.futures):
            return
        # `wait` asks the current client, which need not be ours. Cancelled tasks are begun anew by
        # the caller: a client that has lost the scheduler for a moment finds them so.
        with suppress(TimeoutError, CancelledError), self.client.as_current():
            wait(task.futures, timeout=_LOOK / 4, return_when="FIRST_COMPLETED")

    def _result(self, future: Any) -> tuple[Any] | None:
        """What a worker found; None where it is silent, or has died since."""
        from distributed import CancelledError

        with suppress(TimeoutError, OSError, CancelledError):
            return (future.result(timeout=self.patience),)
        return None

    def _begin_anew(self, task: Task, future: Any, error: BaseException | None) -> None:
        """Another try for what was lost; what a block is to blame for is raised."""
        from distributed import KilledWorker

        if error is not None and not isinstance(error, KilledWorker):
            raise error
        if not task.begin_anew(self.client, future, error is not None):
            first = task.descriptors[0]
            raise DataError(
                f"the workers that were given {first!r} (and {len(task.descriptors) - 1} more "
                "blocks) died again and again; they may lack memory for a block, or the file may "
                "be hostile."
            )

    def _enough(self, task: Task) -> float:
        """Seconds after which a task has taken too long to be only slow."""
        usual = _SLOW * self._spent / max(self._done, 1) * len(task.descriptors)
        enough = _SLOW * self.patience if task.is_lazy else max(self.patience, usual)
        return enough * 2.0 ** (len(task.futures) - 1)

    def _timed(self, task: Task, part: Any, seconds: float) -> Any:
        """The part; how long it took tells how long others may take."""
        self._spent, self._done = self._spent + seconds, self._done + len(task.descriptors)
        return part

    def _hand_out_again(self, under_way: deque[Task]) -> None:
        """Give the tasks of a silent worker to others, too: that of the first task, and what else
        it has.
        """
        held: dict[str, Any] = {}
        with suppress(OSError, TimeoutError):
            held = dict(self.client.processing())
        mine = {str(future.key) for future in under_way[0].futures}
        silent = {address for address, keys in held.items() if mine & set(map(str, keys))}
        until = time.monotonic() + _SLOW * self.patience
        self._silent |= dict.fromkeys(silent, until)
        stuck = {str(key) for address in silent for key in held[address]} | mine
        for task in under_way:
            if task.may_be_copied and stuck & {str(future.key) for future in task.futures}:
                task.submit(self.client, self._others())
        under_way[0].began = time.monotonic()

    def _others(self) -> list[str]:
        """Workers to ask first, where some are silent; empty where all are alike."""
        now = time.monotonic()
        self._silent = {who: until for who, until in self._silent.items() if until > now}
        return [who for who in self._there if who not in self._silent] if self._silent else []

    @property
    def threads(self) -> int:
        """Of all workers that were there at the last look."""
        return sum(self._there.values())

    def _look(self) -> None:
        """How many threads the workers have; TimeoutError where nobody is left for too long."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked, self._there = now, {}
        with suppress(OSError, TimeoutError):
            self._there = dict(self.client.nthreads()) if self._is_connected() else {}
        if self._there:
            self._alone = None
            return
        self._alone = now if self._alone is None else self._alone
        if now - self._alone >= self.timeout:
            raise TimeoutError(
                f"no worker has been there for {self.timeout:g} seconds"
                f"{'' if self._is_connected() else ', and the scheduler does not answer'}. Start "
                "workers and run this again; with a checkpoint it goes on where it was."
            )

    def _is_connected(self) -> bool:
        return bool(self.client.status == "running")


def workers(client: Any, timeout: float = TIMEOUT) -> Workers:
    """The workers of a client as `jobs` for whatever reads in several processes.

    `fit` makes them of `client=` itself; `blocks`, `look` and `Encoding.learn` take them as
    `jobs=`.

    Parameters
    ----------
    client : distributed.Client
    timeout : float
        Seconds without any worker after which TimeoutError is raised.

    Examples
    --------
    >>> from adaline.data import cluster, look, workers
    >>> with cluster("local:2") as client:  # doctest: +SKIP
    ...     print(look("data/*.csv", "y", jobs=workers(client)))
    """
    return Workers(client, timeout=timeout)


def branch_size(count: int, threads: int) -> int:
    """Descriptors of the next task: few at first, more as many are done.

    A power of two that divides the number of descriptors before it, so that it is a branch of the
    tree. How large it is changes no bit of the answer.

    >>> [branch_size(count, 2) for count in (0, 8, 16, 64, 65, 1024)]
    [1, 1, 2, 8, 1, 32]
    """
    aligned = count & -count if count else 1
    share = max(count // (_SHARE * max(threads, 1)), 1)
    return min(aligned, 1 << (share.bit_length() - 1), _LARGEST)


def _branches(descriptors: list[Any], count: int) -> Iterator[list[Any]]:
    """The descriptors that are left at the end, cut into branches."""
    while descriptors:
        size = 1 << (len(descriptors).bit_length() - 1)
        size = min(size, count & -count) if count else size
        yield descriptors[:size]
        descriptors, count = descriptors[size:], count + size


def checked_client(client: Any) -> Any:
    """A client that waits for answers; TypeError for anything else."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra.of("cluster", "a cluster", "distributed") from None
    if not isinstance(client, Client):
        raise TypeError(
            f"client is a {type(client).__name__}; expected a distributed.Client, such as "
            "Client('tcp://host:8786')."
        )
    if client.asynchronous:
        raise TypeError("client is asynchronous; give one made without asynchronous=True.")
    return client
