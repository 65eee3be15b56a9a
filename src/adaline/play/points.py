"""Points of the board: places and classes, edits of them, and the part of the plane in view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CLASSES = ("A", "B", "C", "D")
MOST = 20_000  # points on a board
FARTHEST = 1e9  # of a coordinate; a board is for numbers that one can see
View = tuple[float, float, float, float]  # left, right, bottom, top


@dataclass(frozen=True, eq=False)
class Points:
    """Labelled points of the plane.

    Attributes
    ----------
    X : ndarray of shape (n, 2)
    codes : ndarray of int, shape (n,)
        0 for class A, up to 3 for class D.
    names : tuple of two str
        What the axes are.
    """

    X: Array
    codes: NDArray[np.int64]
    names: tuple[str, str] = ("x1", "x2")

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def labels(self) -> NDArray[np.str_]:
        """The classes by name: "A", "B", ..."""
        return np.asarray(CLASSES)[self.codes]

    @property
    def present(self) -> list[int]:
        """The codes of classes that have points, in their order."""
        return [int(code) for code in np.unique(self.codes)]


def made(X: Any, codes: Any, names: tuple[str, str] = ("x1", "x2")) -> Points:
    """Points from numbers; a sentence where they are none."""
    places = np.array(X, dtype=np.float64).reshape(-1, 2)
    known = np.array(codes, dtype=np.int64).reshape(-1)
    if len(places) != len(known) or len(known) > MOST:
        raise ValueError(f"a board has up to {MOST:,} points, each with a class; got {len(known)}.")
    if not np.isfinite(places).all() or (np.abs(places) > FARTHEST).any():
        raise ValueError(f"a point lies beyond {FARTHEST:g}, or nowhere.")
    if ((known < 0) | (known >= len(CLASSES))).any():
        raise ValueError(f"a class is none of {', '.join(CLASSES)}.")
    return Points(places, known, names)


def added(points: Points, x: Any, y: Any, code: Any) -> Points:
    """One point more, at the end."""
    return made([*points.X, place(x, y)], [*points.codes, whole(code)], points.names)


def moved(points: Points, index: Any, x: Any, y: Any) -> Points:
    """The point at `index` in another place."""
    X = points.X.copy()
    X[_known(points, index)] = place(x, y)
    return made(X, points.codes, points.names)


def relabelled(points: Points, index: Any, code: Any) -> Points:
    """The point at `index` in another class."""
    codes = points.codes.copy()
    codes[_known(points, index)] = whole(code)
    return made(points.X, codes, points.names)


def removed(points: Points, index: Any) -> Points:
    """All points but the one at `index`."""
    at = _known(points, index)
    return made(np.delete(points.X, at, axis=0), np.delete(points.codes, at), points.names)


def place(x: Any, y: Any) -> tuple[float, float]:
    """Two numbers of a message as a place."""
    return number(x, "x"), number(y, "y")


def number(value: Any, what: str) -> float:
    """A finite number of a message."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(f"{what} is {value!r}; expected a number.")
    return float(value)


def whole(value: Any, what: str = "a class") -> int:
    """A whole number of a message, not below zero."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError(f"{what} is {value!r}; expected a whole number from 0.")
    return value


def _known(points: Points, index: Any) -> int:
    at = whole(index, "the number of a point")
    if at >= len(points):
        raise ValueError(f"there is no point {at}; the board has {len(points)}.")
    return at


def view_of(points: Points) -> View:
    """A part of the plane that shows all points with a border; square where there are few."""
    if not len(points):
        return (-2.0, 2.0, -2.0, 2.0)
    low, high = points.X.min(axis=0), points.X.max(axis=0)
    size = np.maximum(high - low, 1e-9 * np.maximum(np.abs(low), np.abs(high)))
    size = np.where(size > 0, size, 1.0)
    if size.max() < 20 * size.min():  # one unit of length on both axes, so that angles are right
        size = np.full(2, size.max())
    centre, half = (low + high) / 2, 0.62 * size
    left, bottom = (centre - half).tolist()
    right, top = (centre + half).tolist()
    return (left, right, bottom, top)


def shows(view: View, points: Points) -> bool:
    """Whether all points are in view, and fill a good part of it."""
    if not len(points):
        return True
    left, right, bottom, top = view
    low, high = points.X.min(axis=0), points.X.max(axis=0)
    inside = left <= low[0] and high[0] <= right and bottom <= low[1] and high[1] <= top
    return bool(inside and max((high - low) / [right - left, top - bottom]) > 0.05)
