"""A fitted model, tried on one row that a user types: prediction, interval, contributions."""

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

_MOST_LEVELS = 200  # that a field offers
_MOST_FIELDS = 300
_LONGEST = 1000  # letters of a value
_MOST_CLASSES = 30
_LEVEL = 0.95


def fields(prepared: Any, data: Path) -> list[dict[str, Any]]:
    """One field a column: its name, what it holds, and its value in the first row of the file."""
    inputs = prepared.encoding.inputs
    if len(inputs) > _MOST_FIELDS:
        return []
    source = blocks(data, columns=[entry.name for entry in inputs])
    source = prepared.encoding.prepare(source, as_written=True)
    first = next(iter(source))
    made = []
    for entry in inputs:
        levels = list(entry.levels or ())[:_MOST_LEVELS]
        kind = "date" if entry.is_date else "number" if entry.levels is None else "text"
        values, gone = column(first, entry.name)
        there = len(values) and not gone[0]
        made.append(
            {
                "name": entry.name,
                "kind": kind,
                "levels": levels,
                "value": _written(values[0], entry) if there else "",
            }
        )
    return made


def answer(prepared: Any, given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """What the model says of the row, how far it may be off, and what makes it up."""
    path = folder / ".row.csv"
    path.write_text(_csv(prepared, given), encoding="utf-8", newline="")
    source = blocks(path, separator=",", decimal=".", header=True, encoding="utf-8")
    encoding = prepared.encoding
    try:
        next(iter(encoding.prepare(source)))  # refuses words, which `predict` takes as missing
        told = np.asarray(prepared.predict(source))
    except ValueError as error:
        raise ValueError(str(error).replace(f"{path}: ", "")) from None
    strange = encoding.unknown_in(next(iter(encoding.prepare(source, as_written=True))))
    return {
        "prediction": _plain(told[0]),
        "classes": _classes(prepared, source),
        "interval": _interval(prepared, source),
        "parts": _parts(prepared, source),
        "unknown": sorted(strange),
    }


def has_intervals(prepared: Any) -> bool:
    """Whether a theory tells how far the predictions may be off."""
    try:
        interval(prepared.model, np.zeros((1, prepared.model.n_features_in_)))
    except ValueError:
        return False
    return True


def _csv(prepared: Any, given: Mapping[str, Any]) -> str:
    """The row as a file has it, so that it is read like one."""
    names = [entry.name for entry in prepared.encoding.inputs]
    values = []
    for name in names:
        value = given.get(name, "")
        if not isinstance(value, str) or len(value) > _LONGEST:
            raise ValueError(f"{name!r}: expected a text of at most {_LONGEST} letters.")
        values.append(value)
    spare = "row"  # one more column: a line without any letter would be no row
    while spare in names:
        spare += "_"
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([[spare, *names], ["1", *values]])
    return text.getvalue()


def _classes(prepared: Any, source: Any) -> list[dict[str, Any]]:
    """The probability of each class, the likeliest first, where the model tells them."""
    model = prepared.model
    if not hasattr(model, "classes_") or not hasattr(model, "predict_proba"):
        return []
    p = np.asarray(prepared.predict_proba(source))[0]
    order = np.argsort(-p)[:_MOST_CLASSES]
    labels = model.classes_.tolist()
    return [{"label": str(labels[k]), "p": float(p[k]), "place": int(k)} for k in order.tolist()]


def _interval(prepared: Any, source: Any) -> dict[str, Any] | None:
    try:
        found = interval(prepared, source, _LEVEL)
    except ValueError:  # no theory has one for this learner
        return None
    return {
        "low": np.atleast_1d(found.low[0]).tolist(),
        "high": np.atleast_1d(found.high[0]).tolist(),
        "of": found.of,
        "level": found.level,
    }


def _parts(prepared: Any, source: Any) -> dict[str, Any] | None:
    """What each column adds; the largest first."""
    try:
        found = explain(prepared, source)
    except ValueError:  # the score is no sum of columns
        return None
    order = np.argsort(-np.abs(found.parts[0]))
    classes = getattr(prepared.model, "classes_", None)
    speaks_for = None
    if found.against is None and classes is not None:
        speaks_for = str(classes.tolist()[1])
    return {
        "of": found.of,
        "score": float(found.score[0]),
        "base": float(found.base[0]),
        "average": found.is_about_the_average,
        "against": None if found.against is None else str(found.against[0]),
        "for": speaks_for,
        "columns": [
            {"name": found.names[k], "part": float(found.parts[0, k])} for k in order.tolist()
        ],
    }


def _written(value: Any, entry: Any) -> str:
    """A value as a file that the model reads has it."""
    if isinstance(value, str):
        return value
    if entry.is_date:  # of a table with types
        day = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=float(value))
        return day.isoformat().removesuffix("T00:00:00")
    text = _text(value)
    return text.replace(".", ",") if entry.reading.endswith(",") else text


def _text(value: Any) -> str:
    """A value as a file has it: whole numbers without ".0"."""
    plain = _plain(value)
    if isinstance(plain, float):
        return str(int(plain)) if plain.is_integer() and abs(plain) < 1e15 else repr(plain)
    return str(plain)


def _plain(value: Any) -> Any:
    found = value.item() if hasattr(value, "item") else value
    return found if isinstance(found, int | float | str) else str(found)
