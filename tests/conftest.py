"""What every test shares: how Hypothesis searches, and where random numbers come from."""

from __future__ import annotations

import os
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, so a deadline would measure the compiler.
_shared = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("search", **_shared)
settings.register_profile("ci", derandomize=True, database=None, print_blob=True, **_shared)
settings.load_profile("ci" if os.environ.get("CI") else "search")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that depend on the test's name only, not on which tests ran before it."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
