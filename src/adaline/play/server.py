"""The web application: the files of the page, and a session over a WebSocket for each page."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from adaline.play.guards import Guard
from adaline.play.messages import Refused, packed, unpacked
from adaline.play.session import Session
from adaline.play.static_files import TYPES, ending, static_files

MOST_PAGES = 16  # open at the same time
MESSAGES_PER_SECOND, BURST = 250.0, 1000.0  # a page sends up to two a frame; a flood is cut off

_FOR_DOCUMENTS = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)


def application(token: str, hosts: Iterable[str], cookie: str) -> ASGIApp:
    """The guarded application.

    Parameters
    ----------
    token : str
        The secret that a page must bring.
    hosts : iterable of str
        What a Host header may be.
    cookie : str
        Name of the cookie that holds the token.
    """
    pages = _Pages()
    app = Starlette(
        routes=[
            Route("/", _file_named("index.html")),
            *(Route(f"/{name}", _file_named(name)) for name in static_files()),
            Route("/document/{key}", pages.document),
            WebSocketRoute("/socket", pages.talk),
        ]
    )
    app.router.redirect_slashes = False  # an address is there or it is not
    return Guard(app, token, hosts, cookie)


def _file_named(name: str) -> Any:
    """An endpoint that sends this file."""
    content = static_files()[name]
    kind = TYPES[ending(name)]

    async def send(request: Request) -> Response:
        return Response(content, media_type=kind)

    return send


class _Pages:
    """The pages that are open now; each has a session of its own and sees no other."""

    def __init__(self) -> None:
        self.open = 0
        self.sessions: set[Session] = set()

    async def document(self, request: Request) -> Response:
        """A document that an open page shows in a frame; it may have styles, and runs nothing."""
        key = request.path_params["key"]
        for session in self.sessions:
            if key in session.documents:
                return Response(
                    session.documents[key],
                    media_type="text/html; charset=utf-8",
                    headers={"Content-Security-Policy": _FOR_DOCUMENTS},
                )
        return Response("There is no such document.\n", 404, media_type="text/plain")

    async def talk(self, socket: WebSocket) -> None:
        """One page, from its connection to its end."""
        if self.open >= MOST_PAGES:
            await socket.close(1013, f"{MOST_PAGES} pages are open; close one.")
            return
        self.open += 1
        session = Session()
        self.sessions.add(session)
        try:
            await socket.accept()
            await socket.send_text(str(packed({"hello": {"tabs": session.tabs}})))
            await _converse(socket, session)
        except WebSocketDisconnect:
            pass
        except Refused as refused:
            with suppress(WebSocketDisconnect, RuntimeError):  # the page may have left already
                await socket.close(1008, str(refused)[:120])
        finally:
            self.open -= 1
            self.sessions.discard(session)
            session.end()  # at once: a server that is stopped waits for no thread


async def _converse(socket: WebSocket, session: Session) -> None:
    """Answer messages, one after the other, until the page is closed or sends a flood."""
    left, then = BURST, time.monotonic()
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        now = time.monotonic()
        left, then = min(BURST, left + (now - then) * MESSAGES_PER_SECOND) - 1.0, now
        if left < 0.0:
            raise Refused("too many messages.")
        text = message.get("text")
        answers = session.hear(*unpacked(message["bytes"] if text is None else text))
        while (answer := await run_in_threadpool(_next_frame, answers)) is not None:
            if isinstance(answer, str):
                await socket.send_text(answer)
            else:
                await socket.send_bytes(answer)


def _next_frame(answers: Iterator[dict[str, Any]]) -> str | bytes | None:
    """The next answer, ready to be sent; None after the last. Runs beside the event loop."""
    answer = next(answers, None)
    return None if answer is None else packed(answer)
