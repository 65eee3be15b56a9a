"""`serve` runs the server on this machine: address, token, browser, and Ctrl-C to stop."""

from __future__ import annotations

import logging
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING

from adaline import MissingExtra

if TYPE_CHECKING:
    import uvicorn

PORT = 8765  # tried first, so that links to prepared boards stay the same
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MIN_TOKEN = 16  # characters, where others can reach the server
MAX_MESSAGE = 2 * 2**20  # bytes; files come in parts


def serve(
    port: int | None = None,
    *,
    host: str = "127.0.0.1",
    token: str | None = None,
    browser: bool = True,
    state: str = "",
    say: Callable[[str], None] = print,
    begun: Callable[[str], None] | None = None,
) -> None:
    """Open the page in a browser and serve it until Ctrl-C.

    Parameters
    ----------
    port : int, optional
        By default 8765, or any free one where 8765 is taken.
    host : str
        The address to listen at. Other machines can reach the server only at another address
        than 127.0.0.1 or ::1, and that needs a token of 16 characters or more.
    token : str, optional
        The secret in the address; by default a random one.
    browser : bool
        Whether to open a browser.
    state : str
        What stands behind the # of a link to a prepared board.
    say : function
        Takes the lines to print.
    begun : function, optional
        Takes the address, once it is known.

    Raises
    ------
    OSError
        The port is taken, or the address is not one of this machine.
    """
    server, listening, address = prepare(port, host=host, token=token, say=say)
    address += f"#{state.removeprefix('#')}" if state else ""
    if begun is not None:
        begun(address)
    say(f"The page is at {address}")
    say("It is for this machine only, and ends with Ctrl-C." if host in LOOPBACK else _OPEN_WORDS)
    threading.Thread(target=warm_up, daemon=True).start()
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()


def warm_up() -> None:
    """Load what the first page needs, while the browser starts."""
    from adaline.play.session import Session

    for _ in Session().hear({"tab": "board", "event": "start"}):
        pass


_OPEN_WORDS = "Whoever can reach this address and has the token can use it. It ends with Ctrl-C."


def prepare(
    port: int | None = None,
    *,
    host: str = "127.0.0.1",
    token: str | None = None,
    say: Callable[[str], None] = print,
) -> tuple[uvicorn.Server, socket.socket, str]:
    """A server that is ready to run, the socket it listens at, and the address of its page."""
    try:
        import starlette  # noqa: F401
        import uvicorn
        import websockets  # noqa: F401
    except ImportError as missing:
        raise MissingExtra.of("play", "The page", str(missing.name)) from None
    from adaline.play.server import MAX_HEADERS, application

    secret = choose_token(host, token)
    listening = _listen(port, host, say)
    number = listening.getsockname()[1]
    names = LOOPBACK if host in LOOPBACK else (host,)
    shown = {name: f"[{name}]" if ":" in name else name for name in names}
    app = application(secret, [f"{s}:{number}" for s in shown.values()], f"adaline_play_{number}")
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE,
        ws_ping_interval=20.0,
        ws_ping_timeout=120.0,
        http="h11",
        h11_max_incomplete_event_size=MAX_HEADERS,
        limit_concurrency=100,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_ours)
    address = f"http://{shown[host]}:{number}/?token={secret}"
    return uvicorn.Server(config), listening, address


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether an error may be the server's own: text that is not UTF-8 is the fault of a page."""
    return not (record.exc_info and isinstance(record.exc_info[1], UnicodeDecodeError))


def choose_token(host: str, token: str | None) -> str:
    """The given token, if it is valid; else a random one."""
    if host in ("", "0.0.0.0", "::"):
        raise ValueError(
            f"host {host!r} means every address of this machine; give the one that others use."
        )
    if token is None and host not in LOOPBACK:
        raise ValueError(f"host {host!r} can be reached by others; give a token, too.")
    if token is None:
        return secrets.token_urlsafe(24)
    if len(token) < MIN_TOKEN or not all(c.isalnum() or c in "-_" for c in token):
        raise ValueError(
            f"the token has {len(token)} characters; expected {MIN_TOKEN} or more of "
            "letters, digits, - and _."
        )
    return token


def _listen(port: int | None, host: str, say: Callable[[str], None]) -> socket.socket:
    """A socket at the port asked for; without one, at 8765 or any that is free."""
    try:
        return _bind(host, PORT if port is None else port)
    except OSError as error:
        if port is not None:
            raise OSError(
                f"port {port} of {host} cannot be used ({error.strerror or error}); "
                "give another --port, or none to take a free one."
            ) from None
    say(f"Port {PORT} is taken, so a free one is used.")
    return _bind(host, 0)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":  # there it would let two servers share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(64)
    except (OSError, OverflowError):
        listening.close()
        raise
    return listening
