"""A server of the page in a thread, and where a browser is."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

TOKEN = "a-token-for-tests-0123456789"


@dataclass
class Running:
    """A server that runs: its address with the token, and the port."""

    address: str
    port: int
    server: Any

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def served(port: int = 0, token: str | None = TOKEN, for_class: bool = False) -> Iterator[Running]:
    """A server in a thread, until the block ends."""
    pytest.importorskip("uvicorn", reason="the extra `play` is not installed")
    from adaline.play.server import prepare

    server, listening, address = prepare(
        port, token=token, for_class=for_class, say=lambda words: None
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield Running(address, urlsplit(address).port or 0, server)
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()
        assert not thread.is_alive()
