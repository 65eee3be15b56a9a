"""`adaline demo`: a fit of a table that comes along, and three smaller examples."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import sys
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import adaline
from adaline import demo as parts
from adaline.cli.learning.fitting import FitRequest, run
from adaline.cli.printing.printer import Common, Out

SAMPLE = Path(adaline.__file__).parent / "_samples" / "pumps.csv"


def demo(*, out: str | None = None, common: Common | None = None) -> int:
    """Fit a small table, predict a new row, and see three smaller examples.

    Parameters
    ----------
    out
        The directory of the report, pumps.html; the current one by default.
    """
    printer = Out(common)
    if out is not None:
        os.makedirs(out, exist_ok=True)
    report = os.path.join(out or "", "pumps.html") if _can_report() else None
    code = _pumps(printer, report)
    if report is not None:
        printer.verdict(f"\nThe report is a web page: {report}")
    else:
        how = adaline.MissingExtra.how_to_install("report")
        printer.say(f"\nA report is written after: {how}")

    printer.say("\n2. A proof: can a straight line separate the two classes of OR, and of XOR?\n")
    printer.say(parts.proof())
    printer.say("\n3. Sound: a voice in a loud hum; a second microphone hears the hum only.\n")
    _wait(printer, "Filtering 4 seconds of sound ...")
    printer.say(parts.voice())
    printer.say("\n4. Every step of learning: the perceptron of the lectures learns OR.\n")
    printer.say(parts.perceptron())

    printer.say("\nThree things to try next:\n")
    printer.say("  Your own table:")
    printer.say(f"    {_command()} fit YOUR.csv -t COLUMN --report report.html")
    printer.say("  Watch every learner in a browser:")
    printer.say(f"    {_play()}")
    printer.say("  The same in Python, in five minutes:")
    printer.say("    docs/start.md")
    return code


def _pumps(printer: Out, report: str | None) -> int:
    """The fit of the table, as the command does it, and the prediction of a new row."""
    printer.say("1. A table: which of 400 pumps will fail? Its columns and first rows:\n")
    printer.say(parts.beginning(SAMPLE))
    shown = [_command(), "fit", _sample(), "-t", "failed"]
    shown += ["--report", report] if report else []
    printer.say(f"\n$ {shlex.join(shown)}\n")
    _wait(printer, "Learning; the first time, code is compiled, which takes some seconds ...\n")
    with tempfile.TemporaryDirectory(prefix="adaline-demo-") as folder:
        model, row = os.path.join(folder, "pumps.adaline"), Path(folder, "new.csv")
        request = FitRequest(str(SAMPLE), "failed", out=model, report=report)
        if printer.common.json:
            return run(request, printer)
        with contextlib.redirect_stdout(io.StringIO()) as outcome:
            code = run(request, Out(replace(printer.common, quiet=True)))
        printer.verdict("\n".join(map(parts.wrapped, outcome.getvalue().splitlines())))
        header = SAMPLE.read_text(encoding="utf-8").split("\n", 1)[0].rpartition(",")[0]
        row.write_text(f"{header}\n{parts.NEW_PUMP}\n", encoding="utf-8")
        printer.say(f"\nA new pump: {parts.NEW_PUMP.replace(',', ', ')}")
        printer.say(parts.wrapped(parts.prediction(adaline.load(model), row)))
    return code


def _wait(printer: Out, what: str) -> None:
    printer.say(what)
    sys.stdout.flush()


def _command() -> str:
    """What to type for this command: its name, or where it is."""
    home = Path(sys.executable).with_name("adaline")
    found = shutil.which("adaline")
    return "adaline" if found and Path(found) == home else _short(home)


def _sample() -> str:
    """The table, in the checkout by a path that is easy to find."""
    near = Path("examples", "data", SAMPLE.name)
    there = near.is_file() and near.read_bytes() == SAMPLE.read_bytes()
    return str(near) if there else _short(SAMPLE)


def _short(path: Path) -> str:
    return min(str(path), os.path.relpath(path), key=len)


def _play() -> str:
    if find_spec("uvicorn") is not None:
        return f"{_command()} play"
    ours = Path("Makefile").is_file() and Path("src", "adaline", "cli", "demo.py").is_file()
    return "make play" if ours else adaline.MissingExtra.how_to_install("play") + "; adaline play"


def _can_report() -> bool:
    return all(find_spec(name) is not None for name in ("jinja2", "matplotlib"))
