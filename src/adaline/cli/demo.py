"""`adaline demo`: a fit of a table that comes with the package, and three smaller examples."""

from __future__ import annotations

import os
import shlex
import tempfile
from importlib.util import find_spec
from pathlib import Path

import adaline
from adaline import demo as parts
from adaline.cli.errors import TOKENS
from adaline.cli.fitting import run_fit
from adaline.cli.options import Columns, Common, FitOptions
from adaline.cli.printing import Answer

SAMPLE = Path(adaline.__file__).parent / "_samples" / "pumps.csv"
EXAMPLE = os.path.join("examples", "data", "pumps.csv")  # the same table in a checkout


def demo(*, out: str = "", common: Common = Common()) -> int:
    """Fit a small table, predict a new row, and see three smaller examples.

    Parameters
    ----------
    out
        The directory of the report, pumps.html; the current one by default.
    """
    answer = Answer("demo", common)
    say = answer.say
    if out:
        os.makedirs(out, exist_ok=True)
    can_report = all(find_spec(module) is not None for module in ("jinja2", "matplotlib"))
    report = os.path.join(out, "pumps.html") if can_report else None
    table = EXAMPLE if os.path.exists(EXAMPLE) else str(SAMPLE)
    shown = ["adaline", "fit", table, "-t", "failed", *(["--report", report] if report else [])]
    say("1. A table: which of 400 pumps will fail? Its columns and first rows:\n")
    say(f"{parts.beginning(SAMPLE)}\n\n$ {shlex.join(shown)}\n")
    say("Learning; compiling takes some seconds when it runs first ...\n")
    with tempfile.TemporaryDirectory(prefix="adaline-demo-") as folder:
        model, row = os.path.join(folder, "pumps.adaline"), Path(folder, "new.csv")
        columns = Columns(target="failed", common=Common(json=True))  # prints nothing
        TOKENS[:] = shown[1:]
        facts = run_fit(str(SAMPLE), FitOptions(columns, out=model, report=report)).facts
        answer.verdict(parts.wrapped(facts["verdict"]))
        header = SAMPLE.read_text(encoding="utf-8").split("\n", 1)[0].rpartition(",")[0]
        row.write_text(f"{header}\n{parts.NEW_PUMP}\n", encoding="utf-8")
        say(f"\nA new pump: {parts.NEW_PUMP.replace(',', ', ')}")
        say(parts.wrapped(parts.prediction(adaline.load(model), row)))
    how = adaline.MissingExtra.how_to_install
    answer.verdict(
        f"\nThe report is a web page: {report}" if report else f"\nFor a report: {how('report')}"
    )
    say("\n2. A proof: can a straight line separate the two classes of OR, and of XOR?\n")
    say(parts.proof())
    say("\n3. Sound: a voice in a loud hum; a second microphone hears the hum only.\n")
    say("Filtering 4 seconds of sound ...")
    say(parts.voice())
    say("\n4. Every step of learning: the perceptron of the lectures learns OR.\n")
    say(f"{parts.perceptron()}\n\nThree things to try next:\n")
    say("  Your own table:\n    adaline fit YOUR.csv -t COLUMN --report report.html")
    play = "adaline play" if find_spec("uvicorn") else f"{how('play')}; adaline play"
    say(f"  Watch every learner in a browser:\n    {play}")
    say("  The same in Python, in five minutes:\n    docs/start.md")
    return answer.finish(**facts)
