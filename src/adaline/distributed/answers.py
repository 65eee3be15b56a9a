"""What workers return, compared with an answer of the same kind before it is merged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from adaline.errors import strange


def like(example: Any) -> Callable[[Any], None]:
    """A check that an answer has the types and shapes of an example, and numbers that are finite.

    None is the answer of a block without rows.

    >>> check = like((1.0, np.zeros(2)))
    >>> check((3.0, np.ones(2)))
    >>> check((3.0, np.ones(3)))
    Traceback (most recent call last):
    adaline.errors.DataError: a worker returned an array of shape (3,) in place of (2,); ...
    """

    def check(answer: Any) -> None:
        if answer is not None:
            _compare(answer, example)

    return check


def _compare(answer: Any, example: Any) -> None:
    if isinstance(example, np.ndarray):
        _compare_arrays(answer, example)
    elif isinstance(example, float | np.floating):
        if not isinstance(answer, float | np.floating) or not np.isfinite(answer):
            raise strange(f"{str(answer)[:40]!r} in place of a finite number")
    elif type(answer) is not type(example):
        raise strange(f"{type(answer).__name__} in place of {type(example).__name__}")
    elif isinstance(example, int):
        if answer < 0:
            raise strange(f"the count {answer}")
    elif isinstance(example, tuple):
        if len(answer) != len(example):
            raise strange(f"{len(answer)} numbers in place of {len(example)}")
        for one, other in zip(answer, example, strict=True):
            _compare(one, other)
    elif is_dataclass(example):
        for field in fields(example):
            _compare(getattr(answer, field.name), getattr(example, field.name))
    elif answer != example:
        raise strange(f"{str(answer)[:40]!r} in place of {example!r}")


def _compare_arrays(answer: Any, example: Any) -> None:
    if not isinstance(answer, np.ndarray) or answer.dtype.kind != example.dtype.kind:
        raise strange(f"{type(answer).__name__} in place of an array of {example.dtype}")
    if answer.shape != example.shape:
        raise strange(f"an array of shape {answer.shape} in place of {example.shape}")
    if not np.isfinite(answer).all():
        raise strange("numbers that are not finite")
