"""`cluster`, a client of a Dask cluster from its address, and `Workers`, which sum on it.

`Workers` is an executor of `mapreduce` that sends branches of the merge tree. A task is a pure
function of descriptors that lead back to the files, so a worker that dies takes nothing with it,
and Dask computes its tasks again elsewhere; a silent worker is dropped after Dask's
`scheduler.worker-ttl`. Results are taken in the order of the descriptors, and few tasks are pending
at a time, which bounds the memory of this process. `adaline --cluster`, `data.fit`, `blocks` and
`look` use both; `make cluster` kills workers and cuts connections.
"""

from __future__ import annotations

import json
import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from typing import Any
from unittest.mock import patch

from adaline import __version__
from adaline.errors import DataError, MissingExtra
from adaline.sums.mapreduce import branch

TIMEOUT = 300.0  # seconds without a sign of life of any worker after which a run ends
RETRIES = 2  # times that a task which raised, or whose workers died, is submitted again


@contextmanager
def cluster(address: str, timeout: float = 30.0) -> Iterator[Any]:
    """A client of the cluster at an address, closed at the end.

    Parameters
    ----------
    address : str
        "tcp://host:8786" or "tls://host:8786" of a scheduler, the path of a scheduler file
        (`dask scheduler --scheduler-file`), or "local:4": four processes of this machine, on
        loopback only, for as long as this lasts.
    timeout : float
        Seconds in which the scheduler must answer.

    Yields
    ------
    distributed.Client

    Examples
    --------
    >>> from adaline.data import cluster, fit
    >>> with cluster("local:2") as client:  # doctest: +SKIP
    ...     model = fit(LeastSquares(), "data/*.parquet", "y", client=client)
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise MissingExtra.of("cluster", "a cluster", "distributed") from None
    kind, _, count = address.partition(":")
    if kind == "local":
        if not count.isdecimal() or int(count) == 0:
            raise DataError(f"{address!r}: expected local:N, N processes of this machine.")
        options = {"host": "127.0.0.1", "threads_per_worker": 1, "silence_logs": logging.ERROR}
        # Any free port: 8787 may be another cluster's. Dask sets OMP_NUM_THREADS=1 and the like in
        # this process, for its workers to inherit; here they would bind what is loaded later.
        with patch.dict(os.environ):
            local = LocalCluster(int(count), dashboard_address="127.0.0.1:0", **options)
        with local, Client(local) as client:
            yield client
        return
    url = address
    if os.path.isfile(address):
        with suppress(ValueError, LookupError, TypeError), open(address, encoding="utf-8") as file:
            url = str(json.load(file)["address"])
    if "://" not in url:
        raise DataError(
            f"{address!r} names no cluster: expected tcp://HOST:PORT, tls://HOST:PORT, local:N, or "
            "the path of a scheduler file, which is JSON with an address."
        )
    try:
        client = Client(address=url, timeout=timeout)
    except (OSError, TimeoutError, ValueError) as error:
        raise DataError(
            f"{address}: no scheduler answers there within {timeout:g} seconds "
            f"({str(error)[:120] or type(error).__name__})."
        ) from None
    try:
        yield client
    finally:
        with suppress(Exception):  # the scheduler may be cut off
            client.close()


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
        if not isinstance(client, Client) or client.asynchronous:
            raise TypeError(
                f"client is {client!r}; expected a distributed.Client, such as "
                "Client('tcp://host:8786'), which is not asynchronous."
            )
        self.client, self.timeout = client, timeout

    def parts(
        self, function: Callable[[Any], Any], descriptors: Iterator[Any], merge: Any, start: int
    ) -> Iterator[tuple[Any, int]]:
        """Merged branches in order."""
        pending: deque[list[Any]] = deque()  # [descriptors, future]
        threads = 0
        branches = cut_branches(descriptors, start, lambda: threads)
        submit = partial(self._submit, function, merge)
        try:
            while True:
                threads = sum(count for _, count in self._ask_workers().values())
                # Two for each thread keep every worker busy; a few where no worker has arrived yet.
                free = max(2 * threads, 4) - len(pending)
                pending.extend([some, submit(some)] for some in islice(branches, max(free, 0)))
                if not pending:
                    return
                part = self._fetch(submit, pending[0])
                some, future = pending.popleft()
                release(future)
                yield part, len(some)
        finally:
            for _, future in pending:  # a traceback would keep them alive
                release(future)

    def _submit(self, function: Any, merge: Any, some: list[Any]) -> Any:
        if hasattr(some[0], "__dask_graph__"):  # a block that Dask has yet to compute
            from dask import delayed

            pure = {"pure": False, "traverse": False}  # functions are no collections to look into
            graph = branch(delayed(function, **pure), delayed(merge, **pure), some)
            return self.client.compute(graph, retries=RETRIES)
        options = {"pure": False, "retries": RETRIES}
        return self.client.submit(compute_branch, __version__, function, merge, some, **options)

    def _fetch(self, submit: Any, task: list[Any]) -> Any:
        """The merged part, whatever happens to the workers meanwhile."""
        from distributed import CancelledError, KilledWorker, TimeoutError, wait

        some, failures = task[0], 0
        while True:
            future = task[1]
            before = None if future.done() else self._ask_workers()
            # `wait` asks the current client, which need not be ours.
            with suppress(TimeoutError, CancelledError), self.client.as_current():
                wait([future], timeout=self.timeout)
            if future.status == "finished":
                # The worker that holds the result may die, or be cut off, before it is fetched.
                with suppress(OSError, TimeoutError, CancelledError):
                    return future.result(timeout=self.timeout)
            elif future.status == "error":
                if not isinstance(error := future.exception(), KilledWorker):
                    raise error
                # Four workers died of it, or were all taken away for another reason, by chance.
                failures += 1
                if failures > RETRIES:
                    raise DataError(
                        f"the workers that were given {some[0]!r} (and {len(some) - 1} more "
                        "blocks) died again and again; they may lack memory for a block, or the "
                        "file may be hostile."
                    )
                task[1] = submit(some)
                release(future)
            elif future.status in ("cancelled", "lost"):
                task[1] = submit(some)  # the client had lost the scheduler for a moment
                release(future)
            elif (now := self._ask_workers()) == before or not now:
                raise TimeoutError(
                    f"no sign of life of any worker for {self.timeout:g} seconds (the scheduler "
                    f"lists {len(now)}). Start workers and run this again; with a checkpoint it "
                    "goes on where it was."
                )

    def _ask_workers(self) -> dict[str, tuple[float, int]]:
        """When the scheduler last heard of each worker, and the threads of it.

        Only whether times change is compared: clocks differ between machines, and a worker that is
        stopped or cut off is listed for minutes.
        """
        with suppress(OSError, TimeoutError):  # the scheduler may be cut off
            if self.client.status == "running":
                ask, limit = self.client.scheduler.identity, min(10.0, self.timeout)
                workers = self.client.sync(ask, n_workers=-1, callback_timeout=limit)["workers"]
                return {key: (one["last_seen"], one["nthreads"]) for key, one in workers.items()}
        return {}


def release(future: Any) -> None:
    """Let the scheduler forget a task."""
    with suppress(Exception):  # the scheduler may be gone
        future.release()


def cut_branches(
    descriptors: Iterator[Any], start: int, threads: Callable[[], int]
) -> Iterator[list[Any]]:
    """Branches of the merge tree in order; the first descriptor is number `start` of the tree.

    They are short at first, and where many threads work, so that every thread gets some. A length
    is a power of two that divides the number of descriptors before: that makes it a branch. How
    long the branches are decides who works on what, and no bit of the sum.

    >>> [len(branch) for branch in cut_branches(iter(range(40)), 0, lambda: 1)]
    [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8]
    """
    count, most, some = start, 1, [None]
    while len(some) == most:  # else the descriptors are used up
        share = max(count // (4 * max(threads(), 1)), 1)  # a quarter of a thread's work so far
        # At most 32, which are computed again when a worker dies.
        most = min(count & -count or 1, 1 << (share.bit_length() - 1), 32)
        some = list(islice(descriptors, most))
        left = some
        while left:  # the last descriptors may be fewer than a branch
            size = 1 << (len(left).bit_length() - 1)
            yield left[:size]
            count, left = count + size, left[size:]


def compute_branch(version: str, function: Any, merge: Any, descriptors: Sequence[Any]) -> Any:
    """A branch on a worker; another version might compute other sums without any error."""
    if version != __version__:
        raise DataError(f"a worker runs adaline {__version__}, and the client {version}.")
    return branch(function, merge, descriptors)


workers = Workers  # as `adaline.data` names it
