"""Starting and ending the server: ports, tokens, the browser, Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest

pytest.importorskip("uvicorn", reason="the extra `play` is not installed")
from adaline.play import serve
from adaline.play import server as serving
from page_server import served
from page_user import User


def quiet(words: str) -> None:
    pass


def test_the_usual_port_is_taken_if_free_and_another_with_a_word_if_not(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        monkeypatch.setattr(serving, "PORT", taken)
        said: list[str] = []
        _, listening, address = serving.prepare(say=said.append)
        listening.close()
        assert said == [f"Port {taken} is taken, so a free one is used."]
        assert f":{taken}/" not in address
        with pytest.raises(OSError, match=f"port {taken} of 127.0.0.1 cannot be used"):
            serving.prepare(taken)
    _, listening, address = serving.prepare(say=quiet)
    listening.close()
    assert f":{taken}/" in address


def test_it_listens_on_this_machine_only():
    _, listening, _ = serving.prepare(0, say=quiet)
    with listening:
        assert listening.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("host", "token", "words"),
    [
        ("0.0.0.0", "x" * 20, "every address"),
        ("::", "x" * 20, "every address"),
        ("", "x" * 20, "every address"),
        ("192.0.2.1", None, "give a token"),
        ("192.0.2.1", "short", "5 characters"),
        ("127.0.0.1", "a b c d e f g h i j", "letters, digits"),
    ],
)
def test_others_are_let_in_only_by_an_address_and_a_token(host, token, words):
    with pytest.raises(ValueError, match=words):
        serving.prepare(0, host=host, token=token)


def test_the_other_loopback_address_works_too():
    try:
        _, listening, address = serving.prepare(0, host="::1", say=quiet)
    except OSError:
        pytest.skip("this machine has no IPv6")
    with listening:
        assert listening.getsockname()[0] == "::1"
        assert address.startswith("http://[::1]:")


def test_tokens_are_random_and_long():
    found = set()
    for _ in range(3):
        _, listening, address = serving.prepare(0, say=quiet)
        listening.close()
        found.add(address.partition("token=")[2])
    assert len(found) == 3
    assert min(map(len, found)) >= 32


def test_a_class_has_a_short_code_and_no_tab_that_reads_files(browser, tmp_path):
    with served(token=None, for_class=True) as running:
        code = running.address.partition("token=")[2]
        assert len(code) == 8
        assert code.isalnum()
        with User(browser, running.address, tmp_path) as user:
            assert user.page.get_by_role("tab").all_inner_texts() == ["Board", "Signals"]
            assert user.page.locator("#page").get_attribute("data-query") == f"?token={code}"
            user.preset("xor")
            user.wait_for("overlapping")
        for wrong in ("", "?token=", "?token=aaaaaaaa"):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(f"{running.origin}/{wrong}", timeout=60)


@pytest.mark.parametrize("wanted", [True, False])
def test_a_browser_opens_at_the_state_asked_for_unless_not_wanted(monkeypatch, wanted):
    opened, said = [], []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    serve(0, browser=wanted, state="#board=xor", say=said.append)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.daemon:
            thread.join(0.5)
    assert len(opened) == wanted
    assert "#board=xor" in said[0]
    assert said[0].endswith(opened[0] if wanted else "#board=xor")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_the_command_prints_its_address_serves_and_ends_with_ctrl_c():
    command = [sys.executable, "-m", "adaline", "play", "--no-browser", "--port", "0"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=os.environ)
    try:
        line = process.stdout.readline()
        address = line.split()[-1]
        jar = urllib.request.HTTPCookieProcessor()
        with urllib.request.build_opener(jar).open(address, timeout=60) as answer:
            assert b"adaline" in answer.read()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "Stopped." in out
    assert err == ""
