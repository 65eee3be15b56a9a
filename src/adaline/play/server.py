"""The guarded web application: the files of the page, and a session over a WebSocket per page.

Only the page that this server sent, in a browser of this user, may talk to it. Other pages in the
same browser can send requests to this machine, and names of other hosts can be made to point at it
(DNS rebinding). So every request must name this server's own address as its Host, an Origin must be
that address, and a secret token is needed: it stands in the address that the command prints, and
becomes a cookie that browsers keep from other sites and from scripts.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from adaline.play.front_end import TYPES, static_files
from adaline.play.session import Refused, Session, pack, unpack

MAX_PAGES = 16  # open at the same time; any round number
MESSAGES_PER_SECOND, BURST = 250.0, 1000.0  # a page sends up to two per frame; a flood is cut off
MAX_HEADERS = 16 * 2**10  # bytes of a request line and its headers
ADVICE = "Open the address that `adaline play` has printed."
# A document, such as the report of a fit, may have styles and pictures, and runs nothing.
DOCUMENT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)
# The page loads nothing from elsewhere, and nobody may show it in a frame.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "frame-src 'self'; media-src blob:; connect-src 'self' ws://{host}; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


def application(token: str, hosts: Iterable[str], cookie: str) -> ASGIApp:
    """The guarded application.

    Parameters
    ----------
    token : str
        The secret that a page must bring; whoever has it may use the server.
    hosts : iterable of str
        Permitted Host headers: addresses with ports, in lower case.
    cookie : str
        Name of the cookie that holds the token. It distinguishes servers on other ports.
    """
    pages = Pages()
    app = Starlette(
        routes=[
            Route("/", _send_file("index.html")),
            *(Route(f"/{name}", _send_file(name)) for name in static_files()),
            Route("/document/{key}", pages.send_document),
            WebSocketRoute("/socket", pages.talk),
        ]
    )
    app.router.redirect_slashes = False  # an address exists or it does not
    return Guard(app, token, hosts, cookie)


def _send_file(name: str) -> Any:
    """An endpoint that sends this file."""
    content = static_files()[name]
    kind = f"{TYPES[name.rpartition('.')[2]]}; charset=utf-8"

    async def send(request: Request) -> Response:
        return Response(content, media_type=kind)

    return send


class Pages:
    """The open pages; each has a session of its own and sees no other."""

    def __init__(self) -> None:
        self.sessions: set[Session] = set()

    async def send_document(self, request: Request) -> Response:
        """A document that an open page shows in a frame."""
        key = request.path_params["key"]
        for session in self.sessions:
            if key in session.documents:
                content, kind = session.documents[key], "text/html; charset=utf-8"
                policy = {"Content-Security-Policy": DOCUMENT_POLICY}
                return Response(content, media_type=kind, headers=policy)
        return _say(404, "There is no such document.")

    async def talk(self, socket: WebSocket) -> None:
        """One page, from its connection to its end."""
        if len(self.sessions) >= MAX_PAGES:
            await socket.close(1013, f"{MAX_PAGES} pages are open; close one.")
            return
        session = Session()
        self.sessions.add(session)
        try:
            await socket.accept()
            await socket.send_text(str(pack({"hello": {"tabs": session.tabs}})))
            await _converse(socket, session)
        except WebSocketDisconnect:
            pass
        except Refused as error:
            with suppress(WebSocketDisconnect, RuntimeError):  # the page may have left already
                await socket.close(1008, str(error)[:120])
        finally:
            self.sessions.discard(session)
            session.end()  # at once: a server that is stopped waits for no thread


async def _converse(socket: WebSocket, session: Session) -> None:
    """Answer messages, one after the other, until the page is closed or sends a flood."""
    tokens, last = BURST, time.monotonic()  # of a token bucket
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        now = time.monotonic()
        tokens, last = min(BURST, tokens + (now - last) * MESSAGES_PER_SECOND) - 1.0, now
        if tokens < 0.0:
            raise Refused("too many messages.")
        text = message.get("text")
        answers = session.hear(*unpack(message["bytes"] if text is None else text))
        while (answer := await run_in_threadpool(_next_frame, answers)) is not None:
            send = socket.send_text if isinstance(answer, str) else socket.send_bytes
            await send(answer)  # type: ignore[arg-type]


def _next_frame(answers: Iterator[dict[str, Any]]) -> str | bytes | None:
    """The next answer, encoded; None after the last. Runs beside the event loop."""
    answer = next(answers, None)
    return None if answer is None else pack(answer)


class Guard:
    """Pass on the requests of this server's page; reject all others. See `application`."""

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str], cookie: str) -> None:
        self.app = app
        self.token = token
        self.hosts = frozenset(hosts)
        self.cookie = cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        answer: Any = self._reject(scope, headers)
        if scope["type"] == "websocket":
            if answer or not self._has_cookie(headers):
                await WebSocket(scope, receive, send).close(1008)  # answered as HTTP 403
                return
        elif not answer and self._has_token(scope):
            # The token becomes a cookie and leaves the address, where others could read it.
            answer = RedirectResponse("/", status_code=303)
            answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
        elif not answer and not self._has_cookie(headers):
            answer = _say(403, f"This page needs the token of its server. {ADVICE}")
        if scope["type"] == "http":
            send = _add_headers(send, headers.get("host", ""))
        await (answer or self.app)(scope, receive, send)

    def _reject(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer to a request from elsewhere, or of a kind that no page of ours sends."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return _say(421, f"This server answers to its own address only. {ADVICE}")
        own = f"http://{hosts[0].lower()}"
        if any(origin != own for origin in origins) or len(origins) > 1:
            return _say(403, "This server answers its own page only.")
        if scope["type"] == "websocket" and not origins:
            return _say(403, "A connection without an Origin does not come from a page.")
        if sum(len(name) + len(value) for name, value in headers.raw) > MAX_HEADERS:
            return _say(431, "The headers are too long.")
        # A user who follows a link navigates: the cookie decides, and other pages read nothing.
        navigates = headers.get("sec-fetch-mode") == "navigate"
        navigates &= headers.get("sec-fetch-dest") in ("document", None)
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not navigates:
            return _say(403, "This server answers its own page only.")
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD"):
            return _say(405, "This server is read-only.")
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            return _say(413, "A request has no body here.")
        return None

    def _has_token(self, scope: Scope) -> bool:
        """Whether this is the address that the command printed."""
        if scope["path"] != "/" or not scope["query_string"]:
            return False
        try:
            query = parse_qs(scope["query_string"].decode("ascii"), max_num_fields=4)
        except ValueError:  # also UnicodeDecodeError
            return False
        return self._is_token(query.get("token", [""])[0])

    def _has_cookie(self, headers: Headers) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return cookie is not None and self._is_token(cookie.value)

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self.token.encode())


def _say(status: int, sentence: str) -> Response:
    return PlainTextResponse(f"{sentence}\n", status_code=status)


def _add_headers(send: Send, host: str) -> Send:
    """`send`, with the headers that tell a browser to load nothing from elsewhere."""
    # A rejected Host may hold anything; it must not come back in a header.
    plain = host.isascii() and all(c.isalnum() or c in ".:-[]" for c in host)
    policy = PAGE_POLICY.format(host=host) if plain else "default-src 'none'"

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            # A document brings a policy of its own, and may stand in a frame of the page.
            framed = "content-security-policy" in headers
            headers.setdefault("Content-Security-Policy", policy)
            headers["X-Frame-Options"] = "SAMEORIGIN" if framed else "DENY"
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Referrer-Policy"] = "no-referrer"
            headers["Cross-Origin-Resource-Policy"] = "same-origin"
            headers["Cross-Origin-Opener-Policy"] = "same-origin"
            headers["Cache-Control"] = "no-store"
        await send(message)

    return guarded
