"""A server of the page in a thread, and pages of it in Chromium, whose console must stay empty."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

_PLACES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser; skipped with a reason where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = os.environ.get("ADALINE_CHROMIUM") or next(
        filter(None, map(shutil.which, _PLACES)), None
    )
    if found is None:
        pytest.skip("there is no Chromium here; ADALINE_CHROMIUM names one")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio"],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The address of a server that runs in a thread."""
    pytest.importorskip("uvicorn", reason="the extra play is not installed")
    pytest.importorskip("starlette", reason="the extra play is not installed")
    from adaline.play.serving import prepared

    server, listening, address = prepared(0, say=lambda _: None)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    end = time.monotonic() + 30
    while not server.started and time.monotonic() < end:
        time.sleep(0.02)
    yield address
    server.should_exit = True
    thread.join(10)
    listening.close()


@pytest.fixture
def open_page(
    chromium: Any, served: str, request: pytest.FixtureRequest, tmp_path: Any
) -> Iterator[Callable[..., Any]]:
    """Open pages; at the end the consoles must be empty. A failure leaves screenshots."""
    contexts: list[Any] = []
    pages: list[Any] = []
    said: list[str] = []

    def opened(width: int = 1280, height: int = 900, dark: bool = False, tab: str = "") -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            accept_downloads=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: said.append(f"pageerror: {error}"))
        page.on(
            "console", lambda m: said.append(m.text) if m.type in ("error", "warning") else None
        )
        page.goto(served)
        if tab:
            page.get_by_role("tab", name=tab).click()
        pages.append(page)
        return page

    yield opened
    for k, page in enumerate(pages):
        page.screenshot(path=tmp_path / f"page{k}.png", full_page=True)
    for context in contexts:
        context.close()
    assert not said, f"the console says {said[:5]}; screenshots are in {tmp_path}"
