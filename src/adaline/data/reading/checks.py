"""Parameters as they come from a user of `adaline.data`; `adaline.parameters` words the errors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from adaline import parameters
from adaline.parameters import Expected, ParameterError

_NAMES = "a sequence of column names, such as ['age', 'size']"


def wrong_type(name: str, value: Any, expected: str) -> TypeError:
    """The error for a parameter of another type."""
    kind = type(value).__name__
    return ParameterError(f"{name} is {parameters.shown(value)}, a {kind}; expected {expected}.")


def _require(name: str, value: Any, is_right: bool, expected: str) -> None:
    if not is_right:
        raise wrong_type(name, value, expected)


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """An integer from `least` to `most`; no bool."""
    parameters.count(least, most)(name, value)


def check_jobs(value: Any) -> None:
    """A number of processes, or an `adaline.sums.mapreduce.Executor`."""
    if not hasattr(value, "parts"):
        check_whole("jobs", value, 1, 4096)


def check_number(name: str, value: Any, least: float) -> None:
    """A number from `least` on, perhaps infinity; no NaN."""
    is_number = isinstance(value, parameters.REAL) and not isinstance(value, bool)
    Expected(f"a number, {least:g} or more", lambda v: is_number and v >= least)(name, value)


def check_choice(name: str, value: Any, known: Iterable[str]) -> None:
    """One of some words."""
    parameters.words(*known)(name, value)


def check_truth(name: str, value: Any) -> None:
    """True or False, and nothing that merely counts as one."""
    parameters.FLAG(name, value)


def check_text(name: str, value: Any, expected: str) -> None:
    """A str."""
    _require(name, value, isinstance(value, str), expected)


def check_names(name: str, value: Any) -> None:
    """None, or a sequence of names; a single str is none."""
    check_texts(name, value, _NAMES)
    if value is not None and not len(value):
        raise ParameterError(f"{name} is empty; expected {_NAMES}, or None for all.")


def check_texts(name: str, value: Any, expected: str) -> None:
    """None, or a sequence of texts, which may be empty; a single str is none."""
    many = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    texts = many and all(isinstance(part, str) for part in value)
    _require(name, value, value is None or texts, expected)


def check_path(name: str, value: Any) -> None:
    """A str or path, not empty."""
    is_path = isinstance(value, str | os.PathLike) and isinstance(os.fspath(value), str)
    _require(name, value, is_path, "a path, such as 'model.adaline'")
    if not os.fspath(value) or "\0" in os.fspath(value):
        raise ParameterError(f"{name} is {value!r}; expected the name of a file or directory.")


def check_call(name: str, value: Any) -> None:
    """None, or something that can be called."""
    _require(name, value, value is None or callable(value), "a function, or None")


def check_mapping(name: str, value: Any) -> None:
    """None, or a mapping."""
    is_mapping = value is None or isinstance(value, Mapping)
    _require(name, value, is_mapping, "a mapping, such as {'title': 'rents'}, or None")


def check_labels(name: str, value: Any) -> None:
    """None, or at least two different labels."""
    if value is None:
        return
    many = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    _require(name, value, many, "a sequence of labels, such as ['no', 'yes']")
    labels = list(value)
    known = all(isinstance(label, (str, bool, np.bool_, *parameters.REAL)) for label in labels)
    _require(name, value, known, "labels that are texts or numbers")
    if len(set(labels)) < max(len(labels), 2):
        raise ParameterError(
            f"{name} is {parameters.shown(value)}; expected two labels or more, each once."
        )
