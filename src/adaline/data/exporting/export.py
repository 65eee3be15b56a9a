"""Models for other programs: ONNX, SQL, C and Python to run elsewhere, JSON to read."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from adaline import __version__
from adaline.data.exporting.languages import write_c, write_python, write_sql
from adaline.data.exporting.onnx import write_onnx
from adaline.data.exporting.program import build_program
from adaline.data.outputs import refuse_unwritable, write_atomically
from adaline.data.storing.model_files import Prepared
from adaline.errors import ModelFileError
from adaline.estimators.registry import is_public, names_with
from adaline.parameters import PATH, text, words

if TYPE_CHECKING:
    from adaline.estimators.base import Learner

# Forms that estimators declare in `_exports`; see `estimators.registry`.
FORMS = ("values", "exponential", "sides", "posterior", "gaussians")
KNOWN_FORMS = {"onnx": (*FORMS, "frequencies"), "json": (*FORMS, "monomials")}
SOURCES = {"sql": write_sql, "c": write_c, "python": write_python}


def export(
    model: Learner,
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
        SQL, C and Python take the raw columns of a table where the model is `Prepared`, or has the
        encoding with which `adaline.data.fit` learned it; ONNX takes the encoded columns.
    to : {"onnx", "json", "sql", "c", "python"}, default="onnx"
        "onnx": a graph in float64 from X (rows, columns) to `prediction`, or to `label`, and
        `decision` or `probabilities`; NaN is not rejected there. "json": parameters, weights by
        name, classes, encoding and the certificate's statement. "sql": a SELECT that adds the
        prediction, and probabilities, to the columns of a table. "c": a C99 file with one function
        of an array of numbers. "python": a module with `predict(row)`, which needs nothing but
        Python. Sums are taken in another order than in `predict`, so results differ by rounding.
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
    >>> import json
    >>> from adaline import LeastSquares
    >>> from adaline.data import export
    >>> model = LeastSquares().fit([[1.0], [2.0], [4.0]], [3.0, 5.0, 9.0])
    >>> json.loads(export(model, to="json"))["neurons"]
    [{'intercept': 1.0, 'weights': {'x0': 2.0}}]
    """
    words("onnx", "json", *SOURCES)("to", to)
    if path is not None:
        PATH("path", path)
        refuse_unwritable(path)
    if to not in SOURCES and (name is not None or exposure is not None):
        raise ModelFileError(f"name and exposure are for sql, c and python; {to} has neither.")
    encoding = getattr(model, "encoding", getattr(model, "encoding_", None))
    model = model.model if isinstance(model, Prepared) else model
    title, form = type(model).__name__, model._exports if is_public(model) else None
    is_known = form in KNOWN_FORMS.get(to, FORMS)
    if is_known and not hasattr(model, "n_features_in_"):
        raise ModelFileError(f"This {title} has learned nothing yet; call fit first.")
    has_own_graph = form == "frequencies" or (to == "onnx" and form == "gaussians")
    if not is_known or (not has_own_graph and model._exported_weights() is None):
        raise ModelFileError(
            f"{title} is not exported to {to} here: it is no sum of weighted columns. `save` keeps "
            "it whole."
        )
    features = names_of(model)
    if to in SOURCES:
        data = write_source(model, features, to, encoding, name, exposure)
    else:
        facts: dict[str, Any] = {"model": title, "adaline": __version__, "features": features}
        if hasattr(model, "classes_"):
            facts["classes"] = model.classes_.tolist()
        data = write_onnx(model, facts) if to == "onnx" else write_json(model, facts, encoding)
    if path is not None:
        write_atomically(path, data)
    return data


def write_source(
    model: Learner, features: list[str], to: str, encoding: Any, name: Any, exposure: Any
) -> bytes:
    """SQL, C or Python."""
    kind = type(model).__name__
    if exposure is not None:
        text("the name of a column")("exposure", exposure)
        if not model._takes_exposure:
            takers = names_with("_takes_exposure")
            raise ModelFileError(f"exposure is of {takers}; {kind} has none.")
    name = ("data" if to == "sql" else "predict") if name is None else name
    text("the name of a table or function")("name", name)
    # A word of the language is left to its compiler; anything else could be code.
    if to != "sql" and not re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,60}", name):
        raise ModelFileError(f"name is {name[:40]!r}; expected letters, digits and _.")
    program = build_program(model, f"{kind} {__version__}", features, encoding, exposure)
    return SOURCES[to](program, name).encode()


def names_of(model: Learner) -> list[str]:
    """The names of a model's columns, which must differ."""
    names: list[str] = model._names() if hasattr(model, "_names") else []
    if not names:
        plain = (f"x{j}" for j in range(model.n_features_in_))
        names = [str(name) for name in getattr(model, "feature_names_in_", plain)]
    if len(set(names)) < len(names):
        raise ModelFileError("Two columns have the same name; weights by name need different ones.")
    return names


def write_json(model: Learner, facts: dict[str, Any], encoding: Any) -> bytes:
    """Parameters, weights by name and the certificate's statement."""
    (W, b), certificate = model._exported_weights(), model.certificate_
    facts["certificate"] = {"kind": certificate.kind, "statement": certificate.statement}
    facts["parameters"] = model.get_params(deep=False)
    if encoding is not None:
        facts["encoding"] = encoding.to_dict()
    classes = facts.get("classes", [])
    heads = [{"class": label} for label in (classes[1:] if len(classes) == 2 else classes)]
    facts["neurons"] = [
        {**head, "intercept": bias, "weights": dict(zip(facts["features"], w, strict=True))}
        for head, w, bias in zip(heads or [{}] * len(b), W.tolist(), b.tolist(), strict=True)
    ]

    def convert(value: Any) -> Any:  # schedules as they print
        return value.tolist() if isinstance(value, np.ndarray | np.generic) else repr(value)

    try:
        text = json.dumps(facts, indent=1, allow_nan=False, ensure_ascii=False, default=convert)
    except ValueError as error:
        raise ModelFileError(f"There are numbers that JSON has not: {error}.") from None
    return text.encode()
