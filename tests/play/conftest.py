"""Servers of the page, and pages in a browser whose consoles stay empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from page_server import served


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the page of a server is, with its token."""
    with served() as running:
        yield running.address


@pytest.fixture
def open_page(browser: Any, address: str, tmp_path: Any) -> Iterator[Callable[..., Any]]:
    """Open pages; at the end their consoles must be empty. Screenshots are left in tmp_path."""
    contexts: list[Any] = []
    pages: list[Any] = []
    said: list[str] = []

    def opened(width: int = 1280, height: int = 900, dark: bool = False, tab: str = "") -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            accept_downloads=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: said.append(f"pageerror: {error}"))
        page.on("console", lambda m: said.append(m.text) if m.type in _BAD else None)
        page.goto(address)
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


_BAD = ("error", "warning")
