"""Public names: how they load on first use, and how they go away.

A package is a table, public name to the module it lives in. A name that goes away works and warns
for two minor versions.
"""

from __future__ import annotations

import functools
import gc
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_HANDED_DOWN: dict[str, str] = {}
_TABLES: dict[str, dict[str, str]] = {}  # by package


def lazily(
    package: dict[str, Any], home: dict[str, str], down: dict[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the package whose globals are given.

    `down` names functions that rooms below their own may ask `handed_down` for.
    """
    _TABLES[package["__name__"]] = home
    _HANDED_DOWN.update(down or {})

    def __getattr__(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        package[name] = value = getattr(_loaded(home[name]), name)
        return value

    return __getattr__, lambda: sorted(package["__all__"])


def handed_down(name: str) -> Any:
    """A function of a higher room, which the table `_HANDED_DOWN` of `adaline` names.

    Rows of Dask are learned in passes, which belong to `data`; who is given such rows is an
    estimator, which may not know of that room.
    """
    return getattr(_loaded(_HANDED_DOWN[name]), name)


def _loaded(module: str) -> ModuleType:
    """A module, with all that it imports, without a look for garbage on the way.

    Loading scikit-learn and numba makes a million objects and keeps them; Python looks through all
    of them again and again, a tenth of the time that loading takes.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        return import_module(module)
    finally:
        if was_on:
            gc.enable()


def public_homes(below: str) -> Mapping[str, str]:
    """Public names of `adaline` whose modules are below this one, and their modules.

    >>> public_homes("adaline.schedules")["Constant"]
    'adaline.schedules'
    """
    table = _TABLES["adaline"]
    inside = {name: home for name, home in table.items() if f"{home}.".startswith(f"{below}.")}
    return MappingProxyType(inside)


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
