"""`cluster`: a client of a Dask cluster from its address; `adaline --cluster` uses it."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from adaline.errors import DataError, MissingExtra

MOST_PROCESSES = 4096  # of a local cluster
LONGEST_FILE = 2**20  # characters of a scheduler file, which has some hundred

# Settings of local workers. By default Dask returns memory to the system at once, which then
# clears every temporary array again (3 times as many page faults), and gives each thread an arena.
WORKER_SETTINGS = {
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**26,
    "distributed.nanny.pre-spawn-environ.MALLOC_ARENA_MAX": 1,
    "distributed.worker.profile.enabled": False,  # nobody opens the dashboard: 10% of a core
}


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
        from distributed import Client
    except ImportError:
        raise MissingExtra.of("cluster", "a cluster", "distributed") from None
    if address.startswith("local:"):
        yield from start_local(address)
        return
    url = read_scheduler_file(address) if os.path.isfile(address) else address
    if "://" not in url:
        raise DataError(
            f"{address!r} names no cluster: expected tcp://HOST:PORT, tls://HOST:PORT, local:N, or "
            "the path of a scheduler file."
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


def read_scheduler_file(path: str) -> str:
    """The address in a scheduler file."""
    with suppress(ValueError, KeyError, TypeError), open(path, encoding="utf-8") as file:
        url = json.loads(file.read(LONGEST_FILE))["address"]
        if isinstance(url, str) and "://" in url:
            return url
    raise DataError(f"{path} is no scheduler file: expected JSON with an address.")


def start_local(address: str) -> Iterator[Any]:
    """A client of N processes of this machine, for "local:N"."""
    import dask
    from distributed import Client, LocalCluster

    count = address.removeprefix("local:")
    if not count.isdecimal() or not 1 <= int(count) <= MOST_PROCESSES:
        raise DataError(f"{address!r}: expected local:N, N processes from 1 to {MOST_PROCESSES}.")
    options = {"host": "127.0.0.1", "threads_per_worker": 1, "silence_logs": logging.ERROR}
    options["dashboard_address"] = "127.0.0.1:0"  # any free port: 8787 may be another cluster's
    with dask.config.set(WORKER_SETTINGS):
        # Dask passes variables to workers by setting them in this process, where
        # OMP_NUM_THREADS=1 and the like would hold for all that is loaded later.
        names = list(dask.config.get("distributed.nanny.pre-spawn-environ"))
        before = {name: os.environ[name] for name in names if name in os.environ}

        def restore() -> None:
            for name in names:
                os.environ.pop(name, None)
            os.environ.update(before)

        try:
            with LocalCluster(int(count), **options) as local, Client(local) as client:
                restore()
                yield client
        finally:
            restore()
