"""The server answers its own page and nobody else: over a hundred requests try to get in."""

from __future__ import annotations

import socket
from base64 import b64encode

import pytest

from page_server import TOKEN, served

KEY = b64encode(b"0123456789abcdef").decode()
SECRET = b"learners"  # stands in every file that the page is made of, and in no refusal


@pytest.fixture(scope="module")
def running():
    with served() as found:
        yield found


def asked(port: int, head: str, body: bytes = b"") -> bytes:
    """What the server answers to these very bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
        link.sendall(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body)
        link.settimeout(3)
        found = b""
        try:
            while part := link.recv(65536):
                found += part
                if b"\r\n\r\n" in found and _is_whole(found):
                    break
        except (TimeoutError, ConnectionResetError):
            pass
        return found


def _is_whole(found: bytes) -> bool:
    head, _, body = found.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return len(body) >= int(line.split(b":")[1])
    return head.startswith((b"HTTP/1.1 101", b"HTTP/1.1 304"))


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/") else 0


def get(port: int, path: str = "/", **headers: str) -> str:
    """A request of the page itself, with some headers changed; an empty one is left out."""
    cookie = f"adaline_play_{port}={TOKEN}"
    usual = {
        "Host": f"127.0.0.1:{port}",
        "Cookie": cookie,
        **{k.replace("_", "-"): v for k, v in headers.items()},
    }
    return "\n".join([f"GET {path} HTTP/1.1", *(f"{k}: {v}" for k, v in usual.items() if v)])


def upgrade(port: int, **headers: str) -> str:
    usual = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Key": KEY}
    usual |= {"Sec_WebSocket_Version": "13", "Origin": f"http://127.0.0.1:{port}"}
    return get(port, "/socket", **{**usual, **headers})


def test_the_page_itself_is_let_in(running):
    assert status(asked(running.port, get(running.port))) == 200
    assert SECRET in asked(running.port, get(running.port, "/board.js"))
    assert status(asked(running.port, upgrade(running.port))) == 101


def test_the_printed_address_gives_a_strict_cookie_and_leaves_the_token_behind(running):
    answer = asked(running.port, get(running.port, f"/?token={TOKEN}", Cookie=""))
    assert status(answer) == 303
    head = answer.lower()
    assert b"location: /\r\n" in head
    assert b"httponly" in head
    assert b"samesite=strict" in head


HOSTS = [
    "",
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost",
    "localhost:80",
    "127.0.0.1.evil.example:{port}",
    "localhost.evil.example:{port}",
    "0.0.0.0:{port}",
    "[::]:{port}",
    "127.1:{port}",
    "2130706433:{port}",
    "127.0.0.1:{port}@evil.example",
    "evil.example@127.0.0.1:{port}",
    "127.0.0.1:{port}, evil.example",
    "127.0.0.2:{port}",
    "localhost.:{port}",
    "[::ffff:127.0.0.1]:{port}",
]
ORIGINS = [
    "http://evil.example",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "null",
    "file://",
    "http://localhost:{port}",
    "http://127.0.0.1:{port}.evil.example",
    "http://evil.example:{port}",
    "http://127.0.0.1:{port}/",
    "HTTP://127.0.0.1:{port}",
    "http://127.0.0.1:{port} http://evil.example",
    "chrome-extension://abc",
]
PATHS = [
    "/../pyproject.toml",
    "/..%2f..%2fserver.py",
    "/%2e%2e/server.py",
    "/%2e%2e%2f%2e%2e%2fserver.py",
    "/..%5cserver.py",
    "/static/../server.py",
    "//etc/passwd",
    "/etc/passwd",
    "/%00",
    "/board.js%00.html",
    "/index.html/../../server.py",
    "/.git/config",
    "/server.py",
    "/__init__.py",
    "/static/board.js",
    "/board.js/",
    "/socket",
    "/C:/Windows/win.ini",
    "/%c0%ae%c0%ae/server.py",
    "/board.js;/../server.py",
    "/?file=/etc/passwd&path=../server.py#x",
    "/ws",
    "/api",
    "/docs",
    "/openapi.json",
]
COOKIES = [
    "",
    "adaline_play_{port}=",
    "adaline_play_{port}=wrong",
    "adaline_play_1={token}",
    "adaline_play={token}",
    "adaline_play_{port}={token}x",
    "adaline_play_{port}={short}",
    "token={token}",
    "adaline_play_{port}=%00{token}",
    "=;;,;=",
]


def filled(text: str, port: int) -> str:
    return text.format(port=port, token=TOKEN, short=TOKEN[:-1]) if "{" in text else text


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_is_refused(running, host):
    host = filled(host, running.port)
    for request in (
        get(running.port, "/board.js", Host=host),
        upgrade(running.port, Host=host, Origin=f"http://{host}"),
    ):
        answer = asked(running.port, request)
        assert status(answer) in (400, 403, 421)
        assert SECRET not in answer


@pytest.mark.parametrize("origin", ORIGINS)
def test_another_origin_is_refused(running, origin):
    origin = filled(origin, running.port)
    for request in (
        get(running.port, "/board.js", Origin=origin),
        upgrade(running.port, Origin=origin),
    ):
        answer = asked(running.port, request)
        assert status(answer) in (400, 403)
        assert SECRET not in answer


def test_a_connection_without_an_origin_is_refused(running):
    assert status(asked(running.port, upgrade(running.port, Origin=""))) == 403


@pytest.mark.parametrize("cookie", COOKIES)
def test_without_the_token_nothing_is_told(running, cookie):
    cookie = filled(cookie, running.port)
    for request in (
        get(running.port, "/board.js", Cookie=cookie),
        upgrade(running.port, Cookie=cookie),
    ):
        answer = asked(running.port, request)
        assert status(answer) in (400, 403)
        assert SECRET not in answer


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", "%00", TOKEN.upper(), "é"])
def test_a_wrong_token_in_the_address_gives_no_cookie(running, token):
    answer = asked(running.port, get(running.port, f"/?token={token}", Cookie=""))
    assert status(answer) in (400, 403)
    assert b"set-cookie" not in answer.lower()


@pytest.mark.parametrize("path", PATHS)
def test_only_files_of_the_page_are_sent(running, path):
    answer = asked(running.port, get(running.port, path))
    assert status(answer) in (400, 404) or path.startswith("/?")
    for leak in (b"import annotations", b"[project]", b"root:", b"Traceback", b"[core]"):
        assert leak not in answer


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "FOO"]
)
def test_the_server_only_reads(running, method):
    answer = asked(running.port, get(running.port, "/").replace("GET", method, 1))
    assert status(answer) in (400, 404, 405)
    assert b"access-control" not in answer.lower()


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_may_not_load_parts_of_the_page(running, site):
    request = get(
        running.port,
        "/board.js",
        Sec_Fetch_Site=site,
        Sec_Fetch_Mode="no-cors",
        Sec_Fetch_Dest="script",
    )
    assert status(asked(running.port, request)) == 403


@pytest.mark.parametrize(
    "more", ["Content-Length: 5", "Transfer-Encoding: chunked", "Content-Length: 10000000000"]
)
def test_a_request_has_no_body(running, more):
    answer = asked(running.port, get(running.port, "/") + f"\n{more}", b"hello")
    assert status(answer) in (400, 413)


def test_very_long_headers_are_refused(running):
    answer = asked(running.port, get(running.port, "/", X_Long="x" * 40_000))
    assert status(answer) in (0, 400, 431)
    assert SECRET not in answer


@pytest.mark.parametrize(
    "request_",
    [
        "\x16\x03\x01",
        "GET",
        "GET / HTTP/9.9",
        "GET http://evil.example/ HTTP/1.1\nHost: evil.example",
    ],
)
def test_what_is_no_request_is_refused(running, request_):
    answer = asked(running.port, request_)
    assert status(answer) in (0, 400, 403, 404, 421, 505)
    assert SECRET not in answer


def test_two_hosts_or_origins_are_refused(running):
    port = running.port
    twice = get(port, "/board.js") + f"\nHost: 127.0.0.1:{port}"
    assert status(asked(port, twice)) in (400, 421)
    origins = (
        get(port, "/board.js", Origin=f"http://127.0.0.1:{port}") + "\nOrigin: http://evil.example"
    )
    assert status(asked(port, origins)) in (400, 403)


@pytest.mark.parametrize("path", ["/", "/board.js", "/nothing", "/document/x", "/?token=wrong"])
def test_every_answer_tells_the_browser_to_load_nothing_from_elsewhere(running, path):
    head = asked(running.port, get(running.port, path)).lower()
    assert b"content-security-policy: default-src 'none'" in head
    assert b"unsafe" not in head.partition(b"\r\n\r\n")[0]
    assert b"frame-ancestors 'none'" in head
    assert b"x-content-type-options: nosniff" in head
    assert b"access-control" not in head


def test_the_page_has_no_script_and_no_style_in_its_html(running):
    from adaline.play.front_end import static_files

    html = static_files()["index.html"].decode()
    assert "<script>" not in html
    assert "style=" not in html
    assert "http" not in html  # nothing from elsewhere


@pytest.mark.parametrize("asked_for", [get, upgrade])
def test_control_characters_in_a_cookie_get_nothing(running, asked_for):
    """The WebSocket library may leave such a request without any answer (status 0)."""
    answer = asked(running.port, asked_for(running.port, Cookie="\x01=;;;"))
    assert status(answer) in (0, 400, 403)
    assert SECRET not in answer
