"""A fitted model tried on one row that a user types: prediction, interval, contributions."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from adaline import explain, interval
from adaline.data import blocks
from adaline.data.sharing import column

MAX_LEVELS = 200  # that a field offers
MAX_FIELDS = 300  # a form beyond it helps nobody
MAX_LETTERS = 1000  # of a value
MAX_CLASSES = 30  # whose probabilities are shown


def fields(prepared: Any, data: Path) -> list[dict[str, Any]]:
    """One field per column: name, kind, levels, and its value in the first row of the file."""
    inputs = prepared.encoding.inputs
    if len(inputs) > MAX_FIELDS:
        return []
    names = [entry.name for entry in inputs]
    source = prepared.encoding.prepare(blocks(data, columns=names), as_written=True)
    first = next(iter(source))
    form = []
    for entry in inputs:
        values, missing = column(first, entry.name)
        known = len(values) and not missing[0]
        form.append(
            {
                "name": entry.name,
                "kind": "date" if entry.is_date else "number" if entry.levels is None else "text",
                "levels": list(entry.levels or ())[:MAX_LEVELS],
                "value": _format_value(values[0], entry) if known else "",
            }
        )
    return form


def answer(prepared: Any, row: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The prediction of the row, its interval, and the contributions of its columns."""
    path = folder / ".row.csv"
    path.write_text(_csv(prepared, row), encoding="utf-8", newline="")
    source = blocks(path, separator=",", decimal=".", header=True, encoding="utf-8")
    encoding = prepared.encoding
    try:
        next(iter(encoding.prepare(source)))  # rejects words, which `predict` takes as missing
        predicted = np.asarray(prepared.predict(source))
    except ValueError as error:
        raise ValueError(str(error).replace(f"{path}: ", "")) from None
    return {
        "prediction": _plain(predicted[0]),
        "classes": _classes(prepared, source),
        "interval": _interval(prepared, source),
        "parts": _contributions(prepared, source),
        "unknown": sorted(
            encoding.unknown_in(next(iter(encoding.prepare(source, as_written=True))))
        ),
    }


def has_intervals(prepared: Any) -> bool:
    """Whether a theory bounds the error of the predictions."""
    try:
        interval(prepared.model, np.zeros((1, prepared.model.n_features_in_)))
    except ValueError:
        return False
    return True


def _csv(prepared: Any, row: Mapping[str, Any]) -> str:
    """The row as a file, so that it is read like one."""
    names = [entry.name for entry in prepared.encoding.inputs]
    values = [row.get(name, "") for name in names]
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, str) or len(value) > MAX_LETTERS:
            raise ValueError(f"{name!r}: expected a text of at most {MAX_LETTERS} letters.")
    spare = "row"  # one more column: a line without any letter would not be a row
    while spare in names:
        spare += "_"
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([[spare, *names], ["1", *values]])
    return text.getvalue()


def _classes(prepared: Any, source: Any) -> list[dict[str, Any]]:
    """The probability of each class, the likeliest first, for models that estimate them."""
    model = prepared.model
    if not hasattr(model, "classes_") or not hasattr(model, "predict_proba"):
        return []
    p = np.asarray(prepared.predict_proba(source))[0]
    labels = model.classes_.tolist()
    order = np.argsort(-p)[:MAX_CLASSES].tolist()
    return [{"label": str(labels[k]), "p": float(p[k]), "place": int(k)} for k in order]


def _interval(prepared: Any, source: Any) -> dict[str, Any] | None:
    try:
        ends = interval(prepared, source, 0.95)
    except ValueError:  # no theory has one for this learner
        return None
    low, high = (np.atleast_1d(end[0]).tolist() for end in (ends.low, ends.high))
    return {"low": low, "high": high, "of": ends.of, "level": ends.level}


def _contributions(prepared: Any, source: Any) -> dict[str, Any] | None:
    """What each column adds to the score; the largest first."""
    try:
        sum_ = explain(prepared, source)
    except ValueError:  # the score is no sum of columns
        return None
    classes = getattr(prepared.model, "classes_", None)
    binary = sum_.against is None and classes is not None
    order = np.argsort(-np.abs(sum_.parts[0])).tolist()
    return {
        "of": sum_.of,
        "score": float(sum_.score[0]),
        "base": float(sum_.base[0]),
        "average": sum_.is_about_the_average,
        "against": None if sum_.against is None else str(sum_.against[0]),
        "for": str(classes.tolist()[1]) if binary and classes is not None else None,
        "columns": [{"name": sum_.names[k], "part": float(sum_.parts[0, k])} for k in order],
    }


def _format_value(value: Any, entry: Any) -> str:
    """A value as a file for the model would have it: whole numbers without ".0"."""
    if isinstance(value, str):
        return value
    if entry.is_date:  # in a table with types
        day = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=float(value))
        return day.isoformat().removesuffix("T00:00:00")
    plain = _plain(value)
    if isinstance(plain, float) and plain.is_integer() and abs(plain) < 1e15:
        plain = int(plain)
    text = str(plain)
    return text.replace(".", ",") if entry.reading.endswith(",") else text


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, int | float | str) else str(value)
