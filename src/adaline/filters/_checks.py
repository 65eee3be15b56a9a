"""What a constructor is given, checked once, with the sentence that says what is wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Setting:
    """A parameter of the constructor, readable ever after and never changed."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, filter: Any, owner: type | None = None) -> Any:
        return self if filter is None else filter.__dict__[self.name]

    def __set__(self, filter: Any, value: Any) -> None:
        if self.name in filter.__dict__:
            raise AttributeError(
                f"{self.name} is fixed when a filter is made; make a new one, and hand over the "
                "weights with weights=old.weights."
            )
        filter.__dict__[self.name] = value


def positive(name: str, value: Any, zero: bool = False) -> float:
    """A finite number above zero (or zero itself), or a sentence.

    >>> positive("eps", 2)
    2.0
    """
    good = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not good or not math.isfinite(value) or value < 0 or (value == 0 and not zero):
        raise ValueError(
            f"{name} is {value!r}; expected a finite number {'of at least' if zero else 'above'} 0."
        )
    return float(value)


def below_two(eta: Any, name: str) -> float:
    """The step of a normalised filter.

    >>> below_two(0.5, "NLMS")
    0.5
    """
    step = positive("eta", eta)
    if step >= 2:
        raise ValueError(f"eta is {eta!r}; {name} is stable for 0 < eta < 2.")
    return step


def every_so_many(history: Any) -> int | None:
    """How often to record weights: a whole number of samples, or not at all.

    >>> every_so_many(100)
    100
    """
    if history is None:
        return None
    if isinstance(history, bool) or not isinstance(history, int | np.integer) or history < 1:
        raise ValueError(f"history is {history!r}; expected a whole number of samples, at least 1.")
    return int(history)


def filled(into: NDArray[Any], given: Any, name: str) -> None:
    """Write what a state has under this name into the memory it must fit.

    >>> memory = np.zeros(2)
    >>> filled(memory, np.array([1.0, 2.0]), "memory.w")
    >>> memory
    array([1., 2.])
    """
    given = np.asarray(given)
    if given.shape != into.shape or given.dtype != into.dtype:
        raise ValueError(
            f"state has {name!r} of shape {given.shape} and dtype {given.dtype}; "
            f"expected {into.shape} and {into.dtype}."
        )
    if not np.isfinite(given).all():
        raise ValueError(f"state has numbers in {name!r} that are not finite.")
    into[...] = given
