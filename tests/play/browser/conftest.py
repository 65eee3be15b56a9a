"""Long tests in a browser: only where they are asked for, with `make test-browser`."""

from __future__ import annotations

import os

import pytest

from page_server import served
from page_user import User


def pytest_collection_modifyitems(items):
    if os.environ.get("ADALINE_BROWSER_TESTS"):
        return
    for item in items:
        if "play/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.skip(reason="`make test-browser` runs it"))


@pytest.fixture(scope="module")
def running():
    with served() as found:
        yield found


@pytest.fixture
def user(browser, running, tmp_path):
    with User(browser, running.address, tmp_path) as found:
        yield found
