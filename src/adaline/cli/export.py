"""`adaline export`: a model for other programs."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from adaline.cli._ask import loaded
from adaline.cli._errors import Usage
from adaline.cli._output import Common, Out
from adaline.cli._source import not_the_data
from adaline.cli._words import size
from adaline.data import export as exported
from adaline.verdicts.words import name


def export(
    model: str,
    /,
    *,
    to: Literal["onnx", "json"],
    out: Annotated[str | None, Parameter(name=["--out", "-o"])] = None,
    common: Common | None = None,
) -> int:
    """A model as ONNX, to run elsewhere, or as JSON, to read.

    Parameters
    ----------
    model
        A model file.
    to
        onnx or json.
    out
        Where to write; for ONNX the model's name with .onnx by default, for JSON stdout.
    """
    printer = Out(common)
    not_the_data(out, model)
    found = loaded(model)
    place = out or ("-" if to == "json" else f"{os.path.splitext(model)[0]}.onnx")
    if place == "-" and to == "onnx":
        raise Usage("ONNX is bytes, not text; give --out FILE.onnx.")
    data = exported(found.model, to, None if place == "-" else place)
    if place == "-":
        text = data.decode()
        sys.stdout.write((_visible(text) if sys.stdout.isatty() else text) + "\n")
        return 0
    printer.verdict(f"Wrote {to.upper()}, {size(len(data))}: {place}")
    names = getattr(found.model, "feature_names_in_", None)
    if found.encoding is not None and names is not None:
        shown = ", ".join(name(n) for n in list(names)[:8]) + ", ..." * (len(names) > 8)
        printer.say(
            f"Its input X has {len(names)} columns of numbers, in this order: {shown}. Text must "
            "be turned into indicators (column=level) first.",
        )
    printer.json(
        {
            "command": "export",
            "to": to,
            "out": place,
            "bytes": len(data),
            "inputs": None if names is None else [str(n) for n in names],
        }
    )
    return 0


def _visible(text: str) -> str:
    """The same JSON, in which nothing is left that a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
