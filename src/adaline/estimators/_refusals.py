"""What is refused changes nothing: a learning method that raises leaves the model as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import isfunction
from typing import Any

GUARD = 1  # frames that `all_or_nothing` adds between a method and who called it, for warnings

_GUARDED = ("fit", "partial_fit", "forget", "fit_moments", "path")


def all_or_nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that puts all attributes back before an error leaves it.

    Attributes are put back, not copied: a method makes new arrays, or undoes what it has written
    into old ones. Ctrl-C passes: an interrupted `fit` keeps what it has learned, as it says.
    """

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = self.__dict__.copy()
        try:
            return method(self, *args, **kwargs)
        except Exception:
            self.__dict__ = before
            raise

    return guarded


class AllOrNothing:
    """Guards the learning methods of every subclass; `available_if` hides a method from it."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name in _GUARDED:
            if isfunction(vars(cls).get(name)):
                setattr(cls, name, all_or_nothing(vars(cls)[name]))
        super().__init_subclass__(**kwargs)
