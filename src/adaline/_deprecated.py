"""How a public name goes away: it works and warns for two minor versions, then it is gone."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def deprecated(*, instead: str, until: str) -> Callable[[F], F]:
    """Mark a function or a class: each call warns, says what to use, and still does its work.

    The warning is a `FutureWarning`, which Python shows to users without being asked.

    >>> @deprecated(instead="area", until="0.4")
    ... def size(width, height):
    ...     return width * height
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     size(2, 3)
    6
    >>> print(seen[0].message)
    size is deprecated and goes away in adaline 0.4; use area.
    """

    def mark(thing: F) -> F:
        name = thing.__qualname__
        said = f"{name} is deprecated and goes away in adaline {until}; use {instead}."
        if isinstance(thing, type):
            _warn_when_made(thing, said)
            return thing

        @functools.wraps(thing)
        def warned(*args: Any, **options: Any) -> Any:
            warnings.warn(said, FutureWarning, stacklevel=2)
            return thing(*args, **options)

        return warned  # type: ignore[return-value]

    return mark


def _warn_when_made(cls: type, said: str) -> None:
    """Replace `__init__`, and keep its signature: scikit-learn reads parameters from it."""
    inner = cls.__init__  # type: ignore[misc]

    @functools.wraps(inner)
    def warned(self: Any, *args: Any, **options: Any) -> None:
        warnings.warn(said, FutureWarning, stacklevel=2)
        inner(self, *args, **options)

    cls.__init__ = warned  # type: ignore[misc]
