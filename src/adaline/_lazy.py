"""Names that load on first use: a package is a table, public name to the module it lives in."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazily(
    package: dict[str, Any], home: dict[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the package whose globals are given."""

    def __getattr__(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        package[name] = value = getattr(import_module(home[name]), name)
        return value

    return __getattr__, lambda: sorted(package["__all__"])
