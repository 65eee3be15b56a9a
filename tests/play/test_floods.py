"""A page that sends too much loses its own connection; the server and other pages go on."""

from __future__ import annotations

import json
import logging
import socket
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
        page.recv(timeout=60)
        page.send(START)
        return json.loads(page.recv(timeout=60))["drawing"]["learner"] == "perceptron"


def closes(page) -> int:
    """The code that the server closes with; its answers until then are read."""
    try:
        while True:
            page.recv(timeout=60)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 1006


def frame(header: dict[str, object], payload: bytes) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(4, "little") + text + payload


BAD = {
    "no JSON": "hello",
    "no object": "[1, 2]",
    "NaN": '{"tab": NaN}',
    "no tab": '{"event": "start"}',
    "another tab": '{"tab": "../server", "event": "start"}',
    "a tab that is a list": '{"tab": ["board"], "event": "start"}',
    "no event": '{"tab": "board"}',
    "an event that is a number": '{"tab": "board", "event": 1}',
    "deep brackets": '{"tab": "board", "event": "add", "x": ' + "[" * 50_000 + "]" * 50_000 + "}",
    "short frame": b"\x01",
    "a header longer than its frame": b"\xff\xff\xff\xff{}",
    "bytes that are no text": b"\x02\x00\x00\x00\xff\xfe",
    "a file without a name": frame({"tab": "board", "event": "upload"}, b"x"),
    "a very long name": frame({"tab": "board", "event": "upload", "name": "x" * 9999}, b"x"),
}


@pytest.mark.parametrize("message", BAD.values(), ids=BAD)
def test_what_no_page_sends_ends_that_connection(running, message):
    with connected(running) as page:
        page.recv(timeout=60)
        page.send(message)
        assert closes(page) == 1008
    assert works(running)


def test_a_message_of_many_megabytes_ends_that_connection(running):
    with connected(running) as page:
        page.recv(timeout=60)
        with suppress(ConnectionClosed):
            for _ in range(40):  # one message in parts: nobody may hold all of it in memory
                page.send([b"x" * 2**20] * 4)
        assert closes(page) in (1009, 1006)
    assert works(running)


def test_a_file_that_never_ends_ends_that_connection(running, monkeypatch):
    monkeypatch.setattr("adaline.play.session.MAX_FILE", 3 * 2**20)
    header = {"tab": "board", "event": "upload", "name": "a.csv", "more": True}
    with connected(running) as page:
        page.recv(timeout=60)
        with suppress(ConnectionClosed):
            for _ in range(10):
                page.send(frame(header, b"x" * 2**20))
        assert closes(page) == 1008
    assert works(running)


def test_a_flood_of_messages_ends_that_connection(running):
    message = json.dumps({"tab": "board", "event": "code"})
    with connected(running) as page, connected(running) as other:
        page.recv(timeout=60)
        other.recv(timeout=60)
        with suppress(ConnectionClosed):
            for _ in range(20_000):
                page.send(message)
        assert closes(page) in (1008, 1006)
        other.send(START)
        assert "drawing" in json.loads(other.recv(timeout=60))


def test_pages_beyond_the_limit_are_refused(running, monkeypatch):
    monkeypatch.setattr("adaline.play.server.MAX_PAGES", 2)
    with connected(running) as one, connected(running) as two:
        one.recv(timeout=60), two.recv(timeout=60)
        with pytest.raises((InvalidStatus, ConnectionClosed)), connected(running) as three:
            three.recv(timeout=60)
    assert works(running)


def test_one_page_does_not_see_another(running):
    with connected(running) as one, connected(running) as two:
        one.recv(timeout=60), two.recv(timeout=60)
        one.send(json.dumps({"tab": "board", "event": "preset", "name": "xor"}))
        one.recv(timeout=60)
        two.send(START)
        drawing = json.loads(two.recv(timeout=60))["drawing"]
    assert drawing["proof"]["verdict"] == "separable"
    assert not drawing["undo"]


def masked(text: bytes, kind: int = 0x81) -> bytes:
    """A frame of text as a client sends it, whatever the bytes are; of bytes with kind 0x82."""
    return bytes([kind, 0x80 | len(text)]) + b"\0\0\0\0" + text


# A part of a file has no answer, so that the server reads on after the page has left.
PART = masked(frame({"tab": "board", "event": "upload", "name": "a", "more": True}, b"x"), 0x82)
LAST = {"refused": masked(b"hello"), "no text": masked(b"\xff\xfe"), "parts": 9 * PART}
LAST["refused after parts"] = LAST["parts"] + LAST["refused"]


def opening(running) -> bytes:
    """What a browser sends to open a connection."""
    lines = [
        "GET /socket HTTP/1.1",
        f"Host: 127.0.0.1:{running.port}",
        f"Origin: {running.origin}",
        f"Cookie: adaline_play_{running.port}={TOKEN}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==",
    ]
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.mark.parametrize("last", LAST.values(), ids=LAST)
def test_a_page_that_sends_anything_and_leaves_prints_no_traceback(running, last):
    said = []

    class Heard(logging.Handler):
        def emit(self, record):
            said.append(record)

    log, heard = logging.getLogger("uvicorn.error"), Heard()
    log.addHandler(heard)
    try:
        for waits in [True, False] * 10:
            page = socket.create_connection(("127.0.0.1", running.port), timeout=60)
            page.sendall(opening(running))
            if waits:
                assert page.recv(65536).startswith(b"HTTP/1.1 101")
            page.sendall(last)
            page.shutdown(socket.SHUT_WR)
            page.close()  # it waits for no answer
        assert works(running)
    finally:
        log.removeHandler(heard)
    assert [record.getMessage() for record in said] == []
