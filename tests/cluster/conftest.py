"""Clusters that all tests of this folder share: starting one costs more than most tests."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def crew_of_two():
    """A client, and its two worker processes, which may be killed."""
    pytest.importorskip("distributed", reason="Dask is not installed (extra cluster)")
    from worker_crew import crew

    with crew(2) as found:
        yield found


@pytest.fixture
def client(crew_of_two):
    """A client of two processes."""
    return crew_of_two[0]


@pytest.fixture(scope="session")
def threads():
    """A client of four workers that are threads of this process."""
    distributed = pytest.importorskip("distributed")
    given = {"n_workers": 4, "threads_per_worker": 1, "processes": False, "silence_logs": 50}
    with (
        distributed.LocalCluster(dashboard_address="127.0.0.1:0", **given) as here,
        distributed.Client(here, set_as_default=False) as found,
    ):
        yield found
