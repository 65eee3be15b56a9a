"""The command as a process: exit codes, pipes, colours, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from adaline.cli import COMMANDS

COMMAND = [sys.executable, "-m", "adaline"]


def run(*tokens, **options):
    environment = {k: v for k, v in os.environ.items() if k != "FORCE_COLOR"}
    environment |= {"PYTHONIOENCODING": "utf-8", **options.pop("env", {})}
    return subprocess.run(
        [*COMMAND, *map(str, tokens)],
        env=environment,
        capture_output=True,
        check=False,
        **options,
    )


def test_stdin_to_stdout_and_no_colour_in_a_pipe(pumps):
    found = run("fit", "-", "--target", "failed", "--quiet", input=pumps.read_bytes())
    assert found.returncode == 0, found.stderr
    assert found.stdout.decode().startswith("Accuracy")
    assert b"\x1b" not in found.stdout + found.stderr


def test_a_terminal_gets_colour_unless_no_color_is_set(pumps):
    pty = pytest.importorskip("pty")
    shown = {}
    for wish in ("", "1"):
        parent, child = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
        environment.pop("NO_COLOR", None)
        if wish:
            environment["NO_COLOR"] = wish
        tokens = [*COMMAND, "cover", "4", "2"]
        process = subprocess.Popen(tokens, stdout=child, stderr=child, env=environment)
        os.close(child)
        text = b""
        try:
            while part := os.read(parent, 4096):
                text += part
        except OSError:  # the other end is closed: that is how a terminal ends on Linux
            pass
        os.close(parent)
        assert process.wait() == 0
        shown[wish] = text
    assert b"\x1b[1m" in shown[""]
    assert b"14 of 2^4" in shown["1"]
    assert not any(code in shown["1"] for code in (b"\x1b[3", b"\x1b[33m"))


def test_an_ascii_terminal_gets_question_marks_and_no_traceback(rents):
    found = run("fit", rents, "-t", "rent", env={"PYTHONIOENCODING": "ascii"})
    assert found.returncode == 0, found.stderr


@pytest.mark.slow  # starts several processes
def test_a_pipe_that_nobody_reads_is_left_quietly(pumps, tmp_path):
    assert run("fit", pumps, "-t", "failed", "-o", tmp_path / "m.adaline").returncode == 0
    many = tmp_path / "many.csv"
    head, *rows = pumps.read_text().splitlines(keepends=True)
    many.write_text(head + "".join(rows) * 100)
    process = subprocess.Popen(
        [*COMMAND, "predict", str(tmp_path / "m.adaline"), str(many)],
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
def test_ctrl_c_says_where_the_checkpoint_is_and_the_same_command_goes_on(rents, tmp_path):
    # Slow enough to be interrupted: the first saving is waited for.
    many = tmp_path / "many.csv"
    head, *rows = rents.read_text().splitlines(keepends=True)
    with open(many, "w") as file:
        file.write(head)
        for _ in range(1000):
            file.writelines(rows)
    tokens = ["fit", many, "-t", "rent", "--checkpoint", tmp_path / "kept", "--quiet"]
    process = subprocess.Popen(
        [*COMMAND, *map(str, tokens)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 120
    while not (tmp_path / "kept" / "fit.checkpoint").exists() and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    if process.returncode != 0:  # 0: it was done before the signal came
        assert process.returncode == 130
        assert str(tmp_path / "kept") in said
        assert "Traceback" not in said
    again = run(*tokens)
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("name", [name for group in COMMANDS.values() for name, *_ in group])
def test_every_command_has_help(command, name):
    found = command(name, "--help")
    assert found.code == 0, found.err
    assert "--json" in found.out
    assert f"adaline {name}" in found.out


def test_a_proof_does_not_load_what_scikit_learn_imports_for_one_function(pumps):
    code = (
        "import sys\n"
        "from adaline.cli import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    assert end.code == 1, end.code\n"
        "assert 'scipy.stats' in sys.modules\n"
        "assert 'scipy.stats._stats_py' not in sys.modules\n"
        "import scipy.stats\n"
        "assert scipy.stats.norm.cdf(0.0) == 0.5\n"
        "from scipy.stats import mode\n"
        "assert mode([1, 2, 2]).mode == 2\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, "separable", str(pumps), "-t", "failed", "-q"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert found.returncode == 0, found.stderr


def test_help_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from adaline.cli import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit:\n    pass\n"
        "print(*[m for m in ('numpy', 'scipy', 'sklearn', 'numba', 'polars') if m in sys.modules],"
        " file=sys.stderr)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert found.stderr.split() == []
