"""Points of the board: their edits, presets to begin with, and the part of the plane in view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.play.settings import check_number, check_whole, show

Array = NDArray[np.float64]
CLASSES = ("A", "B", "C", "D")
MAX_POINTS = 20_000  # a browser still draws them at once
MAX_COORDINATE = 1e9  # any round number: a board is for numbers that one can see
View = tuple[float, float, float, float]  # left, right, bottom, top


@dataclass(frozen=True, eq=False)
class Points:
    """Labelled points of the plane; edits return other points.

    Attributes
    ----------
    X : ndarray of shape (n, 2)
    codes : ndarray of int, shape (n,)
        0 for class A, up to 3 for class D.
    """

    X: Array
    codes: NDArray[np.int64]

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

    def add(self, x: Any, y: Any, code: Any) -> Points:
        """One more point, at the end."""
        return check_points([*self.X, _place(x, y)], [*self.codes, check_whole(code, "a class")])

    def move(self, index: Any, x: Any, y: Any) -> Points:
        """The point at `index` in another place."""
        X = self.X.copy()
        X[self._check(index)] = _place(x, y)
        return check_points(X, self.codes)

    def relabel(self, index: Any, code: Any) -> Points:
        """The point at `index` in another class."""
        codes = self.codes.copy()
        codes[self._check(index)] = check_whole(code, "a class")
        return check_points(self.X, codes)

    def remove(self, index: Any) -> Points:
        """All points but the one at `index`."""
        at = self._check(index)
        return replace(self, X=np.delete(self.X, at, axis=0), codes=np.delete(self.codes, at))

    def _check(self, index: Any) -> int:
        at = check_whole(index, "the number of a point")
        if at >= len(self):
            raise ValueError(f"there is no point {at}; the board has {len(self)}.")
        return at

    def to_csv(self) -> str:
        """The points as a file, exactly."""
        rows = zip(self.X.tolist(), self.labels.tolist(), strict=True)
        return "x1,x2,label\n" + "".join(f"{x!r},{y!r},{label}\n" for (x, y), label in rows)


def _place(x: Any, y: Any) -> tuple[float, float]:
    return check_number(x, "x"), check_number(y, "y")


def check_points(X: Any, codes: Any) -> Points:
    """Points from numbers, or a ValueError."""
    places = np.array(X, dtype=np.float64).reshape(-1, 2)
    known = np.array(codes, dtype=np.int64).reshape(-1)
    if len(places) != len(known) or len(known) > MAX_POINTS:
        raise ValueError(
            f"a board has up to {MAX_POINTS:,} points, each with a class; got {len(known)}."
        )
    if not np.isfinite(places).all() or (np.abs(places) > MAX_COORDINATE).any():
        raise ValueError(f"a coordinate is not finite or beyond {MAX_COORDINATE:g}.")
    if ((known < 0) | (known >= len(CLASSES))).any():
        raise ValueError(f"a class is none of {', '.join(CLASSES)}.")
    return Points(places, known)


def view_of(points: Points) -> View:
    """A part of the plane that shows all points with a border."""
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


def fits_view(view: View, points: Points) -> bool:
    """Whether all points are in view, and fill a good part of it."""
    if not len(points):
        return True
    left, right, bottom, top = view
    low, high = points.X.min(axis=0), points.X.max(axis=0)
    inside = left <= low[0] and high[0] <= right and bottom <= low[1] and high[1] <= top
    return bool(inside and max((high - low) / [right - left, top - bottom]) > 0.05)


def preset(name: Any) -> Points:
    """The points of a preset.

    >>> preset("and").labels.tolist()
    ['A', 'A', 'A', 'B']
    """
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"there is no preset {show(name)}.")
    return PRESETS[name][1]()


GATE = [[-1, -1], [1, -1], [-1, 1], [1, 1]]


def _clouds(seed: int, size: int, centres: list[list[float]], spread: float = 0.6) -> Points:
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(centre, spread, (size, 2)) for centre in centres])
    return check_points(X.round(3), np.repeat(np.arange(len(centres)), size))


def _gaussians() -> Points:
    rng = np.random.default_rng(3)
    a = rng.multivariate_normal([-1.0, 0.0], [[1.0, 0.6], [0.6, 1.0]], 80)
    b = rng.multivariate_normal([1.2, 0.4], [[1.0, -0.3], [-0.3, 0.7]], 80)
    return check_points(np.concatenate([a, b]).round(3), np.repeat([0, 1], 80))


def _outlier() -> Points:
    """Separable, but squared error gives the far point so much weight that it misses the line."""
    X = [[-1.2, 0.2], [-0.9, -0.6], [-1.1, 0.9], [-0.7, 0.3], [-1.4, -0.3]]
    X += [[0.6, 0.1], [0.9, -0.5], [0.7, 0.8], [0.4, 0.5], [14.0, -6.0]]
    return check_points(X, [0] * 5 + [1] * 5)


def _collinear() -> Points:
    """Almost on one line: the weight along it is well determined, the other one hardly."""
    x = np.array([-2.0, -1.6, -1.1, -0.7, -0.2, 0.3, 0.7, 1.2, 1.5, 2.0])
    wave = np.array([0.02, -0.01, 0.015, -0.02, 0.01, -0.015, 0.02, -0.01, 0.005, -0.02])
    return check_points(np.column_stack([x, x + wave]).round(3), (x > 0).astype(int))


PRESETS: dict[str, tuple[str, Callable[[], Points]]] = {
    "and": ("AND", lambda: check_points(GATE, [0, 0, 0, 1])),
    "or": ("OR", lambda: check_points(GATE, [0, 1, 1, 1])),
    "xor": ("XOR", lambda: check_points(GATE, [0, 1, 1, 0])),
    "four": ("Four points", lambda: check_points([[6, 9], [5, 7], [5, 9], [0, 10]], [1, 1, 0, 0])),
    "separable": ("Separable clouds", lambda: _clouds(1, 20, [[-1.4, -0.6], [1.4, 0.8]])),
    "gaussians": ("Overlapping Gaussians", _gaussians),
    "outlier": ("An outlier that breaks MSE", _outlier),
    "collinear": ("Nearly collinear", _collinear),
    "three": ("Three classes", lambda: _clouds(2, 15, [[-1.6, -1], [1.6, -1], [0, 1.8]], 0.55)),
    "empty": ("Empty", lambda: check_points([], [])),
}
