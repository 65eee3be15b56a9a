"""`adaline demo`: the tour, then a real fit on a file that comes along."""

from __future__ import annotations

import os
import shlex
from importlib.util import find_spec
from pathlib import Path

import adaline
from adaline.cli.learning.fitting import FitRequest, run
from adaline.cli.printing.printer import Common, Out
from adaline.demo import demo as tour

SAMPLE = Path(adaline.__file__).parent / "_samples" / "pumps.csv"


def demo(*, out: str | None = None, common: Common | None = None) -> int:
    """A short tour on built-in data, and at its end a real fit of a small table.

    Parameters
    ----------
    out
        The directory for the model and the report of the fit; "adaline-demo" here by default.
    """
    printer = Out(common)
    if printer.at_length:
        tour()
    folder = "adaline-demo" if out is None else out
    os.makedirs(folder, exist_ok=True)
    report = os.path.join(folder, "report.html") if _can_report() else None
    model = os.path.join(folder, "model.adaline")
    command = ["adaline", "fit", str(SAMPLE), "--target", "failed", "--out", model]
    command += ["--report", report] if report else []
    printer.say("\n8. The same without programming: which of 400 pumps will fail?\n")
    printer.say(f"$ {shlex.join(command)}\n")
    code = run(FitRequest(str(SAMPLE), "failed", out=model, report=report), printer)
    if report:
        printer.verdict(f"\nOpen the report in a browser: {Path(report).resolve().as_uri()}")
    else:
        install = adaline.MissingExtra.how_to_install("report")
        printer.say(f"\nWith {install} there would be a report, too.")
    return code


def _can_report() -> bool:
    return all(find_spec(name) is not None for name in ("jinja2", "matplotlib"))
