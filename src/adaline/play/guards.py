"""Who may talk to the server: only the page that this server sent, in a browser of this user.

Other pages in the same browser can send requests to this machine, and names of other hosts can be
made to point at it (DNS rebinding). So every request must name this server's own address as its
Host, an Origin must be that address, and a secret token is needed: it stands in the address that
the command prints, and becomes a cookie that browsers keep from other sites and from scripts.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

LARGEST_HEADERS = 16 * 2**10  # bytes of a request line and its headers
_READ_ONLY = ("GET", "HEAD")
_HOW = "Open the address that `adaline play` has printed."


class Guard:
    """Hand on what the page of this server asks; refuse all else with a sentence.

    Parameters
    ----------
    app : ASGI application
    token : str
        The secret; whoever has it may use the server.
    hosts : iterable of str
        What a Host header may be: addresses with ports, in lower case.
    cookie : str
        Name of the cookie. It tells servers on other ports of this machine apart.
    """

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
        refusal = self._refusal(scope, headers)
        if scope["type"] == "websocket":
            if refusal or not self._is_known(headers):
                await WebSocket(scope, receive, send).close(1008)  # answered as HTTP 403
            else:
                await self.app(scope, receive, send)
            return
        secured = _secured(send, headers.get("host", ""))
        if refusal:
            await refusal(scope, receive, secured)
        elif self._has_token(scope):
            await self._welcome()(scope, receive, secured)
        elif not self._is_known(headers):
            await _says(403, f"This page needs the token of its server. {_HOW}")(
                scope, receive, secured
            )
        else:
            await self.app(scope, receive, secured)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer to a request that comes from elsewhere or asks for what is not done here."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return _says(421, f"This server answers to its own address only. {_HOW}")
        origins = headers.getlist("origin")
        here = f"http://{hosts[0].lower()}"
        if any(origin != here for origin in origins) or len(origins) > 1:
            return _says(403, "This server answers its own page only.")
        if scope["type"] == "websocket" and not origins:
            return _says(403, "A connection without an Origin does not come from a page.")
        if sum(len(name) + len(value) for name, value in headers.raw) > LARGEST_HEADERS:
            return _says(431, "The headers are too long.")
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and not _is_navigation(headers):
            return _says(403, "This server answers its own page only.")
        if scope["type"] == "http" and scope["method"] not in _READ_ONLY:
            return _says(405, "This server only reads.")
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            return _says(413, "A request has no body here.")
        return None

    def _has_token(self, scope: Scope) -> bool:
        """Whether this is the address that the command printed."""
        if scope["path"] != "/" or not scope["query_string"]:
            return False
        try:
            given = parse_qs(scope["query_string"].decode("ascii"), max_num_fields=4)
        except (ValueError, UnicodeDecodeError):
            return False
        return self._is_token(given.get("token", [""])[0])

    def _is_known(self, headers: Headers) -> bool:
        """Whether the cookie holds the token."""
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return cookie is not None and self._is_token(cookie.value)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    def _welcome(self) -> Response:
        """The token becomes a cookie and leaves the address, where others could read it."""
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
        return answer


def _is_navigation(headers: Headers) -> bool:
    """Whether a user follows a link: the cookie decides then, and other pages read nothing."""
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") in (
        "document",
        None,
    )


def _says(status: int, sentence: str) -> Response:
    return PlainTextResponse(f"{sentence}\n", status_code=status)


def _secured(send: Send, host: str) -> Send:
    """`send`, with the headers that tell a browser to load nothing from elsewhere.

    A document that brings a policy of its own, such as the report of a fit, may stand in a frame
    of the page.
    """
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "frame-src 'self'; "
        f"media-src blob:; connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            framed = "content-security-policy" in headers
            # A refused Host may hold anything; it must not come back in a header.
            usual = policy if _is_plain(host) else "default-src 'none'"
            headers.setdefault("Content-Security-Policy", usual)
            headers["X-Content-Type-Options"] = "nosniff"
            headers["X-Frame-Options"] = "SAMEORIGIN" if framed else "DENY"
            headers["Referrer-Policy"] = "no-referrer"
            headers["Cross-Origin-Resource-Policy"] = "same-origin"
            headers["Cross-Origin-Opener-Policy"] = "same-origin"
            headers["Cache-Control"] = "no-store"
        await send(message)

    return guarded


def _is_plain(host: str) -> bool:
    return host.isascii() and all(c.isalnum() or c in ".:-[]" for c in host)
