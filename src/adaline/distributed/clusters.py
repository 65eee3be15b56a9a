"""`cluster`: a client from what a command line can say."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from adaline.errors import DataError, MissingExtra

_MOST = 4096  # processes of a local cluster

# Dask has workers hand memory back to the system at once, which then clears every temporary array
# anew: 171,000 page faults for moments of 2,000,000 rows of 50 columns; 61,000 where trimming
# begins at 2**27 (2**26 holds less, and its faults were not counted).
_KEEP_MEMORY = {
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**26,
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
        given = {"scheduler_file": address}
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
    with client:
        yield client


def _local(address: str, processes: str) -> Iterator[Any]:
    import dask
    from distributed import Client, LocalCluster

    count = int(processes) if processes.isdecimal() else 0
    if not 1 <= count <= _MOST:
        raise DataError(f"{address!r}: expected local:N, N processes from 1 to {_MOST}.")
    with (
        dask.config.set(_KEEP_MEMORY),
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
        yield client
