"""`adaline export`: a model for other programs."""

from __future__ import annotations

import json
import os
from typing import Annotated, Literal

from cyclopts import Parameter

from adaline.cli.files.sources import not_the_data
from adaline.cli.files.table_writers import stdout_for_programs
from adaline.cli.predicting.predictions import loaded
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.printer import Common, Out
from adaline.cli.printing.words import size
from adaline.data import Prepared
from adaline.data import export as exported
from adaline.evaluation.words import name

_HOW = {
    "sql": "It selects all columns of the table {name!r}, and the prediction.",
    "c": "Fill a {name}_row and call {name}; {name}_columns names the members. Link with -lm.",
    "python": "{name}(row) takes a dict from the names of columns to values.",
}


def export(
    model: str,
    /,
    *,
    to: Literal["onnx", "json", "sql", "c", "python"],
    name_: Annotated[str | None, Parameter(name="--name")] = None,
    out: Annotated[str | None, Parameter(name=["--out", "-o"])] = None,
    common: Common | None = None,
) -> int:
    """A model to run elsewhere, as ONNX, SQL, C or Python, or as JSON, to read.

    SQL, C and Python take the columns of the table as they are: text, gaps and all.

    Parameters
    ----------
    model
        A model file.
    to
        onnx; json; sql, a SELECT that adds the prediction to the columns of a table; c, a function
        and a struct for a row; or python, a function that needs nothing but Python.
    name_
        Of the table in SQL ("data" by default), or of the function in C and Python ("predict").
    out
        Where to write; for ONNX the model's name with .onnx by default, for others stdout.
    """
    printer = Out(common)
    not_the_data(out, model)
    found = loaded(model)
    place = out or ("-" if to != "onnx" else f"{os.path.splitext(model)[0]}.onnx")
    if name_ is not None and to not in ("sql", "c", "python"):
        raise Usage(f"--name is of sql, c and python; {to} has none.")
    if place == "-" and to == "onnx":
        raise Usage("ONNX is bytes, not text; give --out FILE.onnx.")
    source = to in ("sql", "c", "python")
    whole = found.model
    if found.encoding is not None and to != "onnx":
        whole = Prepared(found.encoding, found.model)
    options = {"name": name_, "exposure": found.exposure} if source else {}
    data = exported(whole, to, None if place == "-" else place, **options)
    if place == "-":
        text = data.decode()
        stdout = stdout_for_programs()
        stdout.write((_visible(text) if stdout.isatty() else text).rstrip("\n") + "\n")
        return 0
    called = {"python": "Python"}.get(to, to.upper())
    printer.verdict(f"Wrote {called}, {size(len(data))}: {place}")
    names = getattr(found.model, "feature_names_in_", None)
    if source:
        printer.say(_HOW[to].format(name=name_ or ("data" if to == "sql" else "predict")))
    elif found.encoding is not None and names is not None:
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
