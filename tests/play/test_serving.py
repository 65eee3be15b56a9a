"""Starting and ending the server: ports, tokens, the browser, Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

import pytest

pytest.importorskip("uvicorn", reason="the extra `play` is not installed")
from adaline.play import serve, serving


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


@pytest.mark.parametrize("wanted", [True, False])
def test_a_browser_opens_at_the_state_asked_for_unless_not_wanted(monkeypatch, wanted):
    opened, said = [], []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(serving, "warm_up", lambda: None)
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


def test_a_port_that_is_taken_is_one_sentence_of_the_command(capsys):
    pytest.importorskip("cyclopts", reason="the extra `cli` is not installed")
    from adaline.cli import run_command

    with socket.create_server(("127.0.0.1", 0)) as other:
        given = ["play", "--no-browser", "--port", str(other.getsockname()[1])]
        assert run_command(given) == 2
    assert "cannot be used" in capsys.readouterr().err
