"""Parameters as they come from a user of `adaline.data`; `adaline.parameters` words the errors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from adaline import parameters
from adaline.parameters import FLAG, NONE, REAL, Expected, ParameterError


def _is_call(value: Any) -> bool:
    return value is None or callable(value)


def _are_texts(value: Any) -> bool:
    many = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    return many and all(isinstance(part, str) for part in value)


def _is_path(value: Any) -> bool:
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else b""
    return isinstance(path, str) and bool(path) and "\0" not in path


def _are_labels(value: Any) -> bool:
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        return False
    labels = list(value)
    known = all(isinstance(label, (str, bool, np.bool_, *REAL)) for label in labels)
    return known and len(set(labels)) >= max(len(labels), 2)


check_truth = FLAG
check_call = Expected("a function, or None", _is_call)
check_path = Expected("the name of a file or directory, such as 'model.adaline'", _is_path)
check_labels = NONE | Expected("two labels or more (texts or numbers), each once", _are_labels)
check_mapping = NONE | Expected(
    "a mapping, such as {'title': 'rents'}", lambda value: isinstance(value, Mapping)
)
check_texts = NONE | Expected("a sequence of texts, such as ['age']", _are_texts)
check_names = NONE | Expected(
    "a sequence of column names, such as ['age', 'size']",
    lambda value: _are_texts(value) and len(value) > 0,
)


def wrong_type(name: str, value: Any, expected: str) -> TypeError:
    """The error for a parameter of another type."""
    kind = type(value).__name__
    return ParameterError(f"{name} is {parameters.shown(value)}, a {kind}; expected {expected}.")


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """An integer from `least` to `most`; no bool."""
    parameters.count(least, most)(name, value)


def check_jobs(value: Any) -> None:
    """A number of processes, or an `adaline.sums.mapreduce.Executor`."""
    if not hasattr(value, "parts"):
        check_whole("jobs", value, 1, 4096)


def check_number(name: str, value: Any, least: float) -> None:
    """A number from `least` on, perhaps infinity; no NaN."""
    is_number = isinstance(value, REAL) and not isinstance(value, bool)
    Expected(f"a number, {least:g} or more", lambda v: is_number and v >= least)(name, value)


def check_choice(name: str, value: Any, known: Iterable[str]) -> None:
    """One of some words."""
    parameters.words(*known)(name, value)


def check_text(name: str, value: Any, expected: str) -> None:
    """A str."""
    Expected(expected, lambda v: isinstance(v, str))(name, value)
