"""Parameters as they come from a user: each check names the parameter, what came, what is expected.

A parameter of the wrong type is a TypeError, a value out of range a ValueError.
"""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np


def shown(value: Any) -> str:
    """A value in a sentence: short, and on one line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def wrong_type(name: str, value: Any, expected: str) -> TypeError:
    """The error for a parameter of another type."""
    return TypeError(f"{name} is {shown(value)}, a {type(value).__name__}; expected {expected}.")


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """A whole number from `least` on, up to `most`; no bool."""
    upto = "or more" if most is None else f"to {most}"
    expected = f"a whole number, {least} {upto}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise wrong_type(name, value, expected)
    if int(value) < least or (most is not None and int(value) > most):
        raise ValueError(f"{name} is {shown(value)}; expected {expected}.")


def check_jobs(value: Any) -> None:
    """A number of processes, or an `adaline.mapreduce.Executor`."""
    if not hasattr(value, "parts"):
        check_whole("jobs", value, 1, 4096)


def check_number(name: str, value: Any, least: float) -> None:
    """A number from `least` on; infinity is one, NaN is none."""
    expected = f"a number, {least:g} or more"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise wrong_type(name, value, expected)
    if math.isnan(value) or value < least:
        raise ValueError(f"{name} is {shown(value)}; expected {expected}.")


def check_choice(name: str, value: Any, known: Iterable[str]) -> None:
    """One of some words."""
    known = list(known)
    expected = f"{', '.join(map(repr, known[:-1]))} or {known[-1]!r}"
    if not isinstance(value, str):
        raise wrong_type(name, value, expected)
    if value not in known:
        raise ValueError(f"{name} is {shown(value)}; expected {expected}.")


def check_truth(name: str, value: Any) -> None:
    """True or False, and nothing that merely counts as one."""
    if not isinstance(value, bool | np.bool_):
        raise wrong_type(name, value, "True or False")


def check_text(name: str, value: Any, expected: str) -> None:
    """A str."""
    if not isinstance(value, str):
        raise wrong_type(name, value, expected)


def check_names(name: str, value: Any) -> None:
    """None, or a sequence of names; a single str is none."""
    expected = "a sequence of column names, such as ['age', 'size']"
    good = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    if value is None:
        return
    if not good or not all(isinstance(part, str) for part in value):
        raise wrong_type(name, value, expected)
    if not len(value):
        raise ValueError(f"{name} is empty; expected {expected}, or None for all.")


def check_texts(name: str, value: Any, expected: str) -> None:
    """None, or a sequence of texts, which may be empty; a single str is none."""
    if value is None:
        return
    good = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    if not good or not all(isinstance(part, str) for part in value):
        raise wrong_type(name, value, expected)


def check_path(name: str, value: Any) -> None:
    """A str or path, not empty."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise wrong_type(name, value, "a path, such as 'model.adaline'")
    if not os.fspath(value) or "\0" in os.fspath(value):
        raise ValueError(f"{name} is {shown(value)}; expected the name of a file or directory.")


def check_call(name: str, value: Any) -> None:
    """None, or something that can be called."""
    if value is not None and not callable(value):
        raise wrong_type(name, value, "a function, or None")


def check_mapping(name: str, value: Any) -> None:
    """None, or a mapping."""
    if value is not None and not isinstance(value, Mapping):
        raise wrong_type(name, value, "a mapping, such as {'title': 'rents'}, or None")


def check_labels(name: str, value: Any) -> None:
    """None, or at least two different labels."""
    if value is None:
        return
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise wrong_type(name, value, "a sequence of labels, such as ['no', 'yes']")
    found = list(value)
    if not all(isinstance(label, str | numbers.Real | np.bool_) for label in found):
        raise wrong_type(name, value, "labels that are texts or numbers")
    if len(set(found)) < max(len(found), 2):
        raise ValueError(f"{name} is {shown(value)}; expected two labels or more, each once.")
