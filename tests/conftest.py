"""What every test shares: how Hypothesis searches, and where random numbers come from."""

from __future__ import annotations

import os
import random
import shutil
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, so a deadline would measure the compiler.
_shared = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("search", **_shared)
settings.register_profile("ci", derandomize=True, database=None, print_blob=True, **_shared)
settings.load_profile("ci" if os.environ.get("CI") else "search")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in a random order")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """No test may need another one before it: `make test-shuffled` looks for one that does."""
    if (seed := config.getoption("--shuffle")) is not None:
        random.Random(seed).shuffle(items)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that depend on the test's name only, not on which tests ran before it."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture(scope="module")  # its event loop would be in the way of other files
def browser():
    """Chromium without a window; skipped where it or playwright is not there."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    program = os.environ.get("ADALINE_CHROMIUM") or next(
        filter(None, map(shutil.which, names)), None
    )
    if program is None:
        pytest.skip("no Chromium was found; name one in ADALINE_CHROMIUM")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with playwright.sync_playwright() as play:
        found = play.chromium.launch(executable_path=program, args=flags)
        yield found
        found.close()
