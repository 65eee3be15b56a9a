"""A page that sends too much loses its own connection; the server and other pages go on."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from page_server import TOKEN, served

websockets = pytest.importorskip("websockets.sync.client", reason="the extra `play` is missing")
from websockets.exceptions import ConnectionClosed, InvalidStatus  # noqa: E402

START = json.dumps({"tab": "board", "event": "start"})


@pytest.fixture(scope="module")
def running():
    with served() as found:
        yield found


def connected(running, **more):
    headers = {"Cookie": f"adaline_play_{running.port}={TOKEN}"}
    return websockets.connect(
        f"ws://127.0.0.1:{running.port}/socket",
        origin=running.origin,
        additional_headers=headers,
        max_size=None,
        **more,
    )


def works(running) -> bool:
    """Whether a new page gets its board."""
    with connected(running) as page:
        page.send(START)
        return json.loads(page.recv(timeout=60))["drawing"]["learner"] == "perceptron"


def closes(page) -> int:
    """The code that the server closes with; its answers until then are read."""
    try:
        while True:
            page.recv(timeout=60)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 1006


BAD = {
    "no JSON": "hello",
    "NaN": '{"tab": NaN}',
    "no tab": '{"event": "start"}',
    "another tab": '{"tab": "../server", "event": "start"}',
    "an event that is a number": '{"tab": "board", "event": 1}',
    "deep brackets": '{"tab": "board", "event": "add", "x": ' + "[" * 50_000 + "]" * 50_000 + "}",
    "short frame": b"\x01",
    "a header longer than its frame": b"\xff\xff\xff\xff{}",
    "bytes that are no text": b"\x02\x00\x00\x00\xff\xfe",
}


@pytest.mark.parametrize("message", BAD.values(), ids=BAD)
def test_what_no_page_sends_ends_that_connection(running, message):
    with connected(running) as page:
        page.send(message)
        assert closes(page) == 1008
    assert works(running)


def test_a_very_long_text_ends_that_connection(running):
    with connected(running) as page:
        page.send(json.dumps({"tab": "board", "event": "x" * 3_000_000}))
        assert closes(page) == 1008
    assert works(running)


def test_a_flood_of_messages_ends_that_connection(running):
    message = json.dumps({"tab": "board", "event": "code"})
    with connected(running) as page, connected(running) as other:
        with suppress(ConnectionClosed):
            for _ in range(20_000):
                page.send(message)
        assert closes(page) in (1008, 1006)
        other.send(START)
        assert "drawing" in json.loads(other.recv(timeout=60))


def test_pages_beyond_the_limit_are_refused(running, monkeypatch):
    monkeypatch.setattr("adaline.play.server.MAX_PAGES", 2)
    with (
        connected(running),
        connected(running),
        pytest.raises((InvalidStatus, ConnectionClosed)),
        connected(running) as three,
    ):
        three.recv(timeout=60)
    assert works(running)


def test_one_page_does_not_see_another(running):
    with connected(running) as one, connected(running) as two:
        one.send(json.dumps({"tab": "board", "event": "set", "link": {"preset": "xor"}}))
        one.recv(timeout=60)
        two.send(START)
        drawing = json.loads(two.recv(timeout=60))["drawing"]
    assert drawing["proof"]["verdict"] == "separable"
