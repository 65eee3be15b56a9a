"""The command as a process: exit codes, pipes, colours, encodings, Ctrl-C, progress, places."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

import adaline
from adaline.cli import COMMANDS

COMMAND = [sys.executable, "-m", "adaline"]
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def run(*tokens, env=None, program=COMMAND, **options):
    """The command in a process of its own, whose output is bytes."""
    environment = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "NO_COLOR")}
    environment |= {"PYTHONIOENCODING": "utf-8"} if env is None else env
    return subprocess.run(
        [*program, *map(str, tokens)], env=environment, capture_output=True, check=False, **options
    )


def on_terminal(*tokens, **env):
    """What a terminal gets."""
    pty = pytest.importorskip("pty")
    parent, child = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    environment |= {"TERM": "xterm", "COLUMNS": "200", **env}
    process = subprocess.Popen(
        [*COMMAND, *map(str, tokens)], stdout=child, stderr=child, env=environment
    )
    os.close(child)
    text = b""
    try:
        while part := os.read(parent, 4096):
            text += part
    except OSError:  # the other end is closed: that is how a terminal ends on Linux
        pass
    os.close(parent)
    assert process.wait() == 0
    return text


def test_stdin_to_stdout_and_no_colour_in_a_pipe(pumps):
    found = run("fit", "-", "--target", "failed", "--quiet", input=pumps.read_bytes())
    assert found.returncode == 0, found.stderr
    assert found.stdout.decode().startswith("Accuracy")
    assert b"\x1b" not in found.stdout + found.stderr


def test_a_terminal_gets_colour_unless_no_color_is_set():
    assert b"\x1b[1m" in on_terminal("cover", "4", "2")
    plain = on_terminal("cover", "4", "2", NO_COLOR="1")
    assert b"14 of 2^4" in plain
    assert b"\x1b[3" not in plain


def test_an_ascii_terminal_is_printed_on_as_well(rents):
    text = on_terminal("fit", rents, "-t", "rent", "-v", **ASCII)
    assert text.isascii()
    assert b"intercept" in text


@pytest.mark.slow  # starts several processes
def test_a_pipe_that_nobody_reads_is_left_quietly(command, pumps, tmp_path):
    command("fit", pumps, "-t", "failed", "-o", "m.adaline")
    head, *rows = pumps.read_text().splitlines(keepends=True)
    (tmp_path / "many.csv").write_text(head + "".join(rows) * 100)
    process = subprocess.Popen(
        [*COMMAND, "predict", "m.adaline", "many.csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith(b"prediction")
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


@pytest.mark.slow  # starts several processes
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_says_where_the_checkpoint_is_and_the_same_command_resumes(rents, tmp_path):
    # Slow enough to be interrupted: the first saving is waited for.
    head, *rows = rents.read_text().splitlines(keepends=True)
    with open(tmp_path / "many.csv", "w") as file:
        file.write(head)
        for _ in range(1000):
            file.writelines(rows)
    kept = tmp_path / "kept"
    tokens = ["fit", tmp_path / "many.csv", "-t", "rent", "--checkpoint", kept, "--quiet"]
    process = subprocess.Popen(
        [*COMMAND, *map(str, tokens)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 120
    while not (kept / "fit.checkpoint").exists() and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    if process.returncode != 0:  # 0: it was done before the signal came
        assert process.returncode == 130
        assert "same command resumes" in said
        assert "Traceback" not in said
    again = run(*tokens)
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("name", [name for group in COMMANDS.values() for name, *_ in group])
def test_every_command_has_help_with_an_example(command, name):
    found = command(name, "--help")
    assert found.code == 0, found.err
    assert "--json" in found.out
    assert f"Example: adaline {name}" in found.out


@pytest.fixture
def table(command, tmp_path):
    """A table whose names and texts are not ASCII, and a model of it."""
    towns = ["Köln", "Łódź", "東京"] * 5
    rows = "".join(f"{x},{town},{2 * x + (x % 3) / 10}\n" for x, town in enumerate(towns))
    (tmp_path / "t.csv").write_text("größe,Ort,y\n" + rows, encoding="utf-8")
    assert command("fit", "t.csv", "-t", "y", "-o", "m.adaline").code == 0
    return tmp_path


# Each line of stdin is a command; its exit code follows what it prints.
SEVERAL = """
import shlex
import sys
from adaline.cli import main
for line in sys.stdin.read().splitlines():
    try:
        main(shlex.split(line))
    except SystemExit as end:
        print("exit", end.code, flush=True)
"""


def test_no_command_stops_at_a_letter_that_the_locale_lacks(table, rents):
    commands = [
        "look t.csv",
        f"fit {shlex.quote(str(rents))} -t rent --report r.html",
        "evaluate m.adaline t.csv",
        "path t.csv -t y",
        "info m.adaline",
        "trace t.csv -t y --model widrow-hoff --passes 2",
        "demo --out demo",
        "predict --help",
        "separable t.csv -t Ort",
        "fit t.csv -t groesse",
    ]
    lines = "\n".join(commands).encode()
    found = run(program=[sys.executable, "-c", SEVERAL], cwd=table, env=ASCII, input=lines)
    codes = [line for line in found.stdout.decode("ascii").splitlines() if line[:5] == "exit "]
    assert codes == [*["exit 0"] * 8, "exit 1", "exit 2"], found.stderr
    assert b"gr??e" in found.stderr


def test_a_pipe_gets_every_letter_that_a_file_gets(table):
    for tokens in ("predict m.adaline t.csv -q --keep Ort", "export m.adaline --to sql"):
        found = run(*tokens.split(), cwd=table, env=ASCII)
        assert found.returncode == 0, found.stderr
        assert run(*tokens.split(), "--out", "out.csv", cwd=table, env=ASCII).returncode == 0
        assert found.stdout.rstrip() == (table / "out.csv").read_bytes().rstrip()
    assert "東京" in found.stdout.decode()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names of files are Unicode there")
def test_a_file_whose_name_is_not_utf_8_is_learned(table):
    name = os.fsdecode(b"t\xe4.csv")
    (table / "t.csv").rename(table / name)
    tokens = ("fit", name, "-t", "y", "-o", "n.adaline", "--report", "r.html")
    found = run(*tokens, cwd=table, env=ASCII)
    assert found.returncode == 0, found.stderr
    assert adaline.data.describe(table / "n.adaline")["metadata"]["data"] == "t\ufffd.csv"
    assert "t\ufffd.csv" in (table / "r.html").read_text(encoding="utf-8")


def test_programs_get_progress_in_lines_and_a_resumed_run_says_so(command, tmp_path, monkeypatch):
    with open(tmp_path / "t.csv", "w") as file:
        file.write("a,b,y\n")
        file.writelines(f"{k % 97},{k % 89},{k % 2}\n" for k in range(400_000))
    tokens = ["fit", "t.csv", "-t", "y", "-m", "perceptron", "--checkpoint", "kept"]
    assert command(*tokens, "--json").err == ""
    assert "Going on" in command(*tokens).err
    monkeypatch.setenv("ADALINE_PROGRESS", "lines")
    tokens[-1] = "more"
    lines = command(*tokens, "--passes", 2, "--json").err.splitlines()
    assert any("learning" in line for line in lines)
    assert all(line.startswith("progress: ") for line in lines)


@pytest.mark.slow  # compiles
def test_warm_up_compiles_and_caches(tmp_path):
    done = run("warm-up", env={"NUMBA_CACHE_DIR": str(tmp_path)})
    assert b"Ready" in done.stdout, done.stderr
    assert len({path.name.split("-")[0] for path in tmp_path.rglob("*.nbc")}) > 5
