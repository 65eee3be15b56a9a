"""`adaline demo`: a fit of a table that comes with the package, and three smaller examples."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import adaline
from adaline import demo as parts
from adaline.cli.answer import Answer
from adaline.cli.fit import FitOptions, FitRequest
from adaline.cli.fitting import run_fit
from adaline.cli.options import Common, Drawing

SAMPLE = Path(adaline.__file__).parent / "_samples" / "pumps.csv"


def demo(*, out: str | None = None, common: Common | None = None) -> int:
    """Fit a small table, predict a new row, and see three smaller examples.

    Parameters
    ----------
    out
        The directory of the report, pumps.html; the current one by default.
    """
    answer, command = Answer("demo", common), _command()
    if out is not None:
        os.makedirs(out, exist_ok=True)
    can_report = all(find_spec(module) is not None for module in ("jinja2", "matplotlib"))
    report = os.path.join(out or "", "pumps.html") if can_report else None
    _say_now(answer, "1. A table: which of 400 pumps will fail? Its columns and first rows:\n")
    _say_now(answer, parts.beginning(SAMPLE))
    shown = [command, "fit", _shortest(SAMPLE), "-t", "failed"]
    shown += ["--report", report] if report else []
    _say_now(answer, f"\n$ {shlex.join(shown)}\n")
    _say_now(answer, "Learning; compiling takes some seconds when it runs first ...\n")
    with tempfile.TemporaryDirectory(prefix="adaline-demo-") as folder:
        model, row = os.path.join(folder, "pumps.adaline"), Path(folder, "new.csv")
        options = FitOptions(target="failed", out=model, report=report)
        fitted = run_fit(FitRequest(str(SAMPLE), options, common=Drawing()))
        verdict = [line for _, line in fitted.lines(quiet=True)]
        answer.verdict("\n".join(map(parts.wrapped, verdict)))
        header = SAMPLE.read_text(encoding="utf-8").split("\n", 1)[0].rpartition(",")[0]
        row.write_text(f"{header}\n{parts.NEW_PUMP}\n", encoding="utf-8")
        answer.say(f"\nA new pump: {parts.NEW_PUMP.replace(',', ', ')}")
        answer.say(parts.wrapped(parts.prediction(adaline.load(model), row)))
    if report is not None:
        answer.verdict(f"\nThe report is a web page: {report}")
    else:
        how = adaline.MissingExtra.how_to_install("report")
        answer.say(f"\nA report is written after: {how}")
    answer.say("\n2. A proof: can a straight line separate the two classes of OR, and of XOR?\n")
    answer.say(parts.proof())
    answer.say("\n3. Sound: a voice in a loud hum; a second microphone hears the hum only.\n")
    _say_now(answer, "Filtering 4 seconds of sound ...")
    answer.say(parts.voice())
    answer.say("\n4. Every step of learning: the perceptron of the lectures learns OR.\n")
    answer.say(parts.perceptron())
    answer.say("\nThree things to try next:\n")
    answer.say(f"  Your own table:\n    {command} fit YOUR.csv -t COLUMN --report report.html")
    answer.say(f"  Watch every learner in a browser:\n    {_play(command)}")
    answer.say("  The same in Python, in five minutes:\n    docs/start.md")
    return answer.finish(**fitted.facts)


def _say_now(answer: Answer, text: str) -> None:
    answer.say(text)
    answer.show()
    sys.stdout.flush()


def _command() -> str:
    """What to type for this command: its name, or where it is."""
    home = Path(sys.executable).with_name("adaline")
    found = shutil.which("adaline")
    return "adaline" if found and Path(found) == home else _shortest(home)


def _shortest(path: Path) -> str:
    return min(str(path), os.path.relpath(path), key=len)


def _play(command: str) -> str:
    if find_spec("uvicorn") is not None:
        return f"{command} play"
    is_checkout = Path("Makefile").is_file() and Path("src", "adaline", "cli").is_dir()
    return (
        "make play"
        if is_checkout
        else f"{adaline.MissingExtra.how_to_install('play')}; {command} play"
    )
