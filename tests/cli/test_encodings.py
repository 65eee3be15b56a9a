"""Commands print wherever they run: on terminals and in pipes that have ASCII only."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest

import adaline

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
ROWS = "".join(
    f"{x},{town},{2 * x + (x % 3) / 10}\n" for x, town in enumerate(["Köln", "Łódź", "東京"] * 5)
)


# Each line of stdin is a command; its exit code follows what it prints.
COMMANDS = """
import shlex
import sys
from adaline.cli import main
for line in sys.stdin.read().splitlines():
    try:
        main(shlex.split(line))
    except SystemExit as end:
        print("exit", end.code, flush=True)
"""


def run(folder, *tokens, env=ASCII, given=None):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONIOENCODING"} | env
    program = ["-m", "adaline", *map(str, tokens)] if given is None else ["-c", COMMANDS]
    return subprocess.run(
        [sys.executable, *program],
        input=given,
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
    )


@pytest.fixture
def table(command, tmp_path):
    """A table whose names and texts are not ASCII, and a model of it."""
    (tmp_path / "t.csv").write_text("größe,Ort,y\n" + ROWS, encoding="utf-8")
    assert command("fit", "t.csv", "-t", "y", "-o", "m.adaline").code == 0
    return tmp_path


def test_no_command_stops_at_a_letter_that_the_locale_lacks(table, rents):
    commands = [
        "look t.csv",
        f"fit {shlex.quote(str(rents))} -t rent --report r.html",
        "evaluate m.adaline t.csv",
        "path t.csv -t y",
        "info m.adaline",
        "trace t.csv -t y --model widrow-hoff --passes 2",
        "separable t.csv -t Ort",
        "cover 4 2",
        "predict --help",
        "fit t.csv -t groesse",
    ]
    found = run(table, given="\n".join(commands).encode())
    codes = [line for line in found.stdout.decode("ascii").splitlines() if line[:5] == "exit "]
    assert codes == [*["exit 0"] * 6, "exit 1", *["exit 0"] * 2, "exit 2"], found.stderr
    assert b"gr??e" in found.stderr


def test_the_demo_runs_where_the_encoding_lacks_its_signs(tmp_path):
    told = run(tmp_path, "demo", "--out", "demo")
    assert told.returncode == 0, told.stderr
    assert told.stdout.isascii()
    assert b"fit" in told.stdout


def test_an_ascii_terminal_is_printed_on_as_well(rents):
    pty = pytest.importorskip("pty")
    parent, child = pty.openpty()
    tokens = [sys.executable, "-m", "adaline", "fit", str(rents), "-t", "rent"]
    process = subprocess.Popen(tokens, stdout=child, stderr=child, env={**os.environ, **ASCII})
    os.close(child)
    text = b""
    try:
        while part := os.read(parent, 4096):
            text += part
    except OSError:  # the other end is closed: that is how a terminal ends on Linux
        pass
    os.close(parent)
    assert process.wait() == 0
    assert text.isascii()
    assert b"intercept" in text


def test_a_pipe_gets_every_letter_that_a_file_gets(table):
    for tokens in ("predict m.adaline t.csv -q --keep Ort", "export m.adaline --to sql"):
        told = run(table, *tokens.split())
        assert told.returncode == 0, told.stderr
        assert run(table, *tokens.split(), "--out", "out.csv").returncode == 0
        assert told.stdout.rstrip() == (table / "out.csv").read_bytes().rstrip()
    assert "東京" in told.stdout.decode()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names of files are Unicode there")
@pytest.mark.parametrize("env", [{}, ASCII])
def test_a_file_whose_name_is_not_utf_8_is_learned(table, env):
    name = os.fsdecode(b"t\xe4.csv")
    (table / "t.csv").rename(table / name)
    found = run(table, "fit", name, "-t", "y", "-o", "n.adaline", "--report", "r.html", env=env)
    assert found.returncode == 0, found.stderr
    assert adaline.data.describe(table / "n.adaline")["metadata"]["data"] == "t\ufffd.csv"
    assert "t\ufffd.csv" in (table / "r.html").read_text(encoding="utf-8")


def test_a_report_has_the_same_bytes_in_every_locale(rents, tmp_path):
    data = tmp_path / os.fsdecode("größe.csv".encode())
    data.write_bytes(rents.read_bytes())
    os.utime(data, (1e9, 1e9))
    pages = set()
    for env in (ASCII, {"PYTHONUTF8": "1"}):
        found = run(tmp_path, "fit", data.name, "-t", "rent", "--report", "r.html", env=env)
        assert found.returncode == 0, found.stderr
        pages.add((tmp_path / "r.html").read_bytes())
    assert len(pages) == 1
