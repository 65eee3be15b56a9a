"""`adaline export`: a model for other programs."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.filesize import decimal

from adaline.cli.errors import UsageError
from adaline.cli.models import load_model
from adaline.cli.options import Common, ModelFile, OptionalFile, require_writable
from adaline.cli.predict import open_stdout
from adaline.cli.printing import Answer
from adaline.data import Prepared
from adaline.data import export as export_model
from adaline.evaluation.words import listed, plain


def export(
    model: ModelFile,
    /,
    *,
    to: Literal["onnx", "json", "sql", "c", "python"],
    name_: Annotated[str | None, Parameter(name="--name")] = None,
    out: OptionalFile = None,
    common: Common = Common(),
) -> int:
    """Write a model as ONNX, SQL, C or Python, to run elsewhere, or as JSON, to read.

    SQL and Python take the raw table, with text and missing values; C takes numbers.

    Parameters
    ----------
    to
        onnx; json; sql, a SELECT that adds the prediction to the columns of a table; c, a function
        of an array of numbers; or python, a function that needs nothing but Python.
    name_
        Of the table in SQL ("data" by default), or of the function in C and Python ("predict").
    out
        The file to write; for ONNX the model's name with .onnx by default, for others stdout.
    """
    require_writable(out, model)
    answer, loaded = Answer("export", common), load_model(model)
    path = out or ("-" if to != "onnx" else f"{os.path.splitext(model)[0]}.onnx")
    if path == "-" and to == "onnx":
        raise UsageError("ONNX is bytes, not text; give --out FILE.onnx.")
    exported: Any = loaded.estimator
    exported = Prepared(loaded.encoding, exported) if loaded.encoding else exported
    exposure = loaded.metadata("exposure") if to in ("sql", "c", "python") else None
    where = None if path == "-" else path
    data = export_model(exported, to, where, name=name_, exposure=exposure)
    if path == "-":
        text, stdout = data.decode(), open_stdout()
        text = plain(text, 10 * len(text), lines=True) if stdout.isatty() else text
        stdout.write(text.rstrip("\n") + "\n")
        return 0
    answer.verdict(f"Wrote {to}, {decimal(len(data))}: {path}")
    names = list(map(str, getattr(loaded.estimator, "feature_names_in_", ())))
    if to == "onnx" and names:
        answer.say(f"Its input X has {len(names)} columns of numbers: {listed(names, 8)}.")
    return answer.finish(to=to, out=path, bytes=len(data), inputs=names or None)
