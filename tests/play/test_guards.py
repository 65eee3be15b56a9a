"""The server answers its own page and nobody else: over a hundred requests try to get in."""

from __future__ import annotations

from base64 import b64encode
from http.client import HTTPConnection

import pytest

from page_server import TOKEN, served

KEY = b64encode(b"0123456789abcdef").decode()
SECRET = b"learners"  # stands in every file that the page is made of, and in no refusal


@pytest.fixture(scope="module")
def running():
    with served() as found:
        yield found


def asked(port: int, request: tuple[str, dict[str, str]], method: str = "GET") -> bytes:
    """What the server answers: status, headers and body."""
    path, headers = request
    link = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        link.putrequest(method, path, skip_host=True)
        for name, value in headers.items():
            link.putheader(name, value)
        link.endheaders()
        answer = link.getresponse()
        return f"{answer.status}\r\n{answer.headers}\r\n\r\n".encode() + answer.read()
    finally:
        link.close()


def status(answer: bytes) -> int:
    return int(answer[:3])


def get(port: int, path: str = "/", **headers: str) -> tuple[str, dict[str, str]]:
    """A request of the page itself, with some headers changed; an empty one is left out."""
    usual = {"Host": f"127.0.0.1:{port}", "Cookie": f"adaline_play_{port}={TOKEN}"}
    usual |= {name.replace("_", "-"): value for name, value in headers.items()}
    return path, {name: value for name, value in usual.items() if value}


def upgrade(port: int, **headers: str) -> tuple[str, dict[str, str]]:
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
    assert b"location: /\n" in head
    assert b"httponly" in head
    assert b"samesite=strict" in head


HOSTS = [
    "",
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "localhost:80",
    "127.0.0.1.evil.example:{port}",
    "0.0.0.0:{port}",
    "2130706433:{port}",
    "127.0.0.1:{port}@evil.example",
    "127.0.0.1:{port}, evil.example",
    "127.0.0.2:{port}",
    "[::ffff:127.0.0.1]:{port}",
]
ORIGINS = [
    "http://evil.example",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1",
    "null",
    "http://localhost:{port}",
    "http://127.0.0.1:{port}.evil.example",
    "http://evil.example:{port}",
    "http://127.0.0.1:{port}/",
    "http://127.0.0.1:{port} http://evil.example",
]
PATHS = [
    "/../pyproject.toml",
    "/%2e%2e%2f%2e%2e%2fserver.py",
    "/..%5cserver.py",
    "//etc/passwd",
    "/%00",
    "/board.js%00.html",
    "/.git/config",
    "/server.py",
    "/board.js/",
    "/socket",
    "/C:/Windows/win.ini",
    "/%c0%ae%c0%ae/server.py",
    "/?file=/etc/passwd&path=../server.py#x",
    "/openapi.json",
]
COOKIES = [
    "",
    "adaline_play_{port}=",
    "adaline_play_{port}=wrong",
    "adaline_play_1={token}",
    "adaline_play_{port}={token}x",
    "adaline_play_{port}={short}",
    "adaline_play_{port}=%00{token}",
]


def filled(text: str, port: int) -> str:
    return text.format(port=port, token=TOKEN, short=TOKEN[:-1]) if "{" in text else text


ELSEWHERE = {"Host": HOSTS, "Origin": ORIGINS, "Cookie": COOKIES}


@pytest.mark.parametrize(
    ("header", "value"), [(name, value) for name, values in ELSEWHERE.items() for value in values]
)
def test_requests_from_elsewhere_are_refused_and_told_nothing(running, header, value):
    headers = {header: filled(value, running.port)}
    origin = {"Origin": f"http://{headers['Host']}"} if header == "Host" else {}
    for request in (
        get(running.port, "/board.js", **headers),
        upgrade(running.port, **headers, **origin),
    ):
        answer = asked(running.port, request)
        assert status(answer) in ((400, 403, 421) if header == "Host" else (400, 403))
        assert SECRET not in answer


@pytest.mark.parametrize(
    "token", ["", "wrong", TOKEN[:-1], TOKEN + "x", "%00", TOKEN.upper(), "%C3%A9"]
)
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
    answer = asked(running.port, get(running.port), method)
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


@pytest.mark.parametrize("path", ["/", "/board.js", "/nothing", "/document", "/?token=wrong"])
def test_every_answer_tells_the_browser_to_load_nothing_from_elsewhere(running, path):
    head = asked(running.port, get(running.port, path)).lower()
    assert b"content-security-policy: default-src 'none'" in head
    assert b"unsafe" not in head.partition(b"\r\n\r\n")[0]
    assert b"frame-ancestors 'none'" in head
    assert b"x-content-type-options: nosniff" in head
    assert b"access-control" not in head
