"""Names that load on first use: a package is a table, public name to the module it lives in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

_TABLES: dict[str, dict[str, str]] = {}  # by package


def lazily(
    package: dict[str, Any], home: dict[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the package whose globals are given."""
    _TABLES[package["__name__"]] = home

    def __getattr__(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        package[name] = value = getattr(import_module(home[name]), name)
        return value

    return __getattr__, lambda: sorted(package["__all__"])


def public_homes(below: str) -> Mapping[str, str]:
    """Public names of `adaline` whose modules are below this one, and their modules.

    >>> public_homes("adaline.schedules")["Constant"]
    'adaline.schedules'
    """
    table = _TABLES["adaline"]
    inside = {name: home for name, home in table.items() if f"{home}.".startswith(f"{below}.")}
    return MappingProxyType(inside)
