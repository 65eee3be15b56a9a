"""`adaline export`: a model for other programs."""

from __future__ import annotations

import json
import os
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.filesize import decimal

from adaline.cli.errors import UsageError
from adaline.cli.models import load_model
from adaline.cli.options import Common, ModelFile, OptionalFile
from adaline.cli.printing import Answer
from adaline.cli.tables import require_writable
from adaline.cli.writers import open_stdout
from adaline.data import Prepared
from adaline.data import export as export_model
from adaline.evaluation.words import name

_USES = {
    "sql": "It selects all columns of the table {name!r}, and the prediction.",
    "c": "Fill a {name}_row and call {name}; {name}_columns names the members. Link with -lm.",
    "python": "{name}(row) takes a dict from the names of columns to values.",
}


def export(
    model: ModelFile,
    /,
    *,
    to: Literal["onnx", "json", "sql", "c", "python"],
    name_: Annotated[str | None, Parameter(name="--name")] = None,
    out: OptionalFile = None,
    common: Common | None = None,
) -> int:
    """A model to run elsewhere, as ONNX, SQL, C or Python, or as JSON, to read.

    SQL and Python take the columns of the table as they are: text, gaps and all. C takes numbers.

    Parameters
    ----------
    to
        onnx; json; sql, a SELECT that adds the prediction to the columns of a table; c, a function
        and a struct for a row; or python, a function that needs nothing but Python.
    name_
        Of the table in SQL ("data" by default), or of the function in C and Python ("predict").
    out
        Where to write; for ONNX the model's name with .onnx by default, for others stdout.
    """
    answer, is_source = Answer("export", common), to in _USES
    require_writable(out, model)
    loaded = load_model(model)
    path = out or ("-" if to != "onnx" else f"{os.path.splitext(model)[0]}.onnx")
    if name_ is not None and not is_source:
        raise UsageError(f"--name is for sql, c and python; {to} has none.")
    if path == "-" and to == "onnx":
        raise UsageError("ONNX is bytes, not text; give --out FILE.onnx.")
    exported = loaded.estimator
    if loaded.encoding is not None and to != "onnx":
        exported = Prepared(loaded.encoding, loaded.estimator)
    exposure = loaded.metadata("exposure")
    options = {"name": name_, "exposure": exposure} if is_source else {}
    data = export_model(exported, to, None if path == "-" else path, **options)
    if path == "-":
        text, stdout = data.decode(), open_stdout()
        stdout.write((escape_controls(text) if stdout.isatty() else text).rstrip("\n") + "\n")
        return 0
    language = {"python": "Python"}.get(to, to.upper())
    answer.verdict(f"Wrote {language}, {decimal(len(data))}: {path}")
    names = getattr(loaded.estimator, "feature_names_in_", None)
    if is_source:
        answer.say(_USES[to].format(name=name_ or ("data" if to == "sql" else "predict")))
    elif loaded.encoding is not None and names is not None:
        shown = ", ".join(name(n) for n in list(names)[:8]) + ", ..." * (len(names) > 8)
        answer.say(
            f"Its input X has {len(names)} columns of numbers, in this order: {shown}. Text must "
            "be turned into indicators (column=level) first.",
        )
    return answer.finish(
        to=to, out=path, bytes=len(data), inputs=None if names is None else [str(n) for n in names]
    )


def escape_controls(text: str) -> str:
    """The same JSON without characters that a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
