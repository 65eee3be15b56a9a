"""`Workers`: an executor of `mapreduce` that sends branches of the merge tree to a Dask cluster.

A task is a pure function of descriptors that lead back to the files, so a worker that dies takes
nothing with it, and Dask computes its tasks again elsewhere; a silent worker is dropped after
Dask's `scheduler.worker-ttl`. Results are taken in the order of the descriptors, and few tasks are
pending at a time, which bounds the memory of this process. `data.fit`, `blocks` and `look` use it;
`make cluster` kills workers and cuts connections.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

from adaline import __version__
from adaline.distributed.branches import cut_branches, lazy_branch
from adaline.errors import DataError, MissingExtra
from adaline.sums.mapreduce import branch

TIMEOUT = 300.0  # seconds without a sign of life of any worker after which a run ends
RETRIES = 2  # times that a task which raised is computed again
TASKS_PER_THREAD = 2  # pending tasks: enough to keep every worker busy
FEWEST_TASKS = 4  # pending tasks where no worker has arrived yet
POLL_SECONDS = 2.0  # between two questions to the scheduler
ANSWER_SECONDS = 10.0  # that the scheduler may take for an answer


class Workers:
    """The workers of a client as `jobs` for whatever reads in several processes.

    `fit` makes them of `client=` itself; `blocks`, `look` and `Encoding.learn` take them as
    `jobs=`.

    Parameters
    ----------
    client : distributed.Client
    timeout : float
        Seconds without a sign of life of any worker after which TimeoutError is raised.

    Examples
    --------
    >>> from adaline.data import cluster, look, workers
    >>> with cluster("local:2") as client:  # doctest: +SKIP
    ...     print(look("data/*.csv", "y", jobs=workers(client)))
    """

    def __init__(self, client: Any, timeout: float = TIMEOUT) -> None:
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
        self.client, self.timeout = client, timeout

    def parts(
        self,
        function: Callable[[Any], Any],
        descriptors: Iterator[Any],
        merge: Callable[[Any, Any], Any],
        start: int,
    ) -> Iterator[tuple[Any, int]]:
        """Merged branches in order."""
        pending: deque[tuple[list[Any], Any]] = deque()
        watch = Watch(self.client, self.timeout)
        branches = cut_branches(descriptors, start, lambda: watch.threads)
        submit = partial(self._submit, function, merge)
        try:
            while True:
                watch.check()
                count = max(TASKS_PER_THREAD * watch.threads, FEWEST_TASKS) - len(pending)
                for some in islice(branches, max(count, 0)):
                    pending.append((some, submit(some)))
                if not pending:
                    return
                some, future = pending.popleft()
                yield self._fetch(submit, some, future, watch), len(some)
        finally:
            for _, future in pending:
                with suppress(Exception):  # the scheduler may be gone
                    future.release()

    def _submit(self, function: Any, merge: Any, some: list[Any]) -> Any:
        """The future of a branch."""
        if hasattr(some[0], "__dask_graph__"):  # a block that Dask has yet to compute
            return self.client.compute(lazy_branch(function, merge, some), retries=RETRIES)
        options = {"pure": False, "retries": RETRIES}
        return self.client.submit(compute_branch, __version__, function, merge, some, **options)

    def _fetch(self, submit: Any, some: list[Any], future: Any, watch: Watch) -> Any:
        """The merged part, whatever happens to the workers meanwhile."""
        from distributed import CancelledError, KilledWorker, TimeoutError, wait

        is_deadly = False
        try:
            while True:
                watch.check()
                # `wait` asks the current client, which need not be ours.
                with suppress(TimeoutError, CancelledError), self.client.as_current():
                    wait([future], timeout=min(POLL_SECONDS, self.timeout))
                if future.status == "finished":
                    # The worker that holds the result may die, or be cut off, before it is fetched.
                    with suppress(OSError, TimeoutError, CancelledError):
                        return future.result(timeout=self.timeout)
                elif future.status == "error":
                    error = future.exception()
                    if not isinstance(error, KilledWorker):
                        raise error
                    if is_deadly:  # given up by Dask for the second time
                        raise DataError(
                            f"the workers that were given {some[0]!r} (and {len(some) - 1} more "
                            "blocks) died again and again; they may lack memory for a block, or "
                            "the file may be hostile."
                        )
                    is_deadly, future = True, submit(some)
                elif future.status in ("cancelled", "lost"):
                    future = submit(some)  # the client had lost the scheduler for a moment
        finally:
            with suppress(Exception):
                future.release()  # a traceback would keep it alive


class Watch:
    """Counts the threads of the workers, and raises TimeoutError when no worker gives a sign.

    The scheduler lists a worker that is stopped or cut off for minutes. Only whether the times at
    which it last heard of them change is compared: clocks differ between machines.
    """

    def __init__(self, client: Any, timeout: float) -> None:
        self.client, self.timeout, self.threads = client, timeout, 0
        self._alive, self._asked, self._seen = time.monotonic(), -POLL_SECONDS, set[Any]()

    def check(self) -> None:
        """Ask the scheduler, unless it was asked a moment ago."""
        now = time.monotonic()
        if now - self._asked < POLL_SECONDS:
            return
        workers: dict[str, Any] = {}
        with suppress(OSError, TimeoutError):
            if self.client.status == "running":
                ask, limit = self.client.scheduler.identity, min(ANSWER_SECONDS, self.timeout)
                workers = self.client.sync(ask, n_workers=-1, callback_timeout=limit)["workers"]
        self.threads = sum(one["nthreads"] for one in workers.values())
        seen = {(name, one["last_seen"]) for name, one in workers.items()}
        if seen - self._seen:
            self._alive, self._seen = now, seen
        self._asked = time.monotonic()
        if self._asked - self._alive >= self.timeout:
            raise TimeoutError(
                f"no sign of life of any worker for {self.timeout:g} seconds (the scheduler lists "
                f"{len(workers)}). Start workers and run this again; with a checkpoint it goes on "
                "where it was."
            )


def compute_branch(version: str, function: Any, merge: Any, descriptors: Sequence[Any]) -> Any:
    """A branch on a worker; another version might compute other sums without any error."""
    if version != __version__:
        raise DataError(f"a worker runs adaline {__version__}, and the client {version}.")
    return branch(function, merge, descriptors)


workers = Workers  # as `adaline.data` names it
