"""Methods that an estimator has with some parameters only, and a sentence where it has not."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any


class _Available:
    """A method, unless `check(estimator)` raises AttributeError: so `hasattr` tells.

    scikit-learn's `available_if` does the same, but puts its own words before the sentence.
    """

    def __init__(self, method: Callable[..., Any], check: Callable[[Any], object]) -> None:
        self.method, self.check = method, check
        self.__doc__ = method.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            return self.method
        self.check(owner)
        return MethodType(self.method, owner)


def available_unless(check: Callable[[Any], object]) -> Callable[[Callable[..., Any]], Any]:
    """A method that is there unless check(estimator) raises AttributeError with a sentence."""
    return lambda method: _Available(method, check)
