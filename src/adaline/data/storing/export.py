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
from adaline.data.outputs import refuse_unwritable
from adaline.data.reading.checks import check_choice, check_path, check_text
from adaline.data.storing import _onnx_graphs
from adaline.data.storing._as_c import as_c
from adaline.data.storing._as_python import as_python
from adaline.data.storing._as_sql import as_sql
from adaline.data.storing._parts import kind_of
from adaline.data.storing._program import program
from adaline.data.storing._writer import Writer
from adaline.data.storing.container import write_atomically
from adaline.data.storing.model_files import Prepared
from adaline.errors import ModelFileError
from adaline.estimators.registry import names_with

# Forms that estimators declare in `_exports`; see `estimators.declarations`.
_EITHER = ("values", "exponential", "sides", "posterior", "gaussians")
_KNOWN = {"onnx": (*_EITHER, "frequencies"), "json": (*_EITHER, "monomials")}

_SOURCES = ("sql", "c", "python")
_FUNCTION = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
_TAKEN = {  # by the languages, and by what the written functions call
    *keyword.kwlist,
    *dir(builtins),
    *("math", "datetime", "probabilities", "auto", "break", "case", "char", "const", "continue"),
    *("default", "do", "double", "else", "enum", "extern", "float", "for", "goto", "if", "inline"),
    *("int", "long", "main", "register", "restrict", "return", "short", "signed", "sizeof"),
    *("static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while"),
    *("exp", "fabs", "floor", "isnan", "log", "sqrt", "pow", "strcmp", "NAN", "NULL", "INFINITY"),
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
        SQL, C and Python take the raw columns of a table where the model is `Prepared`, or brings
        the encoding with which `adaline.data.fit` learned it.
    to : {"onnx", "json", "sql", "c", "python"}, default="onnx"
        "onnx": a graph in float64 from X (rows, columns) to `prediction`, or to `label`, and
        `decision` or `probabilities`, the same as the model's methods to rounding. NaN is not
        refused there. "json": parameters, weights by name, classes, the preparation of columns and
        the certificate's statement, as strict JSON for people and programs.

        "sql": a SELECT that adds the prediction, and probabilities, to the columns of a table.
        "c": a C99 file with one function and a struct for a row. "python": a module with
        `predict(row)`, which needs nothing but Python. Each gives the model's numbers to rounding:
        sums are taken in another order.
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
        Where the model is not linear (or Gaussian, for "onnx"), or cannot be told in that form.

    Examples
    --------
    >>> from adaline import LeastSquares
    >>> from adaline.data.storing.export import export
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
    check_choice("to", to, ("onnx", "json", *_SOURCES))
    if path is not None:
        check_path("path", path)
        refuse_unwritable(path)
    if isinstance(model, Prepared) and to == "onnx":
        raise ModelFileError(
            "The preparation of columns is not exported to onnx here; export its .model, and give "
            "that the columns prepared."
        )
    if to not in _SOURCES and (name is not None or exposure is not None):
        raise ModelFileError(f"name and exposure are for sql, c and python; {to} has neither.")
    encoding = getattr(model, "encoding", getattr(model, "encoding_", None))
    model = model.model if isinstance(model, Prepared) else model
    data = _exported(model, to, encoding, name, exposure)
    if path is not None:
        write_atomically(path, data)
    return data


def _exported(model: Any, to: str, encoding: Any, own: Any, exposure: Any) -> bytes:
    kind, name = kind_of(model)
    if kind != "estimator" or model._exports not in _KNOWN.get(to, _EITHER):
        raise _cannot(name, to)
    Writer().node(model.get_params(deep=False), name)  # functions are told in a sentence
    if not hasattr(model, "n_features_in_"):
        raise ModelFileError(f"This {name} has learned nothing yet; call fit first.")
    if to in _SOURCES:
        return _as_source(model, name, to, encoding, own, exposure)
    return _as_onnx(model, name) if to == "onnx" else _as_json(model, name, encoding)


def _as_source(model: Any, title: str, to: str, encoding: Any, own: Any, exposure: Any) -> bytes:
    """SQL, C or Python."""
    if exposure is not None:
        check_text("exposure", exposure, "the name of a column")
        if not model._takes_exposure:
            raise ModelFileError(
                f"exposure is of {names_with('_takes_exposure')}; {title} has none."
            )
    own = {"sql": "data"}.get(to, "predict") if own is None else own
    check_text("name", own, "the name of a table or function")
    if to != "sql" and (not _FUNCTION.fullmatch(own) or own in _TAKEN):
        raise ModelFileError(
            f"name is {own[:40]!r}; a function's name has letters, digits and _, begins with a "
            "letter, and is no word of the language."
        )
    title = f"{title} {__version__}"
    made = program(model, title, _names(model), encoding, exposure, to)
    text = {"sql": as_sql, "c": as_c, "python": as_python}[to](made, own)
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ModelFileError(f"A name or text is no Unicode, which {to} cannot say.") from None


def _cannot(name: str, to: str) -> ModelFileError:
    return ModelFileError(
        f"{name} is not exported to {to} here: it is no sum of weighted columns. `save` keeps it "
        "whole."
    )


def _names(model: Any) -> list[str]:
    names: list[str] = model._names() if hasattr(model, "_names") else []
    given = getattr(model, "feature_names_in_", None)
    if not names:
        plain = (f"x{j}" for j in range(model.n_features_in_))
        names = [str(name) for name in (plain if given is None else given)]
    if len(set(names)) < len(names):
        raise ModelFileError("Two columns have the same name; weights by name need different ones.")
    return names


def _neurons(model: Any, name: str, to: str) -> tuple[Any, Any]:
    """W (K, p) and b (K,) of a linear model in float64."""
    found: tuple[Any, Any] | None = model._exported_weights()
    if found is None:
        raise _cannot(name, to)
    return found


def _facts(model: Any, name: str) -> dict[str, Any]:
    facts = {"model": name, "adaline": __version__, "features": _names(model)}
    if hasattr(model, "classes_"):
        facts["classes"] = model.classes_.tolist()
    return facts


def _as_onnx(model: Any, name: str) -> bytes:
    graph = _onnx_graphs.Graph()
    facts, form = _facts(model, name), model._exports
    if form == "frequencies":
        df = graph.constant(np.maximum(model.df_, 1).astype(np.float64))
        graph.output(graph.add("Div", "X", df), "weights", np.float64, ["rows", len(model.df_)])
        return graph.bytes(name, model.n_features_in_, facts)
    if form in ("values", "exponential"):
        v, k = _onnx_graphs.linear(graph, *_neurons(model, name, "onnx")), len(model.fit_.b)
        one = model._one_target
        value = _onnx_graphs.column(graph, v) if one else v
        value = graph.add("Exp", value) if form == "exponential" else value
        graph.output(value, "prediction", np.float64, ["rows"] if one else ["rows", k])
        return graph.bytes(name, model.n_features_in_, facts)
    _classifier(graph, model, name)
    return graph.bytes(name, model.n_features_in_, facts)


def _classifier(graph: _onnx_graphs.Graph, model: Any, name: str) -> None:
    """Outputs label, and decision or probabilities."""
    K = len(model.classes_)
    two, costs = K == 2, getattr(model, "costs", None)
    if getattr(model, "reject_cost", None) is not None:
        raise ModelFileError("ONNX labels have one type, and reject_cost would mix in 'reject'.")
    labels = model.classes_
    if labels.dtype.kind == "O" and not all(type(label) is str for label in labels):
        raise ModelFileError("ONNX labels have one type; these are mixed Python objects.")
    probabilities = None
    if model._exports == "gaussians":
        scores = _gaussian_scores(graph, model)
        probabilities = graph.add("Softmax", scores, axis=1)
        ends = (_onnx_graphs.column(graph, scores, k) for k in (1, 0))
        v = graph.add("Sub", *ends) if two else scores
        best = graph.add("ArgMax", scores, axis=1, keepdims=0)
    else:
        scores = _onnx_graphs.linear(graph, *_neurons(model, name, "onnx"))
        if model._exports == "posterior":
            probabilities = _onnx_graphs.posterior(graph, scores, two)
        v = _onnx_graphs.column(graph, scores) if two else scores
        best = _onnx_graphs.largest(graph, v, two)
    if costs is not None and probabilities is not None:
        best = _onnx_graphs.cheapest(graph, probabilities, costs)
    label = graph.add("Gather", graph.constant(labels), best, axis=0)
    graph.output(label, "label", labels.dtype, ["rows"])
    if costs is None:
        graph.output(v, "decision", np.float64, ["rows"] if two else ["rows", K])
    if probabilities is not None:
        graph.output(probabilities, "probabilities", np.float64, ["rows", K])


def _gaussian_scores(graph: _onnx_graphs.Graph, model: Any) -> str:
    """Discriminants of each class: those learned, or those that someone wrote into coef_."""
    if not model._is_written():
        return _onnx_graphs.gaussian_scores(graph, model.model_)
    W, b = model._exported_weights()
    if len(b) == 1:
        W, b = np.vstack([np.zeros_like(W), W]), np.append(0.0, b)
    return _onnx_graphs.linear(graph, W, b)


def _as_json(model: Any, name: str, encoding: Any) -> bytes:
    W, b = _neurons(model, name, "json")
    facts = _facts(model, name)
    certificate = model.certificate_
    facts["certificate"] = {"kind": certificate.kind, "statement": certificate.statement}
    facts["parameters"] = _plain(model.get_params(deep=False))
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
        raise ModelFileError(f"This {name} has numbers that JSON has not: {error}.") from None
    return text.encode()


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters as JSON: arrays as lists, schedules as they print."""
    plain: dict[str, Any] = {}
    for key, value in params.items():
        if isinstance(value, np.ndarray | np.generic):
            value = value.tolist()
        simple = value is None or isinstance(value, bool | int | float | str | list)
        plain[key] = value if simple else repr(value)
    return plain
