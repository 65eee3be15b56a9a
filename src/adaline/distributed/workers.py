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

from adaline.distributed._branches import branches
from adaline.distributed._presence import Presence
from adaline.distributed._tasks import Task
from adaline.errors import DataError, MissingExtra

TIMEOUT = 300.0  # seconds without any worker after which a run ends
PATIENCE = 60.0  # seconds after which a silent task is handed out once more, at least
_AHEAD = 2  # tasks under way for each thread of a worker
_FEWEST = 4  # tasks under way where no worker is there yet
_WAIT = 0.5  # seconds between two looks at a task
_SLOW = 8.0  # times the usual duration that a task may take before it is handed out once more


class Workers:
    """The workers of a Dask cluster, as `mapreduce` wants them.

    Parameters
    ----------
    client : distributed.Client
    timeout : float
        Seconds without any worker, without a sign of life of any, or without the scheduler, after
        which TimeoutError is raised.
    patience : float
        Seconds, at least, after which a task that nothing is heard of is given to another worker,
        too.
    """

    def __init__(self, client: Any, *, timeout: float = TIMEOUT, patience: float = PATIENCE):
        self.client, self.timeout, self.patience = checked_client(client), timeout, patience
        self._presence = Presence(self.client, timeout)
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
        cut = branches(descriptors, start, lambda: self._presence.threads)
        try:
            while True:
                self._presence.look()
                few = max(_AHEAD * self._presence.threads, _FEWEST) - len(under_way)
                for branch in islice(cut, max(few, 0)):
                    task = Task(function, merge, branch)
                    task.submit(self.client, self._presence.others())
                    under_way.append(task)
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
            self._presence.look()
            for future in list(task.futures):
                if future.status == "finished":
                    found = self._result(future)
                    if found is not None:
                        self._presence.heard()
                        task.release()
                        return found[0] if task.is_lazy else self._timed(task, *found[0])
                elif future.status == "error":
                    self._begin_anew(task, future, future.exception())
                elif future.status in ("cancelled", "lost"):
                    self._begin_anew(task, future, None)
            if self._presence.threads and time.monotonic() - task.began > self._enough(task):
                self._hand_out_again(under_way)

    def _wait(self, task: Task) -> None:
        """Until something is known of a task, or a moment has passed."""
        from distributed import CancelledError, TimeoutError, wait

        if any(future.status != "pending" for future in task.futures):
            return
        # `wait` asks the current client, which need not be ours. Cancelled tasks are begun anew by
        # the caller: a client that has lost the scheduler for a moment finds them so.
        with suppress(TimeoutError, CancelledError), self.client.as_current():
            wait(task.futures, timeout=_WAIT, return_when="FIRST_COMPLETED")

    def _result(self, future: Any) -> tuple[Any] | None:
        """What a worker found; None where it is silent, or has died since."""
        from distributed import CancelledError

        with suppress(TimeoutError, OSError, CancelledError):
            return (future.result(timeout=min(self.patience, self.timeout)),)
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
        held = self._presence.asked(self.client.scheduler.processing)
        mine = {str(future.key) for future in under_way[0].futures}
        silent = {address for address, keys in held.items() if mine & set(map(str, keys))}
        self._presence.be_silent(silent, _SLOW * self.patience)
        stuck = {str(key) for address in silent for key in held[address]} | mine
        for task in under_way:
            if task.may_be_copied and stuck & {str(future.key) for future in task.futures}:
                task.submit(self.client, self._presence.others())
        under_way[0].began = time.monotonic()


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
