"""A browser for the tests of the page, where there is one."""

from __future__ import annotations

import pytest

from page_server import chromium


@pytest.fixture(scope="session")
def browser():
    """Chromium without a window; skipped where it or playwright is not there."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = chromium()
    if program is None:
        pytest.skip("no Chromium was found; name one in ADALINE_CHROMIUM")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with playwright.sync_playwright() as p:
        found = p.chromium.launch(executable_path=program, args=flags)
        yield found
        found.close()
