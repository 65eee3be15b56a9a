"""Names that load on first use: a package is a table, public name to the module it lives in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

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
        package[name] = value = getattr(import_module(home[name]), name)
        return value

    return __getattr__, lambda: sorted(package["__all__"])


def handed_down(name: str) -> Any:
    """A function of a higher room, which the table `_HANDED_DOWN` of `adaline` names.

    Rows of Dask are learned in passes, which belong to `data`; who is given such rows is an
    estimator, which may not know of that room.
    """
    return getattr(import_module(_HANDED_DOWN[name]), name)


def public_homes(below: str) -> Mapping[str, str]:
    """Public names of `adaline` whose modules are below this one, and their modules.

    >>> public_homes("adaline.schedules")["Constant"]
    'adaline.schedules'
    """
    table = _TABLES["adaline"]
    inside = {name: home for name, home in table.items() if f"{home}.".startswith(f"{below}.")}
    return MappingProxyType(inside)
