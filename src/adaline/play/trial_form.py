"""A fitted model tried on one row that a user types: prediction, interval, contributions."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Mapping
from contextlib import suppress
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
        value = "" if missing[0] else _format_value(values[0], entry)
        form.append({"name": entry.name, "levels": list(entry.levels or ())[:200], "value": value})
    return form


def answer(prepared: Prepared, row: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The prediction of the row, its interval, and the contributions of its columns."""
    path, encoding, model = folder / ".row.csv", prepared.encoding, prepared.model
    _write_row(path, [entry.name for entry in encoding.inputs], row)
    source = blocks(path, separator=",", decimal=".", header=True, encoding="utf-8")
    try:
        next(iter(encoding.prepare(source)))  # rejects words, which `encoded` takes as missing
        [X] = prepared.encoded(source)
    except ValueError as error:
        raise ValueError(str(error).replace(f"{path}: ", "")) from None
    shown: dict[str, Any] = {"prediction": model.predict(X)[0], "classes": []}
    if hasattr(model, "predict_proba"):  # the likeliest first
        p, labels = model.predict_proba(X)[0], model.classes_.tolist()
        order = np.argsort(-p)[:30].tolist()
        shown["classes"] = [{"label": str(labels[k]), "p": p[k], "place": k} for k in order]
    written = next(iter(encoding.prepare(source, as_written=True)))
    shown |= {"interval": None, "parts": None, "unknown": sorted(encoding.unknown_in(written))}
    with suppress(ValueError):  # no theory has an interval for this learner
        ends = interval(model, X, 0.95)
        low, high = np.atleast_1d(ends.low[0]), np.atleast_1d(ends.high[0])
        shown["interval"] = {"low": low, "high": high, "of": ends.of, "level": ends.level}
    with suppress(ValueError):  # the score is no sum of columns
        shown["parts"] = _contributions(prepared, X)
    return shown


def has_intervals(prepared: Prepared) -> bool:
    """Whether a theory bounds the error of the predictions."""
    try:
        interval(prepared.model, np.zeros((1, prepared.model.n_features_in_)))
    except ValueError:
        return False
    return True


def _write_row(path: Path, names: list[str], row: Mapping[str, Any]) -> None:
    """The row as a file, so that it is read like one."""
    values = [row.get(name, "") for name in names]
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, str) or len(value) > 1000:
            raise ValueError(f"{name!r}: expected a text of at most 1000 letters.")
    # One more column: a line without any letter would not be a row.
    spare = max(names, key=len) + "_"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([[spare, *names], ["1", *values]])


def _contributions(prepared: Prepared, X: Any) -> dict[str, Any]:
    """What each column adds to the score; the largest first."""
    sum_ = explain(prepared.model, X, encoding=prepared.encoding)
    classes: Any = getattr(prepared.model, "classes_", None)
    is_binary = sum_.against is None and classes is not None
    order = np.argsort(-np.abs(sum_.parts[0])).tolist()
    return {
        "of": sum_.of,
        "score": sum_.score[0],
        "base": sum_.base[0],
        "average": sum_.is_about_the_average,
        "against": None if sum_.against is None else str(sum_.against[0]),
        "for": str(classes[1]) if is_binary else None,
        "columns": [{"name": sum_.names[k], "part": sum_.parts[0, k]} for k in order],
    }


def _format_value(value: Any, entry: Any) -> str:
    """A value as a file for the model would have it: whole numbers without ".0"."""
    if isinstance(value, str):
        return value
    if entry.is_date:  # in a table with types
        day = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=float(value))
        return day.isoformat().removesuffix("T00:00:00")
    text = str(value).removesuffix(".0")
    return text.replace(".", ",") if entry.reading.endswith(",") else text
