"""Models for other programs: ONNX, SQL, C and Python to run elsewhere, JSON to read."""

from __future__ import annotations

import builtins
import json
import keyword
import os
import re
from typing import Any, Literal

import numpy as np

from adaline import __version__
from adaline.data.exporting.c import write_c
from adaline.data.exporting.expressions import FORMS, build_program
from adaline.data.exporting.onnx import write_onnx
from adaline.data.exporting.python import write_python
from adaline.data.exporting.sql import write_sql
from adaline.data.outputs import refuse_unwritable
from adaline.data.reading.checks import check_choice, check_path, check_text
from adaline.data.storing.container import write_atomically
from adaline.data.storing.model_files import Prepared
from adaline.errors import ModelFileError
from adaline.estimators.registry import is_public, names_with

# Forms that estimators declare in `_exports`; see `estimators.declarations`.
KNOWN_FORMS = {"onnx": (*FORMS, "frequencies"), "json": (*FORMS, "monomials")}
SOURCES = {"sql": write_sql, "c": write_c, "python": write_python}
RESERVED_IN_C = (
    "math datetime re probabilities auto break case char const continue default do double else "
    "enum extern float for goto if inline int long main register restrict return short signed "
    "sizeof static struct switch typedef union unsigned void volatile while exp isnan log sqrt NAN "
    "NULL GAPS"
)
FUNCTION_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
TAKEN_NAMES = {  # by the languages, and by what the written functions use
    *keyword.kwlist,
    *dir(builtins),
    *RESERVED_IN_C.split(),
}


def export(
    model: Any,
    to: Literal["onnx", "json", "sql", "c", "python"] = "onnx",
    path: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    exposure: str | None = None,
) -> bytes:
    """A fitted linear model for other programs; `load` cannot read it back.

    Parameters
    ----------
    model : fitted estimator, or Prepared
        SQL and Python take the raw columns of a table where the model is `Prepared`, or has the
        encoding with which `adaline.data.fit` learned it.
    to : {"onnx", "json", "sql", "c", "python"}, default="onnx"
        "onnx": a graph in float64 from X (rows, columns) to `prediction`, or to `label`, and
        `decision` or `probabilities`, the same as the model's methods to rounding. NaN is not
        rejected there. "json": parameters, weights by name, classes, the preparation of columns and
        the certificate's statement, as strict JSON for people and programs.

        "sql": a SELECT that adds the prediction, and probabilities, to the columns of a table.
        "c": a C99 file with one function and a struct for a row of numbers. "python": a module
        with `predict(row)`, which needs nothing but Python. Each gives the model's numbers to
        rounding: sums are taken in another order.
    path : str or path, optional
        Where to write it too.
    name : str, optional
        Of the table in SQL ("data" by default), of the function in C and Python ("predict").
    exposure : str, optional
        Of `PoissonRegression` in SQL, C and Python: the column that counts are proportional to.

    Returns
    -------
    bytes

    Raises
    ------
    ModelFileError
        Where the model is not linear (or Gaussian, for "onnx"), or cannot be written in that form.

    Examples
    --------
    >>> from adaline import LeastSquares
    >>> from adaline.data import export
    >>> model = LeastSquares().fit([[1.0], [2.0], [4.0]], [3.0, 5.0, 9.0])
    >>> print(export(model, to="json").decode())
    {
     "model": "LeastSquares",
     ...
     "neurons": [
      {
       "intercept": 1.0,
       "weights": {
        "x0": 2.0
       }
      }
     ]
    }
    """
    check_choice("to", to, ("onnx", "json", *SOURCES))
    if path is not None:
        check_path("path", path)
        refuse_unwritable(path)
    if isinstance(model, Prepared) and to == "onnx":
        raise ModelFileError(
            "The preparation of columns is not exported to onnx here; export its .model, and give "
            "that the columns prepared."
        )
    if to not in SOURCES and (name is not None or exposure is not None):
        raise ModelFileError(f"name and exposure are for sql, c and python; {to} has neither.")
    encoding = getattr(model, "encoding", getattr(model, "encoding_", None))
    model = model.model if isinstance(model, Prepared) else model
    title = type(model).__name__
    form = model._exports if is_public(model) else None
    if form not in KNOWN_FORMS.get(to, FORMS):
        raise not_linear(title, to)
    if not hasattr(model, "n_features_in_"):
        raise ModelFileError(f"This {title} has learned nothing yet; call fit first.")
    has_own_graph = to == "onnx" and form == "gaussians"
    if form != "frequencies" and not has_own_graph and model._exported_weights() is None:
        raise not_linear(title, to)
    if to == "onnx":
        data = write_onnx(model, title, describe(model, title))
    elif to == "json":
        data = write_json(model, title, encoding)
    else:
        data = write_source(model, title, to, encoding, name, exposure)
    if path is not None:
        write_atomically(path, data)
    return data


def not_linear(name: str, to: str) -> ModelFileError:
    """The error for a model without weights of columns."""
    return ModelFileError(
        f"{name} is not exported to {to} here: it is no sum of weighted columns. `save` keeps it "
        "whole."
    )


def write_source(
    model: Any, title: str, to: str, encoding: Any, name: str | None, exposure: str | None
) -> bytes:
    """SQL, C or Python."""
    if exposure is not None:
        check_text("exposure", exposure, "the name of a column")
        if not model._takes_exposure:
            raise ModelFileError(
                f"exposure is of {names_with('_takes_exposure')}; {title} has none."
            )
    if name is None:
        name = "data" if to == "sql" else "predict"
    check_text("name", name, "the name of a table or function")
    if to != "sql" and (not FUNCTION_NAME.fullmatch(name) or name in TAKEN_NAMES):
        raise ModelFileError(
            f"name is {name[:40]!r}; a function's name has letters, digits and _, begins with a "
            "letter, and is no word of the language."
        )
    names = feature_names(model)
    program = build_program(model, f"{title} {__version__}", names, encoding, exposure)
    try:
        return SOURCES[to](program, name).encode()
    except UnicodeEncodeError:
        raise ModelFileError(f"A name or text is no Unicode, which {to} cannot write.") from None


def feature_names(model: Any) -> list[str]:
    names: list[str] = model._names() if hasattr(model, "_names") else []
    if not names:
        plain = (f"x{j}" for j in range(model.n_features_in_))
        names = [str(name) for name in getattr(model, "feature_names_in_", plain)]
    if len(set(names)) < len(names):
        raise ModelFileError("Two columns have the same name; weights by name need different ones.")
    return names


def describe(model: Any, title: str) -> dict[str, Any]:
    facts = {"model": title, "adaline": __version__, "features": feature_names(model)}
    if hasattr(model, "classes_"):
        facts["classes"] = model.classes_.tolist()
    return facts


def write_json(model: Any, title: str, encoding: Any) -> bytes:
    W, b = model._exported_weights()
    facts, certificate = describe(model, title), model.certificate_
    facts["certificate"] = {"kind": certificate.kind, "statement": certificate.statement}
    facts["parameters"] = {
        key: as_json(value) for key, value in model.get_params(deep=False).items()
    }
    if encoding is not None:
        facts["encoding"] = encoding.to_dict()
    classes = facts.get("classes", [])
    positive = classes[1:] if len(classes) == 2 else classes
    facts["neurons"] = [
        ({"class": positive[k]} if positive else {})
        | {"intercept": float(b[k])}
        | {"weights": dict(zip(facts["features"], W[k].tolist(), strict=True))}
        for k in range(len(b))
    ]
    try:
        text = json.dumps(facts, indent=1, allow_nan=False, ensure_ascii=False)
    except ValueError as error:
        raise ModelFileError(f"This {title} has numbers that JSON has not: {error}.") from None
    return text.encode()


def as_json(value: Any) -> Any:
    """A parameter as JSON: arrays as lists, schedules as they print."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    is_plain = value is None or isinstance(value, bool | int | float | str | list)
    return value if is_plain else repr(value)
