"""`cluster`: a client from what a command line can say."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from adaline.errors import DataError, MissingExtra

_MOST = 4096  # processes of a local cluster
_LONGEST = 2**20  # characters of a scheduler file, which has some hundred

# What Dask's defaults cost two workers, measured on 2,000,000 rows of 50 columns:
# - Memory is handed back to the system at once, which then clears every temporary array anew:
#   171,000 page faults; 61,000 where trimming begins at 2**27. Slices have about 2**24 bytes. On
#   4,000,000 rows 2**25 takes 10 % more CPU seconds than 2**26, and 2**27 takes 25 MB more.
# - An arena of memory for each thread: least squares on 4,000,000 rows held 407 and 408 MB in two
#   workers, and 327 and 371 MB with one arena (one run each).
# - A profiler and several clocks for the dashboard, which nobody opens here: 10 % of a core.
_WORKERS = {
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**26,
    "distributed.nanny.pre-spawn-environ.MALLOC_ARENA_MAX": 1,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "2s",
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
    kind, _, rest = address.partition(":")
    if kind == "local":
        yield from _local(address, rest)
        return
    if "://" in address:
        given: dict[str, Any] = {"address": address}
    elif os.path.isfile(address):
        given = {"address": _written_in(address)}
    else:
        raise DataError(
            f"{address!r} names no cluster: expected tcp://HOST:PORT, tls://HOST:PORT, local:N, or "
            "the path of a scheduler file."
        )
    try:
        client = Client(**given, timeout=timeout)
    except (OSError, TimeoutError, ValueError) as error:
        raise DataError(
            f"{address}: no scheduler answers there within {timeout:g} seconds "
            f"({str(error)[:120] or type(error).__name__})."
        ) from None
    try:
        yield client
    finally:
        with suppress(Exception):  # a scheduler that is cut off cannot be told, and the run may
            client.close()  # have ended with a sentence that says so


def _written_in(path: str) -> str:
    """The address in a scheduler file."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.loads(file.read(_LONGEST))["address"]
    except (ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, str) or "://" not in found:
        raise DataError(
            f"{path} is no scheduler file: expected JSON with an address, as `dask scheduler "
            "--scheduler-file` writes it."
        )
    return found


def _local(address: str, processes: str) -> Iterator[Any]:
    import dask
    from distributed import Client, LocalCluster

    count = int(processes) if processes.isdecimal() else 0
    if not 1 <= count <= _MOST:
        raise DataError(f"{address!r}: expected local:N, N processes from 1 to {_MOST}.")
    with (
        dask.config.set(_WORKERS),
        _environment_kept() as take_back,
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any free port: 8787 may be another cluster's
            silence_logs=logging.ERROR,  # a worker that ends slowly is no news to a user
        ) as here,
        Client(here) as client,
    ):
        take_back()
        yield client


@contextmanager
def _environment_kept() -> Iterator[Callable[[], None]]:
    """A function, also called at the end, that takes back what Dask writes into the environment.

    Dask hands variables to workers by setting them in this process, where OMP_NUM_THREADS=1 and the
    like would hold for all that is loaded later.
    """
    import dask

    names = list(dask.config.get("distributed.nanny.pre-spawn-environ"))
    before = {name: os.environ.get(name) for name in names}

    def take_back() -> None:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    try:
        yield take_back
    finally:
        take_back()
