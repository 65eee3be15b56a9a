"""Parameters as they come from a user: each check names the parameter, what came, what is expected.

A parameter of the wrong type is a TypeError, a value out of range a ValueError.
"""

from __future__ import annotations

import numbers
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

_NAMES = "a sequence of column names, such as ['age', 'size']"


def shown(value: Any) -> str:
    """A value in a sentence: short, and on one line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def wrong_type(name: str, value: Any, expected: str) -> TypeError:
    """The error for a parameter of another type."""
    return TypeError(f"{name} is {shown(value)}, a {type(value).__name__}; expected {expected}.")


def _expect(name: str, value: Any, is_type: bool, expected: str, good: Any = None) -> None:
    """Raise TypeError where it is not of the type, ValueError where good(value) is not true."""
    if not is_type:
        raise wrong_type(name, value, expected)
    if good is not None and not good(value):
        raise ValueError(f"{name} is {shown(value)}; expected {expected}.")


def _is(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """A whole number from `least` on, up to `most`; no bool."""
    expected = f"a whole number, {least} {'or more' if most is None else f'to {most}'}"

    def good(k: Any) -> bool:
        return int(k) >= least and (most is None or int(k) <= most)

    _expect(name, value, _is(value, numbers.Integral), expected, good)


def check_jobs(value: Any) -> None:
    """A number of processes, or an `adaline.sums.mapreduce.Executor`."""
    if not hasattr(value, "parts"):
        check_whole("jobs", value, 1, 4096)


def check_number(name: str, value: Any, least: float) -> None:
    """A number from `least` on; infinity is one, NaN is none."""
    expected = f"a number, {least:g} or more"
    _expect(name, value, _is(value, numbers.Real), expected, lambda v: v >= least and v == v)


def check_choice(name: str, value: Any, known: Iterable[str]) -> None:
    """One of some words."""
    known = list(known)
    expected = f"{', '.join(map(repr, known[:-1]))} or {known[-1]!r}"
    _expect(name, value, isinstance(value, str), expected, known.__contains__)


def check_truth(name: str, value: Any) -> None:
    """True or False, and nothing that merely counts as one."""
    _expect(name, value, isinstance(value, bool | np.bool_), "True or False")


def check_text(name: str, value: Any, expected: str) -> None:
    """A str."""
    _expect(name, value, isinstance(value, str), expected)


def check_names(name: str, value: Any) -> None:
    """None, or a sequence of names; a single str is none."""
    check_texts(name, value, _NAMES)
    if value is not None and not len(value):
        raise ValueError(f"{name} is empty; expected {_NAMES}, or None for all.")


def check_texts(name: str, value: Any, expected: str) -> None:
    """None, or a sequence of texts, which may be empty; a single str is none."""
    many = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    good = many and all(isinstance(part, str) for part in value)
    _expect(name, value, value is None or good, expected)


def check_path(name: str, value: Any) -> None:
    """A str or path, not empty."""
    is_path = isinstance(value, str | os.PathLike) and isinstance(os.fspath(value), str)
    _expect(name, value, is_path, "a path, such as 'model.adaline'")
    if not os.fspath(value) or "\0" in os.fspath(value):
        raise ValueError(f"{name} is {shown(value)}; expected the name of a file or directory.")


def check_call(name: str, value: Any) -> None:
    """None, or something that can be called."""
    _expect(name, value, value is None or callable(value), "a function, or None")


def check_mapping(name: str, value: Any) -> None:
    """None, or a mapping."""
    expected = "a mapping, such as {'title': 'rents'}, or None"
    _expect(name, value, value is None or isinstance(value, Mapping), expected)


def check_labels(name: str, value: Any) -> None:
    """None, or at least two different labels."""
    if value is None:
        return
    many = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    _expect(name, value, many, "a sequence of labels, such as ['no', 'yes']")
    labels = list(value)
    known = all(isinstance(label, str | numbers.Real | np.bool_) for label in labels)
    _expect(name, value, known, "labels that are texts or numbers")
    if len(set(labels)) < max(len(labels), 2):
        raise ValueError(f"{name} is {shown(value)}; expected two labels or more, each once.")
