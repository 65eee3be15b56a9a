"""What every test shares: how Hypothesis searches, and where random numbers come from."""

from __future__ import annotations

import gc
import os
import random
import shutil
import tempfile
import zlib
from multiprocessing.util import Finalize
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, so a deadline would measure the compiler.
_shared = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("search", **_shared)
settings.register_profile("ci", derandomize=True, database=None, print_blob=True, **_shared)
settings.load_profile("ci" if os.environ.get("CI") else "search")

# onnxruntime would write what it was asked for into the user's cache.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

# Others remove these when a process ends in peace, which workers of pytest-xdist do not, or never.
LEFT_BY_OTHERS = ("dask-scratch-space", "matplotlib-", "pulse-", "pymp-", "sklearn_testing_")


def pytest_configure(config: pytest.Config) -> None:
    """Give all tests and their processes a temporary directory of their own."""
    if hasattr(config, "workerinput"):  # of pytest-xdist: it has that of the process that began
        return
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())  # tmp_path stays there
    place = os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix="adaline-tests-")
    # After multiprocessing has removed its own directories, at -100.
    Finalize(None, shutil.rmtree, (place, True), exitpriority=-200)
    config.pluginmanager.register(TemporaryDirectory(Path(place)))


class TemporaryDirectory:
    """What tests and doctests have left in their temporary directory is an error."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.left: list[str] = []

    @pytest.hookimpl(trylast=True)  # workers have ended then
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        gc.collect()  # sources in cycles remove their files when they are collected
        names = sorted(path.name for path in self.place.iterdir())
        self.left = [name for name in names if not name.startswith(LEFT_BY_OTHERS)]
        if self.left and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.left:
            text = f"left in the temporary directory: {', '.join(self.left)}"
            terminalreporter.write_line(f"ERROR {text}", red=True)
            report = pytest.TestReport("tests", ("tests", 0, ""), {}, "failed", text, "teardown")
            terminalreporter.stats.setdefault("error", []).append(report)


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
