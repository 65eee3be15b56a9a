"""Modules that others import and that few commands need: loaded when something is asked of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from typing import Any

# scikit-learn imports it for one function; loading it is a third of what a command takes.
_POSTPONED = frozenset({"scipy.stats"})


class _Postponing:
    """A finder of modules that are empty until one of their names is looked up."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        """The module as it is found on the path, to be loaded at first use."""
        if name not in _POSTPONED:
            return None
        found = PathFinder.find_spec(name, path, target)
        if found is not None and found.loader is not None:
            found.loader = LazyLoader(found.loader)
        return found


def postpone() -> None:
    """Load these modules at first use from now on: for a process that is the command's own."""
    if _Postponing not in sys.meta_path:
        sys.meta_path.insert(0, _Postponing)
