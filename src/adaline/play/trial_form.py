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
from adaline.data import Prepared, blocks
from adaline.data.sharing import column


def fields(prepared: Prepared, data: Path) -> list[dict[str, Any]]:
    """One field per column: name, levels, and its value in the first row of the file."""
    inputs = prepared.encoding.inputs
    if len(inputs) > 300:  # a form beyond it helps nobody
        return []
    rows = blocks(data, columns=[entry.name for entry in inputs])
    first = next(iter(prepared.encoding.prepare(rows, as_written=True)))
    form = []
    for entry in inputs:
        values, missing = column(first, entry.name)
        value = _format_value(values[0], entry) if len(values) and not missing[0] else ""
        form.append({"name": entry.name, "levels": list(entry.levels or ())[:200], "value": value})
    return form


def answer(prepared: Prepared, row: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The prediction of the row, its interval, and the contributions of its columns."""
    path = folder / ".row.csv"
    path.write_text(_csv(prepared, row), encoding="utf-8", newline="")
    source = blocks(path, separator=",", decimal=".", header=True, encoding="utf-8")
    encoding, model, classes = prepared.encoding, prepared.model, []
    try:
        next(iter(encoding.prepare(source)))  # rejects words, which `predict` takes as missing
        predicted = np.asarray(prepared.predict(source))
    except ValueError as error:
        raise ValueError(str(error).replace(f"{path}: ", "")) from None
    if hasattr(model, "predict_proba"):  # the likeliest first
        p, labels = np.asarray(prepared.predict_proba(source))[0], model.classes_.tolist()
        order = np.argsort(-p)[:30].tolist()
        classes = [{"label": str(labels[k]), "p": float(p[k]), "place": k} for k in order]
    as_written = next(iter(encoding.prepare(source, as_written=True)))
    return {
        "prediction": _plain(predicted[0]),
        "classes": classes,
        "interval": _interval(prepared, source),
        "parts": _contributions(prepared, source),
        "unknown": sorted(encoding.unknown_in(as_written)),
    }


def has_intervals(prepared: Prepared) -> bool:
    """Whether a theory bounds the error of the predictions."""
    try:
        interval(prepared.model, np.zeros((1, prepared.model.n_features_in_)))
    except ValueError:
        return False
    return True


def _csv(prepared: Prepared, row: Mapping[str, Any]) -> str:
    """The row as a file, so that it is read like one."""
    names = [entry.name for entry in prepared.encoding.inputs]
    values = [row.get(name, "") for name in names]
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, str) or len(value) > 1000:
            raise ValueError(f"{name!r}: expected a text of at most 1000 letters.")
    spare = "row"  # one more column: a line without any letter would not be a row
    while spare in names:
        spare += "_"
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([[spare, *names], ["1", *values]])
    return text.getvalue()


def _interval(prepared: Prepared, source: Any) -> dict[str, Any] | None:
    try:
        ends = interval(prepared, source, 0.95)
    except ValueError:  # no theory has one for this learner
        return None
    low, high = (np.atleast_1d(end[0]) for end in (ends.low, ends.high))
    return {"low": low, "high": high, "of": ends.of, "level": ends.level}


def _contributions(prepared: Prepared, source: Any) -> dict[str, Any] | None:
    """What each column adds to the score; the largest first."""
    try:
        sum_ = explain(prepared, source)
    except ValueError:  # the score is no sum of columns
        return None
    classes = getattr(prepared.model, "classes_", None)
    is_binary = sum_.against is None and classes is not None
    order = np.argsort(-np.abs(sum_.parts[0])).tolist()
    return {
        "of": sum_.of,
        "score": float(sum_.score[0]),
        "base": float(sum_.base[0]),
        "average": sum_.is_about_the_average,
        "against": None if sum_.against is None else str(sum_.against[0]),
        "for": str(classes.tolist()[1]) if is_binary and classes is not None else None,
        "columns": [{"name": sum_.names[k], "part": float(sum_.parts[0, k])} for k in order],
    }


def _format_value(value: Any, entry: Any) -> str:
    """A value as a file for the model would have it: whole numbers without ".0"."""
    if isinstance(value, str):
        return value
    if entry.is_date:  # in a table with types
        day = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=float(value))
        return day.isoformat().removesuffix("T00:00:00")
    text = str(_plain(value)).removesuffix(".0")
    return text.replace(".", ",") if entry.reading.endswith(",") else text


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, int | float | str) else str(value)
