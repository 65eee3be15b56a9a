"""The page's server on this machine: guarded requests, and a WebSocket with a session per page.

Only the page that this server sent, in a browser of this user, may talk to it. Other pages in the
same browser can send requests to this machine, and names of other hosts can be made to point at it
(DNS rebinding). So every request must name this server's own address as its Host, an Origin must be
that address, and a secret token is needed: it stands in the address that the command prints, and
becomes a cookie that browsers keep from other sites and from scripts.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from adaline import MissingExtra

try:
    import uvicorn
    import websockets  # noqa: F401  uvicorn alone speaks no WebSocket
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import HTTPConnection, Request
    from starlette.responses import PlainTextResponse, RedirectResponse, Response
    from starlette.routing import Route, WebSocketRoute
    from starlette.websockets import WebSocket, WebSocketDisconnect
except ImportError as missing:
    raise MissingExtra.of("play", "The page", str(missing.name)) from None

from adaline.play.session import STATIC_TYPES, TABS, Refused, Session, read_static_files

PORT = 8765  # tried first, so that links to prepared boards stay the same
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_PAGES = 16  # open at the same time; any round number; four times as many for a class
# The page loads nothing from elsewhere, and nobody may show it in a frame.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def serve(
    port: int | None = None,
    *,
    host: str = "127.0.0.1",
    token: str | None = None,
    browser: bool = True,
    state: str = "",
    for_class: bool = False,
    say: Callable[[str], None] = print,
    begun: Callable[[str], None] = lambda address: None,
) -> None:
    """Open the page in a browser and serve it until Ctrl-C.

    Parameters
    ----------
    port : int, optional
        By default 8765, or any free one where 8765 is taken.
    host, token : str
        The address to listen at, and the secret in the address of the page, by default random.
        Other machines can reach the server only at another address than 127.0.0.1 or ::1, and that
        needs a token of 16 characters or more.
    browser : bool
        Whether to open a browser.
    state : str
        What stands behind the # of a link to a prepared board.
    for_class : bool
        Whether students on the same network may open the page, by an address with a short code.
        They have boards and signals of their own, and no tab that reads files or runs commands.
    say, begun : function
        They take the lines to print, and the address once it is known.
    """
    if for_class and host in LOOPBACK:
        host = find_own_address()
    server, listening, address = prepare(port, host=host, token=token, for_class=for_class, say=say)
    address += f"#{state.removeprefix('#')}" if state else ""
    begun(address)
    say(f"The page is at {address}")
    if for_class:
        say("It is for a class on the same network, which is not encrypted. It ends with Ctrl-C.")
    elif host in LOOPBACK:
        say("It is for this machine only, and ends with Ctrl-C.")
    else:
        say("Whoever can reach this address and has the token can use it. It ends with Ctrl-C.")
    # A session of no page loads the learners while the browser starts.
    warm_up = {"tab": "board", "event": "start"}
    threading.Thread(target=Session().hear, args=(warm_up,), daemon=True).start()
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    with listening, suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


def prepare(
    port: int | None = None,
    *,
    host: str = "127.0.0.1",
    token: str | None = None,
    for_class: bool = False,
    say: Callable[[str], None] = print,
) -> tuple[uvicorn.Server, socket.socket, str]:
    """A server that is ready to run, the socket it listens at, and the address of its page."""
    token = choose_token(host, token, for_class)
    listening = _listen(port, host, say)
    number = listening.getsockname()[1]
    hosts = [
        f"[{name}]:{number}" if ":" in name else f"{name}:{number}"
        for name in (host, *(LOOPBACK if host in LOOPBACK else ()))
    ]
    page = Page(token, hosts, f"adaline_play_{number}", for_class)
    routes = [WebSocketRoute("/socket", page.talk), Route("/{name:path}", page.send_file)]
    config = uvicorn.Config(
        Starlette(routes=routes),
        log_level="error",
        server_header=False,
        proxy_headers=False,
        ws="websockets-sansio",
        ws_max_size=2 * 2**20 if for_class else 200 * 2**20,  # a dropped file is one message
        ws_ping_timeout=120.0,
        http="h11",
        h11_max_incomplete_event_size=16 * 2**10,  # bytes of a request line and its headers
        limit_concurrency=300,
        timeout_graceful_shutdown=1,
    )
    # Text that is not UTF-8 is the fault of a page, not an error of the server.
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: not (record.exc_info and isinstance(record.exc_info[1], UnicodeDecodeError))
    )
    return uvicorn.Server(config), listening, f"http://{hosts[0]}/?token={token}"


def choose_token(host: str, token: str | None, for_class: bool = False) -> str:
    """The given token, if it is valid; else a random one."""
    if host in ("", "0.0.0.0", "::"):
        raise ValueError(
            f"host {host!r} means every address of this machine; give the one that others use."
        )
    if token is None and for_class:  # 40 bits of letters that look different on a projector
        return "".join(secrets.choice("23456789abcdefghjkmnpqrstuvwxyz") for _ in range(8))
    if token is None and host not in LOOPBACK:
        raise ValueError(f"host {host!r} can be reached by others; give a token, too.")
    if token is None:
        return secrets.token_urlsafe(24)
    if len(token) < 16 or not all(c.isalnum() or c in "-_" for c in token):
        raise ValueError(
            f"the token has {len(token)} characters; expected 16 or more of "
            "letters, digits, - and _."
        )
    return token


def _listen(port: int | None, host: str, say: Callable[[str], None]) -> socket.socket:
    """A socket at the port asked for; without one, at 8765 or any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, PORT if port is None else port), family=family)
    except (OSError, OverflowError) as error:
        if port is not None:
            raise OSError(
                f"port {port} of {host} cannot be used ({error}); "
                "give another --port, or none to take a free one."
            ) from None
    say(f"Port {PORT} is taken, so a free one is used.")
    return socket.create_server((host, 0), family=family)


def find_own_address() -> str:
    """The address by which other machines of the network reach this one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # chooses a network; nothing is sent
        address: str = probe.getsockname()[0]
        if not address.startswith("127."):
            return address
    raise ValueError("this machine seems to be in no network; give --host and its address.")


@dataclass(frozen=True)
class Page:
    """What a server answers: files to those who bring the token, and a session to each page.

    `hosts` are the permitted Host headers, with their port. The name of the cookie that holds the
    token distinguishes servers at other ports.
    """

    token: str
    hosts: list[str]
    cookie: str
    for_class: bool
    sessions: set[Session] = field(default_factory=set)

    @property
    def tabs(self) -> list[str]:
        """The tabs of a page: no class reads files or runs commands of this machine."""
        return ["board", "signals"] if self.for_class else list(TABS)

    def is_token(self, text: str) -> bool:
        """Whether it is the token; how long that takes says nothing about it."""
        return hmac.compare_digest(text.encode(), self.token.encode())

    def has_cookie(self, request: HTTPConnection) -> bool:
        """Whether the browser has brought the token before."""
        return self.is_token(request.cookies.get(self.cookie, ""))

    def refusal(self, request: HTTPConnection) -> tuple[int, str] | None:
        """The status and sentence for a request from elsewhere."""
        headers, is_socket = request.headers, request.scope["type"] == "websocket"
        host, origins = headers.getlist("host"), headers.getlist("origin")
        if len(host) != 1 or host[0].lower() not in self.hosts:
            return 421, "This server answers to its own address only."
        # A page's own script files have no Origin; its WebSocket has one.
        known = (
            [[f"http://{host[0].lower()}"]] if is_socket else [[], [f"http://{host[0].lower()}"]]
        )
        # A user who follows a link navigates: the cookie decides, and other pages read nothing.
        foreign = headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
        if origins not in known or (foreign and headers.get("sec-fetch-mode") != "navigate"):
            return 403, "This server answers its own page only."
        return None

    async def send_file(self, request: Request) -> Response:
        """A file of the page, to a browser that has the token."""
        name, refusal = request.path_params["name"], self.refusal(request)
        if not (refusal or name) and self.is_token(request.query_params.get("token", "")):
            # The token becomes a cookie and leaves the address, where others could read it.
            answer = RedirectResponse("/", 303, headers=HEADERS)
            answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict")
            return answer
        if refusal is None and not self.has_cookie(request):
            await asyncio.sleep(0.2)  # so that nobody tries many tokens
            refusal = 403, "This page needs the token of its server."
        if refusal is not None:
            text = f"{refusal[1]} Open the address that `adaline play` has printed.\n"
            return PlainTextResponse(text, refusal[0], headers=HEADERS)
        name = name or "index.html"
        if (content := read_static_files().get(name)) is None:
            return PlainTextResponse("There is no such file.\n", 404, headers=HEADERS)
        if name == "index.html":
            content = content.replace(b"board signals table", " ".join(self.tabs).encode())
            if self.for_class:  # so that a link that a student copies opens for all of the class
                content = content.replace(b'query=""', f'query="?token={self.token}"'.encode())
        kind = STATIC_TYPES[name.rpartition(".")[2]]
        return Response(content, media_type=kind, headers=HEADERS)

    async def talk(self, socket: WebSocket) -> None:
        """Answer the messages of one page until it is closed or sends a flood."""
        if self.refusal(socket) or not self.has_cookie(socket):
            await socket.close(1008)  # answered as HTTP 403
            return
        most = 4 * MAX_PAGES if self.for_class else MAX_PAGES
        if len(self.sessions) >= most:
            await socket.close(1013, f"{most} pages are open; close one.")
            return
        session = Session(self.tabs)
        self.sessions.add(session)
        try:
            await socket.accept()
            # A token bucket of 250 messages a second; a page sends 120.
            tokens, last = 1000.0, time.monotonic()
            while (message := await socket.receive())["type"] != "websocket.disconnect":
                now = time.monotonic()
                tokens, last = min(1000.0, tokens + (now - last) * 250.0) - 1.0, now
                if tokens < 0.0:
                    raise Refused("too many messages.")
                text = message.get("text")
                frame = message["bytes"] if text is None else text.encode()
                # Learning takes its time: beside the event loop, so that other pages are answered.
                await socket.send_text(await run_in_threadpool(session.answer, frame))
        except WebSocketDisconnect:
            pass
        except Refused as error:
            with suppress(WebSocketDisconnect, RuntimeError):  # the page may have left already
                await socket.close(1008, str(error)[:120])
        finally:
            self.sessions.discard(session)
            session.end()  # at once: a server that is stopped waits for no thread
