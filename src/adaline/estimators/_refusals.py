"""What is refused changes nothing: a learning method that raises leaves the model as it was.

Rows that Dask holds are told apart here, too, before any method sees them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import isfunction
from typing import Any

from numpy import ndarray

from adaline._names import handed_down
from adaline.sums.rows import is_dask

GUARD = 1  # frames that `all_or_nothing` adds between a method and who called it, for warnings

_GUARDED = ("fit", "partial_fit", "forget", "fit_moments", "path")
_LAZY = ("predict", "predict_proba", "predict_log_proba", "decision_function", "mahalanobis")


def all_or_nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that puts all attributes back before an error leaves it.

    Attributes are put back, not copied: a method makes new arrays, or undoes what it has written
    into old ones. Ctrl-C passes: an interrupted `fit` keeps what it has learned, as it says.
    """

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = self.__dict__.copy()
        try:
            if is_dask(args[0] if args else kwargs.get("X")):
                return _learned(self, method.__name__, *args, **kwargs)
            return method(self, *args, **kwargs)
        except Exception:
            self.__dict__ = before
            raise

    return guarded


def _learned(model: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    """Learn from rows of Dask, by the room above that knows how."""
    if method != "fit":
        raise TypeError(
            f"{method} takes rows that are in memory, and X is of Dask; fit learns from X as it "
            "is, and X.compute() brings it into memory."
        )
    return handed_down("fit_collection")(model, *args, **kwargs)


def lazy_for_dask(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that answers rows of Dask with an array of Dask, computed when someone asks."""

    @wraps(method)
    def applied(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if type(X) is ndarray or not is_dask(X):  # the first saves a call, 1 % of a row predicted
            return method(self, X, *args, **kwargs)
        from adaline.distributed.collections import predict_lazily

        return predict_lazily(self, method, X, *args, **kwargs)

    return applied


def summed_for_dask(method: Callable[..., Any]) -> Callable[..., Any]:
    """`score`, which sums over the blocks of rows that Dask holds."""

    @wraps(method)
    def scored(self: Any, X: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_dask(X):
            return method(self, X, y, *args, **kwargs)
        from adaline.distributed.collections import score

        return score(self, X, y, *args, **kwargs)

    return scored


class AllOrNothing:
    """Guards the learning methods of every subclass; `available_if` hides a method from it."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name in _GUARDED:
            if isfunction(vars(cls).get(name)):
                setattr(cls, name, all_or_nothing(vars(cls)[name]))
        for name in _LAZY:
            if isfunction(vars(cls).get(name)):
                setattr(cls, name, lazy_for_dask(vars(cls)[name]))
        if isfunction(vars(cls).get("score")):
            cls.score = summed_for_dask(vars(cls)["score"])  # type: ignore[attr-defined]
        super().__init_subclass__(**kwargs)
